#include "backend/cuda/circuit.h"

#include <stdlib.h>

/* What is in the device block, each piece at a multiple of 256 bytes. */
enum piece {
    TEMPLATES,
    INSTANCES,
    OFFSETS,
    TERMS,
    CLASSES,
    PLANS,
    DICTIONARY,
    PORTS,
    FIRST_PORT,
    OWN,
    FIRST_REF,
    REFS,
    BLOCKS,
    FIRST_ROW,
    ORDER,
    FULL_MAP,
    HAVE_MAPS, /* one for each of QUERIES, and so on */
    RANKS = HAVE_MAPS + 3,
    PIECES = RANKS + 3,
};

/* Queries over different variables. */
enum { OF_L, OF_A, OF_B, QUERIES };

/* Sizes that the shape's header does not have. */
typedef struct sizes {
    uint64_t ports, refs, blocks, template_rows;
    uint64_t input_words, aux_words; /* of a map, of 64 bits */
    uint64_t groups;                 /* of a map */
    uint64_t bytes[PIECES];
    uint64_t at[PIECES], total;
} sizes;

struct cuzk_cuda_circuit {
    const cuzk_shape *host;
    cuzk_cuda_memory *memory;
    cuzk_cuda_block block;
    sizes size;
    dshape shape;
    cuzk_cuda_rows rows;
    cuzk_cuda_vars vars[QUERIES];
    uint64_t *full_map, *have_maps[QUERIES]; /* as on the device */
    cuzk_cuda_vars_rank *ranks[QUERIES];
};

static uint64_t map_words(uint64_t bits)
{
    return (bits + VARS_GROUP - 1) / VARS_GROUP * (VARS_GROUP / 64);
}

static void set_bytes(sizes *z, const cuzk_shape *s)
{
    const uint64_t word = sizeof(uint32_t);
    uint64_t map = (z->input_words + z->aux_words) * sizeof(uint64_t);
    const uint64_t bytes[PIECES] = {
        [TEMPLATES] = s->n_templates * sizeof *s->templates,
        [INSTANCES] = ((uint64_t)s->n_instances + 1) * sizeof *s->instances,
        [OFFSETS] = s->n_offsets * word,
        [TERMS] = s->n_terms * word,
        [CLASSES] = s->n_class_words * sizeof *s->classes,
        [PLANS] = s->plan_bytes,
        [DICTIONARY] = s->n_coeffs * sizeof *s->dictionary,
        [PORTS] = z->ports * word,
        [FIRST_PORT] = s->n_instances * word,
        [OWN] = z->refs * word,
        [FIRST_REF] = s->n_templates * word,
        [REFS] = z->refs * word,
        [BLOCKS] = z->blocks * sizeof(cuzk_cuda_row_block),
        [FIRST_ROW] = s->n_templates * word,
        [ORDER] = 3 * z->template_rows * word,
        [FULL_MAP] = map,
        [HAVE_MAPS] = map,
        [HAVE_MAPS + 1] = map,
        [HAVE_MAPS + 2] = map,
        [RANKS] = z->groups * sizeof(cuzk_cuda_vars_rank),
        [RANKS + 1] = z->groups * sizeof(cuzk_cuda_vars_rank),
        [RANKS + 2] = z->groups * sizeof(cuzk_cuda_vars_rank),
    };
    for (int i = 0; i < PIECES; i++) {
        z->bytes[i] = bytes[i];
        z->at[i] = cuzk_cuda_place(&z->total, bytes[i]);
    }
}

static sizes sizes_of(const cuzk_shape *s)
{
    sizes z = {.input_words = map_words(s->n_inputs), .aux_words = map_words(cuzk_shape_aux(s))};
    for (uint32_t k = 0; k < s->n_templates; k++) {
        z.refs += cuzk_template_refs(&s->templates[k]);
        z.template_rows += s->templates[k].n_rows;
    }
    for (uint32_t i = 0; i < s->n_instances; i++) {
        const cuzk_template *t = cuzk_shape_template(s, &s->instances[i]);
        z.ports += t->n_ports;
        z.blocks += ((uint64_t)t->n_rows + EVAL_ROWS - 1) / EVAL_ROWS;
    }
    z.groups = (z.input_words + z.aux_words) * 64 / VARS_GROUP;
    set_bytes(&z, s);
    return z;
}

