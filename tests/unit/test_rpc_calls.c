#include "support/support.h"

#include "base/system.h"
#include "rpc/rpc_client.h"
#include "support/rpc_echo.h"
#include "support/test_certs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A server with the echo service, and one client of it. */
typedef struct world {
    rpc_echo echo;
    cuzk_rpc_server *server;
    cuzk_rpc_client *client;
} world;

static void start(world *w, const char *address, cuzk_rpc_server_config config)
{
    cuzk_rpc_method methods[RPC_ECHO_METHODS];
    cuzk_err err = {0};
    memset(w, 0, sizeof *w);
    rpc_echo_init(&w->echo);
    rpc_echo_methods(&w->echo, methods);
    config.listen = &address;
    config.n_listen = 1;
    cuzk_code code = cuzk_rpc_server_start(&w->server, &config, methods, RPC_ECHO_METHODS, &err);
    if (code != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
}

static cuzk_rpc_client *open_client(const world *w, cuzk_rpc_client_config config)
{
    cuzk_rpc_client *client;
    cuzk_err err = {0};
    config.address = config.address ? config.address : cuzk_rpc_server_bound(w->server, 0);
    if (cuzk_rpc_client_open(&client, &config, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    return client;
}

static void start_plain(world *w)
{
    start(w, "127.0.0.1:0", (cuzk_rpc_server_config){0});
    w->client = open_client(w, (cuzk_rpc_client_config){0});
}

static void stop(world *w)
{
    cuzk_rpc_client_close(w->client);
    cuzk_rpc_server_free(w->server);
    rpc_echo_close(&w->echo);
}

static cuzk_span span(const char *text) { return (cuzk_span){(const uint8_t *)text, strlen(text)}; }

/* Calls and checks the status; the reply's answer as text. */
static void expect(cuzk_rpc_client *c, const char *path, const char *request,
                   cuzk_rpc_status status, const char *words)
{
    cuzk_rpc_reply reply;
    cuzk_err err = {0};
    cuzk_rpc_client_call(c, path, span(request), 20000, &reply, &err);
    if (reply.status != status) {
        fail_msg("%s: %s \"%s\", want %s", path, cuzk_rpc_status_name(reply.status), reply.message,
                 cuzk_rpc_status_name(status));
    }
    if (status == CUZK_RPC_OK) {
        assert_int_equal(reply.n, strlen(words));
        assert_memory_equal(reply.p ? (const char *)reply.p : "", words, reply.n);
    } else if (!strstr(reply.message, words)) {
        fail_msg("\"%s\" does not say \"%s\"", reply.message, words);
    }
    cuzk_rpc_reply_free(&reply);
}

static void a_message_comes_back_over_tcp(void **state)
{
    (void)state;
    world w;
    start_plain(&w);
    expect(w.client, "/test.Echo/Echo", "hello", CUZK_RPC_OK, "hello");
    expect(w.client, "/test.Echo/Echo", "", CUZK_RPC_OK, "");
    expect(w.client, "/test.Echo/Later", "hello later", CUZK_RPC_OK, "hello later");
    stop(&w);
}

static void a_unix_socket_has_its_folder_mode_and_lock(void **state)
{
    (void)state;
    char address[128];
    snprintf(address, sizeof address, "unix://%s/run/cuzk/d.sock", test_tmpdir());
    world w;
    start(&w, address, (cuzk_rpc_server_config){0});
    struct stat st;
    assert_int_equal(stat(address + 7, &st), 0);
    assert_true(S_ISSOCK(st.st_mode));
    assert_int_equal(st.st_mode & 0777, 0660);
    w.client = open_client(&w, (cuzk_rpc_client_config){0});
    expect(w.client, "/test.Echo/Echo", "hello", CUZK_RPC_OK, "hello");
    char who[64];
    snprintf(who, sizeof who, "unix:uid=%u,pid=%d", getuid(), getpid());
    expect(w.client, "/test.Echo/Peer", "", CUZK_RPC_OK, who);

    /* A second server on the path is refused, and the first goes on. */
    cuzk_rpc_server *second = NULL;
    const char *listen = address;
    cuzk_rpc_server_config config = {.listen = &listen, .n_listen = 1};
    cuzk_err err;
    assert_int_equal(cuzk_rpc_server_start(&second, &config, NULL, 0, &err), CUZK_E_IO);
    assert_non_null(strstr(err.msg, "another server holds"));
    assert_null(second);
    expect(w.client, "/test.Echo/Echo", "still here", CUZK_RPC_OK, "still here");
    stop(&w);
    assert_int_equal(stat(address + 7, &st), -1);
}

static void a_socket_left_by_a_dead_server_is_replaced(void **state)
{
    (void)state;
    char address[128], other[160];
    snprintf(address, sizeof address, "unix:%s/stale.sock", test_tmpdir());
    world w;
    start(&w, address, (cuzk_rpc_server_config){0});
    snprintf(other, sizeof other, "%s.kept", address + 5);
    assert_int_equal(link(address + 5, other), 0); /* survives the server, as after kill -9 */
    stop(&w);
    assert_int_equal(rename(other, address + 5), 0);
    start(&w, address, (cuzk_rpc_server_config){0});
    w.client = open_client(&w, (cuzk_rpc_client_config){0});
    expect(w.client, "/test.Echo/Echo", "new", CUZK_RPC_OK, "new");
    stop(&w);

    /* But a file that is no socket is left alone. */
    FILE *f = fopen(address + 5, "w");
    fclose(f);
    const char *listen = address;
    cuzk_rpc_server_config config = {.listen = &listen, .n_listen = 1};
    cuzk_rpc_server *server = NULL;
    cuzk_err err;
    assert_int_equal(cuzk_rpc_server_start(&server, &config, NULL, 0, &err), CUZK_E_IO);
    assert_non_null(strstr(err.msg, "is not a socket"));
    assert_int_equal(unlink(address + 5), 0);
}

static void plain_tcp_that_others_can_reach_is_refused(void **state)
{
    (void)state;
    static const char *const everywhere[] = {"0.0.0.0:0", "[::]:0", ":0"};
    for (size_t i = 0; i < 3; i++) {
        cuzk_rpc_server *server = NULL;
        cuzk_rpc_server_config config = {
            .listen = &everywhere[i], .n_listen = 1, .token = "secret"};
        cuzk_err err;
        assert_int_equal(cuzk_rpc_server_start(&server, &config, NULL, 0, &err), CUZK_E_ARG);
        assert_non_null(strstr(err.msg, "allow_insecure"));
        assert_null(server);
    }
    world w;
    start(&w, "0.0.0.0:0", (cuzk_rpc_server_config){.allow_insecure = true});
    stop(&w);
}

static void addresses_that_cannot_be_used_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *address, *words;
    } bad[] = {
        {"", "want host:port"},
        {"localhost", "want host:port"},
        {"127.0.0.1:99999", "0 to 65535"},
        {"127.0.0.1:x", "0 to 65535"},
        {"::1:80", "brackets"},
        {"unix:", "1 to 107"},
        {"unix://host/x", "slash"},
        {"https://127.0.0.1:0", "certificate"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cuzk_rpc_server *server = NULL;
        cuzk_rpc_server_config config = {.listen = &bad[i].address, .n_listen = 1};
        cuzk_err err;
        assert_int_equal(cuzk_rpc_server_start(&server, &config, NULL, 0, &err), CUZK_E_ARG);
        if (!strstr(err.msg, bad[i].words)) {
            fail_msg("%s: \"%s\" does not say \"%s\"", bad[i].address, err.msg, bad[i].words);
        }
    }
}

static void a_port_that_is_taken_says_so(void **state)
{
    (void)state;
    world w;
    start_plain(&w);
    const char *address = cuzk_rpc_server_bound(w.server, 0);
    cuzk_rpc_server *server = NULL;
    cuzk_rpc_server_config config = {.listen = &address, .n_listen = 1};
    cuzk_err err;
    assert_int_equal(cuzk_rpc_server_start(&server, &config, NULL, 0, &err), CUZK_E_IO);
    assert_non_null(strstr(err.msg, "in use"));
    stop(&w);
}

static void tls_serves_and_a_stranger_is_refused(void **state)
{
    (void)state;
    test_certs mine, other;
    test_certs_make(&mine, "tls", "alice");
    test_certs_make(&other, "tls-other", "mallory");
    world w;
    start(&w, "127.0.0.1:0",
          (cuzk_rpc_server_config){.cert_file = mine.cert, .key_file = mine.key});
    w.client = open_client(&w, (cuzk_rpc_client_config){.ca_file = mine.ca});
    expect(w.client, "/test.Echo/Echo", "secret", CUZK_RPC_OK, "secret");

    cuzk_rpc_client *wrong = open_client(&w, (cuzk_rpc_client_config){.ca_file = other.ca});
    expect(wrong, "/test.Echo/Echo", "secret", CUZK_RPC_UNAVAILABLE, "TLS");
    cuzk_rpc_client_close(wrong);
    wrong =
        open_client(&w, (cuzk_rpc_client_config){.ca_file = mine.ca, .server_name = "other.org"});
    expect(wrong, "/test.Echo/Echo", "secret", CUZK_RPC_UNAVAILABLE, "hostname mismatch");
    cuzk_rpc_client_close(wrong);
    wrong = open_client(&w, (cuzk_rpc_client_config){0}); /* plain to a TLS port */
    expect(wrong, "/test.Echo/Echo", "secret", CUZK_RPC_UNAVAILABLE, "lost");
    cuzk_rpc_client_close(wrong);
    expect(w.client, "/test.Echo/Echo", "still", CUZK_RPC_OK, "still");
    stop(&w);
}

static void a_client_certificate_is_asked_for_and_named(void **state)
{
    (void)state;
    test_certs mine, other;
    test_certs_make(&mine, "mtls", "alice");
    test_certs_make(&other, "mtls-other", "mallory");
    world w;
    start(&w, "127.0.0.1:0",
          (cuzk_rpc_server_config){
              .cert_file = mine.cert, .key_file = mine.key, .client_ca_file = mine.ca});
    w.client = open_client(&w, (cuzk_rpc_client_config){.ca_file = mine.ca,
                                                        .cert_file = mine.client_cert,
                                                        .key_file = mine.client_key});
    cuzk_rpc_reply reply;
    cuzk_err err = {0};
    assert_int_equal(
        cuzk_rpc_client_call(w.client, "/test.Echo/Peer", span(""), 20000, &reply, &err), CUZK_OK);
    assert_true(reply.n > 9 && memcmp(reply.p + reply.n - 9, " cn=alice", 9) == 0);
    cuzk_rpc_reply_free(&reply);

    cuzk_rpc_client *none = open_client(&w, (cuzk_rpc_client_config){.ca_file = mine.ca});
    expect(none, "/test.Echo/Echo", "x", CUZK_RPC_UNAVAILABLE, "");
    cuzk_rpc_client_close(none);
    none = open_client(&w, (cuzk_rpc_client_config){.ca_file = mine.ca,
                                                    .cert_file = other.client_cert,
                                                    .key_file = other.client_key});
    expect(none, "/test.Echo/Echo", "x", CUZK_RPC_UNAVAILABLE, "");
    cuzk_rpc_client_close(none);
    stop(&w);
}

static void a_token_is_asked_of_all_but_open_methods(void **state)
{
    (void)state;
    world w;
    start(&w, "127.0.0.1:0", (cuzk_rpc_server_config){.token = "s3cret"});
    w.client = open_client(&w, (cuzk_rpc_client_config){.token = "s3cret"});
    expect(w.client, "/test.Echo/Echo", "x", CUZK_RPC_OK, "x");
    static const char *const wrong[] = {NULL, "s3cre", "s3cret1", "S3cret"};
    for (size_t i = 0; i < 4; i++) {
        cuzk_rpc_client *c = open_client(&w, (cuzk_rpc_client_config){.token = wrong[i]});
        expect(c, "/test.Echo/Echo", "x", CUZK_RPC_UNAUTHENTICATED, "wants a token");
        expect(c, "/test.Echo/None", "x", CUZK_RPC_UNAUTHENTICATED, "wants a token");
        expect(c, "/test.Echo/Open", "x", CUZK_RPC_OK, "x");
        cuzk_rpc_client_close(c);
    }
    stop(&w);
}

static void token_and_certificates_change_at_run_time(void **state)
{
    (void)state;
    test_certs first, second;
    test_certs_make(&first, "reload1", "alice");
    test_certs_make(&second, "reload2", "alice");
    world w;
    start(&w, "127.0.0.1:0",
          (cuzk_rpc_server_config){.cert_file = first.cert, .key_file = first.key, .token = "one"});
    w.client = open_client(&w, (cuzk_rpc_client_config){.ca_file = first.ca, .token = "one"});
    expect(w.client, "/test.Echo/Echo", "x", CUZK_RPC_OK, "x");

    cuzk_err err = {0};
    assert_int_equal(cuzk_rpc_server_reload(w.server, "two", first.ca, first.key, NULL, &err),
                     CUZK_E_ARG);
    assert_non_null(strstr(err.msg, "reload1/server.key"));
    assert_int_equal(cuzk_rpc_server_reload(w.server, "two", NULL, NULL, NULL, &err), CUZK_E_ARG);
    expect(w.client, "/test.Echo/Echo", "x", CUZK_RPC_OK, "x"); /* all as before */

    assert_int_equal(cuzk_rpc_server_reload(w.server, "two", second.cert, second.key, NULL, &err),
                     CUZK_OK);
    expect(w.client, "/test.Echo/Echo", "x", CUZK_RPC_UNAUTHENTICATED, "token");
    cuzk_rpc_client *c =
        open_client(&w, (cuzk_rpc_client_config){.ca_file = second.ca, .token = "two"});
    expect(c, "/test.Echo/Echo", "x", CUZK_RPC_OK, "x");
    cuzk_rpc_client_close(c);
    c = open_client(&w, (cuzk_rpc_client_config){.ca_file = first.ca, .token = "two"});
    expect(c, "/test.Echo/Echo", "x", CUZK_RPC_UNAVAILABLE, "TLS");
    cuzk_rpc_client_close(c);
    stop(&w);
}

static void a_status_and_its_words_arrive(void **state)
{
    (void)state;
    world w;
    start_plain(&w);
    expect(w.client, "/test.Echo/Fail",
           "\x05no such j\xc3\xb6"
           "b: 100%\n",
           CUZK_RPC_NOT_FOUND,
           "no such j\xc3\xb6"
           "b: 100%\n");
    expect(w.client, "/test.Echo/Fail", "\x10", CUZK_RPC_UNAUTHENTICATED, "");
    expect(w.client, "/test.Echo/None", "x", CUZK_RPC_UNIMPLEMENTED, "no method /test.Echo/None");
    expect(w.client, "/test.Echo/Ech", "x", CUZK_RPC_UNIMPLEMENTED, "no method");
    expect(w.client, "/test.Echo/Echo2", "x", CUZK_RPC_UNIMPLEMENTED, "no method");
    stop(&w);
}

typedef struct tally {
    size_t count, bytes, stop_at;
    bool in_order;
} tally;

static bool count_one(void *ctx, cuzk_span message)
{
    tally *t = ctx;
    t->in_order = t->in_order && (message.n == 0 || message.p[0] == (t->count & 0xff));
    t->count++;
    t->bytes += message.n;
    return t->count != t->stop_at;
}

static void a_stream_arrives_whole_and_in_order(void **state)
{
    (void)state;
    world w;
    start_plain(&w);
    cuzk_span request = span("1000 10000");
    cuzk_rpc_reply reply;
    tally t = {.in_order = true};
    assert_int_equal(cuzk_rpc_client_stream(w.client, "/test.Echo/Many", &request, 1, 20000,
                                            count_one, &t, &reply, NULL),
                     CUZK_OK);
    assert_int_equal(reply.status, CUZK_RPC_OK);
    assert_int_equal(t.count, 1000);
    assert_int_equal(t.bytes, 10000000);
    assert_true(t.in_order);

    t = (tally){.in_order = true, .stop_at = 3};
    cuzk_rpc_client_stream(w.client, "/test.Echo/Many", &request, 1, 20000, count_one, &t, &reply,
                           NULL);
    assert_int_equal(reply.status, CUZK_RPC_CANCELLED);
    assert_int_equal(t.count, 3);
    expect(w.client, "/test.Echo/Echo", "after", CUZK_RPC_OK, "after");

    request = span("40 1000000"); /* more than the server queues for a client */
    t = (tally){.in_order = true};
    cuzk_rpc_client_stream(w.client, "/test.Echo/Many", &request, 1, 20000, count_one, &t, &reply,
                           NULL);
    assert_int_equal(reply.status, CUZK_RPC_RESOURCE_EXHAUSTED);
    stop(&w);
}

static void both_sides_stream(void **state)
{
    (void)state;
    world w;
    start_plain(&w);
    uint8_t *bytes = calloc(200, 50000);
    cuzk_span requests[200];
    for (size_t i = 0; i < 200; i++) {
        requests[i] = (cuzk_span){bytes + i * 50000, i % 7 == 0 ? 50000 : i};
        memset(bytes + i * 50000, (int)i, 50000);
    }
    cuzk_rpc_reply reply;
    tally t = {.in_order = true};
    cuzk_rpc_client_stream(w.client, "/test.Echo/Chat", requests, 200, 20000, count_one, &t, &reply,
                           NULL);
    assert_int_equal(reply.status, CUZK_RPC_OK);
    assert_int_equal(t.count, 200);
    assert_true(t.in_order);
    cuzk_rpc_client_stream(w.client, "/test.Echo/Chat", NULL, 0, 20000, count_one, &t, &reply,
                           NULL);
    assert_int_equal(reply.status, CUZK_RPC_OK);
    /* One message is what the others take. */
    cuzk_rpc_client_stream(w.client, "/test.Echo/Echo", requests, 2, 20000, count_one, &t, &reply,
                           NULL);
    assert_int_equal(reply.status, CUZK_RPC_UNIMPLEMENTED);
    cuzk_rpc_client_stream(w.client, "/test.Echo/Echo", NULL, 0, 20000, count_one, &t, &reply,
                           NULL);
    assert_int_equal(reply.status, CUZK_RPC_UNIMPLEMENTED);
    free(bytes);
    stop(&w);
}

static void fifty_one_megabytes_come_back(void **state)
{
    (void)state;
    world w;
    start_plain(&w);
    size_t n = 51500000;
    uint8_t *bytes = malloc(n);
    test_rng g = test_rng_new("fifty_one_megabytes");
    test_bytes(&g, bytes, 1 << 16);
    for (size_t i = 1 << 16; i < n; i++) {
        bytes[i] = (uint8_t)(bytes[i - (1 << 16)] + (i >> 16));
    }
    cuzk_rpc_reply reply;
    cuzk_err err = {0};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cuzk_rpc_client_call(w.client, "/test.Echo/Echo", (cuzk_span){bytes, n},
                                              60000, &reply, &err),
                         CUZK_OK);
        assert_int_equal(reply.status, CUZK_RPC_OK);
        assert_int_equal(reply.n, n);
        assert_memory_equal(reply.p, bytes, n);
        cuzk_rpc_reply_free(&reply);
    }
    free(bytes);
    stop(&w);
}

