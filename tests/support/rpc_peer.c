#include "support/rpc_peer.h"

#include "support/support.h"

#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

static void see_headers(rpc_peer *p, uint32_t stream, const uint8_t *block, size_t n)
{
    int flags = 0;
    while (true) {
        nghttp2_nv nv;
        ssize_t k = nghttp2_hd_inflate_hd2(p->inflater, &nv, &flags, block, n, 1);
        assert_true(k >= 0);
        block += k;
        n -= (size_t)k;
        if (flags & NGHTTP2_HD_INFLATE_EMIT && stream / 2 < 16) {
            const char *name = (const char *)nv.name, *value = (const char *)nv.value;
            if (strcmp(name, ":status") == 0) {
                p->streams[stream / 2].http = atoi(value);
            } else if (strcmp(name, "grpc-status") == 0) {
                p->streams[stream / 2].grpc = atoi(value);
            } else if (strcmp(name, "grpc-message") == 0) {
                strncpy(p->streams[stream / 2].message, value, 255);
            }
        }
        if (flags & NGHTTP2_HD_INFLATE_FINAL) {
            nghttp2_hd_inflate_end_headers(p->inflater);
            return;
        }
    }
}

static void see_frame(rpc_peer *p, uint8_t type, uint8_t flags, uint32_t stream,
                      const uint8_t *payload, size_t n)
{
    size_t i = stream / 2 < 16 ? stream / 2 : 15;
    switch (type) {
    case NGHTTP2_HEADERS:
        see_headers(p, stream, payload, n);
        break;
    case NGHTTP2_DATA:
        p->data_bytes += n;
        break;
    case NGHTTP2_RST_STREAM:
        p->streams[i].reset = (int)cuzk_load_u32be(payload);
        p->streams[i].ended = true;
        return;
    case NGHTTP2_GOAWAY:
        p->goaways++;
        p->goaway_error = cuzk_load_u32be(payload + 4);
        return;
    case NGHTTP2_WINDOW_UPDATE:
        p->window_updates++;
        if (stream) {
            p->streams[i].window += cuzk_load_u32be(payload);
        }
        return;
    case NGHTTP2_PING:
        p->pings += !(flags & NGHTTP2_FLAG_ACK);
        p->unanswered += !(flags & NGHTTP2_FLAG_ACK);
        return;
    default:
        return;
    }
    if (flags & NGHTTP2_FLAG_END_STREAM) {
        p->streams[i].ended = true;
    }
}

/* Reads frames; the server writes whole ones. */
static void see_output(rpc_peer *p)
{
    const uint8_t *out;
    size_t n;
    cuzk_rpc_core_news(&p->core, false);
    while ((n = cuzk_rpc_conn_output(p->conn, &out)) > 0) {
        size_t at = 0;
        while (at < n) {
            assert_true(n - at >= 9);
            size_t size = cuzk_load_u32be(out + at) >> 8;
            assert_true(n - at - 9 >= size);
            see_frame(p, out[at + 3], out[at + 4], cuzk_load_u32be(out + at + 5) & 0x7fffffff,
                      out + at + 9, size);
            at += 9 + size;
        }
        cuzk_rpc_conn_wrote(p->conn, n, p->core.now_ns);
        cuzk_rpc_core_news(&p->core, false);
    }
    if (p->unanswered > 0 && !p->mute) {
        static const uint8_t nothing[8];
        p->unanswered--;
        rpc_peer_frame(p, NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, nothing, sizeof nothing);
    }
}

void rpc_peer_send(rpc_peer *p, const void *bytes, size_t n)
{
    cuzk_rpc_conn_input(p->conn, bytes, n, p->core.now_ns);
    see_output(p);
}

void rpc_peer_frame(rpc_peer *p, uint8_t type, uint8_t flags, uint32_t stream, const void *payload,
                    size_t n)
{
    uint8_t *frame = malloc(9 + n);
    assert_non_null(frame);
    cuzk_store_u32be(frame, (uint32_t)n << 8 | type);
    frame[4] = flags;
    cuzk_store_u32be(frame + 5, stream);
    if (n > 0) {
        memcpy(frame + 9, payload, n);
    }
    rpc_peer_send(p, frame, 9 + n);
    free(frame);
}

