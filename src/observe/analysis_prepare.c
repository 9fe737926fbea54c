#include "observe/analysis_pass.h"

/* Before the pass ----------------------------------------------------------------------------- */

static int compare_events(const void *a, const void *b)
{
    const cuzk_event *x = *(const cuzk_event *const *)a, *y = *(const cuzk_event *const *)b;
    if (x->t_us != y->t_us) {
        return x->t_us < y->t_us ? -1 : 1;
    }
    return (x->seq > y->seq) - (x->seq < y->seq);
}

static bool of_device(const cuzk_event *e)
{
    switch (e->kind) {
    case CUZK_EV_GPU_PICKUP:
    case CUZK_EV_GPU_START:
    case CUZK_EV_GPU_END:
    case CUZK_EV_WORKER_START:
    case CUZK_EV_WORKER_DEATH:
        return true;
    default:
        return false;
    }
}

static bool of_part(const cuzk_event *e)
{
    return e->job && ((e->kind >= CUZK_EV_SYNTH_START && e->kind <= CUZK_EV_FINISH_END) ||
                      e->kind == CUZK_EV_RETRY);
}

static int compare_devices(const void *a, const void *b)
{
    return ((const device *)a)->sum.device - ((const device *)b)->sum.device;
}

static cuzk_code list_devices(pass *p, cuzk_err *err)
{
    enum { MAX_DEVICES = 256 };
    p->devices = calloc(MAX_DEVICES, sizeof *p->devices);
    if (!p->devices) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the analysis of a timeline");
    }
    for (size_t i = 0; i < p->r->n; i++) {
        const cuzk_event *e = p->events[i];
        if (!of_device(e) || find_device(p, e->device)) {
            continue;
        }
        if (p->n_devices == MAX_DEVICES) {
            return CUZK_FAIL(err, CUZK_E_INPUT, "the timeline has more than %d devices",
                             MAX_DEVICES);
        }
        p->devices[p->n_devices++].sum.device = e->device;
    }
    qsort(p->devices, p->n_devices, sizeof *p->devices, compare_devices);
    return CUZK_OK;
}

/* A job, or a partition of one: what the lists are made from, for the structures are large. */
typedef struct key {
    uint64_t job;
    int32_t partition;
} key;

static int compare_keys(const void *a, const void *b)
{
    const key *x = a, *y = b;
    if (x->job != y->job) {
        return x->job < y->job ? -1 : 1;
    }
    return (x->partition > y->partition) - (x->partition < y->partition);
}

/* Sorts keys and keeps one of those that are equal; returns how many are left. */
static size_t sort_unique(key *keys, size_t n)
{
    size_t kept = 0;
    qsort(keys, n, sizeof *keys, compare_keys);
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || compare_keys(&keys[kept - 1], &keys[i]) != 0) {
            keys[kept++] = keys[i];
        }
    }
    return kept;
}

/* The distinct jobs (parts: false) or partitions of the events, sorted, in keys. */
static size_t collect(const pass *p, key *keys, bool parts)
{
    size_t n = 0;
    for (size_t i = 0; i < p->r->n; i++) {
        const cuzk_event *e = p->events[i];
        key k = {e->job, parts ? e->partition : -1};
        bool wanted = parts ? of_part(e) : e->job != 0;
        if (wanted && (n == 0 || compare_keys(&keys[n - 1], &k) != 0)) {
            keys[n++] = k;
        }
    }
    return sort_unique(keys, n);
}

static bool make_jobs(pass *p, key *keys)
{
    p->n_jobs = collect(p, keys, false);
    p->jobs = calloc(p->n_jobs + 1, sizeof *p->jobs);
    for (size_t i = 0; p->jobs && i < p->n_jobs; i++) {
        p->jobs[i].sum = (cuzk_job_summary){.number = keys[i].job,
                                            .name = cuzk_record_job(p->r, keys[i].job),
                                            .cut = true,
                                            .queued_us = UINT64_MAX};
    }
    return p->jobs != NULL;
}

static bool make_parts(pass *p, key *keys)
{
    p->n_parts = collect(p, keys, true);
    p->parts = calloc(p->n_parts + 1, sizeof *p->parts);
    for (size_t i = 0; p->parts && i < p->n_parts; i++) {
        p->parts[i].job = keys[i].job;
        p->parts[i].partition = keys[i].partition;
        find_job(p, keys[i].job)->sum.partitions += keys[i].partition >= 0;
    }
    p->count[PART_NONE] = (uint32_t)p->n_parts;
    return p->parts != NULL;
}

