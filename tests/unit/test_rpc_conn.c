#include "support/support.h"

#include "support/rpc_peer.h"

#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

static const cuzk_rpc_server_config plain;

static void expect(const rpc_peer *p, uint32_t stream, int http, int grpc, const char *words)
{
    assert_int_equal(p->streams[stream / 2].http, http);
    assert_int_equal(p->streams[stream / 2].grpc, grpc);
    const char *message = p->streams[stream / 2].message;
    if (words[0] && !strstr(message, words)) {
        fail_msg("\"%s\" does not say \"%s\"", message, words);
    }
}

/* That the connection still serves. */
static void expect_alive(rpc_peer *p, uint32_t stream)
{
    rpc_peer_request(p, stream, "/test.Echo/Echo", NULL, NULL, false);
    rpc_peer_message(p, stream, 3, 3, true);
    expect(p, stream, 200, CUZK_RPC_OK, "");
    assert_true(p->streams[stream / 2].ended);
    assert_false(p->conn->broken);
}

static void expect_dropped(const rpc_peer *p)
{
    assert_true(p->conn->broken);
    assert_true(cuzk_rpc_conn_is_done(p->conn));
    assert_int_equal(p->core.connections_dropped, 1);
}

static void bytes_may_come_one_by_one(void **state)
{
    (void)state;
    uint8_t all[512];
    size_t n = NGHTTP2_CLIENT_MAGIC_LEN;
    memcpy(all, NGHTTP2_CLIENT_MAGIC, n);
    static const uint8_t settings[9] = {0, 0, 0, 4};
    memcpy(all + n, settings, 9);
    n += 9;
    size_t head = n;
    n += 9;
    n += rpc_peer_field(all + n, ":method", "POST");
    n += rpc_peer_field(all + n, ":scheme", "http");
    n += rpc_peer_field(all + n, ":authority", "localhost");
    n += rpc_peer_field(all + n, ":path", "/test.Echo/Echo");
    n += rpc_peer_field(all + n, "content-type", "application/grpc+proto");
    cuzk_store_u32be(all + head, (uint32_t)(n - head - 9) << 8 | NGHTTP2_HEADERS);
    all[head + 4] = NGHTTP2_FLAG_END_HEADERS;
    cuzk_store_u32be(all + head + 5, 1);
    static const uint8_t data[] = {0, 0, 10, 0, 1,   0,   0,   0,   1,  0,
                                   0, 0, 0,  5, 'h', 'e', 'l', 'l', 'o'};
    memcpy(all + n, data, sizeof data);
    n += sizeof data;
    rpc_peer p;
    rpc_peer_start(&p, plain, false);
    for (size_t i = 0; i < n; i++) {
        rpc_peer_send(&p, all + i, 1);
    }
    expect(&p, 1, 200, CUZK_RPC_OK, "");
    assert_int_equal(p.data_bytes, 10);
    rpc_peer_stop(&p);
}

static void what_is_no_grpc_request_is_refused(void **state)
{
    (void)state;
    rpc_peer p;
    rpc_peer_start(&p, plain, true);
    rpc_peer_request(&p, 1, "/test.Echo/Echo", "content-type", "application/json", true);
    expect(&p, 1, 415, CUZK_RPC_INVALID_ARGUMENT, "content type");
    rpc_peer_request(&p, 3, "/test.Echo/Echo", "content-type", "application/grpc+json", true);
    expect(&p, 3, 415, CUZK_RPC_INVALID_ARGUMENT, "content type");
    rpc_peer_request(&p, 5, "/test.Echo/Echo", "content-type", NULL, true);
    expect(&p, 5, 415, CUZK_RPC_INVALID_ARGUMENT, "content type");
    rpc_peer_request(&p, 7, "/test.Echo/Echo", ":method", "GET", true);
    expect(&p, 7, 405, CUZK_RPC_INTERNAL, "POST");
    rpc_peer_request(&p, 9, "/test.Echo/Nothing", NULL, NULL, true);
    expect(&p, 9, 200, CUZK_RPC_UNIMPLEMENTED, "/test.Echo/Nothing");
    rpc_peer_request(&p, 11, "/test.Echo/Echo", "grpc-timeout", "1x", true);
    expect(&p, 11, 200, CUZK_RPC_INVALID_ARGUMENT, "grpc-timeout");
    expect_alive(&p, 13);
    assert_int_equal(p.core.calls_refused, 6);
    rpc_peer_stop(&p);
}

