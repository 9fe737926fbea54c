#include "groth16/formats/formats.h"

#include "groth16/formats/points.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const part_names[] = {"h", "l", "a", "b_g1", "b_g2"};
static const char *const length_names[] = {"length of h", "length of l", "length of a",
                                           "length of b_g1", "length of b_g2"};

const char *cuzk_params_part_name(cuzk_params_part part) { return part_names[part]; }

void cuzk_params_layout_clear(cuzk_params_layout *layout)
{
    cuzk_vk_clear(&layout->vk);
    *layout = (cuzk_params_layout){0};
}

static size_t point_bytes(cuzk_params_part part)
{
    return part == CUZK_PARAMS_B_G2 ? G2_UNCOMPRESSED_BYTES : G1_UNCOMPRESSED_BYTES;
}

static cuzk_code refuse_length(const cuzk_params_list *list, const char *file, const char *relation,
                               uint64_t expected, const char *what, cuzk_err *err)
{
    return CUZK_FAIL(err, CUZK_E_INPUT,
                     "%s: offset %" PRIu64 ": length of %s: expected %s%" PRIu64 ", %s, found %u",
                     file, list->offset - 4, list->name, relation, expected, what, list->n);
}

/* The lengths against each other. */
static cuzk_code check_lengths(const cuzk_params_layout *layout, const char *file, cuzk_err *err)
{
    const cuzk_params_list *h = &layout->list[CUZK_PARAMS_H], *a = &layout->list[CUZK_PARAMS_A];
    const cuzk_params_list *b1 = &layout->list[CUZK_PARAMS_B_G1];
    const cuzk_params_list *b2 = &layout->list[CUZK_PARAMS_B_G2];
    uint64_t m = (uint64_t)h->n + 1;
    uint64_t variables = (uint64_t)layout->vk.n_ic + layout->list[CUZK_PARAMS_L].n;
    if ((m & (m - 1)) != 0) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %" PRIu64 ": length of h: expected one less than a power of "
                         "two, found %u",
                         file, h->offset - 4, h->n);
    }
    if (a->n < layout->vk.n_ic) {
        return refuse_length(a, file, "at least ", layout->vk.n_ic, "the inputs", err);
    }
    if (a->n > variables) {
        return refuse_length(a, file, "at most ", variables, "the variables", err);
    }
    if (b1->n > variables) {
        return refuse_length(b1, file, "at most ", variables, "the variables", err);
    }
    if (b2->n != b1->n) {
        return refuse_length(b2, file, "", b1->n, "the length of b_g1", err);
    }
    return CUZK_OK;
}

static cuzk_code scan_lists(cuzk_cursor *c, cuzk_params_layout *layout, cuzk_err *err)
{
    for (cuzk_params_part part = 0; part < CUZK_PARAMS_PARTS; part++) {
        cuzk_params_list *list = &layout->list[part];
        const uint8_t *points;
        list->name = part_names[part];
        CUZK_TRY(cuzk_cursor_u32be(c, length_names[part], &list->n, err));
        list->offset = cuzk_cursor_offset(c);
        CUZK_TRY(cuzk_cursor_take(c, list->n * point_bytes(part), list->name, &points, err));
    }
    CUZK_TRY(cuzk_cursor_end(c, "the parameters", err));
    return check_lengths(layout, c->name, err);
}

cuzk_code cuzk_params_scan_bytes(cuzk_params_layout *ret, cuzk_span bytes, const char *name,
                                 point_check check, cuzk_err *err)
{
    cuzk_cursor c = cuzk_cursor_of(bytes, name);
    cuzk_params_layout layout = {.file_bytes = bytes.n};
    CUZK_TRY(cuzk_vk_parse(&c, &layout.vk, check, err));
    cuzk_code code = scan_lists(&c, &layout, err);
    if (code != CUZK_OK) {
        cuzk_params_layout_clear(&layout);
        return code;
    }
    *ret = layout;
    return CUZK_OK;
}

cuzk_code cuzk_params_scan(cuzk_params_layout *ret, const char *name, point_check check,
                           cuzk_err *err)
{
    cuzk_file_map map;
    CUZK_TRY(cuzk_file_map_open(&map, name, err));
    cuzk_code code = cuzk_params_scan_bytes(ret, map.bytes, name, check, err);
    cuzk_file_map_close(&map);
    return code;
}

