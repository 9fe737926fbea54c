#include "checks.h"

#include "backend/cuda/msm.h"
#include "backend/cuda/msm_finish.h"
#include "known.h"
#include "math/msm/msm.h"

#include <stdlib.h>
#include <string.h>

/* What one sum needs on the host and on the card. */
typedef struct msm_case {
    msm_group group;
    uint32_t n;
    size_t point; /* bytes of one */
    void *points, *scratch, *table;
    uint32_t *which; /* on the card; NULL for all in order */
    fr_repr *scalars;
    void *sums; /* of windows, on the host */
    msm_plan plan;
} msm_case;

static void case_free(msm_case *m)
{
    cudaFree(m->points);
    cudaFree(m->scalars);
    cudaFree(m->scratch);
    cudaFree(m->table);
    cudaFree(m->which);
    free(m->sums);
}

/* Points with known logarithms and room for the rest; width 0: the plan's own. */
static bool case_new(check_ctx *c, msm_case *m, msm_group group, uint32_t n, unsigned width,
                     uint64_t bytes)
{
    cuzk_err err;
    msm_limits limits;
    *m = (msm_case){.group = group, .n = n, .point = group == MSM_G1 ? 96 : 192};
    CHECK_OK(c,
             (group == MSM_G1 ? cuzk_cuda_msm_g1_limits : cuzk_cuda_msm_g2_limits)(&limits, &err),
             err);
    CHECK_OK(c, cuzk_cuda_msm_plan(&m->plan, group, n, width, limits, bytes, &err), err);
    CHECK_CUDA(c, cudaMalloc(&m->table, KNOWN_TABLE * m->point));
    CHECK_CUDA(c, known_table(group == MSM_G1 ? 1 : 2, m->table));
    CHECK_CUDA(c, cudaMalloc(&m->points, n * m->point));
    CHECK_CUDA(c, cudaMalloc((void **)&m->scalars, n * sizeof *m->scalars));
    CHECK_CUDA(c, cudaMalloc(&m->scratch, m->plan.at.total));
    CHECK_CUDA(c, cudaMemset(m->scratch, 0xa5, m->plan.at.total));
    CHECK_CUDA(c, known_points(group == MSM_G1 ? 1 : 2, m->points, m->table, n));
    m->sums = malloc(m->plan.windows * 2 * m->point);
    return m->sums || CHECK_FAIL(c, "no memory");
}

static bool case_run(check_ctx *c, msm_case *m, msm_scalars form)
{
    cuzk_err err;
    CHECK_OK(c,
             (m->group == MSM_G1 ? cuzk_cuda_msm_g1_start : cuzk_cuda_msm_g2_start)(
                 &m->plan, m->points, m->which, m->scalars, form, m->scratch, NULL, &err),
             err);
    CHECK_CUDA(
        c, cudaMemcpy(m->sums, m->scratch, m->plan.windows * 2 * m->point, cudaMemcpyDeviceToHost));
    return true;
}

/* Where windows switch: around the sizes of the table of widths, and around a block's threads. */
static const uint32_t sizes[] = {1,   2,    3,    4,    5,    8,    9,     31,    33,    64,   100,
                                 129, 1000, 1025, 4097, 8192, 8193, 20000, 32769, 65535, 65536};

/* What a sum takes with the smallest chunks. */
static uint64_t least_scratch(msm_group group, uint32_t n)
{
    cuzk_err err;
    msm_limits limits;
    msm_plan p;
    uint64_t bytes = UINT64_MAX;
    (group == MSM_G1 ? cuzk_cuda_msm_g1_limits : cuzk_cuda_msm_g2_limits)(&limits, &err);
    while (cuzk_cuda_msm_plan(&p, group, n, 0, limits, bytes - 1, &err) == CUZK_OK) {
        bytes = p.at.total;
    }
    return bytes;
}

