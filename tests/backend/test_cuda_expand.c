#include "support/support.h"
#include "twin/twin.h"

#include "backend/cuda/expand.h"
#include "gadget/expand.h"
#include "gadget/insertion.h"
#include "gadget/merkle.h"
#include "gadget/poseidon.h"
#include "gadget/sha256_gadget.h"
#include "support/witness.h"

#include <stdlib.h>

static void ok(cuzk_code code, const cuzk_err *err)
{
    if (code != CUZK_OK) {
        fail_msg("%s", err->msg);
    }
}

/* Device memory with a copy of n of `total` bytes, the others zero. */
static cuzk_cuda_block put(cuzk_cuda_memory *m, const void *from, uint64_t n, uint64_t total)
{
    cuzk_err err;
    cuzk_cuda_block b;
    ok(cuzk_cuda_take(m, &b, total, "a test", &err), &err);
    ok(cuzk_cuda_zero(b.p, total, NULL, &err), &err);
    ok(cuzk_cuda_upload(b.p, from, n, NULL, &err), &err);
    return b;
}

static void compare(const cuzk_packed *want, const cuzk_shape *s, const cuzk_cuda_block *bits,
                    uint64_t words, const cuzk_cuda_block *full)
{
    cuzk_err err;
    uint32_t *got_bits = malloc(words * sizeof *got_bits);
    fr *got = malloc(cuzk_shape_slots(s) * sizeof *got);
    assert_true(got_bits && got);
    ok(cuzk_cuda_download(got_bits, bits->p, words * sizeof *got_bits, NULL, &err), &err);
    ok(cuzk_cuda_download(got, full->p, cuzk_shape_slots(s) * sizeof *got, NULL, &err), &err);
    ok(cuzk_cuda_sync(NULL, &err), &err);
    for (uint32_t i = 0; i < words; i++) {
        uint64_t pair = i / 2 < cuzk_shape_aux(s) / 64 + 2 ? want->bits[i / 2] : 0;
        if (got_bits[i] != (uint32_t)(pair >> (i % 2 * 32))) {
            fail_msg("%s: bits of aux %u on: %08x", s->name, 32 * i, got_bits[i]);
        }
    }
    for (uint32_t i = 0; i < cuzk_shape_slots(s); i++) {
        if (memcmp(&got[i], &want->full[i], sizeof *got) != 0) {
            fail_msg("%s: element %u of %u", s->name, i, cuzk_shape_slots(s));
        }
    }
    free(got_bits);
    free(got);
}

static void check(const cuzk_shape *s, const cuzk_ports *ports)
{
    cuzk_err err;
    cuzk_packed want;
    ok(cuzk_expand(&want, s, ports, NULL, &err), &err);
    cuzk_cuda_memory m = {.budget = (uint64_t)1 << 30};
    dshape d = cuzk_cuda_twin_shape(s);
    cuzk_cuda_expand *e = NULL;
    ok(cuzk_cuda_expand_new(&e, s, &d, &m, NULL, &err), &err);
    assert_int_equal(m.used, cuzk_cuda_expand_cost(s));
    uint64_t words = (cuzk_shape_aux(s) + 31) / 32 + 4;
    cuzk_cuda_block bits = put(&m, NULL, 0, words * sizeof(uint32_t));
    cuzk_cuda_block full =
        put(&m, ports->inputs, s->n_inputs * sizeof(fr), cuzk_shape_slots(s) * sizeof(fr));
    cuzk_cuda_block records =
        put(&m, ports->records, cuzk_shape_record_bytes(s), cuzk_shape_record_bytes(s));
    ok(cuzk_cuda_expand_run(e, records.p, bits.p, full.p, NULL, &err), &err);
    compare(&want, s, &bits, words, &full);
    cuzk_cuda_give(&m, &bits);
    cuzk_cuda_give(&m, &full);
    cuzk_cuda_give(&m, &records);
    cuzk_cuda_expand_free(e);
    assert_int_equal(m.used, 0);
    cuzk_packed_clear(&want);
}

/* ---- every gadget ---- */

static void alloc_random(cuzk_cs *cs, test_rng *g, cuzk_num *ret, size_t n)
{
    fr v[16];
    for (size_t i = 0; i < n; i++) {
        v[i] = test_fr(g);
    }
    cuzk_cs_alloc_n(cs, ret, n, v);
}

