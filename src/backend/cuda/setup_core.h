#ifndef CUZK_BACKEND_CUDA_SETUP_CORE_H
#define CUZK_BACKEND_CUDA_SETUP_CORE_H

#include "backend/cuda/dfr_io.h"
#include "backend/cuda/dinv.h"
#include "backend/cuda/each_setup.h"

/* base times the power e of what the powers are of, canonical. Neighbours have the same high bits,
 * so the branches are a warp's, not a thread's, where e is reversed. */
CUZK_HD dfr setup_power(dfr base, const cuzk_cuda_setup_powers *powers, uint64_t e, unsigned bits)
{
    for (unsigned k = 0; k < bits; k++) {
        if (e >> k & 1) {
            base = dfr_mul_canonical(base, powers->x[k]);
        }
    }
    return base;
}

/** Bound by 7 products an element, and one inversion. The products before an element wait in its
 *  place. */
CUZK_HD void setup_basis_one(const cuzk_cuda_setup_basis_job *job, uint64_t t)
{
    dfr x = setup_power(dfr_one(), &job->powers, t, CUZK_CUDA_SETUP_MAX_LG);
    dfr product = dfr_one();
    uint64_t j = t;
    for (; j < job->n; j += job->stride) {
        dfr_store(&job->basis[j], product);
        product = dfr_mul_canonical(product, dfr_sub(job->tau, x));
        x = dfr_mul_canonical(job->step, x);
    }
    dfr inverse = dfr_mul_canonical(dfr_inv(product), job->scale);
    while (j != t) {
        j -= job->stride;
        x = dfr_mul_canonical(job->step_inv, x);
        dfr l = dfr_mul(inverse, dfr_load(&job->basis[j]));
        dfr_store(&job->basis[j], dfr_mul_canonical(x, l));
        inverse = dfr_mul_canonical(inverse, dfr_sub(job->tau, x));
    }
}

/* The sum over one column of one instance, lazy. */
CUZK_HD dfr setup_column(const cuzk_cuda_setup_columns *c, const cuzk_instance *instance,
                         unsigned m, uint32_t ref)
{
    const uint32_t *first = c->first + c->base[3 * instance->template_id + m] + ref;
    const dfr *basis = c->basis + instance->row;
    dfr sum = dfr_zero();
    for (uint32_t k = first[0], end = first[1]; k < end; k++) {
        cuzk_cuda_setup_term term = c->terms[k];
        dfr l = dfr_load(&basis[term.row]);
        if (term.coeff == 0) {
            sum = dfr_add(sum, l);
        } else if (term.coeff == 1) {
            sum = dfr_sub(sum, l);
        } else {
            sum = dfr_add(sum, dfr_mul(dfr_load(&c->dictionary[term.coeff]), l));
        }
    }
    return sum;
}

/* The last instance whose first aux is at most i: it is the one that has i, as those before it with
 * the same first aux have none. */
CUZK_HD const cuzk_instance *setup_instance_of(const cuzk_cuda_setup_columns *c, uint64_t i)
{
    uint32_t low = 0, high = c->n_instances; /* low.aux <= i < high.aux */
    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;
        if (c->instances[mid].aux <= i) {
            low = mid;
        } else {
            high = mid;
        }
    }
    return &c->instances[low];
}

/** Bound by reading the basis, 32 bytes a term, mostly from cache: rows near each other have the
 *  variables of neighbours. */
CUZK_HD void setup_own_one(const cuzk_cuda_setup_own_job *job, uint64_t i)
{
    const cuzk_instance *instance = setup_instance_of(&job->columns, i);
    uint32_t ref =
        1 + job->columns.templates[instance->template_id].n_ports + ((uint32_t)i - instance->aux);
    for (unsigned m = 0; m < 3; m++) {
        dfr_store(&job->values[m][i], dfr_reduce(setup_column(&job->columns, instance, m, ref)));
    }
}

/** Few threads, some with a term in each row of a template: bound by the latency of those. */
CUZK_HD void setup_uses_one(const cuzk_cuda_setup_uses_job *job, uint64_t k)
{
    const cuzk_cuda_setup_use *use = &job->uses[k];
    const cuzk_instance *instance = &job->columns.instances[use->instance];
    for (unsigned m = 0; m < 3; m++) {
        dfr_store(&job->sums[3 * k + m],
                  dfr_reduce(setup_column(&job->columns, instance, m, use->ref)));
    }
}

CUZK_HD void setup_fold_one(const cuzk_cuda_setup_fold_job *job, uint64_t k)
{
    const cuzk_cuda_setup_use *use = &job->uses[k];
    if ((use->at & (2 * job->distance - 1)) == 0 && use->left >= job->distance) {
        dfr *to = &job->sums[3 * k];
        const dfr *from = to + (uint64_t)3 * job->distance;
        for (unsigned m = 0; m < 3; m++) {
            dfr_store(&to[m], dfr_add_canonical(dfr_load(&to[m]), dfr_load(&from[m])));
        }
    }
}

