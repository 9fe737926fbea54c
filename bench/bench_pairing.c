#include "bench.h"

#include "groth16/formats/formats.h"
#include "math/curve/pairing.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Each line: the kernel, its time, and how many Fp multiplications of the same path, as measured in
 * this run, take that time. Verification runs on one thread. Usage: bench_pairing [VECTORS], the
 * folder with verify/ in it; lines whose files are not there are skipped by name.
 */

enum { LANES = 8, ROUNDS = 2000, REPEATS = 50 };

static double mul_ns;

static void run_fp_mul(void *ctx)
{
    fp *x = ctx;
    for (int i = 0; i < ROUNDS; i++) {
        for (int j = 0; j < LANES; j++) {
            fp_mul(&x[j], &x[j], &x[LANES]);
        }
    }
    bench_touch(x);
}

static void line(const char *name, bench_fn *fn, void *ctx, int repeats)
{
    double ns = bench_min_ns(fn, ctx, repeats);
    printf("%-26s %-9s %10.1f us  = %8.0f mul\n", name, math_isa_name(math_isa_level), ns / 1e3,
           ns / mul_ns);
}

typedef struct operands {
    g1_affine p;
    g2_affine q;
    g2_prepared prepared;
    fp12 f;
    uint8_t bytes[CUZK_PROOF_BYTES];
    bool ok;
} operands;

static void run_pairing(void *ctx)
{
    operands *o = ctx;
    pairing(&o->f, &o->p, &o->q);
}

static void run_prepared(void *ctx)
{
    operands *o = ctx;
    const pairing_term term = {.p = &o->p, .prepared = &o->prepared};
    pairing_miller(&o->f, &term, 1);
    pairing_final_exp(&o->f, &o->f);
}

static void run_miller(void *ctx)
{
    operands *o = ctx;
    const pairing_term term = {.p = &o->p, .q = &o->q};
    pairing_miller(&o->f, &term, 1);
}

static void run_final_exp(void *ctx)
{
    operands *o = ctx;
    pairing_final_exp(&o->f, &o->f);
}

static void run_prepare(void *ctx)
{
    operands *o = ctx;
    g2_prepare(&o->prepared, &o->q);
}

static void run_g1_check(void *ctx)
{
    operands *o = ctx;
    o->ok &= g1_affine_in_subgroup(&o->p);
}

static void run_g2_check(void *ctx)
{
    operands *o = ctx;
    o->ok &= g2_affine_in_subgroup(&o->q);
}

static void run_decode(void *ctx)
{
    operands *o = ctx;
    cuzk_proof proof;
    o->ok &= cuzk_proof_decode(&proof, o->bytes, "bench", 0, NULL) == CUZK_OK;
}

static void bench_arithmetic(void)
{
    operands o = {.p = g1_generator, .q = g2_generator, .ok = true};
    const cuzk_proof proof = {g1_generator, g2_generator, g1_generator};
    cuzk_proof_encode(o.bytes, &proof);
    line("pairing", run_pairing, &o, REPEATS);
    line("  Miller loop", run_miller, &o, REPEATS);
    line("  final exponentiation", run_final_exp, &o, REPEATS);
    line("prepare a G2 point", run_prepare, &o, REPEATS);
    line("pairing, prepared", run_prepared, &o, REPEATS);
    line("G1 subgroup check", run_g1_check, &o, REPEATS);
    line("G2 subgroup check", run_g2_check, &o, REPEATS);
    line("decode a proof", run_decode, &o, REPEATS);
    if (!o.ok) {
        printf("bench_pairing: a check failed\n");
        exit(1);
    }
}

/* A key with proofs and inputs. */
typedef struct set {
    cuzk_verifier *verifier;
    cuzk_proof *proofs;
    fr_repr *inputs;
    uint8_t bytes[CUZK_PROOF_BYTES];
    size_t n, k;
} set;

static _Noreturn void stop(const cuzk_err *err)
{
    printf("bench_pairing: %s\n", err->msg);
    exit(cuzk_code_exit_status(err->code));
}

/* Decodes the first proof and verifies it. */
static void run_verify(void *ctx)
{
    set *s = ctx;
    cuzk_err err;
    cuzk_proof proof;
    if (cuzk_proof_decode(&proof, s->bytes, "bench", 0, &err) != CUZK_OK ||
        cuzk_verify(s->verifier, &proof, s->inputs, s->n, NULL, &err) != CUZK_OK) {
        stop(&err);
    }
}

static void run_batch(void *ctx)
{
    set *s = ctx;
    cuzk_err err;
    if (cuzk_verify_batch(s->verifier, s->proofs, s->inputs, s->n, s->k, NULL, &err) != CUZK_OK) {
        stop(&err);
    }
}

static void bench_verify(const char *folder, const char *stem, int repeats)
{
    char name[3][512], label[64];
    static const char *const ends[3] = {"vk", "proof", "inputs"};
    for (int i = 0; i < 3; i++) {
        snprintf(name[i], sizeof name[i], "%s/verify/%s.%s", folder, stem, ends[i]);
        if (access(name[i], R_OK) != 0) {
            printf("skipped: %s is not here\n", name[i]);
            return;
        }
    }
    cuzk_err err;
    cuzk_vk vk;
    set s;
    size_t all;
    if (cuzk_vk_read(&vk, name[0], POINT_CHECK_CURVE, &err) != CUZK_OK ||
        cuzk_proofs_read(&s.proofs, &s.k, name[1], &err) != CUZK_OK ||
        cuzk_inputs_read(&s.inputs, &all, name[2], &err) != CUZK_OK ||
        cuzk_verifier_new(&s.verifier, &vk, &err) != CUZK_OK) {
        stop(&err);
    }
    s.n = all / s.k;
    cuzk_proof_encode(s.bytes, &s.proofs[0]);
    snprintf(label, sizeof label, "verify, %zu inputs", s.n);
    line(label, run_verify, &s, repeats);
    if (s.k > 1) {
        snprintf(label, sizeof label, "batch of %zu, %zu inputs", s.k, s.n);
        line(label, run_batch, &s, repeats);
    }
    free(s.proofs);
    free(s.inputs);
    cuzk_verifier_free(s.verifier);
    cuzk_vk_clear(&vk);
}

static void bench_level(const char *folder)
{
    fp x[LANES + 1];
    for (int i = 0; i <= LANES; i++) {
        x[i] = i % 2 ? g1_generator.x : g1_generator.y;
    }
    mul_ns = bench_min_ns(run_fp_mul, x, REPEATS) / (ROUNDS * LANES);
    printf("%-26s %-9s %10.4f us\n", "fp_mul", math_isa_name(math_isa_level), mul_ns / 1e3);
    bench_arithmetic();
    bench_verify(folder, "polka-storage-2KiB/porep", 20);
    bench_verify(folder, "filecoin-v27-32GiB/winning32", 20);
    bench_verify(folder, "filecoin-v27-32GiB/seal32", 10);
    bench_verify(folder, "filecoin-v27-32GiB/window32", 3);
}

int main(int argc, char **argv)
{
    math_isa top = math_isa_level;
    for (math_isa isa = MATH_ISA_PORTABLE; isa <= top; isa++) {
        if (math_isa_limit(isa) == isa) {
            bench_level(argc > 1 ? argv[1] : "../shared/vectors");
        }
    }
    return 0;
}
