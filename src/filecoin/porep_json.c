#include "base/base64.h"
#include "base/json_pull.h"
#include "filecoin/porep_bincode.h"
#include "filecoin/porep_parts.h"

#include <stdio.h>
#include <stdlib.h>

/* What is read of one text: the proof itself, or the wrapper around it. */
typedef struct reader {
    cuzk_json *j;
    cuzk_porep *p;
    const char *name; /* of the file */
    cuzk_tree data, octal;
    cuzk_seal_proof proof; /* as registered_proof says */
    cuzk_node comm_d;      /* as comm_d says */
    uint64_t sector_size;  /* as the wrapper says */
    bool wrapped;          /* inside a wrapper: another one is not allowed */
} reader;

/*
 * Goes to the next member whose key is one of names (which ends with NULL) and sets *ret_which to
 * its place, -1 at the object's end. Other members are dropped. Fails at a key that was there
 * before.
 */
static cuzk_code next_member(cuzk_json *j, const char *const *names, unsigned *seen, int *ret_which,
                             cuzk_err *err)
{
    for (;;) {
        bool more;
        CUZK_TRY(cuzk_json_next_key(j, &more, err));
        *ret_which = -1;
        if (!more) {
            return CUZK_OK;
        }
        for (int i = 0; names[i]; i++) {
            if (cuzk_json_key_is(j, names[i])) {
                if (*seen & 1u << i) {
                    return cuzk_json_fail(j, err, "expected each key once, found it twice");
                }
                *seen |= 1u << i;
                *ret_which = i;
                return CUZK_OK;
            }
        }
        CUZK_TRY(cuzk_json_skip(j, err));
    }
}

/* Fails unless all of names[first .. last] were seen in the object just left. */
static cuzk_code need_members(cuzk_json *j, const char *const *names, unsigned seen, int first,
                              int last, cuzk_err *err)
{
    for (int i = first; i <= last; i++) {
        if (!(seen & 1u << i)) {
            return cuzk_json_fail(j, err, "expected a member \"%s\", found none", names[i]);
        }
    }
    return CUZK_OK;
}

/* Goes to element i of an array of exactly n, or past its end when i is n. */
static cuzk_code element(cuzk_json *j, size_t i, size_t n, cuzk_err *err)
{
    bool more;
    CUZK_TRY(cuzk_json_next_element(j, &more, err));
    if (more != (i < n)) {
        return cuzk_json_fail(j, err, "expected %zu elements, found %s", n,
                              more ? "more" : "fewer");
    }
    return CUZK_OK;
}

static cuzk_code read_node(cuzk_json *j, cuzk_node *ret, cuzk_err *err)
{
    CUZK_TRY(cuzk_json_bytes(j, ret->b, sizeof ret->b, err));
    if (!cuzk_node_is_canonical(ret)) {
        return cuzk_json_fail(j, err, "expected a field element, found a number not below r");
    }
    return CUZK_OK;
}

static cuzk_code read_nodes(cuzk_json *j, cuzk_node *ret, size_t n, cuzk_err *err)
{
    CUZK_TRY(cuzk_json_enter_array(j, err));
    for (size_t i = 0; i < n; i++) {
        CUZK_TRY(element(j, i, n, err));
        CUZK_TRY(read_node(j, &ret[i], err));
    }
    return element(j, n, n, err);
}

static cuzk_code read_u32(cuzk_json *j, uint32_t *ret, cuzk_err *err)
{
    uint64_t v;
    CUZK_TRY(cuzk_json_u64(j, &v, err));
    if (v > UINT32_MAX) {
        return cuzk_json_fail(j, err, "expected a 32-bit integer, found %llu",
                              (unsigned long long)v);
    }
    *ret = (uint32_t)v;
    return CUZK_OK;
}

static cuzk_code read_level(cuzk_json *j, size_t siblings, cuzk_node *ret, uint64_t *ret_child,
                            cuzk_err *err)
{
    static const char *const names[] = {"hashes", "index", NULL};
    unsigned seen = 0;
    int which;
    CUZK_TRY(cuzk_json_enter_object(j, err));
    for (;;) {
        CUZK_TRY(next_member(j, names, &seen, &which, err));
        if (which < 0) {
            return need_members(j, names, seen, 0, 1, err);
        }
        if (which == 0) {
            CUZK_TRY(read_nodes(j, ret, siblings, err));
        } else {
            CUZK_TRY(cuzk_json_u64(j, ret_child, err));
            if (*ret_child > siblings) {
                return cuzk_json_fail(j, err, "expected at most %zu, found %llu", siblings,
                                      (unsigned long long)*ret_child);
            }
        }
    }
}

