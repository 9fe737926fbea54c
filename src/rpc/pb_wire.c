#include "rpc/pb_wire.h"

#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5 };

static bool varint(cuzk_rpc_pb_reader *r, uint64_t *ret)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && r->at < r->bytes.n; shift += 7) {
        uint8_t byte = r->bytes.p[r->at++];
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *ret = value;
            return true;
        }
    }
    return false;
}

static bool fixed(cuzk_rpc_pb_reader *r, size_t n, uint64_t *ret)
{
    if (r->bytes.n - r->at < n) {
        return false;
    }
    const uint8_t *p = r->bytes.p + r->at;
    *ret = n == 8 ? cuzk_load_u64le(p) : cuzk_load_u32le(p);
    r->at += n;
    return true;
}

static bool length(cuzk_rpc_pb_reader *r, cuzk_span *ret)
{
    uint64_t n;
    if (!varint(r, &n) || n > r->bytes.n - r->at) {
        return false;
    }
    *ret = (cuzk_span){r->bytes.p + r->at, (size_t)n};
    r->at += (size_t)n;
    return true;
}

bool cuzk_rpc_pb_next(cuzk_rpc_pb_reader *r, cuzk_rpc_pb_field *ret)
{
    if (r->bad || r->at == r->bytes.n) {
        return false;
    }
    uint64_t tag;
    cuzk_rpc_pb_field f = {0};
    bool good = varint(r, &tag) && tag >> 3 != 0 && tag >> 3 <= UINT32_MAX >> 3;
    if (good) {
        f.number = (uint32_t)(tag >> 3);
        switch (tag & 7) {
        case VARINT:
            good = varint(r, &f.value);
            break;
        case FIXED64:
            good = fixed(r, 8, &f.value);
            break;
        case LENGTH:
            f.has_bytes = true;
            good = length(r, &f.bytes);
            break;
        case FIXED32:
            good = fixed(r, 4, &f.value);
            break;
        default:
            good = false;
        }
    }
    r->bad = !good;
    if (good) {
        *ret = f;
    }
    return good;
}

static void put(cuzk_rpc_pb_writer *w, const void *bytes, size_t n)
{
    if (w->failed || n == 0) {
        return;
    }
    if (w->n + n > w->cap) {
        size_t cap = 2 * w->cap > w->n + n ? 2 * w->cap : w->n + n + 64;
        uint8_t *grown = realloc(w->p, cap);
        if (!grown) {
            w->failed = true;
            return;
        }
        w->p = grown;
        w->cap = cap;
    }
    memcpy(w->p + w->n, bytes, n);
    w->n += n;
}

static void put_varint(cuzk_rpc_pb_writer *w, uint64_t value)
{
    uint8_t text[10];
    size_t n = 0;
    do {
        text[n++] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
    } while (value);
    put(w, text, n);
}

void cuzk_rpc_pb_put_bytes(cuzk_rpc_pb_writer *w, uint32_t number, cuzk_span bytes)
{
    put_varint(w, (uint64_t)number << 3 | LENGTH);
    put_varint(w, bytes.n);
    put(w, bytes.p, bytes.n);
}

void cuzk_rpc_pb_put_value(cuzk_rpc_pb_writer *w, uint32_t number, uint64_t value)
{
    put_varint(w, (uint64_t)number << 3 | VARINT);
    put_varint(w, value);
}
