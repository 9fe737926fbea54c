#ifndef CUZK_RPC_LOOP_H
#define CUZK_RPC_LOOP_H

#include "rpc/core.h"
#include "rpc/listener.h"
#include "rpc/transport.h"

/*
 * The server's sockets and its thread. Everything but the fields under mu belongs to the I/O
 * thread while it runs.
 */

enum { CUZK_RPC_READ_BYTES = 256 << 10 };

/** What an event of epoll points to. */
typedef enum cuzk_rpc_source {
    CUZK_RPC_SOURCE_WAKE,
    CUZK_RPC_SOURCE_LISTENER,
    CUZK_RPC_SOURCE_LINK,
} cuzk_rpc_source;

/** One connection's socket. */
typedef struct cuzk_rpc_link {
    cuzk_rpc_source source; /* first: LINK */
    struct cuzk_rpc_link *prev, *next;
    cuzk_rpc_transport transport;
    cuzk_rpc_conn *conn; /* NULL: all is said, the other end may still be reading */
    uint64_t closing_ns; /* since when the session is over; 0: it is not */
    uint32_t events;     /* that epoll watches */
    bool dead;           /* to be freed when no event can name it */
} cuzk_rpc_link;

typedef struct cuzk_rpc_door {
    cuzk_rpc_source source; /* first: LISTENER */
    cuzk_rpc_listener listener;
} cuzk_rpc_door;

struct cuzk_rpc_server {
    cuzk_rpc_core core;
    cuzk_rpc_door *doors;
    size_t n_doors;
    cuzk_rpc_source wake; /* what the eventfd's events point to */
    int epoll_fd;
    pthread_t thread;
    bool has_thread;
    cuzk_rpc_link *links;
    size_t n_links;
    uint8_t *buffer; /* for reading */
    uint64_t tick_ns, next_tick_ns;
    bool doors_watched;
    bool killed;              /* kill was carried out */
    atomic_bool memory_freed; /* release: the allocator's state is set before */

    pthread_mutex_t mu;
    pthread_cond_t drained; /* is_drained or kill was set */
    SSL_CTX *tls;           /* guarded by mu; NULL: plain */
    bool drain, kill, stop; /* guarded by mu: wishes; each includes the ones before */
    bool is_drained;        /* guarded by mu: draining, and no connection is left */
};

/** The I/O thread; arg is the server. */
void *cuzk_rpc_loop_main(void *arg);

#endif
