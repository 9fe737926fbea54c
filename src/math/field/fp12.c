#include "math/field/fp12.h"

void fp12_mul(fp12 *r, const fp12 *a, const fp12 *b)
{
    fp6 p0, p1, sa, sb;
    fp6_mul(&p0, &a->c0, &b->c0);
    fp6_mul(&p1, &a->c1, &b->c1);
    fp6_add(&sa, &a->c0, &a->c1);
    fp6_add(&sb, &b->c0, &b->c1);
    fp6_mul(&sa, &sa, &sb);
    fp6_sub(&sa, &sa, &p0);
    fp6_sub(&r->c1, &sa, &p1);
    fp6_mul_v(&p1, &p1);
    fp6_add(&r->c0, &p0, &p1);
}

/* c0^2 + v c1^2 = (c0 + c1)(c0 + v c1) - c0 c1 - v c0 c1 */
void fp12_sqr(fp12 *r, const fp12 *a)
{
    fp6 p, s, t;
    fp6_mul(&p, &a->c0, &a->c1);
    fp6_add(&s, &a->c0, &a->c1);
    fp6_mul_v(&t, &a->c1);
    fp6_add(&t, &t, &a->c0);
    fp6_mul(&s, &s, &t);
    fp6_sub(&s, &s, &p);
    fp6_mul_v(&t, &p);
    fp6_sub(&r->c0, &s, &t);
    fp6_add(&r->c1, &p, &p);
}

void fp12_inv(fp12 *r, const fp12 *a)
{
    fp6 norm, t;
    fp6_sqr(&norm, &a->c0);
    fp6_sqr(&t, &a->c1);
    fp6_mul_v(&t, &t);
    fp6_sub(&norm, &norm, &t);
    fp6_inv(&norm, &norm);
    fp6_mul(&r->c0, &a->c0, &norm);
    fp6_mul(&t, &a->c1, &norm);
    fp6_neg(&r->c1, &t);
}

/* The end of both sparse products: p0 = a0 (l0 + l2 v), p1 = a1 l3 v, s = l2 + l3. */
static void finish_line(fp12 *r, const fp12 *a, const fp2 *l0, const fp2 *s, const fp6 *p0,
                        const fp6 *p1)
{
    fp6 sum;
    fp6_add(&sum, &a->c0, &a->c1);
    fp6_mul_01(&sum, &sum, l0, s);
    fp6_sub(&sum, &sum, p0);
    fp6_sub(&r->c1, &sum, p1);
    fp6_mul_v(&sum, p1);
    fp6_add(&r->c0, p0, &sum);
}

void fp12_mul_line(fp12 *r, const fp12 *a, const fp2 *l0, const fp2 *l2, const fp2 *l3)
{
    fp6 p0, p1;
    fp2 s;
    fp6_mul_01(&p0, &a->c0, l0, l2);
    fp6_mul_fp2(&p1, &a->c1, l3);
    fp6_mul_v(&p1, &p1);
    fp2_add(&s, l2, l3);
    finish_line(r, a, l0, &s, &p0, &p1);
}

void fp12_mul_line_fp(fp12 *r, const fp12 *a, const fp2 *l0, const fp2 *l2, const fp *l3)
{
    fp6 p0, p1;
    fp2 s;
    fp6_mul_01(&p0, &a->c0, l0, l2);
    fp6_mul_fp(&p1, &a->c1, l3);
    fp6_mul_v(&p1, &p1);
    fp_add(&s.c0, &l2->c0, l3);
    s.c1 = l2->c1;
    finish_line(r, a, l0, &s, &p0, &p1);
}

/* The Frobenius map conjugates the coordinates over Fp2 and multiplies that of w^k by
 * xi^(k (p - 1) / 6). */
void fp12_frobenius(fp12 *r, const fp12 *a)
{
    static const fp2 k1 = {{FROBENIUS_1_C0}, {FROBENIUS_1_C1}};
    static const fp2 k2 = {{{0}}, {FP_OMEGA_SQUARED}};
    static const fp2 k3 = {{FROBENIUS_3_C}, {FROBENIUS_3_C}};
    static const fp k4 = {FP_MINUS_OMEGA};
    static const fp2 k5 = {{FROBENIUS_5_C0}, {FROBENIUS_5_C1}};
    fp2 t;
    fp2_conj(&r->c0.c0, &a->c0.c0);
    fp2_conj(&t, &a->c1.c0);
    fp2_mul(&r->c1.c0, &t, &k1);
    fp2_conj(&t, &a->c0.c1);
    fp2_mul(&r->c0.c1, &t, &k2);
    fp2_conj(&t, &a->c1.c1);
    fp2_mul(&r->c1.c1, &t, &k3);
    fp2_conj(&t, &a->c0.c2);
    fp2_mul_fp(&r->c0.c2, &t, &k4);
    fp2_conj(&t, &a->c1.c2);
    fp2_mul(&r->c1.c2, &t, &k5);
}

