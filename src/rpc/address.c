#include "rpc/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

static const char *after(const char *text, const char *start)
{
    size_t n = strlen(start);
    return strncmp(text, start, n) == 0 ? text + n : NULL;
}

static cuzk_code parse_unix(cuzk_rpc_address *a, const char *text, const char *path, cuzk_err *err)
{
    if (path[0] == '/' && path[1] == '/') { /* unix://authority/path, authority empty */
        path += 2;
        if (path[0] != '/') {
            return CUZK_FAIL(err, CUZK_E_ARG, "address %s: want a slash after unix://", text);
        }
    }
    if (!path[0] || strlen(path) >= sizeof a->path) {
        return CUZK_FAIL(err, CUZK_E_ARG,
                         "address %s: the path must have 1 to %zu characters, has %zu", text,
                         sizeof a->path - 1, strlen(path));
    }
    a->is_unix = true;
    snprintf(a->path, sizeof a->path, "%s", path);
    return CUZK_OK;
}

static bool port_is_good(const char *port)
{
    size_t n = strlen(port);
    return n >= 1 && n <= 5 && strspn(port, "0123456789") == n && atoi(port) <= 65535;
}

static cuzk_code parse_tcp(cuzk_rpc_address *a, const char *text, const char *at, cuzk_err *err)
{
    const char *host = at, *end = strrchr(at, ':'), *port = end ? end + 1 : NULL;
    if (at[0] == '[') {
        host = at + 1;
        end = strchr(at, ']');
        port = end && end[1] == ':' ? end + 2 : NULL;
    } else if (end && memchr(at, ':', (size_t)(end - at))) {
        return CUZK_FAIL(err, CUZK_E_ARG, "address %s: an IPv6 host needs brackets: [::1]:9820",
                         text);
    }
    if (!port) {
        return CUZK_FAIL(err, CUZK_E_ARG, "address %s: want host:port, unix:path or unix:///path",
                         text);
    }
    size_t n_port = strcspn(port, "/"); /* a URL may end with a slash */
    char digits[8] = "";
    if (n_port < sizeof digits && (!port[n_port] || !port[n_port + 1])) {
        memcpy(digits, port, n_port);
    }
    if (!port_is_good(digits)) {
        return CUZK_FAIL(err, CUZK_E_ARG, "address %s: port is \"%s\", want 0 to 65535", text,
                         port);
    }
    if ((size_t)(end - host) >= sizeof a->host) {
        return CUZK_FAIL(err, CUZK_E_ARG, "address %.60s…: the host is too long", text);
    }
    memcpy(a->host, host, (size_t)(end - host));
    snprintf(a->port, sizeof a->port, "%s", digits);
    return CUZK_OK;
}

cuzk_code cuzk_rpc_address_parse(cuzk_rpc_address *ret, const char *text, cuzk_err *err)
{
    cuzk_rpc_address a = {0};
    const char *rest = after(text, "unix:");
    if (rest) {
        CUZK_TRY(parse_unix(&a, text, rest, err));
    } else {
        rest = after(text, "https://");
        a.tls = rest != NULL;
        rest = rest ? rest : after(text, "http://");
        rest = rest ? rest : after(text, "dns:///");
        CUZK_TRY(parse_tcp(&a, text, rest ? rest : text, err));
    }
    *ret = a;
    return CUZK_OK;
}

void cuzk_rpc_address_format(char *ret, size_t cap, const struct sockaddr_storage *sa)
{
    char host[INET6_ADDRSTRLEN] = "?";
    if (sa->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)sa;
        inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host);
        snprintf(ret, cap, "%s:%u", host, ntohs(v4->sin_port));
    } else if (sa->ss_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)sa;
        inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
        snprintf(ret, cap, "[%s]:%u", host, ntohs(v6->sin6_port));
    } else {
        snprintf(ret, cap, "unix:%s", ((const struct sockaddr_un *)sa)->sun_path);
    }
}

bool cuzk_rpc_address_is_loopback(const struct sockaddr *sa)
{
    if (sa->sa_family == AF_INET) {
        return ntohl(((const struct sockaddr_in *)sa)->sin_addr.s_addr) >> 24 == 127;
    }
    if (sa->sa_family == AF_INET6) {
        const struct in6_addr *a = &((const struct sockaddr_in6 *)sa)->sin6_addr;
        return IN6_IS_ADDR_LOOPBACK(a);
    }
    return false;
}