/* Levels [from, to) of a path, from an object {"path": [levels]}. */
static cuzk_code read_levels(cuzk_json *j, const cuzk_tree *tree, unsigned from, unsigned to,
                             cuzk_path *ret, cuzk_err *err)
{
    static const char *const names[] = {"path", NULL};
    cuzk_node *siblings = ret->siblings;
    unsigned shift = 0, seen = 0;
    int which;
    for (unsigned l = 0; l < from; l++) {
        siblings += (1u << tree->lg_arity[l]) - 1;
        shift += tree->lg_arity[l];
    }
    CUZK_TRY(cuzk_json_enter_object(j, err));
    for (;;) {
        CUZK_TRY(next_member(j, names, &seen, &which, err));
        if (which < 0) {
            return need_members(j, names, seen, 0, 0, err);
        }
        CUZK_TRY(cuzk_json_enter_array(j, err));
        for (unsigned l = from; l < to; l++) {
            size_t n = ((size_t)1 << tree->lg_arity[l]) - 1;
            uint64_t child;
            CUZK_TRY(element(j, l - from, to - from, err));
            CUZK_TRY(read_level(j, n, siblings, &child, err));
            ret->index |= child << shift;
            siblings += n;
            shift += tree->lg_arity[l];
        }
        CUZK_TRY(element(j, to - from, to - from, err));
    }
}

static cuzk_code read_variant(cuzk_json *j, const cuzk_tree *tree, cuzk_path *ret,
                              cuzk_node *ret_root, cuzk_err *err)
{
    static const char *const single[] = {"root", "leaf", "path", NULL};
    static const char *const top[] = {"root", "leaf", "base_proof", "sub_proof", "top_proof", NULL};
    const char *const *names = tree->variant == 0 ? single : top;
    const unsigned base = tree->levels - (unsigned)tree->variant;
    unsigned seen = 0;
    int which;
    ret->index = 0;
    CUZK_TRY(cuzk_json_enter_object(j, err));
    for (;;) {
        CUZK_TRY(next_member(j, names, &seen, &which, err));
        if (which < 0) {
            return need_members(j, names, seen, 0, 2 + tree->variant, err);
        }
        if (which < 2) {
            CUZK_TRY(read_node(j, which == 0 ? ret_root : &ret->leaf, err));
        } else if (which == 2) {
            CUZK_TRY(read_levels(j, tree, 0, base, ret, err));
        } else if (which <= 2 + tree->variant) {
            unsigned l = base + (unsigned)which - 3;
            CUZK_TRY(read_levels(j, tree, l, l + 1, ret, err));
        } else {
            CUZK_TRY(cuzk_json_skip(j, err)); /* a key that this variant does not know */
        }
    }
}

/* {"data": {VARIANT: {...}}} */
static cuzk_code read_merkle(cuzk_json *j, const cuzk_tree *tree, cuzk_path *ret,
                             cuzk_node *ret_root, cuzk_err *err)
{
    static const char *const names[] = {"data", NULL};
    static const char *const variants[] = {"Single", "Sub", "Top"};
    unsigned seen = 0;
    int which;
    bool more;
    CUZK_TRY(cuzk_json_enter_object(j, err));
    for (;;) {
        CUZK_TRY(next_member(j, names, &seen, &which, err));
        if (which < 0) {
            return need_members(j, names, seen, 0, 0, err);
        }
        CUZK_TRY(cuzk_json_enter_object(j, err));
        CUZK_TRY(cuzk_json_next_key(j, &more, err));
        if (!more || !cuzk_json_key_is(j, variants[tree->variant])) {
            return cuzk_json_fail(j, err, "expected \"%s\", found %s", variants[tree->variant],
                                  more ? "another variant" : "none");
        }
        CUZK_TRY(read_variant(j, tree, ret, ret_root, err));
        CUZK_TRY(cuzk_json_next_key(j, &more, err));
        if (more) {
            return cuzk_json_fail(j, err, "expected one variant, found two");
        }
    }
}

static cuzk_code read_column_labels(cuzk_json *j, unsigned layers, cuzk_column *ret,
                                    uint32_t *ret_index, cuzk_err *err)
{
    static const char *const names[] = {"index", "rows", NULL};
    unsigned seen = 0;
    int which;
    CUZK_TRY(cuzk_json_enter_object(j, err));
    for (;;) {
        CUZK_TRY(next_member(j, names, &seen, &which, err));
        if (which < 0) {
            return need_members(j, names, seen, 0, 1, err);
        }
        if (which == 0) {
            CUZK_TRY(read_u32(j, ret_index, err));
        } else {
            CUZK_TRY(read_nodes(j, ret->rows, layers, err));
        }
    }
}

