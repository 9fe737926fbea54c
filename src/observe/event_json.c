#include "observe/text.h"
#include "observe/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The longest string has every byte escaped to six. */
_Static_assert(6 * (CUZK_JOB_ID + CUZK_JOB_KIND + CUZK_EVENT_DETAIL) + 300 <= CUZK_EVENT_JSON_MAX,
               "an event fits its buffer");

/* A string with its quotes at p; returns the end. The drain thread should not allocate. */
static char *put_string(char *p, const char *s)
{
    *p++ = '"';
    while (*s) {
        size_t n = cuzk_text_char(s);
        unsigned char c = (unsigned char)*s;
        if (n == 0) {
            memcpy(p, "\\ufffd", 6);
            p += 6;
            n = 1;
        } else if (c == '"' || c == '\\') {
            *p++ = '\\';
            *p++ = *s;
        } else if (c < 0x20 || c == 0x7f || c == '<') {
            p += sprintf(p, "\\u%04x", c);
        } else {
            memcpy(p, s, n);
            p += n;
        }
        s += n;
    }
    *p++ = '"';
    return p;
}

size_t cuzk_event_json(char buf[CUZK_EVENT_JSON_MAX], const cuzk_event *e,
                       const cuzk_job_name *name)
{
    char *p = buf;
    p += sprintf(
        p, "{\"target\":\"TIMELINE\",\"seq\":%" PRIu64 ",\"t_us\":%" PRIu64 ",\"event\":\"%s\"",
        e->seq, e->t_us, cuzk_event_name(e->kind));
    if (e->job) {
        p += sprintf(p, ",\"job\":%" PRIu64, e->job);
    }
    if (e->job && name) {
        p += sprintf(p, ",\"job_id\":");
        p = put_string(p, name->id);
        p += sprintf(p, ",\"proof_kind\":");
        p = put_string(p, name->kind);
    }
    if (e->partition >= 0) {
        p += sprintf(p, ",\"partition\":%" PRId32, e->partition);
    }
    if (e->worker >= 0) {
        p += sprintf(p, ",\"worker\":%d", e->worker);
    }
    if (e->device >= 0) {
        p += sprintf(p, ",\"device\":%d", e->device);
    }
    if (e->value) {
        p += sprintf(p, ",\"value\":%" PRId64, e->value);
    }
    if (e->detail[0]) {
        p += sprintf(p, ",\"detail\":");
        p = put_string(p, e->detail);
    }
    *p++ = '}';
    *p = 0;
    return (size_t)(p - buf);
}

size_t cuzk_epoch_json(char buf[CUZK_EVENT_JSON_MAX], uint64_t epoch_wall_us)
{
    return (size_t)snprintf(buf, CUZK_EVENT_JSON_MAX,
                            "{\"target\":\"TIMELINE\",\"epoch_wall_us\":%" PRIu64 "}",
                            epoch_wall_us);
}

const char *cuzk_event_name(unsigned kind)
{
    switch (kind) {
#define X(k, name, worker, value)                                                                  \
    case k:                                                                                        \
        return name;
        CUZK_EVENT_MAP(X)
#undef X
    default:
        return "?";
    }
}
