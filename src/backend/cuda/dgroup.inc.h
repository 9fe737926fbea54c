/*
 * Points of one group on the device, included by dg1.h and dg2.h, which define GROUP (dg1, dg2) and
 * FIELD (dfp, dfp2). The functions are plain C elsewhere.
 *
 * The affine formulas are inlined; those in XYZZ coordinates call their products (hd_called.h),
 * which keeps them inside the instruction cache.
 *
 * A point in memory is the host's affine point with coordinates in [0, 2p); infinity is (0, 0) with
 * every limb zero, which nothing else is: neither group has a point of order 2.
 */

#define DG_PASTE_(a, b) a##b
#define DG_PASTE(a, b)  DG_PASTE_(a, b)
#define G_(name)        DG_PASTE(GROUP, name)
#define F_(name)        DG_PASTE(FIELD, name)
#define AFFINE          G_(_affine)

typedef struct AFFINE {
    FIELD x, y;
} AFFINE;

/** x = X / ZZ, y = Y / ZZZ, ZZ^3 = ZZZ^2; infinity has ZZ = 0 (any representative). Formulas:
 *  Explicit-Formulas Database, short Weierstrass, XYZZ coordinates, a = 0. */
typedef struct GROUP {
    FIELD x, y, zz, zzz;
} GROUP;

CUZK_HD AFFINE G_(_affine_inf)(void) { return (AFFINE){F_(_zero)(), F_(_zero)()}; }

CUZK_HD bool G_(_affine_is_inf)(const AFFINE *a)
{
    const uint32_t *l = (const uint32_t *)(const void *)a;
    uint32_t any = 0;
    CUZK_UNROLL
    for (unsigned i = 0; i < sizeof *a / sizeof *l; i++) {
        any |= l[i];
    }
    return any == 0;
}

CUZK_HD AFFINE G_(_affine_neg_if)(AFFINE a, bool negative)
{
    if (negative) {
        a.y = F_(_neg)(a.y); /* 0 stays 0 */
    }
    return a;
}

/*
 * Sums of many pairs of affine points share one inversion. A pair has a divisor; once it is
 * inverted the sum takes one product, one square and one product more. The kind says which case of
 * the group law holds.
 */
typedef enum G_(_pair_kind) {
    G_(_PAIR_ADD),    /* different x: the slope is (yb - ya) / (xb - xa) */
    G_(_PAIR_DOUBLE), /* the same point: the slope is 3 xa^2 / 2 ya */
    G_(_PAIR_LEFT),   /* b is infinity: the sum is a */
    G_(_PAIR_RIGHT),  /* a is infinity: the sum is b */
    G_(_PAIR_NONE),   /* opposite points: the sum is infinity */
} G_(_pair_kind);

/** False only when xa, xb and dx = xb - xa say that the kind is ADD. One limb of each decides, so
 *  it is true for few pairs of other kinds. */
CUZK_HD bool G_(_pair_is_rare)(const FIELD *xa, const FIELD *xb, const FIELD *dx)
{
    uint32_t a = *(const uint32_t *)(const void *)xa, b = *(const uint32_t *)(const void *)xb;
    uint32_t d = *(const uint32_t *)(const void *)dx;
    return a == 0 || b == 0 || d == 0 || d == dfp_p(0);
}

/** The kind of a pair, whatever it is. */
CUZK_HD G_(_pair_kind) G_(_pair_kind_of)(const AFFINE *a, const AFFINE *b)
{
    if (G_(_affine_is_inf)(a)) {
        return G_(_PAIR_RIGHT);
    }
    if (G_(_affine_is_inf)(b)) {
        return G_(_PAIR_LEFT);
    }
    if (!F_(_eq)(a->x, b->x)) {
        return G_(_PAIR_ADD);
    }
    return F_(_eq)(a->y, b->y) ? G_(_PAIR_DOUBLE) : G_(_PAIR_NONE);
}

/** What to invert for a pair that is not of kind ADD. Never 0. */
CUZK_HD FIELD G_(_pair_rare_divisor)(const AFFINE *a, const AFFINE *b)
{
    switch (G_(_pair_kind_of)(a, b)) {
    case G_(_PAIR_ADD):
        return F_(_sub)(b->x, a->x);
    case G_(_PAIR_DOUBLE):
        return F_(_dbl)(a->y);
    default:
        return F_(_one)();
    }
}

/** The point on the line of this slope through a and a point with x = xb, negated. */
CUZK_HD AFFINE G_(_pair_chord)(FIELD xa, FIELD ya, FIELD xb, FIELD slope)
{
    AFFINE r;
    r.x = F_(_sub)(F_(_sqr)(slope), F_(_add)(xa, xb));
    r.y = F_(_sub)(F_(_mul)(slope, F_(_sub)(xa, r.x)), ya);
    return r;
}

