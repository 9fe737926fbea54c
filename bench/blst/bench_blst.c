#include "../bench.h"

#include "math/field/fp8.h"
#include "math/msm/msm.h"

#include <blst.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Multi-scalar multiplication and Fp multiplication against blst, on one thread, in one run. Both
 * results are compared before anything is timed. A first argument keeps only the lines that contain
 * it.
 */

#define REPEATS 3

_Static_assert(sizeof(blst_p1_affine) == sizeof(g1_affine) && sizeof(blst_p1) == sizeof(g1) &&
                   sizeof(blst_p2_affine) == sizeof(g2_affine) && sizeof(blst_p2) == sizeof(g2),
               "both libraries keep points as Montgomery limbs with radix 2^384");

static const char *only = "";
static bool wrong;

static bool wanted(const char *line) { return strstr(line, only) != NULL; }

static void print(const char *line, double ours_ns, double blst_ns, double unit_ns,
                  const char *unit)
{
    printf("%s 1t: ours %.1f %s, blst %.1f %s, ratio %.2f\n", line, ours_ns / unit_ns, unit,
           blst_ns / unit_ns, unit, blst_ns / ours_ns);
    fflush(stdout);
}

static fr_repr *scalars(size_t n, bool bits)
{
    fr_repr *k = malloc(n * sizeof *k);
    uint64_t seed = n;
    for (size_t i = 0; k && i < n; i++) {
        do {
            for (int j = 0; j < FR_LIMBS; j++) {
                k[i].l[j] = bench_u64(&seed);
            }
            k[i].l[FR_LIMBS - 1] >>= 1;
        } while (!fr_repr_is_canonical(&k[i]));
        if (bits) {
            k[i] = (fr_repr){{k[i].l[0] & 1}};
        }
    }
    return k;
}

