#include "math/ntt/ntt.h"

#include "math/ntt/ntt_pass.h"

#include <stdlib.h>

/*
 * The index i of the input is cut into digits, i = (i_1, i_2[, i_3]) from the top, and the index k
 * of the output into k = (.., k_2, k_1). With N_p the points below and in digit p, and n_p the
 * values of digit p:
 *
 *   pass p: for all other digits, transform along digit p, which turns i_p into k_p in its place,
 *           then, unless p is the last, multiply by w_{N_p}^(k_p (i_{p+1}, ..))
 *   swap:   exchange the first and the last digit, which have the same number of values
 *
 * (Bailey, FFTs in external or hierarchical memory, 1990). For two digits of unequal size the top
 * bit of k_1 is the middle digit of the exchange. A coset's g^i is a factor of row i_1 on the way
 * into the first pass and of the lane (i_2, ..) on the way out of it; the inverse coset's g^-k is
 * part of each twist's ratio and a factor of k on the way out of the last pass.
 */

enum {
    SMALL_LG = 6,      /* below, the textbook's loop */
    TWO_PASS_LG = 22,  /* up to here, two passes */
    TILE = 8,          /* side of a tile of the swap */
    CHUNKS_A_CPU = 16, /* tasks for each thread in a pass */
};

struct ntt_domain {
    unsigned lg;
    fr_root root;
    unsigned digits, digit_lg[3];
    ntt_twiddles twiddles[2]; /* forward, inverse; of pass_points entries each */
    size_t pass_points;
    unsigned low_lg; /* w^i = low[i mod 2^low_lg] high[i / 2^low_lg] */
    fr *low, *high;
    fr n_inv;
};

fr fr_root_of_unity(fr_root root, unsigned lg)
{
    static const fr roots[] = {{FR_ROOT_7}, {FR_ROOT_5}};
    fr w = roots[root];
    for (unsigned i = lg; i < FR_TWO_ADICITY; i++) {
        fr_sqr(&w, &w);
    }
    return w;
}

/* a_i = first g^i. */
static void powers(fr *a, size_t n, const fr *first, const fr *g)
{
    fr t = *first;
    for (size_t i = 0; i < n; i++) {
        a[i] = t;
        fr_mul(&t, &t, g);
    }
}

static fr power(const fr *g, uint64_t e)
{
    fr r;
    fr_pow(&r, g, &e, 1);
    return r;
}

/* w^e for e < 2^lg. */
static fr root_power(const ntt_domain *d, size_t e)
{
    fr r;
    fr_mul(&r, &d->low[e & (((size_t)1 << d->low_lg) - 1)], &d->high[e >> d->low_lg]);
    return r;
}

static void choose_digits(ntt_domain *d, unsigned two_pass_lg)
{
    d->digits = d->lg < SMALL_LG ? 0 : d->lg <= two_pass_lg ? 2 : 3;
    if (d->digits == 2) {
        d->digit_lg[0] = (d->lg + 1) / 2;
        d->digit_lg[1] = d->lg / 2;
    } else if (d->digits == 3) {
        d->digit_lg[0] = d->digit_lg[2] = (d->lg + 1) / 3;
        d->digit_lg[1] = d->lg - 2 * d->digit_lg[0];
    }
    d->pass_points = 2; /* even a small domain has some table, for simplicity */
    for (unsigned i = 0; i < d->digits; i++) {
        size_t points = (size_t)1 << d->digit_lg[i];
        d->pass_points = points > d->pass_points ? points : d->pass_points;
    }
}

static bool make_twiddles(ntt_twiddles *t, size_t n, fr_root root, bool inverse)
{
    t->scalar = malloc(n * sizeof *t->scalar);
    if (!t->scalar) {
        return false;
    }
    t->scalar[0] = fr_one; /* unused */
    for (size_t h = 1; h < n; h *= 2) {
        fr w = fr_root_of_unity(root, (unsigned)__builtin_ctzll(2 * h));
        if (inverse) {
            fr_inv(&w, &w);
        }
        powers(t->scalar + h, h, &fr_one, &w);
    }
#ifdef CUZK_X86_64
    if (math_isa_level >= MATH_ISA_IFMA) {
        t->vector = ntt_twiddles_ifma(t->scalar, n);
        return t->vector != NULL;
    }
#endif
    return true;
}

cuzk_code ntt_domain_new(ntt_domain **ret, unsigned lg, fr_root root, cuzk_err *err)
{
    return ntt_domain_new_passes(ret, lg, root, TWO_PASS_LG, err);
}

