#ifndef CUZK_GROTH16_GROTH16_H
#define CUZK_GROTH16_GROTH16_H

#include "base/system.h"
#include "math/curve/encoding.h"
#include "math/msm/msm.h"
#include "math/ntt/ntt.h"
#include "r1cs/r1cs.h"

/* Groth16 (Groth 2016, eprint 2016/260) with bellperson's conventions; docs/formats.md has them. */

enum { CUZK_PROOF_BYTES = 192 };

/** A proof; points are finite and in the subgroup. */
typedef struct cuzk_proof {
    g1_affine a;
    g2_affine b;
    g1_affine c;
} cuzk_proof;

/** A verifying key. Owns ic. */
typedef struct cuzk_vk {
    g1_affine alpha_g1, beta_g1, delta_g1;
    g2_affine beta_g2, gamma_g2, delta_g2;
    uint32_t n_ic; /* inputs with ONE */
    g1_affine *ic;
} cuzk_vk;

void cuzk_vk_clear(cuzk_vk *vk);

/** How the H query of a key is made (docs/formats.md). */
typedef enum cuzk_h_basis {
    CUZK_H_POWERS,       /* bellman: tau^i Z(tau) / delta, i < m - 1 */
    CUZK_H_ODD_LAGRANGE, /* snarkjs: L^(2m)_(2i+1)(tau) / delta, i < m */
} cuzk_h_basis;

/**
 * A proving key in memory. Owns its arrays. Queries hold finite points only; a_var and b_var say
 * which variable each point of a and of b_g1/b_g2 belongs to (increasing). b_g1 and b_g2 are over
 * the same variables. l is over all aux variables in order and may hold infinity.
 */
typedef struct cuzk_pk {
    cuzk_vk vk;
    fr_root root;
    cuzk_h_basis h_basis;
    unsigned lg_domain; /* m = 2^lg_domain >= rows + inputs */
    uint32_t n_inputs;  /* ONE included */
    uint32_t n_aux;
    g1_affine *h;
    uint64_t n_h; /* m - 1 or m, by basis */
    g1_affine *l; /* n_aux points */
    g1_affine *a;
    uint32_t *a_var;
    uint32_t n_a;
    g1_affine *b_g1;
    g2_affine *b_g2;
    uint32_t *b_var;
    uint32_t n_b;
} cuzk_pk;

/** Frees what the key owns and the key; accepts NULL and half-built keys. */
void cuzk_pk_free(cuzk_pk *pk);

/** lg of the smallest domain that holds `rows` rows, those of the inputs among them (rows > 0). */
static inline unsigned cuzk_groth16_lg_domain(uint64_t rows)
{
    unsigned lg = 0;
    while (lg < 63 && (uint64_t)1 << lg < rows) {
        lg++;
    }
    return lg;
}

/** The secrets of a setup. Wipe after use. */
typedef struct cuzk_trapdoor {
    fr alpha, beta, gamma, delta, tau;
} cuzk_trapdoor;

/** Fresh secrets, each uniform and nonzero, from the operating system. */
cuzk_code cuzk_trapdoor_random(cuzk_trapdoor *ret, cuzk_err *err);

/** Secrets anybody can recompute, for tests: SHA-256 of "NAME-alpha" … with the two top bits
 * cleared, read as little-endian integers. */
cuzk_code cuzk_trapdoor_named(cuzk_trapdoor *ret, const char *name, cuzk_err *err);

/** The scalar of that kind for one ASCII name, e.g. "ref-r-0". */
cuzk_code cuzk_scalar_named(fr *ret, const char *name, cuzk_err *err);

/** One uniform nonzero scalar from the operating system: r or s of a proof. */
cuzk_code cuzk_scalar_random(fr *ret, cuzk_err *err);

/** CUZK_E_INPUT when one of the secrets is zero: no key can be made of it. */
cuzk_code cuzk_trapdoor_check(const cuzk_trapdoor *trapdoor, cuzk_err *err);

/** CUZK_E_INPUT, with the reason why a setup refuses a trapdoor or a system: tau is in the domain
 * of 2^lg points, or a root of a variable's polynomial (inputs first); the combined polynomial of a
 *  variable is zero at tau, which for an aux variable means that it is in no row. */
cuzk_code cuzk_setup_refuse_domain(unsigned lg, cuzk_err *err);
cuzk_code cuzk_setup_refuse_root(uint64_t var, cuzk_err *err);
cuzk_code cuzk_setup_refuse_zero(uint64_t var, uint32_t n_inputs, cuzk_err *err);

/** Called by the thread that asked, now and then, with the phase that runs and how far it is. */
typedef void cuzk_progress_fn(void *ctx, const char *phase, uint64_t done, uint64_t total);

typedef struct cuzk_progress {
    cuzk_progress_fn *fn;
    void *ctx;
} cuzk_progress;

/**
 * Makes a key for a system. Rows are those of r1cs plus one row `x_i * 0 = 0` for each input. The
 * caller owns *ret. Besides the key it holds 96 bytes for each variable (128 for each row before
 * the key is begun), all wiped. CUZK_E_INPUT when an aux variable is in no row (bellman refuses
 * such a system) and h_basis is CUZK_H_POWERS, when the system has more than 2^NTT_MAX_LG rows, or
 * when the trapdoor does not work for it (a zero, tau in the domain); CUZK_E_ARG when r1cs has no
 * C; CUZK_E_MEMORY.
 */
cuzk_code cuzk_groth16_setup(cuzk_pk **ret, const cuzk_r1cs *r1cs, const cuzk_trapdoor *trapdoor,
                             fr_root root, cuzk_h_basis h_basis, cuzk_pool *pool,
                             const cuzk_progress *progress, cuzk_err *err);

