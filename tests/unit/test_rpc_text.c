#include "support/support.h"

#include "rpc/address.h"
#include "rpc/framing.h"
#include "rpc/grpc_text.h"
#include "rpc/pb_wire.h"
#include "rpc/status.h"

#include <stdlib.h>
#include <string.h>

static void messages_are_found_however_they_are_cut(void **state)
{
    (void)state;
    test_rng g = test_rng_new("messages_are_found_however_they_are_cut");
    for (int round = 0; round < 200; round++) {
        uint8_t stream[4096], body[4096];
        size_t sizes[20], n = 0, count = test_below(&g, 20);
        for (size_t i = 0; i < count; i++) {
            sizes[i] = test_below(&g, 4) ? test_below(&g, 150) : 0;
            cuzk_rpc_framing_prefix(stream + n, (uint32_t)sizes[i]);
            memset(stream + n + CUZK_RPC_PREFIX_BYTES, (int)i, sizes[i]);
            n += CUZK_RPC_PREFIX_BYTES + sizes[i];
        }
        cuzk_rpc_framing f = {0};
        size_t at = 0, found = 0;
        while (at < n) {
            size_t piece = 1 + test_below(&g, 40);
            piece = piece < n - at ? piece : n - at;
            const uint8_t *p = stream + at;
            size_t left = piece;
            cuzk_rpc_framing_event event;
            while ((event = cuzk_rpc_framing_feed(&f, &p, &left)) != CUZK_RPC_FRAMING_MORE) {
                if (event == CUZK_RPC_FRAMING_PREFIX) {
                    assert_int_equal(f.size, sizes[found]);
                    /* It asks again until it is answered, and uses nothing. */
                    assert_int_equal(cuzk_rpc_framing_feed(&f, &p, &left), CUZK_RPC_FRAMING_PREFIX);
                    cuzk_rpc_framing_accept(&f, body);
                } else {
                    for (size_t i = 0; i < f.size; i++) {
                        assert_int_equal(body[i], found);
                    }
                    found++;
                }
            }
            assert_int_equal(left, 0);
            at += piece;
        }
        assert_int_equal(found, count);
        assert_true(cuzk_rpc_framing_between(&f));
    }
}

static void any_text_survives_percent_encoding(void **state)
{
    (void)state;
    test_rng g = test_rng_new("any_text_survives_percent_encoding");
    for (int round = 0; round < 300; round++) {
        char text[200], coded[700], back[200];
        size_t n = test_below(&g, 199);
        for (size_t i = 0; i < n; i++) {
            text[i] = (char)(1 + test_below(&g, 255));
        }
        text[n] = 0;
        size_t n_coded = cuzk_rpc_percent_encode(coded, sizeof coded, text);
        for (size_t i = 0; i < n_coded; i++) {
            assert_true(coded[i] >= 0x20 && coded[i] <= 0x7e);
        }
        assert_int_equal(cuzk_rpc_percent_decode(back, sizeof back, coded, n_coded), n);
        assert_string_equal(back, text);
    }
    char small[6];
    assert_int_equal(cuzk_rpc_percent_encode(small, sizeof small, "ab\n\n"), 5);
    assert_string_equal(small, "ab%0A"); /* cut at a whole character */
    assert_int_equal(cuzk_rpc_percent_encode(small, sizeof small, "abc\n"), 3);
    assert_int_equal(cuzk_rpc_percent_decode(small, sizeof small, "%4", 2), 2);
    assert_string_equal(small, "%4"); /* no escape: kept */
    assert_int_equal(cuzk_rpc_percent_decode(small, sizeof small, "%zz%41", 6), 4);
    assert_string_equal(small, "%zzA");
}

static void timeouts_are_read_as_the_protocol_says(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t ns;
    } good[] = {{"0n", 0},
                {"1n", 1},
                {"7u", 7000},
                {"250m", 250000000},
                {"99999999S", 99999999000000000u},
                {"2M", 120000000000u},
                {"1H", 3600000000000u},
                {"99999999H", UINT64_MAX}};
    uint64_t ns;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(cuzk_rpc_timeout_parse(good[i].text, strlen(good[i].text), &ns));
        assert_true(ns == good[i].ns);
    }
    static const char *const bad[] = {"",     "S",          "1",   "1s", "-1S",
                                      "1.5S", "123456789S", " 1S", "1S "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(cuzk_rpc_timeout_parse(bad[i], strlen(bad[i]), &ns));
    }
    test_rng g = test_rng_new("timeouts");
    for (int i = 0; i < 1000; i++) {
        uint64_t ms = test_u64(&g) >> (24 + test_below(&g, 40));
        char text[16];
        cuzk_rpc_timeout_format(text, ms);
        assert_true(cuzk_rpc_timeout_parse(text, strlen(text), &ns));
        if (ms < (uint64_t)99999999 * 3600000 && ns != UINT64_MAX) { /* never too early */
            assert_true(ns / 1000000 >= ms && ns / 1000000 <= ms + ms / 20000 + 1);
        }
    }
}

