#include "filecoin/generate.h"
#include "filecoin/generate_names.h"
#include "filecoin/merkle.h"
#include "filecoin/update_math.h"

#include <stdlib.h>

/*
 * An update's challenges depend on the whole new replica, so its tree must exist. Old replica and
 * new data are the same everywhere; then the new leaf depends on the top h bits of its index alone,
 * and a tree node below that height is the same in all of a region of 2^(lg_nodes - h) leaves.
 */

/* One level of tree R: its nodes, each standing for 2^lg_span leaves. */
typedef struct level {
    unsigned lg_span;
    cuzk_node *nodes; /* those of all regions, or of the whole level */
} level;

struct cuzk_update_source {
    const cuzk_sector *sector;
    cuzk_tree octal;
    cuzk_node comm_c, comm_r_old, comm_r_new;
    cuzk_node old[CUZK_MAX_LEVELS + 1];  /* every node of a level of the old tree */
    cuzk_node data[CUZK_MAX_LEVELS + 1]; /* and of the new data's tree */
    level levels[CUZK_MAX_LEVELS + 1];
};

/* Node `index` of level l of the new tree. */
static const cuzk_node *at(const cuzk_update_source *u, unsigned l, uint64_t index)
{
    unsigned lg_region = u->sector->lg_nodes - cuzk_sector_update_h(u->sector);
    const level *v = &u->levels[l];
    return &v->nodes[v->lg_span <= lg_region ? index << v->lg_span >> lg_region : index];
}

typedef struct hashing {
    cuzk_update_source *u;
    unsigned l;       /* the level to fill */
    unsigned lg_step; /* of indices between two nodes to fill */
    cuzk_node phi;
} hashing;

static void new_leaf(void *ctx, size_t i, unsigned worker)
{
    (void)worker;
    const hashing *h = ctx;
    const cuzk_node rho = cuzk_update_rho(&h->phi, i);
    h->u->levels[0].nodes[i] = cuzk_update_leaf(&h->u->old[0], &h->u->data[0], &rho);
}

static void new_node(void *ctx, size_t i, unsigned worker)
{
    (void)worker;
    const hashing *h = ctx;
    const unsigned lg_arity = h->u->octal.lg_arity[h->l - 1], arity = 1u << lg_arity;
    cuzk_node children[8];
    for (unsigned k = 0; k < arity; k++) {
        children[k] = *at(h->u, h->l - 1, (uint64_t)i << h->lg_step << lg_arity | k);
    }
    h->u->levels[h->l].nodes[i] = cuzk_poseidon_nodes(children, arity);
}

static cuzk_code grow(cuzk_update_source *u, cuzk_pool *pool, cuzk_err *err)
{
    const unsigned lg_nodes = u->sector->lg_nodes;
    const unsigned lg_region = lg_nodes - cuzk_sector_update_h(u->sector);
    hashing h = {.u = u, .phi = cuzk_update_phi(&u->data[lg_nodes], &u->comm_r_old)};
    unsigned lg_span = 0;
    for (unsigned l = 0; l <= u->octal.levels; l++) {
        const unsigned lg_unit = lg_span > lg_region ? lg_span : lg_region;
        const size_t n = (size_t)1 << (lg_nodes - lg_unit);
        u->levels[l].lg_span = lg_span;
        u->levels[l].nodes = calloc(n, sizeof *u->levels[l].nodes);
        if (!u->levels[l].nodes) {
            return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu tree nodes", n);
        }
        h.l = l;
        h.lg_step = lg_unit - lg_span;
        cuzk_pool_run(pool, n, l == 0 ? new_leaf : new_node, &h);
        lg_span += l < u->octal.levels ? u->octal.lg_arity[l] : 0;
    }
    return CUZK_OK;
}

