#include "filecoin/challenges.h"
#include "filecoin/generate.h"
#include "filecoin/generate_names.h"
#include "filecoin/graph.h"
#include "filecoin/merkle.h"

#include <stdlib.h>

/* Everything that is known of the sector: the challenged nodes, their parents, and their columns.
 */
typedef struct sealing {
    const cuzk_sector *sector;
    const char *seed;
    cuzk_porep *porep;
    cuzk_node data[CUZK_MAX_LEVELS + 1]; /* every node of a level of tree D is the same */
    size_t n_all;                        /* challenges of all partitions */
    uint64_t *all;                       /* in the order of the proof */
    size_t n_challenged;
    uint64_t *challenged;              /* ascending, each once */
    uint64_t (*parents)[CUZK_PARENTS]; /* of challenged */
    size_t n_columns;
    uint64_t *columns; /* challenged nodes and parents, ascending, each once */
    cuzk_node *rows;   /* n_columns times layers */
    cuzk_node *hashes; /* of columns */
    cuzk_sparse_tree *tree_c, *tree_r;
} sealing;

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts and drops repetitions; returns how many are left. */
static size_t sort_unique(uint64_t *v, size_t n)
{
    size_t k = 0;
    qsort(v, n, sizeof *v, compare);
    for (size_t i = 0; i < n; i++) {
        if (k == 0 || v[k - 1] != v[i]) {
            v[k++] = v[i];
        }
    }
    return k;
}

static size_t place_of(const uint64_t *v, size_t n, uint64_t value)
{
    const uint64_t *at = bsearch(&value, v, n, sizeof *v, compare);
    return (size_t)(at - v);
}

static void name_sector(sealing *s)
{
    cuzk_porep *p = s->porep;
    uint8_t prover[32], porep_id[32];
    p->proof = cuzk_seal_proof_of_sector(s->sector);
    memcpy(p->ticket, cuzk_named_node(s->seed, "ticket").b, sizeof p->ticket);
    memcpy(p->seed, cuzk_named_node(s->seed, "seed").b, sizeof p->seed);
    s->data[0] = cuzk_named_node(s->seed, "synthetic data leaf");
    for (unsigned l = 0; l < s->sector->lg_nodes; l++) {
        s->data[l + 1] = cuzk_sha256_node(&s->data[l], &s->data[l]);
    }
    p->comm_d = s->data[s->sector->lg_nodes];
    p->has_sector_number = true;
    p->sector_number = 1;
    cuzk_prover_id(prover, 1000);
    cuzk_porep_id(porep_id, &p->proof);
    p->replica_id = cuzk_replica_id(prover, p->sector_number, p->ticket, &p->comm_d, porep_id);
}

/* Challenges, their parents, and which columns are opened. */
static cuzk_code choose_nodes(sealing *s, cuzk_err *err)
{
    const cuzk_porep *p = s->porep;
    const unsigned partitions = cuzk_seal_proof_partitions(&p->proof);
    uint8_t porep_id[32];
    cuzk_graph graph;
    cuzk_porep_id(porep_id, &p->proof);
    cuzk_graph_init(&graph, s->sector->nodes, p->proof.api, porep_id);
    s->n_all = (size_t)partitions * s->sector->challenges;
    s->all = calloc(s->n_all, sizeof *s->all);
    s->challenged = calloc(s->n_all, sizeof *s->challenged);
    s->parents = calloc(s->n_all, sizeof *s->parents);
    s->columns = calloc(s->n_all * CUZK_COLUMNS, sizeof *s->columns);
    if (!s->all || !s->challenged || !s->parents || !s->columns) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu challenges", s->n_all);
    }
    for (unsigned k = 0; k < partitions; k++) {
        cuzk_porep_challenges(s->all + (size_t)k * s->sector->challenges, &p->proof, k,
                              &p->replica_id, &p->comm_r, p->seed);
    }
    memcpy(s->challenged, s->all, s->n_all * sizeof *s->all);
    s->n_challenged = sort_unique(s->challenged, s->n_all);
    for (size_t i = 0; i < s->n_challenged; i++) {
        cuzk_graph_parents(&graph, s->challenged[i], s->parents[i]);
        s->columns[s->n_columns++] = s->challenged[i];
        memcpy(s->columns + s->n_columns, s->parents[i], sizeof s->parents[i]);
        s->n_columns += CUZK_PARENTS;
    }
    s->n_columns = sort_unique(s->columns, s->n_columns);
    return CUZK_OK;
}

static cuzk_node *rows_of(const sealing *s, uint64_t node)
{
    return s->rows + place_of(s->columns, s->n_columns, node) * s->sector->layers;
}

/* Labels: fillers for parents that are not challenged themselves, true ones for challenged nodes.
 * In ascending order, since a DRG parent may be a smaller challenged node. */
