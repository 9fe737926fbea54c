#include "engine/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sha256.h"
#include "filecoin/circuits/catalog.h"
#include "store/store.h"

cuzk_priority cuzk_request_priority(const cuzk_job_request *r)
{
    if (r->priority > CUZK_PRIORITY_CRITICAL) {
        return CUZK_PRIORITY_NORMAL;
    }
    if (r->priority != CUZK_PRIORITY_DEFAULT) {
        return (cuzk_priority)r->priority;
    }
    return r->kind == CUZK_JOB_WINNING  ? CUZK_PRIORITY_CRITICAL
           : r->kind == CUZK_JOB_WINDOW ? CUZK_PRIORITY_HIGH
                                        : CUZK_PRIORITY_NORMAL;
}

/* ---- fields ---- */

static cuzk_code check_32(cuzk_span s, const char *field, bool needed, cuzk_err *err)
{
    if (s.n == 32 || (s.n == 0 && !needed)) {
        return CUZK_OK;
    }
    return CUZK_FAIL(err, CUZK_E_ARG, "%s: expected 32 bytes, found %zu", field, s.n);
}

static cuzk_code find_sector(const cuzk_sector **ret, const cuzk_job_request *r, cuzk_err *err)
{
    *ret = NULL;
    if (r->sector_size == 0) {
        return CUZK_OK;
    }
    const cuzk_sector *s = cuzk_sector_of_bytes(r->sector_size);
    if (!s) {
        return CUZK_FAIL(err, CUZK_E_ARG, "sector_size: no sector has %" PRIu64 " bytes",
                         r->sector_size);
    }
    if (r->kind == CUZK_JOB_SNAP ? s->update_challenges == 0 : s->layers == 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "sector_size: there is no %s proof of %s sectors",
                         cuzk_job_kind_name(r->kind), s->name);
    }
    *ret = s;
    return CUZK_OK;
}

static cuzk_code contradiction(const cuzk_job_request *r, const char *is, cuzk_err *err)
{
    const cuzk_sector *s = cuzk_sector_of_bytes(r->sector_size);
    return CUZK_FAIL(err, CUZK_E_ARG,
                     "registered_proof: %" PRIu64 " is %s, but the request is a %s of %s sectors",
                     r->registered_proof, is, cuzk_job_kind_name(r->kind), s ? s->name : "unnamed");
}

static cuzk_code unknown_number(const cuzk_job_request *r, unsigned most, cuzk_err *err)
{
    return CUZK_FAIL(err, CUZK_E_ARG, "registered_proof: expected 0 to %u for a %s, found %" PRIu64,
                     most, cuzk_job_kind_name(r->kind), r->registered_proof);
}

/* What the registered proof says about the sector; *ret_given: it says something. */
static cuzk_code registered_porep(const cuzk_job_request *r, const cuzk_sector **ret, bool *given,
                                  cuzk_err *err)
{
    cuzk_seal_proof p;
    if (cuzk_seal_proof_of_number(&p, r->registered_proof, NULL) != CUZK_OK) {
        return unknown_number(r, 19, err);
    }
    if (*ret && p.sector != *ret) {
        char name[CUZK_SEAL_NAME_MAX];
        cuzk_seal_proof_name(name, &p);
        *given = r->registered_proof != 0;
        return *given ? contradiction(r, name, err) : CUZK_OK;
    }
    *given = r->registered_proof != 0;
    *ret = *given ? p.sector : *ret;
    return CUZK_OK;
}

static cuzk_code registered_post(const cuzk_job_request *r, const cuzk_sector **ret, bool *given,
                                 cuzk_err *err)
{
    cuzk_post_proof p;
    bool window = r->kind == CUZK_JOB_WINDOW;
    if (cuzk_post_proof_of_number(&p, r->registered_proof, NULL) != CUZK_OK) {
        return unknown_number(r, 14, err);
    }
    *given = r->registered_proof != 0;
    if (!*given) {
        return CUZK_OK;
    }
    if (p.window != window || (*ret && p.sector != *ret)) {
        char name[CUZK_SHAPE_NAME_MAX];
        snprintf(name, sizeof name, "%s-%s", p.window ? "window" : "winning", p.sector->name);
        return contradiction(r, name, err);
    }
    *ret = p.sector;
    return CUZK_OK;
}

