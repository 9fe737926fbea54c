#include "bench.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/file.h"
#include "base/system.h"

/* ---- options ---- */

static const struct argp_option options[] = {
    {"type", BENCH_KEY_TYPE, "TYPE", 0, "porep, snap, wpost or winning", 10},
    {"c1", BENCH_KEY_C1, "FILE", 0, "PoRep: the output of commit phase 1, in any of its forms", 10},
    {"vanilla", BENCH_KEY_VANILLA, "FILE", 0,
     "Others: a JSON array of base64 strings, or one vanilla proof as it is; may be repeated, one "
     "for each sector of a PoSt or each partition of an update",
     10},
    {"registered-proof", BENCH_KEY_REGISTERED, "N", 0, "Number of the registered proof", 10},
    {"sector-size", BENCH_KEY_SIZE, "SIZE", 0,
     "Such as 2KiB or 32GiB (default: what the C1 says; 32GiB for other kinds)", 10},
    {"sector-num", BENCH_KEY_SECTOR, "N", 0, "Sector number (default 1)", 10},
    {"miner-id", BENCH_KEY_MINER, "N", 0, "Miner id (default 1000)", 10},
    {"partition", BENCH_KEY_PARTITION, "K", 0, "Partition of a WindowPoSt (default 0)", 10},
    {"randomness", BENCH_KEY_RANDOMNESS, "HEX", 0, "Of a PoSt, 32 bytes (default zeros)", 10},
    {"comm-r-old", BENCH_KEY_R_OLD, "HEX", 0, "Commitments of an update, 32 bytes each", 10},
    {"comm-r-new", BENCH_KEY_R_NEW, "HEX", 0, NULL, 10},
    {"comm-d-new", BENCH_KEY_D_NEW, "HEX", 0, NULL, 10},
    {"priority", BENCH_KEY_PRIORITY, "LEVEL", 0,
     "low, normal, high or critical (default: the kind's own)", 10},
    {0},
};

static const char **member(bench_proof_args *a, int key)
{
    switch (key) {
    case BENCH_KEY_TYPE:
        return &a->type;
    case BENCH_KEY_C1:
        return &a->c1;
    case BENCH_KEY_REGISTERED:
        return &a->registered_proof;
    case BENCH_KEY_SIZE:
        return &a->sector_size;
    case BENCH_KEY_SECTOR:
        return &a->sector_num;
    case BENCH_KEY_MINER:
        return &a->miner_id;
    case BENCH_KEY_PARTITION:
        return &a->partition;
    case BENCH_KEY_RANDOMNESS:
        return &a->randomness;
    case BENCH_KEY_R_OLD:
        return &a->comm_r_old;
    case BENCH_KEY_R_NEW:
        return &a->comm_r_new;
    case BENCH_KEY_D_NEW:
        return &a->comm_d_new;
    case BENCH_KEY_PRIORITY:
        return &a->priority;
    case BENCH_KEY_VANILLA:
        return a->n_vanilla < sizeof a->vanilla / sizeof *a->vanilla ? &a->vanilla[a->n_vanilla++]
                                                                     : NULL;
    default:
        return NULL;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    const char **to = member(state->input, key);
    if (to) {
        *to = arg;
    } else if (key == BENCH_KEY_VANILLA) {
        argp_error(state, "--vanilla was given too often: put the proofs into a JSON array");
    }
    return to ? 0 : ARGP_ERR_UNKNOWN;
}

const struct argp bench_proof_argp = {.options = options, .parser = parse};

bool bench_proof_option(bench_proof_args *a, const char *name, const char *value)
{
    for (const struct argp_option *o = options; o->name; o++) {
        if (strcmp(o->name, name) == 0) {
            const char **to = member(a, o->key);
            if (to) {
                *to = value;
            }
            return to != NULL;
        }
    }
    return false;
}

/* ---- names ---- */

static const struct {
    const char *name;
    Cuzk__V1__ProofKind kind;
} kinds[] = {
    {"porep", CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT},
    {"snap", CUZK__V1__PROOF_KIND__SNAP_DEALS_UPDATE},
    {"wpost", CUZK__V1__PROOF_KIND__WINDOW_POST_PARTITION},
    {"winning", CUZK__V1__PROOF_KIND__WINNING_POST},
    /* the reference's other names */
    {"porep-c2", CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT},
    {"seal-commit", CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT},
    {"snap-deals", CUZK__V1__PROOF_KIND__SNAP_DEALS_UPDATE},
    {"snap-update", CUZK__V1__PROOF_KIND__SNAP_DEALS_UPDATE},
    {"update", CUZK__V1__PROOF_KIND__SNAP_DEALS_UPDATE},
    {"window-post", CUZK__V1__PROOF_KIND__WINDOW_POST_PARTITION},
    {"window", CUZK__V1__PROOF_KIND__WINDOW_POST_PARTITION},
    {"winning-post", CUZK__V1__PROOF_KIND__WINNING_POST},
};

enum { N_KINDS = sizeof kinds / sizeof *kinds };

cuzk_code bench_kind(Cuzk__V1__ProofKind *ret, const char *name, cuzk_err *err)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            *ret = kinds[i].kind;
            return CUZK_OK;
        }
    }
    return CUZK_FAIL(err, CUZK_E_ARG, "--type is porep, snap, wpost or winning, not \"%s\"", name);
}