static void a_message_above_the_limit_is_refused_from_its_first_bytes(void **state)
{
    (void)state;
    world w;
    start_plain(&w);
    size_t n = (size_t)300 << 20;
    uint8_t *bytes = calloc(n, 1); /* never touched */
    cuzk_rpc_reply reply;
    cuzk_err err = {0};
    cuzk_rpc_client_call(w.client, "/test.Echo/Echo", (cuzk_span){bytes, n}, 60000, &reply, &err);
    assert_int_equal(reply.status, CUZK_RPC_RESOURCE_EXHAUSTED);
    assert_non_null(strstr(reply.message, "314572800 bytes is larger than the limit of 268435456"));
    cuzk_rpc_stats stats;
    cuzk_rpc_server_stats(w.server, &stats);
    assert_true(stats.received_bytes < 1 << 20);
    assert_int_equal(stats.calls_refused, 1);
    expect(w.client, "/test.Echo/Echo", "after", CUZK_RPC_OK, "after");
    free(bytes);
    stop(&w);
}

static void a_lost_server_says_so_and_a_new_one_is_found(void **state)
{
    (void)state;
    char address[128];
    snprintf(address, sizeof address, "unix:%s/again.sock", test_tmpdir());
    world w;
    start(&w, address, (cuzk_rpc_server_config){0});
    cuzk_rpc_client *client = open_client(&w, (cuzk_rpc_client_config){0});
    expect(client, "/test.Echo/Echo", "one", CUZK_RPC_OK, "one");
    stop(&w);
    cuzk_rpc_reply reply;
    cuzk_err err = {0};
    assert_int_equal(cuzk_rpc_client_call(client, "/test.Echo/Echo", span("x"), 1000, &reply, &err),
                     CUZK_E_IO);
    assert_int_equal(reply.status, CUZK_RPC_UNAVAILABLE);
    assert_non_null(strstr(err.msg, "cannot connect to unix:"));
    start(&w, address, (cuzk_rpc_server_config){0});
    expect(client, "/test.Echo/Echo", "two", CUZK_RPC_OK, "two");
    cuzk_rpc_client_close(client);
    stop(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_comes_back_over_tcp),
        cmocka_unit_test(a_unix_socket_has_its_folder_mode_and_lock),
        cmocka_unit_test(a_socket_left_by_a_dead_server_is_replaced),
        cmocka_unit_test(plain_tcp_that_others_can_reach_is_refused),
        cmocka_unit_test(addresses_that_cannot_be_used_are_refused),
        cmocka_unit_test(a_port_that_is_taken_says_so),
        cmocka_unit_test(tls_serves_and_a_stranger_is_refused),
        cmocka_unit_test(a_client_certificate_is_asked_for_and_named),
        cmocka_unit_test(a_token_is_asked_of_all_but_open_methods),
        cmocka_unit_test(token_and_certificates_change_at_run_time),
        cmocka_unit_test(a_status_and_its_words_arrive),
        cmocka_unit_test(a_stream_arrives_whole_and_in_order),
        cmocka_unit_test(both_sides_stream),
        cmocka_unit_test(fifty_one_megabytes_come_back),
        cmocka_unit_test(a_message_above_the_limit_is_refused_from_its_first_bytes),
        cmocka_unit_test(a_lost_server_says_so_and_a_new_one_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
