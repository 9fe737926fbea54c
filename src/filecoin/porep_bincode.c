#include "filecoin/porep_bincode.h"

#include "filecoin/bincode.h"
#include "filecoin/porep_parts.h"

#include <stdio.h>

enum { MAX_PARTITIONS = 126 };

/* The count of partitions comes first; as text it would be eight characters. */
bool cuzk_porep_is_bincode(cuzk_span bytes)
{
    return bytes.n >= 8 && cuzk_load_u64le(bytes.p) <= MAX_PARTITIONS;
}

static cuzk_code read_column(cuzk_bincode *b, const cuzk_sector *s, const cuzk_tree *tree,
                             cuzk_column *ret, uint32_t *ret_index, cuzk_node *ret_root,
                             cuzk_err *err)
{
    CUZK_TRY(cuzk_bincode_u32(b, "column.index", ret_index, err));
    CUZK_TRY(cuzk_bincode_length(b, "column.rows", s->layers, err));
    CUZK_TRY(cuzk_bincode_nodes(b, "column.rows", ret->rows, s->layers, err));
    return cuzk_bincode_merkle(b, tree, &ret->path, ret_root, err);
}

static cuzk_code read_parents(cuzk_bincode *b, cuzk_parents_proof *ret, cuzk_err *err)
{
    CUZK_TRY(cuzk_bincode_length(b, "parents", CUZK_LABEL_PARENTS, err));
    CUZK_TRY(cuzk_bincode_nodes(b, "parents", ret->parents, CUZK_LABEL_PARENTS, err));
    CUZK_TRY(cuzk_bincode_u32(b, "layer_index", &ret->layer_index, err));
    return cuzk_bincode_u64(b, "node", &ret->node, err);
}

static cuzk_code read_columns(cuzk_bincode *b, const cuzk_sector *s, cuzk_porep_challenge *c,
                              cuzk_porep_rest *rest, cuzk_err *err)
{
    static const struct {
        const char *name;
        unsigned first, count;
        bool vector;
    } groups[] = {{"c_x", CUZK_COLUMN_OWN, 1, false},
                  {"drg_parents", 0, CUZK_DRG_PARENTS, true},
                  {"exp_parents", CUZK_COLUMN_EXP, CUZK_EXP_PARENTS, true}};
    const cuzk_tree octal = cuzk_sector_octal_tree(s);
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        b->section = groups[g].name;
        b->place = -1;
        if (groups[g].vector) {
            CUZK_TRY(cuzk_bincode_length(b, "length", groups[g].count, err));
        }
        for (unsigned i = 0; i < groups[g].count; i++) {
            unsigned k = groups[g].first + i;
            b->place = groups[g].vector ? (int)i : -1;
            CUZK_TRY(read_column(b, s, &octal, &c->columns[k], &rest->column_index[k],
                                 &rest->column_roots[k], err));
        }
    }
    return CUZK_OK;
}

static cuzk_code read_challenge(cuzk_bincode *b, const cuzk_sector *s, cuzk_porep_challenge *c,
                                cuzk_porep_rest *rest, cuzk_err *err)
{
    const cuzk_tree data = cuzk_sector_data_tree(s), octal = cuzk_sector_octal_tree(s);
    b->section = "comm_d_proofs";
    b->place = -1;
    CUZK_TRY(cuzk_bincode_merkle(b, &data, &c->data, &rest->data_root, err));
    b->section = "comm_r_last_proof";
    CUZK_TRY(cuzk_bincode_merkle(b, &octal, &c->replica, &rest->replica_root, err));
    CUZK_TRY(read_columns(b, s, c, rest, err));
    b->section = "labeling_proofs";
    b->place = -1;
    CUZK_TRY(cuzk_bincode_length(b, "length", s->layers, err));
    for (unsigned l = 0; l < s->layers; l++) {
        b->place = (int)l;
        CUZK_TRY(read_parents(b, &rest->labels[l], err));
    }
    b->section = "encoding_proof";
    b->place = -1;
    return read_parents(b, &rest->encoding, err);
}