/* xi^(k (p^2 - 1) / 6) is the sixth root of unity (-omega^2)^k. */
void fp12_frobenius2(fp12 *r, const fp12 *a)
{
    static const fp omega = {FP_OMEGA};
    static const fp omega2 = {FP_OMEGA_SQUARED};
    static const fp minus_omega = {FP_MINUS_OMEGA};
    r->c0.c0 = a->c0.c0;
    fp2_mul_fp(&r->c1.c0, &a->c1.c0, &omega2);
    fp2_neg(&r->c1.c0, &r->c1.c0);
    fp2_mul_fp(&r->c0.c1, &a->c0.c1, &omega);
    fp2_neg(&r->c1.c1, &a->c1.c1);
    fp2_mul_fp(&r->c0.c2, &a->c0.c2, &omega2);
    fp2_mul_fp(&r->c1.c2, &a->c1.c2, &minus_omega);
}

/* (a + b s)^2 = (a^2 + xi b^2) + 2 a b s in Fp4 = Fp2[s] / (s^2 - xi) */
static void fp4_sqr(fp2 *r0, fp2 *r1, const fp2 *a, const fp2 *b)
{
    fp2 aa, bb, s;
    fp2_sqr(&aa, a);
    fp2_sqr(&bb, b);
    fp2_add(&s, a, b);
    fp2_sqr(&s, &s);
    fp2_sub(&s, &s, &aa);
    fp2_sub(r1, &s, &bb);
    fp2_mul_xi(&bb, &bb);
    fp2_add(r0, &aa, &bb);
}

/* r = 3 s - 2 a */
static void three_minus_two(fp2 *r, const fp2 *s, const fp2 *a)
{
    fp2 t;
    fp2_sub(&t, s, a);
    fp2_dbl(&t, &t);
    fp2_add(r, &t, s);
}

/* r = 3 s + 2 a */
static void three_plus_two(fp2 *r, const fp2 *s, const fp2 *a)
{
    fp2 t;
    fp2_add(&t, s, a);
    fp2_dbl(&t, &t);
    fp2_add(r, &t, s);
}

/* With s = w^3, a = A + B w + C w^2 over Fp4 and a^2 = (3 A^2 - 2 A') + (3 s C^2 + 2 B') w +
 * (3 B^2 - 2 C') w^2, where ' maps s to -s. */
void fp12_cyclotomic_sqr(fp12 *r, const fp12 *a)
{
    fp2 a0, a1, b0, b1, c0, c1;
    fp4_sqr(&a0, &a1, &a->c0.c0, &a->c1.c1);
    fp4_sqr(&b0, &b1, &a->c1.c0, &a->c0.c2);
    fp4_sqr(&c0, &c1, &a->c0.c1, &a->c1.c2);
    three_minus_two(&r->c0.c0, &a0, &a->c0.c0);
    three_plus_two(&r->c1.c1, &a1, &a->c1.c1);
    fp2_mul_xi(&c1, &c1);
    three_plus_two(&r->c1.c0, &c1, &a->c1.c0);
    three_minus_two(&r->c0.c2, &c0, &a->c0.c2);
    three_minus_two(&r->c0.c1, &b0, &a->c0.c1);
    three_plus_two(&r->c1.c2, &b1, &a->c1.c2);
}

void fp12_cyclotomic_pow(fp12 *r, const fp12 *a, uint64_t e)
{
    fp12 base = *a;
    fp12 acc = fp12_one;
    int top = e ? 63 - __builtin_clzll(e) : -1;
    for (int i = top; i >= 0; i--) {
        if (i < top) {
            fp12_cyclotomic_sqr(&acc, &acc);
        }
        if (e >> i & 1) {
            if (i < top) {
                fp12_mul(&acc, &acc, &base);
            } else {
                acc = base;
            }
        }
    }
    *r = acc;
}
