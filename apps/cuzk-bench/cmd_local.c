#include "bench.h"

#include "base/file.h"
#include "base/system.h"
#include "filecoin/statement.h"
#include "gadget/expand.h"
#include "r1cs/assignment.h"
#include "r1cs/shape_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The host's part of a proof, measured in this process: no daemon, no key. */

enum { KEY_SAVE = 0x5000, KEY_VALIDATE, CHUNK_ROWS = 1 << 20 };

typedef struct options {
    bench_proof_args proof;
    const char *iterations, *save, *threads;
    bool validate;
} options;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->proof;
        return 0;
    case 'i':
        o->iterations = arg;
        return 0;
    case 'j':
        o->threads = arg;
        return 0;
    case KEY_SAVE:
        o->save = arg;
        return 0;
    case KEY_VALIDATE:
        o->validate = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child proof_children[] = {{&bench_proof_argp, 0, NULL, 0}, {0}};

/* ---- what is measured ---- */

typedef struct subject {
    cuzk_circuit_id id;
    cuzk_statement *statement;
    cuzk_shape *shape;
    unsigned partition;
    cuzk_pool *pool;
    double read_ms, shape_ms;
} subject;

static double since_ms(uint64_t begin) { return (double)(cuzk_clock_ns() - begin) / 1e6; }

static cuzk_code kind_of(cuzk_proof_kind *ret, const bench_proof_args *a, cuzk_err *err)
{
    static const cuzk_proof_kind kinds[] = {CUZK_POREP, CUZK_UPDATE, CUZK_WINDOW_POST,
                                            CUZK_WINNING_POST};
    Cuzk__V1__ProofKind kind;
    CUZK_TRY(bench_kind(&kind, a->type ? a->type : "porep", err));
    *ret = kinds[kind - 1];
    return CUZK_OK;
}

/* The size that was given, or that of the C1. */
static cuzk_code sector_of(const cuzk_sector **ret, const bench_proof_args *a, cuzk_proof_kind kind,
                           cuzk_err *err)
{
    if (!a->sector_size && kind == CUZK_POREP) {
        cuzk_porep porep;
        CUZK_TRY(cuzk_porep_read_file(&porep, a->c1, NULL, err));
        *ret = porep.proof.sector;
        cuzk_porep_clear(&porep);
        return CUZK_OK;
    }
    const char *name = a->sector_size ? a->sector_size : "32GiB";
    *ret = cuzk_sector_named(name);
    return *ret ? CUZK_OK
                : CUZK_FAIL(err, CUZK_E_ARG, "--sector-size: there are no sectors of %s", name);
}

static cuzk_code read_statement(subject *s, const bench_proof_args *a, cuzk_err *err)
{
    uint8_t randomness[32] = {0};
    uint64_t number = 0;
    const cuzk_claims claims = {.randomness = randomness};
    if (a->randomness && !cuzk_hex_parse(a->randomness, randomness, 32)) {
        return CUZK_FAIL(err, CUZK_E_ARG, "--randomness wants 64 hexadecimal digits");
    }
    if (a->partition) {
        CUZK_TRY(bench_number(&number, a->partition, "--partition", 0, UINT32_MAX, err));
    }
    s->partition = (unsigned)number;
    bool porep = s->id.kind == CUZK_POREP;
    return cuzk_statement_read(&s->statement, &s->id, porep ? &a->c1 : a->vanilla,
                               porep ? 1 : a->n_vanilla, &claims, err);
}

static void clear_subject(subject *s)
{
    cuzk_shape_free(s->shape);
    cuzk_statement_free(s->statement);
    cuzk_pool_free(s->pool);
}

static cuzk_code open_subject(subject *s, const options *o, cuzk_err *err)
{
    uint64_t threads = 0;
    const bench_proof_args *a = &o->proof;
    CUZK_TRY(kind_of(&s->id.kind, a, err));
    if (s->id.kind == CUZK_POREP ? !a->c1 : a->n_vanilla == 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%s is missing",
                         s->id.kind == CUZK_POREP ? "--c1" : "--vanilla");
    }
    CUZK_TRY(sector_of(&s->id.sector, a, s->id.kind, err));
    if (o->threads) {
        CUZK_TRY(bench_number(&threads, o->threads, "--threads", 1, 1024, err));
    }
    CUZK_TRY(cuzk_pool_new(&s->pool, (unsigned)threads, err));
    uint64_t begin = cuzk_clock_ns();
    CUZK_TRY(read_statement(s, a, err));
    s->read_ms = since_ms(begin);
    if (s->partition >= cuzk_statement_partitions(s->statement)) {
        return CUZK_FAIL(err, CUZK_E_ARG, "--partition: the proof has %u of them",
                         cuzk_statement_partitions(s->statement));
    }
    begin = cuzk_clock_ns();
    CUZK_TRY(cuzk_circuit_shape(&s->shape, &s->id, err));
    s->shape_ms = since_ms(begin);
    return CUZK_OK;
}