uint64_t cuzk_cuda_circuit_cost(const cuzk_shape *s) { return sizes_of(s).total; }

uint64_t cuzk_cuda_circuit_host_cost(const cuzk_shape *s)
{
    sizes z = sizes_of(s);
    return z.bytes[FULL_MAP] + QUERIES * (z.bytes[HAVE_MAPS] + z.bytes[RANKS]);
}

/* ---- pieces that are made here ---- */

/* Where the values of a template's references are, in both forms. */
static void fill_refs(const cuzk_shape *s, const cuzk_template *t, uint32_t *own, uint32_t *refs)
{
    uint32_t place[2] = {0, 0}; /* of the next bit, of the next full one */
    own[0] = 0;
    refs[0] = EVAL_REF_ONE;
    for (uint32_t r = 1; r < cuzk_template_refs(t); r++) {
        bool full = cuzk_template_is_full(s, t, r), port = r <= t->n_ports;
        own[r] = port ? 0 : full ? place[1]++ : place[0];
        place[0] += !port; /* a bit's slot is its aux number: full ones count */
        refs[r] = (full ? EVAL_REF_FULL : 0) | (port ? EVAL_REF_PORT | (r - 1) : own[r]);
    }
}

/* Sorts a template's rows by their number of terms, the longest first; `starts` is room for as many
 * numbers as there are lengths. */
static void fill_order(const cuzk_shape *s, const cuzk_template *t, unsigned matrix,
                       uint32_t *starts, uint32_t *order)
{
    const uint32_t *offsets = s->offsets + t->offsets[matrix];
    uint32_t longest = 0;
    memset(starts, 0, ((size_t)CUZK_TEMPLATE_REFS_MAX + 2) * sizeof *starts);
    for (uint32_t row = 0; row < t->n_rows; row++) {
        uint32_t n = offsets[row + 1] - offsets[row];
        longest = n > longest ? n : longest;
        starts[n]++;
    }
    uint32_t at = 0;
    for (uint32_t n = longest + 1; n-- > 0;) {
        uint32_t count = starts[n];
        starts[n] = at;
        at += count;
    }
    for (uint32_t row = 0; row < t->n_rows; row++) {
        order[starts[offsets[row + 1] - offsets[row]]++] = row;
    }
}

static void fill_ports(const cuzk_shape *s, uint32_t *ports, uint32_t *first_port)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < s->n_instances; i++) {
        first_port[i] = at;
        for (uint32_t r = s->instances[i].run; r < s->instances[i + 1].run; r++) {
            for (uint32_t k = 0; k < s->runs[r].count; k++) {
                ports[at++] = s->runs[r].slot + k;
            }
        }
    }
}

static void fill_blocks(const cuzk_shape *s, cuzk_cuda_row_block *block)
{
    for (uint32_t i = 0; i < s->n_instances; i++) {
        uint32_t n = cuzk_shape_template(s, &s->instances[i])->n_rows;
        for (uint64_t first = 0; first < n; first += EVAL_ROWS) {
            *block++ = (cuzk_cuda_row_block){i, (uint32_t)first};
        }
    }
}

/* ---- to the device ---- */

static void *device(const cuzk_cuda_circuit *c, int piece)
{
    return (uint8_t *)c->block.p + c->size.at[piece];
}

static cuzk_code put(const cuzk_cuda_circuit *c, int piece, const void *host,
                     cuzk_cuda_stream stream, cuzk_err *err)
{
    return cuzk_cuda_upload(device(c, piece), host, c->size.bytes[piece], stream, err);
}

/* Room for a piece on the host, or NULL and an error. */
static void *room(const cuzk_cuda_circuit *c, int piece, cuzk_err *err)
{
    uint64_t bytes = c->size.bytes[piece];
    void *p = calloc(bytes ? bytes : 1, 1);
    if (!p) {
        cuzk_err_set(err, CUZK_E_MEMORY, __FILE__, __LINE__, "%s: no memory for %llu bytes",
                     c->host->name, (unsigned long long)bytes);
    }
    return p;
}

