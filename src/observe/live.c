#include "observe/live.h"

#include "observe/text.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MINUTE_US = 60000000, MAX_GAPS = 500 };

/* The last minutes up to now, of what the ring still has. The caller clears both. */
static cuzk_code analyse_last(cuzk_record *record, cuzk_analysis *ret, uint64_t now_us,
                              uint64_t minutes, cuzk_err *err)
{
    uint64_t span = minutes * MINUTE_US;
    uint64_t from = now_us > span ? now_us - span : 1;
    return cuzk_analyse(ret, record, from, now_us > from ? now_us : from, err);
}

static int longest_first(const void *a, const void *b)
{
    const cuzk_gap *x = a, *y = b;
    uint64_t p = x->end_us - x->start_us, q = y->end_us - y->start_us;
    return (p < q) - (p > q);
}

/* Sorts the gaps of the analysis, which is at its end. */
static void put_gaps(cuzk_text *t, cuzk_analysis *a)
{
    if (a->n_gaps > MAX_GAPS) {
        qsort(a->gaps, a->n_gaps, sizeof *a->gaps, longest_first);
    }
    cuzk_text_str(t, ",\"gaps\":[");
    for (size_t i = 0; i < a->n_gaps && i < MAX_GAPS; i++) {
        const cuzk_gap *g = &a->gaps[i];
        cuzk_text_printf(
            t, "%s{\"device\":%d,\"start_us\":%" PRIu64 ",\"end_us\":%" PRIu64 ",\"cause\":\"%s\"}",
            i ? "," : "", g->device, g->start_us, g->end_us, cuzk_idle_name(g->cause));
    }
    cuzk_text_str(t, "]");
}

static cuzk_code put_recent_gaps(cuzk_text *text, cuzk_timeline *t, uint64_t now_us, cuzk_err *err)
{
    cuzk_record record;
    cuzk_analysis a;
    CUZK_TRY(cuzk_record_take(&record, t, 0, err));
    cuzk_code code = analyse_last(&record, &a, now_us, 10, err);
    if (code == CUZK_OK) {
        put_gaps(text, &a);
        cuzk_analysis_clear(&a);
    }
    cuzk_record_clear(&record);
    return code;
}

static cuzk_code put_events(cuzk_text *text, cuzk_timeline *t, uint64_t cursor, uint64_t now_us,
                            cuzk_err *err)
{
    cuzk_event *events = malloc(CUZK_LIVE_EVENTS * sizeof *events);
    if (!events) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %d events", CUZK_LIVE_EVENTS);
    }
    uint64_t lost = 0, end = cuzk_timeline_next(t);
    if (cursor == CUZK_LIVE_NEWEST) {
        cursor = end > CUZK_LIVE_EVENTS ? end - CUZK_LIVE_EVENTS : 0;
    }
    size_t n = cuzk_timeline_read(t, &cursor, 0, events, CUZK_LIVE_EVENTS, &lost);
    /* An event that is just being written ended the reading: it is not there yet. */
    end = n < CUZK_LIVE_EVENTS || end < cursor ? cursor : end;
    cuzk_text_printf(text,
                     "{\"epoch_wall_us\":%" PRIu64 ",\"now_us\":%" PRIu64 ",\"next\":%" PRIu64
                     ",\"end\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"events\":[",
                     cuzk_timeline_epoch_wall_us(t), now_us, cursor, end, lost);
    for (size_t i = 0; i < n; i++) {
        char json[CUZK_EVENT_JSON_MAX];
        cuzk_job_name name;
        bool named = cuzk_timeline_job_name(t, events[i].job, &name);
        size_t len = cuzk_event_json(json, &events[i], named ? &name : NULL);
        cuzk_text_str(text, i ? ",\n" : "\n");
        cuzk_text_put(text, json, len);
    }
    cuzk_text_str(text, "]");
    free(events);
    return CUZK_OK;
}

cuzk_code cuzk_live_timeline(char **ret, size_t *ret_n, cuzk_timeline *t, uint64_t cursor,
                             cuzk_err *err)
{
    cuzk_text text = {0};
    uint64_t now_us = cuzk_timeline_now_us(t);
    cuzk_code code = put_events(&text, t, cursor, now_us, err);
    if (code == CUZK_OK) {
        code = put_recent_gaps(&text, t, now_us, err);
    }
    if (code != CUZK_OK) {
        free(text.p);
        return code;
    }
    cuzk_text_str(&text, "}");
    return cuzk_text_take(&text, ret, ret_n, err);
}

static double busy_of(const cuzk_analysis *a, int16_t device)
{
    for (size_t i = 0; i < a->n_devices; i++) {
        if (a->devices[i].device == device) {
            return cuzk_utilisation(a, &a->devices[i], false);
        }
    }
    return 0;
}

static void put_device(cuzk_text *t, const cuzk_analysis *one, const cuzk_analysis *ten, size_t i)
{
    const cuzk_device_summary *d = &one->devices[i];
    cuzk_text_printf(t, "%s{\"device\":%d,\"busy_1m\":%.4f,\"busy_10m\":%.4f,\"idle_1m\":{",
                     i ? "," : "", d->device, cuzk_utilisation(one, d, false),
                     busy_of(ten, d->device));
    uint64_t window = one->to_us - one->from_us;
    const char *comma = "";
    for (unsigned c = 0; c < CUZK_IDLE_COUNT; c++) {
        if (d->idle_us[c] > 0 && window > 0) {
            cuzk_text_printf(t, "%s\"%s\":%.4f", comma, cuzk_idle_name((cuzk_idle_cause)c),
                             (double)d->idle_us[c] / (double)window);
            comma = ",";
        }
    }
    cuzk_text_str(t, "}}");
}

static void put_utilisation(cuzk_text *t, const cuzk_analysis *one, const cuzk_analysis *ten)
{
    char verdict[320];
    cuzk_text_str(t, "{\"gpu\":[");
    for (size_t i = 0; i < one->n_devices; i++) {
        put_device(t, one, ten, i);
    }
    cuzk_verdict(ten, verdict, sizeof verdict);
    cuzk_text_str(t, "],\"verdict\":");
    cuzk_text_json(t, verdict);
    cuzk_text_str(t, "}");
}

cuzk_code cuzk_live_utilisation(char **ret, size_t *ret_n, cuzk_timeline *t, cuzk_err *err)
{
    cuzk_record record;
    cuzk_analysis one, ten;
    cuzk_text text = {0};
    CUZK_TRY(cuzk_record_take(&record, t, 0, err));
    uint64_t now_us = cuzk_timeline_now_us(t);
    cuzk_code code = analyse_last(&record, &one, now_us, 1, err);
    if (code == CUZK_OK) {
        code = analyse_last(&record, &ten, now_us, 10, err);
        if (code == CUZK_OK) {
            put_utilisation(&text, &one, &ten);
            cuzk_analysis_clear(&ten);
        }
        cuzk_analysis_clear(&one);
    }
    cuzk_record_clear(&record);
    if (code != CUZK_OK) {
        free(text.p);
        return code;
    }
    return cuzk_text_take(&text, ret, ret_n, err);
}
