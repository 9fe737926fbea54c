/*
 * Batched affine additions, eight at a time; included by batch_g1_ifma.c and batch_g2_ifma.c, which
 * define AFFINE and, for eight field elements (fe):
 *   fe_gather(&x, &y, at)    the points at eight addresses, normal
 *   fe_scatter(ret, x, y, n) the first n back
 *   fe_is_zero, fe_eq        masks; operands normal, compared as integers
 *   fe_sub(a, b, n)          a - b + n p
 *   fe_up_16(a)              a 2^16, as fe_mul's first factor only
 *   fe_raw_..., fe_select, fe_settle, fe_triple, fe_mul, fe_sqr, fe_shift, fe_reduce, fe_one,
 * fe_zero fe_divisor(dx)           an fp8 that is zero only with dx, kept in a step's member
 * DIVISOR, one of MORE_MEMBERS if need be fe_dividend(dy, dx)      what over fe_divisor(dx) is dy /
 * dx fe_scale(a, b)           times an fp8
 *
 * Coordinates in memory are settled: below p (1 + 2^-12), all zero for infinity only. Their
 * Montgomery radix is 2^384, that of products here 2^416. To the latter a coordinate v reads as v
 * 2^-32. Slopes are quotients, so the factor cancels. They are kept times 2^-16: then their square
 * comes out in the radix of coordinates, and 2^16 times them is the factor of a coordinate. The
 * slope of a tangent, 3 x^2 / 2 y, needs fe_shift.
 *
 * The chord's formula does not fit equal or opposite points. They show in the product of all
 * divisors, which is then zero, and are so rare that the batch is done again with a careful look at
 * every octet.
 */

#define AHEAD 64 /* pairs between a prefetch and its use */

#define GROUP_OCTETS 4

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

/* All lines that the points are on, wherever they begin. */
FP8_INLINE void prefetch(const msm_pair *pair)
{
    const msm_ref *ref = &pair->a;
    FP8_UNROLL
    for (unsigned i = 0; i < 16; i++) {
        const char *p = (const char *)ref[i];
        for (size_t at = 0; at < sizeof(AFFINE); at += 48) {
            _mm_prefetch(p + at, _MM_HINT_T0);
        }
        _mm_prefetch(p + sizeof(AFFINE) - 2, _MM_HINT_T0);
    }
}

/* Lanes with an infinite point; no finite point of order r has an x of zero. */
FP8_INLINE __mmask8 any_infinite(fe xa, fe xb) { return fe_is_zero(xa) | fe_is_zero(xb); }

/* The octet's points, with signs worked in: ordinates are raw. */
typedef struct points {
    fe xa, ya, xb, yb;
} points;

FP8_INLINE points read_points(const octet *q)
{
    points t;
    fe_gather(&t.xa, &t.ya, q->a);
    fe_gather(&t.xb, &t.yb, q->b);
    t.ya = fe_raw_negate(q->minus_a, t.ya, 2);
    t.yb = fe_raw_negate(q->minus_b, t.yb, 2);
    return t;
}

static points reduced_points(const octet *q)
{
    points t = read_points(q);
    t.xa = fe_reduce(t.xa);
    t.xb = fe_reduce(t.xb);
    t.ya = fe_reduce(fe_normalize(t.ya));
    t.yb = fe_reduce(fe_normalize(t.yb));
    return t;
}

static odd_lanes look(const points *t)
{
    odd_lanes o;
    o.a_inf = fe_is_zero(t->xa);
    o.b_inf = fe_is_zero(t->xb);
    __mmask8 same_x = (__mmask8)(fe_eq(t->xa, t->xb) & ~(o.a_inf | o.b_inf));
    o.twice = same_x & fe_eq(t->ya, t->yb);
    o.cancel = (__mmask8)(same_x & ~o.twice);
    return o;
}

static __attribute__((noinline)) fe odd_chord(const octet *q)
{
    points t = read_points(q);
    return fe_sub(t.xb, t.xa, 2);
}

/* Puts tangents for chords where points are equal, and 1 below the line where there is neither. */
static __attribute__((noinline)) void odd_slope(const octet *q, fe *dy, fe *dx)
{
    points t = reduced_points(q);
    odd_lanes o = look(&t);
    *dy = fe_select(o.twice, fe_triple(fe_sqr(t.xa)), *dy);
    *dx = fe_select(o.twice, fe_shift(fe_add(t.ya, t.ya)), *dx);
    *dx = fe_select(o.a_inf | o.b_inf | o.cancel, fe_one(), *dx);
}

static __attribute__((noinline)) void odd_sum(const octet *q, fe *x, fe *y)
{
    points t = reduced_points(q);
    odd_lanes o = look(&t);
    *x = fe_select(o.cancel, fe_zero(), fe_select(o.b_inf, t.xa, *x));
    *y = fe_select(o.cancel, fe_zero(), fe_select(o.b_inf, t.ya, *y));
    *x = fe_select(o.a_inf, t.xb, *x);
    *y = fe_select(o.a_inf, t.yb, *y);
}