/* ---- synth-only ---- */

static const struct argp_option synth_list[] = {
    {"iterations", 'i', "N", 0, "How often (default 1)", 20},
    {"threads", 'j', "N", 0, "Threads (default: all processors)", 20},
    {0},
};

static const struct argp synth_argp = {
    .options = synth_list,
    .parser = parse,
    .children = proof_children,
    .doc = "Measures what the host does for one partition: reading and checking the vanilla proof, "
           "port values, and the expansion that a device does in their place.",
};

static cuzk_code synthesize(const subject *s, cuzk_err *err)
{
    cuzk_ports ports;
    cuzk_packed packed;
    uint64_t begin = cuzk_clock_ns();
    CUZK_TRY(cuzk_statement_check(s->statement, s->partition, s->pool, err));
    double check_ms = since_ms(begin);
    begin = cuzk_clock_ns();
    CUZK_TRY(cuzk_statement_ports(s->statement, s->partition, s->shape, &ports, err));
    double ports_ms = since_ms(begin);
    begin = cuzk_clock_ns();
    cuzk_code code = cuzk_expand(&packed, s->shape, &ports, s->pool, err);
    double expand_ms = since_ms(begin);
    if (code == CUZK_OK) {
        bench_say("  check %.1f ms, ports %.1f ms (%.2f MB for the device), expansion %.1f ms "
                  "(%u variables)",
                  check_ms, ports_ms,
                  (double)(cuzk_shape_record_bytes(s->shape) + 32 * s->shape->n_inputs) / 1e6,
                  expand_ms, cuzk_shape_aux(s->shape));
        cuzk_packed_clear(&packed);
    }
    cuzk_ports_clear(&ports);
    return code;
}

static cuzk_code synth(subject *s, const options *o, cuzk_err *err)
{
    uint64_t iterations = 1;
    CUZK_TRY(open_subject(s, o, err));
    if (o->iterations) {
        CUZK_TRY(bench_number(&iterations, o->iterations, "--iterations", 1, 1000000, err));
    }
    char name[CUZK_SHAPE_NAME_MAX];
    cuzk_circuit_name(name, &s->id);
    bench_say("%s, partition %u: read in %.1f ms, circuit made in %.1f ms", name, s->partition,
              s->read_ms, s->shape_ms);
    for (uint64_t i = 0; i < iterations; i++) {
        CUZK_TRY(synthesize(s, err));
    }
    return CUZK_OK;
}

cuzk_code bench_synth(int argc, char **argv, cuzk_err *err)
{
    options o = {0};
    subject s = {0};
    bench_target target;
    CUZK_TRY(bench_parse(&synth_argp, argc, argv, &o, &target, err));
    cuzk_code code = synth(&s, &o, err);
    clear_subject(&s);
    return code;
}

/* ---- pce-bench ---- */

static const struct argp_option pce_list[] = {
    {"save-pce", KEY_SAVE, "FILE", 0, "Keep the compressed constraints in a file", 20},
    {"validate", KEY_VALIDATE, NULL, 0, "Check that the witness satisfies every row", 20},
    {"threads", 'j', "N", 0, "Threads (default: all processors)", 20},
    {0},
};

static const struct argp pce_argp = {
    .options = pce_list,
    .parser = parse,
    .children = proof_children,
    .doc = "Measures the compressed constraints of a circuit: making, size, loading, and the "
           "evaluation of A, B and C on the witness of one partition.",
};