static cuzk_code read_column(reader *r, cuzk_column *ret, uint32_t *ret_index, cuzk_node *ret_root,
                             cuzk_err *err)
{
    static const char *const names[] = {"column", "inclusion_proof", NULL};
    unsigned seen = 0;
    int which;
    CUZK_TRY(cuzk_json_enter_object(r->j, err));
    for (;;) {
        CUZK_TRY(next_member(r->j, names, &seen, &which, err));
        if (which < 0) {
            return need_members(r->j, names, seen, 0, 1, err);
        }
        if (which == 0) {
            CUZK_TRY(read_column_labels(r->j, r->p->proof.sector->layers, ret, ret_index, err));
        } else {
            CUZK_TRY(read_merkle(r->j, &r->octal, &ret->path, ret_root, err));
        }
    }
}

static cuzk_code read_columns(reader *r, cuzk_porep_challenge *c, cuzk_porep_rest *rest,
                              cuzk_err *err)
{
    static const char *const names[] = {"c_x", "drg_parents", "exp_parents", NULL};
    static const unsigned first[] = {CUZK_COLUMN_OWN, 0, CUZK_COLUMN_EXP};
    static const unsigned count[] = {1, CUZK_DRG_PARENTS, CUZK_EXP_PARENTS};
    unsigned seen = 0;
    int which;
    CUZK_TRY(cuzk_json_enter_object(r->j, err));
    for (;;) {
        CUZK_TRY(next_member(r->j, names, &seen, &which, err));
        if (which < 0) {
            return need_members(r->j, names, seen, 0, 2, err);
        }
        if (which > 0) {
            CUZK_TRY(cuzk_json_enter_array(r->j, err));
        }
        for (unsigned i = 0; i < count[which]; i++) {
            unsigned k = first[which] + i;
            if (which > 0) {
                CUZK_TRY(element(r->j, i, count[which], err));
            }
            CUZK_TRY(read_column(r, &c->columns[k], &rest->column_index[k], &rest->column_roots[k],
                                 err));
        }
        if (which > 0) {
            CUZK_TRY(element(r->j, count[which], count[which], err));
        }
    }
}

static cuzk_code read_parents(cuzk_json *j, cuzk_parents_proof *ret, cuzk_err *err)
{
    static const char *const names[] = {"parents", "layer_index", "node", NULL};
    unsigned seen = 0;
    int which;
    CUZK_TRY(cuzk_json_enter_object(j, err));
    for (;;) {
        CUZK_TRY(next_member(j, names, &seen, &which, err));
        switch (which) {
        case 0:
            CUZK_TRY(read_nodes(j, ret->parents, CUZK_LABEL_PARENTS, err));
            break;
        case 1:
            CUZK_TRY(read_u32(j, &ret->layer_index, err));
            break;
        case 2:
            CUZK_TRY(cuzk_json_u64(j, &ret->node, err));
            break;
        default:
            return need_members(j, names, seen, 0, 2, err);
        }
    }
}

static cuzk_code read_labels(reader *r, cuzk_porep_rest *rest, cuzk_err *err)
{
    const unsigned layers = r->p->proof.sector->layers;
    CUZK_TRY(cuzk_json_enter_array(r->j, err));
    for (unsigned l = 0; l < layers; l++) {
        CUZK_TRY(element(r->j, l, layers, err));
        CUZK_TRY(read_parents(r->j, &rest->labels[l], err));
    }
    return element(r->j, layers, layers, err);
}

static cuzk_code read_challenge(reader *r, cuzk_porep_challenge *c, cuzk_porep_rest *rest,
                                cuzk_err *err)
{
    static const char *const names[] = {"comm_d_proofs",         "comm_r_last_proof",
                                        "replica_column_proofs", "labeling_proofs",
                                        "encoding_proof",        NULL};
    unsigned seen = 0;
    int which;
    CUZK_TRY(cuzk_json_enter_object(r->j, err));
    for (;;) {
        CUZK_TRY(next_member(r->j, names, &seen, &which, err));
        switch (which) {
        case 0:
            CUZK_TRY(read_merkle(r->j, &r->data, &c->data, &rest->data_root, err));
            break;
        case 1:
            CUZK_TRY(read_merkle(r->j, &r->octal, &c->replica, &rest->replica_root, err));
            break;
        case 2:
            CUZK_TRY(read_columns(r, c, rest, err));
            break;
        case 3:
            CUZK_TRY(read_labels(r, rest, err));
            break;
        case 4:
            CUZK_TRY(read_parents(r->j, &rest->encoding, err));
            break;
        default:
            return need_members(r->j, names, seen, 0, 4, err);
        }
    }
}

