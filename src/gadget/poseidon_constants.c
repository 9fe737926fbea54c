#include "gadget/poseidon_constants.h"

#include <pthread.h>

#define W POSEIDON_MAX_WIDTH

/* The 80-bit Grain LFSR of the Poseidon paper's appendix, one bit in each byte; a ring, `at` is the
 * oldest bit. */
typedef struct grain {
    uint8_t s[80];
    unsigned at;
} grain;

static uint8_t grain_tap(const grain *g, unsigned i) { return g->s[(g->at + i) % 80]; }

static uint8_t grain_step(grain *g)
{
    uint8_t b = grain_tap(g, 62) ^ grain_tap(g, 51) ^ grain_tap(g, 38) ^ grain_tap(g, 23) ^
                grain_tap(g, 13) ^ grain_tap(g, 0);
    g->s[g->at] = b;
    g->at = (g->at + 1) % 80;
    return b;
}

/* The self-shrinking output: a bit counts when the one before it is 1. */
static uint8_t grain_bit(grain *g)
{
    while (!grain_step(g)) {
        grain_step(g);
    }
    return grain_step(g);
}

static void put_bits(grain *g, unsigned *pos, unsigned value, unsigned n)
{
    for (unsigned i = n; i-- > 0;) {
        g->s[(*pos)++] = (uint8_t)(value >> i & 1);
    }
}

static void grain_init(grain *g, unsigned width, unsigned partial)
{
    unsigned pos = 0;
    put_bits(g, &pos, 1, 2); /* prime field */
    put_bits(g, &pos, 1, 4); /* x^5, as the reference numbers it */
    put_bits(g, &pos, 255, 12);
    put_bits(g, &pos, width, 12);
    put_bits(g, &pos, POSEIDON_FULL_ROUNDS, 10);
    put_bits(g, &pos, partial, 10);
    while (pos < 80) {
        put_bits(g, &pos, 1, 1);
    }
    g->at = 0;
    for (int i = 0; i < 160; i++) {
        grain_step(g);
    }
}

/* 255 bits, most significant first; redrawn until below the modulus. */
static fr grain_element(grain *g)
{
    fr_repr v;
    do {
        memset(&v, 0, sizeof v);
        for (unsigned i = 255; i-- > 0;) {
            v.l[i / 64] |= (uint64_t)grain_bit(g) << (i % 64);
        }
    } while (!fr_repr_is_canonical(&v));
    fr e;
    fr_from_repr(&e, &v);
    return e;
}

/* r = m * v for the leading n x n part. */
static void mat_vec(fr *r, const fr (*m)[W], const fr *v, unsigned n)
{
    fr out[W];
    for (unsigned i = 0; i < n; i++) {
        out[i] = fr_zero;
        for (unsigned j = 0; j < n; j++) {
            fr t;
            fr_mul(&t, &m[i][j], &v[j]);
            fr_add(&out[i], &out[i], &t);
        }
    }
    memcpy(r, out, n * sizeof *r);
}

/* r = a * b; r must be another matrix. */
static void mat_mul(fr (*r)[W], const fr (*a)[W], const fr (*b)[W], unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < n; j++) {
            r[i][j] = fr_zero;
            for (unsigned k = 0; k < n; k++) {
                fr t;
                fr_mul(&t, &a[i][k], &b[k][j]);
                fr_add(&r[i][j], &r[i][j], &t);
            }
        }
    }
}

static void row_scale(fr *row, const fr *f, unsigned n)
{
    for (unsigned j = 0; j < n; j++) {
        fr_mul(&row[j], &row[j], f);
    }
}

static void row_sub_scaled(fr *row, const fr *other, const fr *f, unsigned n)
{
    for (unsigned j = 0; j < n; j++) {
        fr t;
        fr_mul(&t, &other[j], f);
        fr_sub(&row[j], &row[j], &t);
    }
}

/* Gauss-Jordan. Every matrix here is invertible: minors of a Cauchy matrix are. */
static void mat_inv(fr (*r)[W], const fr (*m)[W], unsigned n)
{
    fr a[W][W];
    memcpy(a, m, sizeof a);
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < n; j++) {
            r[i][j] = i == j ? fr_one : fr_zero;
        }
    }
    for (unsigned c = 0; c < n; c++) {
        unsigned p = c;
        while (fr_is_zero(&a[p][c]) && p + 1 < n) {
            p++;
        }
        for (unsigned j = 0; p != c && j < n; j++) {
            fr t = a[p][j];
            a[p][j] = a[c][j];
            a[c][j] = t;
            t = r[p][j];
            r[p][j] = r[c][j];
            r[c][j] = t;
        }
        fr f;
        fr_inv(&f, &a[c][c]);
        row_scale(a[c], &f, n);
        row_scale(r[c], &f, n);
        for (unsigned i = 0; i < n; i++) {
            if (i != c) {
                f = a[i][c];
                row_sub_scaled(a[i], a[c], &f, n);
                row_sub_scaled(r[i], r[c], &f, n);
            }
        }
    }
}