cuzk_code ntt_domain_new_passes(ntt_domain **ret, unsigned lg, fr_root root, unsigned two_pass_lg,
                                cuzk_err *err)
{
    if (lg > NTT_MAX_LG) {
        return CUZK_FAIL(err, CUZK_E_ARG, "a transform of 2^%u points; the limit is 2^%d", lg,
                         NTT_MAX_LG);
    }
    ntt_domain *d = calloc(1, sizeof *d);
    if (!d) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the tables of a 2^%u transform", lg);
    }
    d->lg = lg;
    d->root = root;
    choose_digits(d, two_pass_lg);
    d->low_lg = lg / 2;
    size_t low = (size_t)1 << d->low_lg, high = (size_t)1 << (lg - d->low_lg);
    d->low = malloc(low * sizeof *d->low);
    d->high = malloc(high * sizeof *d->high);
    if (!d->low || !d->high || !make_twiddles(&d->twiddles[0], d->pass_points, root, false) ||
        !make_twiddles(&d->twiddles[1], d->pass_points, root, true)) {
        ntt_domain_free(d);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the tables of a 2^%u transform", lg);
    }
    fr w = fr_root_of_unity(root, lg), w_low = fr_root_of_unity(root, lg - d->low_lg);
    powers(d->low, low, &fr_one, &w);
    powers(d->high, high, &fr_one, &w_low);
    d->n_inv = fr_from_u64((uint64_t)1 << lg);
    fr_inv(&d->n_inv, &d->n_inv);
    *ret = d;
    return CUZK_OK;
}

void ntt_domain_free(ntt_domain *d)
{
    if (!d) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        free(d->twiddles[i].scalar);
        free(d->twiddles[i].vector);
    }
    free(d->low);
    free(d->high);
    free(d);
}

/* A transform in progress. */
typedef struct transform {
    const ntt_domain *d;
    fr *a;
    cuzk_pool *pool;
    bool inverse;
    const fr *in_g;  /* the coset's generator for the forward direction, or NULL */
    const fr *out_g; /* its inverse for the inverse direction, or NULL */
} transform;

/* One pass of it. */
typedef struct job {
    const transform *t;
    ntt_pass pass;
    ntt_pass_fn *fn;
    size_t strips, chunks;
    size_t below; /* values of the digits below this one */
    size_t above; /* and of those above */
    fr ratio;     /* factor of each twist's step */
} job;

/* The twist of the lanes (i_{p+1}, ..) = first, first + 1, ... */
static void make_twist(const job *j, size_t first, ntt_twist *twist)
{
    const ntt_domain *d = j->t->d;
    const size_t n = (size_t)1 << d->lg;
    bool first_pass = j->above == 1;
    fr start = first_pass && j->t->inverse ? d->n_inv : fr_one;
    if (first_pass && j->t->in_g) {
        start = power(j->t->in_g, first);
    }
    for (size_t c = 0; c < NTT_LANES; c++) {
        size_t e = j->above * (first + c);
        fr w = root_power(d, j->t->inverse ? (n - e) & (n - 1) : e);
        fr_mul(&twist->step[c], &w, &j->ratio);
        twist->start[c] = start;
        if (first_pass && j->t->in_g) {
            fr_mul(&start, &start, j->t->in_g);
        }
    }
}

/* Row 0, lane 0 of a strip, and its first lane's number. */
static fr *strip_at(const job *j, size_t strip, size_t *ret_lane)
{
    size_t rows = (size_t)1 << j->pass.lg;
    if (j->below == 1) { /* the last pass: lanes are eight neighbours of the upper digits */
        *ret_lane = strip * NTT_LANES;
        return j->t->a + *ret_lane * rows;
    }
    size_t in_group = j->below / NTT_LANES;
    *ret_lane = strip % in_group * NTT_LANES;
    return j->t->a + strip / in_group * rows * j->below + *ret_lane;
}

static void run_chunk(void *ctx, size_t index, unsigned worker)
{
    (void)worker;
    const job *j = ctx;
    size_t begin, end;
    cuzk_split(j->strips, j->chunks, index, &begin, &end);
    for (size_t s = begin; s < end; s++) {
        size_t lane, next_lane;
        fr *strip = strip_at(j, s, &lane);
        const fr *next = s + 1 < end ? strip_at(j, s + 1, &next_lane) : NULL;
        ntt_twist twist;
        if (j->pass.twist) {
            make_twist(j, lane, &twist);
        }
        j->fn(&j->pass, strip, next, &twist);
    }
}

static void run_pass(const transform *t, unsigned p)
{
    const ntt_domain *d = t->d;
    job j = {.t = t, .fn = ntt_pass_scalar, .ratio = fr_one, .above = 1, .below = 1};
    for (unsigned i = 0; i < d->digits; i++) {
        *(i < p ? &j.above : &j.below) <<= i == p ? 0 : d->digit_lg[i];
    }
    const size_t rows = (size_t)1 << d->digit_lg[p];
    bool last = p + 1 == d->digits;
    fr scale[NTT_PASS_MAX];
    j.pass = (ntt_pass){.lg = d->digit_lg[p],
                        .rotate = p == 0 && d->digit_lg[0] != d->digit_lg[d->digits - 1],
                        .row_stride = last ? 1 : j.below,
                        .lane_stride = last ? rows : 1,
                        .twist = !last,
                        .twiddles = d->twiddles[t->inverse]};
    if (p == 0 && t->in_g) {
        fr g = power(t->in_g, j.below);
        powers(scale, rows, &fr_one, &g);
        j.pass.in_scale = scale;
    }
    if (t->out_g) {
        j.ratio = power(t->out_g, j.above);
        if (last) {
            powers(scale, rows, &fr_one, &j.ratio);
            j.pass.out_scale = scale;
        }
    }
#ifdef CUZK_X86_64
    if (math_isa_level >= MATH_ISA_IFMA && j.pass.twiddles.vector) {
        j.fn = ntt_pass_ifma;
    }
#endif
    j.strips = j.above * j.below / NTT_LANES;
    j.chunks = (size_t)CHUNKS_A_CPU * cuzk_pool_size(t->pool);
    j.chunks = j.chunks < j.strips ? j.chunks : j.strips;
    cuzk_pool_run(t->pool, j.chunks, run_chunk, &j);
}

