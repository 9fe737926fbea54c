#include "support/rpc_peer.h"

#include "support/support.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Memory that says "later" and "never" as the input wishes. */
typedef struct budget {
    uint8_t moods;
    unsigned asked;
    size_t out;
} budget;

static cuzk_rpc_grant budget_alloc(void *ctx, size_t n, void **ret)
{
    budget *b = ctx;
    unsigned mood = b->moods >> 2 * (b->asked++ % 4) & 3;
    if (mood >= 2 || n > 1 << 20) {
        return mood == 3 || n > 1 << 20 ? CUZK_RPC_NEVER : CUZK_RPC_LATER;
    }
    *ret = malloc(n);
    b->out += n;
    return *ret ? CUZK_RPC_GRANTED : CUZK_RPC_NEVER;
}

static void budget_free(void *ctx, void *p, size_t n)
{
    ((budget *)ctx)->out -= n;
    free(p);
}

enum { GREET = 1, PIECE = 0x1e, TIME_PASSES = 0x20, REQUEST = 0x40, AS_DATA = 0x80 };

/*
 * Bytes from a peer into a connection, in memory. The first byte says what the allocator answers,
 * the second what comes before the bytes (preface, a good request), how they are cut, whether they
 * are frames or go into DATA frames of the request, and whether time passes between them. All that
 * the server says must be whole frames; at the end no memory may be missing.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    uint8_t how = data[1];
    budget b = {.moods = data[0]};
    rpc_peer p;
    rpc_peer_start(&p, (cuzk_rpc_server_config){.memory = {budget_alloc, budget_free, &b}},
                   how & GREET);
    if (how & REQUEST) {
        static const char *const paths[] = {"/test.Echo/Echo", "/test.Echo/Chat", "/test.Echo/Many",
                                            "/test.Echo/Wait"};
        rpc_peer_request(&p, 1, paths[data[0] & 3], NULL, NULL, false);
    }
    size_t piece = (size_t)1 << ((how & PIECE) >> 1);
    for (size_t at = 2; at < size; at += piece) {
        size_t n = size - at < piece ? size - at : piece;
        if (how & AS_DATA) {
            uint8_t flags = at + n == size ? NGHTTP2_FLAG_END_STREAM : 0;
            rpc_peer_frame(&p, NGHTTP2_DATA, flags, 1, data + at, n);
        } else {
            rpc_peer_send(&p, data + at, n);
        }
        if (how & TIME_PASSES) {
            rpc_peer_pass(&p, 500);
        }
        cuzk_rpc_core_retry(&p.core);
    }
    rpc_peer_pass(&p, 2000);
    rpc_peer_stop(&p);
    if (b.out != 0) {
        abort();
    }
    return 0;
}
