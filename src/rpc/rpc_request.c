#include "rpc/core.h"

#include "rpc/grpc_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

void cuzk_rpc_request_init(cuzk_rpc_request *r)
{
    *r = (cuzk_rpc_request){.timeout_ns = UINT64_MAX};
}

static bool is(const char *name, size_t n, const char *what)
{
    return n == strlen(what) && memcmp(name, what, n) == 0;
}

static bool is_grpc(const char *type, size_t n)
{
    static const char grpc[] = "application/grpc", proto[] = "+proto";
    size_t k = sizeof grpc - 1;
    if (n < k || strncasecmp(type, grpc, k) != 0) {
        return false;
    }
    if (n - k >= sizeof proto - 1 && strncasecmp(type + k, proto, sizeof proto - 1) == 0) {
        k += sizeof proto - 1;
    }
    return n == k || type[k] == ';';
}

static bool is_bearer(cuzk_rpc_core *core, const char *value, size_t n)
{
    static const char scheme[] = "Bearer ";
    size_t k = sizeof scheme - 1;
    return n > k && strncasecmp(value, scheme, k) == 0 &&
           cuzk_rpc_core_token_is_good(core, value + k, n - k);
}

void cuzk_rpc_request_field(cuzk_rpc_core *core, cuzk_rpc_request *r, const char *name,
                            size_t n_name, const char *value, size_t n_value)
{
    if (is(name, n_name, ":path")) {
        r->method = cuzk_rpc_core_find(core, value, n_value);
        snprintf(r->path, sizeof r->path, "%.*s", (int)(n_value < 1000 ? n_value : 1000), value);
    } else if (is(name, n_name, ":method")) {
        r->post = is(value, n_value, "POST");
    } else if (is(name, n_name, "content-type")) {
        r->grpc = is_grpc(value, n_value);
    } else if (is(name, n_name, "grpc-timeout")) {
        r->timeout_bad = !cuzk_rpc_timeout_parse(value, n_value, &r->timeout_ns);
    } else if (is(name, n_name, "authorization")) {
        r->token_good = is_bearer(core, value, n_value);
    }
}

__attribute__((format(printf, 4, 5))) static bool
refuse(cuzk_rpc_refusal *ret, int http_status, cuzk_rpc_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    ret->http_status = http_status;
    ret->status = status;
    vsnprintf(ret->message, sizeof ret->message, fmt, args);
    va_end(args);
    return false;
}

static bool wants_token(cuzk_rpc_core *core, const cuzk_rpc_request *r)
{
    if (r->token_good || (r->method && r->method->open)) {
        return false;
    }
    pthread_mutex_lock(&core->mu);
    bool wanted = core->has_token;
    pthread_mutex_unlock(&core->mu);
    return wanted;
}

bool cuzk_rpc_request_check(cuzk_rpc_core *core, const cuzk_rpc_request *r, cuzk_rpc_refusal *ret)
{
    if (r->header_bytes > core->limits.max_header_bytes) {
        return refuse(ret, 431, CUZK_RPC_RESOURCE_EXHAUSTED,
                      "the header fields are larger than the limit of %zu bytes",
                      core->limits.max_header_bytes);
    }
    if (!r->post) {
        return refuse(ret, 405, CUZK_RPC_INTERNAL, "the HTTP method is not POST");
    }
    if (!r->grpc) {
        return refuse(ret, 415, CUZK_RPC_INVALID_ARGUMENT,
                      "the content type is not application/grpc or application/grpc+proto");
    }
    if (wants_token(core, r)) {
        return refuse(ret, 200, CUZK_RPC_UNAUTHENTICATED,
                      "this server wants a token: \"authorization: Bearer TOKEN\"");
    }
    if (!r->method) {
        return refuse(ret, 200, CUZK_RPC_UNIMPLEMENTED, "there is no method %s", r->path);
    }
    if (r->timeout_bad) {
        return refuse(ret, 200, CUZK_RPC_INVALID_ARGUMENT,
                      "grpc-timeout is not 1 to 8 digits and one of H, M, S, m, u, n");
    }
    if (core->draining) {
        return refuse(ret, 200, CUZK_RPC_UNAVAILABLE, "the server is shutting down");
    }
    return true;
}
