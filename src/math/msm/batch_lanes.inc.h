/*
 * Batched affine additions, eight at a time; included by batch_g1_ifma.c and batch_g2_ifma.c, which
 * define AFFINE, FIELD and, for eight field elements (fe):
 *   fe_gather(at, offset)         elements from memory, normal
 *   fe_scatter(ret, a, n)         the first n back, `ret` AFFINE apart
 *   fe_is_zero, fe_eq             masks; operands normal, compared as integers
 *   fe_raw_negate, fe_select, fe_settle, fe_get, fe_put    as fp8_...
 *   fe_sub(a, b, n)               a - b + n p
 *   fe_triple, fe_mul, fe_sqr, fe_shift, fe_reduce, fe_one, fe_zero
 *   fe_divisor(dx)                an fp8 that is zero only with dx
 *   fe_dividend(dy, dx)           what over fe_divisor(dx) is dy / dx
 *   fe_dx_again(divisor, xa, b)   dx, from fe_divisor(dx) or from the points
 *   fe_mul_two, fe_scale_two      two independent products, by elements and by an fp8
 *
 * Coordinates in memory are settled: below p (1 + 2^-12), all zero for infinity only. Their
 * Montgomery radix is 2^384, that of products here 2^416. To the latter a coordinate v reads as v
 * 2^-32. Slopes are quotients, so the factor cancels; only their square and the slope of a tangent,
 * 3 x^2 / 2 y, need fe_shift to put it back.
 *
 * The chord's formula does not fit equal or opposite points. They show in the product of all
 * divisors, which is then zero, and are so rare that the batch is done again with a careful look at
 * every octet.
 */

#define AHEAD 64 /* pairs between a prefetch and its use, on the way up */

#define GROUP_OCTETS 4 /* even */

/* Eight pairs: addresses and signs. */
typedef struct octet {
    _Alignas(64) const void *a[8];
    _Alignas(64) const void *b[8];
    __mmask8 minus_a, minus_b;
} octet;

/* Lanes that the chord's formula does not fit. */
typedef struct odd_lanes {
    __mmask8 a_inf, b_inf, twice, cancel;
} odd_lanes;

static const AFFINE nowhere; /* infinity, to fill up the last octet */

FP8_INLINE octet octet_of(const msm_pair *pair, size_t n)
{
    const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i one = fp8_all(1);
    __m512i low = fp8_all((msm_ref)&nowhere), high = low;
    unsigned words = n < 8 ? (1u << 2 * n) - 1 : 0xffff;
    low = _mm512_mask_loadu_epi64(low, (__mmask8)words, pair);
    high = _mm512_mask_loadu_epi64(high, (__mmask8)(words >> 8), pair + 4);
    __m512i a = _mm512_permutex2var_epi64(low, even, high);
    __m512i b = _mm512_permutex2var_epi64(low, _mm512_add_epi64(even, one), high);
    octet q;
    q.minus_a = _mm512_test_epi64_mask(a, one);
    q.minus_b = _mm512_test_epi64_mask(b, one);
    _mm512_store_si512(q.a, _mm512_andnot_si512(one, a));
    _mm512_store_si512(q.b, _mm512_andnot_si512(one, b));
    return q;
}

/* Most points lie on lines that begin within 64 bytes of each other or of their end. */
FP8_INLINE void prefetch(const msm_pair *pair)
{
    const msm_ref *ref = &pair->a;
    FP8_UNROLL
    for (unsigned i = 0; i < 16; i++) {
        const char *p = (const char *)ref[i];
        for (size_t at = 0; at + 64 < sizeof(AFFINE); at += 64) {
            _mm_prefetch(p + at, _MM_HINT_T0);
        }
        _mm_prefetch(p + sizeof(AFFINE) - 2, _MM_HINT_T0);
    }
}

#define X_OF(at) fe_gather(at, offsetof(AFFINE, x))
#define Y_OF(at) fe_gather(at, offsetof(AFFINE, y))

FP8_INLINE fe signed_y(const void *const at[8], __mmask8 minus)
{
    return fe_raw_negate(minus, Y_OF(at), 2);
}

/* Lanes with an infinite point; no finite point of order r has an x of zero. */
FP8_INLINE __mmask8 any_infinite(fe xa, fe xb) { return fe_is_zero(xa) | fe_is_zero(xb); }

static __attribute__((noinline)) odd_lanes look(const octet *q)
{
    fe xa = fe_reduce(X_OF(q->a)), xb = fe_reduce(X_OF(q->b));
    fe ya = fe_reduce(fe_normalize(signed_y(q->a, q->minus_a)));
    fe yb = fe_reduce(fe_normalize(signed_y(q->b, q->minus_b)));
    odd_lanes o;
    o.a_inf = fe_is_zero(xa);
    o.b_inf = fe_is_zero(xb);
    __mmask8 same_x = (__mmask8)(fe_eq(xa, xb) & ~(o.a_inf | o.b_inf));
    o.twice = same_x & fe_eq(ya, yb);
    o.cancel = (__mmask8)(same_x & ~o.twice);
    return o;
}

