#include "filecoin/public_inputs.h"

#include "filecoin/challenges.h"

static fr_repr number(uint64_t v) { return (fr_repr){{v}}; }

/* Nodes are canonical by contract, so this cannot fail. */
static fr_repr element(const cuzk_node *n)
{
    fr_repr r = {{0}};
    fr_repr_from_bytes(&r, n->b);
    return r;
}

cuzk_porep_public cuzk_porep_public_of(const cuzk_porep *porep)
{
    uint8_t porep_id[32];
    cuzk_porep_public pub = {.proof = porep->proof,
                             .replica_id = porep->replica_id,
                             .comm_d = porep->comm_d,
                             .comm_r = porep->comm_r};
    memcpy(pub.seed, porep->seed, sizeof pub.seed);
    cuzk_porep_id(porep_id, &porep->proof);
    cuzk_graph_init(&pub.graph, porep->proof.sector->nodes, porep->proof.api, porep_id);
    return pub;
}

void cuzk_porep_inputs_of(fr_repr *ret, const cuzk_porep_public *pub, const uint64_t *challenges)
{
    *ret++ = element(&pub->replica_id);
    *ret++ = element(&pub->comm_d);
    *ret++ = element(&pub->comm_r);
    for (unsigned i = 0; i < pub->proof.sector->challenges; i++) {
        uint64_t parents[CUZK_PARENTS];
        cuzk_graph_parents(&pub->graph, challenges[i], parents);
        *ret++ = number(challenges[i]); /* data path */
        for (unsigned p = 0; p < CUZK_PARENTS; p++) {
            *ret++ = number(parents[p]);
        }
        *ret++ = number(challenges[i]); /* label */
        *ret++ = number(challenges[i]); /* replica path */
        *ret++ = number(challenges[i]); /* own column's path */
    }
}

void cuzk_porep_inputs(fr_repr *ret, const cuzk_porep_public *pub, unsigned partition)
{
    enum { MAX_CHALLENGES = 18 };
    uint64_t challenges[MAX_CHALLENGES];
    cuzk_porep_challenges(challenges, &pub->proof, partition, &pub->replica_id, &pub->comm_r,
                          pub->seed);
    cuzk_porep_inputs_of(ret, pub, challenges);
}

static void winning_inputs(fr_repr *ret, const uint64_t *challenges, const cuzk_node *comm_r)
{
    for (unsigned i = 0; i < CUZK_WINNING_CHALLENGES; i++) {
        *ret++ = element(comm_r);
        *ret++ = number(challenges[i]);
    }
}

cuzk_code cuzk_post_inputs(fr_repr *ret, const cuzk_post_proof *proof, const uint8_t randomness[32],
                           const cuzk_post_public *sectors, size_t n, unsigned sector_count,
                           unsigned partition, cuzk_err *err)
{
    uint64_t challenges[CUZK_WINNING_CHALLENGES];
    size_t per_partition = proof->window ? sector_count : 1;
    size_t first = partition * per_partition;
    if (first >= n) {
        return CUZK_FAIL(err, CUZK_E_ARG, "PoSt partition %u of %zu sectors does not exist",
                         partition, n);
    }
    if (!proof->window) {
        cuzk_post_challenges(challenges, proof, randomness, sectors[first].id, 0);
        winning_inputs(ret, challenges, &sectors[first].comm_r);
        return CUZK_OK;
    }
    size_t left = n - first < per_partition ? n - first : per_partition;
    for (size_t i = 0; i < per_partition; i++) {
        const size_t place = first + (i < left ? i : left - 1);
        cuzk_post_challenges(challenges, proof, randomness, sectors[place].id, place);
        *ret++ = element(&sectors[place].comm_r);
        for (unsigned k = 0; k < CUZK_WINDOW_CHALLENGES; k++) {
            *ret++ = number(challenges[k]);
        }
    }
    return CUZK_OK;
}

void cuzk_update_inputs(fr_repr ret[CUZK_UPDATE_INPUTS], const cuzk_sector *sector, unsigned k,
                        const cuzk_node *comm_r_old, const cuzk_node *comm_d_new,
                        const cuzk_node *comm_r_new)
{
    unsigned lg_partitions = 0;
    while (1u << lg_partitions < sector->update_partitions) {
        lg_partitions++;
    }
    ret[0] = number(k | (uint64_t)1 << cuzk_sector_update_h_index(sector) << lg_partitions);
    ret[1] = element(comm_r_old);
    ret[2] = element(comm_d_new);
    ret[3] = element(comm_r_new);
}
