#ifndef CUZK_MATH_FIELD_CONSTANTS_H
#define CUZK_MATH_FIELD_CONSTANTS_H

/*
 * Constants of BLS12-381 (draft-irtf-cfrg-pairing-friendly-curves, section 4.2.1). The curve's
 * parameter is x = -0xd201000000010000; r = x^4 - x^2 + 1, p = (x - 1)^2 r / 3 + x. Limbs are 64
 * bits, least significant first. tests/diff recomputes every one of them with GMP.
 */

#define BLS12_381_X_ABS 0xd201000000010000u /* x is negative */

/* Fp: 381 bits, Montgomery radix R = 2^384. */
#define FP_LIMBS 6
#define FP_MODULUS                                                                                 \
    {                                                                                              \
        0xb9feffffffffaaabu, 0x1eabfffeb153ffffu, 0x6730d2a0f6b0f624u, 0x64774b84f38512bfu,        \
            0x4b1ba7b6434bacd7u, 0x1a0111ea397fe69au                                               \
    }
#define FP_R                                                                                       \
    {                                                                                              \
        0x760900000002fffdu, 0xebf4000bc40c0002u, 0x5f48985753c758bau, 0x77ce585370525745u,        \
            0x5c071a97a256ec6du, 0x15f65ec3fa80e493u                                               \
    }
#define FP_R2                                                                                      \
    {                                                                                              \
        0xf4df1f341c341746u, 0x0a76e6a609d104f1u, 0x8de5476c4c95b6d5u, 0x67eb88a9939d83c0u,        \
            0x9a793e85b519952du, 0x11988fe592cae3aau                                               \
    }
#define FP_INV 0x89f3fffcfffcfffdu /* -p^-1 mod 2^64 */

/* Fr: 255 bits, Montgomery radix R = 2^256, 2-adicity 32. */
#define FR_LIMBS 4
#define FR_MODULUS                                                                                 \
    {                                                                                              \
        0xffffffff00000001u, 0x53bda402fffe5bfeu, 0x3339d80809a1d805u, 0x73eda753299d7d48u         \
    }
#define FR_R                                                                                       \
    {                                                                                              \
        0x00000001fffffffeu, 0x5884b7fa00034802u, 0x998c4fefecbc4ff5u, 0x1824b159acc5056fu         \
    }
#define FR_R2                                                                                      \
    {                                                                                              \
        0xc999e990f3f29c6du, 0x2b6cedcb87925c23u, 0x05d314967254398fu, 0x0748d9d99f59ff11u         \
    }
#define FR_INV          0xfffffffeffffffffu /* -r^-1 mod 2^64 */
#define FR_TWO_ADICITY  32
#define FR_MODULUS_BITS 255
/* 7^t and 5^t times R, t = (r - 1) / 2^32: the primitive 2^32-th roots of unity of bellman keys
 * (bellperson, blstrs: ROOT_OF_UNITY) and of snarkjs keys. */
#define FR_ROOT_7                                                                                  \
    {                                                                                              \
        0xb9b58d8c5f0e466au, 0x5b1b4c801819d7ecu, 0x0af53ae352a31e64u, 0x5bf3adda19e9b27bu         \
    }
#define FR_ROOT_5                                                                                  \
    {                                                                                              \
        0x9cab6d5c0c17f47cu, 0x1ce1e93dfd4b71e5u, 0x0d6db230471dd505u, 0x3f0ee990743a3b6au         \
    }

/* Generators of the groups of order r, coordinates times R; the curves are y^2 = x^3 + 4 over Fp
 * and y^2 = x^3 + 4(1 + i) over Fp2. */
#define G1_GENERATOR_X                                                                             \
    {                                                                                              \
        0x5cb38790fd530c16u, 0x7817fc679976fff5u, 0x154f95c7143ba1c1u, 0xf0ae6acdf3d0e747u,        \
            0xedce6ecc21dbf440u, 0x120177419e0bfb75u                                               \
    }
#define G1_GENERATOR_Y                                                                             \
    {                                                                                              \
        0xbaac93d50ce72271u, 0x8c22631a7918fd8eu, 0xdd595f13570725ceu, 0x51ac582950405194u,        \
            0x0e1c8c3fad0059c0u, 0x0bbc3efc5008a26au                                               \
    }
#define G2_GENERATOR_X_C0                                                                          \
    {                                                                                              \
        0xf5f28fa202940a10u, 0xb3f5fb2687b4961au, 0xa1a893b53e2ae580u, 0x9894999d1a3caee9u,        \
            0x6f67b7631863366bu, 0x058191924350bcd7u                                               \
    }
