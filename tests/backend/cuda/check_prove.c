#include "checks.h"
#include "vectors.h"

#include "backend/cuda/prove.h"
#include "base/sha256.h"
#include "base/system.h"
#include "filecoin/statement.h"
#include "groth16/formats/formats.h"
#include "r1cs/assignment.h"

#include <stdlib.h>
#include <string.h>

/*
 * Partitions of the reference on the card: the key from the secrets named "ref", the proof of
 * partition 0 with r "ref-r-0" and s "ref-s-0".
 */

typedef struct reference_row {
    const char *circuit;
    const char *files[2];
    const char *vk, *proof;
    const char *aux, *a, *b; /* SHA-256 of the witness and the rows' values, or NULL */
} reference_row;

static const reference_row small_rows[] = {
    {"window-2KiB",
     {"window-2KiB.sector0.bincode", "window-2KiB.sector1.bincode"},
     "window-2KiB.vk",
     "window-2KiB.0.proof",
     NULL,
     NULL,
     NULL},
    {"winning-2KiB",
     {"winning-2KiB.sector0.bincode", NULL},
     "winning-2KiB.vk",
     "winning-2KiB.0.proof",
     NULL,
     NULL,
     NULL},
    {"update-2KiB",
     {"update-2KiB.partition0.bincode", NULL},
     "update-2KiB-p0.oracle.vk",
     "update-2KiB-p0.oracle.proof",
     NULL,
     NULL,
     NULL},
    {"porep-2KiB",
     {"c1-2KiB.bincode", NULL},
     "porep-2KiB.oracle.vk",
     "porep-2KiB.oracle.proof",
     NULL,
     NULL,
     NULL},
    {"window-32GiB-2sectors",
     {"window-32GiB.sector0.bincode", "window-32GiB.sector1.bincode"},
     "window-32GiB-2sectors.oracle.vk",
     "window-32GiB-2sectors.oracle.proof",
     NULL,
     NULL,
     NULL},
    {"porep-8MiB",
     {"c1-8MiB.bincode", NULL},
     "porep-8MiB.oracle.vk",
     "porep-8MiB.oracle.proof",
     "4083b89adca095b72ab6da2abba7dbcf73a0e8ae89585cee431b3cb6c1502158",
     "2c34fef08da324d4c6866be86dabb7ac16ae89e43fe80b46d2b9cd0ad884efb3",
     "a14b3bffdae7c890acb0f5e7f48757c4855fc7588e9c29d9b5646534274ad4f9"},
};

static const reference_row large_row = {
    "porep-32GiB",
    {"c1-32GiB.bincode", NULL},
    "porep-32GiB-p0.oracle.vk",
    "porep-32GiB-p0.oracle.proof",
    "c4ac5e32b07546d7e9796c794b495e07f6a1b35f133867a0db3ee340d4a2439f",
    "b376d9270a26c342d9343fd4045e13efc887057740939965ea0ac643cad6a00e",
    "420f2030c755db1d87e7025bfa1c8cc8140045f2d4aa2dc3527090f4a8e25128"};

/* A circuit with its key on the card, and what is to be proved. */
typedef struct trial {
    const reference_row *row;
    cuzk_cuda_memory memory;
    cuzk_circuit_id id;
    cuzk_shape *shape; /* the prover's, once there is one */
    cuzk_cuda_prover *prover;
    cuzk_statement *statement;
    cuzk_pool *pool;
} trial;

static bool open_trial(check_ctx *c, trial *t, double *ret_key_s)
{
    cuzk_err e;
    cuzk_trapdoor secrets;
    cuzk_load_times times;
    cuzk_device_info info;
    CHECK_OK(c, cuzk_pool_new(&t->pool, 0, &e), e);
    CHECK_OK(c, vector_statement(&t->statement, &t->id, t->row->circuit, t->row->files, &e), e);
    CHECK_OK(c, cuzk_circuit_shape(&t->shape, &t->id, &e), e);
    CHECK_OK(c, cuzk_cuda_describe(&info, &e), e);
    t->memory.budget = info.memory_free - ((uint64_t)1 << 30);
    CHECK_OK(c, cuzk_trapdoor_named(&secrets, "ref", &e), e);
    CHECK_OK(c, cuzk_cuda_prover_setup(&t->prover, t->shape, &secrets, &t->memory, &times, &e), e);
    *ret_key_s = (double)times.key_ns / 1e9;
    return true;
}

static void close_trial(trial *t)
{
    if (t->prover) {
        cuzk_cuda_prover_free(t->prover);
    } else {
        cuzk_shape_free(t->shape);
    }
    cuzk_statement_free(t->statement);
    cuzk_pool_free(t->pool);
}