CUZK_HD void setup_collect_one(const cuzk_cuda_setup_collect_job *job, uint64_t k)
{
    const cuzk_cuda_setup_use *use = &job->uses[k];
    if (use->at == 0) {
        for (unsigned m = 0; m < 3; m++) {
            dfr *to = &job->values[m][use->var];
            dfr_store(to, dfr_add_canonical(dfr_load(to), dfr_load(&job->sums[3 * k + m])));
        }
    }
}

CUZK_HD void setup_add_one(const cuzk_cuda_setup_add_job *job, uint64_t i)
{
    dfr_store(&job->a[i], dfr_add_canonical(dfr_load(&job->a[i]), dfr_load(&job->b[i])));
}

CUZK_HD bool setup_bit(const uint64_t *bits, uint64_t i) { return bits[i / 64] >> (i % 64) & 1; }

/** Bound by memory: 128 bytes a variable. */
CUZK_HD void setup_combine_one(const cuzk_cuda_setup_combine_job *job, uint64_t v)
{
    bool input = v < job->n_inputs;
    uint64_t i = input ? v : v - job->n_inputs;
    dfr a = dfr_load(&job->a[v]), b = dfr_load(&job->b[v]);
    dfr c = dfr_load(&job->c[v]);
    c = dfr_add(c, dfr_mul(a, job->beta));
    c = dfr_add(c, dfr_mul(b, job->alpha));
    c = dfr_mul_canonical(input ? job->gamma_inv : job->delta_inv, c);
    dfr_store(&job->c[v], c);
    if (dfr_is_zero(a) && (input || setup_bit(job->a_aux, i))) {
        hd_atomic_min32(&job->bad[CUZK_CUDA_SETUP_BAD_A], (uint32_t)v);
    }
    if (dfr_is_zero(b) && setup_bit(input ? job->b_inputs : job->b_aux, i)) {
        hd_atomic_min32(&job->bad[CUZK_CUDA_SETUP_BAD_B], (uint32_t)v);
    }
    if (dfr_is_zero(c)) {
        hd_atomic_min32(&job->bad[CUZK_CUDA_SETUP_BAD_C], (uint32_t)v);
    }
}

/** Bound by memory. */
CUZK_HD void setup_pick_one(const cuzk_cuda_setup_pick_job *job, uint64_t i)
{
    uint64_t v = job->begin + i, to = i;
    if (job->bits) {
        uint64_t word = job->bits[v / 64];
        if (!(word >> (v % 64) & 1)) {
            return;
        }
        to = job->ranks[v / 64] - job->ranks[job->begin / 64] +
             hd_count64(word & (((uint64_t)1 << (v % 64)) - 1));
    }
    dfr_store(&job->ret[to], dfr_to_integer(dfr_load(&job->values[v])));
}

/** Bound by lg / 2 products. */
CUZK_HD void setup_h_one(const cuzk_cuda_setup_h_job *job, uint64_t i)
{
    uint64_t n = (uint64_t)1 << job->lg;
    uint64_t e = hd_reverse((uint32_t)(job->begin + i), job->lg);
    dfr r = dfr_zero();
    if (e != n - 1) {
        r = dfr_to_integer(setup_power(job->scale, &job->powers, e, job->lg));
    }
    dfr_store(&job->ret[i], r);
}

/** Bound by memory. In Fp2 the encoding has c1 before c0. */
CUZK_HD void setup_encode_one(const cuzk_cuda_setup_encode_job *job, uint64_t j)
{
    uint64_t i = j / job->coordinates;
    uint32_t k = (uint32_t)(j % job->coordinates);
    uint64_t place = job->begin + i;
    uint32_t from = job->coordinates == 4 ? k ^ 1 : k;
    place = job->lg ? hd_reverse((uint32_t)place, job->lg) : place;
    dfp a, one = dfp_zero();
    load_words(a.l, (const dfp *)job->points + place * job->coordinates + from, DFP_LIMBS);
    one.l[0] = 1;
    bool zero = dfp_is_zero(a);
    a = dfp_reduce(dfp_mul(a, one)); /* out of Montgomery form */
    dfp r;
    CUZK_UNROLL
    for (int w = 0; w < DFP_LIMBS; w++) {
        r.l[w] = hd_swap_bytes(a.l[DFP_LIMBS - 1 - w]);
    }
    store_words(job->ret + j * DFP_LIMBS, r.l, DFP_LIMBS);
    /* On neither curve is there a point with y = 0; in G2 both parts must be. */
    if (zero && k == job->coordinates - 1) {
        dfp other;
        load_words(other.l, (const dfp *)job->points + place * job->coordinates + k, DFP_LIMBS);
        if (job->coordinates == 2 || dfp_is_zero(other)) {
            hd_atomic_min32(job->bad, (uint32_t)(job->begin + i));
        }
    }
}

#endif
