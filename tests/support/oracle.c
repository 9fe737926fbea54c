#include "support/oracle.h"
#include "support/support.h"

#include <stdlib.h>

static fr *zeros(size_t n)
{
    fr *p = calloc(n ? n : 1, sizeof *p);
    assert_non_null(p);
    return p;
}

/* ret[k] = prod_(j != k) (tau - x_j) / (x_k - x_j), x_j = w^j, j < n. */
static void lagrange(fr *ret, size_t n, const fr *w, const fr *tau)
{
    fr *x = zeros(n);
    x[0] = fr_one;
    for (size_t j = 1; j < n; j++) {
        fr_mul(&x[j], &x[j - 1], w);
    }
    for (size_t k = 0; k < n; k++) {
        fr num = fr_one, den = fr_one, t;
        for (size_t j = 0; j < n; j++) {
            if (j != k) {
                fr_sub(&t, tau, &x[j]);
                fr_mul(&num, &num, &t);
                fr_sub(&t, &x[k], &x[j]);
                fr_mul(&den, &den, &t);
            }
        }
        fr_inv(&den, &den);
        fr_mul(&ret[k], &num, &den);
    }
    free(x);
}

static void column_sums(fr *ret, const cuzk_r1cs *r, const cuzk_csr *m, const fr *basis)
{
    for (uint64_t j = 0; j < r->n_rows; j++) {
        for (uint64_t i = m->row[j]; i < m->row[j + 1]; i++) {
            fr t;
            fr_mul(&t, &r->dictionary[m->coeff[i]], &basis[j]);
            fr_add(&ret[m->var[i]], &ret[m->var[i]], &t);
        }
    }
}

oracle oracle_new(const cuzk_r1cs *r1cs, const cuzk_trapdoor *t, fr_root root)
{
    oracle o = {.r1cs = r1cs, .t = t, .n_vars = (size_t)r1cs->n_inputs + r1cs->n_aux};
    size_t m = 1;
    while (m < r1cs->n_rows + r1cs->n_inputs) {
        m *= 2;
        o.lg_domain++;
    }
    fr w = fr_root_of_unity(root, o.lg_domain);
    uint64_t e = m;
    fr_pow(&o.z, &t->tau, &e, 1);
    fr_sub(&o.z, &o.z, &fr_one);
    o.basis = zeros(m);
    lagrange(o.basis, m, &w, &t->tau);
    o.a = zeros(o.n_vars);
    o.b = zeros(o.n_vars);
    o.c = zeros(o.n_vars);
    column_sums(o.a, r1cs, &r1cs->a, o.basis);
    column_sums(o.b, r1cs, &r1cs->b, o.basis);
    column_sums(o.c, r1cs, &r1cs->c, o.basis);
    for (size_t i = 0; i < r1cs->n_inputs; i++) {
        fr_add(&o.a[i], &o.a[i], &o.basis[r1cs->n_rows + i]);
    }
    return o;
}

void oracle_clear(oracle *o)
{
    free(o->basis);
    free(o->a);
    free(o->b);
    free(o->c);
}

void oracle_odd_lagrange(fr *ret, unsigned lg_domain, const cuzk_trapdoor *t, fr_root root)
{
    size_t m = (size_t)1 << lg_domain;
    fr *all = zeros(2 * m), w = fr_root_of_unity(root, lg_domain + 1), delta_inv;
    lagrange(all, 2 * m, &w, &t->tau);
    fr_inv(&delta_inv, &t->delta);
    for (size_t i = 0; i < m; i++) {
        fr_mul(&ret[i], &all[2 * i + 1], &delta_inv);
    }
    free(all);
}

fr oracle_combined(const oracle *o, size_t v)
{
    fr sum = o->c[v], t;
    fr_mul(&t, &o->t->beta, &o->a[v]);
    fr_add(&sum, &sum, &t);
    fr_mul(&t, &o->t->alpha, &o->b[v]);
    fr_add(&sum, &sum, &t);
    return sum;
}

/* <z, polynomials at tau>, as A z, B z or C z interpolated and evaluated at tau. */
static fr dot(const fr *poly, const fr_repr *z, size_t begin, size_t end)
{
    fr sum = fr_zero, t;
    for (size_t v = begin; v < end; v++) {
        fr_from_repr(&t, &z[v]);
        fr_mul(&t, &t, &poly[v]);
        fr_add(&sum, &sum, &t);
    }
    return sum;
}

static void add_product(fr *sum, const fr *a, const fr *b)
{
    fr t;
    fr_mul(&t, a, b);
    fr_add(sum, sum, &t);
}

cuzk_proof oracle_proof(const oracle *o, const fr_repr *z, const fr *r, const fr *s)
{
    const cuzk_trapdoor *t = o->t;
    fr a = dot(o->a, z, 0, o->n_vars);
    fr b = dot(o->b, z, 0, o->n_vars);
    fr c = dot(o->c, z, 0, o->n_vars);
    size_t aux = o->r1cs->n_inputs;
    fr at_a = t->alpha, at_b = t->beta, at_c, rs, h, delta_inv;

    fr_add(&at_a, &at_a, &a);
    add_product(&at_a, r, &t->delta);
    fr_add(&at_b, &at_b, &b);
    add_product(&at_b, s, &t->delta);

    fr_inv(&delta_inv, &t->delta);
    fr_mul(&h, &a, &b);
    fr_sub(&h, &h, &c);
    fr l = dot(o->c, z, aux, o->n_vars);
    fr l_a = dot(o->a, z, aux, o->n_vars);
    fr l_b = dot(o->b, z, aux, o->n_vars);
    add_product(&l, &t->beta, &l_a);
    add_product(&l, &t->alpha, &l_b);
    fr_add(&at_c, &h, &l);
    fr_mul(&at_c, &at_c, &delta_inv);
    add_product(&at_c, s, &a);
    add_product(&at_c, r, &b);
    fr_mul(&rs, r, s);
    add_product(&at_c, &rs, &t->delta);
    add_product(&at_c, s, &t->alpha);
    add_product(&at_c, r, &t->beta);

    return (cuzk_proof){oracle_g1(&at_a), oracle_g2(&at_b), oracle_g1(&at_c)};
}

g1_affine oracle_g1(const fr *k)
{
    fr_repr repr;
    g1 p;
    g1_affine ret;
    fr_to_repr(&repr, k);
    g1_from_affine(&p, &g1_generator);
    g1_mul(&p, &p, &repr);
    g1_to_affine(&ret, &p);
    return ret;
}

g2_affine oracle_g2(const fr *k)
{
    fr_repr repr;
    g2 p;
    g2_affine ret;
    fr_to_repr(&repr, k);
    g2_from_affine(&p, &g2_generator);
    g2_mul(&p, &p, &repr);
    g2_to_affine(&ret, &p);
    return ret;
}
