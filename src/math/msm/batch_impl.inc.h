/*
 * Batched affine additions, one at a time in each step; included by batch_g1.c and batch_g2.c,
 * which define GROUP, FIELD, ADD_PAIRS_IFMA and two functions: divisor_of(&d, &dx) an element d of
 * Fp that is zero only when dx is divide(&q, &dy, &dx, &d_inverse)     q = dy / dx
 */

#define G_(name)   GROUP_PASTE(GROUP, name)
#define F_(name)   GROUP_PASTE(FIELD, name)
#define MSM_(name) GROUP_PASTE(msm_, GROUP_PASTE(GROUP, name))
#define AFFINE     G_(_affine)

static AFFINE load(msm_ref r)
{
    AFFINE a = *(const AFFINE *)msm_ref_point(r);
    if (r & 1) {
        F_(_neg)(&a.y, &a.y);
    }
    return a;
}

/* What the slope is divided by: x2 - x1, or 2 y1 for a doubling. False when there is no slope
 * because an operand or the sum is infinity. */
static bool denominator(FIELD *ret_dx, const AFFINE *a, const AFFINE *b)
{
    if (G_(_affine_is_inf)(a) || G_(_affine_is_inf)(b)) {
        return false;
    }
    F_(_sub)(ret_dx, &b->x, &a->x);
    if (!F_(_is_zero)(ret_dx)) {
        return true;
    }
    F_(_add)(ret_dx, &a->y, &b->y); /* zero when b is -a */
    return !F_(_is_zero)(ret_dx);
}

static void numerator(FIELD *ret_dy, const AFFINE *a, const AFFINE *b)
{
    if (F_(_eq)(&a->x, &b->x)) {
        F_(_sqr)(ret_dy, &a->x);
        FIELD twice;
        F_(_dbl)(&twice, ret_dy);
        F_(_add)(ret_dy, ret_dy, &twice);
    } else {
        F_(_sub)(ret_dy, &b->y, &a->y);
    }
}

static void chord(AFFINE *ret, const AFFINE *a, const AFFINE *b, const FIELD *slope)
{
    FIELD x, t;
    F_(_sqr)(&x, slope);
    F_(_sub)(&x, &x, &a->x);
    F_(_sub)(&x, &x, &b->x);
    F_(_sub)(&t, &a->x, &x);
    F_(_mul)(&t, &t, slope);
    F_(_sub)(&ret->y, &t, &a->y);
    ret->x = x;
}

#define MOST 1024 /* additions that one inversion serves */

typedef struct products {
    fp prefix[MOST], divisor[MOST];
} products;

_Static_assert(sizeof(products) <= sizeof(msm_batch), "they lie in a batch's working memory");

static void add_some(AFFINE *ret, const msm_pair *pair, size_t n, msm_batch *scratch)
{
    fp *prefix = ((products *)scratch->bytes)->prefix;
    fp *divisor = ((products *)scratch->bytes)->divisor;
    fp acc = fp_one;
    for (size_t i = 0; i < n; i++) {
        AFFINE a = load(pair[i].a);
        AFFINE b = load(pair[i].b);
        FIELD dx;
        prefix[i] = acc;
        if (denominator(&dx, &a, &b)) {
            divisor_of(&divisor[i], &dx);
            fp_mul(&acc, &acc, &divisor[i]);
        }
    }
    fp_inv(&acc, &acc);
    for (size_t i = n; i-- > 0;) {
        AFFINE a = load(pair[i].a);
        AFFINE b = load(pair[i].b);
        FIELD dx, slope;
        fp inverse;
        if (!denominator(&dx, &a, &b)) {
            ret[i] = G_(_affine_is_inf)(&a) ? b : a;
            if (!G_(_affine_is_inf)(&a) && !G_(_affine_is_inf)(&b)) {
                memset(&ret[i], 0, sizeof ret[i]);
            }
            continue;
        }
        numerator(&slope, &a, &b);
        fp_mul(&inverse, &acc, &prefix[i]);
        fp_mul(&acc, &acc, &divisor[i]);
        divide(&slope, &slope, &dx, &inverse);
        chord(&ret[i], &a, &b, &slope);
    }
}

void MSM_(_add_pairs)(AFFINE *ret, const msm_pair *pair, size_t n, msm_batch *scratch)
{
#ifdef CUZK_X86_64
    if (math_isa_level >= MATH_ISA_IFMA) {
        ADD_PAIRS_IFMA(ret, pair, n, scratch);
        return;
    }
#endif
    for (size_t i = 0; i < n; i += MOST) {
        add_some(ret + i, pair + i, n - i < MOST ? n - i : MOST, scratch);
    }
}
