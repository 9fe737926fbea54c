#include <stdio.h>
#include <stdlib.h>

#include "base/system.h"
#include "gadget/num.h"
#include "gadget/poseidon.h"
#include "gadget/sha256_gadget.h"
#include "r1cs/cs.h"
#include "r1cs/shape_file.h"
#include "support/support.h"

static cuzk_cs *start(void)
{
    cuzk_cs *cs = NULL;
    assert_int_equal(cuzk_cs_new_shape(&cs, "test", NULL), CUZK_OK);
    return cs;
}

static cuzk_shape *finish(cuzk_cs *cs)
{
    cuzk_shape *s = NULL;
    cuzk_err err;
    assert_int_equal(cuzk_cs_finish_shape(cs, &s, &err), CUZK_OK);
    cuzk_cs_free(cs);
    return s;
}

/* Two numbers hashed twice, a public bit, and a message block. */
static cuzk_shape *sample(void)
{
    cuzk_cs *cs = start();
    cuzk_num x[2];
    cuzk_bool bits[512], digest[256];
    cuzk_cs_alloc_n(cs, x, 2, NULL);
    x[0] = cuzk_poseidon(cs, CUZK_TAG_TREE, 2, x);
    x[1] = cuzk_poseidon(cs, CUZK_TAG_TREE, 2, x);
    cuzk_num_inputize(cs, &x[1]);
    cuzk_num_to_bits(cs, bits, &x[0], CUZK_UNPACK_DIFFERENCE);
    bits[255] = cuzk_bool_const(false);
    cuzk_gadget_sha256(cs, digest, bits, 256);
    cuzk_num_pack_inputs(cs, digest, 254);
    return finish(cs);
}

static void equal_calls_share_a_template(void **state)
{
    (void)state;
    cuzk_cs *cs = start();
    cuzk_num x[3];
    cuzk_cs_alloc_n(cs, x, 3, NULL);
    for (int i = 0; i < 10; i++) {
        x[i % 3] = cuzk_poseidon(cs, CUZK_TAG_TREE, 2, x + i % 2);
    }
    cuzk_shape *s = finish(cs);
    assert_int_equal(s->n_templates, 2); /* "full" and "poseidon" */
    assert_int_equal(s->n_instances, 11);
    assert_int_equal(cuzk_shape_aux(s), 3 + 10 * 311);
    assert_int_equal(cuzk_shape_rows(s), 10 * 311);
    cuzk_shape_free(s);
}

static void ports_that_coincide_make_another_template_with_merged_terms(void **state)
{
    (void)state;
    cuzk_cs *cs = start();
    cuzk_num x[2];
    cuzk_bool b;
    cuzk_cs_alloc_n(cs, x, 2, NULL);
    cuzk_cs_alloc_bits(cs, &b, 1, 0);
    cuzk_num y;
    cuzk_num_pick_n(cs, &y, &b, &x[0], &x[1], 1);
    cuzk_num_pick_n(cs, &y, &b, &x[0], &x[0], 1);
    cuzk_shape *s = finish(cs);
    assert_int_equal(s->n_templates, 4);
    const cuzk_template *two = &s->templates[2];
    const cuzk_template *one = &s->templates[3];
    assert_int_equal(two->n_ports, 3);
    assert_int_equal(one->n_ports, 2);
    assert_int_equal(s->offsets[two->offsets[0] + 1] - s->offsets[two->offsets[0]], 2);
    assert_int_equal(s->offsets[one->offsets[0] + 1] - s->offsets[one->offsets[0]], 0);
    assert_int_equal(one->zeros[0], 1); /* b - a with a = b */
    cuzk_shape_free(s);
}

static void consecutive_ports_are_one_run(void **state)
{
    (void)state;
    cuzk_shape *s = sample();
    uint32_t seen = 0;
    for (uint32_t i = 0; i < s->n_instances; i++) {
        if (strcmp(cuzk_shape_template(s, &s->instances[i])->gadget, "sha256") == 0) {
            assert_int_equal(s->instances[i + 1].run - s->instances[i].run, 1);
            assert_int_equal(s->runs[s->instances[i].run].count, 255);
            seen++;
        }
    }
    assert_int_equal(seen, 1);
    cuzk_shape_free(s);
}

