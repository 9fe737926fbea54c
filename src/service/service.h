#ifndef CUZK_SERVICE_SERVICE_H
#define CUZK_SERVICE_SERVICE_H

#include "cuzk/engine.h"
#include "rpc/rpc_server.h"

/*
 * cuzk.v1.ProvingEngine over an engine (proto/cuzk/v1/proving.proto). Calls come from the I/O
 * thread of the server and are looked at on threads of the service; nothing here waits for a proof:
 * a call that does is answered from the engine's callback.
 */
typedef struct cuzk_service cuzk_service;

enum { CUZK_SERVICE_METHODS = 11 };

/** Borrows the engine, which must outlive it. */
cuzk_code cuzk_service_new(cuzk_service **ret, cuzk_engine *engine, cuzk_err *err);

/** The server that has its methods must be freed before. Accepts NULL. */
void cuzk_service_free(cuzk_service *s);

/** The methods for the server's table. */
void cuzk_service_methods(cuzk_service *s, cuzk_rpc_method ret[CUZK_SERVICE_METHODS]);

/** The name that health and reflection know it by. */
#define CUZK_SERVICE_NAME "cuzk.v1.ProvingEngine"

#endif
