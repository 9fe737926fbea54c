/* A circuit in device memory, its rows, and the choice of each query's scalars, against the host's:
 * real circuits, real witnesses, all matrices. */
#include "support/support.h"

#include "backend/cuda/circuit.h"
#include "backend/cuda/eval.h"
#include "backend/cuda/poly.h"
#include "filecoin/circuits/circuit_witness.h"
#include "filecoin/read.h"
#include "gadget/expand.h"
#include "groth16/groth16.h"
#include "support/witness.h"

#include <stdlib.h>
#include <string.h>

static void ok(cuzk_code code, const cuzk_err *err)
{
    if (code != CUZK_OK) {
        fail_msg("%s", err->msg);
    }
}

static void *room(size_t n, size_t size)
{
    void *p = aligned_alloc(64, (n * size + 63) / 64 * 64 + 64);
    assert_non_null(p);
    return p;
}

/* A circuit with a witness, on both sides. */
typedef struct fixture {
    cuzk_shape *s;
    cuzk_packed p;
    cuzk_cuda_memory memory;
    cuzk_cuda_circuit *c;
    unsigned lg;
} fixture;

/* The device's view of a packed assignment, which the twin reads where it is. */
static const uint32_t *bits_of(const fixture *f) { return (const uint32_t *)f->p.bits; }
static const dfr *full_of(const fixture *f) { return (const dfr *)f->p.full; }

static void fixture_init(fixture *f, const witness_row *row)
{
    *f = (fixture){.memory = {.budget = (uint64_t)1 << 32}};
    cuzk_ports ports;
    cuzk_err err = {0};
    test_witness_ports(&ports, &f->s, row);
    ok(cuzk_expand(&f->p, f->s, &ports, NULL, &err), &err);
    cuzk_ports_clear(&ports);
    ok(cuzk_cuda_circuit_new(&f->c, f->s, &f->memory, NULL, &err), &err);
    f->lg = cuzk_groth16_lg_domain((uint64_t)cuzk_shape_rows(f->s) + f->s->n_inputs);
}

static void fixture_clear(fixture *f)
{
    cuzk_cuda_circuit_free(f->c);
    assert_int_equal(f->memory.used, 0);
    cuzk_packed_clear(&f->p);
    cuzk_shape_free(f->s);
}

static bool aux_is_full(const cuzk_shape *s, uint32_t instance, uint32_t aux)
{
    const cuzk_instance *i = &s->instances[instance];
    const cuzk_template *t = cuzk_shape_template(s, i);
    return cuzk_template_is_full(s, t, 1 + t->n_ports + aux - i->aux);
}

static uint32_t random_bit(const cuzk_shape *s, test_rng *g)
{
    for (;;) {
        uint32_t aux = (uint32_t)test_below(g, cuzk_shape_aux(s)), instance = 0;
        while (s->instances[instance + 1].aux <= aux) {
            instance++;
        }
        if (!aux_is_full(s, instance, aux)) {
            return aux;
        }
    }
}

/* ---- rows ---- */

static void check_matrix(const fixture *f, unsigned matrix, const dfr *got)
{
    cuzk_err err = {0};
    uint32_t rows = cuzk_shape_rows(f->s), n = f->s->n_inputs;
    size_t domain = (size_t)1 << f->lg;
    fr *want = room(rows, sizeof *want);
    ok(cuzk_packed_eval(&f->p, f->s, matrix, 0, f->s->n_instances, want, NULL, &err), &err);
    assert_memory_equal(got, want, rows * sizeof *want);
    for (size_t i = rows; i < domain; i++) {
        bool input = matrix == 0 && i - rows < n;
        assert_memory_equal(&got[i], input ? &f->p.full[i - rows] : &fr_zero, sizeof *got);
    }
    free(want);
}

