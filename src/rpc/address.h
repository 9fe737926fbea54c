#ifndef CUZK_RPC_ADDRESS_H
#define CUZK_RPC_ADDRESS_H

#include "cuzk/err.h"

#include <stdbool.h>
#include <sys/socket.h>

/** Where a server is, in parts. */
typedef struct cuzk_rpc_address {
    bool is_unix;
    bool tls;       /* "https://" */
    char path[108]; /* unix: as large as a socket's address holds */
    char host[256]; /* without brackets; empty: every interface (servers only) */
    char port[8];
} cuzk_rpc_address;

/** Reads "host:port", "[v6]:port", "http://…", "https://…", "dns:///host:port", "unix:path" or
 *  "unix:///path". CUZK_E_ARG for anything else. */
cuzk_code cuzk_rpc_address_parse(cuzk_rpc_address *ret, const char *text, cuzk_err *err);

/** Writes a socket's address as "127.0.0.1:80", "[::1]:80" or "unix:path". */
void cuzk_rpc_address_format(char *ret, size_t cap, const struct sockaddr_storage *sa);

/** Whether only this machine can reach a TCP address: 127.0.0.0/8 and ::1. */
bool cuzk_rpc_address_is_loopback(const struct sockaddr *sa);

#endif