static cuzk_code registered_update(const cuzk_job_request *r, const cuzk_sector **ret, bool *given,
                                   cuzk_err *err)
{
    const cuzk_sector *s;
    if (cuzk_update_proof_of_number(&s, r->registered_proof, NULL) != CUZK_OK) {
        return unknown_number(r, 4, err);
    }
    *given = r->registered_proof != 0;
    if (*given && *ret && s != *ret) {
        char name[CUZK_SHAPE_NAME_MAX];
        snprintf(name, sizeof name, "update-%s", s->name);
        return contradiction(r, name, err);
    }
    *ret = *given ? s : *ret;
    *given = false; /* the sector says it all */
    return CUZK_OK;
}

static cuzk_code check_kind(const cuzk_job_request *r, cuzk_err *err)
{
    if (r->kind >= 1 && r->kind <= CUZK_JOB_KIND_MAX) {
        return CUZK_OK;
    }
    return CUZK_FAIL(err, CUZK_E_ARG,
                     "proof_kind: expected 1 (PoRep), 2 (snap update), 3 (window PoSt) or 4 "
                     "(winning PoSt), found %u",
                     r->kind);
}

/* The vanilla proofs, from whichever of the two fields the kind uses; the other kind's field is
 * taken when it holds exactly one and the right one none. */
static cuzk_code find_inputs(const cuzk_job_request *r, const cuzk_span **ret, size_t *ret_n,
                             cuzk_err *err)
{
    bool porep = r->kind == CUZK_JOB_POREP, one = r->vanilla_proof.n > 0;
    if (one && r->n_vanilla_proofs > 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%s: a %s has %s alone, but both are given",
                         porep ? "vanilla_proofs" : "vanilla_proof", cuzk_job_kind_name(r->kind),
                         porep ? "vanilla_proof" : "vanilla_proofs");
    }
    *ret = one ? &r->vanilla_proof : r->vanilla_proofs;
    *ret_n = one ? 1 : r->n_vanilla_proofs;
    if (*ret_n == 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%s: there is none",
                         porep ? "vanilla_proof" : "vanilla_proofs");
    }
    if ((porep || r->kind == CUZK_JOB_WINNING) && *ret_n != 1) {
        return CUZK_FAIL(err, CUZK_E_ARG, "vanilla_proofs: a %s has one, found %zu",
                         cuzk_job_kind_name(r->kind), *ret_n);
    }
    uint64_t bytes = 0;
    for (size_t i = 0; i < *ret_n; i++) {
        bytes += (*ret)[i].n;
        if ((*ret)[i].n == 0) {
            return CUZK_FAIL(err, CUZK_E_ARG, "vanilla_proofs[%zu]: is empty", i);
        }
    }
    if (bytes > CUZK_STORE_PAYLOAD_MAX) {
        return CUZK_FAIL(err, CUZK_E_ARG, "vanilla_proofs: at most %d bytes, found %" PRIu64,
                         CUZK_STORE_PAYLOAD_MAX, bytes);
    }
    return CUZK_OK;
}

/* ---- the statement ---- */

static cuzk_proof_kind circuit_kind(uint32_t kind)
{
    switch (kind) {
    case CUZK_JOB_POREP:
        return CUZK_POREP;
    case CUZK_JOB_SNAP:
        return CUZK_UPDATE;
    case CUZK_JOB_WINDOW:
        return CUZK_WINDOW_POST;
    default:
        return CUZK_WINNING_POST;
    }
}

static cuzk_code check_update_count(const cuzk_sector *s, size_t n, cuzk_err *err)
{
    if (n == s->update_partitions) {
        return CUZK_OK;
    }
    return CUZK_FAIL(err, CUZK_E_ARG, "vanilla_proofs: an update of %s has %u, found %zu", s->name,
                     s->update_partitions, n);
}