static void a_gadget_has_the_size_that_the_reference_states(void **state)
{
    (void)state;
    cuzk_cs *cs = start();
    cuzk_bool bits[512], digest[256];
    for (int i = 0; i < 512; i += 64) {
        cuzk_cs_alloc_bits(cs, bits + i, 64, 0);
    }
    cuzk_gadget_sha256(cs, digest, bits, 512);
    cuzk_shape *s = finish(cs);
    assert_int_equal(cuzk_shape_aux(s), 512 + 44828);
    assert_int_equal(cuzk_shape_rows(s), 512 + 44874);
    cuzk_shape_free(s);
}

static void a_failure_in_a_circuit_is_kept_until_the_end(void **state)
{
    (void)state;
    cuzk_cs *cs = start();
    cuzk_shape *s = NULL;
    cuzk_num x = {77, fr_zero}; /* no such variable */
    cuzk_num_inputize(cs, &x);
    cuzk_cs_alloc(cs, NULL);
    cuzk_err err;
    assert_int_equal(cuzk_cs_finish_shape(cs, &s, &err), CUZK_E_INTERNAL);
    assert_non_null(strstr(err.msg, "no variable"));
    assert_null(s);
    cuzk_cs_free(cs);
}

static void a_row_over_more_ports_than_the_limit_is_refused(void **state)
{
    (void)state;
    cuzk_cs *cs = start();
    cuzk_lc sum = {0};
    for (int i = 0; i < 2049; i++) {
        cuzk_lc_add(cs, &sum, cuzk_cs_alloc(cs, NULL).var, &fr_one);
    }
    cuzk_cs_enforce(cs, &sum, NULL, NULL);
    cuzk_lc_free(&sum);
    cuzk_shape *s = NULL;
    assert_int_equal(cuzk_cs_finish_shape(cs, &s, NULL), CUZK_E_UNSUPPORTED);
    cuzk_cs_free(cs);
}

static void a_saved_shape_loads_as_it_was(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s/shape", test_tmpdir());
    cuzk_shape *s = sample();
    cuzk_shape *t = NULL;
    cuzk_err err;
    assert_int_equal(cuzk_shape_save(s, path, &err), CUZK_OK);
    assert_int_equal(cuzk_shape_load(&t, path, "test", &err), CUZK_OK);
    assert_int_equal(s->image.n, t->image.n);
    assert_memory_equal(s->image.p, t->image.p, s->image.n);
    cuzk_shape_free(t);
    t = NULL;
    assert_int_equal(cuzk_shape_load(&t, path, "other", &err), CUZK_E_INPUT);
    assert_non_null(strstr(err.msg, "want other, found test"));
    assert_null(t);
    cuzk_shape_free(s);
}

/* The file's bytes with a checksum that fits, in memory. */
static uint8_t *file_bytes(const cuzk_shape *s, size_t *ret_n)
{
    *ret_n = s->image.n + 32;
    uint8_t *bytes = aligned_alloc(64, (*ret_n + 63) / 64 * 64);
    assert_non_null(bytes);
    memcpy(bytes, s->image.p, s->image.n);
    assert_int_equal(cuzk_sha256(bytes + s->image.n, bytes, s->image.n, NULL), CUZK_OK);
    return bytes;
}

static void a_damaged_file_is_refused(void **state)
{
    (void)state;
    cuzk_shape *s = sample();
    size_t n;
    uint8_t *bytes = file_bytes(s, &n);
    test_rng g = test_rng_new("damage");
    for (int k = 0; k < 200; k++) {
        size_t at = test_below(&g, n);
        uint8_t bit = (uint8_t)(1 << test_below(&g, 8));
        cuzk_shape *t = NULL;
        bytes[at] ^= bit;
        assert_int_equal(cuzk_shape_parse(&t, (cuzk_span){bytes, n}, "f", NULL, NULL),
                         CUZK_E_INPUT);
        bytes[at] ^= bit;
    }
    for (size_t cut = 0; cut < n; cut += 1 + cut / 2) {
        cuzk_shape *t = NULL;
        assert_int_equal(cuzk_shape_parse(&t, (cuzk_span){bytes, cut}, "f", NULL, NULL),
                         CUZK_E_INPUT);
    }
    free(bytes);
    cuzk_shape_free(s);
}

