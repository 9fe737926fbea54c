#include "circuit_args.h"

#include "gadget/expand.h"
#include "groth16/formats/formats.h"
#include "r1cs/assignment.h"
#include "r1cs/shape_csr.h"

#include <inttypes.h>
#include <stdlib.h>

/* All that is read before the first partition is proved, and the results. */
typedef struct task {
    const cli_prove_circuit *told;
    cuzk_pool *pool;
    cli_bar bar;
    cuzk_progress progress; /* of the bar */
    cli_statement s;
    cuzk_shape *shape;
    cuzk_r1cs *r1cs;
    cuzk_pk *pk;
    char params[CLI_PATH_MAX];
    fr_repr *z; /* of the partition at hand, secret */
    size_t n_z, n_public;
    uint8_t *proofs, *public; /* of all partitions; public in 32 bytes each */
} task;

static void report(const task *t, const char *phase)
{
    t->progress.fn(t->progress.ctx, phase, 0, 0);
}

/* Nothing is proved unless all partitions are right, which costs little to know. */
static cuzk_code check_all(const task *t, cuzk_err *err)
{
    report(t, "checking");
    for (unsigned k = t->s.first; k < t->s.end; k++) {
        CUZK_TRY(cuzk_statement_check(t->s.statement, k, t->pool, err));
    }
    return CUZK_OK;
}

static cuzk_code load_key(task *t, cuzk_err *err)
{
    CUZK_TRY(cli_params_path(t->params, t->told->params, &t->s.id, ".params", err));
    report(t, "circuit");
    CUZK_TRY(cli_circuit_shape(&t->shape, &t->s.id, err));
    CUZK_TRY(cuzk_shape_to_r1cs(&t->r1cs, t->shape, err));
    report(t, "key");
    CUZK_TRY(cuzk_params_read(&t->pk, t->params, t->r1cs, POINT_CHECK_NONE, t->pool, err));
    t->n_z = (size_t)t->r1cs->n_inputs + t->r1cs->n_aux;
    t->n_public = t->r1cs->n_inputs - 1;
    size_t n = t->s.end - t->s.first;
    t->z = cuzk_alloc_large(t->n_z, sizeof *t->z);
    t->proofs = malloc(n * CUZK_PROOF_BYTES);
    t->public = malloc(n * t->n_public * 32);
    return t->z && t->proofs && t->public
               ? CUZK_OK
               : CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a witness of %zu values", t->n_z);
}

/* The witness of a partition, in z; both of its stages. */
static cuzk_code make_witness(task *t, unsigned k, cuzk_err *err)
{
    cuzk_ports ports;
    cuzk_packed packed;
    report(t, "witness");
    CUZK_TRY(cuzk_statement_ports(t->s.statement, k, t->shape, &ports, err));
    cuzk_code code = cuzk_expand(&packed, t->shape, &ports, t->pool, err);
    cuzk_ports_clear(&ports);
    CUZK_TRY(code);
    cuzk_packed_values(&packed, t->shape, t->z, t->pool);
    cuzk_packed_clear(&packed);
    return CUZK_OK;
}

/* The public inputs of a partition, which must be those that a verifier will make. */
static cuzk_code make_public(const task *t, unsigned k, cuzk_err *err)
{
    fr_repr *inputs = malloc((t->n_public + 1) * sizeof *inputs);
    if (!inputs) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu inputs", t->n_public);
    }
    cuzk_code code = cuzk_statement_inputs(t->s.statement, k, inputs, err);
    if (code == CUZK_OK && memcmp(inputs, t->z + 1, t->n_public * sizeof *inputs) != 0) {
        code =
            CUZK_FAIL(err, CUZK_E_INTERNAL,
                      "the public inputs of partition %u are not those that a verifier makes", k);
    }
    uint8_t *bytes = t->public + (size_t)(k - t->s.first) * t->n_public * 32;
    for (size_t i = 0; code == CUZK_OK && i < t->n_public; i++) {
        fr_repr_to_bytes(bytes + 32 * i, &inputs[i]);
    }
    free(inputs);
    return code;
}