/* The first row for which the host finds that a b is not c. */
static uint32_t first_bad(const fixture *f)
{
    cuzk_err err = {0};
    uint32_t rows = cuzk_shape_rows(f->s), row = 0;
    fr *m[3];
    for (unsigned i = 0; i < 3; i++) {
        m[i] = room(rows, sizeof(fr));
        ok(cuzk_packed_eval(&f->p, f->s, i, 0, f->s->n_instances, m[i], NULL, &err), &err);
    }
    for (fr product; row < rows; row++) {
        fr_mul(&product, &m[0][row], &m[1][row]);
        if (!fr_eq(&product, &m[2][row])) {
            break;
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        free(m[i]);
    }
    return row < rows ? row : UINT32_MAX;
}

static uint32_t device_bad(const fixture *f, dfr *a, dfr *b)
{
    cuzk_err err = {0};
    uint32_t bad = UINT32_MAX;
    ok(cuzk_cuda_eval_ab(f->c, bits_of(f), full_of(f), a, b, f->lg, NULL, &err), &err);
    ok(cuzk_cuda_eval_check(f->c, bits_of(f), full_of(f), a, b, &bad, NULL, &err), &err);
    return bad;
}

static void check_bad(const fixture *f, dfr *a, dfr *b)
{
    uint32_t bad = device_bad(f, a, b);
    assert_int_equal(bad, first_bad(f));
    assert_true(bad < cuzk_shape_rows(f->s));
}

/* Spoils a variable of class bit and, in small circuits, one of class full, `times` times. */
static void check_spoiled(fixture *f, dfr *a, dfr *b, test_rng *g, int times)
{
    for (int k = 0; k < times; k++) {
        uint32_t aux = random_bit(f->s, g);
        uint64_t bit = (uint64_t)1 << (aux % 64);
        f->p.bits[aux / 64] ^= bit;
        check_bad(f, a, b);
        f->p.bits[aux / 64] ^= bit;
    }
    for (int k = 1; k < times; k++) {
        uint32_t n = f->s->n_inputs;
        uint32_t slot = n + (uint32_t)test_below(g, cuzk_shape_slots(f->s) - n);
        fr before = f->p.full[slot];
        fr_add(&f->p.full[slot], &before, &fr_one);
        check_bad(f, a, b);
        f->p.full[slot] = before;
    }
}

static void check_rows(fixture *f, test_rng *g, int spoils)
{
    cuzk_err err = {0};
    size_t domain = (size_t)1 << f->lg;
    dfr *a = room(domain, sizeof *a), *b = room(domain, sizeof *b);
    memset(a, 0xa5, domain * sizeof *a);
    memset(b, 0xa5, domain * sizeof *b);
    assert_int_equal(device_bad(f, a, b), UINT32_MAX);
    check_matrix(f, 0, a);
    check_matrix(f, 1, b);
    ok(cuzk_cuda_eval_c(f->c, bits_of(f), full_of(f), a, f->lg, NULL, &err), &err);
    check_matrix(f, 2, a);
    check_spoiled(f, a, b, g, spoils);
    assert_int_equal(cuzk_cuda_eval_ab(f->c, bits_of(f), full_of(f), a, b, f->lg - 1, NULL, &err),
                     CUZK_E_ARG);
    free(a);
    free(b);
}

/* ---- queries ---- */

/* A query's variables one by one: values of bits, and which are full with which value. */
typedef struct query {
    uint64_t n, n_full;
    uint32_t *bits;
    uint32_t *which; /* n_full */
    fr *values;
} query;

static void add_variable(query *q, bool full, const fr *value)
{
    if (full) {
        q->which[q->n_full] = (uint32_t)q->n;
        q->values[q->n_full++] = *value;
    } else if (fr_eq(value, &fr_one)) {
        q->bits[q->n / 32] |= 1u << q->n % 32;
    }
    q->n++;
}

static query query_by_loop(const fixture *f, cuzk_params_part part)
{
    const cuzk_shape *s = f->s;
    uint32_t n_aux = cuzk_shape_aux(s);
    size_t all = (size_t)s->n_inputs + n_aux;
    query q = {.bits = calloc(all / 32 + 1, 4),
               .which = room(all, sizeof *q.which),
               .values = room(all, sizeof *q.values)};
    uint64_t *in = calloc(s->n_inputs / 64 + 1, 8), *aux = calloc(n_aux / 64 + 1, 8);
    fr *values = room(n_aux, sizeof *values);
    assert_true(q.bits && in && aux);
    cuzk_packed_aux(&f->p, s, 0, n_aux, values);
    cuzk_shape_density(s, part == CUZK_PARAMS_A ? 0 : 1, in, aux);
    for (uint32_t i = 0; part != CUZK_PARAMS_L && i < s->n_inputs; i++) {
        if (part == CUZK_PARAMS_A || in[i / 64] >> (i % 64) & 1) {
            add_variable(&q, true, &f->p.full[i]);
        }
    }
    for (uint32_t v = 0, instance = 0; v < n_aux; v++) {
        while (s->instances[instance + 1].aux <= v) {
            instance++;
        }
        if (part == CUZK_PARAMS_L || aux[v / 64] >> (v % 64) & 1) {
            add_variable(&q, aux_is_full(s, instance, v), &values[v]);
        }
    }
    free(in);
    free(aux);
    free(values);
    return q;
}

static void check_chunk(const fixture *f, cuzk_params_part part, const query *q, uint64_t from,
                        uint64_t to)
{
    cuzk_err err = {0};
    uint64_t first = 0, last = 0;
    while (first < q->n_full && q->which[first] < from) {
        first++;
    }
    for (last = first; last < q->n_full && q->which[last] < to; last++) {
    }
    assert_int_equal(cuzk_cuda_circuit_full_below(f->c, part, from), first);
    assert_int_equal(cuzk_cuda_circuit_full_below(f->c, part, to), last);
    size_t n = last - first;
    fr *values = room(n + 1, sizeof *values);
    uint32_t *which = room(n + 1, sizeof *which);
    memset(values, 0xa5, (n + 1) * sizeof *values);
    which[n] = 0xa5a5a5a5;
    ok(cuzk_cuda_select_full(f->c, part, from, to, full_of(f), (dfr *)values, which, NULL, &err),
       &err);
    assert_memory_equal(values, q->values + first, n * sizeof *values);
    for (size_t k = 0; k < n; k++) {
        assert_int_equal(which[k], q->which[first + k] - from);
    }
    assert_int_equal(which[n], 0xa5a5a5a5);
    assert_int_equal(values[n].l[0], 0xa5a5a5a5a5a5a5a5);
    free(values);
    free(which);
}

static void check_query(const fixture *f, cuzk_params_part part, test_rng *g)
{
    cuzk_err err = {0};
    query q = query_by_loop(f, part);
    const cuzk_cuda_vars *v = cuzk_cuda_circuit_vars(f->c, part);
    assert_int_equal(v->n, q.n);
    assert_int_equal(v->n_full, q.n_full);
    size_t words = (q.n + 31) / 32;
    uint32_t *bits = room(words + 1, sizeof *bits);
    memset(bits, 0xa5, (words + 1) * sizeof *bits);
    ok(cuzk_cuda_select_bits(f->c, part, bits_of(f), bits, NULL, &err), &err);
    assert_memory_equal(bits, q.bits, words * sizeof *bits);
    assert_int_equal(bits[words], 0xa5a5a5a5);
    check_chunk(f, part, &q, 0, q.n);
    for (int k = 0; k < 3; k++) {
        uint64_t from = test_below(g, q.n);
        check_chunk(f, part, &q, from, from + test_below(g, q.n - from + 1));
    }
    check_chunk(f, part, &q, q.n, q.n);
    assert_int_equal(cuzk_cuda_select_full(f->c, part, 1, q.n + 1, NULL, NULL, NULL, NULL, &err),
                     CUZK_E_ARG);
    free(bits);
    free(q.bits);
    free(q.which);
    free(q.values);
}

/* ---- tests ---- */

static void check_circuit(const witness_row *row, int spoils)
{
    test_rng g = test_rng_new(row->circuit);
    fixture f;
    fixture_init(&f, row);
    check_rows(&f, &g, spoils);
    check_query(&f, CUZK_PARAMS_L, &g);
    check_query(&f, CUZK_PARAMS_A, &g);
    check_query(&f, CUZK_PARAMS_B_G1, &g);
    assert_ptr_equal(cuzk_cuda_circuit_vars(f.c, CUZK_PARAMS_B_G1),
                     cuzk_cuda_circuit_vars(f.c, CUZK_PARAMS_B_G2));
    fixture_clear(&f);
}

static void rows_and_queries_of_window_post_are_those_of_the_host(void **state)
{
    (void)state;
    const witness_row row = {.circuit = "window-2KiB",
                             .files = {"reference/window-2KiB.sector0.bincode",
                                       "reference/window-2KiB.sector1.bincode"}};
    check_circuit(&row, 10);
}

static void rows_and_queries_of_porep_are_those_of_the_host(void **state)
{
    (void)state;
    const witness_row row = {.circuit = "porep-2KiB", .files = {"reference/c1-2KiB.bincode"}};
    check_circuit(&row, 1);
}

static void rows_and_queries_of_update_are_those_of_the_host(void **state)
{
    (void)state;
    const witness_row row = {.circuit = "update-2KiB",
                             .files = {"reference/update-2KiB.partition0.bincode"}};
    check_circuit(&row, 0);
}

static void a_circuit_takes_the_memory_that_it_says_or_none(void **state)
{
    (void)state;
    cuzk_circuit_id id;
    cuzk_shape *s = NULL;
    cuzk_err err = {0};
    ok(cuzk_circuit_named(&id, "window-2KiB", &err), &err);
    ok(cuzk_circuit_shape(&s, &id, &err), &err);
    uint64_t cost = cuzk_cuda_circuit_cost(s);
    cuzk_cuda_memory m = {.budget = cost};
    cuzk_cuda_circuit *c = NULL;
    ok(cuzk_cuda_circuit_new(&c, s, &m, NULL, &err), &err);
    assert_int_equal(m.used, cost);
    cuzk_cuda_circuit_free(c);
    assert_int_equal(m.used, 0);
    m.budget = cost - 1;
    c = NULL;
    assert_int_equal(cuzk_cuda_circuit_new(&c, s, &m, NULL, &err), CUZK_E_MEMORY);
    assert_null(c);
    assert_int_equal(m.used, 0);
    cuzk_cuda_circuit_free(NULL);
    cuzk_shape_free(s);
}

static void pointwise_steps_are_those_of_the_host(void **state)
{
    (void)state;
    test_rng g = test_rng_new("poly");
    size_t n_edges, n;
    const fr *edges = test_fr_edges(&n_edges);
    n = n_edges * n_edges + 100;
    fr *a = room(n, sizeof *a), *b = room(n, sizeof *b), *got = room(n, sizeof *got), want;
    for (size_t i = 0; i < n; i++) {
        bool edge = i < n_edges * n_edges;
        a[i] = edge ? edges[i / n_edges] : test_fr(&g);
        b[i] = edge ? edges[i % n_edges] : test_fr(&g);
    }
    cuzk_err err = {0};
    memcpy(got, a, n * sizeof *got);
    cuzk_cuda_poly_mul_job mul = {(dfr *)got, (const dfr *)b};
    ok(cuzk_cuda_poly_mul(&mul, n, NULL, &err), &err);
    for (size_t i = 0; i < n; i++) {
        fr_mul(&want, &a[i], &b[i]);
        assert_memory_equal(&got[i], &want, sizeof want);
    }
    for (size_t e = 0; e <= n_edges; e++) {
        fr k = e < n_edges ? edges[e] : test_fr(&g);
        memcpy(got, a, n * sizeof *got);
        cuzk_cuda_poly_sub_scale_job sub = {(dfr *)got, (const dfr *)b, {{0}}};
        memcpy(&sub.k, &k, sizeof k);
        ok(cuzk_cuda_poly_sub_scale(&sub, n, NULL, &err), &err);
        for (size_t i = 0; i < n; i++) {
            fr_sub(&want, &a[i], &b[i]);
            fr_mul(&want, &want, &k);
            assert_memory_equal(&got[i], &want, sizeof want);
        }
    }
    free(a);
    free(b);
    free(got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_queries_of_window_post_are_those_of_the_host),
        cmocka_unit_test(rows_and_queries_of_porep_are_those_of_the_host),
        cmocka_unit_test(rows_and_queries_of_update_are_those_of_the_host),
        cmocka_unit_test(a_circuit_takes_the_memory_that_it_says_or_none),
        cmocka_unit_test(pointwise_steps_are_those_of_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