static cuzk_point_list point_list(const cuzk_params_layout *layout, cuzk_params_part part,
                                  cuzk_span bytes, const char *file)
{
    const cuzk_params_list *list = &layout->list[part];
    return (cuzk_point_list){.name = list->name,
                             .file = file,
                             .bytes = bytes.p + list->offset,
                             .offset = list->offset,
                             .n = list->n,
                             .is_g2 = part == CUZK_PARAMS_B_G2};
}

cuzk_code cuzk_params_check_bytes(cuzk_span bytes, const char *name, point_check check,
                                  cuzk_pool *pool, const cuzk_progress *progress, cuzk_err *err)
{
    cuzk_params_layout layout;
    CUZK_TRY(cuzk_params_scan_bytes(&layout, bytes, name, check, err));
    cuzk_code code = CUZK_OK;
    for (cuzk_params_part part = 0; part < CUZK_PARAMS_PARTS && code == CUZK_OK; part++) {
        cuzk_point_list list = point_list(&layout, part, bytes, name);
        code = cuzk_points_decode(&list, NULL, check, pool, progress, err);
    }
    cuzk_params_layout_clear(&layout);
    return code;
}

cuzk_code cuzk_params_check(const char *name, point_check check, cuzk_pool *pool,
                            const cuzk_progress *progress, cuzk_err *err)
{
    cuzk_file_map map;
    CUZK_TRY(cuzk_file_map_open(&map, name, err));
    cuzk_code code = cuzk_params_check_bytes(map.bytes, name, check, pool, progress, err);
    cuzk_file_map_close(&map);
    return code;
}

/* Which variables have a point in a query: bit v of `bits` and how many are set. */
typedef struct density {
    uint64_t *bits;
    uint64_t n;
} density;

static uint64_t count_bits(const uint64_t *bits, size_t words)
{
    uint64_t n = 0;
    for (size_t i = 0; i < words; i++) {
        n += (uint64_t)__builtin_popcountll(bits[i]);
    }
    return n;
}

/* What a key must fit: the numbers of a system, and its densities as the key has them, where the
 * rows `x_i * 0 = 0` put every input into A. Owns the bits. */
typedef struct fit {
    uint32_t n_inputs, n_aux;
    uint64_t rows; /* with those of the inputs */
    density a, b;
} fit;

static size_t fit_words(const fit *f) { return ((size_t)f->n_inputs + f->n_aux + 63) / 64; }

static void fit_clear(fit *f)
{
    free(f->a.bits);
    free(f->b.bits);
}

static cuzk_code fit_begin(fit *f, cuzk_err *err)
{
    f->a.bits = calloc(fit_words(f), sizeof *f->a.bits);
    f->b.bits = calloc(fit_words(f), sizeof *f->b.bits);
    return f->a.bits && f->b.bits
               ? CUZK_OK
               : CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the densities of %zu variables",
                           64 * fit_words(f));
}

static void fit_end(fit *f)
{
    for (uint32_t i = 0; i < f->n_inputs; i++) {
        f->a.bits[i / 64] |= (uint64_t)1 << i % 64;
    }
    f->a.n = count_bits(f->a.bits, fit_words(f));
    f->b.n = count_bits(f->b.bits, fit_words(f));
}

static cuzk_code fit_of_r1cs(fit *f, const cuzk_r1cs *r1cs, cuzk_err *err)
{
    *f = (fit){
        .n_inputs = r1cs->n_inputs, .n_aux = r1cs->n_aux, .rows = cuzk_r1cs_rows_with_inputs(r1cs)};
    CUZK_TRY(fit_begin(f, err));
    cuzk_r1cs_density(r1cs, CUZK_MATRIX_A, f->a.bits);
    cuzk_r1cs_density(r1cs, CUZK_MATRIX_B, f->b.bits);
    fit_end(f);
    return CUZK_OK;
}