static cuzk_code prove_one(task *t, unsigned k, cuzk_err *err)
{
    cuzk_proof proof;
    cuzk_prove_times times;
    cuzk_err why = {0};
    uint64_t start = cuzk_clock_ns();
    CUZK_TRY(make_witness(t, k, err));
    CUZK_TRY(make_public(t, k, err));
    double witness_ms = (double)(cuzk_clock_ns() - start) / 1e6;
    cuzk_code code = cuzk_groth16_prove(&proof, t->pk, t->r1cs, t->z, t->n_z, t->told->r,
                                        t->told->s, t->pool, &t->progress, &times, &why);
    if (code != CUZK_OK) {
        return CUZK_FAIL(err, code, "partition %u with %s: %s", k, t->params, why.msg);
    }
    cuzk_proof_encode(t->proofs + (size_t)(k - t->s.first) * CUZK_PROOF_BYTES, &proof);
    cli_bar_end(&t->bar);
    cli_say("partition %u: proved and verified in %.2f s", k,
            (double)(cuzk_clock_ns() - start) / 1e9);
    if (t->told->verbose) {
        printf("witness %.1f ms, ", witness_ms);
        cli_say_times(&times);
    }
    cli_bar_begin(&t->bar, "witness");
    return CUZK_OK;
}

static cuzk_code prove_all(task *t, cuzk_err *err)
{
    uint64_t start = cuzk_clock_ns();
    CUZK_TRY(check_all(t, err));
    double check_s = (double)(cuzk_clock_ns() - start) / 1e9;
    CUZK_TRY(load_key(t, err));
    double load_s = (double)(cuzk_clock_ns() - start) / 1e9 - check_s;
    if (t->told->verbose) {
        cli_bar_end(&t->bar);
        cli_say("input checked in %.2f s, circuit and key read in %.2f s", check_s, load_s);
        cli_bar_begin(&t->bar, "witness");
    }
    for (unsigned k = t->s.first; k < t->s.end; k++) {
        CUZK_TRY(prove_one(t, k, err));
    }
    return CUZK_OK;
}

static cuzk_code write_files(const task *t, cuzk_err *err)
{
    size_t n = t->s.end - t->s.first;
    CUZK_TRY(cuzk_file_write(t->told->proof, t->proofs, n * CUZK_PROOF_BYTES, err));
    cli_say("wrote %s, %zu proof%s of %s", t->told->proof, n, n == 1 ? "" : "s",
            t->told->args->circuit);
    if (t->told->public) {
        CUZK_TRY(cuzk_file_write(t->told->public, t->public, n * t->n_public * 32, err));
        cli_say("wrote %s, %zu public inputs", t->told->public, n * t->n_public);
    }
    if (t->told->verbose) {
        char peak[32];
        cli_format_bytes(peak, cuzk_peak_rss_bytes());
        cli_say("peak memory %s", peak);
    }
    return CUZK_OK;
}

cuzk_code cli_circuit_prove(const cli_prove_circuit *told, cuzk_pool *pool, cuzk_err *err)
{
    task t = {.told = told, .pool = pool};
    CUZK_TRY(cli_require(told->params, "--params", err));
    CUZK_TRY(cli_require(told->proof, "--proof", err));
    CUZK_TRY(cli_statement_open(&t.s, told->args, err));
    cli_bar_begin(&t.bar, "reading");
    t.progress = cli_bar_progress(&t.bar);
    cuzk_code code = prove_all(&t, err);
    cli_bar_end(&t.bar);
    if (code == CUZK_OK) {
        code = write_files(&t, err);
    }
    if (t.z) {
        cuzk_wipe(t.z, t.n_z * sizeof *t.z);
    }
    free(t.z);
    free(t.proofs);
    free(t.public);
    cuzk_pk_free(t.pk);
    cuzk_r1cs_free(t.r1cs);
    cuzk_shape_free(t.shape);
    cli_statement_close(&t.s);
    return code;
}
