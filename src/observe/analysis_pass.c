#include "observe/analysis_pass.h"

/*
 * One pass over the events by time. Each partition is in one state; time that passes between two
 * events is given to what every device did in it: busy, or idle for a cause that the counts of
 * partitions in each state tell.
 */

/* What the time in a state is called; PART_NONE and PART_PROVED are no intervals. */
static const cuzk_phase phase_of[PART_STATES] = {
    [PART_SYNTH] = CUZK_PHASE_SYNTH,     [PART_HELD] = CUZK_PHASE_HELD,
    [PART_CHANNEL] = CUZK_PHASE_CHANNEL, [PART_PICKED] = CUZK_PHASE_PICKUP,
    [PART_GPU] = CUZK_PHASE_GPU,         [PART_FINISH] = CUZK_PHASE_FINISH,
};

/* Results ------------------------------------------------------------------------------------- */

static void add_interval(pass *p, const cuzk_interval *i)
{
    cuzk_analysis *a = p->a;
    if (i->end_us < a->from_us || i->start_us > a->to_us || p->out_of_memory) {
        return;
    }
    if (a->n_intervals == p->cap_intervals) {
        size_t cap = p->cap_intervals ? 2 * p->cap_intervals : 256;
        cuzk_interval *more = reallocarray(a->intervals, cap, sizeof *more);
        if (!more) {
            p->out_of_memory = true;
            return;
        }
        a->intervals = more;
        p->cap_intervals = cap;
    }
    a->intervals[a->n_intervals++] = *i;
}

static void count_stat(cuzk_stat *s, uint64_t us)
{
    s->min_us = s->n == 0 || us < s->min_us ? us : s->min_us;
    s->max_us = us > s->max_us ? us : s->max_us;
    s->sum_us += us;
    s->n++;
}

static void count_interval(pass *p, const cuzk_interval *i)
{
    if (!i->cut && !i->failed && in_window(p->a, i->end_us)) {
        count_stat(&p->a->phase[i->phase], i->end_us - i->start_us);
    }
}

static void end_gap(pass *p, device *d, uint64_t end_us)
{
    cuzk_gap *g = &d->gap;
    g->end_us = end_us < p->a->to_us ? end_us : p->a->to_us;
    if (g->end_us <= g->start_us || p->out_of_memory) {
        return;
    }
    for (unsigned c = 0; c < CUZK_IDLE_COUNT; c++) {
        if (g->cause_us[c] > g->cause_us[g->cause]) {
            g->cause = (cuzk_idle_cause)c;
        }
    }
    if (p->a->n_gaps == p->cap_gaps) {
        size_t cap = p->cap_gaps ? 2 * p->cap_gaps : 64;
        cuzk_gap *more = reallocarray(p->a->gaps, cap, sizeof *more);
        if (!more) {
            p->out_of_memory = true;
            return;
        }
        p->a->gaps = more;
        p->cap_gaps = cap;
    }
    p->a->gaps[p->a->n_gaps++] = *g;
}

static void begin_gap(pass *p, device *d, uint64_t t_us)
{
    uint64_t start = t_us > p->a->from_us ? t_us : p->a->from_us;
    d->gap = (cuzk_gap){.device = d->sum.device, .start_us = start};
}

/* Time ---------------------------------------------------------------------------------------- */

static bool loading(const pass *p, int16_t device_number)
{
    for (size_t i = 0; i < p->n_loads; i++) {
        if (p->loads[i].device < 0 || p->loads[i].device == device_number) {
            return true;
        }
    }
    return false;
}

static cuzk_idle_cause cause_of(const pass *p, const device *d)
{
    uint32_t ready = p->count[PART_CHANNEL] + p->count[PART_PICKED];
    if (d->down) {
        return CUZK_IDLE_WORKER;
    }
    if (p->n_loads && loading(p, d->sum.device) && (ready > 0 || p->count[PART_SYNTH] == 0)) {
        return CUZK_IDLE_LOADING;
    }
    if (ready + p->count[PART_HELD] > 0) {
        return CUZK_IDLE_CHANNEL;
    }
    if (p->count[PART_SYNTH] > 0) {
        return CUZK_IDLE_SYNTHESIS;
    }
    return p->waiting > 0 ? CUZK_IDLE_WAITING : CUZK_IDLE_NO_WORK;
}

