#ifndef CUZK_RPC_CORE_H
#define CUZK_RPC_CORE_H

#include "rpc/framing.h"
#include "rpc/rpc_server.h"

#include <nghttp2/nghttp2.h>
#include <pthread.h>
#include <stdatomic.h>

/*
 * The server without its sockets: methods, connections (bytes in, bytes out), streams and calls.
 * rpc_server.c brings the bytes; the fuzzers and tests may bring their own.
 *
 *     hub     what calls share with the I/O thread; lives as long as the last call
 *     core    methods, limits, all connections; the I/O thread's alone, but for what says otherwise
 *     conn    one HTTP/2 session
 *     stream  one request on it, from its first header to its close
 *     call    a request that reached its handler; any thread may hold one
 */

typedef struct cuzk_rpc_core cuzk_rpc_core;
typedef struct cuzk_rpc_conn cuzk_rpc_conn;
typedef struct cuzk_rpc_stream cuzk_rpc_stream;

/* ---- calls and what they queue (rpc_call.c) ---- */

/** One message to send, with its prefix. */
typedef struct cuzk_rpc_chunk {
    struct cuzk_rpc_chunk *next;
    size_t n, sent;
    uint8_t bytes[];
} cuzk_rpc_chunk;

typedef struct cuzk_rpc_hub {
    atomic_uint refs;
    size_t max_queued_bytes; /* constant */
    int wake_fd;             /* an eventfd */
    pthread_mutex_t mu;
    bool awake;           /* guarded by mu: the I/O thread will look at dirty without a signal */
    cuzk_rpc_call *dirty; /* guarded by mu: calls with news for the I/O thread; referenced */
} cuzk_rpc_hub;

struct cuzk_rpc_call {
    atomic_uint refs;
    cuzk_rpc_hub *hub;
    uint64_t deadline_ns;
    const char *path, *peer; /* behind the call in the same block */
    cuzk_rpc_stream *stream; /* I/O thread: NULL when over */
    atomic_size_t queued;    /* bytes that wait; relaxed: a limit, nothing is ordered by it */

    /* guarded by hub->mu */
    cuzk_rpc_chunk *first, *last;
    bool finished; /* by _finish */
    bool over;
    bool is_dirty;
    cuzk_rpc_end end;
    cuzk_rpc_status status;
    char *message;
    cuzk_rpc_end_fn *end_fn;
    void *end_ctx;
    cuzk_rpc_call *next_dirty;
};

/** What the I/O thread takes from a call: owns the chunks and the message. */
typedef struct cuzk_rpc_news {
    cuzk_rpc_chunk *first, *last;
    bool finished;
    cuzk_rpc_status status;
    char *message;
} cuzk_rpc_news;

cuzk_code cuzk_rpc_hub_new(cuzk_rpc_hub **ret, size_t max_queued_bytes, cuzk_err *err);
void cuzk_rpc_hub_unref(cuzk_rpc_hub *hub);
/** Makes the I/O thread look up; any thread. */
void cuzk_rpc_hub_wake(cuzk_rpc_hub *hub);
/** The next call with news, now the caller's reference; NULL when there is none and, if `sleep`,
 * the next news will signal the eventfd. */
cuzk_rpc_call *cuzk_rpc_hub_next(cuzk_rpc_hub *hub, bool sleep);

/** A call with one reference; NULL without memory. */
cuzk_rpc_call *cuzk_rpc_call_new(cuzk_rpc_hub *hub, const char *path, const char *peer,
                                 uint64_t deadline_ns);
void cuzk_rpc_call_take_news(cuzk_rpc_call *call, cuzk_rpc_news *ret);
/** The end, once: drops what is queued and calls the end function. `end` holds unless the call was
 *  finished. I/O thread. */
void cuzk_rpc_call_end(cuzk_rpc_call *call, cuzk_rpc_end end);
void cuzk_rpc_chunks_free(cuzk_rpc_chunk *first);

/* ---- requests (rpc_request.c) ---- */

/** What the header fields of a request say. */
typedef struct cuzk_rpc_request {
    const cuzk_rpc_method *method; /* NULL: not known */
    char path[128];                /* for messages: cut */
    size_t header_bytes;
    bool post, grpc, token_good, timeout_bad;
    uint64_t timeout_ns; /* UINT64_MAX: none */
} cuzk_rpc_request;

