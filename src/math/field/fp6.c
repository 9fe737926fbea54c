#include "math/field/fp6.h"

/* (a0 + a1)(b0 + b1) - p0 - p1 = a0 b1 + a1 b0 */
static void cross(fp2 *r, const fp2 *a0, const fp2 *a1, const fp2 *b0, const fp2 *b1, const fp2 *p0,
                  const fp2 *p1)
{
    fp2 sa, sb;
    fp2_add(&sa, a0, a1);
    fp2_add(&sb, b0, b1);
    fp2_mul(&sa, &sa, &sb);
    fp2_sub(&sa, &sa, p0);
    fp2_sub(r, &sa, p1);
}

void fp6_mul(fp6 *r, const fp6 *a, const fp6 *b)
{
    fp2 p0, p1, p2, t01, t02, t12;
    fp2_mul(&p0, &a->c0, &b->c0);
    fp2_mul(&p1, &a->c1, &b->c1);
    fp2_mul(&p2, &a->c2, &b->c2);
    cross(&t01, &a->c0, &a->c1, &b->c0, &b->c1, &p0, &p1);
    cross(&t02, &a->c0, &a->c2, &b->c0, &b->c2, &p0, &p2);
    cross(&t12, &a->c1, &a->c2, &b->c1, &b->c2, &p1, &p2);
    fp2_mul_xi(&t12, &t12);
    fp2_add(&r->c0, &p0, &t12);
    fp2_add(&r->c2, &t02, &p1);
    fp2_mul_xi(&p2, &p2);
    fp2_add(&r->c1, &t01, &p2);
}

void fp6_mul_01(fp6 *r, const fp6 *a, const fp2 *b0, const fp2 *b1)
{
    fp2 p0, p1, t01, t02, t12;
    fp2_mul(&p0, &a->c0, b0);
    fp2_mul(&p1, &a->c1, b1);
    cross(&t01, &a->c0, &a->c1, b0, b1, &p0, &p1);
    fp2_mul(&t02, &a->c2, b0);
    fp2_mul(&t12, &a->c2, b1);
    fp2_mul_xi(&t12, &t12);
    fp2_add(&r->c0, &p0, &t12);
    r->c1 = t01;
    fp2_add(&r->c2, &t02, &p1);
}

void fp6_mul_fp2(fp6 *r, const fp6 *a, const fp2 *b)
{
    fp2 t = *b;
    fp2_mul(&r->c0, &a->c0, &t);
    fp2_mul(&r->c1, &a->c1, &t);
    fp2_mul(&r->c2, &a->c2, &t);
}

void fp6_mul_fp(fp6 *r, const fp6 *a, const fp *b)
{
    fp t = *b;
    fp2_mul_fp(&r->c0, &a->c0, &t);
    fp2_mul_fp(&r->c1, &a->c1, &t);
    fp2_mul_fp(&r->c2, &a->c2, &t);
}

void fp6_sqr(fp6 *r, const fp6 *a)
{
    fp2 s0, s1, s2, s3, s4;
    fp2_sqr(&s0, &a->c0);
    fp2_mul(&s1, &a->c0, &a->c1);
    fp2_dbl(&s1, &s1);
    fp2_sub(&s2, &a->c0, &a->c1);
    fp2_add(&s2, &s2, &a->c2);
    fp2_sqr(&s2, &s2);
    fp2_mul(&s3, &a->c1, &a->c2);
    fp2_dbl(&s3, &s3);
    fp2_sqr(&s4, &a->c2);
    /* c2 = a1^2 + 2 a0 a2 = s2 + s1 + s3 - s0 - s4 */
    fp2_add(&s2, &s2, &s1);
    fp2_add(&s2, &s2, &s3);
    fp2_sub(&s2, &s2, &s0);
    fp2_sub(&r->c2, &s2, &s4);
    fp2_mul_xi(&s3, &s3);
    fp2_add(&r->c0, &s0, &s3);
    fp2_mul_xi(&s4, &s4);
    fp2_add(&r->c1, &s1, &s4);
}

/* The adjoint (t0, t1, t2) satisfies a (t0 + t1 v + t2 v^2) = norm, an element of Fp2. */
void fp6_inv(fp6 *r, const fp6 *a)
{
    fp2 t0, t1, t2, norm, u;
    fp2_sqr(&t0, &a->c0);
    fp2_mul(&u, &a->c1, &a->c2);
    fp2_mul_xi(&u, &u);
    fp2_sub(&t0, &t0, &u); /* a0^2 - xi a1 a2 */
    fp2_sqr(&t1, &a->c2);
    fp2_mul_xi(&t1, &t1);
    fp2_mul(&u, &a->c0, &a->c1);
    fp2_sub(&t1, &t1, &u); /* xi a2^2 - a0 a1 */
    fp2_sqr(&t2, &a->c1);
    fp2_mul(&u, &a->c0, &a->c2);
    fp2_sub(&t2, &t2, &u); /* a1^2 - a0 a2 */
    fp2_mul(&norm, &a->c2, &t1);
    fp2_mul(&u, &a->c1, &t2);
    fp2_add(&norm, &norm, &u);
    fp2_mul_xi(&norm, &norm);
    fp2_mul(&u, &a->c0, &t0);
    fp2_add(&norm, &norm, &u);
    fp2_inv(&norm, &norm);
    fp2_mul(&r->c0, &t0, &norm);
    fp2_mul(&r->c1, &t1, &norm);
    fp2_mul(&r->c2, &t2, &norm);
}