static void call_hash(cuzk_cs *cs, test_rng *g)
{
    static const unsigned arities[] = {2, 4, 8, 11, 2};
    cuzk_num in[16];
    uint64_t i = test_below(g, 5);
    alloc_random(cs, g, in, arities[i]);
    cuzk_poseidon(cs, i == 4 ? CUZK_TAG_RANDOMNESS : CUZK_TAG_TREE, arities[i], in);
}

static void call_tree(cuzk_cs *cs, test_rng *g)
{
    unsigned lg = 1 + (unsigned)test_below(g, 3);
    unsigned arity = 1U << lg;
    unsigned index = (unsigned)test_below(g, arity);
    cuzk_num in[8], out[8];
    cuzk_bool bits[3];
    alloc_random(cs, g, in, arity);
    switch (test_below(g, 3)) {
    case 0: {
        fr siblings[7];
        for (unsigned i = 0; i + 1 < arity; i++) {
            siblings[i] = test_fr(g);
        }
        cuzk_merkle_step(cs, arity, in, bits, index, siblings);
        break;
    }
    case 1:
        cuzk_cs_alloc_bits(cs, bits, lg, index);
        cuzk_merkle_step_given(cs, arity, in, bits, in + 1);
        break;
    default:
        cuzk_cs_alloc_bits(cs, bits, lg, index);
        cuzk_insertion(cs, arity, out, bits, in, in + 1);
        break;
    }
}

static void call_bits(cuzk_cs *cs, test_rng *g)
{
    cuzk_bool bits[CUZK_NUM_BITS];
    cuzk_num x[2], y[2];
    size_t n = 1 + test_below(g, 64);
    uint64_t v = test_u64(g);
    cuzk_cs_alloc_bits(cs, bits, n, v);
    alloc_random(cs, g, x, 2);
    switch (test_below(g, 3)) {
    case 0:
        cuzk_num_pack(cs, bits, n);
        break;
    case 1:
        cuzk_num_to_bits(cs, bits, x, CUZK_UNPACK_EQUAL);
        break;
    default:
        alloc_random(cs, g, y, 2);
        cuzk_num_pick_n(cs, y, bits, x, y, 2);
        break;
    }
}

/* Of a few bits, so that most of the block is constant, or of so many that there are several. */
static void call_sha256(cuzk_cs *cs, test_rng *g)
{
    enum { MAX = 1024 };
    static cuzk_bool bits[MAX];
    cuzk_bool digest[CUZK_SHA256_DIGEST_BITS];
    size_t n = test_below(g, 2) ? 8 + 8 * test_below(g, 8) : MAX;
    for (size_t i = 0; i < n; i += 8) {
        cuzk_cs_alloc_bits(cs, bits + i, 8, test_u64(g) & 0xff);
    }
    cuzk_gadget_sha256(cs, digest, bits, n);
}

/* Calls of all gadgets, so mixed that bits begin anywhere in a word. */
static void call_gadgets(cuzk_cs *cs)
{
    static void (*const calls[])(cuzk_cs *, test_rng *) = {call_hash, call_tree, call_bits,
                                                           call_sha256};
    test_rng g = test_rng_new("gadgets");
    for (int i = 0; i < 160; i++) {
        calls[i % 4](cs, &g);
    }
}

static cuzk_shape *gadgets_shape(void)
{
    cuzk_err err;
    cuzk_cs *cs = NULL;
    cuzk_shape *s = NULL;
    ok(cuzk_cs_new_shape(&cs, "gadgets", &err), &err);
    call_gadgets(cs);
    ok(cuzk_cs_finish_shape(cs, &s, &err), &err);
    cuzk_cs_free(cs);
    return s;
}

/* That all gadgets are there, with every parameter. */
static void count_kinds(const cuzk_shape *s)
{
    unsigned count[CUZK_EXPAND_STEP + 1] = {0};
    for (uint32_t k = 0; k < s->n_templates; k++) {
        cuzk_expand_kind kind;
        assert_int_equal(cuzk_expand_kind_of(&kind, s, k, NULL), CUZK_OK);
        count[kind]++;
    }
    for (int k = CUZK_EXPAND_FULL; k <= CUZK_EXPAND_STEP; k++) {
        assert_true(count[k] > 0);
    }
    assert_int_equal(count[CUZK_EXPAND_POSEIDON], 5);
    assert_int_equal(count[CUZK_EXPAND_INSERT], 3);
    assert_int_equal(count[CUZK_EXPAND_STEP], 6);
}