static bool same_as_file(check_ctx *c, const void *bytes, size_t n, const char *name)
{
    char path[256];
    cuzk_err e;
    cuzk_file_map map;
    vector_path(path, name);
    CHECK_OK(c, cuzk_file_map_open(&map, path, &e), e);
    bool same = map.bytes.n == n && memcmp(map.bytes.p, bytes, n) == 0;
    cuzk_file_map_close(&map);
    return same || CHECK_FAIL(c, "not what %s has", name);
}

static bool check_vk(check_ctx *c, const trial *t)
{
    char path[256];
    cuzk_err e;
    cuzk_vk want;
    const cuzk_vk *vk = &cuzk_cuda_prover_key(t->prover)->vk;
    vector_path(path, t->row->vk);
    CHECK_OK(c, cuzk_vk_read(&want, path, POINT_CHECK_NONE, &e), e);
    bool same = want.n_ic == vk->n_ic &&
                memcmp(&want.alpha_g1, &vk->alpha_g1, sizeof want.alpha_g1) == 0 &&
                memcmp(&want.beta_g1, &vk->beta_g1, sizeof want.beta_g1) == 0 &&
                memcmp(&want.delta_g1, &vk->delta_g1, sizeof want.delta_g1) == 0 &&
                memcmp(&want.beta_g2, &vk->beta_g2, sizeof want.beta_g2) == 0 &&
                memcmp(&want.gamma_g2, &vk->gamma_g2, sizeof want.gamma_g2) == 0 &&
                memcmp(&want.delta_g2, &vk->delta_g2, sizeof want.delta_g2) == 0 &&
                memcmp(want.ic, vk->ic, vk->n_ic * sizeof *vk->ic) == 0;
    cuzk_vk_clear(&want);
    return same || CHECK_FAIL(c, "the verifying key is not that of %s", t->row->vk);
}

static bool same_digest(check_ctx *c, const uint8_t digest[32], const char *want, const char *what)
{
    char text[65];
    cuzk_hex_format(text, digest, 32);
    return strcmp(text, want) == 0 ||
           CHECK_FAIL(c, "the digest of %s is %s, not %s", what, text, want);
}

static void digest_rows(uint8_t ret[32], const fr *rows, size_t n)
{
    cuzk_sha256_state h;
    uint8_t bytes[256][32];
    cuzk_sha256_init(&h);
    for (size_t at = 0; at < n; at += 256) {
        size_t k = n - at < 256 ? n - at : 256;
        for (size_t i = 0; i < k; i++) {
            fr_to_bytes(bytes[i], &rows[at + i]);
        }
        cuzk_sha256_update(&h, bytes, k * sizeof *bytes);
    }
    cuzk_sha256_final(&h, ret);
}

/* The three digests at once. */
typedef struct digests {
    const trial *t;
    const cuzk_packed *packed;
    const fr *a, *b;
    uint8_t digest[3][32];
    cuzk_code code;
} digests;

static void make_digest(void *ctx, size_t i, unsigned worker)
{
    (void)worker;
    digests *d = ctx;
    size_t n = cuzk_shape_rows(d->t->shape);
    if (i == 0) {
        d->code =
            cuzk_packed_digest(d->packed, d->t->shape, CUZK_PART_AUX, d->digest[0], NULL, NULL);
    } else {
        digest_rows(d->digest[i], i == 1 ? d->a : d->b, n);
    }
}

static bool check_vectors(check_ctx *c, trial *t, const cuzk_partition_task *task)
{
    cuzk_err e;
    cuzk_packed packed;
    size_t n = cuzk_shape_rows(t->shape);
    fr *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    if (!a || !b) {
        free(a);
        free(b);
        return CHECK_FAIL(c, "no memory for %zu rows", n);
    }
    bool ok = cuzk_cuda_prover_vectors(t->prover, task, &packed, a, b, NULL, &e) == CUZK_OK ||
              CHECK_FAIL(c, "%s", e.msg);
    if (ok) {
        digests d = {.t = t, .packed = &packed, .a = a, .b = b};
        cuzk_pool_run(t->pool, 3, make_digest, &d);
        ok = same_digest(c, d.digest[0], t->row->aux, "the witness") &&
             same_digest(c, d.digest[1], t->row->a, "A w") &&
             same_digest(c, d.digest[2], t->row->b, "B w");
        cuzk_packed_clear(&packed);
    }
    free(a);
    free(b);
    return ok;
}

