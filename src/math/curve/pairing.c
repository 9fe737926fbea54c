#include "math/curve/pairing.h"

/* Terms whose loops run in step; more are taken in groups. */
enum { GROUP_TERMS = 16 };

/* A multiple of a point of G2 in homogeneous coordinates: x = X / Z, y = Y / Z. */
typedef struct walker {
    fp2 x, y, z;
} walker;

/* The line l0 + l2 x_P w^2 + l3 y_P w^3. */
typedef struct line {
    fp2 l0, l2, l3;
} line;

/*
 * A point (x, y) of the twist stands for (x / w^2, y / w^3) on the curve. A line of slope s through
 * it, times w^3, is (s x - y) - s x_P w^2 + y_P w^3; factors in Fp2 and w^3 vanish in the final
 * exponentiation.
 */

/* t = 2 t with the tangent at t times -2 Y Z, by the formulas of Aranha, Karabina, Longa, Gebotys
 * and Lopez (eprint 2010/526, section 4.1) times 4, with b = 4 xi. */
static void double_step(walker *t, line *l)
{
    fp2 b, c, e, f, h, j, u;
    fp2_sqr(&j, &t->x);
    fp2_sqr(&b, &t->y);
    fp2_sqr(&c, &t->z);
    fp2_add(&h, &t->y, &t->z);
    fp2_sqr(&h, &h);
    fp2_sub(&h, &h, &b);
    fp2_sub(&h, &h, &c); /* 2 Y Z */
    fp2_dbl(&c, &c);
    fp2_dbl(&c, &c);
    fp2_dbl(&e, &c);
    fp2_add(&e, &e, &c);
    fp2_mul_xi(&e, &e); /* 3 b Z^2 */
    fp2_sub(&l->l0, &e, &b);
    fp2_dbl(&l->l2, &j);
    fp2_add(&l->l2, &l->l2, &j);
    fp2_neg(&l->l3, &h);
    fp2_dbl(&f, &e);
    fp2_add(&f, &f, &e);
    fp2_add(&u, &t->x, &t->y);
    fp2_sqr(&u, &u);
    fp2_sub(&u, &u, &j);
    fp2_sub(&u, &u, &b); /* 2 X Y */
    fp2_sub(&j, &b, &f);
    fp2_mul(&t->x, &u, &j);
    fp2_add(&f, &b, &f);
    fp2_sqr(&f, &f);
    fp2_sqr(&e, &e);
    fp2_dbl(&e, &e);
    fp2_dbl(&e, &e);
    fp2_dbl(&u, &e);
    fp2_add(&u, &u, &e); /* 12 e^2 */
    fp2_sub(&t->y, &f, &u);
    fp2_mul(&u, &b, &h);
    fp2_dbl(&u, &u);
    fp2_dbl(&t->z, &u);
}

/* t += q with the line through both times X - x_q Z; t is neither q nor -q. */
static void add_step(walker *t, const g2_affine *q, line *l)
{
    fp2 theta, lambda, c, d, e, f, g, h;
    fp2_mul(&theta, &q->y, &t->z);
    fp2_sub(&theta, &t->y, &theta);
    fp2_mul(&lambda, &q->x, &t->z);
    fp2_sub(&lambda, &t->x, &lambda);
    fp2_mul(&l->l0, &theta, &q->x);
    fp2_mul(&c, &lambda, &q->y);
    fp2_sub(&l->l0, &l->l0, &c);
    fp2_neg(&l->l2, &theta);
    l->l3 = lambda;
    fp2_sqr(&c, &theta);
    fp2_sqr(&d, &lambda);
    fp2_mul(&e, &lambda, &d);
    fp2_mul(&f, &t->z, &c);
    fp2_mul(&g, &t->x, &d);
    fp2_dbl(&d, &g);
    fp2_add(&h, &e, &f);
    fp2_sub(&h, &h, &d);
    fp2_mul(&t->x, &lambda, &h);
    fp2_sub(&g, &g, &h);
    fp2_mul(&g, &theta, &g);
    fp2_mul(&h, &e, &t->y);
    fp2_sub(&t->y, &g, &h);
    fp2_mul(&t->z, &t->z, &e);
}

static bool bit_of_x(int i) { return BLS12_381_X_ABS >> i & 1; }

void g2_prepare(g2_prepared *ret, const g2_affine *q)
{
    *ret = (g2_prepared){.is_inf = g2_affine_is_inf(q)};
    if (ret->is_inf) {
        return;
    }
    g2_affine point = *q;
    walker t = {point.x, point.y, fp2_one};
    fp2 l3[PAIRING_LINES], scratch[PAIRING_LINES];
    line l;
    size_t n = 0;
    for (int i = 62; i >= 0; i--) {
        double_step(&t, &l);
        ret->line[n] = (pairing_line){l.l0, l.l2};
        l3[n++] = l.l3;
        if (bit_of_x(i)) {
            add_step(&t, &point, &l);
            ret->line[n] = (pairing_line){l.l0, l.l2};
            l3[n++] = l.l3;
        }
    }
    assert(n == PAIRING_LINES);
    fp2_batch_inv(l3, n, scratch);
    for (size_t i = 0; i < n; i++) {
        fp2_mul(&ret->line[i].l0, &ret->line[i].l0, &l3[i]);
        fp2_mul(&ret->line[i].l2, &ret->line[i].l2, &l3[i]);
    }
}