static cuzk_code fit_of_shape(fit *f, const cuzk_shape *s, cuzk_err *err)
{
    *f = (fit){.n_inputs = s->n_inputs,
               .n_aux = cuzk_shape_aux(s),
               .rows = (uint64_t)cuzk_shape_rows(s) + s->n_inputs};
    CUZK_TRY(fit_begin(f, err));
    density *const densities[] = {&f->a, &f->b};
    for (unsigned m = 0; m < 2; m++) {
        uint64_t *aux = calloc((size_t)f->n_aux / 64 + 1, sizeof *aux);
        if (!aux) {
            return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the density of %u variables",
                             f->n_aux);
        }
        cuzk_shape_density(s, m, densities[m]->bits, aux);
        cuzk_bits_or(densities[m]->bits, f->n_inputs, aux, 0, f->n_aux);
        free(aux);
    }
    fit_end(f);
    return CUZK_OK;
}

/* The file's lengths against the constraint system. */
static cuzk_code compare(const cuzk_params_layout *layout, const char *file, const fit *f,
                         cuzk_err *err)
{
    const cuzk_params_list *list = layout->list;
    if (layout->vk.n_ic != f->n_inputs) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %d: length of ic: expected %u, the inputs of the constraint "
                         "system, found %u",
                         file, CUZK_VK_HEAD_BYTES - 4, f->n_inputs, layout->vk.n_ic);
    }
    uint64_t h = ((uint64_t)1 << cuzk_groth16_lg_domain(f->rows)) - 1;
    if (list[CUZK_PARAMS_H].n != h) {
        return refuse_length(&list[CUZK_PARAMS_H], file, "", h,
                             "one less than the constraint system's domain", err);
    }
    if (list[CUZK_PARAMS_L].n != f->n_aux) {
        return refuse_length(&list[CUZK_PARAMS_L], file, "", f->n_aux,
                             "the aux variables of the constraint system", err);
    }
    if (list[CUZK_PARAMS_A].n != f->a.n) {
        return refuse_length(&list[CUZK_PARAMS_A], file, "", f->a.n,
                             "the variables in A of the constraint system", err);
    }
    if (list[CUZK_PARAMS_B_G1].n != f->b.n) {
        return refuse_length(&list[CUZK_PARAMS_B_G1], file, "", f->b.n,
                             "the variables in B of the constraint system", err);
    }
    return CUZK_OK;
}

cuzk_code cuzk_params_scan_shape(cuzk_params_layout *ret, const char *name, const cuzk_shape *shape,
                                 point_check check, cuzk_err *err)
{
    fit f;
    cuzk_params_layout layout = {0};
    cuzk_code code = fit_of_shape(&f, shape, err);
    if (code == CUZK_OK) {
        code = cuzk_params_scan(&layout, name, check, err);
    }
    if (code == CUZK_OK) {
        code = compare(&layout, name, &f, err);
    }
    fit_clear(&f);
    if (code != CUZK_OK) {
        cuzk_params_layout_clear(&layout);
        return code;
    }
    *ret = layout;
    return CUZK_OK;
}

static uint32_t *variables(const density *d)
{
    uint32_t *var = malloc((d->n + 1) * sizeof *var);
    if (var) {
        uint64_t n = 0;
        for (uint64_t word = 0; n < d->n; word++) {
            for (uint64_t rest = d->bits[word]; rest != 0; rest &= rest - 1) {
                var[n++] = (uint32_t)(64 * word + (uint64_t)__builtin_ctzll(rest));
            }
        }
    }
    return var;
}

/* Where a key is read from: memory, which may be a mapped file. */
typedef struct source {
    cuzk_span bytes;
    const char *name;
    const cuzk_file_map *map; /* NULL when it is not */
} source;

static cuzk_code load(cuzk_pk *pk, const cuzk_params_layout *layout, const source *from,
                      point_check check, cuzk_pool *pool, cuzk_err *err)
{
    void *queries[] = {
        pk->h = cuzk_alloc_large(pk->n_h, sizeof *pk->h),
        pk->l = cuzk_alloc_large(pk->n_aux, sizeof *pk->l),
        pk->a = cuzk_alloc_large(pk->n_a, sizeof *pk->a),
        pk->b_g1 = cuzk_alloc_large(pk->n_b, sizeof *pk->b_g1),
        pk->b_g2 = cuzk_alloc_large(pk->n_b, sizeof *pk->b_g2),
    };
    for (cuzk_params_part part = 0; part < CUZK_PARAMS_PARTS; part++) {
        if (!queries[part]) {
            return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for the %u points of %s",
                             from->name, layout->list[part].n, layout->list[part].name);
        }
    }
    for (cuzk_params_part part = 0; part < CUZK_PARAMS_PARTS; part++) {
        cuzk_point_list list = point_list(layout, part, from->bytes, from->name);
        list.map = from->map;
        CUZK_TRY(cuzk_points_decode(&list, queries[part], check, pool, NULL, err));
    }
    return CUZK_OK;
}