static cuzk_code list_jobs_and_parts(pass *p, cuzk_err *err)
{
    key *keys = malloc((p->r->n + 1) * sizeof *keys);
    bool made = keys && make_jobs(p, keys) && make_parts(p, keys);
    free(keys);
    return made
               ? CUZK_OK
               : CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the analysis of %zu events", p->r->n);
}

/* By time, which they mostly are already. */
static void sort_events(pass *p)
{
    bool sorted = true;
    for (size_t i = 0; i < p->r->n; i++) {
        p->events[i] = &p->r->events[i];
        sorted = sorted && (i == 0 || compare_events(&p->events[i - 1], &p->events[i]) <= 0);
    }
    if (!sorted) {
        qsort(p->events, p->r->n, sizeof *p->events, compare_events);
    }
}

/* The state in which a partition must have been before its first event, when that is not the first
 * event of its life. */
static part_state state_before(const cuzk_event *e)
{
    switch (e->kind) {
    case CUZK_EV_SYNTH_END:
        return PART_SYNTH;
    case CUZK_EV_CHAN_SEND:
        return PART_HELD;
    case CUZK_EV_GPU_PICKUP:
        return PART_CHANNEL;
    case CUZK_EV_GPU_START:
        return PART_PICKED;
    case CUZK_EV_GPU_END:
        return PART_GPU;
    case CUZK_EV_FINISH_END:
        return PART_FINISH;
    default:
        return PART_NONE;
    }
}

static void seed_part(pass *p, const cuzk_event *e, uint64_t start_us)
{
    part *x = find_part(p, e);
    job *j = find_job(p, e->job);
    if (!x || x->seen) {
        return;
    }
    x->seen = true;
    part_state state = state_before(e);
    if (state == PART_NONE || j->queued_seen) {
        return;
    }
    x->begun = true;
    j->begun++;
    j->started = true;
    j->sum.state = CUZK_JOB_RUNNING;
    j->sum.started_us = start_us;
    cuzk_pass_enter(p, x, state, e, start_us);
    x->cut = true;
}

static void seed_load(pass *p, const cuzk_event *e, uint64_t start_us)
{
    bool end = e->kind == CUZK_EV_SRS_LOAD_END || e->kind == CUZK_EV_PCE_LOAD_END;
    if (!end) {
        return;
    }
    uint8_t start_kind = (uint8_t)(e->kind - 1); /* a load's START stands before its END */
    cuzk_phase phase =
        e->kind == CUZK_EV_SRS_LOAD_END ? CUZK_PHASE_KEY_LOAD : CUZK_PHASE_CIRCUIT_LOAD;
    for (size_t i = 0; i < p->n_loads; i++) {
        if (is_load(&p->loads[i], e, phase)) {
            return;
        }
    }
    for (size_t i = 0; i < p->r->n && p->events[i] != e; i++) {
        const cuzk_event *s = p->events[i];
        if (s->kind == start_kind && s->device == e->device && strcmp(s->detail, e->detail) == 0) {
            return;
        }
    }
    begin_load(p, e, phase, start_us, true);
}

/* Whether the first events are missing. */
static bool is_cut(const pass *p)
{
    bool cut = p->r->n > 0;
    for (size_t i = 0; i < p->r->n; i++) {
        cut = cut && p->events[i]->seq > 0;
    }
    return cut;
}

/* What was going on when a record begins that has not the first events. */
static void seed(pass *p)
{
    uint64_t start_us = p->r->n ? p->events[0]->t_us : 0;
    bool cut = is_cut(p);
    for (size_t i = 0; i < p->r->n; i++) {
        const cuzk_event *e = p->events[i];
        job *j = e->job ? find_job(p, e->job) : NULL;
        if (j && e->t_us < j->sum.queued_us) {
            j->sum.queued_us = e->t_us;
        }
        if (j && e->kind == CUZK_EV_QUEUED) {
            j->queued_seen = true;
        }
        if (cut && of_part(e)) {
            seed_part(p, e, start_us);
        }
        if (cut) {
            seed_load(p, e, start_us);
        }
    }
    for (size_t i = 0; i < p->n_jobs; i++) {
        p->jobs[i].queued_seen = false; /* the pass itself sees it at its time */
    }
}