#define G2_GENERATOR_X_C1                                                                          \
    {                                                                                              \
        0xa5a9c0759e23f606u, 0xaaa0c59dbccd60c3u, 0x3bb17e18e2867806u, 0x1b1ab6cc8541b367u,        \
            0xc2b6ed0ef2158547u, 0x11922a097360edf3u                                               \
    }
#define G2_GENERATOR_Y_C0                                                                          \
    {                                                                                              \
        0x4c730af860494c4au, 0x597cfa1f5e369c5au, 0xe7e6856caa0a635au, 0xbbefb5e96e0d495fu,        \
            0x07d3a975f0ef25a2u, 0x0083fd8e7e80dae5u                                               \
    }
#define G2_GENERATOR_Y_C1                                                                          \
    {                                                                                              \
        0xadc0fc92df64b05du, 0x18aa270a2b1461dcu, 0x86adac6a3be4eba0u, 0x79495c4ec93da33au,        \
            0xe7175850a43ccaedu, 0x0b2bc2a163de1bf2u                                               \
    }
#define FP_FOUR                                                                                    \
    {                                                                                              \
        0xaa270000000cfff3u, 0x53cc0032fc34000au, 0x478fe97a6b0a807fu, 0xb1d37ebee6ba24d7u,        \
            0x8ec9733bbf78ab2fu, 0x09d645513d83de7eu                                               \
    }

/* A primitive cube root of unity in Fp times R: (1 + i)^((p^2 - 1) / 3), which is in Fp. On G1,
 * (omega x, y) is the multiple -x^2 of (x, y), x the curve's parameter here. */
#define FP_OMEGA                                                                                   \
    {                                                                                              \
        0x30f1361b798a64e8u, 0xf3b8ddab7ece5a2au, 0x16a8ca3ac61577f7u, 0xc26a2ff874fd029bu,        \
            0x3636b76660701c6eu, 0x051ba4ab241b6160u                                               \
    }
/* (1 + i)^(k (p - 1) / 6) times R for k = 1, 3, 5, so w^(k p) = (this) w^k in Fp12. For k = 2 it is
 * omega^2 i, for k = 4 it is -omega. For k = 3 both coordinates are equal. */
#define FP_OMEGA_SQUARED                                                                           \
    {                                                                                              \
        0xcd03c9e48671f071u, 0x5dab22461fcda5d2u, 0x587042afd3851b95u, 0x8eb60ebe01bacb9eu,        \
            0x03f97d6e83d050d2u, 0x18f0206554638741u                                               \
    }
#define FP_MINUS_OMEGA                                                                             \
    {                                                                                              \
        0x890dc9e4867545c3u, 0x2af322533285a5d5u, 0x50880866309b7e2cu, 0xa20d1b8c7e881024u,        \
            0x14e4f04fe2db9068u, 0x14e56d3f1564853au                                               \
    }
#define FROBENIUS_1_C0                                                                             \
    {                                                                                              \
        0x07089552b319d465u, 0xc6695f92b50a8313u, 0x97e83cccd117228fu, 0xa35baecab2dc29eeu,        \
            0x1ce393ea5daace4du, 0x08f2220fb0fb66ebu                                               \
    }
#define FROBENIUS_1_C1                                                                             \
    {                                                                                              \
        0xb2f66aad4ce5d646u, 0x5842a06bfc497cecu, 0xcf4895d42599d394u, 0xc11b9cba40a8e8d0u,        \
            0x2e3813cbe5a0de89u, 0x110eefda88847fafu                                               \
    }
#define FROBENIUS_3_C                                                                              \
    {                                                                                              \
        0x7bcfa7a25aa30fdau, 0xdc17dec12a927e7cu, 0x2f088dd86b4ebef1u, 0xd1ca2087da74d4a7u,        \
            0x2da2596696cebc1du, 0x0e2b7eedbbfd87d2u                                               \
    }
#define FROBENIUS_5_C0                                                                             \
    {                                                                                              \
        0x82d83cf50dbce43fu, 0xa2813e53df9d018fu, 0xc6f0caa53c65e181u, 0x7525cf528d50fe95u,        \
            0x4a85ed50f4798a6bu, 0x171da0fd6cf8eebdu                                               \
    }
#define FROBENIUS_5_C1                                                                             \
    {                                                                                              \
        0x3726c30af242c66cu, 0x7c2ac1aad1b6fe70u, 0xa04007fbba4b14a2u, 0xef517c3266341429u,        \
            0x0095ba654ed2226bu, 0x02e370eccc86f7ddu                                               \
    }

#endif
