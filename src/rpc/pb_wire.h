#ifndef CUZK_RPC_PB_WIRE_H
#define CUZK_RPC_PB_WIRE_H

#include "base/bytes.h"

/*
 * The wire format of protocol buffers, as far as health and reflection need it: fields one by one,
 * nothing known of their schema.
 */

/** A reader over a message; start with {bytes}. */
typedef struct cuzk_rpc_pb_reader {
    cuzk_span bytes;
    size_t at;
    bool bad; /* the bytes are no message */
} cuzk_rpc_pb_reader;

/** One field. A varint or fixed one has value, one with a length has bytes (borrowed). */
typedef struct cuzk_rpc_pb_field {
    uint32_t number;
    bool has_bytes;
    uint64_t value;
    cuzk_span bytes;
} cuzk_rpc_pb_field;

/** The next field; false at the end, or with r->bad. Groups are not known. */
bool cuzk_rpc_pb_next(cuzk_rpc_pb_reader *r, cuzk_rpc_pb_field *ret);

/** Appends fields to a message. */
typedef struct cuzk_rpc_pb_writer {
    uint8_t *p; /* owned: free it */
    size_t n, cap;
    bool failed; /* no memory: what is there is not whole */
} cuzk_rpc_pb_writer;

void cuzk_rpc_pb_put_bytes(cuzk_rpc_pb_writer *w, uint32_t number, cuzk_span bytes);
void cuzk_rpc_pb_put_value(cuzk_rpc_pb_writer *w, uint32_t number, uint64_t value);

#endif