static size_t put_length(uint8_t *ret, size_t n)
{
    if (n < 127) {
        ret[0] = (uint8_t)n;
        return 1;
    }
    size_t k = 1;
    ret[0] = 127;
    for (n -= 127; n >= 128; n >>= 7) {
        ret[k++] = (uint8_t)(n | 128);
    }
    ret[k++] = (uint8_t)n;
    return k;
}

size_t rpc_peer_field(uint8_t *ret, const char *name, const char *value)
{
    size_t n = 1, n_name = strlen(name), n_value = strlen(value);
    ret[0] = 0;
    n += put_length(ret + n, n_name);
    memcpy(ret + n, name, n_name);
    n += n_name;
    n += put_length(ret + n, n_value);
    memcpy(ret + n, value, n_value);
    return n + n_value;
}

void rpc_peer_request(rpc_peer *p, uint32_t stream, const char *path, const char *name,
                      const char *value, bool end_stream)
{
    static const char *const names[] = {":method", ":scheme", "te", "content-type"};
    static const char *const values[] = {"POST", "http", "trailers", "application/grpc"};
    uint8_t *block = malloc(1024 + strlen(path) + (value ? strlen(value) : 0));
    assert_non_null(block);
    size_t n = rpc_peer_field(block, ":path", path);
    n += rpc_peer_field(block + n, ":authority", "localhost");
    for (size_t i = 0; i < 4; i++) { /* the extra field may take another's place */
        if (!name || strcmp(name, names[i]) != 0) {
            n += rpc_peer_field(block + n, names[i], values[i]);
        } else if (value) {
            n += rpc_peer_field(block + n, name, value);
            name = NULL;
        }
    }
    if (name && value) {
        n += rpc_peer_field(block + n, name, value);
    }
    rpc_peer_frame(p, NGHTTP2_HEADERS,
                   (uint8_t)(NGHTTP2_FLAG_END_HEADERS | (end_stream ? NGHTTP2_FLAG_END_STREAM : 0)),
                   stream, block, n);
    free(block);
}

void rpc_peer_message(rpc_peer *p, uint32_t stream, uint32_t size, size_t n, bool end_stream)
{
    uint8_t *bytes = calloc(1, CUZK_RPC_PREFIX_BYTES + n);
    assert_non_null(bytes);
    cuzk_rpc_framing_prefix(bytes, size);
    rpc_peer_frame(p, NGHTTP2_DATA, end_stream ? NGHTTP2_FLAG_END_STREAM : 0, stream, bytes,
                   CUZK_RPC_PREFIX_BYTES + n);
    free(bytes);
}

void rpc_peer_pass(rpc_peer *p, uint64_t ms)
{
    while (ms > 0) {
        uint64_t step = ms < 1000 ? ms : 1000;
        ms -= step;
        p->core.now_ns += step * 1000000;
        cuzk_rpc_conn_tick(p->conn, p->core.now_ns);
        cuzk_rpc_core_deadlines(&p->core);
        see_output(p);
    }
}

void rpc_peer_start(rpc_peer *p, cuzk_rpc_server_config config, bool greet)
{
    memset(p, 0, sizeof *p);
    for (size_t i = 0; i < 16; i++) {
        p->streams[i].http = p->streams[i].grpc = p->streams[i].reset = -1;
    }
    cuzk_rpc_method methods[RPC_ECHO_METHODS];
    rpc_echo_init(&p->echo);
    rpc_echo_methods(&p->echo, methods);
    methods[1] = methods[RPC_ECHO_METHODS - 1]; /* not Later: nothing here has a thread */
    assert_int_equal(cuzk_rpc_core_init(&p->core, &config, methods, RPC_ECHO_METHODS - 1, NULL),
                     CUZK_OK);
    assert_int_equal(nghttp2_hd_inflate_new(&p->inflater), 0);
    p->core.now_ns = 1000000000000;
    p->conn = cuzk_rpc_conn_new(&p->core, "memory", p->core.now_ns);
    assert_non_null(p->conn);
    if (greet) {
        rpc_peer_send(p, NGHTTP2_CLIENT_MAGIC, NGHTTP2_CLIENT_MAGIC_LEN);
        rpc_peer_frame(p, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
        rpc_peer_frame(p, NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, NULL, 0);
    }
}

void rpc_peer_stop(rpc_peer *p)
{
    cuzk_rpc_core_close(&p->core);
    nghttp2_hd_inflate_del(p->inflater);
    rpc_echo_close(&p->echo);
}
