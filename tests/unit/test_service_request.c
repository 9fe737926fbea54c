#include "service/request.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

#include "cuzk/v1/proving.pb-c.h"

/* A request with every field set, packed by the generated code. */
typedef struct sample {
    Cuzk__V1__SubmitProofRequest m;
    uint8_t big[1000], parts[3][40], nodes[4][32];
    ProtobufCBinaryData list[3];
} sample;

static void make_sample(sample *s)
{
    cuzk__v1__submit_proof_request__init(&s->m);
    for (size_t i = 0; i < sizeof s->big; i++) {
        s->big[i] = (uint8_t)(i * 7);
    }
    memset(s->parts, 0x5a, sizeof s->parts);
    memset(s->nodes, 0x3c, sizeof s->nodes);
    for (unsigned i = 0; i < 3; i++) {
        s->list[i] = (ProtobufCBinaryData){10 + 15 * i, s->parts[i]};
    }
    s->m.request_id = (char *)(uintptr_t) "porep-1000-7";
    s->m.proof_kind = CUZK__V1__PROOF_KIND__WINDOW_POST_PARTITION;
    s->m.sector_size = (uint64_t)32 << 30;
    s->m.registered_proof = 13;
    s->m.priority = CUZK__V1__PRIORITY__HIGH;
    s->m.vanilla_proof = (ProtobufCBinaryData){sizeof s->big, s->big};
    s->m.n_vanilla_proofs = 3;
    s->m.vanilla_proofs = s->list;
    s->m.sector_number = UINT64_MAX;
    s->m.miner_id = 1000;
    s->m.randomness = (ProtobufCBinaryData){32, s->nodes[0]};
    s->m.partition_index = 5;
    s->m.comm_r_old = (ProtobufCBinaryData){32, s->nodes[1]};
    s->m.comm_r_new = (ProtobufCBinaryData){32, s->nodes[2]};
    s->m.comm_d_new = (ProtobufCBinaryData){32, s->nodes[3]};
}

static void assert_span(cuzk_span s, ProtobufCBinaryData d)
{
    assert_int_equal(s.n, d.len);
    assert_memory_equal(s.p, d.data, d.len);
}

static void assert_same(const cuzk_job_request *r, const Cuzk__V1__SubmitProofRequest *m)
{
    assert_string_equal(r->request_id, m->request_id);
    assert_int_equal(r->kind, m->proof_kind);
    assert_true(r->sector_size == m->sector_size);
    assert_true(r->registered_proof == m->registered_proof);
    assert_int_equal(r->priority, m->priority);
    assert_true(r->sector_number == m->sector_number);
    assert_true(r->miner_id == m->miner_id);
    assert_int_equal(r->partition_index, m->partition_index);
    assert_span(r->vanilla_proof, m->vanilla_proof);
    assert_int_equal(r->n_vanilla_proofs, m->n_vanilla_proofs);
    for (size_t i = 0; i < r->n_vanilla_proofs; i++) {
        assert_span(r->vanilla_proofs[i], m->vanilla_proofs[i]);
    }
    assert_span(r->randomness, m->randomness);
    assert_span(r->comm_r_old, m->comm_r_old);
    assert_span(r->comm_r_new, m->comm_r_new);
    assert_span(r->comm_d_new, m->comm_d_new);
}

static void a_request_reads_as_the_generated_code_packs_it(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    uint8_t bytes[4096];
    size_t n = cuzk__v1__submit_proof_request__pack(&s.m, bytes);
    cuzk_request r;
    cuzk_err err;
    assert_int_equal(cuzk_request_read(&r, (cuzk_span){bytes, n}, &err), CUZK_OK);
    assert_same(&r.job, &s.m);
    assert_true(r.job.vanilla_proof.p > bytes && r.job.vanilla_proof.p < bytes + n); /* in place */
    cuzk_request_clear(&r);
}

static void a_prove_request_holds_one_and_an_empty_one_says_what_is_missing(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    uint8_t bytes[4096];
    Cuzk__V1__ProveRequest p = CUZK__V1__PROVE_REQUEST__INIT;
    p.submit = &s.m;
    size_t n = cuzk__v1__prove_request__pack(&p, bytes);
    cuzk_request r;
    cuzk_err err;
    assert_int_equal(cuzk_request_read_prove(&r, (cuzk_span){bytes, n}, &err), CUZK_OK);
    assert_same(&r.job, &s.m);
    cuzk_request_clear(&r);
    assert_int_equal(cuzk_request_read_prove(&r, (cuzk_span){bytes, 0}, &err), CUZK_E_ARG);
    assert_string_equal(err.msg, "submit: missing");
    cuzk_request_clear(&r);
}