/* Changes one 32-bit word at `p` of the image, with a checksum that fits, and expects `part` in the
 * message. */
static void expect_refused(const cuzk_shape *s, const void *p, uint32_t value, const char *part)
{
    size_t n;
    uint8_t *bytes = file_bytes(s, &n);
    size_t at = (size_t)((const uint8_t *)p - s->image.p);
    memcpy(bytes + at, &value, sizeof value);
    assert_int_equal(cuzk_sha256(bytes + n - 32, bytes, n - 32, NULL), CUZK_OK);
    cuzk_shape *t = NULL;
    cuzk_err err;
    assert_int_equal(cuzk_shape_parse(&t, (cuzk_span){bytes, n}, "f", NULL, &err), CUZK_E_INPUT);
    if (!strstr(err.msg, part)) {
        fail_msg("want '%s' in '%s'", part, err.msg);
    }
    free(bytes);
}

static void every_index_of_a_file_is_checked(void **state)
{
    (void)state;
    cuzk_shape *s = sample();
    const cuzk_template *t = &s->templates[1]; /* poseidon */
    const cuzk_instance *i = &s->instances[2];
    const cuzk_run *r = &s->runs[i->run];
    const uint32_t *terms = s->terms + s->offsets[t->offsets[0]];
    expect_refused(s, &t->n_ports, 70000, "65535 references");
    expect_refused(s, &t->n_aux, t->n_aux + 1, "variables");
    expect_refused(s, &t->n_full, t->n_full - 1, "number of full variables");
    expect_refused(s, &t->n_rows, UINT32_MAX, "offsets out of range");
    expect_refused(s, &t->offsets[1], s->n_offsets, "offsets out of range");
    expect_refused(s, &t->classes, s->n_class_words, "classes out of range");
    expect_refused(s, &t->plan, 4, "plan out of range");
    expect_refused(s, &t->record_bytes, 4, "multiple of 8");
    expect_refused(s, &s->offsets[t->offsets[0] + 1], UINT32_MAX, "rows are not in order");
    expect_refused(s, terms, 0xfffe, "reference out of range");
    expect_refused(s, terms, 0xffff0000, "coefficient out of range");
    expect_refused(s, &i->template_id, s->n_templates, "template out of range");
    expect_refused(s, &i->aux, i->aux + 1, "variables");
    expect_refused(s, &i->row, i->row + 1, "rows");
    expect_refused(s, &i->full, i->full + 1, "slots");
    expect_refused(s, &i->record, i->record + 8, "records");
    expect_refused(s, &i->run, s->n_runs + 1, "runs");
    expect_refused(s, &r->var, cuzk_shape_aux(s), "earlier instance");
    expect_refused(s, &r->var, CUZK_ONE, "input out of range");
    expect_refused(s, &r->slot, r->slot + 1, "slot");
    expect_refused(s, &r->count, 0, "more ports");
    expect_refused(s, &r->count, 3, "more ports");
    cuzk_shape_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_calls_share_a_template),
        cmocka_unit_test(ports_that_coincide_make_another_template_with_merged_terms),
        cmocka_unit_test(consecutive_ports_are_one_run),
        cmocka_unit_test(a_gadget_has_the_size_that_the_reference_states),
        cmocka_unit_test(a_failure_in_a_circuit_is_kept_until_the_end),
        cmocka_unit_test(a_row_over_more_ports_than_the_limit_is_refused),
        cmocka_unit_test(a_saved_shape_loads_as_it_was),
        cmocka_unit_test(a_damaged_file_is_refused),
        cmocka_unit_test(every_index_of_a_file_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
