#include "cli.h"

#include "groth16/formats/formats.h"

#include <stdarg.h>
#include <stdlib.h>

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

cuzk_code cli_parse(const struct argp *argp, int argc, char **argv, void *options,
                    cli_common *common, cuzk_err *err)
{
    *common = cli_global;
    return program_parse(argp, options, &cli_common_argp, common, argc, argv, err);
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

bool cli_looks_like_json(cuzk_span bytes)
{
    bool opened = false;
    for (size_t i = 0; i < bytes.n; i++) {
        uint8_t c = bytes.p[i];
        bool space = c == ' ' || c == '\t' || c == '\r' || c == '\n';
        if ((c < ' ' && !space) || c > '~') {
            return false;
        }
        if (!opened && !space) {
            if (c != '{' && c != '[') {
                return false;
            }
            opened = true;
        }
    }
    return opened;
}

cuzk_code cli_is_json(bool *ret, const char *name, cuzk_err *err)
{
    cuzk_file_map map;
    CUZK_TRY(cuzk_file_map_open(&map, name, err));
    *ret = cli_ends_with(name, ".json") || cli_looks_like_json(map.bytes);
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

void cli_say(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    putchar('\n');
}

void cli_say_times(const cuzk_prove_times *t)
{
#define X(phase) printf(#phase " %.1f ms, ", (double)t->phase##_ns / 1e6);
    CUZK_PROVE_PHASES(X)
#undef X
    cli_say("total %.1f ms", (double)t->total_ns / 1e6);
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
