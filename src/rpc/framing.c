#include "rpc/framing.h"

#include "base/bytes.h"

#include <string.h>

static size_t take(uint8_t *to, size_t room, const uint8_t **p, size_t *n)
{
    size_t k = *n < room ? *n : room;
    if (k > 0) {
        memcpy(to, *p, k);
        *p += k;
        *n -= k;
    }
    return k;
}

cuzk_rpc_framing_event cuzk_rpc_framing_feed(cuzk_rpc_framing *f, const uint8_t **p, size_t *n)
{
    if (f->have < CUZK_RPC_PREFIX_BYTES) {
        size_t room = (size_t)(CUZK_RPC_PREFIX_BYTES - f->have);
        f->have = (uint8_t)(f->have + take(f->prefix + f->have, room, p, n));
        if (f->have < CUZK_RPC_PREFIX_BYTES) {
            return CUZK_RPC_FRAMING_MORE;
        }
        f->flag = f->prefix[0];
        f->size = cuzk_load_u32be(f->prefix + 1);
    }
    if (!f->accepted) {
        return CUZK_RPC_FRAMING_PREFIX;
    }
    f->got += take(f->body + f->got, f->size - f->got, p, n);
    if (f->got < f->size) {
        return CUZK_RPC_FRAMING_MORE;
    }
    f->have = 0;
    f->accepted = false;
    return CUZK_RPC_FRAMING_MESSAGE;
}

void cuzk_rpc_framing_accept(cuzk_rpc_framing *f, uint8_t *body)
{
    f->body = body;
    f->got = 0;
    f->accepted = true;
}

void cuzk_rpc_framing_prefix(uint8_t ret[CUZK_RPC_PREFIX_BYTES], uint32_t n)
{
    ret[0] = 0;
    cuzk_store_u32be(ret + 1, n);
}
