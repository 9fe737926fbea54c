#include "bench.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- single ---- */

typedef struct single_options {
    bench_proof_args proof;
    const char *out;
} single_options;

static const struct argp_option single_list[] = {
    {"out", 'o', "FILE", 0, "Write the proof", 20},
    {0},
};

static error_t parse_single(int key, char *arg, struct argp_state *state)
{
    single_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->proof;
        return 0;
    case 'o':
        o->out = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child proof_children[] = {{&bench_proof_argp, 0, NULL, 0}, {0}};

static const struct argp single_argp = {
    .options = single_list,
    .parser = parse_single,
    .children = proof_children,
    .doc = "Has one proof made and shows what it took.\v"
           "  cuzk-bench single -t porep --c1 c1.json\n"
           "  cuzk-bench single -t wpost --sector-size 2KiB --vanilla s0.vproof --vanilla "
           "s1.vproof --randomness HEX",
};

static void print_result(const bench_result *r)
{
    bench_say("=== Proof Result ===");
    bench_say("status: %s", bench_status_name(r->status));
    bench_say("job_id: %s", r->job_id);
    bench_say("timings: total=%llu ms (queue=%llu, srs=%llu, synth=%llu, gpu=%llu)",
              (unsigned long long)r->total_ms, (unsigned long long)r->queue_ms,
              (unsigned long long)r->srs_ms, (unsigned long long)r->synth_ms,
              (unsigned long long)r->gpu_ms);
    bench_say("wall time: %.3f s", (double)r->wall_ns / 1e9);
    if (r->status != CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED) {
        bench_say("error: %s", r->error);
        return;
    }
    char hex[65];
    size_t shown = r->proof_bytes < 32 ? r->proof_bytes : 32;
    cuzk_hex_format(hex, r->proof, shown);
    bench_say("proof: %zu bytes (hex: %s%s)", r->proof_bytes, hex,
              shown < r->proof_bytes ? "..." : "");
}

static cuzk_code single(const single_options *o, const bench_target *target, cuzk_err *err)
{
    bench_proof proof;
    cuzk_rpc_client *client = NULL;
    bench_result r = {0};
    cuzk_code code = bench_proof_open(&proof, &o->proof, err);
    if (code == CUZK_OK) {
        code = bench_connect(&client, target, err);
    }
    if (code == CUZK_OK) {
        code = bench_prove(client, &proof, &r, err);
    }
    if (code == CUZK_OK) {
        print_result(&r);
        if (r.status != CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED) {
            code = CUZK_FAIL(err, CUZK_E_INTERNAL, "no proof: %s", r.error);
        } else if (o->out) {
            code = cuzk_file_write(o->out, r.proof, r.proof_bytes, err);
        }
    }
    bench_result_clear(&r);
    cuzk_rpc_client_close(client);
    bench_proof_clear(&proof);
    return code;
}

cuzk_code bench_single(int argc, char **argv, cuzk_err *err)
{
    single_options o = {0};
    bench_target target;
    CUZK_TRY(bench_parse(&single_argp, argc, argv, &o, &target, err));
    return single(&o, &target, err);
}

/* ---- batch ---- */

typedef struct batch_options {
    bench_proof_args proof;
    const char *count, *concurrency, *out, *timeline;
} batch_options;

enum { KEY_TIMELINE = 0x5000, COUNT_MAX = 1000000, CONCURRENCY_MAX = 1024 };

static const struct argp_option batch_list[] = {
    {"count", 'c', "N", 0, "How many proofs (default 3)", 20},
    {"concurrency", 'j', "N", 0, "How many at a time (default 1)", 20},
    {"out", 'o', "FOLDER", 0, "Write the proofs as 0.proof, 1.proof, …", 20},
    {"timeline", KEY_TIMELINE, "FILE", 0, "Save the events of the run, for waterfall and compare",
     20},
    {0},
};

static error_t parse_batch(int key, char *arg, struct argp_state *state)
{
    batch_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->proof;
        return 0;
    case 'c':
        o->count = arg;
        return 0;
    case 'j':
        o->concurrency = arg;
        return 0;
    case 'o':
        o->out = arg;
        return 0;
    case KEY_TIMELINE:
        o->timeline = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp batch_argp = {
    .options = batch_list,
    .parser = parse_batch,
    .children = proof_children,
    .doc = "Has the same proof made several times, prints a line as each completes, and sums up.\v"
           "  cuzk-bench batch -t porep --c1 c1.json -c 5 -j 2",
};

static cuzk_code batch(const batch_options *o, const bench_target *target, cuzk_err *err)
{
    uint64_t count = 3, concurrency = 1;
    bench_proof proof;
    bench_run run;
    if (o->count) {
        CUZK_TRY(bench_number(&count, o->count, "--count", 1, COUNT_MAX, err));
    }
    if (o->concurrency) {
        CUZK_TRY(
            bench_number(&concurrency, o->concurrency, "--concurrency", 1, CONCURRENCY_MAX, err));
    }
    const bench_run_args args = {(unsigned)count, (unsigned)concurrency, o->out, o->timeline,
                                 false};
    cuzk_code code = bench_proof_open(&proof, &o->proof, err);
    if (code == CUZK_OK) {
        bench_say("=== Batch: %s, count=%llu, concurrency=%llu ===",
                  bench_kind_name(proof.message.proof_kind), (unsigned long long)count,
                  (unsigned long long)concurrency);
        code = bench_run_batch(&run, target, &proof, &args, err);
    }
    if (code == CUZK_OK) {
        code = bench_run_print(&run, err);
        if (code == CUZK_OK && run.failed) {
            code = CUZK_FAIL(err, CUZK_E_INTERNAL, "%u of %llu proofs failed", run.failed,
                             (unsigned long long)count);
        }
        bench_run_clear(&run);
    }
    bench_proof_clear(&proof);
    return code;
}

cuzk_code bench_batch(int argc, char **argv, cuzk_err *err)
{
    batch_options o = {0};
    bench_target target;
    CUZK_TRY(bench_parse(&batch_argp, argc, argv, &o, &target, err));
    return batch(&o, &target, err);
}
