#ifndef TESTS_RPC_ECHO_H
#define TESTS_RPC_ECHO_H

#include "rpc/rpc_server.h"

#include <pthread.h>

/**
 * A service for tests of src/rpc:
 *
 *     /test.Echo/Echo   unary: the request comes back
 *     /test.Echo/Later  the same, answered by a thread of its own
 *     /test.Echo/Fail   unary: a byte of status, then the words
 *     /test.Echo/Many   server stream: "COUNT SIZE" in decimal; so many messages of that size
 *     /test.Echo/Chat   bidi: each message comes back
 *     /test.Echo/Wait   unary: never answered
 *     /test.Echo/Peer   unary: what _peer says
 *     /test.Echo/Open   Echo without a token
 */
enum { RPC_ECHO_METHODS = 8 };

typedef struct rpc_echo {
    pthread_mutex_t mu;
    pthread_cond_t changed;
    unsigned begun, ended;  /* guarded by mu: calls of Wait */
    cuzk_rpc_end last_end;  /* guarded by mu: of the last that ended */
    cuzk_rpc_call *waiting; /* guarded by mu: the last call of Wait; referenced */
} rpc_echo;

void rpc_echo_init(rpc_echo *e);
void rpc_echo_close(rpc_echo *e);
void rpc_echo_methods(rpc_echo *e, cuzk_rpc_method ret[RPC_ECHO_METHODS]);

/** Waits until `n` calls of Wait have begun, or ended; how the last one ended. */
void rpc_echo_await_begun(rpc_echo *e, unsigned n);
cuzk_rpc_end rpc_echo_await_ended(rpc_echo *e, unsigned n);

#endif