/* Moves the constants of each round back through the linear layer, so that a partial round adds
 * only one. */
static void compress_constants(poseidon_params *p, const fr (*inv)[W])
{
    unsigned t = p->width;
    unsigned half = POSEIDON_FULL_ROUNDS / 2;
    fr *out = p->compressed;
    memcpy(out, p->round, t * sizeof *out);
    for (unsigned r = 1; r < half; r++) {
        mat_vec(out + r * t, inv, p->round + r * t, t);
    }
    fr acc[W];
    memcpy(acc, p->round + (half + p->partial) * t, t * sizeof *acc);
    fr *first = out + (half + 1) * t; /* of the partial rounds */
    for (unsigned i = 0; i < p->partial; i++) {
        fr v[W];
        mat_vec(v, inv, acc, t);
        first[p->partial - 1 - i] = v[0];
        v[0] = fr_zero;
        const fr *key = p->round + (half + p->partial - 1 - i) * t;
        for (unsigned j = 0; j < t; j++) {
            fr_add(&acc[j], &key[j], &v[j]);
        }
    }
    mat_vec(out + half * t, inv, acc, t);
    for (unsigned r = 1; r < half; r++) {
        mat_vec(first + p->partial + (r - 1) * t, inv, p->round + (half + p->partial + r) * t, t);
    }
}

/* Factors the matrix of each partial round, last to first, into a sparse one and one that commutes
 * with the S-box of element 0. */
static void factor_sparse(poseidon_params *p)
{
    unsigned t = p->width;
    fr cur[W][W];
    memcpy(cur, p->mds, sizeof cur);
    for (unsigned k = p->partial; k-- > 0;) {
        fr hat[W][W] = {{{{0}}}};
        fr column[W];
        for (unsigned i = 1; i < t; i++) {
            memcpy(hat[i - 1], &cur[i][1], (t - 1) * sizeof(fr));
            column[i - 1] = cur[i][0];
            p->sparse[k].row[i - 1] = cur[0][i];
        }
        fr inv[W][W];
        mat_inv(inv, hat, t - 1);
        p->sparse[k].column[0] = cur[0][0];
        mat_vec(p->sparse[k].column + 1, inv, column, t - 1);
        fr right[W][W] = {{{{0}}}};
        right[0][0] = fr_one;
        for (unsigned i = 1; i < t; i++) {
            memcpy(&right[i][1], hat[i - 1], (t - 1) * sizeof(fr));
        }
        fr next[W][W] = {{{{0}}}};
        mat_mul(next, p->mds, right, t);
        memcpy(cur, next, sizeof cur);
    }
    memcpy(p->pre_sparse, cur, sizeof cur);
}

static void make(poseidon_params *p, unsigned arity, unsigned partial)
{
    unsigned t = arity + 1;
    p->arity = arity;
    p->width = t;
    p->partial = partial;
    grain g;
    grain_init(&g, t, partial);
    for (unsigned i = 0; i < (POSEIDON_FULL_ROUNDS + partial) * t; i++) {
        p->round[i] = grain_element(&g);
    }
    for (unsigned i = 0; i < t; i++) {
        for (unsigned j = 0; j < t; j++) {
            fr x = fr_from_u64(i + j + t);
            fr_inv(&p->mds[i][j], &x);
        }
    }
    fr inv[W][W];
    mat_inv(inv, p->mds, t);
    compress_constants(p, inv);
    factor_sparse(p);
}

static poseidon_params params2, params4, params8, params11;

static void make2(void) { make(&params2, 2, 55); }
static void make4(void) { make(&params4, 4, 56); }
static void make8(void) { make(&params8, 8, 57); }
static void make11(void) { make(&params11, 11, 57); }

const poseidon_params *poseidon_params_of(unsigned arity)
{
    static pthread_once_t once[4] = {PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT,
                                     PTHREAD_ONCE_INIT};
    switch (arity) {
    case 2:
        pthread_once(&once[0], make2);
        return &params2;
    case 4:
        pthread_once(&once[1], make4);
        return &params4;
    case 8:
        pthread_once(&once[2], make8);
        return &params8;
    case 11:
        pthread_once(&once[3], make11);
        return &params11;
    default:
        return NULL;
    }
}

fr poseidon_tag_tree(unsigned arity) { return fr_from_u64(((uint64_t)1 << arity) - 1); }

fr poseidon_tag_randomness(void) { return fr_from_u64((uint64_t)1 << 40); }
