#include "support/timelines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void at(cuzk_record *r, uint64_t t_ms, cuzk_event_kind kind, uint64_t job, int32_t partition,
        int16_t worker, int16_t device, int64_t value, const char *detail)
{
    cuzk_event e = {.seq = r->n ? r->events[r->n - 1].seq + 1 : 0,
                    .t_us = t_ms * 1000,
                    .job = job,
                    .partition = partition,
                    .worker = worker,
                    .device = device,
                    .kind = (uint8_t)kind,
                    .value = value};
    snprintf(e.detail, sizeof e.detail, "%s", detail);
    if (cuzk_record_add(r, &e, NULL) != CUZK_OK) {
        abort();
    }
}

static int by_time(const void *a, const void *b)
{
    const cuzk_event *x = a, *y = b;
    if (x->t_us != y->t_us) {
        return x->t_us < y->t_us ? -1 : 1;
    }
    return (x->seq > y->seq) - (x->seq < y->seq);
}

static void send_to_device(cuzk_record *r, const pipeline *p, uint64_t job, int32_t partition,
                           uint64_t ready, uint64_t *device_free)
{
    uint64_t start = ready > *device_free ? ready : *device_free;
    uint64_t end = start + p->gpu_ms;
    at(r, ready, CUZK_EV_CHAN_SEND, job, partition, 0, -1, 1, "");
    at(r, start, CUZK_EV_GPU_PICKUP, job, partition, 0, 0, 0, "");
    at(r, start, CUZK_EV_GPU_START, job, partition, 0, 0, 0, "");
    at(r, end, CUZK_EV_GPU_END, job, partition, 0, 0, 0, "");
    at(r, end, CUZK_EV_FINISH_START, job, partition, 0, -1, 0, "");
    at(r, end + 1, CUZK_EV_FINISH_END, job, partition, 0, -1, 1, "");
    *device_free = end;
}

cuzk_record run_pipeline(const pipeline *p)
{
    cuzk_record r = {.epoch_wall_us = 1700000000000000};
    uint64_t synth_free = 0, device_free = 0;
    for (uint64_t job = 1; job <= p->jobs; job++) {
        cuzk_job_name name = {.number = job, .kind = "porep-c2"};
        snprintf(name.id, sizeof name.id, "porep-1000-%llu", (unsigned long long)job);
        if (cuzk_record_name(&r, &name, NULL) != CUZK_OK) {
            abort();
        }
        at(&r, 0, CUZK_EV_QUEUED, job, -1, -1, -1, p->partitions, "");
        int32_t held = 0;
        for (int32_t i = 0; i < p->partitions; i++) {
            at(&r, synth_free, CUZK_EV_SYNTH_START, job, i, 0, -1, 0, "");
            synth_free += p->synth_ms;
            at(&r, synth_free, CUZK_EV_SYNTH_END, job, i, 0, -1, 0, "");
            held++;
            if (held == p->slot || i + 1 == p->partitions) {
                for (int32_t k = i - held + 1; k <= i; k++) {
                    send_to_device(&r, p, job, k, synth_free, &device_free);
                }
                held = 0;
            }
        }
        at(&r, device_free + 1, CUZK_EV_DONE, job, -1, -1, -1, p->partitions, "");
    }
    qsort(r.events, r.n, sizeof *r.events, by_time);
    for (size_t i = 0; i < r.n; i++) {
        r.events[i].seq = i;
    }
    return r;
}
