#include "observe/record.h"

#include "base/json_pull.h"
#include "observe/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Building ------------------------------------------------------------------------------------ */

void cuzk_record_clear(cuzk_record *r)
{
    free(r->events);
    free(r->jobs);
    *r = (cuzk_record){0};
}

/* Makes room for one more element; NULL when there is no memory. */
static void *grow(void *array, size_t n, size_t *cap, size_t size)
{
    if (n < *cap) {
        return array;
    }
    size_t more = *cap ? 2 * *cap : 64;
    void *p = reallocarray(array, more, size);
    if (p) {
        *cap = more;
    }
    return p;
}

cuzk_code cuzk_record_add(cuzk_record *r, const cuzk_event *e, cuzk_err *err)
{
    cuzk_event *events = grow(r->events, r->n, &r->cap, sizeof *events);
    if (!events) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu events", r->n + 1);
    }
    r->events = events;
    events[r->n++] = *e;
    return CUZK_OK;
}

/* Index of the first job whose number is not below this one. */
static size_t job_place(const cuzk_record *r, uint64_t number)
{
    size_t low = 0, high = r->n_jobs;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (r->jobs[mid].number < number) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

const cuzk_job_name *cuzk_record_job(const cuzk_record *r, uint64_t number)
{
    size_t at = job_place(r, number);
    return at < r->n_jobs && r->jobs[at].number == number ? &r->jobs[at] : NULL;
}

cuzk_code cuzk_record_name(cuzk_record *r, const cuzk_job_name *name, cuzk_err *err)
{
    size_t at = job_place(r, name->number);
    if (at < r->n_jobs && r->jobs[at].number == name->number) {
        return CUZK_OK;
    }
    cuzk_job_name *jobs = grow(r->jobs, r->n_jobs, &r->jobs_cap, sizeof *jobs);
    if (!jobs) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the names of %zu jobs", r->n_jobs + 1);
    }
    r->jobs = jobs;
    memmove(&jobs[at + 1], &jobs[at], (r->n_jobs - at) * sizeof *jobs);
    jobs[at] = *name;
    r->n_jobs++;
    return CUZK_OK;
}

static cuzk_code take_all(cuzk_record *r, cuzk_timeline *t, uint64_t cursor, cuzk_err *err)
{
    uint64_t end = cuzk_timeline_next(t), oldest = cuzk_timeline_oldest(t);
    if (cursor < oldest) {
        r->lost = cursor ? oldest - cursor : 0; /* 0 asks for what there is */
        cursor = oldest;
    }
    if (cursor < end) {
        r->cap = (size_t)(end - cursor) + 64;
        r->events = malloc(r->cap * sizeof *r->events);
        if (!r->events) {
            return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu events", r->cap);
        }
    }
    while (cursor < end) {
        cuzk_event batch[64];
        uint64_t before = cursor;
        size_t n = cuzk_timeline_read(t, &cursor, 0, batch, 64, &r->lost);
        for (size_t i = 0; i < n; i++) {
            CUZK_TRY(cuzk_record_add(r, &batch[i], err));
            cuzk_job_name name;
            if (batch[i].job && !cuzk_record_job(r, batch[i].job) &&
                cuzk_timeline_job_name(t, batch[i].job, &name)) {
                CUZK_TRY(cuzk_record_name(r, &name, err));
            }
        }
        if (cursor == before) {
            break; /* the next event is just being written */
        }
    }
    return CUZK_OK;
}

cuzk_code cuzk_record_take(cuzk_record *ret, cuzk_timeline *t, uint64_t cursor, cuzk_err *err)
{
    cuzk_record r = {.epoch_wall_us = cuzk_timeline_epoch_wall_us(t)};
    cuzk_code code = take_all(&r, t, cursor, err);
    if (code != CUZK_OK) {
        cuzk_record_clear(&r);
        return code;
    }
    *ret = r;
    return CUZK_OK;
}

cuzk_code cuzk_record_format(const cuzk_record *r, char **ret, size_t *ret_n, cuzk_err *err)
{
    cuzk_text t = {0};
    char line[CUZK_EVENT_JSON_MAX];
    cuzk_text_put(&t, line, cuzk_epoch_json(line, r->epoch_wall_us));
    cuzk_text_str(&t, "\n");
    if (r->lost) {
        cuzk_text_printf(&t, "{\"target\":\"TIMELINE\",\"lost\":%" PRIu64 "}\n", r->lost);
    }
    for (size_t i = 0; i < r->n; i++) {
        const cuzk_event *e = &r->events[i];
        cuzk_text_put(&t, line, cuzk_event_json(line, e, cuzk_record_job(r, e->job)));
        cuzk_text_str(&t, "\n");
    }
    return cuzk_text_take(&t, ret, ret_n, err);
}

