#ifndef CUZK_BACKEND_CUDA_POINTS_CORE_H
#define CUZK_BACKEND_CUDA_POINTS_CORE_H

#include "backend/cuda/dg1.h"
#include "backend/cuda/dg2.h"
#include "backend/cuda/points.h"
#include "backend/cuda/words.h"

/*
 * Bound by the bus that brings the encodings: 5 products and squares in Fp for a point of G1 and 11
 * for one of G2 are several times as fast. Each thread reads and writes a point, 16 bytes at a
 * time, which the caches put together; a point is three or six whole sectors of memory, so that
 * scattered ones cost no more.
 */

CUZK_HD void points_put(uint32_t *to, dfp a) { store_words(to, a.l, DFP_LIMBS); }

CUZK_HD bool points_below_p(const dfp *a)
{
    uint32_t c = 0;
    (void)limb_sub(a->l[0], dfp_p(0), &c);
    CUZK_UNROLL
    for (int i = 1; i < DFP_LIMBS; i++) {
        (void)limb_subc(a->l[i], dfp_p(i), &c);
    }
    return limb_subc(0, 0, &c) != 0;
}

/* A big-endian coordinate, in Montgomery form as the host has it; false when it is not below p. */
CUZK_HD bool points_take(dfp *r, const uint32_t *from)
{
    const uint64_t r2_limbs[] = FP_R2;
    uint32_t w[DFP_LIMBS];
    dfp a, r2;
    load_words(w, from, DFP_LIMBS);
    CUZK_UNROLL
    for (int i = 0; i < DFP_LIMBS; i++) {
        a.l[i] = hd_swap_bytes(w[DFP_LIMBS - 1 - i]);
        r2.l[i] = limb_of(r2_limbs, i);
    }
    if (!points_below_p(&a)) {
        return false;
    }
    *r = dfp_reduce(dfp_mul_called(a, r2));
    return true;
}

/* c1 is first in the encoding. */
CUZK_HD bool points_take2(dfp2 *r, const uint32_t *from)
{
    return points_take(&r->c1, from) && points_take(&r->c0, from + DFP_LIMBS);
}

/* What the flag bits of an encoding of so many words say; they are in its first byte, the words are
 * little-endian. Infinity is nothing but its flag. */
CUZK_HD uint32_t points_flags(const uint32_t *from, int words)
{
    const uint32_t all = 0xe0, infinity = 0x40;
    uint32_t flags = from[0] & all, rest = from[0] & ~all;
    if (flags == 0) {
        return POINTS_GOOD;
    }
    for (int i = 1; i < words; i++) {
        rest |= from[i];
    }
    return flags == infinity && rest == 0 ? POINTS_INFINITE : POINTS_FLAGS;
}

CUZK_HD dfp points_four(void)
{
    const uint64_t four[] = FP_FOUR;
    dfp r;
    CUZK_UNROLL
    for (int i = 0; i < DFP_LIMBS; i++) {
        r.l[i] = limb_of(four, i);
    }
    return r;
}

CUZK_HD uint32_t points_take_g1(dg1_affine *r, const uint32_t *from)
{
    uint32_t fault = points_flags(from, 2 * DFP_LIMBS);
    if (fault != POINTS_GOOD) {
        return fault;
    }
    if (!points_take(&r->x, from) || !points_take(&r->y, from + DFP_LIMBS)) {
        return POINTS_RANGE;
    }
    dfp cube = dfp_mul_called(dfp_sqr_called(r->x), r->x);
    return dfp_eq(dfp_sqr_called(r->y), dfp_add(cube, points_four())) ? POINTS_GOOD
                                                                      : POINTS_OFF_CURVE;
}

CUZK_HD uint32_t points_take_g2(dg2_affine *r, const uint32_t *from)
{
    uint32_t fault = points_flags(from, 4 * DFP_LIMBS);
    if (fault != POINTS_GOOD) {
        return fault;
    }
    if (!points_take2(&r->x, from) || !points_take2(&r->y, from + 2 * DFP_LIMBS)) {
        return POINTS_RANGE;
    }
    dfp2 four; /* times 1 + i: the twist's */
    four.c0 = points_four();
    four.c1 = four.c0;
    dfp2 cube = dfp2_mul_called(dfp2_sqr_called(r->x), r->x);
    return dfp2_eq(dfp2_sqr_called(r->y), dfp2_add(cube, four)) ? POINTS_GOOD : POINTS_OFF_CURVE;
}

CUZK_HD uint64_t points_place(const points_job *job, uint64_t i)
{
    uint32_t at = job->first + (uint32_t)i;
    return job->lg ? hd_reverse(at, job->lg) : at;
}

CUZK_HD void points_refuse(const points_job *job, uint64_t i, uint32_t fault)
{
    hd_atomic_min32(job->verdict, (uint32_t)i << POINTS_FAULT_BITS | fault);
}

CUZK_HD void points_g1(const points_job *job, uint64_t i)
{
    dg1_affine a;
    uint32_t fault = points_take_g1(&a, job->from + 2 * DFP_LIMBS * i);
    if (fault != POINTS_GOOD) {
        points_refuse(job, i, fault);
        return;
    }
    uint32_t *to = job->to + 2 * DFP_LIMBS * points_place(job, i);
    points_put(to, a.x);
    points_put(to + DFP_LIMBS, a.y);
}

CUZK_HD void points_g2(const points_job *job, uint64_t i)
{
    dg2_affine a;
    uint32_t fault = points_take_g2(&a, job->from + 4 * DFP_LIMBS * i);
    if (fault != POINTS_GOOD) {
        points_refuse(job, i, fault);
        return;
    }
    uint32_t *to = job->to + 4 * DFP_LIMBS * points_place(job, i);
    points_put(to, a.x.c0);
    points_put(to + DFP_LIMBS, a.x.c1);
    points_put(to + 2 * DFP_LIMBS, a.y.c0);
    points_put(to + 3 * DFP_LIMBS, a.y.c1);
}

#endif
