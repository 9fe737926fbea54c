#include "support/support.h"

#include "base/bytes.h"
#include "math/curve/encoding.h"

#include <stdlib.h>
#include <string.h>

#define G1_X                                                                                       \
    "17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22" \
    "c6bb"
#define G1_Y                                                                                       \
    "08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5" \
    "e7e1"
#define G2_X                                                                                       \
    "13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d04" \
    "2b7e024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8" \
    "c121bdb8"
#define G2_Y                                                                                       \
    "0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f" \
    "79be0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e1935486" \
    "08b82801"
#define P_BYTES                                                                                    \
    "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffff" \
    "aaab"
#define ZERO                                                                                       \
    "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000" \
    "0000"
#define TWO                                                                                        \
    "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000" \
    "0002"

static void check_hex(const uint8_t *bytes, size_t n, const char *want)
{
    char text[2 * 192 + 1];
    cuzk_hex_format(text, bytes, n);
    assert_string_equal(text, want);
}

/* Hexadecimal digits to bytes, with `flags` or-ed into the first. */
static void from_hex(uint8_t *bytes, const char *hex, uint8_t flags)
{
    assert_true(cuzk_hex_parse(hex, bytes, strlen(hex) / 2));
    bytes[0] |= flags;
}

static void the_generators_have_their_published_encodings(void **state)
{
    (void)state;
    uint8_t bytes[192];
    char want[400];
    g1_encode(bytes, &g1_generator);
    check_hex(bytes, 96, G1_X G1_Y);
    g1_compress(bytes, &g1_generator);
    strcpy(want, G1_X);
    want[0] = '9'; /* 0x17 with the compressed flag */
    check_hex(bytes, 48, want);
    g2_encode(bytes, &g2_generator);
    check_hex(bytes, 192, G2_X G2_Y);
    g2_compress(bytes, &g2_generator);
    strcpy(want, G2_X);
    want[0] = '9';
    check_hex(bytes, 96, want);
}

static void infinity_has_one_encoding(void **state)
{
    (void)state;
    static const uint8_t zero[192];
    uint8_t bytes[192], want[192] = {0x40};
    const g1_affine inf1 = {fp_zero, fp_zero};
    const g2_affine inf2 = {fp2_zero, fp2_zero};
    g1_encode(bytes, &inf1);
    assert_memory_equal(bytes, want, 96);
    g2_encode(bytes, &inf2);
    assert_memory_equal(bytes, want, 192);
    want[0] = 0xc0;
    g1_compress(bytes, &inf1);
    assert_memory_equal(bytes, want, 48);
    g2_compress(bytes, &inf2);
    assert_memory_equal(bytes, want, 96);
    g1_encode_mont(bytes, &inf1);
    assert_memory_equal(bytes, zero, 96);
    g2_encode_mont(bytes, &inf2);
    assert_memory_equal(bytes, zero, 192);
}

