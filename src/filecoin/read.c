#include "filecoin/read.h"

#include "base/file.h"
#include "filecoin/bincode.h"
#include "filecoin/porep_bincode.h"

#include <stdio.h>

cuzk_code cuzk_porep_read(cuzk_porep *ret, cuzk_span bytes, const char *name,
                          const cuzk_seal_proof *want, cuzk_err *err)
{
    cuzk_porep p = {0};
    cuzk_code code = cuzk_porep_is_bincode(bytes)
                         ? cuzk_porep_read_bincode(&p, bytes, name, want, err)
                         : cuzk_porep_read_json(&p, bytes, name, want, err);
    if (code != CUZK_OK) {
        cuzk_porep_clear(&p);
        return code;
    }
    *ret = p;
    return CUZK_OK;
}

static cuzk_code read_post(cuzk_bincode *b, cuzk_post_sector *s, const cuzk_post_proof *proof,
                           cuzk_err *err)
{
    const cuzk_tree octal = cuzk_sector_octal_tree(proof->sector);
    CUZK_TRY(cuzk_bincode_u64(b, "sector_id", &s->id, err));
    CUZK_TRY(cuzk_bincode_nodes(b, "comm_r", &s->comm_r, 1, err));
    CUZK_TRY(cuzk_bincode_length(b, "vanilla_proof.sectors", 1, err));
    CUZK_TRY(cuzk_bincode_length(b, "inclusion_proofs", s->n_paths, err));
    b->section = "inclusion_proof";
    for (unsigned i = 0; i < s->n_paths; i++) {
        cuzk_node root;
        snprintf(b->where, sizeof b->where, "challenge %u", i);
        CUZK_TRY(cuzk_bincode_merkle(b, &octal, &s->paths[i], &root, err));
        if (i == 0) {
            s->comm_r_last = root;
        } else if (!cuzk_node_eq(&root, &s->comm_r_last)) {
            return cuzk_bincode_fail(b, err, "root", "not that of the first challenge");
        }
    }
    b->where[0] = '\0';
    b->section = "";
    cuzk_node comm_r_last;
    CUZK_TRY(cuzk_bincode_nodes(b, "comm_c", &s->comm_c, 1, err));
    CUZK_TRY(cuzk_bincode_nodes(b, "comm_r_last", &comm_r_last, 1, err));
    if (!cuzk_node_eq(&comm_r_last, &s->comm_r_last)) {
        return cuzk_bincode_fail(b, err, "comm_r_last", "not the root of the inclusion proofs");
    }
    return cuzk_bincode_end(b, err);
}

cuzk_code cuzk_post_sector_read(cuzk_post_sector *ret, cuzk_span bytes, const char *name,
                                const cuzk_post_proof *proof, cuzk_err *err)
{
    cuzk_bincode b = cuzk_bincode_of(bytes, name);
    cuzk_post_sector s;
    CUZK_TRY(cuzk_post_sector_init(&s, proof->sector, cuzk_post_proof_challenges(proof), err));
    cuzk_code code = read_post(&b, &s, proof, err);
    if (code != CUZK_OK) {
        cuzk_post_sector_clear(&s);
        return code;
    }
    *ret = s;
    return CUZK_OK;
}

/* The partition that a challenge belongs to: its index' top bits. */
static unsigned partition_of(const cuzk_sector *s, uint64_t index)
{
    return (unsigned)(index / (s->nodes / s->update_partitions));
}