static void every_gadget_expands_as_on_the_host(void **state)
{
    (void)state;
    cuzk_err err;
    cuzk_shape *s = gadgets_shape();
    count_kinds(s);
    cuzk_cs *cs = NULL;
    cuzk_ports ports;
    ok(cuzk_cs_new_witness(&cs, s, &err), &err);
    call_gadgets(cs);
    ok(cuzk_cs_finish_witness(cs, &ports, &err), &err);
    cuzk_cs_free(cs);
    check(s, &ports);
    cuzk_ports_clear(&ports);
    cuzk_shape_free(s);
}

static void check_circuit(const witness_row *row)
{
    cuzk_shape *s = NULL;
    cuzk_ports ports;
    test_witness_ports(&ports, &s, row);
    check(s, &ports);
    cuzk_ports_clear(&ports);
    cuzk_shape_free(s);
}

static void witnesses_of_circuits_expand_as_on_the_host(void **state)
{
    (void)state;
    static const witness_row rows[] = {
        {.circuit = "window-2KiB",
         .files = {"reference/window-2KiB.sector0.bincode",
                   "reference/window-2KiB.sector1.bincode"}},
        {.circuit = "winning-2KiB", .files = {"reference/winning-2KiB.sector0.bincode"}},
        {.circuit = "window-32GiB-2sectors",
         .files = {"reference/window-32GiB.sector0.bincode",
                   "reference/window-32GiB.sector1.bincode"}},
        {.circuit = "porep-2KiB", .files = {"reference/c1-2KiB.bincode"}},
        {.circuit = "update-2KiB", .files = {"reference/update-2KiB.partition0.bincode"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_circuit(&rows[i]);
    }
}

/* ---- refusals ---- */

static void refused(const cuzk_shape *s, const cuzk_template *changed, uint32_t k)
{
    cuzk_template *templates = malloc(s->n_templates * sizeof *templates);
    assert_non_null(templates);
    memcpy(templates, s->templates, s->n_templates * sizeof *templates);
    templates[k] = *changed;
    cuzk_shape other = *s;
    other.templates = templates;
    cuzk_cuda_memory m = {.budget = (uint64_t)1 << 30};
    dshape d = cuzk_cuda_twin_shape(&other);
    cuzk_cuda_expand *e = NULL;
    cuzk_err err;
    assert_int_equal(cuzk_cuda_expand_new(&e, &other, &d, &m, NULL, &err), CUZK_E_UNSUPPORTED);
    assert_null(e);
    assert_int_equal(m.used, 0);
    assert_non_null(strstr(err.msg, "cannot be expanded"));
    free(templates);
}

static void a_template_that_is_not_of_its_gadgets_size_is_refused(void **state)
{
    (void)state;
    cuzk_shape *s = gadgets_shape();
    for (uint32_t k = 0; k < s->n_templates; k++) {
        cuzk_template t = s->templates[k];
        t.n_aux++;
        refused(s, &t, k);
        t = s->templates[k];
        t.n_full++;
        refused(s, &t, k);
        t = s->templates[k];
        t.record_bytes += 8;
        refused(s, &t, k);
        t = s->templates[k];
        t.gadget[0] = '?';
        refused(s, &t, k);
    }
    cuzk_shape_free(s);
}

static void an_expansion_that_does_not_fit_takes_nothing(void **state)
{
    (void)state;
    cuzk_shape *s = gadgets_shape();
    dshape d = cuzk_cuda_twin_shape(s);
    cuzk_cuda_memory m = {.budget = cuzk_cuda_expand_cost(s) - 1};
    cuzk_cuda_expand *e = NULL;
    cuzk_err err;
    assert_int_equal(cuzk_cuda_expand_new(&e, s, &d, &m, NULL, &err), CUZK_E_MEMORY);
    assert_null(e);
    assert_int_equal(m.used, 0);
    m.budget++;
    ok(cuzk_cuda_expand_new(&e, s, &d, &m, NULL, &err), &err);
    cuzk_cuda_expand_free(e);
    assert_int_equal(m.used, 0);
    cuzk_shape_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_gadget_expands_as_on_the_host),
        cmocka_unit_test(witnesses_of_circuits_expand_as_on_the_host),
        cmocka_unit_test(a_template_that_is_not_of_its_gadgets_size_is_refused),
        cmocka_unit_test(an_expansion_that_does_not_fit_takes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