static cuzk_code put_shape(const cuzk_cuda_circuit *c, cuzk_cuda_stream stream, cuzk_err *err)
{
    const cuzk_shape *s = c->host;
    const void *const from[] = {
        [TEMPLATES] = s->templates,  [INSTANCES] = s->instances, [OFFSETS] = s->offsets,
        [TERMS] = s->terms,          [CLASSES] = s->classes,     [PLANS] = s->plans,
        [DICTIONARY] = s->dictionary};
    for (int i = TEMPLATES; i <= DICTIONARY; i++) {
        CUZK_TRY(put(c, i, from[i], stream, err));
    }
    return CUZK_OK;
}

static cuzk_code put_ports(const cuzk_cuda_circuit *c, cuzk_cuda_stream stream, cuzk_err *err)
{
    uint32_t *ports = room(c, PORTS, err);
    uint32_t *first_port = room(c, FIRST_PORT, err);
    cuzk_code code = ports && first_port ? CUZK_OK : CUZK_E_MEMORY;
    if (code == CUZK_OK) {
        fill_ports(c->host, ports, first_port);
        code = put(c, PORTS, ports, stream, err);
    }
    if (code == CUZK_OK) {
        code = put(c, FIRST_PORT, first_port, stream, err);
    }
    free(ports);
    free(first_port);
    return code;
}

static cuzk_code put_refs(const cuzk_cuda_circuit *c, cuzk_cuda_stream stream, cuzk_err *err)
{
    const cuzk_shape *s = c->host;
    uint32_t *const p[] = {room(c, OWN, err), room(c, REFS, err), room(c, FIRST_REF, err)};
    cuzk_code code = p[0] && p[1] && p[2] ? CUZK_OK : CUZK_E_MEMORY;
    for (uint32_t k = 0, at = 0; code == CUZK_OK && k < s->n_templates; k++) {
        fill_refs(s, &s->templates[k], p[0] + at, p[1] + at);
        p[2][k] = at;
        at += (uint32_t)cuzk_template_refs(&s->templates[k]);
    }
    const int piece[] = {OWN, REFS, FIRST_REF};
    for (int i = 0; i < 3; i++) {
        if (code == CUZK_OK) {
            code = put(c, piece[i], p[i], stream, err);
        }
        free(p[i]);
    }
    return code;
}

static void fill_orders(const cuzk_cuda_circuit *c, uint32_t *starts, uint32_t *order,
                        uint32_t *first_row)
{
    const cuzk_shape *s = c->host;
    for (uint32_t k = 0, at = 0; k < s->n_templates; k++) {
        for (unsigned m = 0; m < 3; m++) {
            fill_order(s, &s->templates[k], m, starts, order + m * c->size.template_rows + at);
        }
        first_row[k] = at;
        at += s->templates[k].n_rows;
    }
}

static cuzk_code put_rows(const cuzk_cuda_circuit *c, cuzk_cuda_stream stream, cuzk_err *err)
{
    uint32_t *starts = calloc((size_t)CUZK_TEMPLATE_REFS_MAX + 2, sizeof *starts);
    void *const p[] = {room(c, BLOCKS, err), room(c, ORDER, err), room(c, FIRST_ROW, err)};
    cuzk_code code = CUZK_OK;
    if (!starts || !p[0] || !p[1] || !p[2]) {
        code = CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory to sort rows", c->host->name);
    } else {
        fill_blocks(c->host, p[0]);
        fill_orders(c, starts, p[1], p[2]);
    }
    const int piece[] = {BLOCKS, ORDER, FIRST_ROW};
    for (int i = 0; i < 3; i++) {
        if (code == CUZK_OK) {
            code = put(c, piece[i], p[i], stream, err);
        }
        free(p[i]);
    }
    free(starts);
    return code;
}

/* ---- variables of queries ---- */

static void set_ones(uint64_t *map, uint32_t n)
{
    memset(map, 0xff, n / 64 * sizeof *map);
    if (n % 64) {
        map[n / 64] |= ((uint64_t)1 << n % 64) - 1;
    }
}

