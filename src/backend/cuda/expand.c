#include "backend/cuda/expand.h"

#include <stdlib.h>

#include "backend/cuda/dfr_host.h"
#include "backend/cuda/each_expand.h"
#include "base/sha256.h"
#include "gadget/expand.h"
#include "gadget/insertion.h"
#include "gadget/merkle.h"
#include "gadget/poseidon.h"
#include "gadget/uint32.h"

_Static_assert(sizeof(cuzk_word_plan) == 2 * sizeof(uint64_t), "a plan is pairs of words");

/* Instances that one launch expands: those of templates of one kind and, but for SHA-256, of one
 * parameter or number of variables. */
typedef struct group {
    cuzk_expand_kind kind; /* FULL for PICK and PACK, BITS for TO_BITS */
    uint32_t param; /* FULL, BITS: how many; POSEIDON, INSERT, STEP: the template's; else 0 */
    uint32_t first, count; /* in the list */
} group;

enum { NETWORKS = 3, ARITIES = 4 };
static const uint8_t arities[ARITIES] = {2, 4, 8, 11}; /* the first three have networks */
static const uint8_t network_picks[NETWORKS] = {2, 8, 20};

/* Offsets of the parts of the block. */
typedef struct layout {
    uint64_t constants[ARITIES]; /* of arities that occur */
    uint64_t picks[NETWORKS];
    uint64_t k, list, bytes;
} layout;

struct cuzk_cuda_expand {
    const dshape *d;
    cuzk_cuda_memory *memory;
    cuzk_cuda_block block;
    layout at;
    uint32_t n_groups;
    group *groups;
};

static unsigned arity_number(unsigned arity)
{
    return arity == 2 ? 0 : arity == 4 ? 1 : arity == 8 ? 2 : 3;
}

/* The arity of hashes in a template of this kind, 0 when there are none. */
static unsigned hash_arity(cuzk_expand_kind kind, uint32_t param)
{
    return kind == CUZK_EXPAND_POSEIDON ? param & 0xff
           : kind == CUZK_EXPAND_STEP   ? param & ~(unsigned)CUZK_MERKLE_GIVEN
                                        : 0;
}

static layout layout_of(const bool used[ARITIES], uint64_t listed)
{
    layout at = {.bytes = 0};
    for (int i = 0; i < ARITIES; i++) {
        at.constants[i] = at.bytes;
        at.bytes += used[i] ? (uint64_t)expand_constants(arities[i]) * sizeof(dfr) : 0;
    }
    at.k = at.bytes;
    at.list = at.k + 64 * sizeof(uint32_t);
    at.bytes = at.list + listed * sizeof(uint32_t);
    for (int i = 0; i < NETWORKS; i++) {
        at.picks[i] = at.bytes;
        at.bytes += (uint64_t)arities[i] * network_picks[i];
    }
    return at;
}

uint64_t cuzk_cuda_expand_cost(const cuzk_shape *s)
{
    bool used[ARITIES] = {false};
    uint64_t listed = 0;
    for (uint32_t k = 0; k < s->n_templates; k++) {
        cuzk_expand_kind kind;
        if (cuzk_expand_kind_of(&kind, s, k, NULL) == CUZK_OK) {
            unsigned arity = hash_arity(kind, s->templates[k].param);
            used[arity_number(arity)] |= arity != 0;
        }
    }
    for (uint32_t i = 0; i < s->n_instances; i++) {
        listed += cuzk_shape_template(s, &s->instances[i])->n_aux != 0;
    }
    return cuzk_cuda_rounded(layout_of(used, listed).bytes);
}

/* ---- what goes to the device ---- */

static dfr *put_fr(dfr *to, const fr *v, size_t n)
{
    memcpy(to, v, n * sizeof *v);
    return to + n;
}

static dfr *put_transposed(dfr *to, const fr (*m)[POSEIDON_MAX_WIDTH], unsigned t)
{
    for (unsigned k = 0; k < t; k++) {
        for (unsigned i = 0; i < t; i++) {
            to = put_fr(to, &m[i][k], 1);
        }
    }
    return to;
}