static void messages_that_cannot_be_read_are_refused_from_their_prefix(void **state)
{
    (void)state;
    rpc_peer p;
    rpc_peer_start(&p, plain, true);
    static const uint8_t compressed[] = {1, 0, 0, 0, 9}, odd[] = {7, 0, 0, 0, 9};
    rpc_peer_request(&p, 1, "/test.Echo/Echo", "grpc-encoding", "gzip", false);
    rpc_peer_frame(&p, NGHTTP2_DATA, 0, 1, compressed, 5);
    expect(&p, 1, 200, CUZK_RPC_UNIMPLEMENTED, "compressed");
    assert_int_equal(p.streams[0].reset, NGHTTP2_NO_ERROR); /* stop sending */
    rpc_peer_request(&p, 3, "/test.Echo/Echo", NULL, NULL, false);
    rpc_peer_frame(&p, NGHTTP2_DATA, 0, 3, odd, 5);
    expect(&p, 3, 200, CUZK_RPC_INTERNAL, "neither 0 nor 1");
    rpc_peer_request(&p, 5, "/test.Echo/Echo", NULL, NULL, false);
    rpc_peer_message(&p, 5, (256 << 20) + 1, 0, false);
    expect(&p, 5, 200, CUZK_RPC_RESOURCE_EXHAUSTED, "268435457 bytes");
    rpc_peer_request(&p, 7, "/test.Echo/Echo", NULL, NULL, false);
    rpc_peer_message(&p, 7, 100, 99, true);
    expect(&p, 7, 200, CUZK_RPC_INVALID_ARGUMENT, "ends inside a message");
    rpc_peer_request(&p, 9, "/test.Echo/Echo", NULL, NULL, true);
    expect(&p, 9, 200, CUZK_RPC_UNIMPLEMENTED, "sent none");
    rpc_peer_request(&p, 11, "/test.Echo/Echo", NULL, NULL, false);
    rpc_peer_message(&p, 11, 4, 4, false);
    rpc_peer_message(&p, 11, 4, 4, false);
    expect(&p, 11, 200, CUZK_RPC_UNIMPLEMENTED, "sends more");
    expect_alive(&p, 13);
    rpc_peer_stop(&p);
}

static void large_header_lists_are_refused_and_larger_ones_end_the_connection(void **state)
{
    (void)state;
    static char value[90000];
    rpc_peer p;
    rpc_peer_start(&p, plain, true);
    memset(value, 'x', 20000);
    rpc_peer_request(&p, 1, "/test.Echo/Echo", "x-large", value, true);
    expect(&p, 1, 431, CUZK_RPC_RESOURCE_EXHAUSTED, "16384 bytes");
    expect_alive(&p, 3);
    memset(value, 'x', sizeof value - 1);
    rpc_peer_request(&p, 5, "/test.Echo/Echo", "x-large", value, true);
    expect_dropped(&p);
    rpc_peer_stop(&p);
}

/* One entry of 4 KB in the dynamic table, then a byte for each use of it. */
static void a_compressed_header_bomb_ends_the_connection(void **state)
{
    (void)state;
    static uint8_t block[40000];
    static char value[4001];
    memset(value, 'x', 4000);
    rpc_peer p;
    rpc_peer_start(&p, plain, true);
    size_t n = rpc_peer_field(block, "x", value);
    block[0] = 0x40; /* with indexing */
    memset(block + n, 0x80 | 62, 16000);
    rpc_peer_frame(&p, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, block, n + 16000);
    expect_dropped(&p);
    rpc_peer_stop(&p);
}