void cuzk_rpc_request_init(cuzk_rpc_request *r);
/** Reads one field. */
void cuzk_rpc_request_field(cuzk_rpc_core *core, cuzk_rpc_request *r, const char *name,
                            size_t n_name, const char *value, size_t n_value);
/** An answer that ends a request before a handler sees it. */
typedef struct cuzk_rpc_refusal {
    int http_status;
    cuzk_rpc_status status;
    char message[256];
} cuzk_rpc_refusal;
/** Whether the fields make a request that may go on; if not, *ret says why. */
bool cuzk_rpc_request_check(cuzk_rpc_core *core, const cuzk_rpc_request *r, cuzk_rpc_refusal *ret);

/* ---- streams (rpc_stream.c) ---- */

struct cuzk_rpc_stream {
    cuzk_rpc_conn *conn;
    int32_t id;
    cuzk_rpc_stream *prev, *next;           /* of the connection */
    cuzk_rpc_stream *wait_prev, *wait_next; /* of the core: wait for memory, oldest first */
    cuzk_rpc_request request;
    uint64_t deadline_ns;
    cuzk_rpc_call *call; /* owned reference; NULL before the handler and after the end */

    /* coming in */
    cuzk_rpc_framing in;
    cuzk_rpc_message body; /* memory of the message under way or, if complete, the request */
    uint8_t *held;         /* bytes that came while the stream waits for memory */
    size_t n_held, cap_held;
    bool accepted;     /* the header fields were good */
    bool refused;      /* all that still comes is dropped */
    bool complete;     /* body is the whole request of a method that takes one */
    bool waiting;      /* for memory */
    bool half_closed;  /* the client has sent its last */
    bool wide;         /* the flow-control window was opened */
    uint64_t mark_ns;  /* begin of the period in which min_rate is asked */
    size_t mark_bytes; /* received in it */

    /* going out */
    cuzk_rpc_chunk *first, *last;
    bool finished, replied, ended; /* finish is known; headers went out; trailers went out */
    int http_status;
    cuzk_rpc_status status;
    char *message;
    uint64_t stall_ns; /* since when the client takes nothing; 0: nothing waits */
};

cuzk_rpc_stream *cuzk_rpc_stream_new(cuzk_rpc_conn *conn, int32_t id);
/** The stream is gone: ends its call, frees all. */
void cuzk_rpc_stream_free(cuzk_rpc_stream *s, cuzk_rpc_end end);
/** All header fields are here. */
void cuzk_rpc_stream_headers_done(cuzk_rpc_stream *s);
/** Bytes of DATA frames. */
void cuzk_rpc_stream_data(cuzk_rpc_stream *s, const uint8_t *p, size_t n);
/** The client has sent its last byte. */
void cuzk_rpc_stream_half_close(cuzk_rpc_stream *s);
/** Asks for memory again; true if the stream waits no more. */
bool cuzk_rpc_stream_retry(cuzk_rpc_stream *s);
/** Takes what the call has queued and sends it. */
void cuzk_rpc_stream_news(cuzk_rpc_stream *s);
/** Ends the stream from our side with a status, and its call with `end`. */
void cuzk_rpc_stream_abort(cuzk_rpc_stream *s, cuzk_rpc_end end, cuzk_rpc_status status,
                           const char *message);
/** Up to `cap` bytes of the answer for a DATA frame; *ret_last: after them come the trailers. */
size_t cuzk_rpc_stream_read(cuzk_rpc_stream *s, uint8_t *buf, size_t cap, bool *ret_last);
/** Sends headers, resumes data, as far as there is something. */
void cuzk_rpc_stream_pump(cuzk_rpc_stream *s);
/** Deadlines and stalls. */
void cuzk_rpc_stream_tick(cuzk_rpc_stream *s, uint64_t now_ns);

/* ---- connections (rpc_conn.c) ---- */

struct cuzk_rpc_conn {
    cuzk_rpc_core *core;
    cuzk_rpc_conn *prev, *next; /* of the core */
    nghttp2_session *session;
    cuzk_rpc_stream *streams;
    size_t n_streams;
    char peer[192];
    uint8_t *out; /* bytes for the transport: out[out_at .. out_n) of out[out_cap] */
    size_t out_at, out_n, out_cap;
    bool settled; /* the client's SETTINGS came */
    bool leaving; /* GOAWAY was sent */
    bool broken;  /* to be closed as soon as possible: protocol error, flood */
    uint64_t born_ns;
    uint64_t heard_ns;  /* when bytes came */
    uint64_t busy_ns;   /* when there last was a stream */
    uint64_t header_ns; /* since when a header block is open; 0: none */
    uint64_t ping_ns;   /* since when a PING is not answered; 0: none */
    uint64_t taken_ns;  /* when the transport last took bytes, or had none to take */
    void *owner;        /* of who brings the bytes */
};

