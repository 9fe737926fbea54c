/*
 * The encodings of one group, included by encoding.c, which defines GROUP, FIELD and COORDINATE,
 * the bytes of one coordinate.
 */

#define G_(name) GROUP_PASTE(GROUP, name)
#define F_(name) GROUP_PASTE(FIELD, name)
#define AFFINE   G_(_affine)

/* The last step of every decoder: the checks that were asked for, then the result. */
static point_status G_(_accept)(AFFINE *r, const AFFINE *a, bool on_curve, point_check check)
{
    if (!on_curve && check >= POINT_CHECK_CURVE && !G_(_affine_is_on_curve)(a)) {
        return POINT_NOT_ON_CURVE;
    }
    if (check >= POINT_CHECK_SUBGROUP && !G_(_affine_in_subgroup)(a)) {
        return POINT_NOT_IN_SUBGROUP;
    }
    *r = *a;
    return POINT_OK;
}

/* Flag bits that say infinity: everything else must be zero. */
static point_status G_(_accept_inf)(AFFINE *r, const uint8_t *bytes, size_t n)
{
    if ((bytes[0] & ~FLAGS) != 0 || !all_zero(bytes + 1, n - 1)) {
        return POINT_BAD_FLAGS;
    }
    *r = (AFFINE){F_(_zero), F_(_zero)};
    return POINT_OK;
}

void G_(_encode)(uint8_t bytes[2 * COORDINATE], const AFFINE *a)
{
    F_(_put)(bytes, &a->x);
    F_(_put)(bytes + COORDINATE, &a->y);
    if (G_(_affine_is_inf)(a)) {
        bytes[0] = FLAG_INFINITY;
    }
}

void G_(_compress)(uint8_t bytes[COORDINATE], const AFFINE *a)
{
    F_(_put)(bytes, &a->x);
    bytes[0] |= FLAG_COMPRESSED;
    if (G_(_affine_is_inf)(a)) {
        bytes[0] |= FLAG_INFINITY;
    } else if (F_(_is_large)(&a->y)) {
        bytes[0] |= FLAG_LARGE;
    }
}

point_status G_(_decode)(AFFINE *r, const uint8_t bytes[2 * COORDINATE], point_check check)
{
    uint8_t flags = bytes[0] & FLAGS;
    if (flags == FLAG_INFINITY) {
        return G_(_accept_inf)(r, bytes, 2 * COORDINATE);
    }
    if (flags != 0) {
        return POINT_BAD_FLAGS;
    }
    AFFINE a;
    if (!F_(_take)(&a.x, bytes) || !F_(_take)(&a.y, bytes + COORDINATE)) {
        return POINT_NOT_CANONICAL;
    }
    if (G_(_affine_is_inf)(&a)) { /* (0, 0) means infinity in memory, and a wrong point here */
        return POINT_NOT_ON_CURVE;
    }
    return G_(_accept)(r, &a, false, check);
}

point_status G_(_decompress)(AFFINE *r, const uint8_t bytes[COORDINATE], point_check check)
{
    uint8_t flags = bytes[0] & FLAGS;
    if (flags == (FLAG_COMPRESSED | FLAG_INFINITY)) {
        return G_(_accept_inf)(r, bytes, COORDINATE);
    }
    if ((flags & FLAG_COMPRESSED) == 0 || (flags & FLAG_INFINITY) != 0) {
        return POINT_BAD_FLAGS;
    }
    uint8_t x[COORDINATE];
    memcpy(x, bytes, sizeof x);
    x[0] &= (uint8_t)~FLAGS;
    AFFINE a;
    if (!F_(_take)(&a.x, x)) {
        return POINT_NOT_CANONICAL;
    }
    FIELD yy;
    F_(_sqr)(&yy, &a.x);
    F_(_mul)(&yy, &yy, &a.x);
    F_(_add)(&yy, &yy, &G_(_b));
    if (!F_(_sqrt)(&a.y, &yy)) {
        return POINT_NOT_ON_CURVE;
    }
    /* y is never 0, whose two signs would be one point: the order of either curve is odd. */
    if (F_(_is_large)(&a.y) != ((flags & FLAG_LARGE) != 0)) {
        F_(_neg)(&a.y, &a.y);
    }
    return G_(_accept)(r, &a, true, check);
}

void G_(_encode_mont)(uint8_t bytes[2 * COORDINATE], const AFFINE *a)
{
    F_(_put_mont)(bytes, &a->x);
    F_(_put_mont)(bytes + COORDINATE, &a->y);
}

point_status G_(_decode_mont)(AFFINE *r, const uint8_t bytes[2 * COORDINATE], point_check check)
{
    AFFINE a;
    if (!F_(_take_mont)(&a.x, bytes) || !F_(_take_mont)(&a.y, bytes + COORDINATE)) {
        return POINT_NOT_CANONICAL;
    }
    return G_(_accept)(r, &a, G_(_affine_is_inf)(&a), check);
}

#undef G_
#undef F_
#undef AFFINE
