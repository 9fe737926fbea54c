#include "support/support.h"

#include "base/bytes.h"
#include "base/system.h"
#include "rpc/health.h"
#include "rpc/reflection.h"
#include "rpc/rpc_client.h"
#include "support/rpc_peer.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What happens over time: ends of calls, ends of servers, many clients; health and reflection. */

typedef struct world {
    rpc_echo echo;
    cuzk_rpc_health *health;
    cuzk_rpc_reflection *reflection;
    cuzk_rpc_server *server;
} world;

enum { METHODS = RPC_ECHO_METHODS + CUZK_RPC_HEALTH_METHODS + CUZK_RPC_REFLECTION_METHODS };

static void start(world *w, cuzk_rpc_server_config config)
{
    cuzk_rpc_method methods[METHODS];
    const char *address = "127.0.0.1:0";
    cuzk_err err = {0};
    rpc_echo_init(&w->echo);
    assert_int_equal(cuzk_rpc_health_new(&w->health, &err), CUZK_OK);
    assert_int_equal(cuzk_rpc_reflection_new(&w->reflection, NULL, 0, &err), CUZK_OK);
    rpc_echo_methods(&w->echo, methods);
    cuzk_rpc_health_methods(w->health, methods + RPC_ECHO_METHODS);
    cuzk_rpc_reflection_methods(w->reflection,
                                methods + RPC_ECHO_METHODS + CUZK_RPC_HEALTH_METHODS);
    config.listen = &address;
    config.n_listen = 1;
    if (cuzk_rpc_server_start(&w->server, &config, methods, METHODS, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
}

static void stop(world *w)
{
    cuzk_rpc_server_free(w->server);
    cuzk_rpc_reflection_free(w->reflection);
    cuzk_rpc_health_free(w->health);
    rpc_echo_close(&w->echo);
}

static cuzk_rpc_client *open_client(const world *w)
{
    cuzk_rpc_client *client;
    cuzk_rpc_client_config config = {.address = cuzk_rpc_server_bound(w->server, 0)};
    assert_int_equal(cuzk_rpc_client_open(&client, &config, NULL), CUZK_OK);
    return client;
}

/* A call in a thread of its own. */
typedef struct caller {
    const world *w;
    const char *path;
    cuzk_span request;
    uint64_t timeout_ms;
    pthread_t thread;
    cuzk_rpc_reply reply;
    cuzk_code code;
} caller;

static void *caller_main(void *arg)
{
    caller *c = arg;
    cuzk_rpc_client *client = open_client(c->w);
    c->code = cuzk_rpc_client_call(client, c->path, c->request, c->timeout_ms, &c->reply, NULL);
    cuzk_rpc_client_close(client);
    return NULL;
}

static void call(caller *c, const world *w, const char *path, uint64_t timeout_ms)
{
    *c = (caller){.w = w, .path = path, .timeout_ms = timeout_ms};
    assert_int_equal(pthread_create(&c->thread, NULL, caller_main, c), 0);
}

static cuzk_rpc_status join(caller *c)
{
    pthread_join(c->thread, NULL);
    cuzk_rpc_reply_free(&(cuzk_rpc_reply){.p = c->reply.p});
    return c->reply.status;
}

static void a_deadline_ends_both_sides(void **state)
{
    (void)state;
    world w;
    start(&w, (cuzk_rpc_server_config){0});
    cuzk_rpc_client *client = open_client(&w);
    cuzk_rpc_reply reply;
    uint64_t before = cuzk_clock_ns();
    assert_int_equal(
        cuzk_rpc_client_call(client, "/test.Echo/Wait", (cuzk_span){0}, 100, &reply, NULL),
        CUZK_OK);
    assert_int_equal(reply.status, CUZK_RPC_DEADLINE_EXCEEDED);
    assert_true(cuzk_clock_ns() - before >= 100000000);
    cuzk_rpc_end end = rpc_echo_await_ended(&w.echo, 1); /* whoever saw it first */
    assert_true(end == CUZK_RPC_END_DEADLINE || end == CUZK_RPC_END_CANCELLED);
    assert_int_equal(
        cuzk_rpc_client_call(client, "/test.Echo/Echo", (cuzk_span){0}, 20000, &reply, NULL),
        CUZK_OK);
    assert_int_equal(reply.status, CUZK_RPC_OK); /* the connection is still good */
    cuzk_rpc_client_close(client);
    stop(&w);
}

static int raw_connection(const world *w)
{
    struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    sa.sin_port = htons((uint16_t)atoi(strchr(cuzk_rpc_server_bound(w->server, 0), ':') + 1));
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&sa, sizeof sa), 0);
    return fd;
}

