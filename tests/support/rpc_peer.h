#ifndef TESTS_RPC_PEER_H
#define TESTS_RPC_PEER_H

#include "rpc/core.h"
#include "support/rpc_echo.h"

/**
 * A connection of the server's in memory, and the other end of it written byte by byte: frames that
 * no library would send, and a clock that the test moves.
 */
typedef struct rpc_peer {
    rpc_echo echo;
    cuzk_rpc_core core;
    cuzk_rpc_conn *conn;
    nghttp2_hd_inflater *inflater;
    bool mute; /* does not answer PINGs */
    unsigned unanswered;
    /* seen in the server's output */
    unsigned pings, goaways, window_updates;
    uint32_t goaway_error;
    size_t data_bytes;
    struct {
        int http, grpc;  /* -1: not yet */
        int reset;       /* error of RST_STREAM, -1: none */
        bool ended;      /* END_STREAM or RST_STREAM */
        uint64_t window; /* bytes that WINDOW_UPDATE gave it */
        char message[256];
    } streams[16]; /* of stream 2 i + 1 */
} rpc_peer;

/** Starts at second 1000 with the echo service; sends the preface and SETTINGS unless told not to.
 */
void rpc_peer_start(rpc_peer *p, cuzk_rpc_server_config config, bool greet);
void rpc_peer_stop(rpc_peer *p);

/** Bytes to the server, then its whole answer is read. */
void rpc_peer_send(rpc_peer *p, const void *bytes, size_t n);
/** One frame. */
void rpc_peer_frame(rpc_peer *p, uint8_t type, uint8_t flags, uint32_t stream, const void *payload,
                    size_t n);
/** A HEADERS frame of a gRPC request with one more field (NULL: none). */
void rpc_peer_request(rpc_peer *p, uint32_t stream, const char *path, const char *name,
                      const char *value, bool end_stream);
/** A DATA frame with a message's prefix that says `size`, and `n` bytes of it. */
void rpc_peer_message(rpc_peer *p, uint32_t stream, uint32_t size, size_t n, bool end_stream);
/** Writes one field as a literal without indexing; returns its length. */
size_t rpc_peer_field(uint8_t *ret, const char *name, const char *value);
/** Moves the clock in steps of a second and lets timeouts pass. */
void rpc_peer_pass(rpc_peer *p, uint64_t ms);

#endif
