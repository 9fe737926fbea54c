#ifndef CUZK_MATH_CURVE_ENCODING_H
#define CUZK_MATH_CURVE_ENCODING_H

#include "math/curve/g1.h"
#include "math/curve/g2.h"

/*
 * The ZCash encodings of points (facts of the format: draft-irtf-cfrg-pairing-friendly-curves,
 * appendix C): big-endian x [and y], an Fp2 element as c1 then c0; bit 7 of the first byte says
 * compressed, bit 6 infinity, bit 5 that y is the larger root.
 */

enum {
    G1_COMPRESSED_BYTES = 48,
    G1_UNCOMPRESSED_BYTES = 96,
    G2_COMPRESSED_BYTES = 96,
    G2_UNCOMPRESSED_BYTES = 192,
};

/** Why a decoder refused; POINT_OK is 0. */
typedef enum point_status {
    POINT_OK,
    POINT_BAD_FLAGS,       /* wrong form, or flag bits that contradict each other or the bytes */
    POINT_NOT_CANONICAL,   /* a coordinate is not below p */
    POINT_NOT_ON_CURVE,    /* no such point */
    POINT_NOT_IN_SUBGROUP, /* on the curve, of another order */
} point_status;

/** A phrase for messages that say what was found, e.g. "a point that is not on the curve". */
const char *point_status_text(point_status status);

/** What a decoder checks beyond flags and ranges. */
typedef enum point_check {
    POINT_CHECK_NONE,     /* nothing: for files whose digest is known */
    POINT_CHECK_CURVE,    /* that the point is on the curve */
    POINT_CHECK_SUBGROUP, /* and that its order is r */
} point_check;

void g1_encode(uint8_t bytes[G1_UNCOMPRESSED_BYTES], const g1_affine *a);
void g2_encode(uint8_t bytes[G2_UNCOMPRESSED_BYTES], const g2_affine *a);
void g1_compress(uint8_t bytes[G1_COMPRESSED_BYTES], const g1_affine *a);
void g2_compress(uint8_t bytes[G2_COMPRESSED_BYTES], const g2_affine *a);

/* Decoders leave *r untouched unless they return POINT_OK. Infinity is a valid point here. A
 * compressed point is always checked to be on the curve. */
point_status g1_decode(g1_affine *r, const uint8_t bytes[G1_UNCOMPRESSED_BYTES], point_check check);
point_status g2_decode(g2_affine *r, const uint8_t bytes[G2_UNCOMPRESSED_BYTES], point_check check);
point_status g1_decompress(g1_affine *r, const uint8_t bytes[G1_COMPRESSED_BYTES],
                           point_check check);
point_status g2_decompress(g2_affine *r, const uint8_t bytes[G2_COMPRESSED_BYTES],
                           point_check check);

/*
 * The snarkjs encodings: coordinates as little-endian limbs in Montgomery form (R = 2^384), an Fp2
 * element as c0 then c1, infinity all zero.
 */
void g1_encode_mont(uint8_t bytes[96], const g1_affine *a);
void g2_encode_mont(uint8_t bytes[192], const g2_affine *a);
point_status g1_decode_mont(g1_affine *r, const uint8_t bytes[96], point_check check);
point_status g2_decode_mont(g2_affine *r, const uint8_t bytes[192], point_check check);

#endif
