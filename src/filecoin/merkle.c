#include "filecoin/merkle.h"

#include "base/bytes.h"
#include "base/sha256.h"
#include "gadget/poseidon_native.h"

cuzk_node cuzk_poseidon_nodes(const cuzk_node *nodes, unsigned n)
{
    fr in[POSEIDON_MAX_WIDTH], out;
    for (unsigned i = 0; i < n; i++) {
        cuzk_node_to_fr(&in[i], &nodes[i]);
    }
    poseidon_hash_tree(&out, poseidon_params_of(n), in);
    return cuzk_node_of_fr(&out);
}

cuzk_node cuzk_poseidon_randomness(const cuzk_node *a, const cuzk_node *b)
{
    const fr tag = poseidon_tag_randomness();
    fr in[2], out;
    cuzk_node_to_fr(&in[0], a);
    cuzk_node_to_fr(&in[1], b);
    poseidon_hash(&out, poseidon_params_of(2), &tag, in);
    return cuzk_node_of_fr(&out);
}

cuzk_node cuzk_sha256_node(const cuzk_node *a, const cuzk_node *b)
{
    cuzk_node out;
    cuzk_sha256_pair(out.b, a->b, b->b);
    out.b[31] &= 0x3f;
    return out;
}

cuzk_node cuzk_column_hash(const cuzk_node *rows, unsigned layers)
{
    return cuzk_poseidon_nodes(rows, layers);
}

void cuzk_tree_level(const cuzk_tree *tree, unsigned level, size_t *ret_siblings,
                     unsigned *ret_shift)
{
    *ret_siblings = 0;
    *ret_shift = 0;
    for (unsigned l = 0; l < level; l++) {
        *ret_siblings += (1u << tree->lg_arity[l]) - 1;
        *ret_shift += tree->lg_arity[l];
    }
}

cuzk_node cuzk_path_root(const cuzk_path *path, const cuzk_tree *tree, unsigned levels,
                         bool poseidon)
{
    cuzk_node current = path->leaf, children[8];
    const cuzk_node *siblings = path->siblings;
    uint64_t index = path->index;
    for (unsigned l = 0; l < levels; l++) {
        const unsigned arity = 1u << tree->lg_arity[l], own = (unsigned)(index & (arity - 1));
        memcpy(children, siblings, own * sizeof *children);
        children[own] = current;
        memcpy(children + own + 1, siblings + own, (arity - 1 - own) * sizeof *children);
        current = poseidon ? cuzk_poseidon_nodes(children, arity)
                           : cuzk_sha256_node(&children[0], &children[1]);
        siblings += arity - 1;
        index >>= tree->lg_arity[l];
    }
    return current;
}

cuzk_node cuzk_filler_node(const char *tag, uint64_t a, uint64_t b)
{
    uint8_t numbers[16];
    cuzk_node out;
    cuzk_store_u64le(numbers, a);
    cuzk_store_u64le(numbers + 8, b);
    cuzk_sha256_state s;
    cuzk_sha256_init(&s);
    cuzk_sha256_update(&s, tag, strlen(tag));
    cuzk_sha256_update(&s, numbers, sizeof numbers);
    cuzk_sha256_final(&s, out.b);
    out.b[31] &= 0x3f;
    return out;
}