static void a_lost_client_is_seen(void **state)
{
    (void)state;
    world w;
    start(&w, (cuzk_rpc_server_config){0});
    uint8_t bytes[512] = NGHTTP2_CLIENT_MAGIC;
    static const uint8_t settings[9] = {0, 0, 0, NGHTTP2_SETTINGS};
    static const uint8_t message[14] = {0, 0, 5, NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, 0, 0, 0, 1};
    size_t head = NGHTTP2_CLIENT_MAGIC_LEN + sizeof settings, n = head + 9;
    memcpy(bytes + NGHTTP2_CLIENT_MAGIC_LEN, settings, sizeof settings);
    n += rpc_peer_field(bytes + n, ":method", "POST");
    n += rpc_peer_field(bytes + n, ":scheme", "http");
    n += rpc_peer_field(bytes + n, ":authority", "localhost");
    n += rpc_peer_field(bytes + n, ":path", "/test.Echo/Wait");
    n += rpc_peer_field(bytes + n, "content-type", "application/grpc");
    cuzk_store_u32be(bytes + head, (uint32_t)(n - head - 9) << 8 | NGHTTP2_HEADERS);
    bytes[head + 4] = NGHTTP2_FLAG_END_HEADERS;
    cuzk_store_u32be(bytes + head + 5, 1);
    memcpy(bytes + n, message, sizeof message);
    n += sizeof message;
    int fd = raw_connection(&w);
    assert_int_equal(send(fd, bytes, n, MSG_NOSIGNAL), n);
    rpc_echo_await_begun(&w.echo, 1);
    close(fd);
    assert_int_equal(rpc_echo_await_ended(&w.echo, 1), CUZK_RPC_END_DISCONNECTED);
    stop(&w);
}

static void a_call_outlives_its_server(void **state)
{
    (void)state;
    world w;
    start(&w, (cuzk_rpc_server_config){0});
    caller c;
    call(&c, &w, "/test.Echo/Wait", 20000);
    rpc_echo_await_begun(&w.echo, 1);
    cuzk_rpc_server_free(w.server);
    w.server = NULL;
    assert_int_equal(w.echo.last_end, CUZK_RPC_END_SHUTDOWN);
    assert_int_equal(join(&c), CUZK_RPC_UNAVAILABLE);
    assert_string_equal(cuzk_rpc_call_path(w.echo.waiting), "/test.Echo/Wait");
    assert_false(cuzk_rpc_call_send(w.echo.waiting, "x", 1));
    cuzk_rpc_call_finish(w.echo.waiting, CUZK_RPC_OK, NULL);
    stop(&w);
}

typedef struct drainer {
    world *w;
    bool by_themselves;
} drainer;

static void *drain_main(void *arg)
{
    drainer *d = arg;
    d->by_themselves = cuzk_rpc_server_drain(d->w->server, 20000);
    return NULL;
}

