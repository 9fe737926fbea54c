#ifndef APPS_CUZK_BENCH_BENCH_H
#define APPS_CUZK_BENCH_BENCH_H

#include "base/bytes.h"
#include "common/program.h"
#include "observe/record.h"
#include "rpc/rpc_client.h"

#include "cuzk/v1/proving.pb-c.h"

/* ---- options of every command ---- */

/** Where the daemon is. Strings are borrowed from the command line. */
typedef struct bench_target {
    const char *address, *token, *ca, *cert, *key;
} bench_target;

/** Given before the command's name; the default of the commands. */
extern bench_target bench_global;

/** To be a child of each command's argp, with a bench_target as its input. */
extern const struct argp bench_target_argp;

program_run_fn bench_single, bench_batch, bench_stress, bench_status, bench_metrics, bench_preload,
    bench_evict, bench_jobs, bench_cancel, bench_waterfall, bench_compare, bench_pce, bench_synth,
    bench_slotted;

/** Parses a command's arguments; `options` is the input of argp's parser, `target` takes the
 *  common ones. */
cuzk_code bench_parse(const struct argp *argp, int argc, char **argv, void *options,
                      bench_target *target, cuzk_err *err);

/** A number of the command line within [min, max]. */
cuzk_code bench_number(uint64_t *ret, const char *text, const char *option, uint64_t min,
                       uint64_t max, cuzk_err *err);

/** One line on stdout, at once. */
void bench_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ---- calls ---- */

/** A client of the target. */
cuzk_code bench_connect(cuzk_rpc_client **ret, const bench_target *target, cuzk_err *err);

/** Calls cuzk.v1.ProvingEngine/METHOD. On CUZK_OK *ret is the answer, freed with
 *  protobuf_c_message_free_unpacked. A status other than OK is an error with the server's words. */
cuzk_code bench_call(cuzk_rpc_client *client, const char *method, const ProtobufCMessage *request,
                     uint64_t timeout_ms, const ProtobufCMessageDescriptor *type, void *ret,
                     cuzk_err *err);

/** Adds the daemon's events from *cursor on to a record and moves the cursor to their end. */
cuzk_code bench_events(cuzk_rpc_client *client, uint64_t *cursor, const char *job_id,
                       cuzk_record *record, cuzk_err *err);

/** The largest resident set of the daemon and its workers so far, by its metrics; 0 when it does
 * not say. */
uint64_t bench_peak_bytes(cuzk_rpc_client *client);

/* ---- what is proved ---- */

/** As given on the command line; NULL when not. */
typedef struct bench_proof_args {
    const char *type, *c1, *registered_proof, *sector_size, *sector_num, *miner_id, *partition;
    const char *randomness, *comm_r_old, *comm_r_new, *comm_d_new, *priority;
    const char *vanilla[64];
    size_t n_vanilla;
} bench_proof_args;

enum {
    BENCH_KEY_TYPE = 't',
    BENCH_KEY_C1 = 0x4000,
    BENCH_KEY_VANILLA,
    BENCH_KEY_REGISTERED,
    BENCH_KEY_SIZE,
    BENCH_KEY_SECTOR,
    BENCH_KEY_MINER,
    BENCH_KEY_PARTITION,
    BENCH_KEY_RANDOMNESS,
    BENCH_KEY_R_OLD,
    BENCH_KEY_R_NEW,
    BENCH_KEY_D_NEW,
    BENCH_KEY_PRIORITY,
};

/** To be a child of a command's argp, with a bench_proof_args as its input. */
extern const struct argp bench_proof_argp;

/** Takes one of these options; false when it is another's. */
bool bench_proof_option(bench_proof_args *a, const char *name, const char *value);

/** A request without its id, with the files' content. Owns all. */
typedef struct bench_proof {
    Cuzk__V1__SubmitProofRequest message;
    ProtobufCBinaryData *parts; /* what message.vanilla_proofs points to */
    uint8_t **owned;            /* blocks on the heap */
    size_t n_owned, cap_owned, cap_parts;
    uint8_t randomness[32], comm_r_old[32], comm_r_new[32], comm_d_new[32];
} bench_proof;

/** Reads the files. The struct must stay where it is. The caller clears, after an error as well. */
cuzk_code bench_proof_open(bench_proof *ret, const bench_proof_args *args, cuzk_err *err);
void bench_proof_clear(bench_proof *p);

/** Kind of proof by its name or an alias ("porep", "seal-commit", "wpost", …). */
cuzk_code bench_kind(Cuzk__V1__ProofKind *ret, const char *name, cuzk_err *err);

/** Name of a kind as in `--type`. */
const char *bench_kind_name(Cuzk__V1__ProofKind kind);

/** How one proof went. Owns the proof's bytes. */
typedef struct bench_result {
    Cuzk__V1__AwaitProofResponse__Status status;
    char job_id[256];
    char error[512];
    uint8_t *proof;
    size_t proof_bytes;
    uint64_t queue_ms, srs_ms, synth_ms, gpu_ms, total_ms; /* the daemon's */
    uint64_t wall_ns;                                      /* seen from here */
} bench_result;

/** Proves over one connection, as a job that the daemon names. An RPC that fails is an error; a
 * proof that fails is a result. */
cuzk_code bench_prove(cuzk_rpc_client *client, const bench_proof *p, bench_result *ret,
                      cuzk_err *err);
void bench_result_clear(bench_result *r);

/** "COMPLETED", "FAILED", … */
const char *bench_status_name(Cuzk__V1__AwaitProofResponse__Status status);

/* ---- a run of several proofs ---- */

typedef struct bench_run_args {
    unsigned count, concurrency;
    const char *out;      /* folder for proofs, or NULL */
    const char *timeline; /* file for the events, or NULL */
    bool quiet;           /* no line for each proof */
} bench_run_args;

typedef struct bench_stat {
    double min, sum, max;
    unsigned n;
} bench_stat;

void bench_stat_add(bench_stat *s, double v);
static inline double bench_stat_avg(const bench_stat *s) { return s->n ? s->sum / s->n : 0; }

/** What a run measured. Owns the record. */
typedef struct bench_run {
    unsigned completed, failed;
    bench_stat wall_s, prove_ms, queue_ms, synth_ms;
    double elapsed_s;
    cuzk_record record; /* of the daemon's events during the run */
    uint64_t peak_bytes;
} bench_run;

/** Proves `count` times, `concurrency` at a time. CUZK_E_IO and others only for what keeps the run
 *  from going on; failed proofs are counted. */
cuzk_code bench_run_batch(bench_run *ret, const bench_target *target, const bench_proof *proof,
                          const bench_run_args *args, cuzk_err *err);
void bench_run_clear(bench_run *r);

/** Prints the summary of a run. */
cuzk_code bench_run_print(const bench_run *r, cuzk_err *err);

#endif