/** A connection, in the core's list; NULL without memory. */
cuzk_rpc_conn *cuzk_rpc_conn_new(cuzk_rpc_core *core, const char *peer, uint64_t now_ns);
/** Ends all streams with `end` and frees. */
void cuzk_rpc_conn_free(cuzk_rpc_conn *c, cuzk_rpc_end end);
/** Bytes from the client. */
void cuzk_rpc_conn_input(cuzk_rpc_conn *c, const uint8_t *p, size_t n, uint64_t now_ns);
/** Bytes for the client: *ret[count], borrowed until the next call; 0 when there are none. */
size_t cuzk_rpc_conn_output(cuzk_rpc_conn *c, const uint8_t **ret);
/** n of them are sent. */
void cuzk_rpc_conn_wrote(cuzk_rpc_conn *c, size_t n, uint64_t now_ns);
/** Whether the session is over, once its output is sent. */
bool cuzk_rpc_conn_is_done(const cuzk_rpc_conn *c);
/** Timeouts of the connection and its streams. */
void cuzk_rpc_conn_tick(cuzk_rpc_conn *c, uint64_t now_ns);
/** No new streams from now on. */
void cuzk_rpc_conn_goaway(cuzk_rpc_conn *c);
/** What all sessions share: callbacks, and options against floods. */
cuzk_code cuzk_rpc_session_setup(nghttp2_session_callbacks **ret_callbacks,
                                 nghttp2_option **ret_options, cuzk_err *err);

/* ---- core (rpc_core.c) ---- */

struct cuzk_rpc_core {
    cuzk_rpc_method *methods; /* sorted by path, paths owned */
    size_t n_methods;
    cuzk_rpc_limits limits;
    cuzk_rpc_allocator memory;
    cuzk_rpc_hub *hub;
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *options;
    cuzk_rpc_conn *conns;
    cuzk_rpc_stream *waiting, *waiting_last;
    bool draining;
    uint64_t now_ns;           /* of this turn of the loop */
    uint64_t next_deadline_ns; /* no stream's deadline is earlier */

    pthread_mutex_t mu;
    bool has_token;         /* guarded by mu */
    uint8_t token_hash[32]; /* guarded by mu: SHA-256 */

    /* written by the I/O thread, read by any; relaxed: they count */
    atomic_uint_fast64_t connections, calls, connections_total, connections_refused,
        connections_dropped, calls_total, calls_refused, received_bytes, sent_bytes;
};

/** Fills in defaults and checks the methods. */
cuzk_code cuzk_rpc_core_init(cuzk_rpc_core *core, const cuzk_rpc_server_config *config,
                             const cuzk_rpc_method *methods, size_t n_methods, cuzk_err *err);
/** Closes all connections and frees what init made; accepts a core that is all zero. */
void cuzk_rpc_core_close(cuzk_rpc_core *core);
/** Sets the token (NULL: none). Any thread. */
cuzk_code cuzk_rpc_core_set_token(cuzk_rpc_core *core, const char *token, cuzk_err *err);
/** Compares in constant time. */
bool cuzk_rpc_core_token_is_good(cuzk_rpc_core *core, const char *token, size_t n);
/** The method of a path; NULL for none. */
const cuzk_rpc_method *cuzk_rpc_core_find(const cuzk_rpc_core *core, const char *path, size_t n);
/** Does what calls have asked for since the last time. */
void cuzk_rpc_core_news(cuzk_rpc_core *core, bool sleep);
/** Gives memory to streams that wait for it, oldest first. */
void cuzk_rpc_core_retry(cuzk_rpc_core *core);
/** Ends calls whose deadline has passed, and finds the next deadline. */
void cuzk_rpc_core_deadlines(cuzk_rpc_core *core);

/** Adds to a counter of the core. */
static inline void cuzk_rpc_count(atomic_uint_fast64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

#endif
