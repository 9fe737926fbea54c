#include "service/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* Wire types. */
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

typedef struct walker {
    cuzk_span bytes;
    size_t pos;
    size_t base; /* offset of bytes in the message, for errors */
} walker;

typedef struct field {
    uint32_t number, type;
    size_t offset; /* of its tag, in the message */
    uint64_t v;    /* VARINT */
    cuzk_span b;   /* BYTES */
} field;

static cuzk_code bad(const walker *w, size_t at, const char *why, cuzk_err *err)
{
    return CUZK_FAIL(err, CUZK_E_ARG, "the request is malformed at byte %zu: %s", w->base + at,
                     why);
}

static cuzk_code varint(walker *w, uint64_t *ret, cuzk_err *err)
{
    uint64_t v = 0;
    size_t start = w->pos;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (w->pos == w->bytes.n) {
            w->pos = start;
            return bad(w, start, "it ends within a number", err);
        }
        uint8_t byte = w->bytes.p[w->pos++];
        if (shift == 63 && byte > 1) {
            break;
        }
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *ret = v;
            return CUZK_OK;
        }
    }
    return bad(w, start, "a number is longer than 64 bits", err);
}

static cuzk_code take(walker *w, uint64_t n, cuzk_span *ret, cuzk_err *err)
{
    if (n > w->bytes.n - w->pos) {
        return CUZK_FAIL(err, CUZK_E_ARG,
                         "the request is cut: a field at byte %zu has %llu bytes, %zu are left",
                         w->base + w->pos, (unsigned long long)n, w->bytes.n - w->pos);
    }
    *ret = (cuzk_span){w->bytes.p + w->pos, (size_t)n};
    w->pos += (size_t)n;
    return CUZK_OK;
}

/* Reads the next field; its payload by the wire type. */
static cuzk_code next(walker *w, field *ret, cuzk_err *err)
{
    uint64_t tag, n;
    cuzk_span skipped;
    *ret = (field){.offset = w->base + w->pos};
    CUZK_TRY(varint(w, &tag, err));
    if (tag >> 3 == 0 || tag >> 32) {
        return bad(w, ret->offset - w->base, "a field's number is out of range", err);
    }
    ret->number = (uint32_t)(tag >> 3);
    ret->type = (uint32_t)(tag & 7);
    switch (ret->type) {
    case VARINT:
        return varint(w, &ret->v, err);
    case FIXED64:
        return take(w, 8, &skipped, err);
    case FIXED32:
        return take(w, 4, &skipped, err);
    case BYTES:
        CUZK_TRY(varint(w, &n, err));
        return take(w, n, &ret->b, err);
    default:
        return bad(w, ret->offset - w->base, "groups are not part of proto3", err);
    }
}

static bool is_text(cuzk_span s)
{
    for (size_t at = 0, n; at < s.n; at += n) {
        n = cuzk_utf8_length(s.p + at, s.n - at);
        if (n == 0 || s.p[at] == '\0') {
            return false;
        }
    }
    return true;
}

static cuzk_code set_id(cuzk_request *r, cuzk_span id, cuzk_err *err)
{
    if (id.n >= sizeof r->request_id) {
        return CUZK_FAIL(err, CUZK_E_ARG, "request_id: expected at most %zu bytes, found %zu",
                         sizeof r->request_id - 1, id.n);
    }
    if (!is_text(id)) {
        return CUZK_FAIL(err, CUZK_E_ARG, "request_id: expected text in UTF-8 without NUL");
    }
    memcpy(r->request_id, id.p, id.n);
    r->request_id[id.n] = '\0';
    return CUZK_OK;
}

static cuzk_code add_proof(cuzk_request *r, cuzk_span proof, cuzk_err *err)
{
    size_t n = r->job.n_vanilla_proofs;
    if (n == CUZK_REQUEST_PROOFS_MAX) {
        return CUZK_FAIL(err, CUZK_E_ARG, "vanilla_proofs: more than %d of them",
                         CUZK_REQUEST_PROOFS_MAX);
    }
    if (n == r->capacity) {
        size_t more = n ? 2 * n : 16;
        cuzk_span *grown = realloc(r->proofs, more * sizeof *grown);
        if (!grown) {
            return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a list of %zu proofs", more);
        }
        r->proofs = grown;
        r->capacity = more;
    }
    r->proofs[n] = proof;
    r->job.n_vanilla_proofs = n + 1;
    return CUZK_OK;
}