static void a_drain_waits_for_live_calls_and_takes_no_new_ones(void **state)
{
    (void)state;
    world w;
    start(&w, (cuzk_rpc_server_config){0});
    cuzk_rpc_client *idle = open_client(&w);
    cuzk_rpc_reply reply;
    assert_int_equal(
        cuzk_rpc_client_call(idle, "/test.Echo/Echo", (cuzk_span){0}, 20000, &reply, NULL),
        CUZK_OK);
    caller c;
    call(&c, &w, "/test.Echo/Wait", 20000);
    rpc_echo_await_begun(&w.echo, 1);
    drainer d = {.w = &w};
    pthread_t thread;
    pthread_create(&thread, NULL, drain_main, &d);
    /* Refused, at the latest when the drain has begun. */
    while (cuzk_rpc_client_call(idle, "/test.Echo/Echo", (cuzk_span){0}, 20000, &reply, NULL) ==
               CUZK_OK &&
           reply.status == CUZK_RPC_OK) {
    }
    assert_int_equal(reply.status, CUZK_RPC_UNAVAILABLE);
    cuzk_rpc_call_send(w.echo.waiting, "done", 4); /* the live one gets its answer */
    cuzk_rpc_call_finish(w.echo.waiting, CUZK_RPC_OK, NULL);
    assert_int_equal(join(&c), CUZK_RPC_OK);
    pthread_join(thread, NULL);
    assert_true(d.by_themselves);
    assert_int_equal(w.echo.last_end, CUZK_RPC_END_FINISHED);
    cuzk_rpc_client_close(idle);
    stop(&w);
}

static void a_drain_ends_calls_that_do_not_end(void **state)
{
    (void)state;
    world w;
    start(&w, (cuzk_rpc_server_config){0});
    caller c;
    call(&c, &w, "/test.Echo/Wait", 20000);
    rpc_echo_await_begun(&w.echo, 1);
    assert_false(cuzk_rpc_server_drain(w.server, 50));
    assert_int_equal(rpc_echo_await_ended(&w.echo, 1), CUZK_RPC_END_SHUTDOWN);
    assert_int_equal(join(&c), CUZK_RPC_UNAVAILABLE);
    assert_string_equal(c.reply.message, "the server is shutting down");
    stop(&w);
}

/* Reads until the server closes. */
static void await_close(int fd)
{
    char bytes[4096];
    while (recv(fd, bytes, sizeof bytes, 0) > 0) {
    }
    close(fd);
}

static void a_drain_can_be_cut_short(void **state)
{
    (void)state;
    world w;
    start(&w, (cuzk_rpc_server_config){0});
    caller c;
    call(&c, &w, "/test.Echo/Wait", 0);
    rpc_echo_await_begun(&w.echo, 1);
    drainer d = {.w = &w};
    pthread_t thread;
    pthread_create(&thread, NULL, drain_main, &d);
    uint64_t before = cuzk_clock_ns();
    cuzk_rpc_server_hurry(w.server);
    pthread_join(thread, NULL);
    assert_true(cuzk_clock_ns() - before < 15000000000); /* the drain alone takes 20 s */
    assert_false(d.by_themselves);
    assert_int_equal(rpc_echo_await_ended(&w.echo, 1), CUZK_RPC_END_SHUTDOWN);
    assert_int_equal(join(&c), CUZK_RPC_UNAVAILABLE);
    stop(&w);
}

static void a_peer_that_says_nothing_is_closed(void **state)
{
    (void)state;
    world w;
    start(&w, (cuzk_rpc_server_config){.limits = {.handshake_timeout_ms = 50}});
    await_close(raw_connection(&w));
    cuzk_rpc_stats stats;
    cuzk_rpc_server_stats(w.server, &stats);
    assert_int_equal(stats.connections_dropped, 1);
    stop(&w);
}

static void connections_above_the_limit_are_closed(void **state)
{
    (void)state;
    world w;
    start(&w, (cuzk_rpc_server_config){.limits = {.max_connections = 2}});
    caller a, b;
    call(&a, &w, "/test.Echo/Wait", 20000);
    call(&b, &w, "/test.Echo/Wait", 20000);
    rpc_echo_await_begun(&w.echo, 2);
    await_close(raw_connection(&w));
    cuzk_rpc_stats stats;
    cuzk_rpc_server_stats(w.server, &stats);
    assert_int_equal(stats.connections_refused, 1);
    assert_int_equal(stats.connections, 2);
    assert_int_equal(stats.calls, 2);
    cuzk_rpc_server_drain(w.server, 1);
    assert_int_equal(join(&a), CUZK_RPC_UNAVAILABLE);
    assert_int_equal(join(&b), CUZK_RPC_UNAVAILABLE);
    stop(&w);
}

