#include "gadget/expand.h"

#include <stdlib.h>

#include "gadget/insertion.h"
#include "gadget/merkle.h"
#include "gadget/poseidon.h"
#include "gadget/uint32.h"

/* Size of what an expansion reads and writes, to be compared with a template's. */
typedef struct size {
    uint32_t record, aux, full;
} size;

typedef size size_fn(const cuzk_shape *s, const cuzk_template *t);
typedef void expand_fn(cuzk_packed_writer *w, const cuzk_shape *s, const cuzk_template *t,
                       const uint8_t *record);

static void put_elements(cuzk_packed_writer *w, const uint8_t *record, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        fr v;
        memcpy(&v, record + i * sizeof v, sizeof v);
        cuzk_packed_put_full(w, &v);
    }
}

static size size_of_row(const cuzk_shape *s, const cuzk_template *t)
{
    (void)s;
    (void)t;
    return (size){0, 0, 0};
}

static void expand_row(cuzk_packed_writer *w, const cuzk_shape *s, const cuzk_template *t,
                       const uint8_t *record)
{
    (void)w;
    (void)s;
    (void)t;
    (void)record;
}

/* "full" and "pick": param elements as they are. */
static size size_of_elements(const cuzk_shape *s, const cuzk_template *t)
{
    (void)s;
    uint32_t n = t->param < CUZK_TEMPLATE_REFS_MAX ? t->param : 0;
    return (size){n * (uint32_t)sizeof(fr), n, n};
}

static void expand_elements(cuzk_packed_writer *w, const cuzk_shape *s, const cuzk_template *t,
                            const uint8_t *record)
{
    (void)s;
    put_elements(w, record, t->param);
}

/* "pack": one element, whatever the number of bits. */
static size size_of_pack(const cuzk_shape *s, const cuzk_template *t)
{
    (void)s;
    (void)t;
    return (size){sizeof(fr), 1, 1};
}

static void expand_pack(cuzk_packed_writer *w, const cuzk_shape *s, const cuzk_template *t,
                        const uint8_t *record)
{
    (void)s;
    (void)t;
    put_elements(w, record, 1);
}

static size size_of_bits(const cuzk_shape *s, const cuzk_template *t)
{
    (void)s;
    return (size){t->param - 1 < 64 ? 8 : UINT32_MAX, t->param, 0};
}

static void expand_bits(cuzk_packed_writer *w, const cuzk_shape *s, const cuzk_template *t,
                        const uint8_t *record)
{
    (void)s;
    cuzk_packed_put_bits(w, cuzk_load_u64le(record) & UINT64_MAX >> (64 - t->param), t->param);
}

static size size_of_to_bits(const cuzk_shape *s, const cuzk_template *t)
{
    (void)s;
    (void)t;
    return (size){sizeof(fr_repr), CUZK_NUM_BITS, 0};
}

static void expand_to_bits(cuzk_packed_writer *w, const cuzk_shape *s, const cuzk_template *t,
                           const uint8_t *record)
{
    (void)s;
    (void)t;
    for (unsigned i = 0; i < FR_LIMBS; i++) {
        cuzk_packed_put_bits(w, cuzk_load_u64le(record + 8 * i), i == FR_LIMBS - 1 ? 63 : 64);
    }
}

static size size_of_sha256(const cuzk_shape *s, const cuzk_template *t)
{
    if (t->plan_bytes != CUZK_SHA256_PLAN_ENTRIES * sizeof(cuzk_word_plan)) {
        return (size){UINT32_MAX, 0, 0};
    }
    const cuzk_word_plan *plan = (const cuzk_word_plan *)(const void *)(s->plans + t->plan);
    size z = {96, 0, 0};
    for (unsigned i = 0; i < CUZK_SHA256_PLAN_ENTRIES; i++) {
        z.aux += (uint32_t)__builtin_popcountll(plan[i].mask);
    }
    return z;
}

static void expand_sha256(cuzk_packed_writer *w, const cuzk_shape *s, const cuzk_template *t,
                          const uint8_t *record)
{
    cuzk_expand_sha256(w, s->plans + t->plan, record);
}

enum { MAX_ARITY = 11 };

