#include "backend/cuda/prove.h"

#include "backend/cuda/eval.h"
#include "backend/cuda/poly.h"
#include "backend/cuda/prover.h"
#include "backend/task.h"
#include "base/system.h"
#include "r1cs/assignment.h"

#include <string.h>

/* ---- beginning and end ---- */

static void begin(cuzk_cuda_prover *p) { p->work.chunks = p->work.n_sums = p->work.n_marks = 0; }

static cuzk_code first_of(cuzk_code a, cuzk_code b) { return a != CUZK_OK ? a : b; }

/* Waits for what was started, also after a failure: it uses the memory, which the next partition
 * gets as it is. */
static cuzk_code end(cuzk_cuda_prover *p, cuzk_code code, cuzk_err *err)
{
    cuzk_err later = {0};
    cuzk_code waited = cuzk_cuda_sync(p->copies, &later);
    waited = first_of(waited, cuzk_cuda_sync(p->stream, waited == CUZK_OK ? &later : NULL));
    cuzk_wipe(p->pinned, p->pinned_bytes);
    if (code == CUZK_OK && waited != CUZK_OK && err) {
        *err = later;
    }
    return first_of(code, waited);
}

static cuzk_code mark(cuzk_cuda_prover *p, cuzk_cuda_phase phase, cuzk_err *err)
{
    unsigned i = p->work.n_marks++;
    p->phase[i] = phase;
    return cuzk_cuda_event_record(p->marks[i], p->stream, err);
}

/* ---- from records to the quotient ---- */

static cuzk_code expand(cuzk_cuda_prover *p, const cuzk_partition_task *task, cuzk_err *err)
{
    const cuzk_cuda_work *w = &p->work;
    CUZK_TRY(cuzk_cuda_upload(w->records, task->records.p, task->records.n, p->stream, err));
    CUZK_TRY(cuzk_cuda_upload(w->full, task->inputs.p, task->inputs.n, p->stream, err));
    CUZK_TRY(cuzk_cuda_zero(w->bits, p->layout.at.full - p->layout.at.bits, p->stream, err));
    return cuzk_cuda_expand_run(p->expand, w->records, w->bits, w->full, p->stream, err);
}

/* A w and B w to a and b; waits, so that no work is lost on a witness that fails. */
static cuzk_code evaluate(cuzk_cuda_prover *p, cuzk_err *err)
{
    const cuzk_cuda_work *w = &p->work;
    uint32_t *bad = p->pinned;
    *bad = UINT32_MAX;
    CUZK_TRY(cuzk_cuda_upload(p->bad_row.p, bad, sizeof *bad, p->stream, err));
    CUZK_TRY(cuzk_cuda_eval_ab(p->circuit, w->bits, w->full, w->a, w->b, p->key->lg_domain,
                               p->stream, err));
    CUZK_TRY(cuzk_cuda_eval_check(p->circuit, w->bits, w->full, w->a, w->b, p->bad_row.p, p->stream,
                                  err));
    CUZK_TRY(mark(p, CUZK_CUDA_PHASE_eval, err));
    CUZK_TRY(cuzk_cuda_download(bad, p->bad_row.p, sizeof *bad, p->stream, err));
    CUZK_TRY(cuzk_cuda_sync(p->stream, err));
    return *bad == UINT32_MAX ? CUZK_OK : cuzk_packed_row_fails(p->shape, *bad, err);
}

/* Values on the domain to values on the coset. */
static cuzk_code to_coset(cuzk_cuda_prover *p, dfr *v, cuzk_err *err)
{
    CUZK_TRY(cuzk_cuda_ntt_run(p->inverse, v, p->stream, err));
    return cuzk_cuda_ntt_run(p->forward, v, p->stream, err);
}

/*
 * Leaves the coefficients of (A B - C) / Z in a, in reversed order. On the coset Z is a constant,
 * so A B is divided there and C, whose degree is below the domain's size, as coefficients: it need
 * not go to the coset. C w is evaluated last, from the templates, into the vector that B w no
 * longer needs: two vectors are enough.
 */
static cuzk_code quotient(cuzk_cuda_prover *p, cuzk_err *err)
{
    const cuzk_cuda_work *w = &p->work;
    uint64_t m = (uint64_t)1 << p->key->lg_domain;
    CUZK_TRY(to_coset(p, w->a, err));
    CUZK_TRY(to_coset(p, w->b, err));
    cuzk_cuda_poly_mul_job product = {w->a, w->b};
    CUZK_TRY(cuzk_cuda_poly_mul(&product, m, p->stream, err));
    CUZK_TRY(cuzk_cuda_ntt_run(p->back, w->a, p->stream, err));
    CUZK_TRY(
        cuzk_cuda_eval_c(p->circuit, w->bits, w->full, w->b, p->key->lg_domain, p->stream, err));
    CUZK_TRY(cuzk_cuda_ntt_run(p->inverse, w->b, p->stream, err));
    cuzk_cuda_poly_sub_scale_job divided = {w->a, w->b, p->z_inv};
    return cuzk_cuda_poly_sub_scale(&divided, m, p->stream, err);
}

/* ---- the proof ---- */

static cuzk_code start_sums(cuzk_cuda_prover *p, cuzk_err *err)
{
    static const cuzk_cuda_phase phases[] = {CUZK_CUDA_PHASE_h_msm, CUZK_CUDA_PHASE_l_msm,
                                             CUZK_CUDA_PHASE_a_msm, CUZK_CUDA_PHASE_b1_msm,
                                             CUZK_CUDA_PHASE_b2_msm};
    for (cuzk_params_part part = CUZK_PARAMS_H; part < CUZK_PARAMS_PARTS; part++) {
        CUZK_TRY(cuzk_cuda_sums_start(p, part, err));
        CUZK_TRY(mark(p, phases[part], err));
    }
    return CUZK_OK;
}