static void find_window(pass *p, uint64_t from_us, uint64_t to_us)
{
    cuzk_analysis *a = p->a;
    uint64_t first = p->r->n ? p->events[0]->t_us : 0;
    uint64_t last = p->r->n ? p->events[p->r->n - 1]->t_us : 0;
    a->from_us = from_us ? from_us : first;
    if (is_cut(p) && a->from_us < first) {
        a->from_us = first; /* nobody knows what was before */
    }
    a->to_us = to_us ? to_us : last;
    a->to_us = a->to_us > a->from_us ? a->to_us : a->from_us;
    for (size_t i = 0; i < p->r->n; i++) {
        const cuzk_event *e = p->events[i];
        if (e->kind != CUZK_EV_DONE || !in_window(a, e->t_us)) {
            continue;
        }
        if (a->steady_from_us == 0) {
            a->steady_from_us = e->t_us;
        } else {
            a->steady_done++;
        }
        a->steady_to_us = e->t_us;
    }
}

/* After the pass ------------------------------------------------------------------------------ */

static int compare_intervals(const void *a, const void *b)
{
    const cuzk_interval *x = a, *y = b;
    if (x->start_us != y->start_us) {
        return x->start_us < y->start_us ? -1 : 1;
    }
    if (x->end_us != y->end_us) {
        return x->end_us < y->end_us ? -1 : 1;
    }
    if (x->job != y->job) {
        return x->job < y->job ? -1 : 1;
    }
    return (x->partition > y->partition) - (x->partition < y->partition);
}

static int compare_gaps(const void *a, const void *b)
{
    const cuzk_gap *x = a, *y = b;
    if (x->device != y->device) {
        return x->device - y->device;
    }
    return (x->start_us > y->start_us) - (x->start_us < y->start_us);
}

static void hand_over(pass *p)
{
    cuzk_analysis *a = p->a;
    for (size_t i = 0; i < p->n_jobs; i++) {
        cuzk_job_summary *s = &p->jobs[i].sum;
        s->end_us = p->jobs[i].over ? s->end_us : p->now_us;
        s->started_us = p->jobs[i].started ? s->started_us : s->end_us;
        if (s->end_us >= a->from_us && s->queued_us <= a->to_us) {
            a->jobs[a->n_jobs++] = *s;
        }
    }
    for (size_t i = 0; i < p->n_devices; i++) {
        a->devices[a->n_devices++] = p->devices[i].sum;
    }
    if (a->n_intervals) {
        qsort(a->intervals, a->n_intervals, sizeof *a->intervals, compare_intervals);
    }
    if (a->n_gaps) {
        qsort(a->gaps, a->n_gaps, sizeof *a->gaps, compare_gaps);
    }
}

static cuzk_code allocate(pass *p, cuzk_err *err)
{
    size_t n = p->r->n + 2;
    cuzk_analysis *a = p->a;
    p->events = calloc(n, sizeof *p->events);
    p->loads = calloc(n, sizeof *p->loads);
    a->channel = calloc(n, sizeof *a->channel);
    a->synth = calloc(n, sizeof *a->synth);
    if (!p->events || !p->loads || !a->channel || !a->synth) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the analysis of %zu events", p->r->n);
    }
    return CUZK_OK;
}

static cuzk_code analyse(pass *p, uint64_t from_us, uint64_t to_us, cuzk_err *err)
{
    CUZK_TRY(allocate(p, err));
    sort_events(p);
    CUZK_TRY(list_devices(p, err));
    CUZK_TRY(list_jobs_and_parts(p, err));
    find_window(p, from_us, to_us);
    for (size_t i = 0; i < p->n_devices; i++) {
        p->devices[i].gap =
            (cuzk_gap){.device = p->devices[i].sum.device, .start_us = p->a->from_us};
    }
    seed(p);
    uint64_t first = p->r->n ? p->events[0]->t_us : 0;
    p->now_us = p->a->from_us < first ? p->a->from_us : first;
    cuzk_pass_run(p);
    p->a->jobs = calloc(p->n_jobs + 1, sizeof *p->a->jobs);
    p->a->devices = calloc(p->n_devices + 1, sizeof *p->a->devices);
    if (!p->a->jobs || !p->a->devices || p->out_of_memory) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the analysis of %zu events", p->r->n);
    }
    hand_over(p);
    return cuzk_analysis_rows(p->a, err);
}

cuzk_code cuzk_analyse(cuzk_analysis *ret, const cuzk_record *record, uint64_t from_us,
                       uint64_t to_us, cuzk_err *err)
{
    cuzk_analysis a = {.record = record};
    pass p = {.r = record, .a = &a};
    cuzk_code code = analyse(&p, from_us, to_us, err);
    free(p.events);
    free(p.parts);
    free(p.jobs);
    free(p.loads);
    free(p.devices);
    if (code != CUZK_OK) {
        cuzk_analysis_clear(&a);
        return code;
    }
    *ret = a;
    return CUZK_OK;
}