typedef struct hammer {
    const world *w;
    unsigned index, failures;
    pthread_t thread;
} hammer;

static bool count_messages(void *ctx, cuzk_span message)
{
    (void)message;
    ++*(unsigned *)ctx;
    return true;
}

static void *hammer_main(void *arg)
{
    hammer *h = arg;
    cuzk_rpc_client *client = open_client(h->w);
    for (unsigned i = 0; i < 60; i++) {
        char text[64];
        unsigned count = 0;
        snprintf(text, sizeof text, "%u %u", 1 + i % 5, 100 * i);
        cuzk_span request = {(const uint8_t *)text, strlen(text)};
        cuzk_rpc_reply reply;
        const char *path = i % 2 ? "/test.Echo/Later" : "/test.Echo/Echo";
        cuzk_rpc_client_call(client, path, request, 20000, &reply, NULL);
        h->failures += reply.status != CUZK_RPC_OK || reply.n != request.n ||
                       memcmp(reply.p, text, request.n) != 0;
        cuzk_rpc_reply_free(&reply);
        cuzk_rpc_client_stream(client, "/test.Echo/Many", &request, 1, 20000, count_messages,
                               &count, &reply, NULL);
        h->failures += reply.status != CUZK_RPC_OK || count != 1 + i % 5;
        if (i % 10 == 0) {
            cuzk_rpc_client_call(client, "/test.Echo/Wait", request, 1, &reply, NULL);
            h->failures += reply.status != CUZK_RPC_DEADLINE_EXCEEDED;
        }
    }
    cuzk_rpc_client_close(client);
    return NULL;
}

static void many_clients_at_once_get_their_own_answers(void **state)
{
    (void)state;
    world w;
    start(&w, (cuzk_rpc_server_config){0});
    hammer h[12];
    for (unsigned i = 0; i < 12; i++) {
        h[i] = (hammer){.w = &w, .index = i};
        pthread_create(&h[i].thread, NULL, hammer_main, &h[i]);
    }
    for (unsigned i = 0; i < 12; i++) {
        pthread_join(h[i].thread, NULL);
        assert_int_equal(h[i].failures, 0);
    }
    stop(&w);
}

/* ---- memory over the wire ---- */

typedef struct pool {
    pthread_mutex_t mu;
    pthread_cond_t asked;
    bool open;       /* guarded by mu */
    unsigned denied; /* guarded by mu */
} pool;

static cuzk_rpc_grant pool_alloc(void *ctx, size_t n, void **ret)
{
    pool *p = ctx;
    pthread_mutex_lock(&p->mu);
    bool open = p->open;
    p->denied += !open;
    pthread_cond_broadcast(&p->asked);
    pthread_mutex_unlock(&p->mu);
    *ret = open ? malloc(n) : NULL;
    return open ? CUZK_RPC_GRANTED : CUZK_RPC_LATER;
}

static void pool_free(void *ctx, void *p, size_t n)
{
    (void)ctx;
    (void)n;
    free(p);
}