/** The phases of a proof, in order: name, and what is done in it. */
#define CUZK_PROVE_PHASES(X)                                                                       \
    X(eval)  /* A z, B z, C z and the check of each row */                                         \
    X(ntt)   /* the quotient H: 6 transforms */                                                    \
    X(h_msm) /* sums over the queries */                                                           \
    X(l_msm)                                                                                       \
    X(a_msm)                                                                                       \
    X(b1_msm)                                                                                      \
    X(b2_msm)                                                                                      \
    X(verify) /* the proof, with the key's own verifying key */

/** Nanoseconds of wall time in each phase of a proof. */
typedef struct cuzk_prove_times {
#define X(phase) uint64_t phase##_ns;
    CUZK_PROVE_PHASES(X)
#undef X
    uint64_t total_ns;
} cuzk_prove_times;

/**
 * Proves that z satisfies r1cs under pk. z: n_z = n_inputs + n_aux canonical integers, z[0] = 1. r
 * and s blind the proof; NULL for both draws them from the operating system (the rule outside
 * tests). The result is verified with pk->vk before it is returned. progress and times may be NULL;
 * each phase is one step of progress. Memory
 * besides the arguments: three vectors of max(2^lg_domain, n_z) field elements, wiped, and the
 * scratch of one sum (msm.h).
 * CUZK_E_INPUT when the witness does not satisfy the system (the first failing row is named when
 * r1cs has C) or does not fit the key, or r1cs is not the key's; CUZK_E_ARG when only one of r, s
 * is given; CUZK_E_INTERNAL when the proof of a witness that satisfies every row is not valid.
 */
cuzk_code cuzk_groth16_prove(cuzk_proof *ret, const cuzk_pk *pk, const cuzk_r1cs *r1cs,
                             const fr_repr *z, size_t n_z, const fr *r, const fr *s,
                             cuzk_pool *pool, const cuzk_progress *progress,
                             cuzk_prove_times *times, cuzk_err *err);

/** A system as a proof needs it, however its rows are kept. */
typedef struct cuzk_rows {
    uint32_t n_inputs, n_aux; /* ONE is an input */
    uint64_t n_rows;
    bool has_c; /* eval compares with C z */
    /**
     * Called once: a[j] = <A_j, z>, b[j] = <B_j, z> for j < n_rows, in Montgomery form, for the z
     * that is proved. Both and scratch have room for max(n_rows, n_inputs + n_aux) elements.
     * CUZK_E_INPUT naming the first row that fails, when has_c.
     */
    cuzk_code (*eval)(void *ctx, fr *a, fr *b, fr *scratch, cuzk_pool *pool, cuzk_err *err);
    void *ctx;
} cuzk_rows;

/** cuzk_groth16_prove for a system that is not a cuzk_r1cs; z is what rows->eval evaluates. */
cuzk_code cuzk_groth16_prove_rows(cuzk_proof *ret, const cuzk_pk *pk, const cuzk_rows *rows,
                                  const fr_repr *z, size_t n_z, const fr *r, const fr *s,
                                  cuzk_pool *pool, const cuzk_progress *progress,
                                  cuzk_prove_times *times, cuzk_err *err);

/** The sums over a key's queries, each over its own variables of one assignment, h over the
 *  quotient's coefficients. */
typedef struct cuzk_query_sums {
    g1 h, l, a, b_g1;
    g2 b_g2;
} cuzk_query_sums;

/** The proof that such sums make with the blinding r and s: what all provers end with. Not
 *  verified. */
void cuzk_groth16_assemble(cuzk_proof *ret, const cuzk_vk *vk, const cuzk_query_sums *sums,
                           const fr *r, const fr *s);

/** A verifying key with what does not depend on the proof computed once. Immutable, shareable. */
typedef struct cuzk_verifier cuzk_verifier;

/** Copies what it needs of vk, whose points are in their subgroups. The caller owns *ret: 43 KB and
 *  96 bytes for each input. CUZK_E_INPUT when alpha, beta, gamma or delta is infinity;
 *  CUZK_E_MEMORY. */
cuzk_code cuzk_verifier_new(cuzk_verifier **ret, const cuzk_vk *vk, cuzk_err *err);
void cuzk_verifier_free(cuzk_verifier *v);

/** CUZK_OK when the proof is valid for inputs[n] (without ONE); CUZK_E_INVALID when it is not;
 *  CUZK_E_INPUT when n does not fit the key or an input, which is named, is not below r;
 *  CUZK_E_MEMORY. */
cuzk_code cuzk_verify(const cuzk_verifier *v, const cuzk_proof *proof, const fr_repr *inputs,
                      size_t n, cuzk_pool *pool, cuzk_err *err);

/** The same for k proofs at once (inputs: k consecutive groups of n) by a random linear
 *  combination: says only whether all are valid. A false proof passes with probability below
 *  2^-120. Costs k + 3 Miller loops that share one final exponentiation, and one sum over the key's
 *  ic. CUZK_E_IO when the operating system has no random numbers. */
cuzk_code cuzk_verify_batch(const cuzk_verifier *v, const cuzk_proof *proofs, const fr_repr *inputs,
                            size_t n, size_t k, cuzk_pool *pool, cuzk_err *err);

/** 192 bytes: A, B, C compressed. */
void cuzk_proof_encode(uint8_t bytes[CUZK_PROOF_BYTES], const cuzk_proof *proof);

/** Checks encoding, curve and subgroup of each point and refuses infinity; CUZK_E_INPUT names
 * `name`, the offset and the point. */
cuzk_code cuzk_proof_decode(cuzk_proof *ret, const uint8_t bytes[CUZK_PROOF_BYTES],
                            const char *name, size_t offset, cuzk_err *err);

#endif