/* Evaluates one matrix, about a million rows at a time, as nobody wants 4 GB at once. */
static cuzk_code eval_matrix(const subject *s, const cuzk_packed *packed, unsigned matrix,
                             double *ret_ms, cuzk_err *err)
{
    const cuzk_instance *instances = s->shape->instances;
    uint32_t n = s->shape->n_instances, longest = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rows = instances[i + 1].row - instances[i].row;
        longest = rows > longest ? rows : longest;
    }
    fr *out = cuzk_alloc_large(CHUNK_ROWS + longest, sizeof *out);
    if (!out) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a million rows");
    }
    uint64_t begin = cuzk_clock_ns();
    cuzk_code code = CUZK_OK;
    for (uint32_t from = 0, to; from < n && code == CUZK_OK; from = to) {
        to = from + 1;
        while (to < n && instances[to].row - instances[from].row < CHUNK_ROWS) {
            to++;
        }
        code = cuzk_packed_eval(packed, s->shape, matrix, from, to, out, s->pool, err);
    }
    *ret_ms = since_ms(begin);
    free(out);
    return code;
}

static cuzk_code evaluate(const subject *s, const options *o, cuzk_err *err)
{
    cuzk_ports ports;
    cuzk_packed packed;
    double ms[3];
    CUZK_TRY(cuzk_statement_ports(s->statement, s->partition, s->shape, &ports, err));
    cuzk_code code = cuzk_expand(&packed, s->shape, &ports, s->pool, err);
    cuzk_ports_clear(&ports);
    CUZK_TRY(code);
    for (unsigned m = 0; m < 3 && code == CUZK_OK; m++) {
        code = eval_matrix(s, &packed, m, &ms[m], err);
    }
    if (code == CUZK_OK) {
        bench_say("  evaluation: A %.1f ms, B %.1f ms, C %.1f ms", ms[0], ms[1], ms[2]);
    }
    if (code == CUZK_OK && o->validate) {
        uint64_t begin = cuzk_clock_ns();
        code = cuzk_packed_check(&packed, s->shape, s->pool, err);
        if (code == CUZK_OK) {
            bench_say("  validated: all %u rows hold, in %.1f ms", cuzk_shape_rows(s->shape),
                      since_ms(begin));
        }
    }
    cuzk_packed_clear(&packed);
    return code;
}

static cuzk_code save_and_load(const subject *s, const char *name, cuzk_err *err)
{
    cuzk_shape *again;
    char expected[CUZK_SHAPE_NAME_MAX];
    cuzk_circuit_shape_name(expected, &s->id);
    uint64_t begin = cuzk_clock_ns();
    CUZK_TRY(cuzk_shape_save(s->shape, name, err));
    double write_ms = since_ms(begin);
    begin = cuzk_clock_ns();
    CUZK_TRY(cuzk_shape_load(&again, name, expected, err));
    bench_say("  saved in %.1f ms, loaded and checked in %.1f ms", write_ms, since_ms(begin));
    cuzk_shape_free(again);
    return CUZK_OK;
}

/* Saving and loading is measured in a folder that goes away, unless the file is wanted. */
static cuzk_code save_and_load_temporary(const subject *s, cuzk_err *err)
{
    char folder[CUZK_TEMPORARY_MAX], file[CUZK_TEMPORARY_MAX + 16];
    CUZK_TRY(cuzk_temporary_folder(folder, "cuzk-bench", err));
    snprintf(file, sizeof file, "%s/circuit", folder);
    cuzk_code code = save_and_load(s, file, err);
    cuzk_remove_folder(folder);
    return code;
}

static cuzk_code pce(subject *s, const options *o, cuzk_err *err)
{
    char name[CUZK_SHAPE_NAME_MAX];
    CUZK_TRY(open_subject(s, o, err));
    cuzk_circuit_name(name, &s->id);
    bench_say("%s: %u rows, %u variables; %.2f MB, made in %.1f ms", name,
              cuzk_shape_rows(s->shape), cuzk_shape_aux(s->shape), (double)s->shape->image.n / 1e6,
              s->shape_ms);
    CUZK_TRY(o->save ? save_and_load(s, o->save, err) : save_and_load_temporary(s, err));
    return evaluate(s, o, err);
}

cuzk_code bench_pce(int argc, char **argv, cuzk_err *err)
{
    options o = {0};
    subject s = {0};
    bench_target target;
    CUZK_TRY(bench_parse(&pce_argp, argc, argv, &o, &target, err));
    cuzk_code code = pce(&s, &o, err);
    clear_subject(&s);
    return code;
}
