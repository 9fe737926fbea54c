#ifndef CUZK_RPC_SERVER_H
#define CUZK_RPC_SERVER_H

#include "rpc/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A gRPC server over HTTP/2 (nghttp2) on TCP, TLS and unix sockets. It knows methods by their path
 * and messages as bytes.
 *
 * One I/O thread owns the sockets and calls the handlers; a handler only moves its message into
 * work. The work answers from any thread with cuzk_rpc_call_send and cuzk_rpc_call_finish.
 * No function here blocks, cuzk_rpc_server_drain and _free aside.
 *
 * Locks: one mutex in the server guards all that calls have queued to send. It is never held while
 * a handler, an allocator or a cuzk_rpc_end_fn runs, so those may take their own locks and call in
 * here with these held.
 */

typedef struct cuzk_rpc_server cuzk_rpc_server;
typedef struct cuzk_rpc_call cuzk_rpc_call;

/* ---- memory of messages ---- */

typedef enum cuzk_rpc_grant {
    CUZK_RPC_GRANTED,
    CUZK_RPC_LATER, /* the sender is held by flow control; asked again after _memory_freed */
    CUZK_RPC_NEVER, /* the call ends with RESOURCE_EXHAUSTED */
} cuzk_rpc_grant;

/** Where the bodies of requests live. Messages of at most CUZK_RPC_SMALL_BYTES are not asked for:
 *  they come from malloc at once, so that a full pool never delays a status request. */
typedef struct cuzk_rpc_allocator {
    /** n bytes to *ret. Called on the I/O thread; must not block. */
    cuzk_rpc_grant (*alloc)(void *ctx, size_t n, void **ret);
    /** Takes back p of n bytes, on any thread. */
    void (*free)(void *ctx, void *p, size_t n);
    void *ctx;
} cuzk_rpc_allocator;

enum { CUZK_RPC_SMALL_BYTES = 4096 };

/** One received message. Who holds it owns p; plain bytes, at least 16-byte aligned. */
typedef struct cuzk_rpc_message {
    uint8_t *p; /* NULL when n is 0 */
    size_t n;
    cuzk_rpc_allocator memory; /* where p goes back to */
} cuzk_rpc_message;

/** Gives the memory back and empties the message; accepts an empty one. Any thread. */
void cuzk_rpc_message_free(cuzk_rpc_message *message);

/* ---- methods ---- */

typedef enum cuzk_rpc_kind {
    CUZK_RPC_UNARY,         /* one message in, one out */
    CUZK_RPC_SERVER_STREAM, /* one in, any number out */
    CUZK_RPC_BIDI,          /* any number both ways */
} cuzk_rpc_kind;

/**
 * Called on the I/O thread with a message, which the handler takes (owns). Unary and server
 * streaming: once, when the request is complete. Bidi: for each message, and once with message NULL
 * when the client has sent its last. The call is borrowed for the time of the handler: take a
 * reference to keep it. Every call must be finished, now or later.
 */
typedef void cuzk_rpc_handler_fn(void *ctx, cuzk_rpc_call *call, cuzk_rpc_message *message);

typedef struct cuzk_rpc_method {
    const char *path; /* "/package.Service/Method", copied */
    cuzk_rpc_handler_fn *handler;
    void *ctx; /* borrowed until the server is freed */
    cuzk_rpc_kind kind;
    bool open;                /* served without a token, e.g. health */
    size_t max_request_bytes; /* 0: the server's limit */
} cuzk_rpc_method;

/* ---- calls ---- */

/** Why a call is over. */
typedef enum cuzk_rpc_end {
    CUZK_RPC_END_FINISHED,     /* cuzk_rpc_call_finish was called */
    CUZK_RPC_END_CANCELLED,    /* the client reset the stream */
    CUZK_RPC_END_DISCONNECTED, /* the connection is lost or was closed */
    CUZK_RPC_END_DEADLINE,     /* the client's deadline passed */
    CUZK_RPC_END_STALLED,      /* the client does not take what is sent, or sends too slowly */
    CUZK_RPC_END_SHUTDOWN,     /* the server goes away */
} cuzk_rpc_end;

/** See cuzk_rpc_call_on_end. */
typedef void cuzk_rpc_end_fn(void *ctx, cuzk_rpc_call *call, cuzk_rpc_end end);

/** Queues one message (copied). False when the call is over, or when the client is so slow that
 *  more than the server's max_queued_bytes wait: then nothing was queued. Any thread. */
bool cuzk_rpc_call_send(cuzk_rpc_call *call, const void *bytes, size_t n);

/** Ends the call after what was queued. message may be NULL; it is UTF-8 and copied. A second call,
 *  or one after the client went away, does nothing. Any thread. */
void cuzk_rpc_call_finish(cuzk_rpc_call *call, cuzk_rpc_status status, const char *message);

/** cuzk_rpc_call_finish with the status and the words of an error. */
void cuzk_rpc_call_fail(cuzk_rpc_call *call, const cuzk_err *err);

/**
 * Has fn called exactly once when the call is over, for whatever reason: on the I/O thread, or
 * within this function if it is over already. ctx must live until then. With FINISHED, the answer
 * has been handed to the transport or the client has gone meanwhile. One fn for each call.
 */
void cuzk_rpc_call_on_end(cuzk_rpc_call *call, cuzk_rpc_end_fn *fn, void *ctx);

/** Whether the call is over or finished: nobody waits for its work. Any thread. */
bool cuzk_rpc_call_is_over(cuzk_rpc_call *call);

