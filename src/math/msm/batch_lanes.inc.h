/*
 * Batched affine additions, eight at a time; included by batch_g1_ifma.c and batch_g2_ifma.c, which
 * define AFFINE, FIELD and, for eight field elements (fe):
 *   fe_gather(at, offset)         canonical elements from memory
 *   fe_scatter(ret, a, n)         the first n back, `ret` AFFINE apart
 *   fe_is_zero, fe_eq             masks; operands canonical and normal
 *   fe_raw_negate, fe_select      as fp8_...
 *   fe_sub(a, b, n)               a - b + n p
 *   fe_triple, fe_mul, fe_sqr, fe_shift, fe_reduce, fe_one, fe_zero
 *   fe_divisor(dx)                an fp8 that is zero only with dx
 *   fe_divide(dy, dx, inverse)    dy / dx, from the inverse of the divisor
 *
 * Coordinates in memory have Montgomery radix 2^384, products here 2^416. To the latter a
 * coordinate v reads as v 2^-32. Slopes are quotients, so the factor cancels; only their square and
 * the slope of a tangent, 3 x^2 / 2 y, need fe_shift to put it back.
 */

#define AHEAD 64 /* pairs between a prefetch and its use, on the way up */

#define BEHIND 16 /* and on the way back, where the points are in the second cache */

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
    return fe_raw_negate(minus, Y_OF(at), 1);
}

/* A first, cheap look: equal x, or an x of zero (no finite point of order r has that). */
FP8_INLINE __mmask8 may_be_odd(fe xa, fe xb)
{
    return fe_is_zero(xa) | fe_is_zero(xb) | fe_eq(xa, xb);
}

static __attribute__((noinline)) odd_lanes look(const octet *q)
{
    fe xa = X_OF(q->a), xb = X_OF(q->b);
    fe ya = fe_normalize(signed_y(q->a, q->minus_a));
    fe yb = fe_normalize(signed_y(q->b, q->minus_b));
    odd_lanes o;
    o.a_inf = fe_is_zero(xa) & fe_is_zero(Y_OF(q->a));
    o.b_inf = fe_is_zero(xb) & fe_is_zero(Y_OF(q->b));
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
    fe ya = fe_normalize(signed_y(q->a, q->minus_a));
    fe yb = fe_normalize(signed_y(q->b, q->minus_b));
    *x = fe_select(o.cancel, fe_zero(), fe_select(o.b_inf, X_OF(q->a), *x));
    *y = fe_select(o.cancel, fe_zero(), fe_select(o.b_inf, ya, *y));
    *x = fe_select(o.a_inf, X_OF(q->b), *x);
    *y = fe_select(o.a_inf, yb, *y);
    *y = fe_select(o.a_inf & o.b_inf, fe_zero(), *y); /* -0 is not canonical */
}

/* The inverses of eight elements, in radix 2^416, by one inversion: each step multiplies every lane
 * by the one `turn` lanes on, until all hold the whole product. */
static fp8 invert(fp8 a)
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
    return inverse;
}

/* Prefix products in two independent chains, one for even and one for odd octets. */
static void multiply_up(const msm_pair *pair, size_t n, msm_batch *s, fp8 acc[2])
{
    acc[0] = acc[1] = fp8_one();
    for (size_t i = 0; i < n; i += 8) {
        octet q = octet_of(pair + i, n - i);
        if (i + AHEAD + 8 <= n) {
            prefetch(pair + i + AHEAD);
        }
        fe xa = X_OF(q.a), xb = X_OF(q.b);
        fe dx = fe_sub(xb, xa, 1);
        if (may_be_odd(xa, xb)) {
            dx = odd_dx(&q, dx);
        }
        fp8 d = fe_divisor(dx);
        fp8_put(s->prefix + 8 * i, acc[0]);
        fp8_put(s->divisor + 8 * i, d);
        fp8 product = fp8_mul(acc[0], d);
        acc[0] = acc[1];
        acc[1] = product;
    }
}

FP8_INLINE void add_octet(AFFINE *ret, const octet *q, size_t n, fp8 inverse)
{
    fe xa = X_OF(q->a), xb = X_OF(q->b);
    fe ya = signed_y(q->a, q->minus_a);
    fe dx = fe_sub(xb, xa, 1);
    fe dy = fe_sub(signed_y(q->b, q->minus_b), ya, 1);
    __mmask8 odd = may_be_odd(xa, xb);
    if (odd) {
        dx = odd_dx(q, dx);
        dy = odd_dy(q, dy);
    }
    fe slope = fe_divide(dy, dx, inverse);
    fe x = fe_sub(fe_shift(fe_sqr(slope)), fe_raw_add(xa, xb), 2);
    x = fe_reduce(x);
    fe y = fe_mul(slope, fe_sub(xa, x, 1));
    y = fe_reduce(fe_sub(y, ya, 1));
    if (odd) {
        odd_sum(q, &x, &y);
    }
    fe_scatter(&ret->x, x, n);
    fe_scatter(&ret->y, y, n);
}

static void add_pairs(AFFINE *ret, const msm_pair *pair, size_t n, msm_batch *s)
{
    fp8 acc[2], inverse[2];
    multiply_up(pair, n, s, acc);
    fp8 both = invert(fp8_mul(acc[0], acc[1]));
    /* acc[1] is the chain of the last octet */
    inverse[0] = fp8_mul(both, acc[0]);
    inverse[1] = fp8_mul(both, acc[1]);
    for (size_t i = (n + 7) / 8 * 8; i > 0;) {
        i -= 8;
        octet q = octet_of(pair + i, n - i);
        if (i >= BEHIND) {
            prefetch(pair + i - BEHIND);
            for (size_t at = 0; at < 64; at += 8) {
                _mm_prefetch((const char *)(s->prefix + 8 * (i - BEHIND) + at), _MM_HINT_T0);
                _mm_prefetch((const char *)(s->divisor + 8 * (i - BEHIND) + at), _MM_HINT_T0);
            }
        }
        fp8 each = fp8_mul(inverse[0], fp8_get(s->prefix + 8 * i));
        fp8 next = fp8_mul(inverse[0], fp8_get(s->divisor + 8 * i));
        inverse[0] = inverse[1];
        inverse[1] = next;
        add_octet(ret + i, &q, n - i, each);
    }
}
