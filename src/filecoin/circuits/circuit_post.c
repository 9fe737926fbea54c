#include "filecoin/circuits/circuit_post.h"

#include "filecoin/circuits/circuit_por.h"

enum { WINNING_CHALLENGES_PER_SECTOR = 1 };

cuzk_post_config cuzk_post_config_of(const cuzk_circuit_id *id)
{
    cuzk_post_config c = {CUZK_WINNING_CHALLENGES, WINNING_CHALLENGES_PER_SECTOR,
                          cuzk_sector_octal_tree(id->sector)};
    if (id->kind == CUZK_WINDOW_POST) {
        c.sectors = id->cut ? id->cut : id->sector->window_sectors;
        c.challenges = CUZK_WINDOW_CHALLENGES;
    }
    return c;
}

static void sector(cuzk_cs *cs, const cuzk_post_config *c, const cuzk_post_sector *s,
                   const cuzk_path *paths)
{
    cuzk_num root = cuzk_node_alloc(cs, s ? &s->comm_r_last : NULL);
    cuzk_num comm_c = cuzk_node_alloc(cs, s ? &s->comm_c : NULL);
    cuzk_num comm_r = cuzk_node_alloc_input(cs, s ? &s->comm_r : NULL);
    cuzk_comm_r_check(cs, &comm_c, &root, &comm_r);
    for (unsigned k = 0; k < c->challenges; k++) {
        cuzk_num leaf = cuzk_node_alloc(cs, paths ? &paths[k].leaf : NULL);
        cuzk_por(cs, &c->octal, false, &leaf, paths ? &paths[k] : NULL, &root);
    }
}

void cuzk_circuit_post(cuzk_cs *cs, const cuzk_post_config *c, const cuzk_post_sector *given,
                       size_t n)
{
    size_t at = 0;     /* given sector */
    unsigned from = 0; /* its next path */
    for (unsigned i = 0; i < c->sectors && !cuzk_cs_failed(cs); i++) {
        if (!given) {
            sector(cs, c, NULL, NULL);
            continue;
        }
        if (given[at].n_paths < c->challenges || given[at].n_paths % c->challenges) {
            cuzk_cs_fail(cs, CUZK_E_INPUT, "a sector has the wrong number of challenges");
            return;
        }
        sector(cs, c, &given[at], given[at].paths + from);
        from += c->challenges;
        if (from == given[at].n_paths) {
            from = at + 1 < n ? 0 : from - c->challenges;
            at += at + 1 < n;
        }
    }
}