static size size_of_poseidon(const cuzk_shape *s, const cuzk_template *t)
{
    (void)s;
    const poseidon_params *p = poseidon_params_of(t->param & 0xff);
    if (!p || t->param >> 8 > CUZK_TAG_RANDOMNESS) {
        return (size){UINT32_MAX, 0, 0};
    }
    uint32_t n = poseidon_aux_count(p);
    return (size){p->arity * (uint32_t)sizeof(fr), n, n};
}

static void put_hash(cuzk_packed_writer *w, unsigned arity, const fr *tag, const fr *in)
{
    const poseidon_params *p = poseidon_params_of(arity);
    unsigned n = poseidon_aux_count(p);
    poseidon_trace(w->full, p, tag, in);
    w->full += n;
    w->at += n;
}

static void expand_poseidon(cuzk_packed_writer *w, const cuzk_shape *s, const cuzk_template *t,
                            const uint8_t *record)
{
    (void)s;
    unsigned arity = t->param & 0xff;
    fr in[MAX_ARITY];
    memcpy(in, record, arity * sizeof *in);
    fr tag = cuzk_poseidon_tag_value((cuzk_poseidon_tag)(t->param >> 8), arity);
    put_hash(w, arity, &tag, in);
}

static bool tree_arity(uint32_t arity) { return arity == 2 || arity == 4 || arity == 8; }

static size size_of_insert(const cuzk_shape *s, const cuzk_template *t)
{
    (void)s;
    if (!tree_arity(t->param)) {
        return (size){UINT32_MAX, 0, 0};
    }
    uint32_t picks = t->param == 2 ? 2 : t->param == 4 ? 8 : 20;
    uint32_t bits = t->param == 8 ? 2 : 0;
    return (size){8 + t->param * (uint32_t)sizeof(fr), picks + bits, picks};
}

static void put_insertion(cuzk_packed_writer *w, unsigned arity, unsigned index, const fr *in)
{
    fr trace[22];
    unsigned n = cuzk_insertion_trace(trace, arity, index, in, in + 1);
    unsigned bits = arity == 8 ? 2 : 0;
    for (unsigned i = 0; i < n; i++) {
        if (i < bits) {
            cuzk_packed_put_bits(w, fr_eq(&trace[i], &fr_one), 1);
        } else {
            cuzk_packed_put_full(w, &trace[i]);
        }
    }
}

static unsigned read_level(fr *in, const uint8_t *record, unsigned arity)
{
    memcpy(in, record + 8, arity * sizeof *in);
    return (unsigned)cuzk_load_u64le(record) & (arity - 1);
}

static void expand_insert(cuzk_packed_writer *w, const cuzk_shape *s, const cuzk_template *t,
                          const uint8_t *record)
{
    (void)s;
    fr in[8];
    unsigned index = read_level(in, record, t->param);
    put_insertion(w, t->param, index, in);
}

static size size_of_step(const cuzk_shape *s, const cuzk_template *t)
{
    cuzk_template insert = *t;
    insert.param = t->param & ~(uint32_t)CUZK_MERKLE_GIVEN;
    size z = size_of_insert(s, &insert);
    if (z.record == UINT32_MAX) {
        return z;
    }
    uint32_t hash = poseidon_aux_count(poseidon_params_of(insert.param));
    uint32_t own = t->param & CUZK_MERKLE_GIVEN ? 0 : insert.param - 1;
    z.aux += hash + own + (own ? cuzk_lg_arity(insert.param) : 0);
    z.full += hash + own;
    return z;
}

static void expand_step(cuzk_packed_writer *w, const cuzk_shape *s, const cuzk_template *t,
                        const uint8_t *record)
{
    (void)s;
    unsigned arity = t->param & ~(unsigned)CUZK_MERKLE_GIVEN;
    fr in[8], children[8];
    unsigned index = read_level(in, record, arity);
    if (!(t->param & CUZK_MERKLE_GIVEN)) {
        cuzk_packed_put_bits(w, index, cuzk_lg_arity(arity));
        put_elements(w, record + 8 + sizeof(fr), arity - 1);
    }
    put_insertion(w, arity, index, in);
    cuzk_insertion_values(children, arity, index, in, in + 1);
    fr tag = poseidon_tag_tree(arity);
    put_hash(w, arity, &tag, children);
}