/* Parsing ------------------------------------------------------------------------------------- */

/* What one line says. */
typedef struct line {
    bool timeline;    /* its target is TIMELINE */
    bool has_epoch;   /* epoch_wall_us is there */
    bool has_event;   /* event is there */
    bool known_event; /* and of a kind that this program knows */
    bool has_id;
    uint64_t epoch, lost;
    cuzk_event e;
    cuzk_job_name name;
} line;

static cuzk_code read_int(cuzk_json *j, int64_t *ret, int64_t min, int64_t max, cuzk_err *err)
{
    char text[32], *end;
    CUZK_TRY(cuzk_json_number(j, text, sizeof text, err));
    if (strpbrk(text, ".eE")) {
        return cuzk_json_fail(j, err, "expected an integer, found %s", text);
    }
    /* The reader's numbers have at most 31 digits; what is above 64 bits saturates and is outside
     * every range but the whole one. */
    long long v = strtoll(text, &end, 10);
    bool saturated = (v == INT64_MAX && strcmp(text, "9223372036854775807") != 0) ||
                     (v == INT64_MIN && strcmp(text, "-9223372036854775808") != 0);
    if (saturated || v < min || v > max) {
        return cuzk_json_fail(j, err, "expected %" PRId64 " to %" PRId64 ", found %s", min, max,
                              text);
    }
    *ret = v;
    return CUZK_OK;
}

/* A string of any length, cut to what fits cap. */
static cuzk_code read_cut(cuzk_json *j, char *ret, size_t cap, cuzk_err *err)
{
    size_t kept = 0;
    bool end = false;
    CUZK_TRY(cuzk_json_string_begin(j, err));
    while (!end) {
        char part[64];
        size_t n;
        CUZK_TRY(cuzk_json_string_part(j, (uint8_t *)part, sizeof part, &n, &end, err));
        size_t take = n < cap - 1 - kept ? n : cap - 1 - kept;
        memcpy(ret + kept, part, take);
        kept += take;
    }
    memset(ret + kept, 0, cap - kept);
    return CUZK_OK;
}

static bool find_kind(const char *name, uint8_t *ret)
{
    for (unsigned k = 0; k < CUZK_EV_COUNT; k++) {
        if (strcmp(name, cuzk_event_name(k)) == 0) {
            *ret = (uint8_t)k;
            return true;
        }
    }
    return false;
}

static cuzk_code read_small(cuzk_json *j, line *l, cuzk_err *err)
{
    int64_t v;
    if (cuzk_json_key_is(j, "partition")) {
        CUZK_TRY(read_int(j, &v, -1, INT32_MAX, err));
        l->e.partition = (int32_t)v;
    } else if (cuzk_json_key_is(j, "worker")) {
        CUZK_TRY(read_int(j, &v, -1, INT16_MAX, err));
        l->e.worker = (int16_t)v;
    } else if (cuzk_json_key_is(j, "device")) {
        CUZK_TRY(read_int(j, &v, -1, INT16_MAX, err));
        l->e.device = (int16_t)v;
    } else {
        CUZK_TRY(cuzk_json_skip(j, err));
    }
    return CUZK_OK;
}

static cuzk_code read_member(cuzk_json *j, line *l, cuzk_err *err)
{
    if (cuzk_json_key_is(j, "seq")) {
        return cuzk_json_u64(j, &l->e.seq, err);
    }
    if (cuzk_json_key_is(j, "t_us")) {
        return cuzk_json_u64(j, &l->e.t_us, err);
    }
    if (cuzk_json_key_is(j, "event")) {
        char name[32];
        CUZK_TRY(read_cut(j, name, sizeof name, err));
        l->has_event = true;
        l->known_event = find_kind(name, &l->e.kind);
        return CUZK_OK;
    }
    if (cuzk_json_key_is(j, "job")) {
        return cuzk_json_u64(j, &l->e.job, err);
    }
    if (cuzk_json_key_is(j, "job_id")) {
        l->has_id = true;
        return read_cut(j, l->name.id, sizeof l->name.id, err);
    }
    if (cuzk_json_key_is(j, "proof_kind")) {
        return read_cut(j, l->name.kind, sizeof l->name.kind, err);
    }
    if (cuzk_json_key_is(j, "value")) {
        return read_int(j, &l->e.value, INT64_MIN, INT64_MAX, err);
    }
    if (cuzk_json_key_is(j, "detail")) {
        return read_cut(j, l->e.detail, sizeof l->e.detail, err);
    }
    if (cuzk_json_key_is(j, "epoch_wall_us")) {
        l->has_epoch = true;
        return cuzk_json_u64(j, &l->epoch, err);
    }
    if (cuzk_json_key_is(j, "lost")) {
        return cuzk_json_u64(j, &l->lost, err);
    }
    return read_small(j, l, err);
}

