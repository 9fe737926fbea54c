#include "engine/engine_internal.h"

#include <inttypes.h>

/* One job of a list: as the table has it when it is there, which knows how far it is. */
static cuzk_code tell(cuzk_engine *e, const cuzk_store_job *kept, cuzk_job_fn *fn, void *ctx,
                      cuzk_err *err)
{
    cuzk_job_view view;
    pthread_mutex_lock(&e->mu);
    cuzk_job *job = cuzk_table_find_locked(e, kept->id);
    bool own = job && !job->accepting && job->number == (uint64_t)kept->seq;
    if (own) {
        cuzk_job_share_locked(job);
    }
    pthread_mutex_unlock(&e->mu);
    if (!own) {
        CUZK_TRY(cuzk_job_of_store(e, &job, kept, err));
    }
    pthread_mutex_lock(&e->mu);
    cuzk_job_look_locked(e, job, &view);
    pthread_mutex_unlock(&e->mu);
    view.proof = (cuzk_span){NULL, 0};
    fn(ctx, &view);
    pthread_mutex_lock(&e->mu);
    cuzk_job_drop_locked(job);
    pthread_mutex_unlock(&e->mu);
    return CUZK_OK;
}

cuzk_code cuzk_engine_list(cuzk_engine *e, uint64_t *ret_next, int state, uint64_t after,
                           uint32_t limit, cuzk_job_fn *fn, void *ctx, cuzk_err *err)
{
    cuzk_store_jobs jobs;
    int64_t next;
    size_t most = limit && limit < CUZK_STORE_PAGE_MAX ? limit : CUZK_STORE_PAGE_MAX;
    if (state >= CUZK_JOB_STATES || after > INT64_MAX) {
        return CUZK_FAIL(err, CUZK_E_ARG,
                         "state %d and place %" PRIu64 ": expected a state and a place from a list",
                         state, after);
    }
    CUZK_TRY(cuzk_store_list(e->store, &jobs, &next, state, (int64_t)after, most, err));
    cuzk_code code = CUZK_OK;
    for (size_t i = 0; code == CUZK_OK && i < jobs.n; i++) {
        code = tell(e, jobs.v[i], fn, ctx, err);
    }
    cuzk_store_jobs_free(&jobs);
    if (code == CUZK_OK) {
        *ret_next = (uint64_t)next;
    }
    return code;
}
