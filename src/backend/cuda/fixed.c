#include "backend/cuda/fixed.h"

#include "backend/cuda/each_setup.h"
#include "math/curve/g1.h"
#include "math/curve/g2.h"

enum {
    BITS = 255,
    WIDEST = 16,
    TO_AN_INVERSION = 32, /* an inversion costs as much as 60 products: 2 to each point */
};

typedef cuzk_code fill_fn(const cuzk_cuda_fixed_fill_job *, uint64_t, cuzk_cuda_stream, cuzk_err *);
typedef cuzk_code sum_fn(const cuzk_cuda_fixed_sum_job *, uint64_t, cuzk_cuda_stream, cuzk_err *);
typedef cuzk_code affine_fn(const cuzk_cuda_fixed_affine_job *, uint64_t, cuzk_cuda_stream,
                            cuzk_err *);

/* The generator times 1, 2^width, 2^(2 width), … */
#define BASES(G)                                                                                   \
    static void G##_bases(void *ret, unsigned width, unsigned windows)                             \
    {                                                                                              \
        G##_affine *base = ret;                                                                    \
        G p;                                                                                       \
        G##_from_affine(&p, &G##_generator);                                                       \
        for (unsigned w = 0; w < windows; w++) {                                                   \
            G##_to_affine(&base[w], &p);                                                           \
            for (unsigned i = 0; i < width; i++) {                                                 \
                G##_dbl(&p, &p);                                                                   \
            }                                                                                      \
        }                                                                                          \
    }

BASES(g1)
BASES(g2)

struct cuzk_cuda_fixed_group {
    size_t affine_bytes, sum_bytes;
    void (*bases)(void *ret, unsigned width, unsigned windows);
    fill_fn *fill;
    sum_fn *sum;
    affine_fn *affine;
};

static const struct cuzk_cuda_fixed_group groups[] = {
    {sizeof(g1_affine), 2 * sizeof(g1_affine), g1_bases, cuzk_cuda_fixed_g1_fill,
     cuzk_cuda_fixed_g1_sum, cuzk_cuda_fixed_g1_affine},
    {sizeof(g2_affine), 2 * sizeof(g2_affine), g2_bases, cuzk_cuda_fixed_g2_fill,
     cuzk_cuda_fixed_g2_sum, cuzk_cuda_fixed_g2_affine},
};

static unsigned windows_of(unsigned width) { return (BITS + width - 1) / width; }

unsigned cuzk_cuda_fixed_width(uint64_t products)
{
    unsigned best = 1;
    uint64_t least = UINT64_MAX;
    for (unsigned width = 1; width <= WIDEST; width++) {
        uint64_t additions = windows_of(width) * (((uint64_t)1 << width) + products);
        if (additions < least) {
            least = additions;
            best = width;
        }
    }
    return best;
}

static cuzk_code fill(const cuzk_cuda_fixed *f, cuzk_cuda_stream stream, cuzk_err *err)
{
    union {
        g1_affine g1[BITS];
        g2_affine g2[BITS];
    } bases;
    size_t bytes = f->group->affine_bytes;
    CUZK_TRY(cuzk_cuda_zero(f->table.p, f->table.bytes, stream, err));
    f->group->bases(&bases, f->width, f->windows);
    for (unsigned w = 0; w < f->windows; w++) {
        void *entry = (uint8_t *)f->table.p + (((size_t)w << f->width) + 1) * bytes;
        CUZK_TRY(cuzk_cuda_upload(entry, (const uint8_t *)&bases + w * bytes, bytes, stream, err));
    }
    for (unsigned k = 0; k < f->width; k++) {
        cuzk_cuda_fixed_fill_job job = {f->table.p, f->width, k};
        CUZK_TRY(f->group->fill(&job, (uint64_t)f->windows << k, stream, err));
    }
    return CUZK_OK;
}

cuzk_code cuzk_cuda_fixed_new(cuzk_cuda_fixed *ret, bool in_g2, unsigned width, uint64_t chunk,
                              cuzk_cuda_memory *m, cuzk_cuda_stream stream, cuzk_err *err)
{
    *ret = (cuzk_cuda_fixed){.group = &groups[in_g2], .memory = m, .width = width, .chunk = chunk};
    if (width == 0 || width > WIDEST) {
        return CUZK_FAIL(err, CUZK_E_ARG, "digits of %u bits, 1 to %d were expected", width,
                         WIDEST);
    }
    ret->windows = windows_of(width);
    uint64_t entries = (uint64_t)ret->windows << width;
    CUZK_TRY(cuzk_cuda_take(m, &ret->table, entries * ret->group->affine_bytes,
                            "the table of a generator's multiples", err));
    CUZK_TRY(
        cuzk_cuda_take(m, &ret->sums, chunk * ret->group->sum_bytes, "a chunk of products", err));
    return fill(ret, stream, err);
}

void cuzk_cuda_fixed_clear(cuzk_cuda_fixed *f)
{
    if (f->memory) {
        cuzk_cuda_give(f->memory, &f->table);
        cuzk_cuda_give(f->memory, &f->sums);
    }
    *f = (cuzk_cuda_fixed){0};
}

cuzk_code cuzk_cuda_fixed_mul(const cuzk_cuda_fixed *f, void *ret, const dfr *k, uint64_t n,
                              cuzk_cuda_stream stream, cuzk_err *err)
{
    if (n > f->chunk) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%llu products, there is room for %llu",
                         (unsigned long long)n, (unsigned long long)f->chunk);
    }
    uint64_t stride = (n + TO_AN_INVERSION - 1) / TO_AN_INVERSION;
    cuzk_cuda_fixed_sum_job sum = {f->table.p, k, f->sums.p, f->width, f->windows};
    cuzk_cuda_fixed_affine_job affine = {f->sums.p, ret, n, stride};
    CUZK_TRY(f->group->sum(&sum, n, stream, err));
    return f->group->affine(&affine, stride, stream, err);
}