static void an_upload_waits_for_memory_without_filling_the_server(void **state)
{
    (void)state;
    pool p = {.open = false};
    pthread_mutex_init(&p.mu, NULL);
    pthread_cond_init(&p.asked, NULL);
    world w;
    start(&w, (cuzk_rpc_server_config){.memory = {pool_alloc, pool_free, &p}});
    size_t n = 20000000;
    caller c = {.w = &w, .path = "/test.Echo/Echo", .timeout_ms = 60000};
    c.request = (cuzk_span){calloc(n, 1), n};
    pthread_create(&c.thread, NULL, caller_main, &c);
    pthread_mutex_lock(&p.mu);
    while (p.denied < 3) { /* asked again at each tick of the server */
        pthread_cond_wait(&p.asked, &p.mu);
    }
    p.open = true;
    pthread_mutex_unlock(&p.mu);
    cuzk_rpc_stats stats;
    cuzk_rpc_server_stats(w.server, &stats);
    assert_true(stats.received_bytes < 100000);
    cuzk_rpc_server_memory_freed(w.server);
    pthread_join(c.thread, NULL);
    assert_int_equal(c.reply.status, CUZK_RPC_OK);
    assert_int_equal(c.reply.n, n);
    cuzk_rpc_reply_free(&c.reply);
    free((void *)(uintptr_t)c.request.p);
    stop(&w);
    pthread_cond_destroy(&p.asked);
    pthread_mutex_destroy(&p.mu);
}

/* ---- health ---- */

static unsigned check(cuzk_rpc_client *client, const char *service, cuzk_rpc_status want)
{
    uint8_t request[64] = {0x0a, (uint8_t)strlen(service)};
    memcpy(request + 2, service, strlen(service));
    cuzk_rpc_reply reply;
    cuzk_rpc_client_call(client, "/grpc.health.v1.Health/Check",
                         (cuzk_span){request, 2 + strlen(service)}, 20000, &reply, NULL);
    assert_int_equal(reply.status, want);
    unsigned serving = 0;
    if (reply.n > 0) {
        assert_int_equal(reply.n, 2);
        assert_int_equal(reply.p[0], 0x08);
        serving = reply.p[1];
    }
    cuzk_rpc_reply_free(&reply);
    return serving;
}

typedef struct watching {
    world *w;
    unsigned count;
    uint8_t seen[8];
} watching;

static bool see_health(void *ctx, cuzk_span message)
{
    static const cuzk_rpc_serving next[] = {CUZK_RPC_SERVING, CUZK_RPC_NOT_SERVING,
                                            CUZK_RPC_SERVING_UNKNOWN};
    watching *x = ctx;
    x->seen[x->count] = message.n == 2 ? message.p[1] : 0;
    if (x->count == 3) {
        return false;
    }
    cuzk_rpc_health_set(x->w->health, "other", CUZK_RPC_SERVING, NULL);
    cuzk_rpc_health_set(x->w->health, "cuzk.v1", next[x->count], NULL);
    cuzk_rpc_health_set(x->w->health, "cuzk.v1", next[x->count], NULL); /* no change */
    x->count++;
    return true;
}

static void health_is_checked_and_watched(void **state)
{
    (void)state;
    world w;
    start(&w, (cuzk_rpc_server_config){.token = "not-asked-for-health"});
    cuzk_rpc_client *client = open_client(&w);
    assert_int_equal(check(client, "", CUZK_RPC_OK), CUZK_RPC_NOT_SERVING);
    cuzk_rpc_health_set(w.health, "", CUZK_RPC_SERVING, NULL);
    assert_int_equal(check(client, "", CUZK_RPC_OK), CUZK_RPC_SERVING);
    check(client, "cuzk.v1", CUZK_RPC_NOT_FOUND);
    watching x = {.w = &w};
    static const uint8_t request[] = "\x0a\x07"
                                     "cuzk.v1";
    cuzk_span one = {request, sizeof request - 1};
    cuzk_rpc_reply reply;
    cuzk_rpc_client_stream(client, "/grpc.health.v1.Health/Watch", &one, 1, 20000, see_health, &x,
                           &reply, NULL);
    assert_int_equal(reply.status, CUZK_RPC_CANCELLED);
    assert_memory_equal(x.seen, ((uint8_t[]){3, 1, 2, 0}), 4); /* unknown, then as set */
    static const uint8_t junk[] = {0x0a, 0x7f};
    cuzk_rpc_client_call(client, "/grpc.health.v1.Health/Check", (cuzk_span){junk, 2}, 20000,
                         &reply, NULL);
    assert_int_equal(reply.status, CUZK_RPC_INVALID_ARGUMENT);
    cuzk_rpc_client_close(client);
    stop(&w);
}