const char *bench_kind_name(Cuzk__V1__ProofKind kind)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        if (kinds[i].kind == kind) {
            return kinds[i].name;
        }
    }
    return "?";
}

static cuzk_code priority(Cuzk__V1__Priority *ret, const char *name, cuzk_err *err)
{
    static const char *const names[] = {"", "low", "normal", "high", "critical"};
    for (size_t i = 1; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) {
            *ret = (Cuzk__V1__Priority)i;
            return CUZK_OK;
        }
    }
    return CUZK_FAIL(err, CUZK_E_ARG, "--priority is low, normal, high or critical, not \"%s\"",
                     name);
}

/* "2KiB", "8MiB", "32GiB", or bytes. */
static cuzk_code sector_size(uint64_t *ret, const char *text, cuzk_err *err)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB"};
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    for (unsigned i = 0; i < 4 && end != text; i++) {
        if (strcmp(end, units[i]) == 0 && n < (1ULL << 32)) {
            *ret = n << (10 * i);
            return CUZK_OK;
        }
    }
    return CUZK_FAIL(err, CUZK_E_ARG, "--sector-size is a size such as 32GiB, not \"%s\"", text);
}

/* ---- files ---- */

static cuzk_code own(bench_proof *p, uint8_t *block, cuzk_err *err)
{
    if (p->n_owned == p->cap_owned) {
        size_t cap = p->cap_owned ? 2 * p->cap_owned : 64;
        uint8_t **grown = realloc(p->owned, cap * sizeof *grown);
        if (!grown) {
            free(block);
            return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a list of %zu proofs", cap);
        }
        p->owned = grown;
        p->cap_owned = cap;
    }
    p->owned[p->n_owned++] = block;
    return CUZK_OK;
}

static cuzk_code add_part(bench_proof *p, uint8_t *block, size_t n, cuzk_err *err)
{
    CUZK_TRY(own(p, block, err));
    size_t at = p->message.n_vanilla_proofs;
    if (at == p->cap_parts) {
        size_t cap = at ? 2 * at : 64;
        ProtobufCBinaryData *grown = realloc(p->parts, cap * sizeof *grown);
        if (!grown) {
            return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a list of %zu proofs", cap);
        }
        p->parts = grown;
        p->cap_parts = cap;
    }
    p->parts[at] = (ProtobufCBinaryData){n, block};
    p->message.n_vanilla_proofs = at + 1;
    p->message.vanilla_proofs = p->parts;
    return CUZK_OK;
}

static cuzk_code read_file(uint8_t **ret, size_t *ret_n, const char *name, cuzk_err *err)
{
    cuzk_file_map map;
    CUZK_TRY(cuzk_file_map_open(&map, name, err));
    uint8_t *copy = malloc(map.bytes.n ? map.bytes.n : 1);
    if (copy && map.bytes.n) {
        memcpy(copy, map.bytes.p, map.bytes.n);
    }
    *ret_n = map.bytes.n;
    cuzk_file_map_close(&map);
    *ret = copy;
    return copy ? CUZK_OK : CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %s", name);
}

