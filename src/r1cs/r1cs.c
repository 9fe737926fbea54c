#include "r1cs/r1cs.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Rows given to a thread at a time: enough to make the hand-out free, few enough to balance. */
enum { ROWS_PER_STEP = 2048 };

void cuzk_r1cs_free(cuzk_r1cs *r)
{
    if (!r) {
        return;
    }
    cuzk_csr *m[] = {&r->a, &r->b, &r->c};
    for (size_t i = 0; i < 3; i++) {
        free(m[i]->row);
        free(m[i]->var);
        free(m[i]->coeff);
    }
    free(r->dictionary);
    free(r);
}

static const cuzk_csr *matrix(const cuzk_r1cs *r, cuzk_matrix m)
{
    return m == CUZK_MATRIX_A ? &r->a : m == CUZK_MATRIX_B ? &r->b : &r->c;
}

/* *sum += coeff * z, where most z are 0 or 1. */
static inline void add_product(fr *sum, const fr *coeff, const fr *z)
{
    if (fr_is_zero(z)) {
        return;
    }
    if (fr_eq(z, &fr_one)) {
        fr_add(sum, sum, coeff);
        return;
    }
    fr t;
    fr_mul(&t, coeff, z);
    fr_add(sum, sum, &t);
}

static inline fr eval_row(const cuzk_r1cs *r, const cuzk_csr *m, uint64_t row, const fr *z)
{
    fr sum = fr_zero;
    for (uint64_t t = m->row[row]; t < m->row[row + 1]; t++) {
        uint32_t coeff = m->coeff[t];
        const fr *value = &z[m->var[t]];
        if (coeff == CUZK_R1CS_COEFF_ONE) {
            fr_add(&sum, &sum, value);
        } else if (coeff == CUZK_R1CS_COEFF_MINUS_ONE) {
            fr_sub(&sum, &sum, value);
        } else {
            add_product(&sum, &r->dictionary[coeff], value);
        }
    }
    return sum;
}

typedef struct eval_job {
    const cuzk_r1cs *r;
    const cuzk_csr *m;
    const fr *z;
    fr *ret;
} eval_job;

static size_t steps(const cuzk_r1cs *r)
{
    return (size_t)((r->n_rows + ROWS_PER_STEP - 1) / ROWS_PER_STEP);
}

static uint64_t step_end(const cuzk_r1cs *r, size_t index)
{
    uint64_t end = ((uint64_t)index + 1) * ROWS_PER_STEP;
    return end < r->n_rows ? end : r->n_rows;
}

static void eval_step(void *ctx, size_t index, unsigned worker)
{
    (void)worker;
    const eval_job *job = ctx;
    uint64_t end = step_end(job->r, index);
    for (uint64_t row = (uint64_t)index * ROWS_PER_STEP; row < end; row++) {
        job->ret[row] = eval_row(job->r, job->m, row, job->z);
    }
}

void cuzk_r1cs_eval(const cuzk_r1cs *r, cuzk_matrix m, const fr *z, fr *ret, cuzk_pool *pool)
{
    eval_job job = {r, matrix(r, m), z, ret};
    cuzk_pool_run(pool, steps(r), eval_step, &job);
}

typedef struct check_job {
    const cuzk_r1cs *r;
    const fr *z;
    fr *ret_a, *ret_b;          /* NULL when not wanted */
    _Atomic uint64_t first_bad; /* lowest row seen to fail, n_rows when none */
} check_job;

static bool row_holds(const check_job *job, uint64_t row)
{
    const cuzk_r1cs *r = job->r;
    fr a = eval_row(r, &r->a, row, job->z);
    fr b = eval_row(r, &r->b, row, job->z);
    fr c = eval_row(r, &r->c, row, job->z);
    if (job->ret_a) {
        job->ret_a[row] = a;
        job->ret_b[row] = b;
    }
    fr_mul(&a, &a, &b);
    return fr_eq(&a, &c);
}

static void check_step(void *ctx, size_t index, unsigned worker)
{
    (void)worker;
    check_job *job = ctx;
    uint64_t end = step_end(job->r, index);
    for (uint64_t row = (uint64_t)index * ROWS_PER_STEP; row < end; row++) {
        /* Relaxed: the value only prunes; the pool's own synchronisation publishes the result. */
        uint64_t bad = atomic_load_explicit(&job->first_bad, memory_order_relaxed);
        if (row >= bad) {
            return;
        }
        if (!row_holds(job, row)) {
            while (row < bad && !atomic_compare_exchange_weak_explicit(&job->first_bad, &bad, row,
                                                                       memory_order_relaxed,
                                                                       memory_order_relaxed)) {
            }
            return;
        }
    }
}

cuzk_code cuzk_r1cs_check(const cuzk_r1cs *r, const fr *z, fr *ret_a, fr *ret_b, cuzk_pool *pool,
                          cuzk_err *err)
{
    if (!r->has_c) {
        return CUZK_FAIL(err, CUZK_E_ARG,
                         "a constraint system without its matrix C cannot be checked");
    }
    if (!fr_eq(&z[0], &fr_one)) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "the witness does not begin with the constant 1");
    }
    check_job job = {r, z, ret_a, ret_b, r->n_rows};
    cuzk_pool_run(pool, steps(r), check_step, &job);
    uint64_t bad = atomic_load(&job.first_bad);
    if (bad < r->n_rows) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "the witness does not satisfy constraint %" PRIu64 " of %" PRIu64, bad,
                         r->n_rows);
    }
    return CUZK_OK;
}

void cuzk_r1cs_density(const cuzk_r1cs *r, cuzk_matrix m, uint64_t *bitmap)
{
    const cuzk_csr *csr = matrix(r, m);
    for (uint64_t t = 0; t < csr->row[r->n_rows]; t++) {
        bitmap[csr->var[t] / 64] |= UINT64_C(1) << csr->var[t] % 64;
    }
}