static void fill_full_map(const cuzk_cuda_circuit *c)
{
    const cuzk_shape *s = c->host;
    set_ones(c->full_map, s->n_inputs);
    for (uint32_t i = 0; i < s->n_instances; i++) {
        const cuzk_template *t = cuzk_shape_template(s, &s->instances[i]);
        if (t->n_full) {
            cuzk_bits_or(c->full_map + c->size.input_words, s->instances[i].aux,
                         s->classes + t->classes, 1 + t->n_ports, t->n_aux);
        }
    }
}

static void fill_have_maps(const cuzk_cuda_circuit *c)
{
    const cuzk_shape *s = c->host;
    uint64_t n = c->size.input_words;
    set_ones(c->have_maps[OF_L] + n, cuzk_shape_aux(s));
    cuzk_shape_density(s, 0, NULL, c->have_maps[OF_A] + n);
    set_ones(c->have_maps[OF_A], s->n_inputs);
    cuzk_shape_density(s, 1, c->have_maps[OF_B], c->have_maps[OF_B] + n);
}

static void fill_ranks(cuzk_cuda_circuit *c, int query)
{
    const uint64_t *have = c->have_maps[query], *full = c->full_map;
    cuzk_cuda_vars_rank at = {0, 0, 0};
    for (uint64_t g = 0; g < c->size.groups; g++) {
        c->ranks[query][g] = at;
        for (uint64_t w = g * (VARS_GROUP / 64); w < (g + 1) * (VARS_GROUP / 64); w++) {
            at.place += (uint32_t)__builtin_popcountll(have[w]);
            at.full += (uint32_t)__builtin_popcountll(have[w] & full[w]);
            at.slot += (uint32_t)__builtin_popcountll(full[w]);
        }
    }
    c->vars[query].n = at.place;
    c->vars[query].n_full = at.full;
}

static cuzk_code put_vars(cuzk_cuda_circuit *c, cuzk_cuda_stream stream, cuzk_err *err)
{
    c->full_map = room(c, FULL_MAP, err);
    bool all = c->full_map != NULL;
    for (int q = 0; q < QUERIES; q++) {
        c->have_maps[q] = room(c, HAVE_MAPS + q, err);
        c->ranks[q] = room(c, RANKS + q, err);
        all = all && c->have_maps[q] && c->ranks[q];
    }
    if (!all) {
        return CUZK_E_MEMORY;
    }
    fill_full_map(c);
    fill_have_maps(c);
    CUZK_TRY(put(c, FULL_MAP, c->full_map, stream, err));
    for (int q = 0; q < QUERIES; q++) {
        fill_ranks(c, q);
        CUZK_TRY(put(c, HAVE_MAPS + q, c->have_maps[q], stream, err));
        CUZK_TRY(put(c, RANKS + q, c->ranks[q], stream, err));
        c->vars[q].maps = (cuzk_cuda_vars_maps){.input_words = (uint32_t)(2 * c->size.input_words),
                                                .aux_words = (uint32_t)(2 * c->size.aux_words),
                                                .have = device(c, HAVE_MAPS + q),
                                                .full = device(c, FULL_MAP),
                                                .ranks = device(c, RANKS + q)};
    }
    return CUZK_OK;
}

/* ---- the circuit ---- */

static void set_pointers(cuzk_cuda_circuit *c)
{
    const cuzk_shape *s = c->host;
    c->shape = (dshape){.n_inputs = s->n_inputs,
                        .n_templates = s->n_templates,
                        .n_instances = s->n_instances,
                        .n_aux = cuzk_shape_aux(s),
                        .n_rows = cuzk_shape_rows(s),
                        .n_slots = cuzk_shape_slots(s),
                        .templates = device(c, TEMPLATES),
                        .instances = device(c, INSTANCES),
                        .offsets = device(c, OFFSETS),
                        .terms = device(c, TERMS),
                        .classes = device(c, CLASSES),
                        .plans = device(c, PLANS),
                        .dictionary = device(c, DICTIONARY),
                        .ports = device(c, PORTS),
                        .first_port = device(c, FIRST_PORT),
                        .own = device(c, OWN),
                        .first_ref = device(c, FIRST_REF)};
    c->rows = (cuzk_cuda_rows){.n_blocks = (uint32_t)c->size.blocks,
                               .n_template_rows = (uint32_t)c->size.template_rows,
                               .blocks = device(c, BLOCKS),
                               .first_row = device(c, FIRST_ROW),
                               .order = device(c, ORDER),
                               .refs = device(c, REFS)};
}

