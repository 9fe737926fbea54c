#include "groth16/qap.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    BLOCK = 1024,   /* basis polynomials that share an inversion */
    ROWS = 2048,    /* rows that one step of the scatter takes */
    N_LOCKS = 4096, /* a power of two */
};

void cuzk_lagrange_run(fr *ret, size_t n, const fr *x_0, const fr *step, const fr *tau,
                       const fr *scale)
{
    fr inverse[BLOCK], scratch[BLOCK], x = *x_0;
    for (size_t begin = 0; begin < n; begin += BLOCK) {
        size_t k = n - begin < BLOCK ? n - begin : BLOCK;
        for (size_t i = 0; i < k; i++) {
            fr_mul(&ret[begin + i], &x, scale);
            fr_sub(&inverse[i], tau, &x);
            fr_mul(&x, &x, step);
        }
        fr_batch_inv(inverse, k, scratch);
        for (size_t i = 0; i < k; i++) {
            fr_mul(&ret[begin + i], &ret[begin + i], &inverse[i]);
        }
    }
    cuzk_wipe(inverse, sizeof inverse);
    cuzk_wipe(scratch, sizeof scratch);
}

/* The Lagrange basis of the domain at tau, for the rows that the system has. */
typedef struct basis {
    fr *l;
    size_t n;
    fr w, tau, scale;
} basis;

static void basis_block(void *ctx, size_t index, unsigned worker)
{
    (void)worker;
    basis *b = ctx;
    size_t begin = index * BLOCK;
    size_t n = b->n - begin < BLOCK ? b->n - begin : BLOCK;
    uint64_t e = begin;
    fr x;
    fr_pow(&x, &b->w, &e, 1);
    cuzk_lagrange_run(b->l + begin, n, &x, &b->w, &b->tau, &b->scale);
}

static cuzk_code basis_fill(basis *b, unsigned lg_domain, fr_root root, const fr *tau,
                            cuzk_pool *pool, cuzk_err *err)
{
    fr m_inv = fr_from_u64((uint64_t)1 << lg_domain), z = *tau;
    for (unsigned i = 0; i < lg_domain; i++) {
        fr_sqr(&z, &z);
    }
    fr_sub(&z, &z, &fr_one);
    if (fr_is_zero(&z)) {
        return cuzk_setup_refuse_domain(lg_domain, err);
    }
    fr_inv(&m_inv, &m_inv);
    fr_mul(&b->scale, &z, &m_inv);
    b->w = fr_root_of_unity(root, lg_domain);
    b->tau = *tau;
    cuzk_pool_run(pool, (b->n + BLOCK - 1) / BLOCK, basis_block, b);
    cuzk_wipe(&z, sizeof z);
    return CUZK_OK;
}

/* Adds row j of a matrix, times l[j], to the polynomials of its variables: ret[v] += coeff l[j]. */
typedef struct scatter {
    const cuzk_r1cs *r1cs;
    const cuzk_csr *m;
    const fr *l;
    fr *ret;
    /* Lock v mod N_LOCKS guards ret[v]. Threads work on different rows, which seldom meet in a
     * variable other than ONE, and a multiplication is much longer than the addition inside. */
    atomic_flag *locks;
} scatter;

static void add_to(scatter *s, uint32_t v, const fr *t)
{
    atomic_flag *lock = &s->locks[v % N_LOCKS];
    while (atomic_flag_test_and_set_explicit(lock, memory_order_acquire)) {
        sched_yield();
    }
    fr_add(&s->ret[v], &s->ret[v], t);
    atomic_flag_clear_explicit(lock, memory_order_release);
}

static void scatter_rows(void *ctx, size_t index, unsigned worker)
{
    (void)worker;
    scatter *s = ctx;
    uint64_t begin = (uint64_t)index * ROWS;
    uint64_t end = s->r1cs->n_rows - begin < ROWS ? s->r1cs->n_rows : begin + ROWS;
    fr one = fr_zero, t; /* ONE is in most rows: its sum stays here until the end */
    for (uint64_t j = begin; j < end; j++) {
        for (uint64_t i = s->m->row[j]; i < s->m->row[j + 1]; i++) {
            const fr *coeff = &s->r1cs->dictionary[s->m->coeff[i]];
            if (fr_eq(coeff, &fr_one)) {
                t = s->l[j];
            } else {
                fr_mul(&t, coeff, &s->l[j]);
            }
            if (s->m->var[i] == 0) {
                fr_add(&one, &one, &t);
            } else {
                add_to(s, s->m->var[i], &t);
            }
        }
    }
    add_to(s, 0, &one);
    cuzk_wipe(&one, sizeof one);
    cuzk_wipe(&t, sizeof t);
}

static void scatter_all(cuzk_qap *q, const cuzk_r1cs *r1cs, const fr *l, atomic_flag *locks,
                        cuzk_pool *pool)
{
    const cuzk_csr *matrices[] = {&r1cs->a, &r1cs->b, &r1cs->c};
    fr *const values[] = {q->a, q->b, q->c};
    for (int k = 0; k < 3; k++) {
        scatter s = {r1cs, matrices[k], l, values[k], locks};
        cuzk_pool_run(pool, (size_t)((r1cs->n_rows + ROWS - 1) / ROWS), scatter_rows, &s);
    }
    for (uint32_t i = 0; i < r1cs->n_inputs; i++) {
        fr_add(&q->a[i], &q->a[i], &l[r1cs->n_rows + i]);
    }
}

cuzk_code cuzk_qap_at(cuzk_qap *ret, const cuzk_r1cs *r1cs, unsigned lg_domain, fr_root root,
                      const fr *tau, cuzk_pool *pool, cuzk_err *err)
{
    size_t n_vars = (size_t)r1cs->n_inputs + r1cs->n_aux;
    basis b = {.n = (size_t)cuzk_r1cs_rows_with_inputs(r1cs)};
    cuzk_qap q = {n_vars, calloc(n_vars, sizeof(fr)), calloc(n_vars, sizeof(fr)),
                  calloc(n_vars, sizeof(fr))};
    atomic_flag *locks = malloc(N_LOCKS * sizeof *locks);
    b.l = malloc(b.n * sizeof(fr));
    cuzk_code code = CUZK_OK;
    if (!q.a || !q.b || !q.c || !locks || !b.l) {
        code =
            CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the polynomials of %zu variables", n_vars);
        goto out;
    }
    for (size_t i = 0; i < N_LOCKS; i++) {
        atomic_flag_clear(&locks[i]);
    }
    code = basis_fill(&b, lg_domain, root, tau, pool, err);
    if (code != CUZK_OK) {
        goto out;
    }
    scatter_all(&q, r1cs, b.l, locks, pool);
    *ret = q;
    q = (cuzk_qap){0};
out:
    if (b.l) {
        cuzk_wipe(b.l, b.n * sizeof(fr));
    }
    free(b.l);
    cuzk_wipe(&b, sizeof b);
    free(locks);
    cuzk_qap_clear(&q);
    return code;
}

void cuzk_qap_clear(cuzk_qap *q)
{
    fr *const arrays[] = {q->a, q->b, q->c};
    for (int k = 0; k < 3; k++) {
        if (arrays[k]) {
            cuzk_wipe(arrays[k], q->n_vars * sizeof(fr));
        }
        free(arrays[k]);
    }
    *q = (cuzk_qap){0};
}