/* A key of the layout's sizes, whose vk moves into it. */
static cuzk_pk *new_key(cuzk_params_layout *layout, const fit *f)
{
    cuzk_pk *pk = calloc(1, sizeof *pk);
    if (!pk) {
        return NULL;
    }
    *pk = (cuzk_pk){.vk = layout->vk,
                    .root = FR_ROOT_BELLMAN,
                    .h_basis = CUZK_H_POWERS,
                    .lg_domain = cuzk_groth16_lg_domain(f->rows),
                    .n_inputs = f->n_inputs,
                    .n_aux = f->n_aux,
                    .n_h = layout->list[CUZK_PARAMS_H].n,
                    .n_a = (uint32_t)f->a.n,
                    .n_b = (uint32_t)f->b.n,
                    .a_var = variables(&f->a),
                    .b_var = variables(&f->b)};
    layout->vk = (cuzk_vk){0};
    if (!pk->a_var || !pk->b_var) {
        cuzk_pk_free(pk);
        return NULL;
    }
    return pk;
}

static cuzk_code read_key(cuzk_pk **ret, const source *from, const fit *f, point_check check,
                          cuzk_pool *pool, cuzk_err *err)
{
    cuzk_params_layout layout;
    cuzk_pk *pk = NULL;
    CUZK_TRY(cuzk_params_scan_bytes(&layout, from->bytes, from->name, check, err));
    cuzk_code code = compare(&layout, from->name, f, err);
    if (code == CUZK_OK && !(pk = new_key(&layout, f))) {
        code = CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for a key", from->name);
    }
    if (code == CUZK_OK) {
        code = load(pk, &layout, from, check, pool, err);
    }
    cuzk_params_layout_clear(&layout);
    if (code != CUZK_OK) {
        cuzk_pk_free(pk);
        return code;
    }
    *ret = pk;
    return CUZK_OK;
}

cuzk_code cuzk_params_parse(cuzk_pk **ret, cuzk_span bytes, const char *name, const cuzk_r1cs *r1cs,
                            point_check check, cuzk_pool *pool, cuzk_err *err)
{
    fit f;
    source from = {bytes, name, NULL};
    cuzk_code code = fit_of_r1cs(&f, r1cs, err);
    if (code == CUZK_OK) {
        code = read_key(ret, &from, &f, check, pool, err);
    }
    fit_clear(&f);
    return code;
}

/* Reads a file for a system that was measured, which is used up. */
static cuzk_code read_file(cuzk_pk **ret, const char *name, fit *f, point_check check,
                           cuzk_pool *pool, cuzk_err *err)
{
    cuzk_file_map map;
    cuzk_code code = cuzk_file_map_open(&map, name, err);
    if (code == CUZK_OK) {
        source from = {map.bytes, name, &map};
        code = read_key(ret, &from, f, check, pool, err);
        cuzk_file_map_close(&map);
    }
    fit_clear(f);
    return code;
}

cuzk_code cuzk_params_read(cuzk_pk **ret, const char *name, const cuzk_r1cs *r1cs,
                           point_check check, cuzk_pool *pool, cuzk_err *err)
{
    fit f;
    cuzk_code code = fit_of_r1cs(&f, r1cs, err);
    if (code != CUZK_OK) {
        fit_clear(&f);
        return code;
    }
    return read_file(ret, name, &f, check, pool, err);
}

cuzk_code cuzk_params_read_shape(cuzk_pk **ret, const char *name, const cuzk_shape *shape,
                                 point_check check, cuzk_pool *pool, cuzk_err *err)
{
    fit f;
    cuzk_code code = fit_of_shape(&f, shape, err);
    if (code != CUZK_OK) {
        fit_clear(&f);
        return code;
    }
    return read_file(ret, name, &f, check, pool, err);
}