static cuzk_code read_base64(bench_proof *p, const json_t *value, size_t i, const char *name,
                             cuzk_err *err)
{
    if (!json_is_string(value)) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: element %zu is not a string of base64", name, i);
    }
    size_t n = json_string_length(value), used;
    cuzk_base64 d = {0};
    uint8_t *bytes = malloc(cuzk_base64_room(n));
    if (!bytes) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %s", name);
    }
    const uint8_t *text = (const uint8_t *)json_string_value(value);
    if (!cuzk_base64_decode(&d, bytes, &used, text, n) || !cuzk_base64_done(&d)) {
        free(bytes);
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: element %zu is not base64", name, i);
    }
    return add_part(p, bytes, used, err);
}

static cuzk_code read_array(bench_proof *p, const char *text, size_t n, const char *name,
                            cuzk_err *err)
{
    json_error_t why;
    json_t *root = json_loadb(text, n, 0, &why);
    if (!json_is_array(root)) {
        json_decref(root);
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: not a JSON array of base64 strings: %s", name,
                         why.text);
    }
    cuzk_code code = CUZK_OK;
    for (size_t i = 0; i < json_array_size(root) && code == CUZK_OK; i++) {
        code = read_base64(p, json_array_get(root, i), i, name, err);
    }
    json_decref(root);
    return code;
}

static cuzk_code read_vanilla(bench_proof *p, const char *name, cuzk_err *err)
{
    uint8_t *bytes;
    size_t n;
    CUZK_TRY(read_file(&bytes, &n, name, err));
    size_t at = 0;
    while (at < n && strchr(" \t\r\n", bytes[at])) {
        at++;
    }
    if (at < n && bytes[at] == '[') {
        cuzk_code code = read_array(p, (const char *)bytes, n, name, err);
        free(bytes);
        return code;
    }
    return add_part(p, bytes, n, err);
}

/* ---- the request ---- */

static cuzk_code hex32(ProtobufCBinaryData *ret, uint8_t to[32], const char *text,
                       const char *option, cuzk_err *err)
{
    if (text && !cuzk_hex_parse(text, to, 32)) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%s wants 64 hexadecimal digits", option);
    }
    if (text) {
        *ret = (ProtobufCBinaryData){32, to};
    }
    return CUZK_OK;
}

static cuzk_code numbers(bench_proof *p, const bench_proof_args *a, cuzk_err *err)
{
    Cuzk__V1__SubmitProofRequest *m = &p->message;
    uint64_t partition = 0;
    m->sector_number = 1;
    m->miner_id = 1000;
    if (a->registered_proof) {
        CUZK_TRY(bench_number(&m->registered_proof, a->registered_proof, "--registered-proof", 0,
                              1000, err));
    }
    if (a->sector_num) {
        CUZK_TRY(
            bench_number(&m->sector_number, a->sector_num, "--sector-num", 0, UINT64_MAX, err));
    }
    if (a->miner_id) {
        CUZK_TRY(bench_number(&m->miner_id, a->miner_id, "--miner-id", 0, UINT64_MAX, err));
    }
    if (a->partition) {
        CUZK_TRY(bench_number(&partition, a->partition, "--partition", 0, UINT32_MAX, err));
    }
    m->partition_index = (uint32_t)partition;
    if (a->priority) {
        CUZK_TRY(priority(&m->priority, a->priority, err));
    }
    if (a->sector_size) {
        return sector_size(&m->sector_size, a->sector_size, err);
    }
    if (m->proof_kind != CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT) {
        m->sector_size = (uint64_t)32 << 30;
    }
    return CUZK_OK;
}

static cuzk_code payload(bench_proof *p, const bench_proof_args *a, cuzk_err *err)
{
    if (p->message.proof_kind == CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT) {
        uint8_t *bytes;
        size_t n;
        if (!a->c1) {
            return CUZK_FAIL(err, CUZK_E_ARG, "--c1 is missing: a PoRep needs it");
        }
        CUZK_TRY(read_file(&bytes, &n, a->c1, err));
        CUZK_TRY(own(p, bytes, err));
        p->message.vanilla_proof = (ProtobufCBinaryData){n, bytes};
        return CUZK_OK;
    }
    if (a->n_vanilla == 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "--vanilla is missing");
    }
    for (size_t i = 0; i < a->n_vanilla; i++) {
        CUZK_TRY(read_vanilla(p, a->vanilla[i], err));
    }
    return CUZK_OK;
}

