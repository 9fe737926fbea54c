#include "filecoin/check.h"

#include "filecoin/challenges.h"
#include "filecoin/graph.h"
#include "filecoin/merkle.h"
#include "filecoin/public_inputs.h"
#include "filecoin/update_math.h"

enum { MAX_CHALLENGES = 86 };

/* What is being checked, and the verdict on each challenge: NULL or a reason that needs no more
 * than the challenge's number to be told. */
typedef struct checking {
    const cuzk_porep *porep; /* one of these three */
    const cuzk_post_sector *post;
    const cuzk_update_partition *update;
    cuzk_tree data, octal;
    cuzk_graph graph;
    unsigned partition;
    cuzk_node phi; /* update */
    uint64_t challenges[MAX_CHALLENGES];
    const char *reasons[MAX_CHALLENGES];
} checking;

static bool leads_to(const cuzk_path *path, const cuzk_tree *tree, bool poseidon,
                     const cuzk_node *root)
{
    const cuzk_node found = cuzk_path_root(path, tree, tree->levels, poseidon);
    return cuzk_node_eq(&found, root);
}

static bool commits(const cuzk_node *comm_c, const cuzk_node *root, const cuzk_node *comm_r)
{
    const cuzk_node pair[2] = {*comm_c, *root};
    const cuzk_node found = cuzk_poseidon_nodes(pair, 2);
    return cuzk_node_eq(&found, comm_r);
}

static const char *check_columns(const checking *k, const cuzk_porep_challenge *c)
{
    uint64_t parents[CUZK_PARENTS];
    cuzk_graph_parents(&k->graph, c->data.index, parents);
    for (unsigned i = 0; i < CUZK_COLUMNS; i++) {
        const cuzk_column *column = &c->columns[i];
        if (column->path.index != (i < CUZK_PARENTS ? parents[i] : c->data.index)) {
            return i < CUZK_COLUMN_EXP ? "a DRG parent is not the graph's"
                   : i < CUZK_PARENTS  ? "an expander parent is not the graph's"
                                       : "the own column is not the challenged node's";
        }
        const cuzk_node hash = cuzk_column_hash(column->rows, k->porep->proof.sector->layers);
        if (!cuzk_node_eq(&hash, &column->path.leaf)) {
            return "a column's hash is not the leaf of its path";
        }
        if (!leads_to(&column->path, &k->octal, true, &k->porep->comm_c)) {
            return "a column's path does not lead to comm_c";
        }
    }
    return NULL;
}

static const char *check_porep(const checking *k, unsigned i)
{
    const cuzk_porep *p = k->porep;
    const cuzk_porep_challenge *c = &p->partitions[k->partition].challenges[i];
    const cuzk_column *own = &c->columns[CUZK_COLUMN_OWN];
    if (c->data.index != k->challenges[i]) {
        return "the opened node is not the challenged one";
    }
    if (c->replica.index != c->data.index) {
        return "the replica's path is not the challenged node's";
    }
    if (!leads_to(&c->data, &k->data, false, &p->comm_d)) {
        return "the data's path does not lead to comm_d";
    }
    for (uint32_t l = 1; l <= p->proof.sector->layers; l++) {
        cuzk_node parents[CUZK_LABEL_PARENTS];
        cuzk_label_parents(parents, c->columns, l);
        const cuzk_node label = cuzk_label(&p->replica_id, l, c->data.index, parents);
        if (!cuzk_node_eq(&label, &own->rows[l - 1])) {
            return "a label is not the hash of its parents'";
        }
    }
    const char *why = check_columns(k, c);
    if (why) {
        return why;
    }
    fr key, leaf;
    cuzk_node_to_fr(&key, &own->rows[p->proof.sector->layers - 1]);
    cuzk_node_to_fr(&leaf, &c->data.leaf);
    fr_add(&leaf, &leaf, &key);
    const cuzk_node encoded = cuzk_node_of_fr(&leaf);
    if (!cuzk_node_eq(&encoded, &c->replica.leaf)) {
        return "the replica's leaf is not label plus data";
    }
    if (!leads_to(&c->replica, &k->octal, true, &p->comm_r_last)) {
        return "the replica's path does not lead to comm_r_last";
    }
    return NULL;
}

