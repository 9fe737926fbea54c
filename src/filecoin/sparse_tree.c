#include "filecoin/merkle.h"

#include <stdlib.h>

enum { MAX_TAG = 128 };

/* The parents of one level, ascending, each with all of its children. */
typedef struct level {
    size_t n;
    uint64_t *index;     /* n */
    cuzk_node *children; /* n << lg_arity */
} level;

struct cuzk_sparse_tree {
    cuzk_tree shape;
    char tag[MAX_TAG];
    cuzk_node root;
    level levels[CUZK_MAX_LEVELS];
};

/* How many different parents the children have. */
static size_t count_parents(const uint64_t *index, size_t n, unsigned lg_arity)
{
    size_t parents = 0;
    for (size_t i = 0; i < n; i++) {
        parents += i == 0 || index[i] >> lg_arity != index[i - 1] >> lg_arity;
    }
    return parents;
}

/* Fills level l from the n nodes below it. */
static cuzk_code group(cuzk_sparse_tree *t, unsigned l, const uint64_t *index,
                       const cuzk_node *nodes, size_t n, cuzk_err *err)
{
    level *v = &t->levels[l];
    const unsigned lg = t->shape.lg_arity[l];
    v->n = count_parents(index, n, lg);
    v->index = calloc(v->n, sizeof *v->index);
    v->children = calloc(v->n << lg, sizeof *v->children);
    if (!v->index || !v->children) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu tree nodes", v->n << lg);
    }
    size_t i = 0;
    for (size_t p = 0; p < v->n; p++) {
        v->index[p] = index[i] >> lg;
        for (uint64_t k = 0; k < 1u << lg; k++) {
            uint64_t child = v->index[p] << lg | k;
            cuzk_node *to = &v->children[p << lg | k];
            if (i < n && index[i] == child) {
                *to = nodes[i++];
            } else {
                *to = cuzk_filler_node(t->tag, l, child);
            }
        }
    }
    return CUZK_OK;
}

typedef struct hashing {
    const level *v;
    unsigned lg_arity;
    cuzk_node *out;
} hashing;

static void hash_one(void *ctx, size_t i, unsigned worker)
{
    (void)worker;
    const hashing *h = ctx;
    h->out[i] = cuzk_poseidon_nodes(h->v->children + (i << h->lg_arity), 1u << h->lg_arity);
}

cuzk_code cuzk_sparse_tree_new(cuzk_sparse_tree **ret, const cuzk_tree *shape,
                               const uint64_t *indices, const cuzk_node *leaves, size_t n,
                               const char *tag, cuzk_pool *pool, cuzk_err *err)
{
    cuzk_sparse_tree *t = calloc(1, sizeof *t);
    cuzk_node *hashes = calloc(n, sizeof *hashes);
    cuzk_code code = CUZK_OK;
    if (!t || !hashes || strlen(tag) >= MAX_TAG) {
        code = CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a tree of %zu leaves", n);
        goto out;
    }
    t->shape = *shape;
    memcpy(t->tag, tag, strlen(tag) + 1);
    const uint64_t *index = indices;
    const cuzk_node *nodes = leaves;
    for (unsigned l = 0; l < shape->levels; l++) {
        code = group(t, l, index, nodes, l == 0 ? n : t->levels[l - 1].n, err);
        if (code != CUZK_OK) {
            goto out;
        }
        hashing h = {&t->levels[l], shape->lg_arity[l], hashes};
        cuzk_pool_run(pool, t->levels[l].n, hash_one, &h);
        index = t->levels[l].index;
        nodes = hashes;
    }
    t->root = hashes[0];
    *ret = t;
    t = NULL;
out:
    free(hashes);
    cuzk_sparse_tree_free(t);
    return code;
}

void cuzk_sparse_tree_free(cuzk_sparse_tree *t)
{
    if (t) {
        for (unsigned l = 0; l < CUZK_MAX_LEVELS; l++) {
            free(t->levels[l].index);
            free(t->levels[l].children);
        }
        free(t);
    }
}

cuzk_node cuzk_sparse_tree_root(const cuzk_sparse_tree *t) { return t->root; }

/* Place of a parent that is there. */
static size_t find(const level *v, uint64_t index)
{
    size_t low = 0, high = v->n - 1;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (v->index[mid] < index) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

void cuzk_sparse_tree_open(const cuzk_sparse_tree *t, uint64_t index, cuzk_path *path)
{
    cuzk_node *siblings = path->siblings;
    path->index = index;
    for (unsigned l = 0; l < t->shape.levels; l++) {
        const unsigned lg = t->shape.lg_arity[l], arity = 1u << lg;
        const unsigned own = (unsigned)(index & (arity - 1));
        const level *v = &t->levels[l];
        const cuzk_node *children = v->children + (find(v, index >> lg) << lg);
        if (l == 0) {
            path->leaf = children[own];
        }
        memcpy(siblings, children, own * sizeof *siblings);
        memcpy(siblings + own, children + own + 1, (arity - 1 - own) * sizeof *siblings);
        siblings += arity - 1;
        index >>= lg;
    }
}
