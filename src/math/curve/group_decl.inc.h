/*
 * Declarations of one group of points on y^2 = x^3 + b, b fixed, over a field. Included by g1.h and
 * g2.h, which define GROUP (g1, g2) and FIELD (fp, fp2); every name begins with the group's.
 */

#define GROUP_PASTE_(a, b) a##b
#define GROUP_PASTE(a, b)  GROUP_PASTE_(a, b)
#define G_(name)           GROUP_PASTE(GROUP, name)
#define F_(name)           GROUP_PASTE(FIELD, name)
#define AFFINE             G_(_affine)

/** A point in affine coordinates; the point at infinity is (0, 0), which is on neither curve. */
typedef struct AFFINE {
    FIELD x, y;
} AFFINE;

/** A point in Jacobian coordinates: x = X / Z^2, y = Y / Z^3; infinity has Z = 0. */
typedef struct GROUP {
    FIELD x, y, z;
} GROUP;

/** The standard generator of the subgroup of order r. */
extern const AFFINE G_(_generator);

static inline bool G_(_affine_is_inf)(const AFFINE *a)
{
    return F_(_is_zero)(&a->x) && F_(_is_zero)(&a->y);
}

static inline bool G_(_is_inf)(const GROUP *a) { return F_(_is_zero)(&a->z); }

static inline void G_(_set_inf)(GROUP *r) { *r = (GROUP){F_(_one), F_(_one), F_(_zero)}; }

static inline bool G_(_affine_eq)(const AFFINE *a, const AFFINE *b)
{
    return F_(_eq)(&a->x, &b->x) && F_(_eq)(&a->y, &b->y);
}

static inline void G_(_affine_neg)(AFFINE *r, const AFFINE *a)
{
    r->x = a->x;
    F_(_neg)(&r->y, &a->y);
}

static inline void G_(_neg)(GROUP *r, const GROUP *a)
{
    r->x = a->x;
    F_(_neg)(&r->y, &a->y);
    r->z = a->z;
}

void G_(_from_affine)(GROUP *r, const AFFINE *a);

/** One inversion. */
void G_(_to_affine)(AFFINE *r, const GROUP *a);

/** n points with one inversion; scratch: n field elements. r and a may not overlap. */
void G_(_batch_to_affine)(AFFINE *r, const GROUP *a, size_t n, FIELD *scratch);

/* Complete group law: every case (equal, opposite, infinity) is handled; operands may overlap. */
void G_(_dbl)(GROUP *r, const GROUP *a);
void G_(_add)(GROUP *r, const GROUP *a, const GROUP *b);
void G_(_add_affine)(GROUP *r, const GROUP *a, const AFFINE *b);

/** True when both stand for the same point. */
bool G_(_eq)(const GROUP *a, const GROUP *b);

/** r = k a for an integer k of n limbs, least significant first. Variable time in k. */
void G_(_mul_limbs)(GROUP *r, const GROUP *a, const uint64_t *k, size_t n);

/** r = k a. Variable time in k. */
static inline void G_(_mul)(GROUP *r, const GROUP *a, const fr_repr *k)
{
    G_(_mul_limbs)(r, a, k->l, FR_LIMBS);
}

/** True for infinity and for points that satisfy the curve's equation (of any order). */
bool G_(_affine_is_on_curve)(const AFFINE *a);

/** True for infinity and for points of order r; a must be on the curve. */
bool G_(_affine_in_subgroup)(const AFFINE *a);

#undef G_
#undef F_
#undef AFFINE