/* The inverses of eight elements, in radix 2^400, by one inversion: each step multiplies every lane
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
    fp whole, shift = fp_from_u64((uint64_t)1 << 48);
    a = fp8_reduce(a);
    __m512i w[6];
    fp8_to_words(w, a);
    for (int i = 0; i < FP_LIMBS; i++) {
        whole.l[i] = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(w[i]));
    }
    if (fp_is_zero(&whole)) {
        return false;
    }
    fp_inv(&whole, &whole); /* in radix 2^352 */
    fp_mul(&whole, &whole, &shift);
    for (int i = 0; i < FP_LIMBS; i++) {
        w[i] = fp8_all(whole.l[i]);
    }
    fp8 inverse = fp8_from_words(w);
    for (int i = 3; i-- > 0;) {
        inverse = fp8_mul(inverse, turned[i]);
    }
    *ret = inverse;
    return true;
}

/* What the way up leaves for the way back, for each octet. */
typedef struct step {
    fe xa, ya, dx, dividend; /* ya raw */
    fp8 prefix;              /* of the divisors of all octets before */
    MORE_MEMBERS
    _Alignas(64) bool odd;
} step;

#define STEPS (sizeof(msm_batch) / sizeof(step))

/* Returns the product of all divisors. */
FP8_INLINE fp8 way_up(step *s, const msm_pair *pair, size_t n, bool careful)
{
    fp8 product = fp8_one();
    for (size_t i = 0; i < n; i += 8, s++) {
        octet q = octet_of(pair + i, n - i);
        if (i + AHEAD + 8 <= n) {
            prefetch(pair + i + AHEAD);
        }
        points t = read_points(&q);
        fe dx = fe_sub(t.xb, t.xa, 2);
        fe dy = fe_sub(t.yb, t.ya, 2);
        s->xa = t.xa;
        s->ya = t.ya;
        s->odd = careful || any_infinite(t.xa, t.xb);
        s->dx = dx;
        if (s->odd) {
            odd_slope(&q, &dy, &dx);
        }
        s->dividend = fe_dividend(dy, dx);
        s->DIVISOR = fe_divisor(dx);
        s->prefix = product;
        product = fp8_mul(product, s->DIVISOR);
    }
    return product;
}

/* Some octets go through each part of the way back one after the other, so that the processor
 * always finds a product that need not wait. `inverse` is that of all divisors up to here. */
FP8_INLINE void back_group(AFFINE *ret, const msm_pair *pair, size_t n, const step *s, size_t count,
                           fp8 *inverse)
{
    fe slope[GROUP_OCTETS], x[GROUP_OCTETS], y[GROUP_OCTETS];
    for (size_t k = count; k-- > 0;) {
        slope[k] = fe_scale(s[k].dividend, fp8_mul(*inverse, s[k].prefix));
        *inverse = fp8_mul(*inverse, s[k].DIVISOR);
    }
    for (size_t k = 0; k < count; k++) {
        fe dx = s[k].dx;
        if (s[k].odd) {
            octet q = octet_of(pair + 8 * k, n - 8 * k);
            dx = odd_chord(&q);
        }
        /* xa + xb = 2 xa + dx - 2 p */
        fe t = fe_raw_sub(fe_sqr(slope[k]), fe_raw_add(s[k].xa, s[k].xa));
        x[k] = fe_settle(fe_raw_sub(t, dx), 5);
    }
    for (size_t k = 0; k < count; k++) {
        fe t = fe_mul(fe_up_16(slope[k]), fe_sub(s[k].xa, x[k], 2));
        y[k] = fe_settle(fe_raw_sub(t, s[k].ya), 3);
    }
    for (size_t k = 0; k < count; k++) {
        if (s[k].odd) {
            octet q = octet_of(pair + 8 * k, n - 8 * k);
            odd_sum(&q, &x[k], &y[k]);
        }
        fe_scatter(ret + 8 * k, x[k], y[k], n - 8 * k);
    }
}

/* False, with nothing written, when there is an odd lane that a careless way up has not seen. */
FP8_INLINE bool add_some(AFFINE *ret, const msm_pair *pair, size_t n, msm_batch *scratch,
                         bool careful)
{
    step *s = (step *)scratch->bytes;
    fp8 inverse;
    if (!invert(&inverse, way_up(s, pair, n, careful))) {
        return false;
    }
    for (size_t end = (n + 7) / 8; end > 0;) {
        size_t begin = (end - 1) / GROUP_OCTETS * GROUP_OCTETS;
        back_group(ret + 8 * begin, pair + 8 * begin, n - 8 * begin, s + begin, end - begin,
                   &inverse);
        end = begin;
    }
    return true;
}

static __attribute__((noinline)) void add_carefully(AFFINE *ret, const msm_pair *pair, size_t n,
                                                    msm_batch *scratch)
{
    add_some(ret, pair, n, scratch, true);
}

static void add_pairs(AFFINE *ret, const msm_pair *pair, size_t n, msm_batch *scratch)
{
    for (size_t i = 0; i < n; i += 8 * STEPS) {
        size_t some = n - i < 8 * STEPS ? n - i : 8 * STEPS;
        if (!add_some(ret + i, pair + i, some, scratch, false)) {
            add_carefully(ret + i, pair + i, some, scratch);
        }
    }
}