/* Parses for a sector size that is known (NULL: a PoRep that names it). */
static cuzk_code parse_as(cuzk_statement **ret, const cuzk_job_request *r, const cuzk_sector *s,
                          const cuzk_span *inputs, size_t n, cuzk_claims *claims, cuzk_err *err)
{
    cuzk_circuit_id id = {circuit_kind(r->kind), s, 0};
    if (r->kind == CUZK_JOB_SNAP) {
        CUZK_TRY(check_update_count(s, n, err));
    }
    claims->first_place = r->kind == CUZK_JOB_WINDOW && claims->has_number
                              ? (uint64_t)r->partition_index * s->window_sectors
                              : 0;
    return cuzk_statement_parse(ret, &id, inputs, n, claims, err);
}

/* Parses for the first registered sector size that the first vanilla proof is of. */
static cuzk_code parse_guessing(cuzk_statement **ret, const cuzk_job_request *r,
                                const cuzk_span *inputs, size_t n, cuzk_claims *claims,
                                cuzk_err *err)
{
    const cuzk_sector *s;
    for (unsigned i = 0; (s = cuzk_sector_at(i)); i++) {
        if (s->registered >= 0 && parse_as(ret, r, s, inputs, n, claims, NULL) == CUZK_OK) {
            return CUZK_OK;
        }
    }
    return CUZK_FAIL(err, CUZK_E_ARG,
                     "sector_size: not given, and the vanilla proofs are of no known size");
}

static cuzk_code registered(const cuzk_job_request *r, const cuzk_sector **ret, bool *given,
                            cuzk_err *err)
{
    switch (r->kind) {
    case CUZK_JOB_POREP:
        return registered_porep(r, ret, given, err);
    case CUZK_JOB_SNAP:
        return registered_update(r, ret, given, err);
    default:
        return registered_post(r, ret, given, err);
    }
}

static const cuzk_node *node_at(cuzk_node *copy, cuzk_span s)
{
    if (s.n == 0) {
        return NULL;
    }
    memcpy(copy->b, s.p, sizeof copy->b);
    return copy;
}

cuzk_code cuzk_request_parse(cuzk_statement **ret, const cuzk_job_request *r, cuzk_err *err)
{
    const cuzk_sector *s;
    const cuzk_span *inputs;
    size_t n;
    cuzk_claims claims = {.number = r->registered_proof};
    cuzk_node old, new_r, new_d;
    CUZK_TRY(check_kind(r, err));
    CUZK_TRY(find_sector(&s, r, err));
    CUZK_TRY(registered(r, &s, &claims.has_number, err));
    CUZK_TRY(check_32(r->randomness, "randomness",
                      r->kind == CUZK_JOB_WINDOW || r->kind == CUZK_JOB_WINNING, err));
    CUZK_TRY(check_32(r->comm_r_old, "comm_r_old", false, err));
    CUZK_TRY(check_32(r->comm_r_new, "comm_r_new", false, err));
    CUZK_TRY(check_32(r->comm_d_new, "comm_d_new", false, err));
    CUZK_TRY(find_inputs(r, &inputs, &n, err));
    claims.randomness = r->randomness.n ? r->randomness.p : NULL;
    claims.comm_r_old = node_at(&old, r->comm_r_old);
    claims.comm_r_new = node_at(&new_r, r->comm_r_new);
    claims.comm_d_new = node_at(&new_d, r->comm_d_new);
    if (!s && r->kind != CUZK_JOB_POREP) {
        return parse_guessing(ret, r, inputs, n, &claims, err);
    }
    return parse_as(ret, r, s, inputs, n, &claims, err);
}

/* ---- the store's form ---- */

cuzk_code cuzk_request_payload(const cuzk_job_request *r, cuzk_span *ret, uint8_t **ret_owned,
                               cuzk_err *err)
{
    size_t n, total = 0;
    const cuzk_span *inputs;
    CUZK_TRY(find_inputs(r, &inputs, &n, err));
    *ret_owned = NULL;
    if (n == 1) {
        *ret = inputs[0];
        return CUZK_OK;
    }
    for (size_t i = 0; i < n; i++) {
        total += inputs[i].n;
    }
    uint8_t *all = malloc(total), *at = all;
    if (!all) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu bytes of vanilla proofs", total);
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(at, inputs[i].p, inputs[i].n);
        at += inputs[i].n;
    }
    *ret = (cuzk_span){all, total};
    *ret_owned = all;
    return CUZK_OK;
}

