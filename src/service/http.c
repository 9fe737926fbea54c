#include "service/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "observe/live.h"
#include "observe/metrics.h"
#include "service/page/page.h"
#include "service/status_json.h"

enum {
    CONNECTIONS = 64,
    PER_ADDRESS = 32,
    TIMEOUT_S = 15,
    CONNECTION_MEMORY = 16 << 10,
    HOST_MAX = 256,
};

struct cuzk_http {
    struct MHD_Daemon *daemon;
    cuzk_engine *engine;
};

/* ---- what is served ---- */

/* A text on the heap and its type. */
typedef struct content {
    char *p;
    size_t n;
    const char *type;
} content;

static cuzk_code status(content *ret, cuzk_engine *e, cuzk_err *err)
{
    cuzk_engine_snapshot *s;
    CUZK_TRY(cuzk_engine_status(e, &s, err));
    cuzk_code code = cuzk_status_json(&ret->p, s, cuzk_engine_timeline(e), err);
    cuzk_engine_status_free(s);
    if (code == CUZK_OK) {
        ret->n = strlen(ret->p);
        ret->type = "application/json";
    }
    return code;
}

static cuzk_code metrics(content *ret, cuzk_engine *e, cuzk_err *err)
{
    ret->type = "text/plain; version=0.0.4; charset=utf-8";
    return cuzk_metrics_text(cuzk_engine_metrics(e), &ret->p, &ret->n, err);
}

/* The cursor of a request, the newest events without one; false when it is not a number. */
static bool read_cursor(struct MHD_Connection *c, uint64_t *ret)
{
    const char *text = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "cursor");
    char *end = NULL;
    *ret = CUZK_LIVE_NEWEST;
    if (text) {
        *ret = strtoull(text, &end, 10);
    }
    return !text || (*text >= '0' && *text <= '9' && !*end);
}

/* ---- answering ---- */

static enum MHD_Result respond(struct MHD_Connection *c, unsigned code, struct MHD_Response *r,
                               const char *type)
{
    if (!r) {
        return MHD_NO;
    }
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(r, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_ORIGIN, "*");
    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    enum MHD_Result sent = MHD_queue_response(c, code, r);
    MHD_destroy_response(r);
    return sent;
}

static enum MHD_Result respond_text(struct MHD_Connection *c, unsigned code, const char *text)
{
    return respond(c, code,
                   MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
                                                   MHD_RESPMEM_PERSISTENT),
                   "text/plain; charset=utf-8");
}

static enum MHD_Result respond_content(struct MHD_Connection *c, cuzk_code code, const content *k)
{
    if (code != CUZK_OK) {
        return respond_text(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
    }
    struct MHD_Response *r = MHD_create_response_from_buffer(k->n, k->p, MHD_RESPMEM_MUST_FREE);
    if (!r) {
        free(k->p);
    }
    return respond(c, MHD_HTTP_OK, r, k->type);
}

static bool is_status(const char *url)
{
    return strncmp(url, "/status", 7) == 0 && (url[7] == '\0' || url[7] == '/');
}

static enum MHD_Result answer(void *ctx, struct MHD_Connection *c, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state)
{
    cuzk_http *h = ctx;
    content k = {0};
    cuzk_err err;
    (void)version;
    (void)upload;
    (void)upload_size;
    (void)state;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0) {
        return respond_text(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
    }
    if (strcmp(url, "/") == 0) {
        return respond(c, MHD_HTTP_OK,
                       MHD_create_response_from_buffer(cuzk_page_html_size,
                                                       (void *)(uintptr_t)cuzk_page_html,
                                                       MHD_RESPMEM_PERSISTENT),
                       "text/html; charset=utf-8");
    }
    if (is_status(url)) {
        return respond_content(c, status(&k, h->engine, &err), &k);
    }
    if (strcmp(url, "/metrics") == 0) {
        return respond_content(c, metrics(&k, h->engine, &err), &k);
    }
    if (strcmp(url, "/timeline") == 0) {
        uint64_t cursor;
        if (!read_cursor(c, &cursor)) {
            return respond_text(c, MHD_HTTP_BAD_REQUEST, "cursor: expected a number\n");
        }
        k.type = "application/json";
        cuzk_timeline *t = cuzk_engine_timeline(h->engine);
        return respond_content(c, cuzk_live_timeline(&k.p, &k.n, t, cursor, &err), &k);
    }
    return respond_text(c, MHD_HTTP_NOT_FOUND, "there are /, /status, /timeline and /metrics\n");
}

/* ---- binding ---- */

static bool is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET) {
        return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24 == 127;
    }
    return a->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

/* Splits "host:port" or "[v6]:port" and looks it up. */
static cuzk_code resolve(struct addrinfo **ret, const char *listen, cuzk_err *err)
{
    char host[HOST_MAX];
    const char *colon = strrchr(listen, ':');
    size_t n = colon ? (size_t)(colon - listen) : 0;
    if (!colon || n >= sizeof host || !colon[1]) {
        return CUZK_FAIL(err, CUZK_E_ARG, "status_listen: expected host:port, found \"%s\"",
                         listen);
    }
    bool bracketed = n >= 2 && listen[0] == '[' && listen[n - 1] == ']';
    memcpy(host, listen + bracketed, n - 2 * bracketed);
    host[n - 2 * bracketed] = '\0';
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    int rc = getaddrinfo(host[0] ? host : NULL, colon + 1, &hints, ret);
    return rc == 0
               ? CUZK_OK
               : CUZK_FAIL(err, CUZK_E_ARG, "status_listen \"%s\": %s", listen, gai_strerror(rc));
}

static cuzk_code start(cuzk_http *h, const char *listen, const struct sockaddr *address,
                       cuzk_err *err)
{
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD;
    if (address->sa_family == AF_INET6) {
        flags |= MHD_USE_IPv6;
    }
    h->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, answer, h, MHD_OPTION_SOCK_ADDR, address, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)PER_ADDRESS,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1U, MHD_OPTION_END);
    return h->daemon ? CUZK_OK
                     : CUZK_FAIL(err, CUZK_E_IO, "status_listen \"%s\" cannot be bound: %s", listen,
                                 strerror(errno));
}

cuzk_code cuzk_http_start(cuzk_http **ret, const char *listen, bool allow_insecure,
                          cuzk_engine *engine, cuzk_err *err)
{
    struct addrinfo *found;
    CUZK_TRY(resolve(&found, listen, err));
    cuzk_http *h = calloc(1, sizeof *h);
    cuzk_code code = CUZK_OK;
    if (!h) {
        code = CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the HTTP server");
    } else if (!allow_insecure && !is_loopback(found->ai_addr)) {
        code = CUZK_FAIL(err, CUZK_E_ARG,
                         "status_listen \"%s\" is open to the network without protection: use a "
                         "loopback address, or set daemon.allow_insecure = true",
                         listen);
    } else {
        h->engine = engine;
        code = start(h, listen, found->ai_addr, err);
    }
    freeaddrinfo(found);
    if (code != CUZK_OK) {
        free(h);
        return code;
    }
    *ret = h;
    return CUZK_OK;
}

unsigned cuzk_http_port(const cuzk_http *h)
{
    return MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
}

void cuzk_http_free(cuzk_http *h)
{
    if (h) {
        MHD_stop_daemon(h->daemon);
        free(h);
    }
}