/* Fields of SubmitProofRequest: number, name, and the member that takes it. */
#define NUMBERS(X)                                                                                 \
    X(2, "proof_kind", uint32_t, kind)                                                             \
    X(3, "sector_size", uint64_t, sector_size)                                                     \
    X(4, "registered_proof", uint64_t, registered_proof)                                           \
    X(5, "priority", uint32_t, priority)                                                           \
    X(20, "sector_number", uint64_t, sector_number)                                                \
    X(21, "miner_id", uint64_t, miner_id)                                                          \
    X(23, "partition_index", uint32_t, partition_index)
#define SPANS(X)                                                                                   \
    X(10, "vanilla_proof", vanilla_proof)                                                          \
    X(22, "randomness", randomness)                                                                \
    X(30, "comm_r_old", comm_r_old)                                                                \
    X(31, "comm_r_new", comm_r_new)                                                                \
    X(32, "comm_d_new", comm_d_new)

enum { REQUEST_ID = 1, VANILLA_PROOFS = 11 };

static cuzk_code want(const field *f, uint32_t type, const char *name, cuzk_err *err)
{
    return f->type == type
               ? CUZK_OK
               : CUZK_FAIL(err, CUZK_E_ARG, "%s at byte %zu: expected wire type %u, found %u", name,
                           f->offset, type, f->type);
}

static cuzk_code set_field(cuzk_request *r, const field *f, cuzk_err *err)
{
    switch (f->number) {
    case REQUEST_ID:
        CUZK_TRY(want(f, BYTES, "request_id", err));
        return set_id(r, f->b, err);
    case VANILLA_PROOFS:
        CUZK_TRY(want(f, BYTES, "vanilla_proofs", err));
        return add_proof(r, f->b, err);
#define X(number, name, type, member)                                                              \
    case number:                                                                                   \
        CUZK_TRY(want(f, VARINT, name, err));                                                      \
        r->job.member = (type)f->v; /* protobuf cuts wider values */                               \
        return CUZK_OK;
        NUMBERS(X)
#undef X
#define X(number, name, member)                                                                    \
    case number:                                                                                   \
        CUZK_TRY(want(f, BYTES, name, err));                                                       \
        r->job.member = f->b;                                                                      \
        return CUZK_OK;
        SPANS(X)
#undef X
    default:
        return CUZK_OK;
    }
}

static cuzk_code walk(cuzk_request *r, cuzk_span bytes, size_t base, cuzk_err *err)
{
    walker w = {bytes, 0, base};
    field f;
    while (w.pos < w.bytes.n) {
        CUZK_TRY(next(&w, &f, err));
        CUZK_TRY(set_field(r, &f, err));
    }
    return CUZK_OK;
}

static void settle(cuzk_request *r)
{
    r->job.request_id = r->request_id;
    r->job.vanilla_proofs = r->proofs;
}

cuzk_code cuzk_request_read(cuzk_request *ret, cuzk_span message, cuzk_err *err)
{
    *ret = (cuzk_request){0};
    cuzk_code code = walk(ret, message, 0, err);
    settle(ret);
    return code;
}

static cuzk_code walk_prove(cuzk_request *r, cuzk_span message, cuzk_err *err)
{
    walker w = {message, 0, 0};
    field f;
    bool found = false;
    while (w.pos < w.bytes.n) {
        CUZK_TRY(next(&w, &f, err));
        if (f.number == 1) { /* submit; protobuf merges several */
            CUZK_TRY(want(&f, BYTES, "submit", err));
            CUZK_TRY(walk(r, f.b, (size_t)(f.b.p - message.p), err));
            found = true;
        }
    }
    return found ? CUZK_OK : CUZK_FAIL(err, CUZK_E_ARG, "submit: missing");
}

cuzk_code cuzk_request_read_prove(cuzk_request *ret, cuzk_span message, cuzk_err *err)
{
    *ret = (cuzk_request){0};
    cuzk_code code = walk_prove(ret, message, err);
    settle(ret);
    return code;
}

void cuzk_request_clear(cuzk_request *r)
{
    free(r->proofs);
    *r = (cuzk_request){0};
}
