#include "rpc/framing.h"
#include "rpc/grpc_text.h"
#include "rpc/health.h"
#include "rpc/pb_wire.h"
#include "rpc/reflection.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_BODY = 4096 };

/* Reads a stream in pieces of `piece` bytes; a sum over all events. */
static uint64_t read_in_pieces(const uint8_t *data, size_t size, size_t piece)
{
    static uint8_t body[MAX_BODY];
    cuzk_rpc_framing f = {0};
    uint64_t sum = 0;
    for (size_t at = 0; at < size; at += piece) {
        const uint8_t *p = data + at;
        size_t n = size - at < piece ? size - at : piece;
        cuzk_rpc_framing_event event;
        while ((event = cuzk_rpc_framing_feed(&f, &p, &n)) != CUZK_RPC_FRAMING_MORE) {
            if (event == CUZK_RPC_FRAMING_PREFIX) {
                if (f.size > MAX_BODY) {
                    return sum * 31 + f.size;
                }
                cuzk_rpc_framing_accept(&f, body);
            } else {
                for (size_t i = 0; i < f.size; i++) {
                    sum = sum * 31 + body[i];
                }
                sum = sum * 31 + f.flag + f.size;
            }
        }
        if (n != 0) {
            abort();
        }
    }
    return sum * 31 + cuzk_rpc_framing_between(&f);
}

/* Framing finds the same messages however it is cut; the small readers stay in their bounds. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    if (read_in_pieces(data, size, 1 + data[0] % 17) != read_in_pieces(data, size, size)) {
        abort();
    }
    char text[64];
    size_t n = cuzk_rpc_percent_decode(text, sizeof text, (const char *)data, size);
    if (n >= sizeof text || n > size) {
        abort();
    }
    uint64_t ns;
    cuzk_rpc_timeout_parse((const char *)data, size, &ns);
    cuzk_rpc_pb_reader r = {.bytes = {data, size}};
    cuzk_rpc_pb_field field;
    while (cuzk_rpc_pb_next(&r, &field)) {
    }
    cuzk_span set = {data, size};
    cuzk_rpc_reflection *reflection;
    if (cuzk_rpc_reflection_new(&reflection, &set, 1, NULL) == CUZK_OK) {
        cuzk_rpc_reflection_free(reflection);
    }
    return 0;
}
