#include "filecoin/vanilla.h"

#include <stdlib.h>

bool cuzk_node_is_canonical(const cuzk_node *n)
{
    fr_repr r;
    /* the modulus' top byte is 0x73: one look decides almost always */
    return n->b[31] < 0x73 || fr_repr_from_bytes(&r, n->b);
}

/* Takes the next n nodes of a block. */
static cuzk_node *take(cuzk_node **next, size_t n)
{
    cuzk_node *p = *next;
    *next += n;
    return p;
}

size_t cuzk_porep_challenge_nodes(const cuzk_sector *sector)
{
    cuzk_tree data = cuzk_sector_data_tree(sector), octal = cuzk_sector_octal_tree(sector);
    return (size_t)data.siblings + octal.siblings +
           CUZK_COLUMNS * ((size_t)sector->layers + octal.siblings);
}

static void point_challenge(cuzk_porep_challenge *c, const cuzk_sector *sector, cuzk_node **next)
{
    cuzk_tree data = cuzk_sector_data_tree(sector), octal = cuzk_sector_octal_tree(sector);
    c->data.siblings = take(next, data.siblings);
    c->replica.siblings = take(next, octal.siblings);
    for (unsigned i = 0; i < CUZK_COLUMNS; i++) {
        c->columns[i].rows = take(next, sector->layers);
        c->columns[i].path.siblings = take(next, octal.siblings);
    }
}

cuzk_code cuzk_porep_add_partition(cuzk_porep *p, cuzk_err *err)
{
    const cuzk_sector *sector = p->proof.sector;
    size_t n = p->n_partitions + (size_t)1;
    cuzk_porep_partition *partitions = realloc(p->partitions, n * sizeof *partitions);
    if (!partitions) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu PoRep partitions", n);
    }
    p->partitions = partitions;
    size_t nodes = sector->challenges * cuzk_porep_challenge_nodes(sector);
    cuzk_porep_partition part = {calloc(sector->challenges, sizeof *part.challenges),
                                 calloc(nodes, sizeof *part.nodes)};
    if (!part.challenges || !part.nodes) {
        free(part.challenges);
        free(part.nodes);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a PoRep partition of %zu nodes", nodes);
    }
    cuzk_node *next = part.nodes;
    for (unsigned i = 0; i < sector->challenges; i++) {
        point_challenge(&part.challenges[i], sector, &next);
    }
    p->partitions[p->n_partitions++] = part;
    return CUZK_OK;
}

void cuzk_porep_clear(cuzk_porep *p)
{
    for (unsigned i = 0; i < p->n_partitions; i++) {
        free(p->partitions[i].challenges);
        free(p->partitions[i].nodes);
    }
    free(p->partitions);
    *p = (cuzk_porep){0};
}

cuzk_code cuzk_post_sector_init(cuzk_post_sector *ret, const cuzk_sector *sector, unsigned n_paths,
                                cuzk_err *err)
{
    cuzk_tree octal = cuzk_sector_octal_tree(sector);
    cuzk_post_sector s = {.n_paths = n_paths,
                          .paths = calloc(n_paths, sizeof *s.paths),
                          .nodes = calloc((size_t)n_paths * octal.siblings, sizeof *s.nodes)};
    if (!s.paths || !s.nodes) {
        cuzk_post_sector_clear(&s);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %u PoSt paths", n_paths);
    }
    for (unsigned i = 0; i < n_paths; i++) {
        s.paths[i].siblings = s.nodes + (size_t)i * octal.siblings;
    }
    *ret = s;
    return CUZK_OK;
}

void cuzk_post_sector_clear(cuzk_post_sector *s)
{
    free(s->paths);
    free(s->nodes);
    *s = (cuzk_post_sector){0};
}

cuzk_code cuzk_update_partition_init(cuzk_update_partition *ret, const cuzk_sector *sector,
                                     cuzk_err *err)
{
    cuzk_tree data = cuzk_sector_data_tree(sector), octal = cuzk_sector_octal_tree(sector);
    size_t n = sector->update_challenges;
    size_t nodes = sector->update_apex + n * (2 * (size_t)octal.siblings + data.siblings);
    cuzk_update_partition p = {.sector = sector,
                               .challenges = calloc(n, sizeof *p.challenges),
                               .nodes = calloc(nodes, sizeof *p.nodes)};
    if (!p.challenges || !p.nodes) {
        cuzk_update_partition_clear(&p);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for an update of %zu nodes", nodes);
    }
    cuzk_node *next = p.nodes;
    p.apex = take(&next, sector->update_apex);
    for (size_t i = 0; i < n; i++) {
        p.challenges[i].r_old.siblings = take(&next, octal.siblings);
        p.challenges[i].d_new.siblings = take(&next, data.siblings);
        p.challenges[i].r_new.siblings = take(&next, octal.siblings);
    }
    *ret = p;
    return CUZK_OK;
}

void cuzk_update_partition_clear(cuzk_update_partition *p)
{
    free(p->challenges);
    free(p->nodes);
    *p = (cuzk_update_partition){0};
}