static cuzk_code read_partition(reader *r, cuzk_err *err)
{
    const unsigned k = r->p->n_partitions, n = r->p->proof.sector->challenges;
    char context[48];
    CUZK_TRY(cuzk_porep_add_partition(r->p, err));
    CUZK_TRY(cuzk_json_enter_array(r->j, err));
    for (unsigned i = 0; i < n; i++) {
        cuzk_porep_rest rest;
        CUZK_TRY(element(r->j, i, n, err));
        snprintf(context, sizeof context, "partition %u challenge %u", k, i);
        r->j->context = context;
        cuzk_code code = read_challenge(r, &r->p->partitions[k].challenges[i], &rest, err);
        const char *why = code == CUZK_OK ? cuzk_porep_disagreement(r->p, k, i, &rest) : NULL;
        if (why) {
            code = cuzk_json_fail(r->j, err, "%s", why);
        }
        r->j->context = NULL;
        CUZK_TRY(code);
    }
    return element(r->j, n, n, err);
}

/* {"StackedDrgSIZEV1": [partitions]}: the key says the size, of whatever version. */
static cuzk_code read_vanilla(reader *r, cuzk_err *err)
{
    enum { MAX_PARTITIONS = 126 };
    bool more;
    CUZK_TRY(cuzk_json_enter_object(r->j, err));
    CUZK_TRY(cuzk_json_next_key(r->j, &more, err));
    const cuzk_json_frame *f = &r->j->frames[r->j->depth - 1];
    char key[CUZK_JSON_KEY_MAX + 1] = "";
    if (more && r->j->key_len <= CUZK_JSON_KEY_MAX) {
        memcpy(key, f->key, f->key_shown);
    }
    if (!more || !cuzk_seal_proof_named(&r->p->proof, key) || r->p->proof.api != CUZK_API_V1_0) {
        return cuzk_json_fail(r->j, err, "expected a key such as \"StackedDrg32GiBV1\", found %s",
                              more ? "another" : "none");
    }
    r->data = cuzk_sector_data_tree(r->p->proof.sector);
    r->octal = cuzk_sector_octal_tree(r->p->proof.sector);
    CUZK_TRY(cuzk_json_enter_array(r->j, err));
    for (;;) {
        CUZK_TRY(cuzk_json_next_element(r->j, &more, err));
        if (!more) {
            break;
        }
        if (r->p->n_partitions == MAX_PARTITIONS) {
            return cuzk_json_fail(r->j, err, "expected at most %d partitions", MAX_PARTITIONS);
        }
        CUZK_TRY(read_partition(r, err));
    }
    CUZK_TRY(cuzk_json_next_key(r->j, &more, err));
    if (more) {
        return cuzk_json_fail(r->j, err, "expected one kind of proofs, found two");
    }
    return CUZK_OK;
}

static cuzk_code read_registered(reader *r, cuzk_err *err)
{
    char text[CUZK_SEAL_NAME_MAX];
    size_t n;
    CUZK_TRY(cuzk_json_string(r->j, text, sizeof text, &n, err));
    if (strlen(text) != n || !cuzk_seal_proof_named(&r->proof, text)) {
        return cuzk_json_fail(r->j, err, "expected a registered seal proof, found \"%s\"", text);
    }
    return CUZK_OK;
}

static cuzk_code read_wrapped(reader *r, cuzk_err *err);

/* Reads the object that a text is: a proof or, unless in one already, a wrapper of one. */
static cuzk_code read_text(reader *r, cuzk_err *err)
{
    static const char *const names[] = {"registered_proof", "vanilla_proofs", "comm_r", "comm_d",
                                        "replica_id",       "seed",           "ticket", "Phase1Out",
                                        "SectorNum",        "SectorSize",     NULL};
    enum { TICKET = 6, PHASE1 = 7, SIZE = 9 };
    unsigned seen = 0;
    int which;
    cuzk_json *j = r->j;
    CUZK_TRY(cuzk_json_enter_object(j, err));
    for (;;) {
        CUZK_TRY(next_member(j, names, &seen, &which, err));
        if (which >= PHASE1 && r->wrapped) {
            return cuzk_json_fail(j, err, "expected no wrapper in a wrapper");
        }
        switch (which) {
        case 0:
            CUZK_TRY(read_registered(r, err));
            break;
        case 1:
            CUZK_TRY(read_vanilla(r, err));
            break;
        case 2:
            CUZK_TRY(read_node(j, &r->p->comm_r, err));
            break;
        case 3:
            CUZK_TRY(read_node(j, &r->comm_d, err));
            break;
        case 4:
            CUZK_TRY(read_node(j, &r->p->replica_id, err));
            break;
        case 5:
            CUZK_TRY(cuzk_json_bytes(j, r->p->seed, sizeof r->p->seed, err));
            break;
        case TICKET:
            CUZK_TRY(cuzk_json_bytes(j, r->p->ticket, sizeof r->p->ticket, err));
            break;
        case PHASE1:
            CUZK_TRY(read_wrapped(r, err));
            break;
        case 8:
            CUZK_TRY(cuzk_json_u64(j, &r->p->sector_number, err));
            r->p->has_sector_number = true;
            break;
        case SIZE:
            CUZK_TRY(cuzk_json_u64(j, &r->sector_size, err));
            break;
        default: {
            unsigned wrapper = seen >> PHASE1, inner = seen & ((1u << PHASE1) - 1);
            if (wrapper && inner) {
                return cuzk_json_fail(j, err, "expected a proof or a wrapper, found both");
            }
            return need_members(j, names, seen, wrapper ? PHASE1 : 0, wrapper ? SIZE : TICKET, err);
        }
        }
    }
}