/* ---- reflection ---- */

typedef struct answers {
    char text[8][4096];
    size_t count;
} answers;

static bool keep(void *ctx, cuzk_span message)
{
    answers *a = ctx;
    for (size_t i = 0; i < message.n && i < 4095; i++) { /* printable: names can be found in it */
        a->text[a->count][i] = message.p[i] ? (char)message.p[i] : ' ';
    }
    return ++a->count < 8;
}

static void reflection_answers_what_it_is_asked(void **state)
{
    (void)state;
    world w;
    start(&w, (cuzk_rpc_server_config){0});
    cuzk_rpc_client *client = open_client(&w);
    static const char *const asked[] = {
        "\x3a\x00",
        "\x22\x15grpc.health.v1.Health",
        "\x1a\x1bgrpc/health/v1/health.proto",
        "\x22\x03huh",
        "\x32\x22grpc.health.v1.HealthCheckResponse",
    };
    cuzk_span requests[5];
    for (size_t i = 0; i < 5; i++) {
        requests[i] = (cuzk_span){(const uint8_t *)asked[i], i == 0 ? 2 : strlen(asked[i])};
    }
    for (int v = 0; v < 2; v++) {
        static answers a;
        memset(&a, 0, sizeof a);
        cuzk_rpc_reply reply;
        cuzk_rpc_client_stream(client,
                               v ? "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
                                 : "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                               requests, 5, 20000, keep, &a, &reply, NULL);
        assert_int_equal(reply.status, CUZK_RPC_OK);
        assert_int_equal(a.count, 5);
        assert_non_null(strstr(a.text[0], "grpc.health.v1.Health"));
        assert_non_null(strstr(a.text[0], "grpc.reflection.v1.ServerReflection"));
        assert_non_null(strstr(a.text[0], "grpc.reflection.v1alpha.ServerReflection"));
        assert_non_null(strstr(a.text[1], "HealthCheckRequest"));
        assert_non_null(strstr(a.text[2], "HealthCheckRequest"));
        assert_non_null(strstr(a.text[3], "no such symbol"));
        assert_non_null(strstr(a.text[4], "HealthCheckResponse"));
    }
    cuzk_rpc_client_close(client);
    stop(&w);
}

static void bytes_that_are_no_descriptors_are_refused(void **state)
{
    (void)state;
    static const uint8_t cut[] = {0x0a, 0x20, 0x0a, 0x01}, other[] = {0x12, 0x00},
                         inner[] = {0x0a, 0x02, 0x0a, 0x20};
    const cuzk_span sets[] = {{cut, 4}, {other, 2}, {inner, 4}};
    for (size_t i = 0; i < 3; i++) {
        cuzk_rpc_reflection *r = NULL;
        cuzk_err err;
        assert_int_equal(cuzk_rpc_reflection_new(&r, &sets[i], 1, &err), CUZK_E_INPUT);
        assert_null(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deadline_ends_both_sides),
        cmocka_unit_test(a_lost_client_is_seen),
        cmocka_unit_test(a_call_outlives_its_server),
        cmocka_unit_test(a_drain_waits_for_live_calls_and_takes_no_new_ones),
        cmocka_unit_test(a_drain_ends_calls_that_do_not_end),
        cmocka_unit_test(a_drain_can_be_cut_short),
        cmocka_unit_test(a_peer_that_says_nothing_is_closed),
        cmocka_unit_test(connections_above_the_limit_are_closed),
        cmocka_unit_test(many_clients_at_once_get_their_own_answers),
        cmocka_unit_test(an_upload_waits_for_memory_without_filling_the_server),
        cmocka_unit_test(health_is_checked_and_watched),
        cmocka_unit_test(reflection_answers_what_it_is_asked),
        cmocka_unit_test(bytes_that_are_no_descriptors_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
