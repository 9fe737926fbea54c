#include "base/bytes.h"
#include "base/system.h"
#include "gadget/poseidon_native.h"
#include "support/support.h"

#define OPENSSL_SUPPRESS_DEPRECATED /* the block interface, which EVP does not have */
#include <openssl/sha.h>

/* Hashes of the inputs 0, 1, ..., arity - 1 and digests of the constants, from the reference. */
typedef struct known {
    unsigned arity;
    const char *hash, *first_constant, *constants, *pre_sparse, *sparse;
} known;

static const known arities[] = {
    {2, "396508d75e76a56b739e0fd902efe161a6fba9339d05a69d2e203c369a02e7ff",
     "669f064bfa3ae17a23bd51861dbb4a24501eac92a2758b36a7320a009d6ed3d8",
     "642b02f144e164c0104bd7fb097471e2e0384efdc0843b7435b265c0984de5c6",
     "4f68a6ac7d7fde5243871030eb4ec7a7281bf10ceb289f619c9f104d235e0865",
     "3dd0fb337e40c8c682764f97aab670c0c6cbcfca73f418ed68e76b3720db816e"},
    {4, "58a54b10a9e5848a00db3c6579229399fb6b4605bf1327ec019814ff6662075d",
     "45c919736a0e5f2ef32c4c7d0a338eb1fed3d9e317b7580921072285c7e215ca",
     "bc4b399a54a3406a26d4a052ef25db111cf6646b4693387d7c51a82b67edb887",
     "23b428b28121e1245a6276efb8a60c827a895d1dc5bd8946e5603d9cdee96bf6",
     "6c241076739b74d032b3f653bd3a7063c0e414bde05db0484586abfd3a9dcce4"},
    {8, "2394611da3a5de5512010042116770774b682e9d9cc4aed92a9934f56d38a5e6",
     "6ce90d12c4045fe08c3caddb776dd84ac52b4ae7e48cd49443984154f2f4c2f9",
     "552492cc0303c34869ace5bdb2a67b30dcb5a974d53ac0db9c0cb73cc1917793",
     "7d236c69ffaa7c366d77c59a41fe35f7089462b4d4a1d2065c3dba8635fec3d3",
     "ea02c81e48ba7080a3a4fb883223931bea57d9312d69bf28757f7400ccc489bf"},
    {11, "0c0fc1b2e5227f286ca537e232ebe87a09f3dcd8ccb08fc1cee3bbc32b693163",
     "1f6c9576e648b5047399bfc5f38902e0d506f18e0f3ab77de6de096bd089bce4",
     "b40532751ee562784c5fa1a6063fe30bd07ad75c1e8c0a00536b94faf1d9cddf",
     "eee57c67b155afb3f92d7f350def78eb7093fb4fe47978f31d0e1dc992f83aeb",
     "fb9560fd2bd7d34296b7a29051edc76bfc3e392a08509d5d606907f8b10f2107"},
};
enum { ARITIES = sizeof arities / sizeof *arities };

static void put_be(uint8_t out[32], const fr *v)
{
    uint8_t le[32];
    fr_to_bytes(le, v);
    for (int i = 0; i < 32; i++) {
        out[i] = le[31 - i];
    }
}

static void check_element(const fr *v, const char *want)
{
    uint8_t be[32];
    char text[65];
    put_be(be, v);
    cuzk_hex_format(text, be, 32);
    assert_string_equal(text, want);
}

static void check_digest(SHA256_CTX *c, const char *want)
{
    uint8_t d[32];
    char text[65];
    SHA256_Final(d, c);
    cuzk_hex_format(text, d, 32);
    assert_string_equal(text, want);
}

static void put(SHA256_CTX *c, const fr *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t be[32];
        put_be(be, &v[i]);
        SHA256_Update(c, be, 32);
    }
}

static void constants_are_those_of_the_reference(void **state)
{
    (void)state;
    for (int k = 0; k < ARITIES; k++) {
        const known *a = &arities[k];
        const poseidon_params *p = poseidon_params_of(a->arity);
        check_element(&p->round[0], a->first_constant);
        SHA256_CTX c;
        SHA256_Init(&c);
        put(&c, p->compressed, 8 * p->width + p->partial);
        check_digest(&c, a->constants);
        SHA256_Init(&c);
        for (unsigned i = 0; i < p->width; i++) {
            put(&c, p->pre_sparse[i], p->width);
        }
        check_digest(&c, a->pre_sparse);
        SHA256_Init(&c);
        for (unsigned i = 0; i < p->partial; i++) {
            put(&c, p->sparse[i].column, p->width);
            put(&c, p->sparse[i].row, p->width - 1);
        }
        check_digest(&c, a->sparse);
    }
    assert_null(poseidon_params_of(3));
}

static void hashes_are_those_of_the_reference(void **state)
{
    (void)state;
    fr in[11], h;
    for (unsigned i = 0; i < 11; i++) {
        in[i] = fr_from_u64(i);
    }
    for (int k = 0; k < ARITIES; k++) {
        poseidon_hash_tree(&h, poseidon_params_of(arities[k].arity), in);
        check_element(&h, arities[k].hash);
    }
    fr tag = poseidon_tag_randomness();
    poseidon_hash(&h, poseidon_params_of(2), &tag, in);
    check_element(&h, "314a35c4e7f0924ead1fc58134a0fe25e3580bea397367c7e5a74ec4bc077758");
}

static void the_sparse_form_equals_the_plain_one_and_its_trace_ends_in_the_hash(void **state)
{
    (void)state;
    test_rng g = test_rng_new("poseidon");
    for (int k = 0; k < ARITIES; k++) {
        const poseidon_params *p = poseidon_params_of(arities[k].arity);
        for (int n = 0; n < 20; n++) {
            fr in[11], fast, plain, aux[598];
            for (unsigned i = 0; i < p->arity; i++) {
                in[i] = test_fr(&g);
            }
            fr tag = test_fr(&g);
            poseidon_hash(&fast, p, &tag, in);
            poseidon_hash_plain(&plain, p, &tag, in);
            assert_true(fr_eq(&fast, &plain));
            poseidon_trace(aux, p, &tag, in);
            assert_true(fr_eq(&fast, &aux[poseidon_aux_count(p) - 1]));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_those_of_the_reference),
        cmocka_unit_test(hashes_are_those_of_the_reference),
        cmocka_unit_test(the_sparse_form_equals_the_plain_one_and_its_trace_ends_in_the_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
