#ifndef CUZK_SERVICE_HTTP_H
#define CUZK_SERVICE_HTTP_H

#include "cuzk/engine.h"

/*
 * The daemon's HTTP port, for people and monitoring; read-only:
 *
 *     GET /          the live page
 *     GET /status    JSON (status_json.h); /status/… as well
 *     GET /timeline  JSON: events since ?cursor=N
 *     GET /metrics   Prometheus text
 */
typedef struct cuzk_http cuzk_http;

/** Serves on "host:port" (port 0: any) with threads of its own; borrows the engine. An address that
 *  is not loopback is CUZK_E_ARG unless allow_insecure. CUZK_E_IO when it cannot be bound. */
cuzk_code cuzk_http_start(cuzk_http **ret, const char *listen, bool allow_insecure,
                          cuzk_engine *engine, cuzk_err *err);

/** Port in use. */
unsigned cuzk_http_port(const cuzk_http *h);

/** Ends all connections and frees; accepts NULL. */
void cuzk_http_free(cuzk_http *h);

#endif