static void a_flood_of_continuations_ends_the_connection(void **state)
{
    (void)state;
    rpc_peer p;
    rpc_peer_start(&p, plain, true);
    uint8_t block[64];
    size_t n = rpc_peer_field(block, ":method", "POST");
    rpc_peer_frame(&p, NGHTTP2_HEADERS, 0, 1, block, n);
    for (int i = 0; i < 100 && !p.conn->broken; i++) {
        n = rpc_peer_field(block, "a", "b");
        rpc_peer_frame(&p, NGHTTP2_CONTINUATION, 0, 1, block, n);
    }
    expect_dropped(&p);
    rpc_peer_stop(&p);
}

static void a_flood_of_resets_ends_the_connection(void **state)
{
    (void)state;
    static const uint8_t cancel[4] = {0, 0, 0, NGHTTP2_CANCEL};
    rpc_peer p;
    rpc_peer_start(&p, plain, true);
    uint32_t i = 0;
    for (; i < 5000 && p.goaways == 0; i++) {
        rpc_peer_request(&p, 2 * i + 1, "/test.Echo/Wait", NULL, NULL, false);
        rpc_peer_frame(&p, NGHTTP2_RST_STREAM, 0, 2 * i + 1, cancel, 4);
    }
    assert_true(i < 5000);
    assert_true(cuzk_rpc_conn_is_done(p.conn));
    rpc_peer_stop(&p);
}

static void floods_of_settings_and_pings_end_the_connection(void **state)
{
    (void)state;
    for (int ping = 0; ping < 2; ping++) {
        static uint8_t flood[40000];
        size_t n = 0;
        while (n + 17 < sizeof flood) { /* all at once: the answers have no time to go out */
            static const uint8_t settings_frame[9] = {0, 0, 0, 4}, ping_frame[17] = {0, 0, 8, 6};
            memcpy(flood + n, ping ? ping_frame : settings_frame, ping ? 17 : 9);
            n += ping ? 17 : 9;
        }
        rpc_peer p;
        rpc_peer_start(&p, plain, true);
        rpc_peer_send(&p, flood, n);
        expect_dropped(&p);
        rpc_peer_stop(&p);
    }
    rpc_peer p; /* one SETTINGS of many entries */
    uint8_t entries[6 * 40] = {0};
    rpc_peer_start(&p, plain, true);
    rpc_peer_frame(&p, NGHTTP2_SETTINGS, 0, 0, entries, sizeof entries);
    expect_dropped(&p);
    rpc_peer_stop(&p);
}

static void what_is_not_http2_ends_the_connection(void **state)
{
    (void)state;
    rpc_peer p;
    rpc_peer_start(&p, plain, false);
    static const char http1[] = "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n";
    rpc_peer_send(&p, http1, sizeof http1 - 1);
    expect_dropped(&p);
    rpc_peer_stop(&p);
}

static void a_peer_that_is_silent_at_the_start_is_dropped(void **state)
{
    (void)state;
    rpc_peer p;
    rpc_peer_start(&p, plain, false);
    rpc_peer_pass(&p, 9999);
    assert_false(p.conn->broken);
    rpc_peer_pass(&p, 1);
    expect_dropped(&p);
    rpc_peer_stop(&p);
}

static void a_header_block_that_is_never_done_is_dropped(void **state)
{
    (void)state;
    rpc_peer p;
    rpc_peer_start(&p, plain, true);
    uint8_t block[64];
    rpc_peer_pass(&p, 60000);
    rpc_peer_frame(&p, NGHTTP2_HEADERS, 0, 1, block, rpc_peer_field(block, ":method", "POST"));
    rpc_peer_pass(&p, 9999);
    assert_false(p.conn->broken);
    rpc_peer_pass(&p, 1);
    expect_dropped(&p);
    rpc_peer_stop(&p);
}

