#include "engine/engine_internal.h"

#include <stdlib.h>

/* Partitions that were proved before are kept as they are. */
static cuzk_code take_partitions(cuzk_engine *e, cuzk_job *job, cuzk_err *err)
{
    cuzk_store_partition *kept;
    size_t n;
    CUZK_TRY(cuzk_store_partitions(e->store, &kept, &n, (int64_t)job->number, err));
    for (size_t i = 0; i < n; i++) {
        cuzk_unit *u = kept[i].k < job->n_units ? &job->units[kept[i].k] : NULL;
        if (u && u->state == CUZK_PARTITION_PENDING) {
            u->state = CUZK_PARTITION_DONE;
            memcpy(u->proof, kept[i].proof, sizeof u->proof);
            job->done++;
            job->to_synth--;
        }
    }
    free(kept);
    while (job->next_k < job->n_units && job->units[job->next_k].state != CUZK_PARTITION_PENDING) {
        job->next_k++;
    }
    return CUZK_OK;
}

static cuzk_code take_meta(cuzk_job *job, const cuzk_store_job *kept, cuzk_err *err)
{
    job->meta = malloc(kept->meta.n);
    if (!job->meta) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a job's metadata");
    }
    memcpy(job->meta, kept->meta.p, kept->meta.n);
    job->n_meta = kept->meta.n;
    job->statement_bytes = kept->payload_bytes; /* until it is read, a guess that is high enough */
    return CUZK_OK;
}

static cuzk_code take_up_locked(cuzk_engine *e, cuzk_job *job, cuzk_err *err)
{
    CUZK_TRY(cuzk_table_add_locked(e, job, err));
    e->unended++;
    job->state = CUZK_JOB_QUEUED;
    cuzk_timeline_job(e->timeline, job->number, job->id, cuzk_job_kind_name(job->kind));
    cuzk_timeline_record(e->timeline, CUZK_EV_QUEUED, job->number, -1, -1, -1, job->n_units, NULL);
    if (!job->circuit) {
        cuzk_job_fail_locked(e, job, -1, "resuming", "its circuit is not known any more");
    } else if (job->to_synth > 0) {
        cuzk_queue_add_locked(e, job);
    } else {
        cuzk_job_assemble_locked(e, job);
    }
    return CUZK_OK;
}

static cuzk_code resume_one(cuzk_engine *e, int64_t seq, cuzk_err *err)
{
    cuzk_store_job *kept;
    cuzk_job *job;
    CUZK_TRY(cuzk_store_get(e->store, &kept, seq, err));
    cuzk_err why = {0};
    cuzk_code code = cuzk_job_of_store(e, &job, kept, &why);
    if (code == CUZK_E_INPUT) { /* of another version, say: it cannot run, but it has ended */
        cuzk_engine_say(e, CUZK_ENGINE_ERROR, kept->id, "cannot be resumed: %s", why.msg);
        code = cuzk_store_set_failed(e->store, seq, why.msg, "resuming", -1, &(cuzk_job_timings){0},
                                     0, err);
        cuzk_store_job_free(kept);
        return code;
    }
    if (code == CUZK_OK) {
        code = take_meta(job, kept, &why);
        if (code == CUZK_OK) {
            code = take_partitions(e, job, &why);
        }
        pthread_mutex_lock(&e->mu);
        if (code == CUZK_OK) {
            code = take_up_locked(e, job, &why);
        }
        cuzk_job_drop_locked(job);
        pthread_mutex_unlock(&e->mu);
    }
    cuzk_store_job_free(kept);
    return code == CUZK_OK ? code : CUZK_FAIL(err, code, "%s", why.msg);
}

cuzk_code cuzk_engine_resume(cuzk_engine *e, cuzk_err *err)
{
    cuzk_store_jobs jobs;
    CUZK_TRY(cuzk_store_unfinished(e->store, &jobs, err));
    cuzk_code code = CUZK_OK;
    for (size_t i = 0; code == CUZK_OK && i < jobs.n; i++) {
        code = resume_one(e, jobs.v[i]->seq, err);
    }
    if (code == CUZK_OK && jobs.n) {
        cuzk_engine_say(e, CUZK_ENGINE_INFO, "", "%zu jobs of an earlier run go on", jobs.n);
    }
    cuzk_store_jobs_free(&jobs);
    return code;
}