static __attribute__((noinline)) fe odd_dx(const octet *q, fe dx)
{
    odd_lanes o = look(q);
    fe y = fe_normalize(signed_y(q->a, q->minus_a));
    dx = fe_select(o.twice, fe_shift(fe_add(y, y)), dx);
    return fe_select(o.a_inf | o.b_inf | o.cancel, fe_one(), dx);
}

static __attribute__((noinline)) fe odd_dy(const octet *q, fe dy)
{
    return fe_select(look(q).twice, fe_triple(fe_sqr(X_OF(q->a))), dy);
}

static __attribute__((noinline)) void odd_sum(const octet *q, fe *x, fe *y)
{
    odd_lanes o = look(q);
    fe ya = fe_reduce(fe_normalize(signed_y(q->a, q->minus_a)));
    fe yb = fe_reduce(fe_normalize(signed_y(q->b, q->minus_b)));
    *x = fe_select(o.cancel, fe_zero(), fe_select(o.b_inf, X_OF(q->a), *x));
    *y = fe_select(o.cancel, fe_zero(), fe_select(o.b_inf, ya, *y));
    *x = fe_select(o.a_inf, X_OF(q->b), *x);
    *y = fe_select(o.a_inf, yb, *y);
}

/* The inverses of eight elements, in radix 2^416, by one inversion: each step multiplies every lane
 * by the one `turn` lanes on, until all hold the whole product. False when that is zero. */
static bool invert(fp8 *ret, fp8 a)
{
    fp8 turned[3];
    for (int i = 0, turn = 4; i < 3; i++, turn /= 2) {
        for (int k = 0; k < 8; k++) {
            __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
            lane = _mm512_add_epi64(lane, fp8_all((uint64_t)turn));
            turned[i].l[k] = _mm512_permutexvar_epi64(lane, a.l[k]);
        }
        a = fp8_mul(a, turned[i]);
    }
    fp whole[8], shift = fp_from_u64((uint64_t)1 << 32);
    fp8_scatter(whole, sizeof *whole, fp8_to_words(fp8_reduce(a)), 8);
    if (fp_is_zero(&whole[0])) {
        return false;
    }
    fp_inv(&whole[0], &whole[0]);
    fp_sqr(&shift, &shift); /* the inverse is in radix 2^352 */
    fp_mul(&whole[0], &whole[0], &shift);
    const void *at[8];
    for (int i = 0; i < 8; i++) {
        at[i] = &whole[0];
    }
    fp8 inverse = fp8_from_words(fp8_gather(at, 0));
    for (int i = 3; i-- > 0;) {
        inverse = fp8_mul(inverse, turned[i]);
    }
    *ret = inverse;
    return true;
}

/* Prefix products in two independent chains, one for even and one for odd octets. */
FP8_INLINE void multiply_up(const msm_pair *pair, size_t n, msm_batch *s, fp8 acc[2], bool careful)
{
    acc[0] = acc[1] = fp8_one();
    for (size_t i = 0; i < n; i += 8) {
        octet q = octet_of(pair + i, n - i);
        if (i + AHEAD + 8 <= n) {
            prefetch(pair + i + AHEAD);
        }
        fe xa = X_OF(q.a), xb = X_OF(q.b);
        fe dx = fe_sub(xb, xa, 2);
        s->odd[i / 8] = careful || any_infinite(xa, xb);
        if (s->odd[i / 8]) {
            dx = odd_dx(&q, dx);
        }
        fp8 d = fe_divisor(dx);
        fe_put(s->x + X_WORDS * i, xa);
        fp8_put(s->prefix + 8 * i, acc[0]);
        fp8_put(s->divisor + 8 * i, d);
        fp8 product = fp8_mul(acc[0], d);
        acc[0] = acc[1];
        acc[1] = product;
    }
}

/* GROUP octets go through the way back together, step by step: a step's products are independent,
 * so that the processor always finds one to work on. */
typedef struct octets {
    octet q[GROUP_OCTETS];
    fe xa[GROUP_OCTETS], dx[GROUP_OCTETS], ya[GROUP_OCTETS]; /* ya may be raw */
    fe x[GROUP_OCTETS], y[GROUP_OCTETS];                     /* slope, then the sum */
    fp8 inverse[GROUP_OCTETS];
    bool odd[GROUP_OCTETS];
} octets;

