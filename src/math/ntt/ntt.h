#ifndef CUZK_MATH_NTT_H
#define CUZK_MATH_NTT_H

#include "base/threads.h"
#include "math/field/fr.h"

/**
 * Which primitive 2^32-th root of unity of Fr a key was made with; it fixes every domain. It is a
 * property of the key: bellman keys use 7^t, snarkjs keys over BLS12-381 use 5^t (t = (r - 1) /
 * 2^32).
 */
typedef enum fr_root {
    FR_ROOT_BELLMAN,
    FR_ROOT_SNARKJS,
} fr_root;

/** The root of order 2^lg (lg <= 32) in that convention. */
fr fr_root_of_unity(fr_root root, unsigned lg);

/** A domain of 2^lg points with its precomputed twiddles. Immutable; may be shared by threads. */
typedef struct ntt_domain ntt_domain;

enum { NTT_MAX_LG = 28 };

/**
 * Prepares transforms of size 2^lg, 0 <= lg <= NTT_MAX_LG. The caller owns *ret. Holds at most
 * 448 KiB + 64 B * 2^(lg/2 + 1/2) of tables: 1.5 MiB for the largest.
 * CUZK_E_ARG when lg is out of range, CUZK_E_MEMORY.
 */
cuzk_code ntt_domain_new(ntt_domain **ret, unsigned lg, fr_root root, cuzk_err *err);
void ntt_domain_free(ntt_domain *d);

/*
 * Transforms in place of a[2^lg], Montgomery form, natural order in and out, on all threads of the
 * pool (NULL: the caller alone). Scratch memory is at most 640 KiB of each thread's stack and 64
 * KiB of the caller's. a is best aligned to 64 bytes. With w the domain's root:
 */

/** Coefficients to values: a_j = sum_i a_i w^ij. */
void ntt_forward(const ntt_domain *d, fr *a, cuzk_pool *pool);

/** Values to coefficients, the inverse of ntt_forward (1/n included). */
void ntt_inverse(const ntt_domain *d, fr *a, cuzk_pool *pool);

/** Coefficients to values on the coset g<w>: a_j = sum_i a_i g^i w^ij. */
void ntt_coset_forward(const ntt_domain *d, fr *a, const fr *g, cuzk_pool *pool);

/** Values on the coset g<w> to coefficients. */
void ntt_coset_inverse(const ntt_domain *d, fr *a, const fr *g, cuzk_pool *pool);

/** Bellman's coset generator 7, and the odd coset's w_2n of the domain (a root of order 2^(lg+1)).
 */
fr ntt_coset_bellman(void);
fr ntt_coset_odd(const ntt_domain *d);

#endif