/* The constants of an arity as cuzk_cuda_hash_job wants them. */
static cuzk_code put_constants(dfr *to, unsigned arity, cuzk_err *err)
{
    const poseidon_params *p = poseidon_params_of(arity);
    unsigned t = arity + 1;
    if (p->partial != (unsigned)expand_partial_rounds((int)arity)) {
        return CUZK_FAIL(err, CUZK_E_INTERNAL, "Poseidon of arity %u: %u partial rounds", arity,
                         p->partial);
    }
    to = put_fr(to, p->compressed, POSEIDON_FULL_ROUNDS * t + p->partial);
    for (unsigned i = 0; i < t; i++) {
        to = put_fr(to, &fr_zero, 1);
    }
    to = put_transposed(to, p->mds, t);
    to = put_transposed(to, p->pre_sparse, t);
    for (unsigned r = 0; r < p->partial; r++) {
        to = put_fr(to, p->sparse[r].column, t);
        to = put_fr(to, p->sparse[r].row, t - 1);
    }
    return CUZK_OK;
}

/* What an insertion selects, found by one of numbers that say where they were. */
static void put_picks(uint8_t *to, unsigned arity, unsigned n)
{
    fr in[8], trace[22];
    for (unsigned i = 0; i < arity; i++) {
        in[i] = fr_from_u64(i);
    }
    for (unsigned index = 0; index < arity; index++) {
        unsigned made = cuzk_insertion_trace(trace, arity, index, in, in + 1);
        for (unsigned k = made - n; k < made; k++) {
            uint8_t from = 0;
            while (!fr_eq(&trace[k], &in[from])) {
                from++;
            }
            *to++ = from;
        }
    }
}

static cuzk_code upload(cuzk_cuda_expand *e, const bool used[ARITIES], const uint32_t *list,
                        uint64_t listed, cuzk_cuda_stream stream, cuzk_err *err)
{
    const layout *at = &e->at;
    uint8_t *image = malloc(at->bytes);
    cuzk_code code = CUZK_OK;
    if (!image) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory to prepare an expansion");
    }
    for (int i = 0; i < ARITIES && code == CUZK_OK; i++) {
        if (used[i]) {
            code = put_constants((dfr *)(void *)(image + at->constants[i]), arities[i], err);
        }
    }
    for (int i = 0; i < NETWORKS; i++) {
        put_picks(image + at->picks[i], arities[i], network_picks[i]);
    }
    memcpy(image + at->k, cuzk_sha256_k, 64 * sizeof *cuzk_sha256_k);
    memcpy(image + at->list, list, listed * sizeof *list);
    if (code == CUZK_OK) {
        code = cuzk_cuda_take(e->memory, &e->block, at->bytes, "an expansion", err);
    }
    if (code == CUZK_OK) {
        code = cuzk_cuda_upload(e->block.p, image, at->bytes, stream, err);
    }
    if (code == CUZK_OK) {
        code = cuzk_cuda_sync(stream, err);
    }
    free(image);
    return code;
}

/* ---- sorting ---- */

static group group_of(cuzk_expand_kind kind, const cuzk_template *t)
{
    switch (kind) {
    case CUZK_EXPAND_FULL:
    case CUZK_EXPAND_PACK:
    case CUZK_EXPAND_PICK:
        return (group){CUZK_EXPAND_FULL, t->n_full, 0, 0};
    case CUZK_EXPAND_BITS:
    case CUZK_EXPAND_TO_BITS:
        return (group){CUZK_EXPAND_BITS, t->n_aux, 0, 0};
    case CUZK_EXPAND_ROW:
    case CUZK_EXPAND_SHA256:
        return (group){kind, 0, 0, 0};
    case CUZK_EXPAND_POSEIDON:
    case CUZK_EXPAND_INSERT:
    case CUZK_EXPAND_STEP:
        break;
    }
    return (group){kind, t->param, 0, 0};
}

/* The number of a group, which is added when it is not there yet. */
static uint32_t find_group(cuzk_cuda_expand *e, group g)
{
    uint32_t i = 0;
    while (i < e->n_groups && (e->groups[i].kind != g.kind || e->groups[i].param != g.param)) {
        i++;
    }
    if (i == e->n_groups) {
        e->groups[e->n_groups++] = g;
    }
    return i;
}

