#include "cli.h"

#include "groth16/formats/formats.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_THREADS = 1024, KEY_THREADS = 0x1000 };

cli_common cli_global;

static const struct argp_option common_options[] = {
    {"threads", KEY_THREADS, "N", 0,
     "Work on N threads (default: CUZK_THREADS, else one for each processor)", 100},
    {0},
};

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
    cli_common *common = state->input;
    if (key != KEY_THREADS) {
        return ARGP_ERR_UNKNOWN;
    }
    common->threads = arg;
    return 0;
}

const struct argp cli_common_argp = {.options = common_options, .parser = parse_common};

/* Hands the two inputs on to the two parsers. */
typedef struct inputs {
    const struct argp *own;
    void *options;
    cli_common *common;
} inputs;

static error_t hand_on(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    inputs *in = state->input;
    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = in->options;
        state->child_inputs[1] = in->common;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

cuzk_code cli_parse(const struct argp *argp, int argc, char **argv, void *options,
                    cli_common *common, cuzk_err *err)
{
    const struct argp own = {.options = argp->options, .parser = argp->parser};
    const struct argp_child children[] = {{&own, 0, NULL, 0}, {&cli_common_argp, 0, NULL, 0}, {0}};
    const struct argp whole = {
        .parser = hand_on, .args_doc = argp->args_doc, .doc = argp->doc, .children = children};
    inputs in = {&own, options, common};
    *common = cli_global;
    if (argp_parse(&whole, argc, argv, 0, NULL, &in) != 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "the arguments cannot be read");
    }
    return CUZK_OK;
}

cuzk_code cli_require(const char *value, const char *option, cuzk_err *err)
{
    return value ? CUZK_OK : CUZK_FAIL(err, CUZK_E_ARG, "%s is missing", option);
}

cuzk_code cli_pool(cuzk_pool **ret, const cli_common *common, cuzk_err *err)
{
    const char *text = common->threads, *from = "--threads";
    if (!text) {
        text = getenv("CUZK_THREADS");
        from = "CUZK_THREADS";
    }
    unsigned long n = 0;
    if (text) {
        char *end;
        n = strtoul(text, &end, 10);
        if (*text < '0' || *text > '9' || *end || n < 1 || n > MAX_THREADS) {
            return CUZK_FAIL(err, CUZK_E_ARG, "%s is a number from 1 to %d, not \"%s\"", from,
                             MAX_THREADS, text);
        }
    }
    return cuzk_pool_new(ret, (unsigned)n, err);
}

bool cli_ends_with(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);
    return n > k && strcmp(name + n - k, suffix) == 0;
}

cuzk_code cli_is_json(bool *ret, const char *name, cuzk_err *err)
{
    cuzk_file_map map;
    CUZK_TRY(cuzk_file_map_open(&map, name, err));
    size_t i = 0;
    while (i < map.bytes.n && strchr(" \t\r\n", map.bytes.p[i]) && map.bytes.p[i]) {
        i++;
    }
    *ret = i < map.bytes.n && (map.bytes.p[i] == '{' || map.bytes.p[i] == '[');
    cuzk_file_map_close(&map);
    return CUZK_OK;
}

cuzk_code cli_has_magic(bool *ret, const char *name, const char *magic, cuzk_err *err)
{
    cuzk_file_map map;
    CUZK_TRY(cuzk_file_map_open(&map, name, err));
    *ret = map.bytes.n >= 4 && memcmp(map.bytes.p, magic, 4) == 0;
    cuzk_file_map_close(&map);
    return CUZK_OK;
}

cuzk_code cli_vk_read(cuzk_vk *ret, const char *name, cuzk_err *err)
{
    bool json;
    CUZK_TRY(cli_is_json(&json, name, err));
    return json ? cuzk_vk_json_read(ret, name, err)
                : cuzk_vk_read(ret, name, POINT_CHECK_SUBGROUP, err);
}

enum { BAR_WIDTH = 32, BAR_DELAY_NS = 1000000000, BAR_PERIOD_NS = 100000000 };

static void draw(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
    cli_bar *bar = ctx;
    uint64_t now = cuzk_clock_ns();
    if (!bar->terminal || now - bar->start_ns < BAR_DELAY_NS ||
        now - bar->shown_ns < BAR_PERIOD_NS) {
        return;
    }
    double part = total ? (double)done / (double)total : 1;
    int filled = (int)(part * BAR_WIDTH);
    static const char full[] = "################################";
    fprintf(stderr, "\r\033[K%-14s [%.*s%*s] %3.0f %%", phase, filled, full, BAR_WIDTH - filled, "",
            100 * part);
    fflush(stderr);
    bar->shown_ns = now;
    bar->drawn = true;
}

cli_bar cli_bar_new(void)
{
    return (cli_bar){cuzk_clock_ns(), 0, isatty(STDERR_FILENO) == 1, false};
}

cuzk_progress cli_bar_progress(cli_bar *bar) { return (cuzk_progress){draw, bar}; }

void cli_bar_end(cli_bar *bar)
{
    if (bar->drawn) {
        fputs("\r\033[K", stderr);
    }
    bar->drawn = false;
}

void cli_say(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    putchar('\n');
}

void cli_format_bytes(char text[32], uint64_t bytes)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1000 && unit < 4) {
        value /= 1000;
        unit++;
    }
    snprintf(text, 32, value < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}