static const char *check_post(const checking *k, unsigned i)
{
    const cuzk_path *path = &k->post->paths[i];
    if (path->index != k->challenges[i]) {
        return "the opened leaf is not the challenged one";
    }
    if (!leads_to(path, &k->octal, true, &k->post->comm_r_last)) {
        return "the path does not lead to comm_r_last";
    }
    return NULL;
}

/* The data's path also passes through the apex leaf above it. */
static const char *check_update(const checking *k, unsigned i)
{
    const cuzk_update_partition *p = k->update;
    const cuzk_update_challenge *c = &p->challenges[i];
    const cuzk_sector *s = p->sector;
    const unsigned apex_level = s->lg_nodes - cuzk_update_lg_partitions(s) - cuzk_update_lg_apex(s);
    if (c->r_old.index != k->challenges[i] || c->d_new.index != c->r_old.index ||
        c->r_new.index != c->r_old.index) {
        return "an opened leaf is not the challenged one";
    }
    const uint64_t high = c->r_old.index >> (s->lg_nodes - cuzk_sector_update_h(s));
    const cuzk_node rho = cuzk_update_rho(&k->phi, high);
    const cuzk_node leaf = cuzk_update_leaf(&c->r_old.leaf, &c->d_new.leaf, &rho);
    if (!cuzk_node_eq(&leaf, &c->r_new.leaf)) {
        return "the new leaf is not old leaf plus data times rho";
    }
    const cuzk_node apex = cuzk_path_root(&c->d_new, &k->data, apex_level, false);
    if (!cuzk_node_eq(&apex, &p->apex[c->d_new.index >> apex_level & (s->update_apex - 1)])) {
        return "the data's path does not pass through its apex leaf";
    }
    if (!leads_to(&c->d_new, &k->data, false, &p->comm_d_new)) {
        return "the data's path does not lead to comm_d_new";
    }
    if (!leads_to(&c->r_old, &k->octal, true, &p->root_r_old)) {
        return "the old replica's path does not lead to its root";
    }
    if (!leads_to(&c->r_new, &k->octal, true, &p->root_r_new)) {
        return "the new replica's path does not lead to its root";
    }
    return NULL;
}

static void check_one(void *ctx, size_t i, unsigned worker)
{
    (void)worker;
    checking *k = ctx;
    k->reasons[i] = k->porep  ? check_porep(k, (unsigned)i)
                    : k->post ? check_post(k, (unsigned)i)
                              : check_update(k, (unsigned)i);
}

/* Checks n challenges and tells the first that fails. */
static cuzk_code check_all(checking *k, unsigned n, const char *name, cuzk_pool *pool,
                           cuzk_err *err)
{
    cuzk_pool_run(pool, n, check_one, k);
    for (unsigned i = 0; i < n; i++) {
        if (k->reasons[i]) {
            return CUZK_FAIL(err, CUZK_E_INPUT, "%s: partition %u challenge %u: %s (node %llu)",
                             name, k->partition, i, k->reasons[i],
                             (unsigned long long)k->challenges[i]);
        }
    }
    return CUZK_OK;
}

cuzk_code cuzk_porep_check_partition(const cuzk_porep *p, unsigned partition, const char *name,
                                     cuzk_pool *pool, cuzk_err *err)
{
    const cuzk_sector *s = p->proof.sector;
    const cuzk_porep_public pub = cuzk_porep_public_of(p);
    checking k = {.porep = p,
                  .data = cuzk_sector_data_tree(s),
                  .octal = cuzk_sector_octal_tree(s),
                  .graph = pub.graph,
                  .partition = partition};
    if (partition >= p->n_partitions) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%s: expected a partition below %u, found %u", name,
                         p->n_partitions, partition);
    }
    if (!commits(&p->comm_c, &p->comm_r_last, &p->comm_r)) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: comm_r: not the hash of the roots of columns and replica", name);
    }
    cuzk_porep_challenges(k.challenges, &p->proof, partition, &p->replica_id, &p->comm_r, p->seed);
    return check_all(&k, s->challenges, name, pool, err);
}