static cuzk_code label_columns(sealing *s, cuzk_err *err)
{
    const unsigned layers = s->sector->layers;
    char tag[CUZK_NAME_MAX];
    cuzk_seeded_name(tag, s->seed, "label");
    s->rows = calloc(s->n_columns * layers, sizeof *s->rows);
    if (!s->rows) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu columns", s->n_columns);
    }
    for (size_t i = 0; i < s->n_columns; i++) {
        for (unsigned l = 1; l <= layers; l++) {
            s->rows[i * layers + l - 1] = cuzk_filler_node(tag, l, s->columns[i]);
        }
    }
    for (unsigned l = 1; l <= layers; l++) {
        for (size_t i = 0; i < s->n_challenged; i++) {
            cuzk_column columns[CUZK_PARENTS];
            cuzk_node parents[CUZK_LABEL_PARENTS];
            for (unsigned p = 0; p < CUZK_PARENTS; p++) {
                columns[p].rows = rows_of(s, s->parents[i][p]);
            }
            cuzk_label_parents(parents, columns, l);
            rows_of(s, s->challenged[i])[l - 1] =
                cuzk_label(&s->porep->replica_id, l, s->challenged[i], parents);
        }
    }
    return CUZK_OK;
}

static void hash_column(void *ctx, size_t i, unsigned worker)
{
    (void)worker;
    const sealing *s = ctx;
    s->hashes[i] = cuzk_column_hash(s->rows + i * s->sector->layers, s->sector->layers);
}

static cuzk_code plant_trees(sealing *s, cuzk_pool *pool, cuzk_err *err)
{
    const cuzk_tree octal = cuzk_sector_octal_tree(s->sector);
    const unsigned layers = s->sector->layers;
    char tag[CUZK_NAME_MAX];
    s->hashes = calloc(s->n_columns, sizeof *s->hashes);
    if (!s->hashes) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu columns", s->n_columns);
    }
    cuzk_pool_run(pool, s->n_columns, hash_column, s);
    cuzk_seeded_name(tag, s->seed, "tree_c");
    CUZK_TRY(cuzk_sparse_tree_new(&s->tree_c, &octal, s->columns, s->hashes, s->n_columns, tag,
                                  pool, err));
    cuzk_node *replica = s->hashes; /* tree C keeps what it needs of them */
    for (size_t i = 0; i < s->n_challenged; i++) {
        fr label, leaf;
        cuzk_node_to_fr(&label, &rows_of(s, s->challenged[i])[layers - 1]);
        cuzk_node_to_fr(&leaf, &s->data[0]);
        fr_add(&leaf, &leaf, &label);
        replica[i] = cuzk_node_of_fr(&leaf);
    }
    cuzk_seeded_name(tag, s->seed, "tree_r_last");
    return cuzk_sparse_tree_new(&s->tree_r, &octal, s->challenged, replica, s->n_challenged, tag,
                                pool, err);
}

static void open_challenge(const sealing *s, cuzk_porep_challenge *c, uint64_t node)
{
    const uint64_t *parents = s->parents[place_of(s->challenged, s->n_challenged, node)];
    c->data.leaf = s->data[0];
    c->data.index = node;
    memcpy(c->data.siblings, s->data, s->sector->lg_nodes * sizeof *s->data);
    cuzk_sparse_tree_open(s->tree_r, node, &c->replica);
    for (unsigned i = 0; i < CUZK_COLUMNS; i++) {
        const uint64_t at = i < CUZK_PARENTS ? parents[i] : node;
        memcpy(c->columns[i].rows, rows_of(s, at), s->sector->layers * sizeof *s->rows);
        cuzk_sparse_tree_open(s->tree_c, at, &c->columns[i].path);
    }
}

static cuzk_code open_all(const sealing *s, cuzk_err *err)
{
    cuzk_porep *p = s->porep;
    p->comm_c = cuzk_sparse_tree_root(s->tree_c);
    p->comm_r_last = cuzk_sparse_tree_root(s->tree_r);
    const cuzk_node pair[2] = {p->comm_c, p->comm_r_last};
    p->comm_r = cuzk_poseidon_nodes(pair, 2);
    for (size_t i = 0; i < s->n_all; i++) {
        const size_t k = i / s->sector->challenges, place = i % s->sector->challenges;
        if (place == 0) {
            CUZK_TRY(cuzk_porep_add_partition(p, err));
        }
        open_challenge(s, &p->partitions[k].challenges[place], s->all[i]);
    }
    return CUZK_OK;
}

cuzk_code cuzk_porep_generate(cuzk_porep *ret, const cuzk_sector *sector, const char *seed,
                              cuzk_pool *pool, cuzk_err *err)
{
    if (sector->layers == 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "sectors of %s have no PoRep", sector->name);
    }
    cuzk_porep porep = {0};
    sealing s = {.sector = sector, .seed = seed, .porep = &porep};
    name_sector(&s);
    cuzk_code code = choose_nodes(&s, err);
    if (code == CUZK_OK) {
        code = label_columns(&s, err);
    }
    if (code == CUZK_OK) {
        code = plant_trees(&s, pool, err);
    }
    if (code == CUZK_OK) {
        code = open_all(&s, err);
    }
    free(s.all);
    free(s.challenged);
    free(s.parents);
    free(s.columns);
    free(s.rows);
    free(s.hashes);
    cuzk_sparse_tree_free(s.tree_c);
    cuzk_sparse_tree_free(s.tree_r);
    if (code != CUZK_OK) {
        cuzk_porep_clear(&porep);
        return code;
    }
    *ret = porep;
    return CUZK_OK;
}
