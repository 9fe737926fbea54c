/* test_cuda [--small] [--seed N] [NAME..]: runs the checks, or those named, on the current device.
 */
#include "checks.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t check_u64(check_ctx *c)
{
    uint64_t z = c->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void check_fr_array(check_ctx *c, fr *a, size_t n)
{
    fr one = fr_one, minus, two;
    fr_neg(&minus, &one);
    fr_dbl(&two, &one);
    const fr edges[] = {fr_zero, one, minus, two};
    for (size_t i = 0; i < n; i++) {
        if (i < sizeof edges / sizeof *edges) {
            a[i] = edges[i];
            continue;
        }
        do {
            for (int k = 0; k < FR_LIMBS; k++) {
                a[i].l[k] = check_u64(c);
            }
            a[i].l[FR_LIMBS - 1] >>= 1;
        } while (!fr_is_reduced(&a[i]));
    }
}

void check_fp_array(check_ctx *c, fp *a, size_t n)
{
    fp one = fp_one, minus, two;
    fp_neg(&minus, &one);
    fp_dbl(&two, &one);
    const fp edges[] = {fp_zero, one, minus, two};
    for (size_t i = 0; i < n; i++) {
        if (i < sizeof edges / sizeof *edges) {
            a[i] = edges[i];
            continue;
        }
        do {
            for (int k = 0; k < FP_LIMBS; k++) {
                a[i].l[k] = check_u64(c);
            }
            a[i].l[FP_LIMBS - 1] >>= 3;
        } while (!fp_is_reduced(&a[i]));
    }
}

typedef struct check {
    const char *name, *what;
    bool (*run)(check_ctx *c);
} check;

static const check checks[] = {
#define X(name, what) {#name, what, check_##name},
    CHECK_MAP(X)
#undef X
};

static bool wanted(const char *name, char **names, int n)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return n == 0;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    bool small = false;
    uint64_t seed = (uint64_t)time(NULL);
    int i = 1;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (strcmp(argv[i], "--small") == 0) {
            small = true;
        } else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
            seed = strtoull(argv[++i], NULL, 0);
        } else {
            fprintf(stderr, "usage: test_cuda [--small] [--seed N] [NAME..]\n");
            return 2;
        }
    }
    printf("seed %llu\n", (unsigned long long)seed);
    int run = 0, failed = 0;
    for (size_t k = 0; k < sizeof checks / sizeof *checks; k++) {
        if (!wanted(checks[k].name, argv + i, argc - i)) {
            continue;
        }
        check_ctx c = {.state = seed + k, .small = small};
        double start = seconds();
        bool ok = checks[k].run(&c);
        printf("%-6s %-12s %6.2f s  %s%s%s\n", ok ? "ok" : "FAILED", checks[k].name,
               seconds() - start, checks[k].what, ok ? "" : ": ", ok ? "" : c.why);
        fflush(stdout);
        run++;
        failed += !ok;
    }
    printf("%d checks, %d failed\n", run, failed);
    return run == 0 || failed ? 1 : 0;
}
