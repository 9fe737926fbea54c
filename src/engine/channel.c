#include "engine/engine_internal.h"

/*
 * From synthesis to devices. A slot is slot_size consecutive partitions of a job (all of it for
 * slot_size 0); its partitions enter the channel together, once the last of them is made. In the
 * channel they stand in order of priority, job and partition. How many slots may be open is decided
 * where synthesis begins (queue.c), so nobody ever waits here with a partition in hand.
 */

int cuzk_unit_compare(const cuzk_unit *a, const cuzk_unit *b)
{
    const cuzk_job *x = a->job, *y = b->job;
    if (x->priority != y->priority) {
        return x->priority > y->priority ? -1 : 1;
    }
    if (x->order != y->order) {
        return x->order < y->order ? -1 : 1;
    }
    if (x->number != y->number) {
        return x->number < y->number ? -1 : 1;
    }
    return a->k < b->k ? -1 : a->k > b->k;
}

cuzk_order cuzk_unit_order(const cuzk_unit *u)
{
    return (cuzk_order){(int)u->job->priority, u->job->order, u->k};
}

/* ---- slots ---- */

static void slot_close_locked(cuzk_engine *e, cuzk_job *job, uint32_t slot)
{
    if (job->slot_open[slot]) {
        job->slot_open[slot] = false;
        job->slots_open--;
        e->slots_open[job->priority]--;
        pthread_cond_broadcast(&e->synth_cv);
    }
}

void cuzk_slot_taken_locked(cuzk_engine *e, cuzk_unit *u)
{
    uint32_t slot = u->k / u->job->slot_size;
    if (u->job->slot_left[slot] > 0 && --u->job->slot_left[slot] == 0) {
        slot_close_locked(e, u->job, slot);
    }
}

void cuzk_slots_close_locked(cuzk_engine *e, cuzk_job *job)
{
    for (uint32_t slot = 0; job->slots_open > 0 && slot < job->n_units; slot++) {
        slot_close_locked(e, job, slot);
    }
}

/* ---- the channel ---- */

void cuzk_channel_return_locked(cuzk_engine *e, cuzk_unit *u)
{
    unsigned p = u->job->priority;
    cuzk_unit *after = e->channel_last[p];
    while (after && cuzk_unit_compare(u, after) < 0) {
        after = after->prev;
    }
    u->prev = after;
    u->next = after ? after->next : e->channel_first[p];
    *(u->next ? &u->next->prev : &e->channel_last[p]) = u;
    *(after ? &after->next : &e->channel_first[p]) = u;
    u->in_channel = true;
    e->channel_n++;
    if (e->device_idle > 0) {
        pthread_cond_broadcast(&e->device_cv);
    }
}

void cuzk_channel_put_locked(cuzk_engine *e, cuzk_unit *u)
{
    cuzk_channel_return_locked(e, u);
    cuzk_queue_prefetch_locked(e);
    /* A worker that waits for a key looks again: what came may go before, or be ready to run. */
    bool woken = false;
    for (unsigned i = 0; i < e->n_workers; i++) {
        if (e->workers[i].leasing) {
            atomic_store_explicit(&e->workers[i].yield, true, memory_order_release);
            woken = true;
        }
    }
    if (woken) {
        cuzk_residency_wake(e->residency);
    }
}

void cuzk_channel_remove_locked(cuzk_engine *e, cuzk_unit *u)
{
    unsigned p = u->job->priority;
    *(u->next ? &u->next->prev : &e->channel_last[p]) = u->prev;
    *(u->prev ? &u->prev->next : &e->channel_first[p]) = u->next;
    u->next = u->prev = NULL;
    u->in_channel = false;
    e->channel_n--;
}

void cuzk_channel_made_locked(cuzk_engine *e, cuzk_unit *u, int16_t worker)
{
    cuzk_job *job = u->job;
    uint32_t slot = u->k / job->slot_size;
    e->held_n++;
    if (--job->slot_synth[slot] > 0) {
        return;
    }
    uint32_t end = slot * job->slot_size + job->slot_size;
    for (uint32_t k = slot * job->slot_size; k < end && k < job->n_units; k++) {
        cuzk_unit *made = &job->units[k];
        if (made->state == CUZK_PARTITION_SYNTH_DONE && !made->in_channel && made->attempts == 0) {
            e->held_n--;
            cuzk_unit_event(e, CUZK_EV_CHAN_SEND, made, worker, -1, e->channel_n + 1, NULL);
            cuzk_channel_put_locked(e, made);
        }
    }
}
