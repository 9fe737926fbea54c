#include "r1cs/assignment.h"

#include <stdlib.h>

#include "base/sha256.h"

enum { PIECE = 1 << 12, GROUP_ROWS = 1 << 20 };

/* ---- plain values ---- */

typedef struct values_job {
    const cuzk_packed *p;
    const cuzk_shape *s;
    fr_repr *ret;
} values_job;

static void values_piece(void *ctx, size_t index, unsigned worker)
{
    (void)worker;
    const values_job *j = ctx;
    fr piece[PIECE];
    uint32_t from = (uint32_t)index * PIECE, left = cuzk_shape_aux(j->s) - from;
    uint32_t n = left < PIECE ? left : PIECE;
    cuzk_packed_aux(j->p, j->s, from, n, piece);
    for (uint32_t i = 0; i < n; i++) {
        fr_to_repr(&j->ret[from + i], &piece[i]);
    }
}

void cuzk_packed_values(const cuzk_packed *p, const cuzk_shape *s, fr_repr *ret, cuzk_pool *pool)
{
    for (uint32_t i = 0; i < s->n_inputs; i++) {
        fr_to_repr(&ret[i], &p->full[i]);
    }
    values_job j = {p, s, ret + s->n_inputs};
    cuzk_pool_run(pool, (cuzk_shape_aux(s) + PIECE - 1) / PIECE, values_piece, &j);
}

/* ---- rows, in groups of instances ---- */

/* The end of the group that begins at instance `from`: at least one instance. */
static uint32_t group_end(const cuzk_shape *s, uint32_t from)
{
    uint32_t to = from + 1;
    while (to < s->n_instances && s->instances[to + 1].row - s->instances[from].row <= GROUP_ROWS) {
        to++;
    }
    return to;
}

/* Rows of the largest group. */
static uint32_t group_rows(const cuzk_shape *s)
{
    uint32_t rows = 1;
    for (uint32_t from = 0; from < s->n_instances;) {
        uint32_t to = group_end(s, from);
        uint32_t n = s->instances[to].row - s->instances[from].row;
        rows = n > rows ? n : rows;
        from = to;
    }
    return rows;
}

static cuzk_code new_rows(fr **ret, const cuzk_shape *s, size_t vectors, size_t *ret_stride,
                          cuzk_err *err)
{
    *ret_stride = group_rows(s);
    *ret = malloc(vectors * *ret_stride * sizeof **ret);
    return *ret ? CUZK_OK : CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the rows of %s", s->name);
}

/* The instance that holds a row. */
static const char *gadget_of_row(const cuzk_shape *s, uint32_t row)
{
    uint32_t i = 0;
    while (s->instances[i + 1].row <= row) {
        i++;
    }
    return cuzk_shape_template(s, &s->instances[i])->gadget;
}

cuzk_code cuzk_packed_row_fails(const cuzk_shape *s, uint32_t row, cuzk_err *err)
{
    return CUZK_FAIL(err, CUZK_E_INPUT,
                     "the witness does not satisfy constraint %u of %s, in gadget %.16s", row,
                     s->name, gadget_of_row(s, row));
}

static cuzk_code check_group(const cuzk_packed *p, const cuzk_shape *s, uint32_t from, uint32_t to,
                             fr *rows, size_t stride, cuzk_pool *pool, cuzk_err *err)
{
    for (unsigned m = 0; m < 3; m++) {
        CUZK_TRY(cuzk_packed_eval(p, s, m, from, to, rows + m * stride, pool, err));
    }
    uint32_t first = s->instances[from].row, n = s->instances[to].row - first;
    for (uint32_t i = 0; i < n; i++) {
        fr ab;
        fr_mul(&ab, &rows[i], &rows[stride + i]);
        if (!fr_eq(&ab, &rows[2 * stride + i])) {
            return cuzk_packed_row_fails(s, first + i, err);
        }
    }
    return CUZK_OK;
}

cuzk_code cuzk_packed_check(const cuzk_packed *p, const cuzk_shape *s, cuzk_pool *pool,
                            cuzk_err *err)
{
    fr *rows;
    size_t stride;
    CUZK_TRY(new_rows(&rows, s, 3, &stride, err));
    cuzk_code code = CUZK_OK;
    for (uint32_t from = 0; from < s->n_instances && code == CUZK_OK;) {
        uint32_t to = group_end(s, from);
        code = check_group(p, s, from, to, rows, stride, pool, err);
        from = to;
    }
    free(rows);
    return code;
}

/* ---- digests ---- */

static void absorb(cuzk_sha256_state *h, const fr *v, size_t n)
{
    uint8_t bytes[256][32];
    for (size_t at = 0; at < n; at += 256) {
        size_t part = n - at < 256 ? n - at : 256;
        for (size_t i = 0; i < part; i++) {
            fr_to_bytes(bytes[i], &v[at + i]);
        }
        cuzk_sha256_update(h, bytes, part * sizeof *bytes);
    }
}

static void absorb_aux(cuzk_sha256_state *h, const cuzk_packed *p, const cuzk_shape *s)
{
    fr piece[PIECE];
    uint32_t n = cuzk_shape_aux(s);
    for (uint32_t at = 0; at < n; at += PIECE) {
        uint32_t part = n - at < PIECE ? n - at : PIECE;
        cuzk_packed_aux(p, s, at, part, piece);
        absorb(h, piece, part);
    }
}

static cuzk_code absorb_rows(cuzk_sha256_state *h, const cuzk_packed *p, const cuzk_shape *s,
                             unsigned matrix, cuzk_pool *pool, cuzk_err *err)
{
    fr *rows;
    size_t stride;
    CUZK_TRY(new_rows(&rows, s, 1, &stride, err));
    cuzk_code code = CUZK_OK;
    for (uint32_t from = 0; from < s->n_instances && code == CUZK_OK;) {
        uint32_t to = group_end(s, from);
        code = cuzk_packed_eval(p, s, matrix, from, to, rows, pool, err);
        if (code == CUZK_OK) {
            absorb(h, rows, s->instances[to].row - s->instances[from].row);
        }
        from = to;
    }
    free(rows);
    return code;
}

cuzk_code cuzk_packed_digest(const cuzk_packed *p, const cuzk_shape *s, cuzk_packed_part part,
                             uint8_t ret[32], cuzk_pool *pool, cuzk_err *err)
{
    cuzk_sha256_state h;
    cuzk_sha256_init(&h);
    if (part == CUZK_PART_INPUTS) {
        absorb(&h, p->full, s->n_inputs);
    } else if (part == CUZK_PART_AUX) {
        absorb_aux(&h, p, s);
    } else {
        CUZK_TRY(absorb_rows(&h, p, s, (unsigned)(part - CUZK_PART_A), pool, err));
    }
    cuzk_sha256_final(&h, ret);
    return CUZK_OK;
}
