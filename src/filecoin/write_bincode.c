#include "filecoin/graph.h"
#include "filecoin/write.h"
#include "filecoin/write_json.h"

/* Where bytes go. The first error stays and drops what comes after it, so that only the end has to
 * be checked. */
typedef struct sink {
    cuzk_file_writer *w;
    cuzk_err *err;
    cuzk_code code;
} sink;

static void put(sink *s, const void *bytes, size_t n)
{
    if (s->code == CUZK_OK) {
        s->code = cuzk_file_writer_put(s->w, bytes, n, s->err);
    }
}

static void put_u32(sink *s, uint32_t v)
{
    uint8_t bytes[4];
    cuzk_store_u32le(bytes, v);
    put(s, bytes, sizeof bytes);
}

static void put_u64(sink *s, uint64_t v)
{
    uint8_t bytes[8];
    cuzk_store_u64le(bytes, v);
    put(s, bytes, sizeof bytes);
}

static void put_nodes(sink *s, const cuzk_node *nodes, size_t n)
{
    put(s, nodes, n * sizeof *nodes);
}

static void put_levels(sink *s, const cuzk_tree *tree, unsigned from, unsigned to,
                       const cuzk_node **siblings, uint64_t *index)
{
    put_u64(s, to - from);
    for (unsigned l = from; l < to; l++) {
        const uint64_t n = ((uint64_t)1 << tree->lg_arity[l]) - 1;
        put_u64(s, n);
        put_nodes(s, *siblings, n);
        put_u64(s, *index & n);
        *siblings += n;
        *index >>= tree->lg_arity[l];
    }
}

static void put_merkle(sink *s, const cuzk_tree *tree, const cuzk_path *path, const cuzk_node *root)
{
    const cuzk_node *siblings = path->siblings;
    uint64_t index = path->index;
    const unsigned base = tree->levels - (unsigned)tree->variant;
    put_u32(s, tree->variant);
    if (tree->variant == 0) {
        put_nodes(s, root, 1);
        put_nodes(s, &path->leaf, 1);
        put_levels(s, tree, 0, base, &siblings, &index);
        return;
    }
    put_levels(s, tree, 0, base, &siblings, &index);
    for (unsigned l = base; l < tree->levels; l++) {
        put_levels(s, tree, l, l + 1, &siblings, &index);
    }
    put_nodes(s, root, 1);
    put_nodes(s, &path->leaf, 1);
}

static void put_column(sink *s, const cuzk_porep *p, const cuzk_column *column)
{
    const cuzk_tree octal = cuzk_sector_octal_tree(p->proof.sector);
    put_u32(s, (uint32_t)column->path.index);
    put_u64(s, p->proof.sector->layers);
    put_nodes(s, column->rows, p->proof.sector->layers);
    put_merkle(s, &octal, &column->path, &p->comm_c);
}

static void put_parents(sink *s, const cuzk_porep_challenge *c, uint32_t layer)
{
    cuzk_node parents[CUZK_LABEL_PARENTS];
    cuzk_label_parents(parents, c->columns, layer);
    put_u64(s, CUZK_LABEL_PARENTS);
    put_nodes(s, parents, CUZK_LABEL_PARENTS);
    put_u32(s, layer);
    put_u64(s, c->data.index);
}

static void put_challenge(sink *s, const cuzk_porep *p, const cuzk_porep_challenge *c)
{
    const cuzk_sector *sector = p->proof.sector;
    const cuzk_tree data = cuzk_sector_data_tree(sector), octal = cuzk_sector_octal_tree(sector);
    put_merkle(s, &data, &c->data, &p->comm_d);
    put_merkle(s, &octal, &c->replica, &p->comm_r_last);
    put_column(s, p, &c->columns[CUZK_COLUMN_OWN]);
    put_u64(s, CUZK_DRG_PARENTS);
    for (unsigned i = 0; i < CUZK_PARENTS; i++) {
        if (i == CUZK_COLUMN_EXP) {
            put_u64(s, CUZK_EXP_PARENTS);
        }
        put_column(s, p, &c->columns[i]);
    }
    put_u64(s, sector->layers);
    for (uint32_t l = 1; l <= sector->layers; l++) {
        put_parents(s, c, l);
    }
    put_parents(s, c, sector->layers);
}

cuzk_code cuzk_porep_write(cuzk_file_writer *w, const cuzk_porep *p, cuzk_porep_form form,
                           cuzk_err *err)
{
    if (form != CUZK_POREP_BINCODE) {
        return cuzk_porep_write_json(w, p, form == CUZK_POREP_WRAPPER, err);
    }
    sink s = {w, err, CUZK_OK};
    put_u64(&s, p->n_partitions);
    for (unsigned k = 0; k < p->n_partitions; k++) {
        put_u64(&s, p->proof.sector->challenges);
        for (unsigned i = 0; i < p->proof.sector->challenges; i++) {
            put_challenge(&s, p, &p->partitions[k].challenges[i]);
        }
    }
    put_nodes(&s, &p->comm_r, 1);
    put_nodes(&s, &p->comm_d, 1);
    put_nodes(&s, &p->replica_id, 1);
    put(&s, p->seed, sizeof p->seed);
    put(&s, p->ticket, sizeof p->ticket);
    return s.code;
}

cuzk_code cuzk_post_sector_write(cuzk_file_writer *w, const cuzk_post_sector *post,
                                 const cuzk_sector *sector, cuzk_err *err)
{
    const cuzk_tree octal = cuzk_sector_octal_tree(sector);
    sink s = {w, err, CUZK_OK};
    put_u64(&s, post->id);
    put_nodes(&s, &post->comm_r, 1);
    put_u64(&s, 1);
    put_u64(&s, post->n_paths);
    for (unsigned i = 0; i < post->n_paths; i++) {
        put_merkle(&s, &octal, &post->paths[i], &post->comm_r_last);
    }
    put_nodes(&s, &post->comm_c, 1);
    put_nodes(&s, &post->comm_r_last, 1);
    return s.code;
}

cuzk_code cuzk_update_partition_write(cuzk_file_writer *w, const cuzk_update_partition *p,
                                      cuzk_err *err)
{
    const cuzk_tree data = cuzk_sector_data_tree(p->sector);
    const cuzk_tree octal = cuzk_sector_octal_tree(p->sector);
    sink s = {w, err, CUZK_OK};
    put_nodes(&s, &p->comm_c, 1);
    put_u64(&s, p->sector->update_apex);
    put_nodes(&s, p->apex, p->sector->update_apex);
    put_u64(&s, p->sector->update_challenges);
    for (unsigned i = 0; i < p->sector->update_challenges; i++) {
        const cuzk_update_challenge *c = &p->challenges[i];
        put_merkle(&s, &octal, &c->r_old, &p->root_r_old);
        put_merkle(&s, &data, &c->d_new, &p->comm_d_new);
        put_merkle(&s, &octal, &c->r_new, &p->root_r_new);
    }
    return s.code;
}