/** a + b when it is not of kind ADD or may not be; inverse is that of the divisor. */
CUZK_HD AFFINE G_(_pair_rare_sum)(const AFFINE *a, const AFFINE *b, FIELD inverse)
{
    switch (G_(_pair_kind_of)(a, b)) {
    case G_(_PAIR_LEFT):
        return *a;
    case G_(_PAIR_RIGHT):
        return *b;
    case G_(_PAIR_NONE):
        return G_(_affine_inf)();
    case G_(_PAIR_DOUBLE): {
        FIELD xx = F_(_sqr)(a->x);
        FIELD slope = F_(_mul)(F_(_add)(F_(_dbl)(xx), xx), inverse);
        return G_(_pair_chord)(a->x, a->y, a->x, slope);
    }
    default:
        return G_(_pair_chord)(a->x, a->y, b->x, F_(_mul)(F_(_sub)(b->y, a->y), inverse));
    }
}

CUZK_HD GROUP G_(_inf)(void) { return (GROUP){F_(_one)(), F_(_one)(), F_(_zero)(), F_(_zero)()}; }

CUZK_HD bool G_(_is_inf)(const GROUP *a) { return F_(_is_zero)(a->zz); }

CUZK_HD GROUP G_(_from_affine)(const AFFINE *a)
{
    if (G_(_affine_is_inf)(a)) {
        return G_(_inf)();
    }
    return (GROUP){a->x, a->y, F_(_one)(), F_(_one)()};
}

/** 2 a. */
CUZK_HD_CALLED GROUP G_(_dbl)(const GROUP *a)
{
    GROUP r;
    FIELD u = F_(_dbl)(a->y);
    FIELD v = F_(_sqr_called)(u);
    FIELD w = F_(_mul_called)(u, v);
    FIELD s = F_(_mul_called)(a->x, v);
    FIELD m = F_(_sqr_called)(a->x);
    m = F_(_add)(F_(_dbl)(m), m);
    r.x = F_(_sub)(F_(_sqr_called)(m), F_(_dbl)(s));
    r.y = F_(_sub)(F_(_mul_called)(m, F_(_sub)(s, r.x)), F_(_mul_called)(w, a->y));
    r.zz = F_(_mul_called)(v, a->zz);
    r.zzz = F_(_mul_called)(w, a->zzz);
    return r;
}

/* The end of both additions: u1 and s1 are a's x and y over the common denominator, p and r the
 * differences to b's, zz and zzz the denominators without p. */
CUZK_HD GROUP G_(_finish_add)(FIELD u1, FIELD s1, FIELD p, FIELD r, FIELD zz, FIELD zzz)
{
    GROUP ret;
    FIELD pp = F_(_sqr_called)(p);
    FIELD ppp = F_(_mul_called)(pp, p);
    FIELD q = F_(_mul_called)(u1, pp);
    ret.x = F_(_sub)(F_(_sub)(F_(_sqr_called)(r), ppp), F_(_dbl)(q));
    ret.y = F_(_sub)(F_(_mul_called)(r, F_(_sub)(q, ret.x)), F_(_mul_called)(s1, ppp));
    ret.zz = F_(_mul_called)(zz, pp);
    ret.zzz = F_(_mul_called)(zzz, ppp);
    return ret;
}

/** a + b, every case. */
CUZK_HD GROUP G_(_add_affine)(const GROUP *a, const AFFINE *b)
{
    if (G_(_affine_is_inf)(b)) {
        return *a;
    }
    if (G_(_is_inf)(a)) {
        return G_(_from_affine)(b);
    }
    FIELD p = F_(_sub)(F_(_mul_called)(b->x, a->zz), a->x);
    FIELD r = F_(_sub)(F_(_mul_called)(b->y, a->zzz), a->y);
    if (F_(_is_zero)(p)) {
        return F_(_is_zero)(r) ? G_(_dbl)(a) : G_(_inf)();
    }
    return G_(_finish_add)(a->x, a->y, p, r, a->zz, a->zzz);
}

/** a + b, every case. */
CUZK_HD GROUP G_(_add)(const GROUP *a, const GROUP *b)
{
    if (G_(_is_inf)(b)) {
        return *a;
    }
    if (G_(_is_inf)(a)) {
        return *b;
    }
    FIELD u1 = F_(_mul_called)(a->x, b->zz), s1 = F_(_mul_called)(a->y, b->zzz);
    FIELD p = F_(_sub)(F_(_mul_called)(b->x, a->zz), u1);
    FIELD r = F_(_sub)(F_(_mul_called)(b->y, a->zzz), s1);
    if (F_(_is_zero)(p)) {
        return F_(_is_zero)(r) ? G_(_dbl)(a) : G_(_inf)();
    }
    return G_(_finish_add)(u1, s1, p, r, F_(_mul_called)(a->zz, b->zz),
                           F_(_mul_called)(a->zzz, b->zzz));
}

/** With one inversion. */
CUZK_HD AFFINE G_(_to_affine)(const GROUP *a)
{
    if (G_(_is_inf)(a)) {
        return G_(_affine_inf)();
    }
    FIELD i = F_(_inv_called)(F_(_mul_called)(a->zz, a->zzz));
    return (AFFINE){F_(_mul_called)(a->x, F_(_mul_called)(i, a->zzz)),
                    F_(_mul_called)(a->y, F_(_mul_called)(i, a->zz))};
}

#undef G_
#undef F_
#undef AFFINE