/*
 * Metadata, little-endian: "cuzkreq" 1, u32 kind, u32 partitions, 64 bytes name of the circuit, u64
 * sector size, registered proof, sector number, miner id, u32 partition index, u32 which of the
 * four 32-byte fields are given, these fields (zero when not given), u32 1 when vanilla_proof was
 * the field, u32 number of proofs, u64 length of each.
 */
enum { META_HEAD = 8 + 4 + 4 + CUZK_CIRCUIT_NAME_MAX + 4 * 8 + 4 + 4 + 4 * 32 + 4 + 4 };

static const char magic[8] = "cuzkreq\1";

typedef struct writer {
    uint8_t *p;
} writer;

static void put(writer *w, const void *bytes, size_t n)
{
    memcpy(w->p, bytes, n);
    w->p += n;
}

static void put_u32(writer *w, uint32_t v)
{
    cuzk_store_u32le(w->p, v);
    w->p += 4;
}

static void put_u64(writer *w, uint64_t v)
{
    cuzk_store_u64le(w->p, v);
    w->p += 8;
}

cuzk_code cuzk_request_encode(uint8_t **ret, size_t *ret_n, const cuzk_job_request *r,
                              const cuzk_circuit_id *circuit, uint32_t partitions, cuzk_err *err)
{
    const cuzk_span *inputs,
        fields[4] = {r->randomness, r->comm_r_old, r->comm_r_new, r->comm_d_new};
    char name[CUZK_SHAPE_NAME_MAX] = {0};
    size_t n;
    uint32_t given = 0;
    CUZK_TRY(find_inputs(r, &inputs, &n, err));
    size_t size = META_HEAD + n * 8;
    uint8_t *meta = size <= CUZK_STORE_META_MAX ? calloc(1, size) : NULL;
    if (!meta) {
        return CUZK_FAIL(err, CUZK_E_ARG, "vanilla_proofs: too many, %zu", n);
    }
    writer w = {meta};
    put(&w, magic, sizeof magic);
    put_u32(&w, r->kind);
    put_u32(&w, partitions);
    cuzk_circuit_name(name, circuit);
    put(&w, name, strnlen(name, CUZK_CIRCUIT_NAME_MAX - 1));
    w.p = meta + 16 + CUZK_CIRCUIT_NAME_MAX;
    put_u64(&w, r->sector_size);
    put_u64(&w, r->registered_proof);
    put_u64(&w, r->sector_number);
    put_u64(&w, r->miner_id);
    put_u32(&w, r->partition_index);
    for (unsigned i = 0; i < 4; i++) {
        given |= fields[i].n ? 1u << i : 0;
    }
    put_u32(&w, given);
    for (unsigned i = 0; i < 4; i++) {
        if (fields[i].n) {
            memcpy(w.p, fields[i].p, 32);
        }
        w.p += 32;
    }
    put_u32(&w, r->vanilla_proof.n > 0);
    put_u32(&w, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        put_u64(&w, inputs[i].n);
    }
    *ret = meta;
    *ret_n = size;
    return CUZK_OK;
}

