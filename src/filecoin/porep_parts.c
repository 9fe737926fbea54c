#include "filecoin/porep_parts.h"

#include "filecoin/graph.h"

static const char *parents_disagree(const cuzk_parents_proof *proof, const cuzk_porep_challenge *c,
                                    uint32_t layer)
{
    cuzk_node parents[CUZK_LABEL_PARENTS];
    if (proof->node != c->data.index) {
        return "node: not the challenged one";
    }
    if (proof->layer_index != layer) {
        return "layer_index: not the place in the list";
    }
    cuzk_label_parents(parents, c->columns, layer);
    if (memcmp(parents, proof->parents, sizeof parents) != 0) {
        return "parents: not the rows of the parents' columns";
    }
    return NULL;
}

const char *cuzk_porep_disagreement(cuzk_porep *p, unsigned partition, unsigned challenge,
                                    const cuzk_porep_rest *rest)
{
    const cuzk_porep_challenge *c = &p->partitions[partition].challenges[challenge];
    if (partition == 0 && challenge == 0) {
        p->comm_d = rest->data_root;
        p->comm_r_last = rest->replica_root;
        p->comm_c = rest->column_roots[CUZK_COLUMN_OWN];
    }
    if (!cuzk_node_eq(&rest->data_root, &p->comm_d)) {
        return "comm_d_proofs.root: not that of the first challenge";
    }
    if (!cuzk_node_eq(&rest->replica_root, &p->comm_r_last)) {
        return "comm_r_last_proof.root: not that of the first challenge";
    }
    if (c->replica.index != c->data.index) {
        return "comm_r_last_proof: not the index of comm_d_proofs";
    }
    if (c->columns[CUZK_COLUMN_OWN].path.index != c->data.index) {
        return "replica_column_proofs.c_x: not the index of comm_d_proofs";
    }
    for (unsigned i = 0; i < CUZK_COLUMNS; i++) {
        if (!cuzk_node_eq(&rest->column_roots[i], &p->comm_c)) {
            return "replica_column_proofs: a root that is not that of the first challenge";
        }
        if (rest->column_index[i] != c->columns[i].path.index) {
            return "replica_column_proofs: a column's index that is not its path's";
        }
    }
    const unsigned layers = p->proof.sector->layers;
    for (unsigned l = 1; l <= layers; l++) {
        const char *why = parents_disagree(&rest->labels[l - 1], c, l);
        if (why) {
            return why;
        }
    }
    return parents_disagree(&rest->encoding, c, layers);
}

cuzk_code cuzk_porep_finish(cuzk_porep *p, const cuzk_seal_proof *proof, const cuzk_node *comm_d,
                            const char *name, cuzk_err *err)
{
    char text[CUZK_SEAL_NAME_MAX];
    cuzk_seal_proof_name(text, proof);
    if (proof->sector != p->proof.sector) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: vanilla_proofs: expected those of %s, found %s",
                         name, text, p->proof.sector->name);
    }
    if (p->n_partitions != cuzk_seal_proof_partitions(proof)) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: vanilla_proofs: expected %u partitions for %s, "
                         "found %u",
                         name, cuzk_seal_proof_partitions(proof), text, p->n_partitions);
    }
    if (!cuzk_node_eq(comm_d, &p->comm_d)) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: comm_d: expected the root of comm_d_proofs, found "
                         "another value",
                         name);
    }
    p->proof = *proof;
    return CUZK_OK;
}