static cuzk_code read_times(const cuzk_cuda_prover *p, cuzk_partition_result *ret, cuzk_err *err)
{
    uint64_t *const times[] = {
#define X(name) &ret->times.name##_ns,
        CUZK_DEVICE_PHASES(X)
#undef X
    };
    for (unsigned i = 1; i < p->work.n_marks; i++) {
        uint64_t ns;
        CUZK_TRY(cuzk_cuda_event_ns(&ns, p->marks[i - 1], p->marks[i], err));
        *times[p->phase[i]] += ns;
    }
    return CUZK_OK;
}

static cuzk_code past_deadline(const cuzk_partition_task *task, cuzk_err *err)
{
    if (task->deadline_ns && cuzk_clock_ns() >= task->deadline_ns) {
        return CUZK_FAIL(err, CUZK_E_TIMEOUT, "%s: the deadline passed", task->circuit);
    }
    return CUZK_OK;
}

static cuzk_code run(cuzk_cuda_prover *p, cuzk_partition_result *ret,
                     const cuzk_partition_task *task, const fr *r, const fr *s, cuzk_err *err)
{
    cuzk_query_sums sums;
    cuzk_proof proof;
    CUZK_TRY(past_deadline(task, err));
    begin(p);
    CUZK_TRY(mark(p, CUZK_CUDA_PHASE_expand, err)); /* the start */
    CUZK_TRY(expand(p, task, err));
    CUZK_TRY(mark(p, CUZK_CUDA_PHASE_expand, err));
    CUZK_TRY(evaluate(p, err));
    CUZK_TRY(quotient(p, err));
    CUZK_TRY(mark(p, CUZK_CUDA_PHASE_ntt, err));
    CUZK_TRY(start_sums(p, err));
    CUZK_TRY(cuzk_cuda_sync(p->stream, err));
    CUZK_TRY(past_deadline(task, err));
    CUZK_TRY(read_times(p, ret, err));
    cuzk_cuda_sums_finish(p, &sums);
    cuzk_groth16_assemble(&proof, &p->key->vk, &sums, r, s);
    cuzk_proof_encode(ret->proof, &proof);
    cuzk_wipe(&sums, sizeof sums);
    return CUZK_OK;
}

cuzk_code cuzk_cuda_prove(cuzk_cuda_prover *p, cuzk_partition_result *ret,
                          const cuzk_partition_task *task, cuzk_err *err)
{
    fr r, s;
    cuzk_partition_result result = {0};
    cuzk_code code = cuzk_task_check(task, p->shape, &r, &s, err);
    if (code == CUZK_OK) {
        pthread_mutex_lock(&p->mu);
        code = end(p, run(p, &result, task, &r, &s, err), err);
        pthread_mutex_unlock(&p->mu);
    }
    cuzk_wipe(&r, sizeof r);
    cuzk_wipe(&s, sizeof s);
    if (code == CUZK_OK) {
        *ret = result;
    }
    return code;
}

/* ---- for comparisons ---- */

static cuzk_code copy_vectors(cuzk_cuda_prover *p, const cuzk_partition_task *task,
                              cuzk_packed *packed, fr *a, fr *b, fr *c, cuzk_err *err)
{
    const cuzk_cuda_work *w = &p->work;
    const cuzk_shape *s = p->shape;
    uint64_t bytes = (uint64_t)cuzk_shape_rows(s) * sizeof(fr);
    unsigned lg = p->key->lg_domain;
    begin(p);
    CUZK_TRY(expand(p, task, err));
    CUZK_TRY(cuzk_cuda_eval_ab(p->circuit, w->bits, w->full, w->a, w->b, lg, p->stream, err));
    CUZK_TRY(cuzk_cuda_download(a, w->a, a ? bytes : 0, p->stream, err));
    CUZK_TRY(cuzk_cuda_download(b, w->b, b ? bytes : 0, p->stream, err));
    CUZK_TRY(cuzk_cuda_eval_c(p->circuit, w->bits, w->full, w->b, lg, p->stream, err));
    CUZK_TRY(cuzk_cuda_download(c, w->b, c ? bytes : 0, p->stream, err));
    CUZK_TRY(cuzk_cuda_download(packed->bits, w->bits, ((uint64_t)cuzk_shape_aux(s) + 31) / 32 * 4,
                                p->stream, err));
    return cuzk_cuda_download(packed->full, w->full, (uint64_t)cuzk_shape_slots(s) * sizeof(fr),
                              p->stream, err);
}

cuzk_code cuzk_cuda_prover_vectors(cuzk_cuda_prover *p, const cuzk_partition_task *task,
                                   cuzk_packed *ret_packed, fr *ret_a, fr *ret_b, fr *ret_c,
                                   cuzk_err *err)
{
    fr r, s;
    cuzk_packed packed;
    cuzk_code checked = cuzk_task_check(task, p->shape, &r, &s, err);
    cuzk_wipe(&r, sizeof r);
    cuzk_wipe(&s, sizeof s);
    CUZK_TRY(checked);
    CUZK_TRY(cuzk_packed_new(&packed, p->shape, (const fr *)(const void *)task->inputs.p, err));
    pthread_mutex_lock(&p->mu);
    cuzk_code code = end(p, copy_vectors(p, task, &packed, ret_a, ret_b, ret_c, err), err);
    pthread_mutex_unlock(&p->mu);
    if (code != CUZK_OK) {
        cuzk_packed_clear(&packed);
        return code;
    }
    *ret_packed = packed;
    return CUZK_OK;
}