static void print_times(const char *what, unsigned k, const cuzk_partition_result *r, double total)
{
    printf("  %s %u:", what, k);
#define X(phase) printf(" " #phase " %.2f", (double)r->times.phase##_ns / 1e6);
    CUZK_DEVICE_PHASES(X)
#undef X
    printf(" ms, in all %.2f ms\n", total);
    fflush(stdout);
}

static bool verify(check_ctx *c, trial *t, unsigned k, const uint8_t bytes[CUZK_PROOF_BYTES])
{
    cuzk_err e;
    cuzk_proof proof;
    cuzk_verifier *v;
    size_t n = cuzk_statement_input_count(&t->id);
    fr_repr *inputs = malloc(n * sizeof *inputs);
    if (!inputs) {
        return CHECK_FAIL(c, "no memory for %zu inputs", n);
    }
    cuzk_code code = cuzk_statement_inputs(t->statement, k, inputs, &e);
    if (code == CUZK_OK) {
        code = cuzk_proof_decode(&proof, bytes, "the proof", 0, &e);
    }
    if (code == CUZK_OK) {
        code = cuzk_verifier_new(&v, &cuzk_cuda_prover_key(t->prover)->vk, &e);
    }
    if (code == CUZK_OK) {
        code = cuzk_verify(v, &proof, inputs, n, t->pool, &e);
        cuzk_verifier_free(v);
    }
    free(inputs);
    return code == CUZK_OK || CHECK_FAIL(c, "partition %u: %s", k, e.msg);
}

/* Proves partition k; the first is compared with the reference's. */
static bool prove_one(check_ctx *c, trial *t, unsigned k, const cuzk_ports *ports)
{
    cuzk_err e;
    cuzk_partition_result result;
    cuzk_partition_task task;
    CHECK_OK(c, vector_task(&task, t->row->circuit, t->shape, ports, &e), e);
    if (k == 0 && t->row->aux && !check_vectors(c, t, &task)) {
        return false;
    }
    uint64_t start = cuzk_clock_ns();
    CHECK_OK(c, cuzk_cuda_prove(t->prover, &result, &task, &e), e);
    print_times(t->row->circuit, k, &result, (double)(cuzk_clock_ns() - start) / 1e6);
    if (k == 0 && !same_as_file(c, result.proof, sizeof result.proof, t->row->proof)) {
        return false;
    }
    return verify(c, t, k, result.proof);
}

static bool prove_partitions(check_ctx *c, trial *t, unsigned n)
{
    for (unsigned k = 0; k < n; k++) {
        cuzk_err e;
        cuzk_ports ports;
        CHECK_OK(c, cuzk_statement_ports(t->statement, k, t->shape, &ports, &e), e);
        bool ok = prove_one(c, t, k, &ports);
        cuzk_ports_clear(&ports);
        if (!ok) {
            return false;
        }
    }
    return true;
}

static bool check_row(check_ctx *c, const reference_row *row, unsigned partitions)
{
    double key_s;
    trial t = {.row = row};
    bool ok = open_trial(c, &t, &key_s);
    if (ok) {
        printf("  %s: key of %u variables in %.2f s, %.2f GB on the card\n", row->circuit,
               cuzk_shape_aux(t.shape), key_s, (double)atomic_load(&t.memory.used) / 1e9);
        fflush(stdout);
        ok = check_vk(c, &t) && prove_partitions(c, &t, partitions);
    }
    if (!ok) {
        char why[sizeof c->why];
        snprintf(why, sizeof why, "%s", c->why);
        snprintf(c->why, sizeof c->why, "%.60s: %.500s", row->circuit, why);
    }
    close_trial(&t);
    return ok;
}

bool check_known_answer(check_ctx *c)
{
    cuzk_err e;
    cuzk_cuda_memory memory = {.budget = (uint64_t)2 << 30};
    CHECK_OK(c, cuzk_cuda_known_answer(&memory, &e), e);
    return atomic_load(&memory.used) == 0 || CHECK_FAIL(c, "device memory is still taken");
}

bool check_partitions(check_ctx *c)
{
    bool ok = true;
    char why[sizeof c->why] = "";
    size_t n = c->small ? 1 : sizeof small_rows / sizeof *small_rows;
    for (size_t i = 0; i < n; i++) { /* all of them, as each may say more of what is wrong */
        if (!check_row(c, &small_rows[i], 1)) {
            printf("  %s\n", c->why);
            if (ok) {
                snprintf(why, sizeof why, "%s", c->why);
            }
            ok = false;
        }
    }
    snprintf(c->why, sizeof c->why, "%s", why);
    return ok;
}

bool check_porep_32GiB(check_ctx *c) { return c->small || check_row(c, &large_row, 10); }