/* The finite terms of a group and where their loops are. */
typedef struct group {
    size_t n;
    const pairing_term *term[GROUP_TERMS];
    walker at[GROUP_TERMS]; /* unused for a prepared point */
} group;

/* f *= the lines of one step of every term, the step's line being number `index` of a prepared
 * point. */
static void multiply_lines(fp12 *f, group *g, size_t index, bool is_add)
{
    for (size_t i = 0; i < g->n; i++) {
        const pairing_term *term = g->term[i];
        if (term->prepared) {
            fp2 l2;
            fp2_mul_fp(&l2, &term->prepared->line[index].l2, &term->p->x);
            fp12_mul_line_fp(f, f, &term->prepared->line[index].l0, &l2, &term->p->y);
            continue;
        }
        line l;
        if (is_add) {
            add_step(&g->at[i], term->q, &l);
        } else {
            double_step(&g->at[i], &l);
        }
        fp2_mul_fp(&l.l2, &l.l2, &term->p->x);
        fp2_mul_fp(&l.l3, &l.l3, &term->p->y);
        fp12_mul_line(f, f, &l.l0, &l.l2, &l.l3);
    }
}

static void miller_group(fp12 *f, group *g)
{
    size_t index = 0;
    *f = fp12_one;
    for (int i = 62; i >= 0; i--) {
        if (i < 62) {
            fp12_sqr(f, f);
        }
        multiply_lines(f, g, index++, false);
        if (bit_of_x(i)) {
            multiply_lines(f, g, index++, true);
        }
    }
    fp12_conj(f, f); /* x is negative */
}

void pairing_miller(fp12 *ret, const pairing_term *terms, size_t n)
{
    fp12 product = fp12_one;
    group g = {.n = 0};
    for (size_t i = 0; i < n; i++) {
        const pairing_term *t = &terms[i];
        bool q_is_inf = t->prepared ? t->prepared->is_inf : g2_affine_is_inf(t->q);
        if (!q_is_inf && !g1_affine_is_inf(t->p)) {
            if (!t->prepared) {
                g.at[g.n] = (walker){t->q->x, t->q->y, fp2_one};
            }
            g.term[g.n++] = t;
        }
        if (g.n == GROUP_TERMS || (g.n > 0 && i + 1 == n)) {
            fp12 f;
            miller_group(&f, &g);
            fp12_mul(&product, &product, &f);
            g.n = 0;
        }
    }
    *ret = product;
}

/* r = a^x and r = a^(x - 1) for the curve's parameter x < 0, a in the cyclotomic subgroup. */
static void pow_x(fp12 *r, const fp12 *a)
{
    fp12_cyclotomic_pow(r, a, BLS12_381_X_ABS);
    fp12_conj(r, r);
}

static void pow_x_minus_1(fp12 *r, const fp12 *a)
{
    fp12 t;
    fp12_cyclotomic_pow(&t, a, BLS12_381_X_ABS);
    fp12_mul(&t, &t, a);
    fp12_conj(r, &t);
}

/* (p^12 - 1) / r = (p^6 - 1) (p^2 + 1) (p^4 - p^2 + 1) / r, and three times the last factor is
 * (x - 1)^2 (x + p) (x^2 + p^2 - 1) + 3 (Hayashida, Hayasaka, Teruya, eprint 2020/875). */
void pairing_final_exp(fp12 *ret, const fp12 *a)
{
    fp12 m, t, u;
    fp12_conj(&m, a);
    fp12_inv(&t, a);
    fp12_mul(&m, &m, &t);
    fp12_frobenius2(&t, &m);
    fp12_mul(&m, &m, &t);

    pow_x_minus_1(&t, &m);
    pow_x_minus_1(&t, &t);
    pow_x(&u, &t);
    fp12_frobenius(&t, &t);
    fp12_mul(&t, &t, &u);
    pow_x(&u, &t);
    pow_x(&u, &u);
    fp12 v;
    fp12_frobenius2(&v, &t);
    fp12_mul(&u, &u, &v);
    fp12_conj(&t, &t);
    fp12_mul(&t, &t, &u);
    fp12_cyclotomic_sqr(&u, &m);
    fp12_mul(&u, &u, &m);
    fp12_mul(ret, &t, &u);
}

void pairing(fp12 *ret, const g1_affine *p, const g2_affine *q)
{
    const pairing_term term = {.p = p, .q = q};
    fp12 f;
    pairing_miller(&f, &term, 1);
    pairing_final_exp(ret, &f);
}

bool pairing_product_is_one(const pairing_term *terms, size_t n)
{
    fp12 f;
    pairing_miller(&f, terms, n);
    pairing_final_exp(&f, &f);
    return fp12_is_one(&f);
}
