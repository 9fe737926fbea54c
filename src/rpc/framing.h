#ifndef CUZK_RPC_FRAMING_H
#define CUZK_RPC_FRAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The messages of a gRPC stream: a flag byte, a length of 4 bytes (big-endian), the body; cut into
 * DATA frames anywhere. The reader stops after each prefix, so that a body is refused or its
 * memory found before it is read.
 *
 *     while ((event = cuzk_rpc_framing_feed(&f, &p, &n)) != CUZK_RPC_FRAMING_MORE)
 *         PREFIX:  look at f.flag and f.size, then cuzk_rpc_framing_accept, or stop
 *         MESSAGE: f.body[f.size] is complete
 */

enum { CUZK_RPC_PREFIX_BYTES = 5 };

typedef enum cuzk_rpc_framing_event {
    CUZK_RPC_FRAMING_MORE,    /* all bytes are used up */
    CUZK_RPC_FRAMING_PREFIX,  /* a length is known; comes again until it is accepted */
    CUZK_RPC_FRAMING_MESSAGE, /* a body is complete */
} cuzk_rpc_framing_event;

/** Start with all zero. */
typedef struct cuzk_rpc_framing {
    uint8_t flag;     /* 1: compressed */
    uint8_t have;     /* bytes of the prefix read */
    bool accepted;    /* the body has its memory */
    size_t size, got; /* of the body */
    uint8_t *body;    /* borrowed from who accepted */
    uint8_t prefix[CUZK_RPC_PREFIX_BYTES];
} cuzk_rpc_framing;

/** Uses bytes of *p[*n] up to the next event, and moves *p and *n on. */
cuzk_rpc_framing_event cuzk_rpc_framing_feed(cuzk_rpc_framing *f, const uint8_t **p, size_t *n);

/** After PREFIX: the body goes to body[f->size]. */
void cuzk_rpc_framing_accept(cuzk_rpc_framing *f, uint8_t *body);

/** Whether the stream may end here: between messages. */
static inline bool cuzk_rpc_framing_between(const cuzk_rpc_framing *f) { return f->have == 0; }

/** Writes the prefix of an uncompressed message of n bytes. */
void cuzk_rpc_framing_prefix(uint8_t ret[CUZK_RPC_PREFIX_BYTES], uint32_t n);

#endif
