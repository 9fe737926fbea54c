#include "filecoin/challenges.h"
#include "filecoin/generate.h"
#include "filecoin/generate_names.h"
#include "filecoin/merkle.h"

#include <stdlib.h>

void cuzk_post_generate_randomness(uint8_t ret[32], const char *seed)
{
    memcpy(ret, cuzk_named_node(seed, "post randomness").b, 32);
}

/* The sector's tree over its challenged leaves, which are fillers too. */
static cuzk_code plant(cuzk_sparse_tree **ret, const cuzk_post_proof *proof,
                       const uint64_t *challenges, size_t n, uint64_t id, const char *seed,
                       cuzk_pool *pool, cuzk_err *err)
{
    const cuzk_tree octal = cuzk_sector_octal_tree(proof->sector);
    uint64_t indices[CUZK_WINNING_CHALLENGES];
    cuzk_node leaves[CUZK_WINNING_CHALLENGES];
    char name[48], leaf_tag[CUZK_NAME_MAX], tree_tag[CUZK_NAME_MAX];
    size_t k = 0;
    for (size_t i = 0; i < n; i++) { /* insertion into the ascending list, repetitions dropped */
        size_t at = k;
        while (at > 0 && indices[at - 1] > challenges[i]) {
            at--;
        }
        if (at == 0 || indices[at - 1] != challenges[i]) {
            memmove(indices + at + 1, indices + at, (k - at) * sizeof *indices);
            indices[at] = challenges[i];
            k++;
        }
    }
    cuzk_seeded_name(leaf_tag, seed, "post leaf");
    for (size_t i = 0; i < k; i++) {
        leaves[i] = cuzk_filler_node(leaf_tag, id, indices[i]);
    }
    snprintf(name, sizeof name, "post tree %llu", (unsigned long long)id);
    cuzk_seeded_name(tree_tag, seed, name);
    return cuzk_sparse_tree_new(ret, &octal, indices, leaves, k, tree_tag, pool, err);
}

cuzk_code cuzk_post_generate(cuzk_post_sector *ret, const cuzk_post_proof *proof, uint64_t id,
                             const char *seed, cuzk_pool *pool, cuzk_err *err)
{
    const unsigned n = cuzk_post_proof_challenges(proof);
    uint64_t challenges[CUZK_WINNING_CHALLENGES];
    uint8_t randomness[32];
    char tag[CUZK_NAME_MAX];
    cuzk_post_sector s;
    cuzk_sparse_tree *tree;
    cuzk_post_generate_randomness(randomness, seed);
    cuzk_post_challenges(challenges, proof, randomness, id, id - 1);
    CUZK_TRY(cuzk_post_sector_init(&s, proof->sector, n, err));
    cuzk_code code = plant(&tree, proof, challenges, n, id, seed, pool, err);
    if (code != CUZK_OK) {
        cuzk_post_sector_clear(&s);
        return code;
    }
    cuzk_seeded_name(tag, seed, "comm_c");
    s.id = id;
    s.comm_c = cuzk_filler_node(tag, id, 0);
    s.comm_r_last = cuzk_sparse_tree_root(tree);
    const cuzk_node pair[2] = {s.comm_c, s.comm_r_last};
    s.comm_r = cuzk_poseidon_nodes(pair, 2);
    for (unsigned i = 0; i < n; i++) {
        cuzk_sparse_tree_open(tree, challenges[i], &s.paths[i]);
    }
    cuzk_sparse_tree_free(tree);
    *ret = s;
    return CUZK_OK;
}
