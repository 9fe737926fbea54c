#include "math/curve/encoding.h"

#include "base/bytes.h"

enum {
    FP_BYTES = 8 * FP_LIMBS,
    FLAG_COMPRESSED = 0x80,
    FLAG_INFINITY = 0x40,
    FLAG_LARGE = 0x20,
    FLAGS = FLAG_COMPRESSED | FLAG_INFINITY | FLAG_LARGE,
};

/* The constants of the curves' equations. */
static const fp g1_b = {FP_FOUR};
static const fp2 g2_b = {{FP_FOUR}, {FP_FOUR}};

const char *point_status_text(point_status status)
{
    switch (status) {
    case POINT_OK:
        return "a valid point";
    case POINT_BAD_FLAGS:
        return "a point with wrong flag bits";
    case POINT_NOT_CANONICAL:
        return "a coordinate that is not below p";
    case POINT_NOT_ON_CURVE:
        return "a point that is not on the curve";
    case POINT_NOT_IN_SUBGROUP:
        return "a point that is not in the subgroup of order r";
    }
    return "an unknown status";
}

static bool all_zero(const uint8_t *bytes, size_t n)
{
    uint8_t any = 0;
    for (size_t i = 0; i < n; i++) {
        any |= bytes[i];
    }
    return any == 0;
}

static void fp_put(uint8_t *bytes, const fp *a) { fp_to_be_bytes(bytes, a); }

static bool fp_take(fp *r, const uint8_t *bytes) { return fp_from_be_bytes(r, bytes); }

static void fp2_put(uint8_t *bytes, const fp2 *a)
{
    fp_put(bytes, &a->c1);
    fp_put(bytes + FP_BYTES, &a->c0);
}

static bool fp2_take(fp2 *r, const uint8_t *bytes)
{
    return fp_take(&r->c1, bytes) && fp_take(&r->c0, bytes + FP_BYTES);
}

static void fp_put_mont(uint8_t *bytes, const fp *a)
{
    for (int i = 0; i < FP_LIMBS; i++) {
        cuzk_store_u64le(bytes + 8 * i, a->l[i]);
    }
}

static bool fp_take_mont(fp *r, const uint8_t *bytes)
{
    for (int i = 0; i < FP_LIMBS; i++) {
        r->l[i] = cuzk_load_u64le(bytes + 8 * i);
    }
    return fp_is_reduced(r);
}

static void fp2_put_mont(uint8_t *bytes, const fp2 *a)
{
    fp_put_mont(bytes, &a->c0);
    fp_put_mont(bytes + FP_BYTES, &a->c1);
}

static bool fp2_take_mont(fp2 *r, const uint8_t *bytes)
{
    return fp_take_mont(&r->c0, bytes) && fp_take_mont(&r->c1, bytes + FP_BYTES);
}

#define GROUP      g1
#define FIELD      fp
#define COORDINATE FP_BYTES
#include "math/curve/encoding_impl.inc.h"
#undef GROUP
#undef FIELD
#undef COORDINATE

#define GROUP      g2
#define FIELD      fp2
#define COORDINATE (2 * FP_BYTES)
#include "math/curve/encoding_impl.inc.h"
#undef GROUP
#undef FIELD
#undef COORDINATE