static cuzk_code read_partition(cuzk_bincode *b, cuzk_porep *p, cuzk_err *err)
{
    const cuzk_sector *s = p->proof.sector;
    unsigned k = p->n_partitions;
    snprintf(b->where, sizeof b->where, "partition %u", k);
    CUZK_TRY(cuzk_bincode_length(b, "challenges", s->challenges, err));
    CUZK_TRY(cuzk_porep_add_partition(p, err));
    for (unsigned i = 0; i < s->challenges; i++) {
        cuzk_porep_rest rest;
        snprintf(b->where, sizeof b->where, "partition %u challenge %u", k, i);
        CUZK_TRY(read_challenge(b, s, &p->partitions[k].challenges[i], &rest, err));
        b->section = "";
        const char *why = cuzk_porep_disagreement(p, k, i, &rest);
        if (why) {
            return cuzk_bincode_fail(b, err, "proof", "%s", why);
        }
    }
    b->where[0] = '\0';
    return CUZK_OK;
}

/* The size that the first data path's height implies. */
static cuzk_code sector_of_shape(const cuzk_bincode *b, const cuzk_sector **ret, cuzk_err *err)
{
    enum { HEIGHT_AT = 8 + 8 + 4 + 32 + 32 }; /* counts, variant, root, leaf */
    cuzk_bincode at = *b;
    const uint8_t *skipped;
    uint64_t levels;
    CUZK_TRY(cuzk_cursor_take(&at.c, HEIGHT_AT, "comm_d_proofs", &skipped, err));
    cuzk_bincode height = at;
    CUZK_TRY(cuzk_bincode_u64(&at, "comm_d_proofs.path", &levels, err));
    *ret = levels <= CUZK_MAX_LEVELS ? cuzk_sector_of_levels((unsigned)levels) : NULL;
    if (!*ret || (*ret)->layers == 0) {
        return cuzk_bincode_fail(&height, err, "comm_d_proofs.path",
                                 "expected the height of a sector's tree, found %llu",
                                 (unsigned long long)levels);
    }
    return CUZK_OK;
}

static cuzk_code read_tail(cuzk_bincode *b, cuzk_porep *p, cuzk_node *ret_comm_d, cuzk_err *err)
{
    b->section = "";
    b->place = -1;
    CUZK_TRY(cuzk_bincode_nodes(b, "comm_r", &p->comm_r, 1, err));
    CUZK_TRY(cuzk_bincode_nodes(b, "comm_d", ret_comm_d, 1, err));
    CUZK_TRY(cuzk_bincode_nodes(b, "replica_id", &p->replica_id, 1, err));
    CUZK_TRY(cuzk_bincode_bytes(b, "seed", p->seed, sizeof p->seed, err));
    CUZK_TRY(cuzk_bincode_bytes(b, "ticket", p->ticket, sizeof p->ticket, err));
    return cuzk_bincode_end(b, err);
}

cuzk_code cuzk_porep_read_bincode(cuzk_porep *ret, cuzk_span bytes, const char *name,
                                  const cuzk_seal_proof *want, cuzk_err *err)
{
    cuzk_bincode b = cuzk_bincode_of(bytes, name);
    const cuzk_sector *sector = want ? want->sector : NULL;
    if (!want) {
        CUZK_TRY(sector_of_shape(&b, &sector, err));
    }
    cuzk_seal_proof proof = want ? *want : cuzk_seal_proof_of_sector(sector);
    cuzk_bincode start = b;
    uint64_t partitions;
    CUZK_TRY(cuzk_bincode_u64(&b, "vanilla_proofs", &partitions, err));
    if (!want && partitions == sector->ni_partitions) {
        char text[CUZK_SEAL_NAME_MAX];
        snprintf(text, sizeof text, "StackedDrg%sV1_2_Feat_NonInteractivePoRep", sector->name);
        cuzk_seal_proof_named(&proof, text);
    }
    if (partitions != cuzk_seal_proof_partitions(&proof)) {
        return cuzk_bincode_fail(
            &start, err, "vanilla_proofs", "expected %u partitions for %s, found %llu",
            cuzk_seal_proof_partitions(&proof), sector->name, (unsigned long long)partitions);
    }
    ret->proof = proof;
    for (uint64_t k = 0; k < partitions; k++) {
        CUZK_TRY(read_partition(&b, ret, err));
    }
    cuzk_node comm_d;
    CUZK_TRY(read_tail(&b, ret, &comm_d, err));
    return cuzk_porep_finish(ret, &proof, &comm_d, name, err);
}