static void addresses_are_taken_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host, *port, *path;
        bool tls;
    } good[] = {
        {"127.0.0.1:9820", "127.0.0.1", "9820", "", false},
        {"http://prover:80/", "prover", "80", "", false},
        {"https://[::1]:443", "::1", "443", "", true},
        {"dns:///prover.local:1", "prover.local", "1", "", false},
        {":9820", "", "9820", "", false},
        {"unix:///run/cuzk.sock", "", "", "/run/cuzk.sock", false},
        {"unix:/run/cuzk.sock", "", "", "/run/cuzk.sock", false},
        {"unix:here.sock", "", "", "here.sock", false},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        cuzk_rpc_address a;
        assert_int_equal(cuzk_rpc_address_parse(&a, good[i].text, NULL), CUZK_OK);
        assert_string_equal(a.host, good[i].host);
        assert_string_equal(a.port, good[i].port);
        assert_string_equal(a.path, good[i].path);
        assert_int_equal(a.is_unix, good[i].path[0] != 0);
        assert_int_equal(a.tls, good[i].tls);
    }
    char longest[300] = "unix:/";
    memset(longest + 6, 'x', 200);
    cuzk_rpc_address a;
    assert_int_equal(cuzk_rpc_address_parse(&a, longest, NULL), CUZK_E_ARG);
    longest[5 + 107] = 0;
    assert_int_equal(cuzk_rpc_address_parse(&a, longest, NULL), CUZK_OK);
}

static void fields_are_read_as_they_were_written(void **state)
{
    (void)state;
    cuzk_rpc_pb_writer w = {0};
    static const uint64_t values[] = {0, 1, 127, 128, 300, UINT32_MAX, UINT64_MAX};
    for (uint32_t i = 0; i < 7; i++) {
        cuzk_rpc_pb_put_value(&w, i + 1, values[i]);
        cuzk_rpc_pb_put_bytes(&w, 536870911, (cuzk_span){(const uint8_t *)"abc", i % 4});
    }
    assert_false(w.failed);
    cuzk_rpc_pb_reader r = {.bytes = {w.p, w.n}};
    cuzk_rpc_pb_field f;
    for (uint32_t i = 0; i < 7; i++) {
        assert_true(cuzk_rpc_pb_next(&r, &f));
        assert_int_equal(f.number, i + 1);
        assert_true(!f.has_bytes && f.value == values[i]);
        assert_true(cuzk_rpc_pb_next(&r, &f));
        assert_true(f.has_bytes && f.number == 536870911 && f.bytes.n == i % 4);
    }
    assert_false(cuzk_rpc_pb_next(&r, &f));
    assert_false(r.bad);
    for (size_t n = 0; n < w.n; n++) { /* each cut is seen, or falls between fields */
        r = (cuzk_rpc_pb_reader){.bytes = {w.p, n}};
        size_t good = 0;
        while (cuzk_rpc_pb_next(&r, &f)) {
            good = r.at;
        }
        assert_true(r.bad == (good != n));
    }
    free(w.p);
    static const uint8_t fixed[] = {0x0d, 1, 0, 0, 0, 0x11, 2, 0, 0, 0, 0, 0, 0, 0},
                         group[] = {0x0b};
    r = (cuzk_rpc_pb_reader){.bytes = {fixed, sizeof fixed}};
    assert_true(cuzk_rpc_pb_next(&r, &f) && f.value == 1);
    assert_true(cuzk_rpc_pb_next(&r, &f) && f.value == 2 && f.number == 2);
    r = (cuzk_rpc_pb_reader){.bytes = {group, 1}};
    assert_false(cuzk_rpc_pb_next(&r, &f));
    assert_true(r.bad);
}

static void statuses_have_the_numbers_and_names_of_grpc(void **state)
{
    (void)state;
    assert_string_equal(cuzk_rpc_status_name((cuzk_rpc_status)5), "NOT_FOUND");
    assert_string_equal(cuzk_rpc_status_name((cuzk_rpc_status)16), "UNAUTHENTICATED");
    assert_string_equal(cuzk_rpc_status_name((cuzk_rpc_status)99), "UNKNOWN");
    assert_int_equal(cuzk_rpc_status_of(CUZK_E_INPUT), 3);
    assert_int_equal(cuzk_rpc_status_of(CUZK_E_FULL), 8);
    assert_int_equal(cuzk_rpc_status_of(CUZK_E_EXISTS), 6);
    assert_int_equal(cuzk_rpc_status_of(CUZK_E_INTERNAL), 13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_found_however_they_are_cut),
        cmocka_unit_test(any_text_survives_percent_encoding),
        cmocka_unit_test(timeouts_are_read_as_the_protocol_says),
        cmocka_unit_test(addresses_are_taken_apart),
        cmocka_unit_test(fields_are_read_as_they_were_written),
        cmocka_unit_test(statuses_have_the_numbers_and_names_of_grpc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