cuzk_code cuzk_update_source_new(cuzk_update_source **ret, const cuzk_sector *sector,
                                 const char *seed, cuzk_pool *pool, cuzk_err *err)
{
    cuzk_update_source *u = calloc(1, sizeof *u);
    if (!u) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a sector update");
    }
    char tag[CUZK_NAME_MAX];
    u->sector = sector;
    u->octal = cuzk_sector_octal_tree(sector);
    cuzk_seeded_name(tag, seed, "comm_c");
    u->comm_c = cuzk_filler_node(tag, 0, 0);
    cuzk_seeded_name(tag, seed, "leaf_r_old");
    u->old[0] = cuzk_filler_node(tag, 0, 0);
    u->data[0] = cuzk_named_node(seed, "synthetic data leaf");
    for (unsigned l = 0; l < sector->lg_nodes; l++) {
        u->data[l + 1] = cuzk_sha256_node(&u->data[l], &u->data[l]);
    }
    for (unsigned l = 0; l < u->octal.levels; l++) {
        cuzk_node children[8];
        for (unsigned k = 0; k < 8; k++) {
            children[k] = u->old[l];
        }
        u->old[l + 1] = cuzk_poseidon_nodes(children, 1u << u->octal.lg_arity[l]);
    }
    cuzk_node pair[2] = {u->comm_c, u->old[u->octal.levels]};
    u->comm_r_old = cuzk_poseidon_nodes(pair, 2);
    cuzk_code code = grow(u, pool, err);
    if (code != CUZK_OK) {
        cuzk_update_source_free(u);
        return code;
    }
    pair[1] = *at(u, u->octal.levels, 0);
    u->comm_r_new = cuzk_poseidon_nodes(pair, 2);
    *ret = u;
    return CUZK_OK;
}

void cuzk_update_source_free(cuzk_update_source *u)
{
    if (u) {
        for (unsigned l = 0; l <= CUZK_MAX_LEVELS; l++) {
            free(u->levels[l].nodes);
        }
        free(u);
    }
}

void cuzk_update_source_public(const cuzk_update_source *u, cuzk_node *ret_comm_r_old,
                               cuzk_node *ret_comm_d_new, cuzk_node *ret_comm_r_new)
{
    *ret_comm_r_old = u->comm_r_old;
    *ret_comm_d_new = u->data[u->sector->lg_nodes];
    *ret_comm_r_new = u->comm_r_new;
}

static void open_challenge(const cuzk_update_source *u, cuzk_update_challenge *c, uint64_t node)
{
    c->r_old.index = c->d_new.index = c->r_new.index = node;
    c->r_old.leaf = u->old[0];
    c->d_new.leaf = u->data[0];
    c->r_new.leaf = *at(u, 0, node);
    memcpy(c->d_new.siblings, u->data, u->sector->lg_nodes * sizeof *u->data);
    size_t n = 0;
    for (unsigned l = 0; l < u->octal.levels; l++) {
        const uint64_t arity = (uint64_t)1 << u->octal.lg_arity[l], first = node & ~(arity - 1);
        for (uint64_t k = first; k < first + arity; k++) {
            if (k != node) {
                c->r_old.siblings[n] = u->old[l];
                c->r_new.siblings[n] = *at(u, l, k);
                n++;
            }
        }
        node >>= u->octal.lg_arity[l];
    }
}

cuzk_code cuzk_update_generate(cuzk_update_partition *ret, const cuzk_update_source *u, unsigned k,
                               cuzk_err *err)
{
    const cuzk_sector *s = u->sector;
    enum { MAX_CHALLENGES = 86 };
    uint64_t challenges[MAX_CHALLENGES];
    cuzk_update_partition p;
    if (k >= s->update_partitions) {
        return CUZK_FAIL(err, CUZK_E_ARG, "an update of %s has %u partitions, there is no %u",
                         s->name, s->update_partitions, k);
    }
    CUZK_TRY(cuzk_update_partition_init(&p, s, err));
    p.k = k;
    p.comm_c = u->comm_c;
    p.root_r_old = u->old[u->octal.levels];
    p.root_r_new = *at(u, u->octal.levels, 0);
    p.comm_d_new = u->data[s->lg_nodes];
    const unsigned apex_level = s->lg_nodes - cuzk_update_lg_partitions(s) - cuzk_update_lg_apex(s);
    for (unsigned i = 0; i < s->update_apex; i++) {
        p.apex[i] = u->data[apex_level];
    }
    cuzk_update_challenges(challenges, s, k, &u->comm_r_new);
    for (unsigned i = 0; i < s->update_challenges; i++) {
        open_challenge(u, &p.challenges[i], challenges[i]);
    }
    *ret = p;
    return CUZK_OK;
}
