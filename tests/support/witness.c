#include "support/witness.h"

#include <stdlib.h>
#include <time.h>

#include "base/sha256.h"
#include "filecoin/read.h"
#include "gadget/expand.h"
#include "support/support.h"

static void ok(cuzk_code code, const cuzk_err *err)
{
    if (code != CUZK_OK) {
        fail_msg("%s", err->msg);
    }
}

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void ports_of_posts(cuzk_ports *ret, const cuzk_shape *s, const cuzk_circuit_id *id,
                           const char *const paths[2])
{
    cuzk_err err;
    cuzk_post_sector sectors[2];
    size_t n = 0;
    cuzk_post_proof proof = cuzk_post_proof_of_sector(id->sector, id->kind == CUZK_WINDOW_POST);
    for (; n < 2 && paths[n]; n++) {
        ok(cuzk_post_sector_read_file(&sectors[n], paths[n], &proof, &err), &err);
    }
    ok(cuzk_post_ports(ret, s, id, sectors, n, &err), &err);
    while (n--) {
        cuzk_post_sector_clear(&sectors[n]);
    }
}

/* Reads the proof and runs the first stage; returns its CPU time. */
static double make_ports(cuzk_ports *ret, const cuzk_shape *s, const cuzk_circuit_id *id,
                         const char *const paths[2])
{
    cuzk_err err;
    double start = cpu_ms();
    if (id->kind == CUZK_POREP) {
        cuzk_porep p;
        ok(cuzk_porep_read_file(&p, paths[0], NULL, &err), &err);
        start = cpu_ms();
        ok(cuzk_porep_ports(ret, s, id, &p, 0, &err), &err);
        cuzk_porep_clear(&p);
    } else if (id->kind == CUZK_UPDATE) {
        cuzk_update_partition p;
        ok(cuzk_update_partition_read_file(&p, paths[0], id->sector, &err), &err);
        start = cpu_ms();
        ok(cuzk_update_ports(ret, s, &p, &err), &err);
        cuzk_update_partition_clear(&p);
    } else {
        ports_of_posts(ret, s, id, paths);
    }
    return cpu_ms() - start;
}

double test_witness_ports(cuzk_ports *ret, cuzk_shape **ret_shape, const witness_row *row)
{
    cuzk_err err;
    const char *paths[2] = {NULL, NULL};
    for (int i = 0; i < 2 && row->files[i]; i++) {
        TEST_VECTOR_OR_SKIP(path, row->files[i]);
        paths[i] = path;
    }
    cuzk_circuit_id id;
    ok(cuzk_circuit_named(&id, row->circuit, &err), &err);
    ok(cuzk_circuit_shape(ret_shape, &id, &err), &err);
    return make_ports(ret, *ret_shape, &id, paths);
}

enum { PIECE = 1 << 14 };

static void absorb(cuzk_sha256_state *h, const fr *v, size_t n)
{
    static uint8_t bytes[PIECE][32];
    for (size_t at = 0; at < n; at += PIECE) {
        size_t part = n - at < PIECE ? n - at : PIECE;
        for (size_t i = 0; i < part; i++) {
            fr_to_bytes(bytes[i], &v[at + i]);
        }
        cuzk_sha256_update(h, bytes, part * sizeof *bytes);
    }
}

static void expect(cuzk_sha256_state *h, const char *want)
{
    uint8_t digest[32];
    char text[65];
    cuzk_sha256_final(h, digest);
    cuzk_hex_format(text, digest, sizeof digest);
    assert_string_equal(text, want);
}

static void check_aux(const cuzk_packed *p, const cuzk_shape *s, const char *want)
{
    cuzk_sha256_state h;
    static fr piece[PIECE];
    cuzk_sha256_init(&h);
    uint32_t n = cuzk_shape_aux(s);
    for (uint32_t at = 0; at < n; at += PIECE) {
        uint32_t part = n - at < PIECE ? n - at : PIECE;
        cuzk_packed_aux(p, s, at, part, piece);
        absorb(&h, piece, part);
    }
    expect(&h, want);
}

/* Evaluates a matrix in groups of instances of up to a million rows. */
static void check_rows(const cuzk_packed *p, const cuzk_shape *s, unsigned matrix, const char *want)
{
    enum { GROUP = 1 << 20 };
    cuzk_err err;
    cuzk_sha256_state h;
    fr *rows = malloc(GROUP * sizeof *rows);
    assert_non_null(rows);
    cuzk_sha256_init(&h);
    for (uint32_t from = 0; from < s->n_instances;) {
        uint32_t to = from + 1;
        while (to < s->n_instances && s->instances[to + 1].row - s->instances[from].row <= GROUP) {
            to++;
        }
        ok(cuzk_packed_eval(p, s, matrix, from, to, rows, NULL, &err), &err);
        absorb(&h, rows, s->instances[to].row - s->instances[from].row);
        from = to;
    }
    free(rows);
    expect(&h, want);
}

void test_witness_row(const witness_row *row)
{
    cuzk_err err;
    cuzk_shape *s = NULL;
    cuzk_ports ports;
    cuzk_packed p;
    double first = test_witness_ports(&ports, &s, row);
    double start = cpu_ms();
    ok(cuzk_expand(&p, s, &ports, NULL, &err), &err);
    print_message("  %s: ports %.1f ms, %u bytes; expand %.1f ms\n", row->circuit, first,
                  cuzk_shape_record_bytes(s), cpu_ms() - start);
    cuzk_sha256_state h;
    cuzk_sha256_init(&h);
    absorb(&h, ports.inputs, s->n_inputs);
    expect(&h, row->inputs);
    check_aux(&p, s, row->aux);
    for (unsigned m = 0; m < 3 && row->rows[m]; m++) {
        check_rows(&p, s, m, row->rows[m]);
    }
    cuzk_packed_clear(&p);
    cuzk_ports_clear(&ports);
    cuzk_shape_free(s);
}