/* Whatever is decoded must encode to the bytes it came from: no two encodings of one point. */
#define FORMS(G, POINT_BYTES)                                                                      \
    typedef struct G##_form {                                                                      \
        const char *name;                                                                          \
        size_t n;                                                                                  \
        void (*encode)(uint8_t *, const G##_affine *);                                             \
        point_status (*decode)(G##_affine *, const uint8_t *, point_check);                        \
    } G##_form;                                                                                    \
    static const G##_form G##_forms[] = {                                                          \
        {"uncompressed", POINT_BYTES, G##_encode, G##_decode},                                     \
        {"compressed", POINT_BYTES / 2, G##_compress, G##_decompress},                             \
        {"snarkjs", POINT_BYTES, G##_encode_mont, G##_decode_mont},                                \
    };                                                                                             \
    static void G##_points_survive_a_round_trip(void **state)                                      \
    {                                                                                              \
        (void)state;                                                                               \
        test_rng rng = test_rng_new(#G "_points_survive_a_round_trip");                            \
        G##_affine p[24];                                                                          \
        test_##G##_points(&rng, p, 20);                                                            \
        p[20] = G##_generator;                                                                     \
        G##_affine_neg(&p[21], &G##_generator);                                                    \
        memset(&p[22], 0, sizeof p[22]);                                                           \
        G##_affine_neg(&p[23], &p[0]);                                                             \
        for (size_t f = 0; f < 3; f++) {                                                           \
            for (size_t i = 0; i < 24; i++) {                                                      \
                uint8_t bytes[POINT_BYTES], again[POINT_BYTES];                                    \
                G##_affine q;                                                                      \
                G##_forms[f].encode(bytes, &p[i]);                                                 \
                assert_int_equal(G##_forms[f].decode(&q, bytes, POINT_CHECK_SUBGROUP), POINT_OK);  \
                assert_true(G##_affine_eq(&p[i], &q));                                             \
                G##_forms[f].encode(again, &q);                                                    \
                assert_memory_equal(bytes, again, G##_forms[f].n);                                 \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void G##_flipped_bits_never_give_the_same_point(void **state)                           \
    {                                                                                              \
        (void)state;                                                                               \
        test_rng rng = test_rng_new(#G "_flipped_bits_never_give_the_same_point");                 \
        G##_affine p[3];                                                                           \
        test_##G##_points(&rng, p, 2);                                                             \
        memset(&p[2], 0, sizeof p[2]);                                                             \
        for (size_t k = 0; k < 3 * 3 * 8 * (size_t)POINT_BYTES; k++) {                             \
            const G##_form *form = &G##_forms[k % 3];                                              \
            const G##_affine *point = &p[k / 3 % 3];                                               \
            size_t bit = k / 9;                                                                    \
            if (bit >= 8 * form->n) {                                                              \
                continue;                                                                          \
            }                                                                                      \
            uint8_t bytes[POINT_BYTES], again[POINT_BYTES];                                        \
            form->encode(bytes, point);                                                            \
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);                                            \
            G##_affine q;                                                                          \
            memset(&q, 0xa5, sizeof q);                                                            \
            const G##_affine before = q;                                                           \
            point_check check = bit % 16 == 0 ? POINT_CHECK_SUBGROUP                               \
                                : bit % 2     ? POINT_CHECK_CURVE                                  \
                                              : POINT_CHECK_NONE;                                      \
            if (form->decode(&q, bytes, check) != POINT_OK) {                                      \
                assert_memory_equal(&q, &before, sizeof q);                                        \
                continue;                                                                          \
            }                                                                                      \
            assert_false(G##_affine_eq(&q, point));                                                \
            form->encode(again, &q);                                                               \
            assert_memory_equal(bytes, again, form->n);                                            \
        }                                                                                          \
    }                                                                                              \
    static void G##_wrong_flag_bits_are_refused(void **state)                                      \
    {                                                                                              \
        (void)state;                                                                               \
        G##_affine inf, q;                                                                         \
        memset(&inf, 0, sizeof inf);                                                               \
        uint8_t bytes[POINT_BYTES];                                                                \
        for (int flags = 0; flags < 8; flags++) {                                                  \
            G##_encode(bytes, &G##_generator);                                                     \
            bytes[0] = (uint8_t)((bytes[0] & 0x1f) | flags << 5);                                  \
            assert_int_equal(G##_decode(&q, bytes, POINT_CHECK_NONE),                              \
                             flags ? POINT_BAD_FLAGS : POINT_OK);                                  \
            G##_encode(bytes, &inf);                                                               \
            bytes[0] = (uint8_t)(flags << 5);                                                      \
            assert_int_equal(G##_decode(&q, bytes, POINT_CHECK_NONE), flags == 2 ? POINT_OK        \
                                                                      : flags == 0                 \
                                                                          ? POINT_NOT_ON_CURVE     \
                                                                          : POINT_BAD_FLAGS);      \
            G##_compress(bytes, &G##_generator);                                                   \
            bytes[0] = (uint8_t)((bytes[0] & 0x1f) | flags << 5);                                  \
            assert_int_equal(G##_decompress(&q, bytes, POINT_CHECK_SUBGROUP),                      \
                             (flags & 6) == 4 ? POINT_OK : POINT_BAD_FLAGS);                       \
            G##_compress(bytes, &inf);                                                             \
            bytes[0] = (uint8_t)(flags << 5);                                                      \
            if (flags == 6) {                                                                      \
                assert_int_equal(G##_decompress(&q, bytes, POINT_CHECK_NONE), POINT_OK);           \
            } else if ((flags & 6) != 4) { /* 4 and 5 are the two points with x = 0, if any */     \
                assert_int_equal(G##_decompress(&q, bytes, POINT_CHECK_NONE), POINT_BAD_FLAGS);    \
            }                                                                                      \
        }                                                                                          \
        for (size_t i = 0; i < POINT_BYTES; i++) { /* infinity with one byte that is not zero */   \
            G##_encode(bytes, &inf);                                                               \
            bytes[i] |= 0x01;                                                                      \
            assert_int_equal(G##_decode(&q, bytes, POINT_CHECK_NONE), POINT_BAD_FLAGS);            \
        }                                                                                          \
        for (size_t i = 0; i < POINT_BYTES / 2; i++) {                                             \
            G##_compress(bytes, &inf);                                                             \
            bytes[i] |= 0x10;                                                                      \
            assert_int_equal(G##_decompress(&q, bytes, POINT_CHECK_NONE), POINT_BAD_FLAGS);        \
        }                                                                                          \
    }                                                                                              \
    static void G##_points_outside_the_subgroup_are_refused_when_asked(void **state)               \
    {                                                                                              \
        (void)state;                                                                               \
        size_t found = 0, none = 0;                                                                \
        for (uint8_t x = 0; found < 4; x++) {                                                      \
            uint8_t bytes[POINT_BYTES] = {0x80};                                                   \
            bytes[POINT_BYTES / 2 - 1] = x;                                                        \
            G##_affine q;                                                                          \
            point_status status = G##_decompress(&q, bytes, POINT_CHECK_NONE);                     \
            if (status == POINT_NOT_ON_CURVE) {                                                    \
                none++;                                                                            \
                continue;                                                                          \
            }                                                                                      \
            assert_int_equal(status, POINT_OK);                                                    \
            assert_true(G##_affine_is_on_curve(&q));                                               \
            found++;                                                                               \
            for (size_t f = 0; f < 3; f++) {                                                       \
                G##_forms[f].encode(bytes, &q);                                                    \
                assert_int_equal(G##_forms[f].decode(&q, bytes, POINT_CHECK_CURVE), POINT_OK);     \
                assert_int_equal(G##_forms[f].decode(&q, bytes, POINT_CHECK_SUBGROUP),             \
                                 POINT_NOT_IN_SUBGROUP);                                           \
            }                                                                                      \
        }                                                                                          \
        assert_true(none > 0);                                                                     \
    }                                                                                              \
    static void G##_points_off_the_curve_are_refused_when_asked(void **state)                      \
    {                                                                                              \
        (void)state;                                                                               \
        G##_affine off = G##_generator, q;                                                         \
        off.x = G##_generator.y;                                                                   \
        off.y = G##_generator.x;                                                                   \
        for (size_t f = 0; f < 3; f += 2) {                                                        \
            uint8_t bytes[POINT_BYTES];                                                            \
            G##_forms[f].encode(bytes, &off);                                                      \
            assert_int_equal(G##_forms[f].decode(&q, bytes, POINT_CHECK_NONE), POINT_OK);          \
            assert_int_equal(G##_forms[f].decode(&q, bytes, POINT_CHECK_CURVE),                    \
                             POINT_NOT_ON_CURVE);                                                  \
            assert_int_equal(G##_forms[f].decode(&q, bytes, POINT_CHECK_SUBGROUP),                 \
                             POINT_NOT_ON_CURVE);                                                  \
        }                                                                                          \
    }                                                                                              \
    static void G##_coordinates_of_p_or_more_are_refused(void **state)                             \
    {                                                                                              \
        (void)state;                                                                               \
        for (size_t at = 0; at < POINT_BYTES; at += 48) {                                          \
            for (int add = 0; add < 2; add++) { /* p and p + 1: aliases of 0 and 1 */              \
                uint8_t bytes[POINT_BYTES];                                                        \
                G##_affine q;                                                                      \
                G##_encode(bytes, &G##_generator);                                                 \
                from_hex(bytes + at, P_BYTES, 0);                                                  \
                bytes[at + 47] = (uint8_t)(bytes[at + 47] + add);                                  \
                assert_int_equal(G##_decode(&q, bytes, POINT_CHECK_NONE), POINT_NOT_CANONICAL);    \
                bytes[0] |= 0x80;                                                                  \
                if (at < POINT_BYTES / 2) {                                                        \
                    assert_int_equal(G##_decompress(&q, bytes, POINT_CHECK_NONE),                  \
                                     POINT_NOT_CANONICAL);                                         \
                }                                                                                  \
                G##_encode_mont(bytes, &G##_generator);                                            \
                for (int i = 0; i < FP_LIMBS; i++) {                                               \
                    cuzk_store_u64le(bytes + at + 8 * (size_t)i, fp_modulus.l[i]);                 \
                }                                                                                  \
                bytes[at] = (uint8_t)(bytes[at] + add);                                            \
                assert_int_equal(G##_decode_mont(&q, bytes, POINT_CHECK_NONE),                     \
                                 POINT_NOT_CANONICAL);                                             \
            }                                                                                      \
        }                                                                                          \
    }

FORMS(g1, G1_UNCOMPRESSED_BYTES)
FORMS(g2, G2_UNCOMPRESSED_BYTES)

static void aliases_of_a_point_with_small_coordinates_are_refused(void **state)
{
    (void)state;
    uint8_t bytes[96];
    g1_affine q;
    from_hex(bytes, ZERO TWO, 0); /* (0, 2) is on the curve and has order 3 */
    assert_int_equal(g1_decode(&q, bytes, POINT_CHECK_CURVE), POINT_OK);
    assert_int_equal(g1_decode(&q, bytes, POINT_CHECK_SUBGROUP), POINT_NOT_IN_SUBGROUP);
    from_hex(bytes, P_BYTES TWO, 0);
    assert_int_equal(g1_decode(&q, bytes, POINT_CHECK_CURVE), POINT_NOT_CANONICAL);
    from_hex(bytes, P_BYTES, 0x80);
    assert_int_equal(g1_decompress(&q, bytes, POINT_CHECK_CURVE), POINT_NOT_CANONICAL);
    from_hex(bytes, ZERO, 0x80);
    assert_int_equal(g1_decompress(&q, bytes, POINT_CHECK_CURVE), POINT_OK);
    from_hex(bytes, ZERO ZERO, 0);
    for (int check = POINT_CHECK_NONE; check <= POINT_CHECK_SUBGROUP; check++) {
        assert_int_equal(g1_decode(&q, bytes, (point_check)check), POINT_NOT_ON_CURVE);
    }
}

static void the_snarkjs_form_holds_montgomery_limbs(void **state)
{
    (void)state;
    uint8_t bytes[192];
    g1_encode_mont(bytes, &g1_generator);
    assert_int_equal(cuzk_load_u64le(bytes), g1_generator.x.l[0]);
    assert_int_equal(cuzk_load_u64le(bytes + 88), g1_generator.y.l[5]);
    g2_encode_mont(bytes, &g2_generator);
    assert_int_equal(cuzk_load_u64le(bytes), g2_generator.x.c0.l[0]);
    assert_int_equal(cuzk_load_u64le(bytes + 48), g2_generator.x.c1.l[0]);
    assert_int_equal(cuzk_load_u64le(bytes + 96), g2_generator.y.c0.l[0]);
}

static void each_status_has_its_own_text(void **state)
{
    (void)state;
    for (int i = POINT_OK; i <= POINT_NOT_IN_SUBGROUP; i++) {
        for (int j = POINT_OK; j < i; j++) {
            assert_string_not_equal(point_status_text((point_status)i),
                                    point_status_text((point_status)j));
        }
    }
}

#define GROUP_TESTS(G)                                                                             \
    cmocka_unit_test(G##_points_survive_a_round_trip),                                             \
        cmocka_unit_test(G##_flipped_bits_never_give_the_same_point),                              \
        cmocka_unit_test(G##_wrong_flag_bits_are_refused),                                         \
        cmocka_unit_test(G##_points_outside_the_subgroup_are_refused_when_asked),                  \
        cmocka_unit_test(G##_points_off_the_curve_are_refused_when_asked),                         \
        cmocka_unit_test(G##_coordinates_of_p_or_more_are_refused)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_generators_have_their_published_encodings),
        cmocka_unit_test(infinity_has_one_encoding),
        GROUP_TESTS(g1),
        GROUP_TESTS(g2),
        cmocka_unit_test(aliases_of_a_point_with_small_coordinates_are_refused),
        cmocka_unit_test(the_snarkjs_form_holds_montgomery_limbs),
        cmocka_unit_test(each_status_has_its_own_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