static void a_request_that_trickles_is_refused(void **state)
{
    (void)state;
    rpc_peer p;
    rpc_peer_start(&p, plain, true);
    rpc_peer_request(&p, 1, "/test.Echo/Echo", NULL, NULL, false);
    rpc_peer_message(&p, 1, 1000000, 20000, false);
    static const uint8_t bytes[20000];
    for (int i = 0; i < 3; i++) { /* fast enough */
        rpc_peer_pass(&p, 25000);
        rpc_peer_frame(&p, NGHTTP2_DATA, 0, 1, bytes, sizeof bytes);
        rpc_peer_pass(&p, 5000);
        assert_int_equal(p.streams[0].grpc, -1);
    }
    for (int i = 0; i < 30; i++) { /* a byte a second */
        rpc_peer_frame(&p, NGHTTP2_DATA, 0, 1, bytes, 1);
        rpc_peer_pass(&p, 1000);
    }
    expect(&p, 1, 200, CUZK_RPC_DEADLINE_EXCEEDED, "30 bytes in 30000 ms");
    assert_int_equal(p.streams[0].reset, NGHTTP2_NO_ERROR);
    expect_alive(&p, 3);
    rpc_peer_stop(&p);
}

static void a_client_that_does_not_take_its_answer_loses_it(void **state)
{
    (void)state;
    static const uint8_t no_window[6] = {0, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE};
    rpc_peer p;
    rpc_peer_start(&p, plain, true);
    rpc_peer_frame(&p, NGHTTP2_SETTINGS, 0, 0, no_window, 6);
    rpc_peer_request(&p, 1, "/test.Echo/Echo", NULL, NULL, false);
    rpc_peer_message(&p, 1, 100, 100, true);
    assert_int_equal(p.streams[0].http, 200);
    assert_false(p.streams[0].ended);
    assert_int_equal(p.core.calls, 1);
    rpc_peer_pass(&p, 29000);
    assert_false(p.streams[0].ended);
    rpc_peer_pass(&p, 1000);
    assert_int_equal(p.streams[0].reset, NGHTTP2_CANCEL);
    assert_int_equal(p.core.calls, 0);
    assert_false(p.conn->broken);
    rpc_peer_stop(&p);
}

static void a_silent_client_is_asked_and_then_dropped(void **state)
{
    (void)state;
    static const uint8_t ack[8];
    rpc_peer p;
    rpc_peer_start(&p, plain, true);
    p.mute = true;
    rpc_peer_pass(&p, 100000);
    assert_int_equal(p.pings, 0); /* no call, no question */
    rpc_peer_request(&p, 1, "/test.Echo/Wait", NULL, NULL, false);
    rpc_peer_message(&p, 1, 0, 0, true);
    rpc_peer_pass(&p, 20000);
    assert_int_equal(p.pings, 1);
    rpc_peer_pass(&p, 9000);
    rpc_peer_frame(&p, NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, ack, 8);
    rpc_peer_pass(&p, 20000);
    assert_int_equal(p.pings, 2);
    rpc_peer_pass(&p, 9000);
    assert_false(p.conn->broken);
    rpc_peer_pass(&p, 1000);
    expect_dropped(&p);
    rpc_peer_stop(&p);
    assert_int_equal(p.echo.last_end, CUZK_RPC_END_SHUTDOWN);
}

static void an_idle_connection_is_told_to_go(void **state)
{
    (void)state;
    rpc_peer p;
    rpc_peer_start(&p, plain, true);
    expect_alive(&p, 1);
    rpc_peer_pass(&p, 1799000);
    assert_int_equal(p.goaways, 0);
    rpc_peer_pass(&p, 1000);
    assert_int_equal(p.goaways, 1);
    assert_int_equal(p.goaway_error, NGHTTP2_NO_ERROR);
    assert_true(cuzk_rpc_conn_is_done(p.conn));
    rpc_peer_stop(&p);
}

