#include "filecoin/circuits/circuit_por.h"

#include "gadget/merkle.h"
#include "gadget/poseidon.h"

enum { ALLOC_MAX = 128, SIBLINGS_MAX = 7 };

fr cuzk_node_value(const cuzk_node *n)
{
    fr v = fr_zero;
    if (n) {
        cuzk_node_to_fr(&v, n);
    }
    return v;
}

cuzk_num cuzk_node_alloc(cuzk_cs *cs, const cuzk_node *n)
{
    fr v = cuzk_node_value(n);
    return cuzk_cs_alloc(cs, &v);
}

cuzk_num cuzk_node_alloc_input(cuzk_cs *cs, const cuzk_node *n)
{
    cuzk_num x = cuzk_node_alloc(cs, n);
    cuzk_num_inputize(cs, &x);
    return x;
}

void cuzk_node_alloc_n(cuzk_cs *cs, cuzk_num *ret, size_t n, const cuzk_node *nodes)
{
    fr values[ALLOC_MAX];
    if (n > ALLOC_MAX) {
        cuzk_cs_fail(cs, CUZK_E_INTERNAL, "more than 128 nodes at once");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        values[i] = cuzk_node_value(nodes ? &nodes[i] : NULL);
    }
    cuzk_cs_alloc_n(cs, ret, n, values);
}

/* One level of a path of its own; bits[lg] receives the index bits. */
static cuzk_num level(cuzk_cs *cs, bool sha, unsigned lg, const cuzk_num *cur, cuzk_bool *bits,
                      unsigned index, const cuzk_node *siblings)
{
    unsigned arity = 1U << lg;
    fr values[SIBLINGS_MAX];
    for (unsigned i = 0; i + 1 < arity; i++) {
        values[i] = cuzk_node_value(siblings ? &siblings[i] : NULL);
    }
    if (!sha) {
        return cuzk_merkle_step(cs, arity, cur, bits, index, values);
    }
    cuzk_cs_alloc_bits(cs, bits, 1, index);
    cuzk_num sibling = cuzk_cs_alloc(cs, &values[0]);
    return cuzk_merkle_sha_step(cs, cur, bits, &sibling);
}

void cuzk_por(cuzk_cs *cs, const cuzk_tree *tree, bool sha, const cuzk_num *leaf,
              const cuzk_path *path, const cuzk_num *root)
{
    cuzk_bool bits[64];
    unsigned n_bits = 0;
    uint64_t index = path ? path->index : 0;
    const cuzk_node *siblings = path ? path->siblings : NULL;
    cuzk_num cur = *leaf;
    for (unsigned i = 0; i < tree->levels; i++) {
        unsigned lg = tree->lg_arity[i];
        unsigned arity = 1U << lg;
        cur = level(cs, sha, lg, &cur, bits + n_bits, (unsigned)(index >> n_bits) & (arity - 1),
                    siblings);
        siblings = siblings ? siblings + arity - 1 : NULL;
        n_bits += lg;
    }
    cuzk_num_pack_inputs(cs, bits, n_bits);
    cuzk_num_equal(cs, &cur, root);
}

void cuzk_por_given(cuzk_cs *cs, const cuzk_tree *tree, bool sha, const cuzk_num *leaf,
                    const cuzk_bool *bits, const cuzk_num *siblings, const cuzk_num *root)
{
    cuzk_num cur = *leaf;
    for (unsigned i = 0; i < tree->levels; i++) {
        unsigned arity = 1U << tree->lg_arity[i];
        cur = sha ? cuzk_merkle_sha_step(cs, &cur, bits, siblings)
                  : cuzk_merkle_step_given(cs, arity, &cur, bits, siblings);
        bits += tree->lg_arity[i];
        siblings += arity - 1;
    }
    cuzk_num_equal(cs, &cur, root);
}

void cuzk_comm_r_check(cuzk_cs *cs, const cuzk_num *comm_c, const cuzk_num *root,
                       const cuzk_num *comm_r)
{
    const cuzk_num pair[2] = {*comm_c, *root};
    cuzk_num h = cuzk_poseidon(cs, CUZK_TAG_TREE, 2, pair);
    cuzk_num_equal(cs, comm_r, &h);
}