static cuzk_code fill(cuzk_cuda_circuit *c, cuzk_cuda_stream stream, cuzk_err *err)
{
    const sizes *z = &c->size;
    if (z->ports > UINT32_MAX || z->refs > UINT32_MAX || z->template_rows > UINT32_MAX) {
        return CUZK_FAIL(err, CUZK_E_UNSUPPORTED,
                         "%s: at most 2^32 - 1 ports, references and rows of templates, found "
                         "%llu, %llu and %llu",
                         c->host->name, (unsigned long long)z->ports, (unsigned long long)z->refs,
                         (unsigned long long)z->template_rows);
    }
    CUZK_TRY(cuzk_cuda_take(c->memory, &c->block, z->total, c->host->name, err));
    set_pointers(c);
    CUZK_TRY(put_shape(c, stream, err));
    CUZK_TRY(put_ports(c, stream, err));
    CUZK_TRY(put_refs(c, stream, err));
    CUZK_TRY(put_rows(c, stream, err));
    CUZK_TRY(put_vars(c, stream, err));
    return cuzk_cuda_sync(stream, err);
}

cuzk_code cuzk_cuda_circuit_new(cuzk_cuda_circuit **ret, const cuzk_shape *s, cuzk_cuda_memory *m,
                                cuzk_cuda_stream stream, cuzk_err *err)
{
    cuzk_cuda_circuit *c = calloc(1, sizeof *c);
    if (!c) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a circuit");
    }
    c->host = s;
    c->memory = m;
    c->size = sizes_of(s);
    cuzk_code code = fill(c, stream, err);
    if (code != CUZK_OK) {
        cuzk_cuda_circuit_free(c);
        return code;
    }
    *ret = c;
    return CUZK_OK;
}

void cuzk_cuda_circuit_free(cuzk_cuda_circuit *c)
{
    if (!c) {
        return;
    }
    cuzk_cuda_give(c->memory, &c->block);
    free(c->full_map);
    for (int q = 0; q < QUERIES; q++) {
        free(c->have_maps[q]);
        free(c->ranks[q]);
    }
    free(c);
}

const dshape *cuzk_cuda_circuit_shape(const cuzk_cuda_circuit *c) { return &c->shape; }
const cuzk_shape *cuzk_cuda_circuit_host(const cuzk_cuda_circuit *c) { return c->host; }
const cuzk_cuda_rows *cuzk_cuda_circuit_rows(const cuzk_cuda_circuit *c) { return &c->rows; }

static int query_of(cuzk_params_part part)
{
    return part == CUZK_PARAMS_L ? OF_L : part == CUZK_PARAMS_A ? OF_A : OF_B;
}

const cuzk_cuda_vars *cuzk_cuda_circuit_vars(const cuzk_cuda_circuit *c, cuzk_params_part part)
{
    return &c->vars[query_of(part)];
}

uint64_t cuzk_cuda_circuit_full_below(const cuzk_cuda_circuit *c, cuzk_params_part part,
                                      uint64_t place)
{
    int query = query_of(part);
    const cuzk_cuda_vars_rank *ranks = c->ranks[query];
    uint64_t group = 0;
    for (uint64_t end = c->size.groups; end - group > 1;) {
        uint64_t middle = group + (end - group) / 2;
        if (ranks[middle].place <= place) {
            group = middle;
        } else {
            end = middle;
        }
    }
    uint64_t left = place - ranks[group].place, n = ranks[group].full;
    uint64_t w = group * (VARS_GROUP / 64), end = w + VARS_GROUP / 64;
    for (; left > 0 && w < end; w++) {
        for (uint64_t have = c->have_maps[query][w]; left > 0 && have; have &= have - 1, left--) {
            n += c->full_map[w] >> __builtin_ctzll(have) & 1;
        }
    }
    return n;
}