/* The part of [from, to) that lies in [low, high). */
static uint64_t overlap(uint64_t from, uint64_t to, uint64_t low, uint64_t high)
{
    from = from > low ? from : low;
    to = to < high ? to : high;
    return to > from ? to - from : 0;
}

/* Nothing changed from now_us to t_us. */
static void advance(pass *p, uint64_t t_us)
{
    cuzk_analysis *a = p->a;
    uint64_t dt = overlap(p->now_us, t_us, a->from_us, a->to_us);
    uint64_t steady = overlap(p->now_us, t_us, a->steady_from_us, a->steady_to_us);
    bool all_idle = true;
    for (size_t i = 0; dt > 0 && i < p->n_devices; i++) {
        device *d = &p->devices[i];
        if (d->open > 0) {
            all_idle = false;
            d->sum.busy_us += dt;
            d->sum.steady_busy_us += steady;
            d->sum.bound_us += p->count[PART_CHANNEL] > 0 ? dt : 0;
        } else {
            cuzk_idle_cause cause = cause_of(p, d);
            d->sum.idle_us[cause] += dt;
            d->gap.cause_us[cause] += dt;
        }
    }
    if (all_idle && p->n_loads > 0) {
        a->steady_load_us += steady;
    }
    p->now_us = t_us > p->now_us ? t_us : p->now_us;
}

static void step(cuzk_step *steps, size_t *n, uint64_t t_us, uint32_t count)
{
    if (*n > 0 && steps[*n - 1].t_us == t_us) {
        steps[*n - 1].n = count;
    } else if (*n == 0 || steps[*n - 1].n != count) {
        steps[(*n)++] = (cuzk_step){t_us, count};
    }
}

/* Partitions ---------------------------------------------------------------------------------- */

static void note_waiting(pass *p, job *j)
{
    uint32_t want = j->sum.partitions > 0 ? j->sum.partitions : 1;
    bool waiting = j->queued_seen && !j->over && j->begun < want;
    if (waiting != j->waiting) {
        j->waiting = waiting;
        p->waiting += waiting ? 1 : UINT32_MAX; /* one more or one less */
    }
}

static void sum_up(job *j, part *x, uint64_t us)
{
    if (x->state == PART_SYNTH) {
        j->sum.synth_us += us;
    } else if (x->state == PART_GPU) {
        j->sum.gpu_us += us;
    } else if (x->state == PART_FINISH) {
        j->sum.finish_us += us;
    }
}

/* Ends the interval that a partition is in; leaves it in PART_NONE. */
static void leave(pass *p, part *x, uint64_t t_us, bool failed, bool cut)
{
    part_state was = x->state;
    if (was != PART_NONE && was != PART_PROVED) {
        cuzk_interval i = {.phase = phase_of[was],
                           .start_us = x->since_us,
                           .end_us = t_us,
                           .job = x->job,
                           .partition = x->partition,
                           .worker = x->worker,
                           .device = x->device,
                           .cut = x->cut || cut,
                           .failed = failed,
                           .detail = ""};
        add_interval(p, &i);
        count_interval(p, &i);
        sum_up(find_job(p, x->job), x, t_us - x->since_us);
    }
    if (was == PART_GPU) {
        device *d = find_device(p, x->device);
        if (--d->open == 0 && !cut) {
            begin_gap(p, d, t_us);
        }
    }
    p->count[was]--;
    x->state = PART_NONE;
    p->count[PART_NONE]++;
    x->cut = false;
}

void cuzk_pass_enter(pass *p, part *x, part_state state, const cuzk_event *e, uint64_t t_us)
{
    p->count[x->state]--;
    p->count[state]++;
    x->state = state;
    x->since_us = t_us;
    x->worker = e->worker;
    x->device = e->device;
    if (state == PART_GPU) {
        device *d = find_device(p, e->device);
        if (d->open++ == 0) {
            end_gap(p, d, t_us);
        }
    }
}

/* A job's first work ends its time in the queue. */
static void begin_part(pass *p, job *j, part *x, uint64_t t_us)
{
    if (!x->begun) {
        x->begun = true;
        j->begun++;
        note_waiting(p, j);
    }
    if (j->started) {
        return;
    }
    j->started = true;
    j->sum.started_us = t_us;
    if (j->sum.state == CUZK_JOB_QUEUED) {
        j->sum.state = CUZK_JOB_RUNNING;
    }
    if (j->queued_seen) {
        cuzk_interval i = {CUZK_PHASE_QUEUE,
                           j->sum.queued_us,
                           t_us,
                           j->sum.number,
                           -1,
                           -1,
                           -1,
                           0,
                           false,
                           false,
                           ""};
        add_interval(p, &i);
        count_interval(p, &i);
    }
}