cuzk_code cuzk_porep_check(const cuzk_porep *p, const char *name, cuzk_pool *pool, cuzk_err *err)
{
    for (unsigned i = 0; i < p->n_partitions; i++) {
        CUZK_TRY(cuzk_porep_check_partition(p, i, name, pool, err));
    }
    return CUZK_OK;
}

cuzk_code cuzk_post_check(const cuzk_post_sector *s, const cuzk_post_proof *proof,
                          const uint8_t randomness[32], uint64_t place, const char *name,
                          cuzk_pool *pool, cuzk_err *err)
{
    checking k = {.post = s,
                  .octal = cuzk_sector_octal_tree(proof->sector),
                  .partition =
                      proof->window ? (unsigned)(place / proof->sector->window_sectors) : 0};
    if (!commits(&s->comm_c, &s->comm_r_last, &s->comm_r)) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: sector %llu: comm_r: not the hash of comm_c and "
                         "comm_r_last",
                         name, (unsigned long long)s->id);
    }
    cuzk_post_challenges(k.challenges, proof, randomness, s->id, place);
    return check_all(&k, s->n_paths, name, pool, err);
}

/* The apex leaves' root, through the top of the first challenge's data path. */
static bool apex_leads_up(const cuzk_update_partition *p, const cuzk_tree *data)
{
    const unsigned lg_partitions = cuzk_update_lg_partitions(p->sector);
    cuzk_node row[128];
    size_t siblings;
    unsigned shift;
    memcpy(row, p->apex, p->sector->update_apex * sizeof *row);
    for (unsigned n = p->sector->update_apex; n > 1; n /= 2) {
        for (unsigned i = 0; i < n / 2; i++) {
            row[i] = cuzk_sha256_node(&row[2 * i], &row[2 * i + 1]);
        }
    }
    cuzk_tree_level(data, p->sector->lg_nodes - lg_partitions, &siblings, &shift);
    cuzk_path top = {row[0], p->k, p->challenges[0].d_new.siblings + siblings};
    const cuzk_node root = cuzk_path_root(&top, data, lg_partitions, false);
    return cuzk_node_eq(&root, &p->comm_d_new);
}

cuzk_code cuzk_update_check(const cuzk_update_partition *p, unsigned k, const cuzk_node *comm_r_old,
                            const cuzk_node *comm_d_new, const cuzk_node *comm_r_new,
                            const char *name, cuzk_pool *pool, cuzk_err *err)
{
    const cuzk_sector *s = p->sector;
    checking c = {.update = p,
                  .data = cuzk_sector_data_tree(s),
                  .octal = cuzk_sector_octal_tree(s),
                  .partition = k,
                  .phi = cuzk_update_phi(comm_d_new, comm_r_old)};
    const char *why = NULL;
    if (p->k != k) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: expected partition %u, found %u", name, k, p->k);
    }
    if (!cuzk_node_eq(&p->comm_d_new, comm_d_new)) {
        why = "proof_d_new.root is not comm_d_new";
    } else if (!commits(&p->comm_c, &p->root_r_old, comm_r_old)) {
        why = "comm_r_old is not the hash of comm_c and the old replica's root";
    } else if (!commits(&p->comm_c, &p->root_r_new, comm_r_new)) {
        why = "comm_r_new is not the hash of comm_c and the new replica's root";
    } else if (!apex_leads_up(p, &c.data)) {
        why = "the apex leaves do not lead to comm_d_new";
    }
    if (why) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: partition %u: %s", name, k, why);
    }
    cuzk_update_challenges(c.challenges, s, k, comm_r_new);
    return check_all(&c, s->update_challenges, name, pool, err);
}
