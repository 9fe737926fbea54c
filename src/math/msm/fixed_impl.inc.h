/*
 * Many multiples of one point, included by fixed_g1.c and fixed_g2.c after sums.inc.h. For each
 * window of the scalar, of c bits, the table holds the multiples 1 … 2^(c-1) of 2^lo times the
 * base, so that a product is a sum of one table entry, or its negative, for each window.
 */

#define BITS   255
#define WIDEST 16
#define SHARE  4096 /* products that a thread computes at a time */

/* The struct's tag and the public names. */
#define FIXED_TYPE     GROUP_PASTE(msm_fixed_, GROUP)
#define FIXED_NAME(id) GROUP_PASTE(FIXED_TYPE, id)

struct FIXED_TYPE {
    msm_windows windows;
    size_t first[BITS + 1]; /* where each window's multiples begin */
    AFFINE *multiple;
};

static size_t multiples_of(msm_windows s, unsigned w)
{
    unsigned lo, hi;
    msm_window(s, w, &lo, &hi);
    return (size_t)1 << (hi - lo - 1);
}

/* The windows for which the table and `uses` products take the fewest additions. */
static msm_windows windows_for_uses(size_t uses) { return msm_windows_for(uses, BITS, WIDEST); }

/* The base of each window: 2^lo times the point. */
static void fill_bases(FIXED_TYPE *t, const AFFINE *base)
{
    GROUP p, power[BITS + 1];
    AFFINE affine[BITS + 1];
    FIELD scratch[BITS + 1];
    G_(_from_affine)(&p, base);
    unsigned bit = 0;
    for (unsigned w = 0; w < t->windows.count; w++) {
        unsigned lo, hi;
        msm_window(t->windows, w, &lo, &hi);
        for (; bit < lo; bit++) {
            G_(_dbl)(&p, &p);
        }
        power[w] = p;
    }
    G_(_batch_to_affine)(affine, power, t->windows.count, scratch);
    for (unsigned w = 0; w < t->windows.count; w++) {
        t->multiple[t->first[w]] = affine[w];
    }
}

typedef struct fill_ctx {
    FIXED_TYPE *t;
    sums **sums;
} fill_ctx;

/* The other multiples of one window, twice as many in each round: from 1 … m to m + 1 … 2m. */
static void fill_window(void *context, size_t w, unsigned worker)
{
    const fill_ctx *x = context;
    AFFINE *multiple = x->t->multiple + x->t->first[w];
    sums *s = x->sums[worker];
    size_t n = multiples_of(x->t->windows, (unsigned)w);
    for (size_t m = 1; m < n; m *= 2) {
        for (size_t i = 0; i < m; i++) {
            sums_begin(s, &multiple[m + i]);
            sums_item(s, ref(&multiple[m - 1]));
            sums_item(s, ref(&multiple[i]));
            sums_end(s);
        }
        sums_flush(s);
    }
    for (size_t i = 1; i < n; i++) {
        canonical(&multiple[i]);
    }
}

static void sums_free_all(sums **s, unsigned n)
{
    for (unsigned i = 0; s && i < n; i++) {
        free(s[i]);
    }
    free(s);
}

/* One for each thread of the pool; NULL without memory. */
static sums **sums_new_all(unsigned n)
{
    sums **s = calloc(n, sizeof(sums *));
    for (unsigned i = 0; s && i < n; i++) {
        s[i] = sums_new();
        if (!s[i]) {
            sums_free_all(s, n);
            return NULL;
        }
    }
    return s;
}

cuzk_code FIXED_NAME(_new)(FIXED_TYPE **ret, const AFFINE *base, size_t uses, cuzk_pool *pool,
                           cuzk_err *err)
{
    unsigned threads = cuzk_pool_size(pool);
    FIXED_TYPE *t = calloc(1, sizeof *t);
    sums **s = sums_new_all(threads);
    size_t n = 0;
    if (t) {
        t->windows = windows_for_uses(uses ? uses : 1);
        for (unsigned w = 0; w < t->windows.count; w++) {
            t->first[w] = n;
            n += multiples_of(t->windows, w);
        }
        t->multiple = aligned_alloc(64, (n * sizeof *t->multiple + 63) / 64 * 64);
    }
    if (!t || !s || !t->multiple) {
        sums_free_all(s, threads);
        FIXED_NAME(_free)(t);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a table of %zu points", n);
    }
    fill_bases(t, base);
    fill_ctx x = {t, s};
    cuzk_pool_run(pool, t->windows.count, fill_window, &x);
    sums_free_all(s, threads);
    *ret = t;
    return CUZK_OK;
}

void FIXED_NAME(_free)(FIXED_TYPE *t)
{
    if (t) {
        free(t->multiple);
        free(t);
    }
}

typedef struct mul_ctx {
    const FIXED_TYPE *t;
    AFFINE *ret;
    const fr_repr *k;
    size_t n;
    sums **sums;
} mul_ctx;

static void mul_share(void *context, size_t index, unsigned worker)
{
    const mul_ctx *x = context;
    const FIXED_TYPE *t = x->t;
    sums *s = x->sums[worker];
    size_t end = (index + 1) * SHARE < x->n ? (index + 1) * SHARE : x->n;
    for (size_t i = index * SHARE; i < end; i++) {
        sums_begin(s, &x->ret[i]);
        for (unsigned w = 0; w < t->windows.count; w++) {
            unsigned lo, hi;
            uint32_t negative;
            msm_window(t->windows, w, &lo, &hi);
            uint32_t d = msm_digit(msm_full_bits(&x->k[i], lo, hi), hi - lo, &negative);
            if (d) {
                sums_item(s, ref(&t->multiple[t->first[w] + d - 1]) | negative);
            }
        }
        sums_end(s);
    }
    sums_flush(s);
    for (size_t i = index * SHARE; i < end; i++) {
        canonical(&x->ret[i]);
    }
}

cuzk_code FIXED_NAME(_mul)(const FIXED_TYPE *t, AFFINE *ret, const fr_repr *k, size_t n,
                           cuzk_pool *pool, cuzk_err *err)
{
    unsigned threads = cuzk_pool_size(pool);
    sums **s = sums_new_all(threads);
    if (!s) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu products on %u threads", n,
                         threads);
    }
    mul_ctx x = {t, ret, k, n, s};
    cuzk_pool_run(pool, (n + SHARE - 1) / SHARE, mul_share, &x);
    sums_free_all(s, threads);
    return CUZK_OK;
}