/* The exchange of the first and last digit, both of 2^side_lg values, the middle of `middle`. */
typedef struct swap {
    fr *a;
    size_t side, middle;
} swap;

/* Exchanges tile (row, column) with the transpose of tile (column, row). */
static void swap_tiles(fr *a, fr *b, size_t stride)
{
    fr x[TILE][TILE], y[TILE][TILE];
    for (size_t i = 0; i < TILE; i++) {
        memcpy(x[i], a + i * stride, sizeof x[i]);
        memcpy(y[i], b + i * stride, sizeof y[i]);
    }
    for (size_t i = 0; i < TILE; i++) {
        for (size_t k = 0; k < TILE; k++) {
            a[i * stride + k] = y[k][i];
            b[i * stride + k] = x[k][i];
        }
    }
}

static void run_swap(void *ctx, size_t index, unsigned worker)
{
    (void)worker;
    const swap *s = ctx;
    const size_t tiles = s->side / TILE, stride = s->side * s->middle;
    fr *plane = s->a + index / tiles * s->side;
    size_t row = index % tiles * TILE;
    for (size_t column = row; column < s->side; column += TILE) {
        swap_tiles(plane + row * stride + column, plane + column * stride + row, stride);
    }
}

/* Fewer than 2^SMALL_LG points. */
static void small(const transform *t)
{
    const ntt_domain *d = t->d;
    const size_t n = (size_t)1 << d->lg;
    fr *a = t->a, f = fr_one;
    for (size_t i = 0; t->in_g && i < n; i++) {
        fr_mul(&a[i], &a[i], &f);
        fr_mul(&f, &f, t->in_g);
    }
    for (size_t i = 0; i < n; i++) {
        size_t k = ntt_bit_reverse(i, d->lg);
        if (i < k) {
            fr x = a[i];
            a[i] = a[k];
            a[k] = x;
        }
    }
    for (size_t h = 1; h < n; h *= 2) {
        for (size_t i = 0; i < n; i++) {
            if (!(i & h)) {
                size_t e = (i & (h - 1)) * (n / (2 * h));
                fr w = root_power(d, t->inverse ? (n - e) & (n - 1) : e), v;
                fr_mul(&v, &a[i + h], &w);
                fr_sub(&a[i + h], &a[i], &v);
                fr_add(&a[i], &a[i], &v);
            }
        }
    }
    f = d->n_inv;
    for (size_t i = 0; t->inverse && i < n; i++) {
        fr_mul(&a[i], &a[i], &f);
        if (t->out_g) {
            fr_mul(&f, &f, t->out_g);
        }
    }
}

static void run(const transform *t)
{
    const ntt_domain *d = t->d;
    if (d->digits == 0) {
        small(t);
        return;
    }
    for (unsigned p = 0; p < d->digits; p++) {
        run_pass(t, p);
    }
    unsigned side_lg = d->digit_lg[d->digits - 1];
    swap s = {t->a, (size_t)1 << side_lg, (size_t)1 << (d->lg - 2 * side_lg)};
    cuzk_pool_run(t->pool, s.middle * (s.side / TILE), run_swap, &s);
}

void ntt_forward(const ntt_domain *d, fr *a, cuzk_pool *pool)
{
    run(&(transform){.d = d, .a = a, .pool = pool});
}

void ntt_inverse(const ntt_domain *d, fr *a, cuzk_pool *pool)
{
    run(&(transform){.d = d, .a = a, .pool = pool, .inverse = true});
}

void ntt_coset_forward(const ntt_domain *d, fr *a, const fr *g, cuzk_pool *pool)
{
    run(&(transform){.d = d, .a = a, .pool = pool, .in_g = g});
}

void ntt_coset_inverse(const ntt_domain *d, fr *a, const fr *g, cuzk_pool *pool)
{
    fr g_inv;
    fr_inv(&g_inv, g);
    run(&(transform){.d = d, .a = a, .pool = pool, .inverse = true, .out_g = &g_inv});
}

fr ntt_coset_bellman(void) { return fr_from_u64(7); }

fr ntt_coset_odd(const ntt_domain *d) { return fr_root_of_unity(d->root, d->lg + 1); }
