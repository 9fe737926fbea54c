#include "backend/cuda/each_setup.h"
#include "backend/cuda/setup.h"

#include <inttypes.h>
#include <stdlib.h>

/*
 * Points are encoded on the device, a chunk at a time; the host writes a file of tens of gigabytes
 * and would be ten times as long about the encoding as about the writing.
 */

enum { CHUNK_BYTES = 1 << 24 }; /* of points, half as many of G2 as of G1 */

typedef struct writer {
    const cuzk_cuda_key *key;
    cuzk_cuda_stream stream;
    cuzk_file_writer *file;
    cuzk_cuda_block encoded, points, bad; /* points: room for those from pinned memory */
    uint8_t *bytes;
    size_t room; /* bytes of encoded, points and bytes */
} writer;

static size_t point_bytes(cuzk_params_part part) { return (size_t)cuzk_cuda_query_bytes(part, 1); }

/* H's points are in bit-reversed places, infinity last. */
static unsigned lg_of(const writer *w, cuzk_params_part part)
{
    return part == CUZK_PARAMS_H ? w->key->lg_domain : 0;
}

/* Puts points from pinned memory into the order of the file, on the device. */
static cuzk_code fetch(const writer *w, cuzk_params_part part, uint64_t begin, uint64_t n,
                       cuzk_err *err)
{
    size_t bytes = point_bytes(part);
    unsigned lg = lg_of(w, part);
    const uint8_t *from = w->key->query[part].pinned;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t place = lg ? hd_reverse((uint32_t)(begin + i), lg) : begin + i;
        memcpy(w->bytes + i * bytes, from + place * bytes, bytes);
    }
    return cuzk_cuda_upload(w->points.p, w->bytes, n * bytes, w->stream, err);
}

static cuzk_code put_chunk(const writer *w, cuzk_params_part part, uint64_t begin, uint64_t n,
                           cuzk_err *err)
{
    const cuzk_cuda_query *q = &w->key->query[part];
    size_t bytes = point_bytes(part);
    cuzk_cuda_setup_encode_job job = {.points = q->block.p,
                                      .ret = w->encoded.p,
                                      .bad = w->bad.p,
                                      .begin = begin,
                                      .lg = lg_of(w, part),
                                      .coordinates = part == CUZK_PARAMS_B_G2 ? 4 : 2};
    if (q->pinned) {
        CUZK_TRY(fetch(w, part, begin, n, err));
        job.points = w->points.p;
        job.begin = 0;
        job.lg = 0;
    }
    uint32_t bad = UINT32_MAX;
    CUZK_TRY(cuzk_cuda_upload(w->bad.p, &bad, sizeof bad, w->stream, err));
    CUZK_TRY(cuzk_cuda_setup_encode(&job, n * job.coordinates, w->stream, err));
    CUZK_TRY(cuzk_cuda_download(&bad, w->bad.p, sizeof bad, w->stream, err));
    CUZK_TRY(cuzk_cuda_download(w->bytes, w->encoded.p, n * bytes, w->stream, err));
    CUZK_TRY(cuzk_cuda_sync(w->stream, err));
    if (bad != UINT32_MAX) {
        return CUZK_FAIL(err, CUZK_E_ARG,
                         "%s of the key is infinity at point %" PRIu64
                         ", which a .params file cannot hold",
                         cuzk_params_part_name(part), begin + (bad - job.begin));
    }
    return cuzk_file_writer_put(w->file, w->bytes, n * bytes, err);
}

static cuzk_code put_query(const writer *w, cuzk_params_part part, cuzk_err *err)
{
    uint64_t n = w->key->query[part].n - (part == CUZK_PARAMS_H);
    uint8_t length[4];
    if (n > UINT32_MAX) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%s of the key has %" PRIu64 " points",
                         cuzk_params_part_name(part), n);
    }
    cuzk_store_u32be(length, (uint32_t)n);
    CUZK_TRY(cuzk_file_writer_put(w->file, length, sizeof length, err));
    uint64_t chunk = w->room / point_bytes(part);
    for (uint64_t begin = 0; begin < n; begin += chunk) {
        CUZK_TRY(put_chunk(w, part, begin, n - begin < chunk ? n - begin : chunk, err));
    }
    return CUZK_OK;
}

/* Not more than the largest query has. */
static size_t room_for(const cuzk_cuda_key *key)
{
    uint64_t most = sizeof(g2_affine);
    for (cuzk_params_part part = 0; part < CUZK_PARAMS_PARTS; part++) {
        uint64_t bytes = cuzk_cuda_query_bytes(part, key->query[part].n);
        most = bytes > most ? bytes : most;
    }
    return most < CHUNK_BYTES ? (size_t)most : CHUNK_BYTES;
}

static cuzk_code put_key(writer *w, cuzk_err *err)
{
    const char *what = "a chunk of a key's points";
    cuzk_cuda_memory *m = w->key->memory;
    w->room = room_for(w->key);
    CUZK_TRY(cuzk_cuda_take(m, &w->encoded, w->room, what, err));
    CUZK_TRY(cuzk_cuda_take(m, &w->points, w->room, what, err));
    CUZK_TRY(cuzk_cuda_take(m, &w->bad, sizeof(uint32_t), what, err));
    w->bytes = malloc(w->room);
    if (!w->bytes) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu bytes of points", w->room);
    }
    CUZK_TRY(cuzk_vk_put(w->file, &w->key->vk, err));
    for (cuzk_params_part part = 0; part < CUZK_PARAMS_PARTS; part++) {
        CUZK_TRY(put_query(w, part, err));
    }
    return CUZK_OK;
}

cuzk_code cuzk_cuda_key_write(const cuzk_cuda_key *key, const char *file, cuzk_cuda_stream stream,
                              cuzk_err *err)
{
    writer w = {.key = key, .stream = stream};
    CUZK_TRY(cuzk_file_writer_open(&w.file, file, err));
    cuzk_code code = put_key(&w, err);
    (void)cuzk_cuda_sync(stream, NULL);
    cuzk_cuda_give(key->memory, &w.encoded);
    cuzk_cuda_give(key->memory, &w.points);
    cuzk_cuda_give(key->memory, &w.bad);
    free(w.bytes);
    if (code != CUZK_OK) {
        cuzk_file_writer_abort(w.file);
        return code;
    }
    return cuzk_file_writer_commit(w.file, err);
}
