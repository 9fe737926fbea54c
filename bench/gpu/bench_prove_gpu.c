#include "benches.h"

#include "backend/cuda/prove.h"
#include "base/system.h"
#include "vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/*
 * A PoRep of 32 GiB: the stages of its ten partitions, and the whole. `prove` sets the key up on
 * the card; `stream` reads it from the file that CUZK_BENCH_PARAMS names (made by `cuzk setup
 * --device`, from the same secrets) and proves with less and less device memory.
 */

enum { PARTITIONS = 10, PROOFS = 5, RUNS = PARTITIONS * PROOFS };

static const char circuit[] = "porep-32GiB";

/* The statement with its circuit, and the port values of all partitions. */
typedef struct porep {
    cuzk_circuit_id id;
    cuzk_statement *statement;
    cuzk_shape *shape; /* until a prover takes it */
    cuzk_ports ports[PARTITIONS];
    cuzk_partition_task tasks[PARTITIONS];
    double ports_s; /* of the host, for a proof */
} porep;

static bool told(cuzk_code code, const cuzk_err *err)
{
    if (code != CUZK_OK) {
        fprintf(stderr, "bench_cuda: %s\n", err->msg);
    }
    return code == CUZK_OK;
}

static double cpu_s(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static cuzk_code make_tasks(porep *p, cuzk_err *err)
{
    double start = cpu_s();
    for (unsigned k = 0; k < PARTITIONS; k++) {
        CUZK_TRY(cuzk_statement_ports(p->statement, k, p->shape, &p->ports[k], err));
        CUZK_TRY(vector_task(&p->tasks[k], circuit, p->shape, &p->ports[k], err));
    }
    p->ports_s = cpu_s() - start;
    return CUZK_OK;
}

static bool porep_open(porep *p)
{
    static const char *const files[] = {"c1-32GiB.bincode", NULL};
    cuzk_err err;
    memset(p, 0, sizeof *p);
    cuzk_code code = vector_statement(&p->statement, &p->id, circuit, files, &err);
    code = code == CUZK_OK ? cuzk_circuit_shape(&p->shape, &p->id, &err) : code;
    return told(code == CUZK_OK ? make_tasks(p, &err) : code, &err);
}

static void porep_close(porep *p)
{
    for (unsigned k = 0; k < PARTITIONS; k++) {
        cuzk_ports_clear(&p->ports[k]);
    }
    cuzk_shape_free(p->shape);
    cuzk_statement_free(p->statement);
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static double median_ms(const cuzk_partition_result *results, unsigned n, size_t at)
{
    uint64_t ns[RUNS];
    for (unsigned i = 0; i < n; i++) {
        memcpy(&ns[i], (const uint8_t *)&results[i] + at, sizeof ns[i]);
    }
    qsort(ns, n, sizeof *ns, ascending);
    return (double)ns[n / 2] / 1e6;
}

/* The least that each stage could take on an H200, at the card's measured rates (ms): six
 * transforms of 20.4, 1.6 G additions at 4.43 G/s, the ones at the rates of single sums. */
static double limit_ms(const char *phase)
{
    static const struct {
        const char *phase;
        double ms;
    } limits[] = {{"expand", 3}, {"eval", 5},   {"ntt", 122},  {"h_msm", 369},
                  {"l_msm", 20}, {"a_msm", 20}, {"b1_msm", 9}, {"b2_msm", 22}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (strcmp(limits[i].phase, phase) == 0) {
            return limits[i].ms;
        }
    }
    return 0;
}

/* The rows of n partitions that took `wall_s` in all; returns what the stages of all take. */
static double print_stages(const cuzk_partition_result *results, unsigned n, double wall_s)
{
    double sum = 0, limits = 0, all = 0;
#define X(phase)                                                                                   \
    {                                                                                              \
        double ms = median_ms(results, n, offsetof(cuzk_partition_result, times.phase##_ns));      \
        bench_row(#phase, circuit, ms, limit_ms(#phase));                                          \
        sum += ms;                                                                                 \
        limits += limit_ms(#phase);                                                                \
        for (unsigned i = 0; i < n; i++) {                                                         \
            all += (double)results[i].times.phase##_ns / 1e6;                                      \
        }                                                                                          \
    }
    CUZK_DEVICE_PHASES(X)
#undef X
    bench_row("partition, stages", circuit, sum, limits);
    bench_row("partition, wall", circuit, 1e3 * wall_s / n, limits);
    bench_row("proof of ten", circuit, 1e3 * wall_s / n * PARTITIONS, limits * PARTITIONS);
    return all;
}

/* Proves n partitions, one after the other. */
static bool prove_all(cuzk_cuda_prover *prover, const porep *p, cuzk_partition_result *results,
                      unsigned n, double *ret_wall_s)
{
    uint64_t start = cuzk_clock_ns();
    for (unsigned i = 0; i < n; i++) {
        cuzk_err err;
        if (!told(cuzk_cuda_prove(prover, &results[i], &p->tasks[i % PARTITIONS], &err), &err)) {
            return false;
        }
    }
    *ret_wall_s = (double)(cuzk_clock_ns() - start) / 1e9;
    return true;
}

static uint64_t free_memory(void)
{
    cuzk_device_info info = {0};
    return cuzk_cuda_describe(&info, NULL) == CUZK_OK ? info.memory_free - ((uint64_t)1 << 30) : 0;
}

static bool time_proofs(cuzk_cuda_prover *prover, const porep *p)
{
    cuzk_partition_result *results = calloc(RUNS, sizeof *results);
    double wall_s = 0, cpu = cpu_s();
    struct rusage u;
    bool ok = results && prove_all(prover, p, results, 1, &wall_s);
    ok = ok && prove_all(prover, p, results, RUNS, &wall_s);
    if (ok) {
        double busy = print_stages(results, RUNS, wall_s);
        getrusage(RUSAGE_SELF, &u);
        printf("%d proofs: the card works %.1f %% of %.2f s; the host %.2f core-s a proof, port "
               "values %.2f of them; at most %.2f GiB resident\n",
               PROOFS, busy / wall_s / 10, wall_s, (cpu_s() - cpu) / PROOFS + p->ports_s,
               p->ports_s, (double)u.ru_maxrss / (1 << 20));
    }
    free(results);
    return ok;
}

bool bench_prove(void)
{
    porep p;
    cuzk_err err;
    cuzk_trapdoor secrets;
    cuzk_cuda_prover *prover;
    cuzk_load_times times;
    cuzk_cuda_memory memory = {.budget = free_memory()};
    bool ok = porep_open(&p) && told(cuzk_trapdoor_named(&secrets, "ref", &err), &err) &&
              told(cuzk_cuda_prover_setup(&prover, p.shape, &secrets, &memory, &times, &err), &err);
    if (ok) {
        p.shape = NULL; /* the prover's */
        bench_row("key, set up", circuit, (double)times.key_ns / 1e6, 0);
        ok = time_proofs(prover, &p);
        cuzk_cuda_prover_free(prover);
    }
    porep_close(&p);
    return ok;
}

/* One budget: loads, proves three partitions, compares the first with `proof`, which is filled by
 * the first budget. */
static bool stream_row(porep *p, uint64_t budget, const char *params, uint8_t proof[192])
{
    enum { N = 3 };
    cuzk_partition_result results[N];
    cuzk_cuda_memory memory = {.budget = budget};
    cuzk_cuda_prover *prover;
    cuzk_load_times times;
    cuzk_err err;
    double wall_s;
    static const uint8_t none[192];
    if (!told(cuzk_cuda_prover_new(&prover, p->shape, params, &memory, &times, &err), &err)) {
        return false;
    }
    p->shape = NULL;
    printf("budget %.1f GiB: key read in %.2f s, %.2f GiB of it pinned\n",
           (double)budget / (1 << 30), (double)times.key_ns / 1e9,
           (double)cuzk_cuda_prover_layout(prover)->pinned_bytes / (1 << 30));
    bool ok = prove_all(prover, p, results, N, &wall_s);
    if (ok) {
        (void)print_stages(results, N, wall_s);
        ok = memcmp(proof, none, 192) == 0 || memcmp(proof, results[0].proof, 192) == 0;
        memcpy(proof, results[0].proof, 192);
        printf("most device memory: %.2f GiB%s\n", (double)atomic_load(&memory.peak) / (1 << 30),
               ok ? "" : "; ANOTHER PROOF");
    }
    cuzk_cuda_prover_free(prover);
    return ok;
}

bool bench_stream(void)
{
    const char *params = getenv("CUZK_BENCH_PARAMS");
    const uint64_t budgets[] = {free_memory(), (uint64_t)24 << 30, (uint64_t)16 << 30};
    uint8_t proof[192] = {0};
    bool ok = true;
    if (!params) {
        printf("stream: skipped, CUZK_BENCH_PARAMS names no key of %s\n", circuit);
        return true;
    }
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets && ok; i++) {
        porep p;
        ok = porep_open(&p) && stream_row(&p, budgets[i], params, proof);
        porep_close(&p);
    }
    return ok;
}