/* What sorting needs of each template. */
typedef struct sorted {
    uint32_t group, count;
    uint32_t next; /* where the next of its instances goes in the list */
} sorted;

/* Fills list with the instances that have variables, by group, in it by template; returns how many.
 */
static uint64_t sort(cuzk_cuda_expand *e, const cuzk_shape *s, sorted *t, uint32_t *list)
{
    uint32_t listed = 0;
    for (uint32_t i = 0; i < s->n_instances; i++) {
        t[s->instances[i].template_id].count +=
            cuzk_shape_template(s, &s->instances[i])->n_aux != 0;
    }
    for (uint32_t k = 0; k < s->n_templates; k++) {
        e->groups[t[k].group].count += t[k].count;
    }
    for (uint32_t g = 0; g < e->n_groups; g++) {
        e->groups[g].first = listed;
        listed += e->groups[g].count;
        e->groups[g].count = 0;
    }
    for (uint32_t k = 0; k < s->n_templates; k++) {
        group *g = &e->groups[t[k].group];
        t[k].next = g->first + g->count;
        g->count += t[k].count;
    }
    for (uint32_t i = 0; i < s->n_instances; i++) {
        if (cuzk_shape_template(s, &s->instances[i])->n_aux != 0) {
            list[t[s->instances[i].template_id].next++] = i;
        }
    }
    return listed;
}

static cuzk_code prepare(cuzk_cuda_expand *e, const cuzk_shape *s, sorted *t, uint32_t *list,
                         cuzk_cuda_stream stream, cuzk_err *err)
{
    bool used[ARITIES] = {false};
    for (uint32_t k = 0; k < s->n_templates; k++) {
        cuzk_expand_kind kind;
        CUZK_TRY(cuzk_expand_kind_of(&kind, s, k, err));
        unsigned arity = hash_arity(kind, s->templates[k].param);
        used[arity_number(arity)] |= arity != 0;
        t[k].group = find_group(e, group_of(kind, &s->templates[k]));
    }
    uint64_t listed = sort(e, s, t, list);
    e->at = layout_of(used, listed);
    return upload(e, used, list, listed, stream, err);
}

cuzk_code cuzk_cuda_expand_new(cuzk_cuda_expand **ret, const cuzk_shape *s, const dshape *d,
                               cuzk_cuda_memory *m, cuzk_cuda_stream stream, cuzk_err *err)
{
    cuzk_cuda_expand *e = calloc(1, sizeof *e);
    sorted *t = calloc(s->n_templates + (size_t)1, sizeof *t);
    uint32_t *list = malloc((s->n_instances + (size_t)1) * sizeof *list);
    cuzk_code code = CUZK_OK;
    if (e) {
        *e = (cuzk_cuda_expand){.d = d, .memory = m};
        e->groups = calloc(s->n_templates + (size_t)1, sizeof *e->groups);
    }
    if (!e || !t || !list || !e->groups) {
        code = CUZK_FAIL(err, CUZK_E_MEMORY, "no memory to prepare the expansion of %s", s->name);
    } else {
        code = prepare(e, s, t, list, stream, err);
    }
    free(t);
    free(list);
    if (code != CUZK_OK) {
        cuzk_cuda_expand_free(e);
        return code;
    }
    *ret = e;
    return CUZK_OK;
}

void cuzk_cuda_expand_free(cuzk_cuda_expand *e)
{
    if (e) {
        cuzk_cuda_give(e->memory, &e->block);
        free(e->groups);
        free(e);
    }
}

/* ---- launches ---- */

static const uint8_t *part(const cuzk_cuda_expand *e, uint64_t at)
{
    return (const uint8_t *)e->block.p + at;
}

static cuzk_code copy(const cuzk_cuda_expand *e, const group *g, const cuzk_cuda_expand_on *on,
                      cuzk_cuda_stream stream, cuzk_err *err)
{
    cuzk_cuda_copy_job j = {.on = *on};
    if (g->kind == CUZK_EXPAND_FULL) {
        j.n = g->param;
    } else {
        j.arity = g->param & ~(uint32_t)CUZK_MERKLE_GIVEN;
        j.own = g->kind == CUZK_EXPAND_STEP && j.arity == g->param ? j.arity - 1 : 0;
        j.n = j.own + network_picks[arity_number(j.arity)];
        j.picks = part(e, e->at.picks[arity_number(j.arity)]);
    }
    return cuzk_cuda_expand_copy(&j, (uint64_t)g->count * j.n, stream, err);
}