static void a_deadline_ends_the_call_on_time(void **state)
{
    (void)state;
    rpc_peer p;
    rpc_peer_start(&p, plain, true);
    rpc_peer_request(&p, 1, "/test.Echo/Wait", "grpc-timeout", "2500m", false);
    rpc_peer_message(&p, 1, 0, 0, true);
    assert_int_equal(cuzk_rpc_call_deadline_ns(p.echo.waiting), p.core.now_ns + 2500000000);
    rpc_peer_pass(&p, 2499);
    assert_int_equal(p.echo.ended, 0);
    rpc_peer_pass(&p, 1);
    assert_int_equal(p.echo.ended, 1);
    assert_int_equal(p.echo.last_end, CUZK_RPC_END_DEADLINE);
    expect(&p, 1, 200, CUZK_RPC_DEADLINE_EXCEEDED, "deadline");
    assert_false(cuzk_rpc_call_send(p.echo.waiting, "late", 4));
    cuzk_rpc_call_finish(p.echo.waiting, CUZK_RPC_OK, NULL); /* too late: nothing happens */
    expect_alive(&p, 3);
    rpc_peer_stop(&p);
}

static void a_reset_ends_the_call(void **state)
{
    (void)state;
    static const uint8_t cancel[4] = {0, 0, 0, NGHTTP2_CANCEL};
    rpc_peer p;
    rpc_peer_start(&p, plain, true);
    rpc_peer_request(&p, 1, "/test.Echo/Wait", NULL, NULL, false);
    rpc_peer_message(&p, 1, 0, 0, true);
    assert_false(cuzk_rpc_call_is_over(p.echo.waiting));
    rpc_peer_frame(&p, NGHTTP2_RST_STREAM, 0, 1, cancel, 4);
    assert_int_equal(p.echo.ended, 1);
    assert_int_equal(p.echo.last_end, CUZK_RPC_END_CANCELLED);
    assert_true(cuzk_rpc_call_is_over(p.echo.waiting));
    rpc_peer_stop(&p);
}

/* ---- memory ---- */

typedef struct budget {
    cuzk_rpc_grant grant;
    size_t asked, given, back;
} budget;

static cuzk_rpc_grant budget_alloc(void *ctx, size_t n, void **ret)
{
    budget *b = ctx;
    b->asked++;
    if (b->grant == CUZK_RPC_GRANTED) {
        *ret = malloc(n);
        b->given += n;
    }
    return b->grant;
}

static void budget_free(void *ctx, void *p, size_t n)
{
    ((budget *)ctx)->back += n;
    free(p);
}

static cuzk_rpc_server_config with_budget(budget *b)
{
    return (cuzk_rpc_server_config){.memory = {budget_alloc, budget_free, b}};
}

static void a_client_is_held_until_there_is_memory(void **state)
{
    (void)state;
    static const uint8_t bytes[30000];
    budget b = {.grant = CUZK_RPC_LATER};
    rpc_peer p;
    rpc_peer_start(&p, with_budget(&b), true);
    rpc_peer_request(&p, 1, "/test.Echo/Echo", NULL, NULL, false);
    rpc_peer_message(&p, 1, 200000, 20000, false);
    rpc_peer_frame(&p, NGHTTP2_DATA, 0, 1, bytes, sizeof bytes);
    assert_int_equal(p.streams[0].window, 0); /* the window stays shut */
    assert_true(p.streams[0].grpc == -1);
    rpc_peer_request(&p, 3, "/test.Echo/Echo", NULL, NULL, false);
    rpc_peer_message(&p, 3, 50000, 50000, true); /* whole, and behind the first */
    rpc_peer_pass(&p, 40000);                    /* it is not the client that is slow */
    assert_int_equal(b.asked, 1);                /* nobody overtakes */
    expect_alive(&p, 5);                         /* small ones do not ask */

    b.grant = CUZK_RPC_GRANTED;
    cuzk_rpc_core_retry(&p.core);
    assert_int_equal(b.given, 250000);
    rpc_peer_pass(&p, 1);
    assert_true(p.streams[0].window > 8000000); /* now as fast as it can */
    expect(&p, 3, 200, CUZK_RPC_OK, "");
    for (int i = 0; i < 5; i++) {
        rpc_peer_frame(&p, NGHTTP2_DATA, i == 4 ? NGHTTP2_FLAG_END_STREAM : 0, 1, bytes,
                       sizeof bytes);
    }
    assert_int_equal(p.streams[0].http, 200);
    assert_int_equal(b.back, 250000);
    rpc_peer_stop(&p);
}