/* Whether a line is an object whose target is TIMELINE; what is no JSON is not. */
static bool is_timeline(cuzk_span text)
{
    cuzk_json j;
    cuzk_err err;
    cuzk_json_init(&j, text, "");
    bool more, found = false;
    if (cuzk_json_enter_object(&j, &err) != CUZK_OK) {
        return false;
    }
    while (!found && cuzk_json_next_key(&j, &more, &err) == CUZK_OK && more) {
        cuzk_json_type type;
        if (!cuzk_json_key_is(&j, "target")) {
            if (cuzk_json_skip(&j, &err) != CUZK_OK) {
                return false;
            }
            continue;
        }
        char target[16];
        if (cuzk_json_peek(&j, &type, &err) != CUZK_OK || type != CUZK_JSON_STRING ||
            read_cut(&j, target, sizeof target, &err) != CUZK_OK) {
            return false;
        }
        found = strcmp(target, "TIMELINE") == 0;
        break;
    }
    return found;
}

static cuzk_code read_line(line *l, cuzk_span text, const char *name, cuzk_err *err)
{
    cuzk_json j;
    bool more;
    cuzk_json_init(&j, text, name);
    *l = (line){.timeline = true, .e = {.partition = -1, .worker = -1, .device = -1}};
    CUZK_TRY(cuzk_json_enter_object(&j, err));
    for (;;) {
        CUZK_TRY(cuzk_json_next_key(&j, &more, err));
        if (!more) {
            return cuzk_json_end(&j, err);
        }
        CUZK_TRY(read_member(&j, l, err));
    }
}

static cuzk_code add_line(cuzk_record *r, const line *l, cuzk_err *err)
{
    if (l->has_epoch) { /* the daemon was started again: its clock and numbers are new */
        cuzk_record_clear(r);
        r->epoch_wall_us = l->epoch;
    }
    if (l->lost > UINT64_MAX - r->lost) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "more than 2^64 lost events");
    }
    r->lost += l->lost;
    if (l->has_event && l->known_event) {
        CUZK_TRY(cuzk_record_add(r, &l->e, err));
    }
    if (l->e.job && l->has_id) {
        cuzk_job_name name = l->name;
        name.number = l->e.job;
        CUZK_TRY(cuzk_record_name(r, &name, err));
    }
    return CUZK_OK;
}

static int by_seq(const void *a, const void *b)
{
    uint64_t x = ((const cuzk_event *)a)->seq, y = ((const cuzk_event *)b)->seq;
    return (x > y) - (x < y);
}

static cuzk_code parse_lines(cuzk_record *r, cuzk_span text, const char *name, cuzk_err *err)
{
    size_t number = 1;
    for (size_t at = 0; at < text.n; number++) {
        const uint8_t *p = text.p + at;
        const uint8_t *newline = memchr(p, '\n', text.n - at);
        size_t n = newline ? (size_t)(newline - p) : text.n - at;
        /* Whatever a log puts before the object, e.g. a time and a host, is passed over. */
        const uint8_t *brace = memchr(p, '{', n);
        cuzk_span span = {brace, brace ? n - (size_t)(brace - p) : 0};
        line l;
        if (is_timeline(span)) {
            cuzk_err why;
            char where[300];
            snprintf(where, sizeof where, "%.200s: line %zu", name, number);
            cuzk_code code = read_line(&l, span, where, &why);
            if (code == CUZK_OK) {
                code = add_line(r, &l, &why);
            } else if (!newline) {
                break; /* the writer was cut off */
            }
            if (code != CUZK_OK) {
                if (err) {
                    *err = why;
                }
                return code;
            }
        }
        at += n + 1;
    }
    return CUZK_OK;
}

cuzk_code cuzk_record_parse(cuzk_record *ret, cuzk_span text, const char *name, cuzk_err *err)
{
    cuzk_record r = {0};
    cuzk_code code = parse_lines(&r, text, name, err);
    if (code == CUZK_OK && r.n == 0) {
        code = CUZK_FAIL(err, CUZK_E_INPUT, "%s: no line in it is an event of a timeline", name);
    }
    if (code != CUZK_OK) {
        cuzk_record_clear(&r);
        return code;
    }
    if (r.n > 1) {
        qsort(r.events, r.n, sizeof *r.events, by_seq);
    }
    *ret = r;
    return CUZK_OK;
}