static cuzk_code read_update_challenge(cuzk_bincode *b, cuzk_update_partition *p, unsigned i,
                                       cuzk_err *err)
{
    const cuzk_tree data = cuzk_sector_data_tree(p->sector);
    const cuzk_tree octal = cuzk_sector_octal_tree(p->sector);
    cuzk_update_challenge *c = &p->challenges[i];
    const struct {
        const char *name;
        const cuzk_tree *tree;
        cuzk_path *path;
        cuzk_node *root;
    } parts[] = {{"proof_r_old", &octal, &c->r_old, &p->root_r_old},
                 {"proof_d_new", &data, &c->d_new, &p->comm_d_new},
                 {"proof_r_new", &octal, &c->r_new, &p->root_r_new}};
    for (size_t k = 0; k < 3; k++) {
        cuzk_node root;
        b->section = parts[k].name;
        CUZK_TRY(cuzk_bincode_merkle(b, parts[k].tree, parts[k].path, &root, err));
        if (i == 0) {
            *parts[k].root = root;
        } else if (!cuzk_node_eq(&root, parts[k].root)) {
            return cuzk_bincode_fail(b, err, "root", "not that of the first challenge");
        }
        if (parts[k].path->index != c->r_old.index) {
            return cuzk_bincode_fail(b, err, "path", "not the index of proof_r_old");
        }
    }
    if (i == 0) {
        p->k = partition_of(p->sector, c->r_old.index);
    } else if (partition_of(p->sector, c->r_old.index) != p->k) {
        return cuzk_bincode_fail(b, err, "path", "not in the partition of the first challenge");
    }
    return CUZK_OK;
}

static cuzk_code read_update(cuzk_bincode *b, cuzk_update_partition *p, cuzk_err *err)
{
    const cuzk_sector *s = p->sector;
    CUZK_TRY(cuzk_bincode_nodes(b, "comm_c", &p->comm_c, 1, err));
    CUZK_TRY(cuzk_bincode_length(b, "apex_leafs", s->update_apex, err));
    CUZK_TRY(cuzk_bincode_nodes(b, "apex_leafs", p->apex, s->update_apex, err));
    CUZK_TRY(cuzk_bincode_length(b, "challenge_proofs", s->update_challenges, err));
    for (unsigned i = 0; i < s->update_challenges; i++) {
        snprintf(b->where, sizeof b->where, "challenge %u", i);
        CUZK_TRY(read_update_challenge(b, p, i, err));
    }
    b->where[0] = '\0';
    b->section = "";
    return cuzk_bincode_end(b, err);
}

cuzk_code cuzk_update_partition_read(cuzk_update_partition *ret, cuzk_span bytes, const char *name,
                                     const cuzk_sector *sector, cuzk_err *err)
{
    cuzk_bincode b = cuzk_bincode_of(bytes, name);
    cuzk_update_partition p;
    CUZK_TRY(cuzk_update_partition_init(&p, sector, err));
    cuzk_code code = read_update(&b, &p, err);
    if (code != CUZK_OK) {
        cuzk_update_partition_clear(&p);
        return code;
    }
    *ret = p;
    return CUZK_OK;
}

cuzk_code cuzk_porep_read_file(cuzk_porep *ret, const char *path, const cuzk_seal_proof *want,
                               cuzk_err *err)
{
    cuzk_file_map map;
    CUZK_TRY(cuzk_file_map_open(&map, path, err));
    cuzk_code code = cuzk_porep_read(ret, map.bytes, path, want, err);
    cuzk_file_map_close(&map);
    return code;
}

cuzk_code cuzk_post_sector_read_file(cuzk_post_sector *ret, const char *path,
                                     const cuzk_post_proof *proof, cuzk_err *err)
{
    cuzk_file_map map;
    CUZK_TRY(cuzk_file_map_open(&map, path, err));
    cuzk_code code = cuzk_post_sector_read(ret, map.bytes, path, proof, err);
    cuzk_file_map_close(&map);
    return code;
}

cuzk_code cuzk_update_partition_read_file(cuzk_update_partition *ret, const char *path,
                                          const cuzk_sector *sector, cuzk_err *err)
{
    cuzk_file_map map;
    CUZK_TRY(cuzk_file_map_open(&map, path, err));
    cuzk_code code = cuzk_update_partition_read(ret, map.bytes, path, sector, err);
    cuzk_file_map_close(&map);
    return code;
}