/* Points and scalars with edges at random places, against the host's sum; the host's memory. */
#define EDGES(G, GROUP)                                                                            \
    static void G##_edges(check_ctx *c, G##_affine *p, fr_repr *k, uint32_t n)                     \
    {                                                                                              \
        for (uint32_t i = 0; i < n; i++) {                                                         \
            fr_repr one = {{1}}, zero = {{0}};                                                     \
            uint32_t other = (uint32_t)(check_u64(c) % n);                                         \
            switch (check_u64(c) % 12) {                                                           \
            case 0:                                                                                \
                memset(&p[i], 0, sizeof p[i]);                                                     \
                break; /* infinity */                                                              \
            case 1:                                                                                \
                p[i] = p[other];                                                                   \
                break;                                                                             \
            case 2:                                                                                \
                G##_affine_neg(&p[i], &p[other]);                                                  \
                break;                                                                             \
            case 3:                                                                                \
                k[i] = zero;                                                                       \
                break;                                                                             \
            case 4:                                                                                \
                k[i] = one;                                                                        \
                break;                                                                             \
            case 5:                                                                                \
                mont_sub_raw(k[i].l, fr_modulus.l, one.l, FR_LIMBS);                               \
                break; /* r - 1 */                                                                 \
            case 6:                                                                                \
                k[i] = k[other];                                                                   \
                p[i] = p[n / 2];                                                                   \
                break;                                                                             \
            default:                                                                               \
                break;                                                                             \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* For some sizes, scalar i goes with any point. */                                            \
    static bool G##_choose(check_ctx *c, msm_case *m, G##_affine *p)                               \
    {                                                                                              \
        uint32_t n = m->n, *which = malloc(n * sizeof *which);                                     \
        G##_affine *all = malloc(n * sizeof *all);                                                 \
        if (!which || !all) {                                                                      \
            return CHECK_FAIL(c, "no memory");                                                     \
        }                                                                                          \
        memcpy(all, p, n * sizeof *all);                                                           \
        for (uint32_t i = 0; i < n; i++) {                                                         \
            which[i] = (uint32_t)(check_u64(c) % n);                                               \
            p[i] = all[which[i]];                                                                  \
        }                                                                                          \
        CHECK_CUDA(c, cudaMalloc((void **)&m->which, n * sizeof *which));                          \
        CHECK_CUDA(c, cudaMemcpy(m->which, which, n * sizeof *which, cudaMemcpyHostToDevice));     \
        free(which);                                                                               \
        free(all);                                                                                 \
        return true;                                                                               \
    }                                                                                              \
                                                                                                   \
    static bool G##_one(check_ctx *c, msm_case *m, G##_affine *p, fr_repr *k, msm_scalars form)    \
    {                                                                                              \
        cuzk_err err;                                                                              \
        uint32_t n = m->n;                                                                         \
        CHECK_CUDA(c, known_scalars(m->scalars, n, KNOWN_UNIFORM, check_u64(c)));                  \
        CHECK_CUDA(c, cudaMemcpy(p, m->points, n * sizeof *p, cudaMemcpyDeviceToHost));            \
        CHECK_CUDA(c, cudaMemcpy(k, m->scalars, n * sizeof *k, cudaMemcpyDeviceToHost));           \
        G##_edges(c, p, k, n);                                                                     \
        CHECK_CUDA(c, cudaMemcpy(m->points, p, n * sizeof *p, cudaMemcpyHostToDevice));            \
        CHECK_CUDA(c, cudaMemcpy(m->scalars, k, n * sizeof *k, cudaMemcpyHostToDevice));           \
        if (n % 3 == 0 && !G##_choose(c, m, p)) {                                                  \
            return false;                                                                          \
        }                                                                                          \
        if (form == MSM_MONTGOMERY) {                                                              \
            CHECK_CUDA(c, known_to_montgomery(m->scalars, n));                                     \
        }                                                                                          \
        if (!case_run(c, m, form)) {                                                               \
            return false;                                                                          \
        }                                                                                          \
        G got = cuzk_cuda_msm_##G##_finish(&m->plan, m->sums), want;                               \
        CHECK_OK(c, msm_##G(&want, p, k, n, NULL, &err), err);                                     \
        return G##_eq(&got, &want) ||                                                              \
               CHECK_FAIL(c, "%u points, windows of %u bits", n, m->plan.width);                   \
    }                                                                                              \
                                                                                                   \
    static bool G##_size(check_ctx *c, uint32_t n, unsigned width, uint64_t bytes)                 \
    {                                                                                              \
        msm_case m;                                                                                \
        G##_affine *p = malloc(n * sizeof *p);                                                     \
        fr_repr *k = malloc(n * sizeof *k);                                                        \
        bool ok = p && k && case_new(c, &m, GROUP, n, width, bytes) &&                             \
                  G##_one(c, &m, p, k, n % 2 ? MSM_INTEGERS : MSM_MONTGOMERY);                     \
        case_free(&m);                                                                             \
        free(p);                                                                                   \
        free(k);                                                                                   \
        return ok;                                                                                 \
    }                                                                                              \
                                                                                                   \
    bool check_msm_##G(check_ctx *c)                                                               \
    {                                                                                              \
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {                                \
            if (c->small && sizes[i] > 1000) {                                                     \
                break;                                                                             \
            }                                                                                      \
            if (!G##_size(c, sizes[i], 0, (uint64_t)8 << 30)) {                                    \
                return false;                                                                      \
            }                                                                                      \
        }                                                                                          \
        for (unsigned width = MSM_MIN_WIDTH; width <= 16 && !c->small; width++) {                  \
            if (!G##_size(c, 1500, width, (uint64_t)8 << 30)) {                                    \
                return false;                                                                      \
            }                                                                                      \
        }                                                                                          \
        /* so little memory that the trees of a batch are summed in many chunks */                 \
        return c->small || G##_size(c, 65536, 0, least_scratch(GROUP, 65536));                     \
    }

EDGES(g1, MSM_G1)
EDGES(g2, MSM_G2)

/* A sum of points with known logarithms. */
static bool known_sum(check_ctx *c, msm_case *m, enum known_kind kind)
{
    fr_repr log;
    CHECK_CUDA(c, known_scalars(m->scalars, m->n, kind, check_u64(c)));
    CHECK_CUDA(c, known_log(log.l, m->scalars, m->n));
    if (!case_run(c, m, MSM_INTEGERS)) {
        return false;
    }
    bool ok;
    if (m->group == MSM_G1) {
        g1 got = cuzk_cuda_msm_g1_finish(&m->plan, m->sums), want;
        g1_from_affine(&want, &g1_generator);
        g1_mul(&want, &want, &log);
        ok = g1_eq(&got, &want);
    } else {
        g2 got = cuzk_cuda_msm_g2_finish(&m->plan, m->sums), want;
        g2_from_affine(&want, &g2_generator);
        g2_mul(&want, &want, &log);
        ok = g2_eq(&got, &want);
    }
    return ok || CHECK_FAIL(c, "G%u, %u points, scalars of kind %d", m->group == MSM_G1 ? 1u : 2u,
                            m->n, (int)kind);
}

bool check_msm_large(check_ctx *c)
{
    static const uint32_t n[] = {300000, 1 << 20, (1 << 22) + 1, 1 << 24, (1 << 25) + 3, 1 << 27};
    for (unsigned i = 0; i < 9; i++) {
        msm_group group = i < 6 ? MSM_G1 : MSM_G2;
        msm_case m;
        bool ok = case_new(c, &m, group, c->small ? 100 : n[i % 6], 0, (uint64_t)16 << 30);
        for (int kind = KNOWN_UNIFORM; kind <= KNOWN_SMALL && ok; kind++) {
            ok = known_sum(c, &m, (enum known_kind)kind);
        }
        case_free(&m);
        if (!ok) {
            return false;
        }
    }
    /* so little memory that buckets go over many chunks */
    msm_case m;
    bool ok = c->small || (case_new(c, &m, MSM_G1, 1 << 20, 0, least_scratch(MSM_G1, 1 << 20)) &&
                           known_sum(c, &m, KNOWN_SKEWED) && known_sum(c, &m, KNOWN_UNIFORM));
    if (!c->small) {
        case_free(&m);
    }
    return ok;
}

/* The sum of the points whose scalar is 1, by bitmap. */
static bool ones_run(check_ctx *c, msm_case *m, const fr_repr *k)
{
    cuzk_err err;
    uint32_t words = (m->n + 31) / 32, *bits = calloc(words, sizeof *bits);
    void *device;
    if (!bits) {
        return CHECK_FAIL(c, "no memory");
    }
    for (uint32_t i = 0; i < m->n; i++) {
        bits[i / 32] |= (uint32_t)k[i].l[0] << (i % 32);
    }
    if (m->n % 32) {
        bits[words - 1] |= ~0u << (m->n % 32); /* bits beyond the end mean nothing */
    }
    CHECK_CUDA(c, cudaMalloc(&device, words * sizeof *bits));
    CHECK_CUDA(c, cudaMemcpy(device, bits, words * sizeof *bits, cudaMemcpyHostToDevice));
    CHECK_OK(c,
             (m->group == MSM_G1 ? cuzk_cuda_ones_g1_start : cuzk_cuda_ones_g2_start)(
                 &m->plan, m->points, device, m->scratch, NULL, &err),
             err);
    CHECK_CUDA(c, cudaMemcpy(m->sums, m->scratch, 2 * m->point, cudaMemcpyDeviceToHost));
    cudaFree(device);
    free(bits);
    return true;
}

/* density: so many of 16 bits are set. */
static bool ones_size(check_ctx *c, msm_group group, uint32_t n, unsigned density, uint64_t bytes)
{
    msm_case m;
    msm_limits limits;
    cuzk_err err;
    fr_repr log, *k = malloc(n * sizeof *k);
    if (!k || !case_new(c, &m, group, n, 0, (uint64_t)16 << 30)) {
        return CHECK_FAIL(c, "no memory");
    }
    limits = m.plan.limits;
    CHECK_OK(c, cuzk_cuda_ones_plan(&m.plan, group, n, limits, bytes, &err), err);
    CHECK_CUDA(c, cudaFree(m.scratch));
    CHECK_CUDA(c, cudaMalloc(&m.scratch, m.plan.at.total));
    CHECK_CUDA(c, cudaMemset(m.scratch, 0xa5, m.plan.at.total));
    for (uint32_t i = 0; i < n; i++) {
        k[i] = (fr_repr){{check_u64(c) % 16 < density}};
    }
    CHECK_CUDA(c, cudaMemcpy(m.scalars, k, n * sizeof *k, cudaMemcpyHostToDevice));
    CHECK_CUDA(c, known_log(log.l, m.scalars, n));
    if (!ones_run(c, &m, k)) {
        return false;
    }
    bool ok;
    if (group == MSM_G1) {
        g1 got = cuzk_cuda_msm_g1_finish(&m.plan, m.sums), want;
        g1_from_affine(&want, &g1_generator);
        g1_mul(&want, &want, &log);
        ok = g1_eq(&got, &want);
    } else {
        g2 got = cuzk_cuda_msm_g2_finish(&m.plan, m.sums), want;
        g2_from_affine(&want, &g2_generator);
        g2_mul(&want, &want, &log);
        ok = g2_eq(&got, &want);
    }
    case_free(&m);
    free(k);
    return ok || CHECK_FAIL(c, "G%u, %u bits, %u of 16 set", group == MSM_G1 ? 1u : 2u, n, density);
}

bool check_ones(check_ctx *c)
{
    static const uint32_t n[] = {1, 2, 31, 32, 33, 1023, 1025, 5000, 100000, (1 << 22) + 5};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
        if (c->small && n[i] > 5000) {
            break;
        }
        for (int group = MSM_G1; group <= MSM_G2; group++) {
            for (unsigned density = 0; density <= 16; density += 8) {
                if (!ones_size(c, (msm_group)group, n[i], density, (uint64_t)16 << 30)) {
                    return false;
                }
            }
        }
    }
    /* many chunks */
    return c->small || ones_size(c, MSM_G1, 3 << 20, 8, (uint64_t)600 << 20);
}