cuzk_code bench_proof_open(bench_proof *ret, const bench_proof_args *a, cuzk_err *err)
{
    *ret = (bench_proof){0};
    Cuzk__V1__SubmitProofRequest *m = &ret->message;
    cuzk__v1__submit_proof_request__init(m);
    if (!a->type) {
        return CUZK_FAIL(err, CUZK_E_ARG, "--type is missing: porep, snap, wpost or winning");
    }
    CUZK_TRY(bench_kind(&m->proof_kind, a->type, err));
    CUZK_TRY(numbers(ret, a, err));
    bool post = m->proof_kind == CUZK__V1__PROOF_KIND__WINDOW_POST_PARTITION ||
                m->proof_kind == CUZK__V1__PROOF_KIND__WINNING_POST;
    if (post) {
        m->randomness = (ProtobufCBinaryData){32, ret->randomness};
    }
    CUZK_TRY(hex32(&m->randomness, ret->randomness, a->randomness, "--randomness", err));
    CUZK_TRY(hex32(&m->comm_r_old, ret->comm_r_old, a->comm_r_old, "--comm-r-old", err));
    CUZK_TRY(hex32(&m->comm_r_new, ret->comm_r_new, a->comm_r_new, "--comm-r-new", err));
    CUZK_TRY(hex32(&m->comm_d_new, ret->comm_d_new, a->comm_d_new, "--comm-d-new", err));
    return payload(ret, a, err);
}

void bench_proof_clear(bench_proof *p)
{
    for (size_t i = 0; i < p->n_owned; i++) {
        free(p->owned[i]);
    }
    free(p->owned);
    free(p->parts);
    *p = (bench_proof){0};
}

/* ---- proving ---- */

const char *bench_status_name(Cuzk__V1__AwaitProofResponse__Status status)
{
    static const char *const names[] = {"UNKNOWN", "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT"};
    return (unsigned)status < sizeof names / sizeof *names ? names[status] : "UNKNOWN";
}

static cuzk_code take_result(bench_result *ret, const Cuzk__V1__ProveResponse *m, cuzk_err *err)
{
    const Cuzk__V1__AwaitProofResponse *r = m->result;
    if (!r) {
        return CUZK_FAIL(err, CUZK_E_INTERNAL, "Prove: the answer has no result");
    }
    ret->status = r->status;
    snprintf(ret->job_id, sizeof ret->job_id, "%s", r->job_id);
    snprintf(ret->error, sizeof ret->error, "%s", r->error_message);
    ret->queue_ms = r->queue_wait_ms;
    ret->srs_ms = r->srs_load_ms;
    ret->synth_ms = r->synthesis_ms;
    ret->gpu_ms = r->gpu_compute_ms;
    ret->total_ms = r->total_ms;
    ret->proof = malloc(r->proof.len ? r->proof.len : 1);
    if (!ret->proof) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a proof of %zu bytes", r->proof.len);
    }
    memcpy(ret->proof, r->proof.data, r->proof.len);
    ret->proof_bytes = r->proof.len;
    return CUZK_OK;
}

cuzk_code bench_prove(cuzk_rpc_client *client, const bench_proof *p, bench_result *ret,
                      cuzk_err *err)
{
    *ret = (bench_result){0};
    Cuzk__V1__SubmitProofRequest submit = p->message; /* without an id: a job of its own */
    Cuzk__V1__ProveRequest request = CUZK__V1__PROVE_REQUEST__INIT;
    Cuzk__V1__ProveResponse *m;
    request.submit = &submit;
    uint64_t begin = cuzk_clock_ns();
    CUZK_TRY(bench_call(client, "Prove", &request.base, 0, &cuzk__v1__prove_response__descriptor,
                        &m, err));
    ret->wall_ns = cuzk_clock_ns() - begin;
    cuzk_code code = take_result(ret, m, err);
    protobuf_c_message_free_unpacked(&m->base, NULL);
    return code;
}

void bench_result_clear(bench_result *r)
{
    free(r->proof);
    *r = (bench_result){0};
}