static void a_request_cut_anywhere_is_refused_or_shorter_but_never_read_past_its_end(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    uint8_t bytes[4096];
    size_t n = cuzk__v1__submit_proof_request__pack(&s.m, bytes);
    unsigned refused = 0;
    for (size_t cut = 0; cut < n; cut++) {
        uint8_t *copy = malloc(cut ? cut : 1); /* so that the sanitizer sees a read past the end */
        assert_non_null(copy);
        memcpy(copy, bytes, cut);
        cuzk_request r;
        cuzk_err err;
        cuzk_code code = cuzk_request_read(&r, (cuzk_span){copy, cut}, &err);
        Cuzk__V1__SubmitProofRequest *m = cuzk__v1__submit_proof_request__unpack(NULL, cut, copy);
        assert_int_equal(code == CUZK_OK, m != NULL); /* the generated code agrees */
        refused += code != CUZK_OK;
        if (m) {
            assert_same(&r.job, m);
            cuzk__v1__submit_proof_request__free_unpacked(m, NULL);
        }
        cuzk_request_clear(&r);
        free(copy);
    }
    assert_true(refused > 1000);
}

static cuzk_code read_hex(const char *hex, cuzk_err *err)
{
    uint8_t bytes[128];
    size_t n = strlen(hex) / 2;
    cuzk_request r;
    assert_true(cuzk_hex_parse(hex, bytes, n));
    cuzk_code code = cuzk_request_read(&r, (cuzk_span){bytes, n}, err);
    cuzk_request_clear(&r);
    return code;
}

static void what_is_malformed_is_refused_with_the_place(void **state)
{
    (void)state;
    cuzk_err err;
    assert_int_equal(read_hex("0a03414243", &err), CUZK_OK);    /* request_id "ABC" */
    assert_int_equal(read_hex("f83f01", &err), CUZK_OK);        /* an unknown field */
    assert_int_equal(read_hex("0a03ff4243", &err), CUZK_E_ARG); /* not UTF-8 */
    assert_non_null(strstr(err.msg, "request_id"));
    assert_int_equal(read_hex("0a03410043", &err), CUZK_E_ARG); /* NUL */
    assert_int_equal(read_hex("0801", &err), CUZK_E_ARG);       /* a number for a text */
    assert_non_null(strstr(err.msg, "request_id at byte 0"));
    assert_int_equal(read_hex("12024142", &err), CUZK_E_ARG); /* a text for proof_kind */
    assert_int_equal(read_hex("1001"
                              "0b",
                              &err),
                     CUZK_E_ARG); /* a group */
    assert_non_null(strstr(err.msg, "byte 2"));
    assert_int_equal(read_hex("00", &err), CUZK_E_ARG);                     /* field number 0 */
    assert_int_equal(read_hex("10ffffffffffffffffff02", &err), CUZK_E_ARG); /* 65 bits */
    assert_int_equal(read_hex("10ffffffffffffffffff01", &err), CUZK_OK);
    assert_int_equal(read_hex("52ffffffff0f00", &err), CUZK_E_ARG); /* 4 GiB announced */
    assert_non_null(strstr(err.msg, "4294967295 bytes, 1 are left"));
}

static void a_request_id_that_is_too_long_is_refused(void **state)
{
    (void)state;
    uint8_t bytes[400] = {0x0a, 0x80, 0x02}; /* 256 bytes */
    memset(bytes + 3, 'a', 256);
    cuzk_request r;
    cuzk_err err;
    assert_int_equal(cuzk_request_read(&r, (cuzk_span){bytes, 259}, &err), CUZK_E_ARG);
    assert_string_equal(err.msg, "request_id: expected at most 255 bytes, found 256");
    cuzk_request_clear(&r);
}

static void more_proofs_than_the_limit_are_refused(void **state)
{
    (void)state;
    size_t n = 2 * (size_t)(CUZK_REQUEST_PROOFS_MAX + 1);
    uint8_t *bytes = malloc(n);
    assert_non_null(bytes);
    for (size_t i = 0; i < n; i += 2) {
        bytes[i] = 11 << 3 | 2;
        bytes[i + 1] = 0;
    }
    cuzk_request r;
    cuzk_err err;
    assert_int_equal(cuzk_request_read(&r, (cuzk_span){bytes, n - 2}, &err), CUZK_OK);
    assert_int_equal(r.job.n_vanilla_proofs, CUZK_REQUEST_PROOFS_MAX);
    cuzk_request_clear(&r);
    assert_int_equal(cuzk_request_read(&r, (cuzk_span){bytes, n}, &err), CUZK_E_ARG);
    assert_string_equal(err.msg, "vanilla_proofs: more than 65536 of them");
    cuzk_request_clear(&r);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_reads_as_the_generated_code_packs_it),
        cmocka_unit_test(a_prove_request_holds_one_and_an_empty_one_says_what_is_missing),
        cmocka_unit_test(a_request_cut_anywhere_is_refused_or_shorter_but_never_read_past_its_end),
        cmocka_unit_test(what_is_malformed_is_refused_with_the_place),
        cmocka_unit_test(a_request_id_that_is_too_long_is_refused),
        cmocka_unit_test(more_proofs_than_the_limit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