/* Text that comes out of the base64 of a string of another text. */
typedef struct unwrapper {
    cuzk_json *outer;
    cuzk_base64 decoder;
    bool ended;
    uint8_t chars[1 << 16];
} unwrapper;

static cuzk_code unwrap(void *ctx, uint8_t *buf, size_t cap, size_t *ret_n, cuzk_err *err)
{
    unwrapper *u = ctx;
    size_t fit = (cap - 3) / 3 * 4, n = 0;
    fit = fit < sizeof u->chars ? fit : sizeof u->chars;
    while (n == 0 && !u->ended) {
        size_t k;
        CUZK_TRY(cuzk_json_string_part(u->outer, u->chars, fit, &k, &u->ended, err));
        if (!cuzk_base64_decode(&u->decoder, buf, &n, u->chars, k)) {
            return cuzk_json_fail(u->outer, err,
                                  "expected base64, found something else at its "
                                  "character %llu",
                                  (unsigned long long)u->decoder.total);
        }
    }
    if (u->ended && !cuzk_base64_done(&u->decoder)) {
        return cuzk_json_fail(u->outer, err,
                              "expected base64, found %llu characters: no multiple "
                              "of 4",
                              (unsigned long long)u->decoder.total);
    }
    *ret_n = n;
    return CUZK_OK;
}

static cuzk_code read_wrapped(reader *r, cuzk_err *err)
{
    enum { WINDOW = 1 << 18 };
    char name[256];
    CUZK_TRY(cuzk_json_string_begin(r->j, err));
    unwrapper *u = calloc(1, sizeof *u);
    cuzk_json *inner = malloc(sizeof *inner);
    uint8_t *window = malloc(WINDOW);
    cuzk_code code = CUZK_OK;
    if (!u || !inner || !window) {
        code = CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory to decode Phase1Out", r->name);
    } else {
        reader sub = *r;
        snprintf(name, sizeof name, "%s: Phase1Out", r->name);
        u->outer = r->j;
        cuzk_json_init_stream(inner, window, WINDOW, unwrap, u, name);
        sub.j = inner;
        sub.wrapped = true;
        code = read_text(&sub, err);
        if (code == CUZK_OK) {
            code = cuzk_json_end(inner, err);
        }
        r->proof = sub.proof;
        r->comm_d = sub.comm_d;
    }
    free(window);
    free(inner);
    free(u);
    return code;
}

cuzk_code cuzk_porep_read_json(cuzk_porep *ret, cuzk_span bytes, const char *name,
                               const cuzk_seal_proof *want, cuzk_err *err)
{
    cuzk_json j;
    reader r = {.j = &j, .p = ret, .name = name};
    cuzk_json_init(&j, bytes, name);
    CUZK_TRY(read_text(&r, err));
    CUZK_TRY(cuzk_json_end(&j, err));
    if (ret->has_sector_number && r.sector_size != r.proof.sector->bytes) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: SectorSize: expected %llu, found %llu", name,
                         (unsigned long long)r.proof.sector->bytes,
                         (unsigned long long)r.sector_size);
    }
    if (want && want->number != r.proof.number) {
        char expected[CUZK_SEAL_NAME_MAX], found[CUZK_SEAL_NAME_MAX];
        cuzk_seal_proof_name(expected, want);
        cuzk_seal_proof_name(found, &r.proof);
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: registered_proof: expected %s, found %s", name,
                         expected, found);
    }
    return cuzk_porep_finish(ret, &r.proof, &r.comm_d, name, err);
}
