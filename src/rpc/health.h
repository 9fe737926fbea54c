#ifndef CUZK_RPC_HEALTH_H
#define CUZK_RPC_HEALTH_H

#include "rpc/rpc_server.h"

/** grpc.health.v1.Health: the state of services, by name. */
typedef struct cuzk_rpc_health cuzk_rpc_health;

typedef enum cuzk_rpc_serving {
    CUZK_RPC_SERVING_UNKNOWN = 0,
    CUZK_RPC_SERVING = 1,
    CUZK_RPC_NOT_SERVING = 2,
} cuzk_rpc_serving;

enum { CUZK_RPC_HEALTH_METHODS = 2 };

/** Knows one service, "" (the server as a whole), as NOT_SERVING. */
cuzk_code cuzk_rpc_health_new(cuzk_rpc_health **ret, cuzk_err *err);

/** Frees; accepts NULL. The server that has its methods must be freed before. */
void cuzk_rpc_health_free(cuzk_rpc_health *health);

/** Sets a service's state, new services included, and tells who watches it. Any thread. */
cuzk_code cuzk_rpc_health_set(cuzk_rpc_health *health, const char *service,
                              cuzk_rpc_serving serving, cuzk_err *err);

/** The methods Check and Watch for the server's table, open: no token needed. */
void cuzk_rpc_health_methods(cuzk_rpc_health *health, cuzk_rpc_method ret[CUZK_RPC_HEALTH_METHODS]);

#endif