#define GROUP_BENCH(G, F, P, PIPPENGER, SCRATCH)                                                   \
    typedef struct G##_sum {                                                                       \
        size_t n;                                                                                  \
        const G##_affine *p;                                                                       \
        const fr_repr *k;                                                                          \
        limb_t *scratch;                                                                           \
        G ours;                                                                                    \
        P theirs;                                                                                  \
    } G##_sum;                                                                                     \
                                                                                                   \
    static G##_affine *G##_points(size_t n)                                                        \
    {                                                                                              \
        G##_affine *p = malloc(n * sizeof *p);                                                     \
        G *jacobian = malloc(n * sizeof *jacobian);                                                \
        F *scratch = malloc(n * sizeof *scratch);                                                  \
        if (!p || !jacobian || !scratch) {                                                         \
            return NULL;                                                                           \
        }                                                                                          \
        G##_from_affine(&jacobian[0], &G##_generator);                                             \
        for (size_t i = 1; i < n; i++) {                                                           \
            G##_add_affine(&jacobian[i], &jacobian[i - 1], &G##_generator);                        \
        }                                                                                          \
        G##_batch_to_affine(p, jacobian, n, scratch);                                              \
        free(scratch);                                                                             \
        free(jacobian);                                                                            \
        return p;                                                                                  \
    }                                                                                              \
                                                                                                   \
    static void G##_ours(void *ctx)                                                                \
    {                                                                                              \
        G##_sum *s = ctx;                                                                          \
        cuzk_err err;                                                                              \
        if (msm_##G(&s->ours, s->p, s->k, s->n, NULL, &err) != CUZK_OK) {                          \
            fprintf(stderr, "%s\n", err.msg);                                                      \
            exit(4);                                                                               \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void G##_blst(void *ctx)                                                                \
    {                                                                                              \
        G##_sum *s = ctx;                                                                          \
        const P##_affine *points[] = {(const P##_affine *)s->p, NULL};                             \
        const byte *bytes[] = {(const byte *)s->k, NULL};                                          \
        PIPPENGER(&s->theirs, points, s->n, bytes, 255, s->scratch);                               \
    }                                                                                              \
                                                                                                   \
    static void G##_bench(const char *scalar_kind, unsigned log_n)                                 \
    {                                                                                              \
        char line[3][64];                                                                          \
        bool any = false;                                                                          \
        for (math_isa isa = MATH_ISA_PORTABLE; isa <= MATH_ISA_IFMA; isa++) {                      \
            snprintf(line[isa], sizeof line[isa], "%s_msm%s%s %s 2^%u", #G,                        \
                     isa == MATH_ISA_IFMA ? "" : "-",                                              \
                     isa == MATH_ISA_IFMA ? "" : math_isa_name(isa), scalar_kind, log_n);          \
            any = any || wanted(line[isa]);                                                        \
        }                                                                                          \
        if (!any) {                                                                                \
            return;                                                                                \
        }                                                                                          \
        size_t n = (size_t)1 << log_n;                                                             \
        G##_sum s = {.n = n, .scratch = malloc(SCRATCH(n))};                                       \
        G##_affine *p = G##_points(n);                                                             \
        fr_repr *k = scalars(n, strcmp(scalar_kind, "bits") == 0);                                 \
        if (!p || !k || !s.scratch) {                                                              \
            fprintf(stderr, "no memory for 2^%u points\n", log_n);                                 \
            exit(4);                                                                               \
        }                                                                                          \
        s.p = p;                                                                                   \
        s.k = k;                                                                                   \
        double blst_ns = bench_min_ns(G##_blst, &s, REPEATS);                                      \
        G theirs;                                                                                  \
        memcpy(&theirs, &s.theirs, sizeof theirs);                                                 \
        for (int i = MATH_ISA_IFMA; i >= MATH_ISA_PORTABLE; i--) {                                 \
            if (!wanted(line[i]) || math_isa_limit((math_isa)i) != (math_isa)i) {                  \
                continue;                                                                          \
            }                                                                                      \
            G##_ours(&s);                                                                          \
            if (!G##_eq(&s.ours, &theirs)) {                                                       \
                printf("%s: results differ\n", line[i]);                                           \
                wrong = true;                                                                      \
                continue;                                                                          \
            }                                                                                      \
            print(line[i], bench_min_ns(G##_ours, &s, REPEATS), blst_ns, 1e6, "ms");               \
        }                                                                                          \
        math_isa_limit(MATH_ISA_IFMA);                                                             \
        free(p);                                                                                   \
        free(k);                                                                                   \
        free(s.scratch);                                                                           \
    }

GROUP_BENCH(g1, fp, blst_p1, blst_p1s_mult_pippenger, blst_p1s_mult_pippenger_scratch_sizeof)
GROUP_BENCH(g2, fp2, blst_p2, blst_p2s_mult_pippenger, blst_p2s_mult_pippenger_scratch_sizeof)

#define PRODUCTS 64
#define ROUNDS   2000

typedef struct products {
    fp a[PRODUCTS], b[PRODUCTS], r[PRODUCTS];
} products;

static void mul_ours(void *ctx)
{
    products *x = ctx;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < PRODUCTS; i++) {
            fp_mul(&x->r[i], &x->a[i], &x->b[i]);
        }
        bench_touch(x);
    }
}

static void mul_blst(void *ctx)
{
    products *x = ctx;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < PRODUCTS; i++) {
            blst_fp_mul((blst_fp *)&x->r[i], (blst_fp *)&x->a[i], (blst_fp *)&x->b[i]);
        }
        bench_touch(x);
    }
}

#ifdef CUZK_X86_64
typedef struct lanes {
    fp8_lanes a[PRODUCTS / 8], b[PRODUCTS / 8], r[PRODUCTS / 8];
} lanes;

static void mul_ifma(void *ctx)
{
    lanes *x = ctx;
    for (int round = 0; round < ROUNDS; round++) {
        fp8_mul_many(x->r, x->a, x->b, PRODUCTS / 8);
        bench_touch(x);
    }
}
#endif

static void bench_fp_mul(void)
{
    if (!wanted("fp_mul")) {
        return;
    }
    static products x;
    uint64_t seed = 1;
    for (int i = 0; i < PRODUCTS; i++) {
        x.a[i] = fp_from_u64(bench_u64(&seed));
        x.b[i] = fp_from_u64(bench_u64(&seed));
    }
    double count = PRODUCTS * ROUNDS;
    mul_blst(&x);
    products y = x;
    mul_ours(&x);
    if (memcmp(x.r, y.r, sizeof x.r) != 0) {
        printf("fp_mul: results differ\n");
        wrong = true;
    }
    double blst_ns = bench_min_ns(mul_blst, &x, 10) / count;
#ifdef CUZK_X86_64
    static lanes v;
    for (int i = 0; i < PRODUCTS / 8; i++) {
        for (int j = 0; j < 64; j++) {
            v.a[i].limb[j / 8][j % 8] = bench_u64(&seed) >> (j / 8 == 7 ? 48 : 12);
            v.b[i].limb[j / 8][j % 8] = bench_u64(&seed) >> (j / 8 == 7 ? 48 : 12);
        }
    }
    if (math_isa_level >= MATH_ISA_IFMA) {
        print("fp_mul", bench_min_ns(mul_ifma, &v, 10) / count, blst_ns, 1, "ns");
    }
    if (math_isa_limit(MATH_ISA_ADX) == MATH_ISA_ADX) {
        print("fp_mul-adx", bench_min_ns(mul_ours, &x, 10) / count, blst_ns, 1, "ns");
    }
#endif
    math_isa_limit(MATH_ISA_PORTABLE);
    print("fp_mul-portable", bench_min_ns(mul_ours, &x, 10) / count, blst_ns, 1, "ns");
    math_isa_limit(MATH_ISA_IFMA);
}

int main(int argc, char **argv)
{
    only = argc > 1 ? argv[1] : "";
    bench_fp_mul();
    g1_bench("uniform", 18);
    g1_bench("uniform", 20);
    g1_bench("bits", 18);
    g1_bench("bits", 20);
    g2_bench("uniform", 16);
    g2_bench("uniform", 18);
    return wrong ? 1 : 0;
}