typedef struct kind {
    const char *gadget;
    size_fn *size;
    expand_fn *expand;
} kind;

static const kind kinds[] = {
    [CUZK_EXPAND_ROW] = {"row", size_of_row, expand_row},
    [CUZK_EXPAND_FULL] = {"full", size_of_elements, expand_elements},
    [CUZK_EXPAND_BITS] = {"bits", size_of_bits, expand_bits},
    [CUZK_EXPAND_TO_BITS] = {"to_bits", size_of_to_bits, expand_to_bits},
    [CUZK_EXPAND_PACK] = {"pack", size_of_pack, expand_pack},
    [CUZK_EXPAND_PICK] = {"pick", size_of_elements, expand_elements},
    [CUZK_EXPAND_SHA256] = {"sha256", size_of_sha256, expand_sha256},
    [CUZK_EXPAND_POSEIDON] = {"poseidon", size_of_poseidon, expand_poseidon},
    [CUZK_EXPAND_INSERT] = {"insert", size_of_insert, expand_insert},
    [CUZK_EXPAND_STEP] = {"step", size_of_step, expand_step},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

cuzk_code cuzk_expand_kind_of(cuzk_expand_kind *ret, const cuzk_shape *s, uint32_t k, cuzk_err *err)
{
    const cuzk_template *t = &s->templates[k];
    unsigned i = 0;
    while (i < KINDS && strcmp(kinds[i].gadget, t->gadget) != 0) {
        i++;
    }
    size z = i < KINDS ? kinds[i].size(s, t) : (size){UINT32_MAX, 0, 0};
    if (z.record != t->record_bytes || z.aux != t->n_aux || z.full != t->n_full) {
        return CUZK_FAIL(err, CUZK_E_UNSUPPORTED, "%s: templates[%u]: gadget %s cannot be expanded",
                         s->name, k, t->gadget);
    }
    *ret = (cuzk_expand_kind)i;
    return CUZK_OK;
}

typedef struct job {
    cuzk_packed p;
    const cuzk_shape *s;
    const cuzk_ports *ports;
    cuzk_expand_kind *kinds; /* of each template */
} job;

enum { CHUNK = 32 };

static void expand_chunk(void *ctx, size_t index, unsigned worker)
{
    (void)worker;
    job *j = ctx;
    uint32_t begin = (uint32_t)index * CHUNK;
    uint32_t end = j->s->n_instances - begin < CHUNK ? j->s->n_instances : begin + CHUNK;
    for (uint32_t i = begin; i < end; i++) {
        const cuzk_instance *inst = &j->s->instances[i];
        cuzk_packed_writer w = cuzk_packed_writer_at(&j->p, inst);
        kinds[j->kinds[inst->template_id]].expand(&w, j->s, cuzk_shape_template(j->s, inst),
                                                  j->ports->records + inst->record);
    }
}

static cuzk_code find_kinds(job *j, cuzk_err *err)
{
    const cuzk_shape *s = j->s;
    j->kinds = calloc(s->n_templates + (size_t)1, sizeof *j->kinds);
    if (!j->kinds) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory to expand %s", s->name);
    }
    for (uint32_t k = 0; k < s->n_templates; k++) {
        CUZK_TRY(cuzk_expand_kind_of(&j->kinds[k], s, k, err));
    }
    return CUZK_OK;
}

cuzk_code cuzk_expand(cuzk_packed *ret, const cuzk_shape *s, const cuzk_ports *ports,
                      cuzk_pool *pool, cuzk_err *err)
{
    job j = {.s = s, .ports = ports};
    cuzk_code code = find_kinds(&j, err);
    if (code == CUZK_OK) {
        code = cuzk_packed_new(&j.p, s, ports->inputs, err);
    }
    if (code == CUZK_OK) {
        cuzk_pool_run(pool, (s->n_instances + (size_t)CHUNK - 1) / CHUNK, expand_chunk, &j);
        *ret = j.p;
    }
    free(j.kinds);
    return code;
}
