#include "engine/engine_internal.h"

#include <stdio.h>

/* A device whose attempts keep failing gets no more, as long as another is left. */
static void count_bad_locked(cuzk_engine *e, cuzk_engine_device *d, bool wrong)
{
    d->bad_in_row++;
    d->wrong_proofs += wrong;
    d->errors += !wrong;
    e->counters.wrong_proofs += wrong;
    if (e->config.quarantine_after && d->bad_in_row >= e->config.quarantine_after &&
        !d->quarantined && cuzk_device_another_locked(e, (int)d->number)) {
        d->quarantined = true;
        cuzk_engine_say(e, CUZK_ENGINE_ERROR, "",
                        "device %u (%s) is given no more work: %u attempts in a row were bad",
                        d->number, d->info.name, d->bad_in_row);
        pthread_cond_broadcast(&e->device_cv);
    }
}

void cuzk_device_good_locked(cuzk_engine_device *d) { d->bad_in_row = 0; }

/* Once more on the same device, then on another if there is one; at once on another where the
 * device's memory did not suffice. */
static void choose_device(cuzk_unit *u, cuzk_code code)
{
    bool same = u->attempts == 1 && code != CUZK_E_MEMORY;
    u->prefer = same ? u->device : -1;
    u->avoid = same ? -1 : u->device;
}

/* Whoever brought the device down shares it with nobody from now on, so that the same partition
 * does not use up the attempts of others; who it was is not known. */
static bool was_lost(cuzk_code code)
{
    return code == CUZK_E_UNAVAILABLE || code == CUZK_E_TIMEOUT;
}

void cuzk_unit_failed_locked(cuzk_engine *e, cuzk_unit *u, cuzk_code code, const char *phase,
                             const char *reason)
{
    cuzk_job *job = u->job;
    char detail[CUZK_EVENT_DETAIL];
    bool wrong = code == CUZK_E_INVALID;
    if (code != CUZK_E_INPUT) {
        count_bad_locked(e, &e->devices[u->device], wrong);
    }
    if (job->ending || code == CUZK_E_INPUT || u->attempts > e->config.partition_retries) {
        u->state = CUZK_PARTITION_FAILED;
        cuzk_job_fail_locked(e, job, (int32_t)u->k, phase, reason);
        cuzk_unit_release_locked(e, u);
        return;
    }
    e->counters.retries++;
    cuzk_metrics_retry(e, (unsigned)u->device, wrong);
    snprintf(detail, sizeof detail, "%s: %s", phase, reason);
    cuzk_unit_event(e, CUZK_EV_RETRY, u, -1, (int16_t)u->device, u->attempts + 1, detail);
    cuzk_engine_say(e, CUZK_ENGINE_WARN, job->id,
                    "partition %u, %s, attempt %u on device %d failed and is repeated: %s", u->k,
                    phase, u->attempts, u->device, reason);
    choose_device(u, code);
    u->alone = u->alone || was_lost(code);
    u->state = CUZK_PARTITION_SYNTH_DONE;
    cuzk_channel_put_locked(e, u);
}