static void move(pass *p, const cuzk_event *e, part_state to)
{
    part *x = find_part(p, e);
    job *j = find_job(p, e->job);
    if (!x || !j) {
        return; /* an event without a job */
    }
    if (to != PART_FINISH) {
        begin_part(p, j, x, e->t_us);
    }
    leave(p, x, e->t_us, false, false);
    cuzk_pass_enter(p, x, to, e, e->t_us);
    if (to == PART_PROVED && !x->proved) {
        x->proved = true;
        j->sum.proved++;
    }
}

static void gpu_end(pass *p, const cuzk_event *e)
{
    device *d = find_device(p, e->device);
    if (in_window(p->a, e->t_us)) {
        d->sum.partitions++;
    }
    move(p, e, PART_PROVED);
}

static void finish_end(pass *p, const cuzk_event *e)
{
    part *x = find_part(p, e);
    if (x && x->state == PART_FINISH) {
        leave(p, x, e->t_us, false, false);
    }
}

static void retry(pass *p, const cuzk_event *e)
{
    part *x = find_part(p, e);
    job *j = find_job(p, e->job);
    if (in_window(p->a, e->t_us)) {
        p->a->retries++;
    }
    if (!x || !j) {
        return;
    }
    j->sum.retries++;
    leave(p, x, e->t_us, true, false);
    if (x->proved) {
        x->proved = false;
        j->sum.proved--;
    }
    if (x->begun) {
        x->begun = false;
        j->begun--;
        note_waiting(p, j);
    }
}

/* Jobs ---------------------------------------------------------------------------------------- */

static void end_job(pass *p, const cuzk_event *e, cuzk_job_state state, uint64_t *count)
{
    job *j = find_job(p, e->job);
    if (!j || j->over) {
        return;
    }
    j->over = true;
    j->sum.state = state;
    j->sum.end_us = e->t_us;
    j->sum.reason = state == CUZK_JOB_FAILED ? e->detail : NULL;
    note_waiting(p, j);
    if (in_window(p->a, e->t_us)) {
        ++*count;
        if (state == CUZK_JOB_DONE && j->queued_seen) {
            count_stat(&p->a->total, e->t_us - j->sum.queued_us);
        }
        if (state == CUZK_JOB_DONE && j->queued_seen && j->started) {
            count_stat(&p->a->prove, e->t_us - j->sum.started_us);
        }
        if (state == CUZK_JOB_DONE && *count == 1 && j->queued_seen) {
            p->a->first_us = e->t_us - j->sum.queued_us;
        }
    }
    /* What waits is dropped. What runs ends with an event of its own, unless that was lost. */
    for (part *x = first_part(p, e->job); x < p->parts + p->n_parts && x->job == e->job; x++) {
        bool waits = x->state == PART_HELD || x->state == PART_CHANNEL || x->state == PART_PICKED;
        if (waits || (state == CUZK_JOB_DONE && x->state != PART_NONE)) {
            leave(p, x, e->t_us, true, false);
        }
    }
}

static void queued(pass *p, const cuzk_event *e)
{
    job *j = find_job(p, e->job);
    if (!j || j->queued_seen) {
        return;
    }
    j->queued_seen = true;
    j->sum.queued_us = e->t_us;
    j->sum.cut = false;
    if (e->value > 0) {
        j->sum.partitions = e->value < UINT32_MAX ? (uint32_t)e->value : UINT32_MAX;
    }
    note_waiting(p, j);
}

/* Loads and workers --------------------------------------------------------------------------- */

static void end_load_at(pass *p, size_t i, uint64_t t_us, bool failed, bool cut)
{
    const load *l = &p->loads[i];
    cuzk_interval interval = {l->phase,  l->since_us, t_us,          l->job, -1,       l->worker,
                              l->device, 0,           l->cut || cut, failed, l->detail};
    add_interval(p, &interval);
    count_interval(p, &interval);
    p->loads[i] = p->loads[--p->n_loads];
}

static void end_load(pass *p, const cuzk_event *e, cuzk_phase phase)
{
    for (size_t i = 0; i < p->n_loads; i++) {
        if (is_load(&p->loads[i], e, phase)) {
            end_load_at(p, i, e->t_us, false, false);
            return;
        }
    }
}

