#ifndef CUZK_BACKEND_CUDA_EXPAND_POSEIDON_CORE_H
#define CUZK_BACKEND_CUDA_EXPAND_POSEIDON_CORE_H

#include "backend/cuda/expand_core.h"

/*
 * Hashes with all their variables, as poseidon_trace makes them (gadget/poseidon_native.c).
 *
 * Bound by multiplications: 2 000 a hash of arity 8, next to 16 KB written. A matrix is multiplied
 * column by column: the state is in registers, all loops over it unrolled, and the columns' loop is
 * not, for its code would not fit in the instruction cache; so the new state goes through local
 * memory. Each element has its S-box there too, before the next one is computed. All threads read
 * the same constant at a time.
 */

enum { EXPAND_MAX_WIDTH = 12 };

CUZK_HD dfr expand_constant(const dfr *p)
{
#ifdef __CUDA_ARCH__
    uint4 low = __ldg((const uint4 *)p), high = __ldg((const uint4 *)p + 1);
    dfr r = {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
    return r;
#else
    return *p;
#endif
}

/* l^5 + post for canonical l; keeps the square, the fourth power and the result. */
CUZK_HD dfr expand_box(dfr **to, dfr l, const dfr *post)
{
    dfr l2 = dfr_mul_canonical(l, l);
    dfr_store((*to)++, l2);
    dfr l4 = dfr_mul_canonical(l2, l2);
    dfr_store((*to)++, l4);
    dfr v = dfr_add_canonical(dfr_mul_canonical(l4, l), expand_constant(post));
    dfr_store((*to)++, v);
    return v;
}

/* The same of a combination, which is kept as well. */
CUZK_HD dfr expand_inner_box(dfr **to, dfr l, const dfr *post)
{
    dfr_store((*to)++, l);
    return expand_box(to, l, post);
}

/* sum m[k] e[k], canonical, for lazy e. */
CUZK_HD dfr expand_dot(const dfr *m, const dfr *e, const int t)
{
    dfr sum = dfr_mul(expand_constant(m), e[0]);
    CUZK_UNROLL
    for (int k = 1; k < t; k++) {
        sum = dfr_add(sum, dfr_mul(expand_constant(m + k), e[k]));
    }
    return dfr_reduce(sum);
}

/* The partial rounds: e[0] canonical and the others lazy, before and after. */
CUZK_HD void expand_partial(dfr **to, dfr *e, const dfr *post, const dfr *sparse, const int t,
                            const int rounds)
{
    CUZK_ROLLED
    for (int r = 0; r < rounds; r++, sparse += 2 * t - 1) {
        dfr first = expand_inner_box(to, e[0], post + r);
        dfr sum = dfr_mul(expand_constant(sparse), first);
        CUZK_UNROLL
        for (int k = 1; k < t; k++) {
            sum = dfr_add(sum, dfr_mul(expand_constant(sparse + k), e[k]));
            e[k] = dfr_add(e[k], dfr_mul(expand_constant(sparse + t + k - 1), first));
        }
        e[0] = dfr_reduce(sum);
    }
}

/* The S-boxes of the first round: x[t] from the record's elements. */
CUZK_HD void expand_first_boxes(const cuzk_cuda_hash_job *j, const uint8_t *record, dfr **to,
                                dfr *x, const int t)
{
    int index = 0;
    if (j->insert) {
        index = (int)expand_index(record, (uint32_t)t - 1);
        record += 8;
    }
    x[0] = j->tag;
    CUZK_ROLLED
    for (int k = 1; k < t; k++) {
        int from = k - 1; /* child k - 1, when the first element of the record is child `index` */
        from = from < index ? from + 1 : from == index ? 0 : from;
        dfr l = expand_load_element(record + sizeof(dfr) * (uint32_t)from);
        x[k] = expand_box(to, dfr_add_canonical(l, expand_constant(j->constants + k)),
                          j->constants + t + k);
    }
}

CUZK_HD void expand_hash(const cuzk_cuda_hash_job *j, uint64_t i, const int arity)
{
    const int t = arity + 1;
    const int partial = expand_partial_rounds(arity);
    const cuzk_instance *at = &j->on.instances[j->on.list[i]];
    const dfr *post = j->constants + 2 * t;
    const dfr *mds = j->constants + 9 * t + partial;
    dfr *to = j->on.full + at->full + j->at;
    dfr x[EXPAND_MAX_WIDTH]; /* in local memory */
    dfr e[EXPAND_MAX_WIDTH]; /* in registers */
    expand_first_boxes(j, j->on.records + at->record, &to, x, t);
    CUZK_ROLLED
    for (int r = 1; r <= 8; r++) {
        CUZK_UNROLL
        for (int k = 0; k < t; k++) {
            e[k] = x[k];
        }
        const dfr *m = r == 4 ? mds + t * t : mds;
        bool boxes = r != 4 && r != 8;
        /* Of the last state only one element is the hash. */
        int first = r == 8 ? 1 : 0;
        int last = r == 8 ? 2 : t;
        CUZK_ROLLED
        for (int k = first; k < last; k++) {
            dfr v = expand_dot(m + k * t, e, t);
            x[k] = boxes ? expand_inner_box(&to, v, post++) : v;
        }
        if (r == 4) {
            CUZK_UNROLL
            for (int k = 0; k < t; k++) {
                e[k] = x[k];
            }
            expand_partial(&to, e, post, mds + 2 * t * t, t, partial);
            post += partial;
            CUZK_UNROLL
            for (int k = 0; k < t; k++) {
                x[k] = e[k];
            }
            CUZK_ROLLED
            for (int k = 0; k < t; k++) {
                x[k] = expand_inner_box(&to, dfr_reduce(x[k]), post++);
            }
        }
    }
    dfr_store(to, x[1]);
}

CUZK_HD void expand_hash2(const cuzk_cuda_hash_job *j, uint64_t i) { expand_hash(j, i, 2); }
CUZK_HD void expand_hash4(const cuzk_cuda_hash_job *j, uint64_t i) { expand_hash(j, i, 4); }
CUZK_HD void expand_hash8(const cuzk_cuda_hash_job *j, uint64_t i) { expand_hash(j, i, 8); }
CUZK_HD void expand_hash11(const cuzk_cuda_hash_job *j, uint64_t i) { expand_hash(j, i, 11); }

#endif