/** The other end: "127.0.0.1:4321", "[::1]:4321", "unix:uid=1000,pid=77"; with a client certificate
 *  followed by " cn=NAME". Lives as long as the call. */
const char *cuzk_rpc_call_peer(const cuzk_rpc_call *call);

/** The client's deadline on CLOCK_MONOTONIC; UINT64_MAX without one. */
uint64_t cuzk_rpc_call_deadline_ns(const cuzk_rpc_call *call);

/** The method's path. */
const char *cuzk_rpc_call_path(const cuzk_rpc_call *call);

/** References; any thread. A call may outlive its connection and its server. */
cuzk_rpc_call *cuzk_rpc_call_ref(cuzk_rpc_call *call);
void cuzk_rpc_call_unref(cuzk_rpc_call *call);

/* ---- server ---- */

/** Limits; 0 in any field means the default, in brackets. */
typedef struct cuzk_rpc_limits {
    size_t max_message_bytes; /* [256 MiB] of a request */
    size_t max_queued_bytes;  /* [16 MiB] unsent, of one call; a first message may be larger */
    size_t max_header_bytes;  /* [16 KiB] names, values and 32 for each field */
    uint32_t max_connections; /* [256]; above, an idle one makes room or the new one is closed */
    uint32_t max_streams;     /* [256] of one connection */
    uint64_t handshake_timeout_ms; /* [10 s] TLS, preface and the first SETTINGS */
    uint64_t header_timeout_ms;    /* [10 s] from the first byte of a header block to its last */
    uint64_t idle_timeout_ms;      /* [30 min] a connection without calls */
    uint64_t slow_timeout_ms;      /* [30 s] a request without min_rate, an answer not taken */
    uint64_t min_rate_bytes;       /* [16 KiB] that an unfinished request must bring in that time */
    uint64_t ping_after_ms;        /* [20 s] of silence of a connection with calls */
    uint64_t ping_timeout_ms;      /* [10 s] then closed */
} cuzk_rpc_limits;

/** All strings are copied. */
typedef struct cuzk_rpc_server_config {
    /** "host:port", "[v6]:port", "unix:///path", "unix:path". Port 0: any. */
    const char *const *listen;
    size_t n_listen;
    /** PEM files: TLS on every TCP address when set; client_ca_file: clients must show a
     * certificate that it signed. Unix sockets are always plain. */
    const char *cert_file, *key_file, *client_ca_file;
    /** "authorization: Bearer TOKEN" is asked of every call but those of open methods. */
    const char *token;
    /** Plain TCP on an address that is not loopback is an error unless this is set. */
    bool allow_insecure;
    cuzk_rpc_limits limits;
    /** NULL functions: malloc. */
    cuzk_rpc_allocator memory;
} cuzk_rpc_server_config;

/**
 * Binds every address, then starts the I/O thread. A unix path gets a lock file beside it
 * (PATH.lock, held while the server lives), mode 0660 and, if missing, its parent folder; a socket
 * left by a dead server is replaced. CUZK_E_ARG for an address, token or file that cannot be used,
 * CUZK_E_IO when it cannot be bound or another server holds the path.
 */
cuzk_code cuzk_rpc_server_start(cuzk_rpc_server **ret, const cuzk_rpc_server_config *config,
                                const cuzk_rpc_method *methods, size_t n_methods, cuzk_err *err);

/** The i-th address as bound, with the real port: "127.0.0.1:45123", "unix:/run/x.sock"; NULL past
 *  the last. */
const char *cuzk_rpc_server_bound(const cuzk_rpc_server *server, size_t i);

/** A new token (NULL: none) and the certificate files (which may be the old names, read again) for
 *  connections and calls from now on. On error everything stays as it was. TLS can neither be
 * turned on nor off. Any thread. */
cuzk_code cuzk_rpc_server_reload(cuzk_rpc_server *server, const char *token, const char *cert_file,
                                 const char *key_file, const char *client_ca_file, cuzk_err *err);

/** Asks the allocator again for messages that wait. Any thread; cheap. */
void cuzk_rpc_server_memory_freed(cuzk_rpc_server *server);

/** Numbers since the start, counters unless said otherwise. */
typedef struct cuzk_rpc_stats {
    uint64_t connections;         /* now */
    uint64_t calls;               /* now */
    uint64_t connections_total;   /* accepted */
    uint64_t connections_refused; /* above the limit */
    uint64_t connections_dropped; /* by us: protocol errors, floods, timeouts */
    uint64_t calls_total;
    uint64_t calls_refused; /* before a handler: token, path, size, headers */
    uint64_t received_bytes, sent_bytes;
} cuzk_rpc_stats;

void cuzk_rpc_server_stats(const cuzk_rpc_server *server, cuzk_rpc_stats *ret);

/** Stops accepting connections and calls (GOAWAY), waits until the live calls are over or
 *  timeout_ms passed, and ends the rest (SHUTDOWN). True if all ended by themselves. */
bool cuzk_rpc_server_drain(cuzk_rpc_server *server, uint64_t timeout_ms);

/** Ends the live calls now (SHUTDOWN); a drain that waits in another thread returns. */
void cuzk_rpc_server_hurry(cuzk_rpc_server *server);

/** Drains with no patience if that was not done, closes everything, joins the thread; accepts NULL.
 *  Calls that are still referenced stay valid and over. */
void cuzk_rpc_server_free(cuzk_rpc_server *server);

#endif
