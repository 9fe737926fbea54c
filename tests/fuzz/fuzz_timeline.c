#include "observe/render.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds) {
        abort();
    }
}

/* Whatever parses is analysed and drawn, and what is written of it reads back the same. */
static void use(const cuzk_record *r)
{
    cuzk_err err;
    char *text;
    size_t n;
    check(cuzk_record_format(r, &text, &n, &err) == CUZK_OK);
    cuzk_record again;
    check(cuzk_record_parse(&again, (cuzk_span){(const uint8_t *)text, n}, "again", &err) ==
          CUZK_OK);
    check(again.n == r->n && again.lost == r->lost);
    uint64_t sum = 0; /* events that have the same seq may change places */
    for (size_t i = 0; i < r->n; i++) {
        sum += r->events[i].t_us + r->events[i].kind + (uint64_t)r->events[i].value;
        sum -= again.events[i].t_us + again.events[i].kind + (uint64_t)again.events[i].value;
    }
    check(sum == 0);
    cuzk_record_clear(&again);
    free(text);
    cuzk_analysis a;
    if (cuzk_analyse(&a, r, 0, 0, &err) != CUZK_OK) {
        return; /* too many devices */
    }
    static cuzk_code (*const render[])(char **, size_t *, const cuzk_analysis *,
                                       const cuzk_render_options *, cuzk_err *) = {
        cuzk_render_text, cuzk_render_svg, cuzk_render_html, cuzk_render_trace};
    for (size_t i = 0; i < sizeof render / sizeof render[0]; i++) {
        check(render[i](&text, &n, &a, NULL, &err) == CUZK_OK && strlen(text) == n);
        free(text);
    }
    cuzk_analysis_clear(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cuzk_record r;
    cuzk_err err;
    if (cuzk_record_parse(&r, (cuzk_span){data, size}, "fuzz.log", &err) == CUZK_OK) {
        use(&r);
        cuzk_record_clear(&r);
    }
    return 0;
}