/* Reads `count` octets from pair i on, with what their slopes have above the line. */
FP8_INLINE void read_back(octets *g, size_t count, const msm_pair *pair, size_t i, size_t n,
                          const msm_batch *s)
{
    for (size_t k = 0; k < count; k++, i += 8) {
        octet q = octet_of(pair + i, n - i);
        fe xa = fe_get(s->x + X_WORDS * i);
        fe ya = signed_y(q.a, q.minus_a);
        fe dy = fe_sub(signed_y(q.b, q.minus_b), ya, 2);
        fe dx;
        g->odd[k] = s->odd[i / 8];
        if (g->odd[k]) {
            fe chord = fe_sub(X_OF(q.b), xa, 2);
            g->dx[k] = chord;
            dx = odd_dx(&q, chord);
            dy = odd_dy(&q, dy);
        } else {
            dx = fe_dx_again(fp8_get(s->divisor + 8 * i), xa, q.b);
            g->dx[k] = dx;
        }
        g->q[k] = q;
        g->xa[k] = xa;
        g->ya[k] = ya;
        g->y[k] = fe_dividend(dy, dx);
    }
}

/* The inverse of each divisor of the group, from the last octet to the first. */
FP8_INLINE void invert_back(octets *g, size_t count, size_t i, const msm_batch *s, fp8 inverse[2])
{
    for (size_t k = count; k-- > 0;) {
        fp8 both[2] = {inverse[0], inverse[0]};
        fp8 with[2] = {fp8_get(s->prefix + 8 * (i + 8 * k)), fp8_get(s->divisor + 8 * (i + 8 * k))};
        fp8_mul_two(both, both, with);
        g->inverse[k] = both[0];
        inverse[0] = inverse[1];
        inverse[1] = both[1];
    }
}

FP8_INLINE void add_group(AFFINE *ret, octets *g, size_t count, size_t n)
{
    for (size_t k = 0; k < count; k += 2) {
        fe_scale_two(&g->y[k], &g->y[k], &g->inverse[k]);
    }
    for (size_t k = 0; k < count; k++) {
        /* xa + xb = 2 xa + dx - 2 p */
        fe x = fe_raw_sub(fe_shift(fe_sqr(g->y[k])), fe_raw_add(g->xa[k], g->xa[k]));
        g->x[k] = fe_settle(fe_raw_sub(x, g->dx[k]), 5);
    }
    for (size_t k = 0; k < count; k += 2) {
        fe fall[2] = {fe_sub(g->xa[k], g->x[k], 2), fe_sub(g->xa[k + 1], g->x[k + 1], 2)};
        fe_mul_two(fall, fall, &g->y[k]);
        g->y[k] = fe_settle(fe_raw_sub(fall[0], g->ya[k]), 3);
        g->y[k + 1] = fe_settle(fe_raw_sub(fall[1], g->ya[k + 1]), 3);
    }
    for (size_t k = 0; k < count && 8 * k < n; k++) {
        if (g->odd[k]) {
            odd_sum(&g->q[k], &g->x[k], &g->y[k]);
        }
        fe_scatter(&ret[8 * k].x, g->x[k], n - 8 * k);
        fe_scatter(&ret[8 * k].y, g->y[k], n - 8 * k);
    }
}

/* The way back, from the chains' products. False, with nothing written, when there is an odd lane
 * that a careless way up has not seen. */
FP8_INLINE bool add_back(AFFINE *ret, const msm_pair *pair, size_t n, msm_batch *s,
                         const fp8 acc[2])
{
    fp8 both, inverse[2];
    if (!invert(&both, fp8_mul(acc[0], acc[1]))) {
        return false;
    }
    /* acc[1] is the chain of the last octet */
    inverse[0] = fp8_mul(both, acc[0]);
    inverse[1] = fp8_mul(both, acc[1]);
    octets g;
    size_t end = (n + 7) / 8;
    while (end > 0) {
        size_t begin = (end - 1) / GROUP_OCTETS * GROUP_OCTETS;
        for (size_t i = begin >= GROUP_OCTETS ? 8 * (begin - GROUP_OCTETS) : 8 * begin;
             i < 8 * begin; i += 8) {
            prefetch(pair + i);
        }
        read_back(&g, end - begin, pair, 8 * begin, n, s);
        invert_back(&g, end - begin, 8 * begin, s, inverse);
        if ((end - begin) % 2) { /* products go two by two: repeat the last octet */
            g.y[end - begin] = g.y[end - begin - 1];
            g.inverse[end - begin] = g.inverse[end - begin - 1];
            g.xa[end - begin] = g.xa[end - begin - 1];
            g.dx[end - begin] = g.dx[end - begin - 1];
            g.ya[end - begin] = g.ya[end - begin - 1];
        }
        add_group(ret + 8 * begin, &g, (end - begin + 1) / 2 * 2, n - 8 * begin);
        end = begin;
    }
    return true;
}

static __attribute__((noinline)) void add_carefully(AFFINE *ret, const msm_pair *pair, size_t n,
                                                    msm_batch *s)
{
    fp8 acc[2];
    multiply_up(pair, n, s, acc, true);
    add_back(ret, pair, n, s, acc);
}

static void add_pairs(AFFINE *ret, const msm_pair *pair, size_t n, msm_batch *s)
{
    fp8 acc[2];
    multiply_up(pair, n, s, acc, false);
    if (!add_back(ret, pair, n, s, acc)) {
        add_carefully(ret, pair, n, s);
    }
}
