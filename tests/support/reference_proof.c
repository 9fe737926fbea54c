#include "support/reference_proof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "filecoin/statement.h"
#include "gadget/expand.h"
#include "groth16/formats/formats.h"
#include "r1cs/assignment.h"
#include "r1cs/shape_csr.h"
#include "support/files.h"
#include "support/support.h"

static void ok(cuzk_code code, const cuzk_err *err)
{
    if (code != CUZK_OK) {
        fail_msg("%s", err->msg);
    }
}

/* One circuit from its name to a proof. */
typedef struct trial {
    const reference_proof *row;
    cuzk_circuit_id id;
    cuzk_shape *shape;
    cuzk_r1cs *r1cs;
    cuzk_pk *pk;
    cuzk_pool *pool;
    fr_repr *z;
} trial;

static double seconds_since(uint64_t start_ns)
{
    return (double)(cuzk_clock_ns() - start_ns) / 1e9;
}

static void make_circuit(trial *t)
{
    cuzk_err err;
    ok(cuzk_pool_new(&t->pool, 0, &err), &err);
    ok(cuzk_circuit_named(&t->id, t->row->circuit, &err), &err);
    ok(cuzk_circuit_shape(&t->shape, &t->id, &err), &err);
    ok(cuzk_shape_to_r1cs(&t->r1cs, t->shape, &err), &err);
}

static void make_key(trial *t)
{
    cuzk_err err;
    cuzk_trapdoor secrets;
    uint64_t start = cuzk_clock_ns();
    ok(cuzk_trapdoor_named(&secrets, "ref", &err), &err);
    ok(cuzk_groth16_setup(&t->pk, t->r1cs, &secrets, FR_ROOT_BELLMAN, CUZK_H_POWERS, t->pool, NULL,
                          &err),
       &err);
    print_message("  %s: key %.2f s\n", t->row->circuit, seconds_since(start));
}

static void check_vk(const trial *t)
{
    cuzk_err err;
    char path[600];
    TEST_VECTOR_OR_SKIP(want, t->row->vk);
    snprintf(path, sizeof path, "%s/vk", test_tmpdir());
    ok(cuzk_vk_write(&t->pk->vk, path, &err), &err);
    test_files_equal(path, want);
}

/* The key's file, by its digest; the proof is then made with the key as it was read. */
static void check_params(trial *t)
{
    cuzk_err err;
    char path[600], text[65];
    uint8_t digest[32];
    cuzk_file_map map;
    snprintf(path, sizeof path, "%s/params", test_tmpdir());
    ok(cuzk_params_write(t->pk, path, &err), &err);
    ok(cuzk_file_map_open(&map, path, &err), &err);
    cuzk_sha256_digest(digest, map.bytes.p, map.bytes.n);
    cuzk_hex_format(text, digest, sizeof digest);
    cuzk_file_map_close(&map);
    assert_string_equal(text, t->row->params_sha256);
    cuzk_pk_free(t->pk);
    t->pk = NULL;
    ok(cuzk_params_read(&t->pk, path, t->r1cs, POINT_CHECK_NONE, t->pool, &err), &err);
}

static void make_witness(trial *t)
{
    cuzk_err err;
    uint8_t randomness[32];
    const cuzk_claims claims = {.randomness = randomness};
    const char *files[2];
    size_t n = 0;
    for (; n < 2 && t->row->files[n]; n++) {
        TEST_VECTOR_OR_SKIP(path, t->row->files[n]);
        files[n] = path;
    }
    cuzk_sha256_digest(randomness, "post randomness", strlen("post randomness"));
    randomness[31] &= 0x3f;
    cuzk_statement *s;
    cuzk_ports ports;
    cuzk_packed packed;
    ok(cuzk_statement_read(&s, &t->id, files, n, &claims, &err), &err);
    ok(cuzk_statement_check(s, 0, t->pool, &err), &err);
    ok(cuzk_statement_ports(s, 0, t->shape, &ports, &err), &err);
    ok(cuzk_expand(&packed, t->shape, &ports, t->pool, &err), &err);
    t->z = malloc(((size_t)t->r1cs->n_inputs + t->r1cs->n_aux) * sizeof *t->z);
    assert_non_null(t->z);
    cuzk_packed_values(&packed, t->shape, t->z, t->pool);
    /* a verifier makes the same public inputs */
    size_t n_public = cuzk_statement_input_count(&t->id);
    assert_int_equal(n_public, t->r1cs->n_inputs - 1);
    fr_repr *inputs = malloc(n_public * sizeof *inputs);
    assert_non_null(inputs);
    ok(cuzk_statement_inputs(s, 0, inputs, &err), &err);
    assert_memory_equal(inputs, t->z + 1, n_public * sizeof *inputs);
    free(inputs);
    cuzk_packed_clear(&packed);
    cuzk_ports_clear(&ports);
    cuzk_statement_free(s);
}

static void check_proof(trial *t)
{
    cuzk_err err;
    fr r, s;
    cuzk_proof proof;
    cuzk_prove_times times;
    uint8_t bytes[CUZK_PROOF_BYTES];
    ok(cuzk_scalar_named(&r, "ref-r-0", &err), &err);
    ok(cuzk_scalar_named(&s, "ref-s-0", &err), &err);
    ok(cuzk_groth16_prove(&proof, t->pk, t->r1cs, t->z, (size_t)t->r1cs->n_inputs + t->r1cs->n_aux,
                          &r, &s, t->pool, NULL, &times, &err),
       &err);
    print_message("  %s: proof %.2f s\n", t->row->circuit, (double)times.total_ns / 1e9);
    cuzk_proof_encode(bytes, &proof);
    TEST_VECTOR_OR_SKIP(path, t->row->proof);
    test_file want = test_file_load(path);
    assert_int_equal(want.n, sizeof bytes);
    assert_memory_equal(bytes, want.p, sizeof bytes);
    free(want.p);
}

void test_reference_proof(const reference_proof *row)
{
    trial t = {.row = row};
    make_circuit(&t);
    make_witness(&t);
    make_key(&t);
    check_vk(&t);
    if (row->params_sha256) {
        check_params(&t);
    }
    check_proof(&t);
    free(t.z);
    cuzk_pk_free(t.pk);
    cuzk_r1cs_free(t.r1cs);
    cuzk_shape_free(t.shape);
    cuzk_pool_free(t.pool);
}
