#include "filecoin/circuits/circuit_porep.h"

#include "filecoin/circuits/circuit_por.h"
#include "gadget/poseidon.h"
#include "gadget/sha256_gadget.h"

enum { NUM_BITS = 256, HEAD_BITS = 512, PREIMAGE_BITS = HEAD_BITS + CUZK_LABEL_PARENTS * NUM_BITS };
enum { PARENTS = CUZK_DRG_PARENTS + CUZK_EXP_PARENTS };

/* What every challenge refers to. */
typedef struct common {
    const cuzk_porep_config *config;
    cuzk_bool replica_id[NUM_BITS];
    cuzk_num comm_d, comm_c, comm_r_last;
} common;

cuzk_porep_config cuzk_porep_config_of(const cuzk_circuit_id *id)
{
    return (cuzk_porep_config){id->sector->layers, id->cut ? id->cut : id->sector->challenges,
                               cuzk_sector_data_tree(id->sector),
                               cuzk_sector_octal_tree(id->sector)};
}

/* The labels of one node, and that their hash is a leaf of tree C. */
static void column(cuzk_cs *cs, const common *m, cuzk_num *rows, const cuzk_column *c)
{
    unsigned layers = m->config->layers;
    cuzk_node_alloc_n(cs, rows, layers, c ? c->rows : NULL);
    cuzk_num hash = cuzk_poseidon(cs, CUZK_TAG_TREE, layers, rows);
    cuzk_por(cs, &m->config->octal, false, &hash, c ? &c->path : NULL, &m->comm_c);
}

/* Bits of a big-endian integer, its bytes first to last, from its bits lowest first. */
static void put_big_endian(cuzk_bool *to, const cuzk_bool *bits, unsigned n)
{
    for (unsigned i = 0; i < n; i += 8) {
        memcpy(to + i, bits + n - 8 - i, 8 * sizeof *to);
    }
}

static void put_const(cuzk_bool *to, uint64_t v, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        to[i] = cuzk_bool_const(i < 64 && (v >> i & 1));
    }
}

/* Label of the node in `layer` (from 1): hash of replica id, layer, node number and parents, 37 of
 * them by repetition. */
static cuzk_num label(cuzk_cs *cs, const common *m, unsigned layer, const cuzk_bool challenge[64],
                      cuzk_num parents[PARENTS][CUZK_MAX_LAYERS])
{
    cuzk_bool bits[PREIMAGE_BITS], layer_bits[32], digest[CUZK_SHA256_DIGEST_BITS];
    memcpy(bits, m->replica_id, sizeof m->replica_id);
    put_const(layer_bits, layer, 32);
    put_big_endian(bits + 256, layer_bits, 32);
    put_big_endian(bits + 288, challenge, 64);
    put_const(bits + 352, 0, HEAD_BITS - 352);
    unsigned n = layer > 1 ? PARENTS : CUZK_DRG_PARENTS;
    for (unsigned i = 0; i < CUZK_LABEL_PARENTS; i++) {
        cuzk_bool *at = bits + HEAD_BITS + i * NUM_BITS;
        if (i < n) {
            bool drg = i < CUZK_DRG_PARENTS;
            cuzk_gadget_sha256_num_bits(cs, at, &parents[i][drg ? layer - 1 : layer - 2]);
        } else {
            memcpy(at, at - n * NUM_BITS, NUM_BITS * sizeof *at);
        }
    }
    cuzk_gadget_sha256(cs, digest, bits, PREIMAGE_BITS);
    return cuzk_num_pack(cs, digest, CUZK_PACK_BITS);
}

static void challenge(cuzk_cs *cs, const common *m, const cuzk_porep_challenge *p)
{
    const cuzk_porep_config *c = m->config;
    cuzk_num leaf = cuzk_node_alloc(cs, p ? &p->data.leaf : NULL);
    cuzk_por(cs, &c->data, true, &leaf, p ? &p->data : NULL, &m->comm_d);

    cuzk_num parents[PARENTS][CUZK_MAX_LAYERS];
    for (unsigned i = 0; i < PARENTS; i++) {
        column(cs, m, parents[i], p ? &p->columns[i] : NULL);
    }
    cuzk_bool node[64];
    cuzk_cs_alloc_bits(cs, node, 64, p ? p->data.index : 0);
    cuzk_num_pack_inputs(cs, node, 64);

    cuzk_num labels[CUZK_MAX_LAYERS];
    for (unsigned i = 0; i < c->layers; i++) {
        labels[i] = label(cs, m, i + 1, node, parents);
    }
    cuzk_num encoded = cuzk_num_add(cs, &labels[c->layers - 1], &leaf);
    cuzk_por(cs, &c->octal, false, &encoded, p ? &p->replica : NULL, &m->comm_r_last);
    cuzk_num hash = cuzk_poseidon(cs, CUZK_TAG_TREE, c->layers, labels);
    cuzk_por(cs, &c->octal, false, &hash, p ? &p->columns[CUZK_COLUMN_OWN].path : NULL, &m->comm_c);
}

void cuzk_circuit_porep(cuzk_cs *cs, const cuzk_porep_config *c, const cuzk_porep *p,
                        unsigned partition)
{
    common m = {.config = c};
    cuzk_num replica_id = cuzk_node_alloc_input(cs, p ? &p->replica_id : NULL);
    cuzk_gadget_sha256_num_bits(cs, m.replica_id, &replica_id);
    m.comm_d = cuzk_node_alloc_input(cs, p ? &p->comm_d : NULL);
    cuzk_num comm_r = cuzk_node_alloc_input(cs, p ? &p->comm_r : NULL);
    m.comm_r_last = cuzk_node_alloc(cs, p ? &p->comm_r_last : NULL);
    m.comm_c = cuzk_node_alloc(cs, p ? &p->comm_c : NULL);
    cuzk_comm_r_check(cs, &m.comm_c, &m.comm_r_last, &comm_r);
    for (unsigned i = 0; i < c->challenges && !cuzk_cs_failed(cs); i++) {
        challenge(cs, &m, p ? &p->partitions[partition].challenges[i] : NULL);
    }
}
