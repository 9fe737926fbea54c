#include "bench.h"

#include "base/file.h"
#include "base/system.h"
#include "filecoin/check.h"
#include "filecoin/generate.h"
#include "filecoin/read.h"
#include "filecoin/write.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The vanilla proof of a 32 GiB sector: made, read in its three forms, and checked. Limits: one
 * core; 2 s to make it; 0.3 s and 64 MiB beyond the input to read the wrapper.
 */

enum { REPEATS = 7 };

typedef struct reading {
    cuzk_span bytes;
    cuzk_porep porep;
} reading;

static void must(cuzk_code code, const cuzk_err *err)
{
    if (code != CUZK_OK) {
        fprintf(stderr, "bench_inputs: %s\n", err->msg);
        exit(1);
    }
}

static void make(void *ctx)
{
    cuzk_err err;
    cuzk_porep *p = ctx;
    cuzk_porep_clear(p);
    must(cuzk_porep_generate(p, cuzk_sector_named("32GiB"), NULL, NULL, &err), &err);
}

static void read_once(void *ctx)
{
    cuzk_err err;
    reading *r = ctx;
    cuzk_porep_clear(&r->porep);
    must(cuzk_porep_read(&r->porep, r->bytes, "proof", NULL, &err), &err);
}

static void check(void *ctx)
{
    cuzk_err err;
    must(cuzk_porep_check(ctx, "proof", NULL, &err), &err);
}

/* Makes the peak of resident memory start again from what is resident now, and returns that. */
static uint64_t reset_peak(void)
{
    malloc_trim(0);
    FILE *f = fopen("/proc/self/clear_refs", "w");
    if (f) {
        fputs("5", f);
        fclose(f);
    }
    return cuzk_peak_rss_bytes();
}

/* A file of that form, copied to memory so that no page of the file itself counts. */
static cuzk_span load(const cuzk_porep *p, cuzk_porep_form form)
{
    char name[] = "bench-inputs-XXXXXX";
    cuzk_err err;
    cuzk_file_writer *w;
    cuzk_file_map map;
    int fd = mkstemp(name);
    if (fd < 0) {
        perror("bench_inputs");
        exit(1);
    }
    close(fd);
    must(cuzk_file_writer_open(&w, name, &err), &err);
    must(cuzk_porep_write(w, p, form, &err), &err);
    must(cuzk_file_writer_commit(w, &err), &err);
    must(cuzk_file_map_open(&map, name, &err), &err);
    unlink(name);
    uint8_t *copy = malloc(map.bytes.n);
    if (!copy) {
        exit(1);
    }
    memcpy(copy, map.bytes.p, map.bytes.n);
    cuzk_span bytes = {copy, map.bytes.n};
    cuzk_file_map_close(&map);
    return bytes;
}

int main(void)
{
    static const struct {
        const char *name;
        cuzk_porep_form form;
    } forms[] = {{"wrapper", CUZK_POREP_WRAPPER},
                 {"json", CUZK_POREP_JSON},
                 {"bincode", CUZK_POREP_BINCODE}};
    cuzk_porep p = {0};
    printf("%-16s %8.1f ms  limit 2000\n", "make", bench_min_ns(make, &p, 2) / 1e6);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        reading r = {.bytes = load(&p, forms[i].form)};
        const uint64_t before = reset_peak();
        read_once(&r);
        const uint64_t after = cuzk_peak_rss_bytes();
        const double ms = bench_min_ns(read_once, &r, REPEATS) / 1e6;
        printf("read %-11s %8.1f ms  %5.0f MB/s  %5.1f MiB beyond the input", forms[i].name, ms,
               (double)r.bytes.n / ms / 1e3, (double)(after - before) / (1 << 20));
        printf("%s\n", i == 0 ? "  limit 300 ms, 64 MiB" : "");
        cuzk_porep_clear(&r.porep);
        free((void *)(uintptr_t)r.bytes.p);
    }
    printf("%-16s %8.1f ms\n", "check", bench_min_ns(check, &p, 2) / 1e6);
    cuzk_porep_clear(&p);
    return 0;
}
