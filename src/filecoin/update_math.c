#include "filecoin/update_math.h"

#include "filecoin/merkle.h"

static unsigned lg(unsigned n) { return n > 1 ? 1 + lg(n / 2) : 0; }

unsigned cuzk_update_lg_partitions(const cuzk_sector *sector)
{
    return lg(sector->update_partitions);
}

unsigned cuzk_update_lg_apex(const cuzk_sector *sector) { return lg(sector->update_apex); }

static cuzk_node number(uint64_t v)
{
    const fr f = fr_from_u64(v);
    return cuzk_node_of_fr(&f);
}

/* Bits [from, from + n) of a node as an integer, n < 64. */
static uint64_t bits_of(const cuzk_node *node, unsigned from, unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned at = from + i;
        v |= (uint64_t)(node->b[at / 8] >> (at % 8) & 1) << i;
    }
    return v;
}

void cuzk_update_challenges(uint64_t *ret, const cuzk_sector *sector, unsigned k,
                            const cuzk_node *comm_r_new)
{
    enum { USED_BITS = 254 }; /* of a digest */
    const unsigned bits = sector->lg_nodes - cuzk_update_lg_partitions(sector);
    const unsigned per_digest = USED_BITS / bits;
    const unsigned digests = (sector->update_challenges + per_digest - 1) / per_digest;
    cuzk_node digest = {{0}};
    for (unsigned i = 0; i < sector->update_challenges; i++) {
        if (i % per_digest == 0) {
            const cuzk_node j = number((uint64_t)k * digests + i / per_digest);
            digest = cuzk_poseidon_randomness(comm_r_new, &j);
        }
        ret[i] = bits_of(&digest, i % per_digest * bits, bits) | (uint64_t)k << bits;
    }
}

cuzk_node cuzk_update_phi(const cuzk_node *comm_d_new, const cuzk_node *comm_r_old)
{
    return cuzk_poseidon_randomness(comm_d_new, comm_r_old);
}

cuzk_node cuzk_update_rho(const cuzk_node *phi, uint64_t high)
{
    const cuzk_node n = number(high);
    return cuzk_poseidon_randomness(phi, &n);
}

cuzk_node cuzk_update_leaf(const cuzk_node *old, const cuzk_node *data, const cuzk_node *rho)
{
    fr a, d, r;
    cuzk_node_to_fr(&a, old);
    cuzk_node_to_fr(&d, data);
    cuzk_node_to_fr(&r, rho);
    fr_mul(&d, &d, &r);
    fr_add(&a, &a, &d);
    return cuzk_node_of_fr(&a);
}