/* A domain tag after the first S-box, in which it is a constant. */
static dfr first_of_state(const poseidon_params *p, cuzk_poseidon_tag tag)
{
    fr l = cuzk_poseidon_tag_value(tag, p->arity);
    fr v;
    fr_add(&l, &l, &p->compressed[0]);
    fr_sqr(&v, &l);
    fr_sqr(&v, &v);
    fr_mul(&v, &v, &l);
    fr_add(&v, &v, &p->compressed[p->width]);
    return dfr_of_fr(&v);
}

static cuzk_code hash(const cuzk_cuda_expand *e, const group *g, const cuzk_cuda_expand_on *on,
                      cuzk_cuda_stream stream, cuzk_err *err)
{
    unsigned arity = hash_arity(g->kind, g->param);
    unsigned number = arity_number(arity);
    cuzk_cuda_hash_job j = {.on = *on};
    j.constants = (const dfr *)(const void *)part(e, e->at.constants[number]);
    cuzk_poseidon_tag tag = CUZK_TAG_TREE;
    if (g->kind == CUZK_EXPAND_POSEIDON) {
        tag = (cuzk_poseidon_tag)(g->param >> 8);
    } else {
        j.insert = 1;
        j.at = network_picks[number] + (g->param == arity ? arity - 1 : 0);
    }
    j.tag = first_of_state(poseidon_params_of(arity), tag);
    switch (arity) {
    case 2:
        return cuzk_cuda_expand_hash2(&j, g->count, stream, err);
    case 4:
        return cuzk_cuda_expand_hash4(&j, g->count, stream, err);
    case 8:
        return cuzk_cuda_expand_hash8(&j, g->count, stream, err);
    default:
        return cuzk_cuda_expand_hash11(&j, g->count, stream, err);
    }
}

static cuzk_code expand_group(const cuzk_cuda_expand *e, const group *g,
                              const cuzk_cuda_expand_on *on, cuzk_cuda_stream stream, cuzk_err *err)
{
    switch (g->kind) {
    case CUZK_EXPAND_ROW:
        return CUZK_OK;
    case CUZK_EXPAND_BITS:
    case CUZK_EXPAND_TO_BITS: {
        cuzk_cuda_words_job j = {*on, g->param};
        return cuzk_cuda_expand_words(&j, (uint64_t)g->count * ((g->param + 31) / 32), stream, err);
    }
    case CUZK_EXPAND_SHA256: {
        cuzk_cuda_sha256_job j = {*on, e->d->templates, e->d->plans,
                                  (const uint32_t *)(const void *)part(e, e->at.k)};
        return cuzk_cuda_expand_sha256(&j, g->count, stream, err);
    }
    case CUZK_EXPAND_POSEIDON:
        return hash(e, g, on, stream, err);
    case CUZK_EXPAND_STEP:
        CUZK_TRY(copy(e, g, on, stream, err));
        return hash(e, g, on, stream, err);
    case CUZK_EXPAND_FULL:
    case CUZK_EXPAND_PACK:
    case CUZK_EXPAND_PICK:
    case CUZK_EXPAND_INSERT:
        break;
    }
    return copy(e, g, on, stream, err);
}

cuzk_code cuzk_cuda_expand_run(const cuzk_cuda_expand *e, const uint8_t *records, uint32_t *bits,
                               dfr *full, cuzk_cuda_stream stream, cuzk_err *err)
{
    for (uint32_t i = 0; i < e->n_groups; i++) {
        const group *g = &e->groups[i];
        cuzk_cuda_expand_on on = {e->d->instances,
                                  (const uint32_t *)(const void *)part(e, e->at.list) + g->first,
                                  records, bits, full};
        CUZK_TRY(expand_group(e, g, &on, stream, err));
    }
    return CUZK_OK;
}