/* The spans of the payload. */
static cuzk_code decode_spans(cuzk_kept_request *ret, cuzk_cursor *c, cuzk_span payload,
                              cuzk_err *err)
{
    uint32_t single, n;
    uint64_t at = 0, len;
    CUZK_TRY(cuzk_cursor_u32le(c, "single", &single, err));
    CUZK_TRY(cuzk_cursor_u32le(c, "proofs", &n, err));
    if (n == 0 || cuzk_cursor_left(c) != (size_t)n * 8 || (single && n != 1)) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "stored request: does not hold %u lengths", n);
    }
    ret->spans = calloc(n, sizeof *ret->spans);
    if (!ret->spans) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %u proofs", n);
    }
    for (uint32_t i = 0; i < n; i++) {
        CUZK_TRY(cuzk_cursor_u64le(c, "length", &len, err));
        if (len > payload.n - at) {
            return CUZK_FAIL(err, CUZK_E_INPUT, "stored request: payload ends in proof %u", i);
        }
        ret->spans[i] = (cuzk_span){payload.p ? payload.p + at : NULL, (size_t)len};
        at += len;
    }
    if (at != payload.n) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "stored request: payload has %zu bytes more",
                         (size_t)(payload.n - at));
    }
    if (single) {
        ret->request.vanilla_proof = ret->spans[0];
    } else {
        ret->request.vanilla_proofs = ret->spans;
        ret->request.n_vanilla_proofs = n;
    }
    return CUZK_OK;
}

static cuzk_code decode_fields(cuzk_kept_request *ret, cuzk_cursor *c, cuzk_err *err)
{
    cuzk_job_request *r = &ret->request;
    cuzk_span *fields[4] = {&r->randomness, &r->comm_r_old, &r->comm_r_new, &r->comm_d_new};
    const uint8_t *p;
    uint32_t given;
    CUZK_TRY(cuzk_cursor_take(c, sizeof magic, "magic", &p, err));
    if (memcmp(p, magic, sizeof magic) != 0) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "stored request: of another version");
    }
    CUZK_TRY(cuzk_cursor_u32le(c, "kind", &r->kind, err));
    CUZK_TRY(cuzk_cursor_u32le(c, "partitions", &ret->partitions, err));
    CUZK_TRY(cuzk_cursor_take(c, CUZK_CIRCUIT_NAME_MAX, "circuit", &p, err));
    memcpy(ret->circuit, p, CUZK_CIRCUIT_NAME_MAX - 1);
    CUZK_TRY(cuzk_cursor_u64le(c, "sector_size", &r->sector_size, err));
    CUZK_TRY(cuzk_cursor_u64le(c, "registered_proof", &r->registered_proof, err));
    CUZK_TRY(cuzk_cursor_u64le(c, "sector_number", &r->sector_number, err));
    CUZK_TRY(cuzk_cursor_u64le(c, "miner_id", &r->miner_id, err));
    CUZK_TRY(cuzk_cursor_u32le(c, "partition_index", &r->partition_index, err));
    CUZK_TRY(cuzk_cursor_u32le(c, "given", &given, err));
    for (unsigned i = 0; i < 4; i++) {
        CUZK_TRY(cuzk_cursor_take(c, 32, "field", &p, err));
        *fields[i] = given >> i & 1 ? (cuzk_span){p, 32} : (cuzk_span){NULL, 0};
    }
    if (ret->partitions == 0 || ret->partitions > CUZK_STORE_PARTITION_MAX) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "stored request: %u partitions", ret->partitions);
    }
    return check_kind(r, err);
}

cuzk_code cuzk_request_decode(cuzk_kept_request *ret, cuzk_span meta, cuzk_span payload,
                              cuzk_err *err)
{
    cuzk_kept_request r = {0};
    cuzk_cursor c = cuzk_cursor_of(meta, "stored request");
    cuzk_code code = decode_fields(&r, &c, err);
    if (code == CUZK_OK) {
        code = decode_spans(&r, &c, payload, err);
    }
    if (code != CUZK_OK) {
        cuzk_kept_request_clear(&r);
        return code;
    }
    r.request.request_id = "";
    *ret = r;
    return CUZK_OK;
}

void cuzk_kept_request_clear(cuzk_kept_request *r)
{
    free(r->spans);
    r->spans = NULL;
}

void cuzk_request_identity(uint8_t ret[32], cuzk_span meta, const uint8_t payload_hash[32])
{
    cuzk_sha256_state s;
    cuzk_sha256_init(&s);
    cuzk_sha256_update(&s, meta.p, meta.n);
    cuzk_sha256_update(&s, payload_hash, 32);
    cuzk_sha256_final(&s, ret);
}