static void a_message_that_never_fits_is_refused_at_once(void **state)
{
    (void)state;
    budget b = {.grant = CUZK_RPC_NEVER};
    rpc_peer p;
    rpc_peer_start(&p, with_budget(&b), true);
    rpc_peer_request(&p, 1, "/test.Echo/Echo", NULL, NULL, false);
    rpc_peer_message(&p, 1, 5000, 0, false);
    expect(&p, 1, 200, CUZK_RPC_RESOURCE_EXHAUSTED, "no room");
    expect_alive(&p, 3);
    rpc_peer_stop(&p);
}

static void memory_comes_back_however_a_request_ends(void **state)
{
    (void)state;
    static const uint8_t cancel[4] = {0, 0, 0, NGHTTP2_CANCEL};
    budget b = {.grant = CUZK_RPC_GRANTED};
    rpc_peer p;
    rpc_peer_start(&p, with_budget(&b), true);
    rpc_peer_request(&p, 1, "/test.Echo/Echo", NULL, NULL, false);
    rpc_peer_message(&p, 1, 10000, 100, false);
    rpc_peer_frame(&p, NGHTTP2_RST_STREAM, 0, 1, cancel, 4);
    assert_int_equal(b.back, 10000);
    rpc_peer_request(&p, 3, "/test.Echo/Echo", "grpc-timeout", "1S", false);
    rpc_peer_message(&p, 3, 10000, 100, false);
    rpc_peer_pass(&p, 1000);
    assert_int_equal(b.back, 20000);
    rpc_peer_request(&p, 5, "/test.Echo/Echo", NULL, NULL, false);
    rpc_peer_message(&p, 5, 10000, 100, false);
    b.grant = CUZK_RPC_LATER;
    rpc_peer_request(&p, 7, "/test.Echo/Echo", NULL, NULL, false);
    rpc_peer_message(&p, 7, 10000, 100, false);
    rpc_peer_frame(&p, NGHTTP2_RST_STREAM, 0, 7, cancel, 4); /* while it waits */
    assert_null(p.core.waiting);
    rpc_peer_stop(&p);
    assert_int_equal(b.back, b.given);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_may_come_one_by_one),
        cmocka_unit_test(what_is_no_grpc_request_is_refused),
        cmocka_unit_test(messages_that_cannot_be_read_are_refused_from_their_prefix),
        cmocka_unit_test(large_header_lists_are_refused_and_larger_ones_end_the_connection),
        cmocka_unit_test(a_compressed_header_bomb_ends_the_connection),
        cmocka_unit_test(a_flood_of_continuations_ends_the_connection),
        cmocka_unit_test(a_flood_of_resets_ends_the_connection),
        cmocka_unit_test(floods_of_settings_and_pings_end_the_connection),
        cmocka_unit_test(what_is_not_http2_ends_the_connection),
        cmocka_unit_test(a_peer_that_is_silent_at_the_start_is_dropped),
        cmocka_unit_test(a_header_block_that_is_never_done_is_dropped),
        cmocka_unit_test(a_request_that_trickles_is_refused),
        cmocka_unit_test(a_client_that_does_not_take_its_answer_loses_it),
        cmocka_unit_test(a_silent_client_is_asked_and_then_dropped),
        cmocka_unit_test(an_idle_connection_is_told_to_go),
        cmocka_unit_test(a_deadline_ends_the_call_on_time),
        cmocka_unit_test(a_reset_ends_the_call),
        cmocka_unit_test(a_client_is_held_until_there_is_memory),
        cmocka_unit_test(a_message_that_never_fits_is_refused_at_once),
        cmocka_unit_test(memory_comes_back_however_a_request_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