static void worker_death(pass *p, const cuzk_event *e)
{
    device *d = find_device(p, e->device);
    d->down = true;
    if (in_window(p->a, e->t_us)) {
        d->sum.deaths++;
    }
    for (size_t i = 0; i < p->n_parts; i++) {
        part *x = &p->parts[i];
        bool its = x->device == e->device && (e->worker < 0 || x->worker == e->worker);
        if (its && (x->state == PART_GPU || x->state == PART_PICKED)) {
            leave(p, x, e->t_us, true, false);
        }
    }
    for (size_t i = p->n_loads; i-- > 0;) {
        if (p->loads[i].device == e->device) {
            end_load_at(p, i, e->t_us, true, false);
        }
    }
}

/* The pass ------------------------------------------------------------------------------------ */

static void apply(pass *p, const cuzk_event *e)
{
    cuzk_analysis *a = p->a;
    switch ((cuzk_event_kind)e->kind) {
    case CUZK_EV_QUEUED:
        queued(p, e);
        break;
    case CUZK_EV_SYNTH_START:
        move(p, e, PART_SYNTH);
        break;
    case CUZK_EV_SYNTH_END:
        move(p, e, PART_HELD);
        break;
    case CUZK_EV_CHAN_SEND:
        move(p, e, PART_CHANNEL);
        break;
    case CUZK_EV_GPU_PICKUP:
        move(p, e, PART_PICKED);
        break;
    case CUZK_EV_GPU_START:
        move(p, e, PART_GPU);
        break;
    case CUZK_EV_GPU_END:
        gpu_end(p, e);
        break;
    case CUZK_EV_FINISH_START:
        move(p, e, PART_FINISH);
        break;
    case CUZK_EV_FINISH_END:
        finish_end(p, e);
        break;
    case CUZK_EV_DONE:
        end_job(p, e, CUZK_JOB_DONE, &a->done);
        break;
    case CUZK_EV_FAILED:
        end_job(p, e, CUZK_JOB_FAILED, &a->failed);
        break;
    case CUZK_EV_CANCEL:
        end_job(p, e, CUZK_JOB_CANCELLED, &a->cancelled);
        break;
    case CUZK_EV_SRS_LOAD_START:
        begin_load(p, e, CUZK_PHASE_KEY_LOAD, e->t_us, false);
        break;
    case CUZK_EV_SRS_LOAD_END:
        end_load(p, e, CUZK_PHASE_KEY_LOAD);
        break;
    case CUZK_EV_PCE_LOAD_START:
        begin_load(p, e, CUZK_PHASE_CIRCUIT_LOAD, e->t_us, false);
        break;
    case CUZK_EV_PCE_LOAD_END:
        end_load(p, e, CUZK_PHASE_CIRCUIT_LOAD);
        break;
    case CUZK_EV_EVICT:
        a->evictions += in_window(a, e->t_us);
        break;
    case CUZK_EV_RETRY:
        retry(p, e);
        break;
    case CUZK_EV_WORKER_START:
        find_device(p, e->device)->down = false;
        break;
    case CUZK_EV_WORKER_DEATH:
        worker_death(p, e);
        break;
    case CUZK_EV_BATCH:
    case CUZK_EV_COUNT:
        break;
    }
}

/* Steps of the two counts after the events of one time. */
static void note_steps(pass *p)
{
    cuzk_analysis *a = p->a;
    uint64_t t_us = p->now_us > a->from_us ? p->now_us : a->from_us;
    if (t_us <= a->to_us) {
        step(a->channel, &a->n_channel, t_us, p->count[PART_CHANNEL]);
        step(a->synth, &a->n_synth, t_us, p->count[PART_SYNTH]);
    }
}

void cuzk_pass_run(pass *p)
{
    note_steps(p);
    for (size_t i = 0; i < p->r->n; i++) {
        advance(p, p->events[i]->t_us);
        apply(p, p->events[i]);
        note_steps(p);
    }
    advance(p, p->a->to_us);
    for (size_t i = 0; i < p->n_devices; i++) {
        if (p->devices[i].open == 0) {
            end_gap(p, &p->devices[i], p->a->to_us);
        }
    }
    for (size_t i = 0; i < p->n_parts; i++) {
        leave(p, &p->parts[i], p->now_us, false, true);
    }
    while (p->n_loads > 0) {
        end_load_at(p, p->n_loads - 1, p->now_us, false, true);
    }
}
