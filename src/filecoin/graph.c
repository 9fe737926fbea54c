#include "filecoin/graph.h"

#include "base/blake2b.h"
#include "base/bytes.h"
#include "base/chacha.h"
#include "base/sha256.h"

/* The metagraph has this many nodes for each of ours: all DRG parents but the predecessor. */
enum { META = CUZK_DRG_PARENTS - 1 };

void cuzk_porep_id(uint8_t ret[32], const cuzk_seal_proof *proof)
{
    memset(ret, 0, 32);
    cuzk_store_u64le(ret, proof->number); /* the nonce after it is 0 */
}

void cuzk_prover_id(uint8_t ret[32], uint64_t miner)
{
    memset(ret, 0, 32);
    while (miner >= 0x80) {
        *ret++ = (uint8_t)(miner | 0x80);
        miner >>= 7;
    }
    *ret = (uint8_t)miner;
}

cuzk_node cuzk_replica_id(const uint8_t prover_id[32], uint64_t sector, const uint8_t ticket[32],
                          const cuzk_node *comm_d, const uint8_t porep_id[32])
{
    uint8_t sector_bytes[8];
    cuzk_store_u64be(sector_bytes, sector);
    cuzk_sha256_state s;
    cuzk_sha256_init(&s);
    cuzk_sha256_update(&s, prover_id, 32);
    cuzk_sha256_update(&s, sector_bytes, sizeof sector_bytes);
    cuzk_sha256_update(&s, ticket, 32);
    cuzk_sha256_update(&s, comm_d->b, 32);
    cuzk_sha256_update(&s, porep_id, 32);
    cuzk_node id;
    cuzk_sha256_final(&s, id.b);
    id.b[31] &= 0x3f;
    return id;
}

cuzk_node cuzk_label(const cuzk_node *replica_id, uint32_t layer, uint64_t node,
                     const cuzk_node parents[CUZK_LABEL_PARENTS])
{
    uint8_t head[64] = {0};
    memcpy(head, replica_id->b, 32);
    cuzk_store_u32be(head + 32, layer);
    cuzk_store_u64be(head + 36, node);
    cuzk_sha256_state s;
    cuzk_sha256_init(&s);
    cuzk_sha256_update(&s, head, sizeof head);
    cuzk_sha256_update(&s, parents, CUZK_LABEL_PARENTS * sizeof *parents);
    cuzk_node label;
    cuzk_sha256_final(&s, label.b);
    label.b[31] &= 0x3f;
    return label;
}

void cuzk_label_parents(cuzk_node ret[CUZK_LABEL_PARENTS], const cuzk_column columns[CUZK_PARENTS],
                        uint32_t layer)
{
    unsigned period = layer > 1 ? CUZK_PARENTS : CUZK_DRG_PARENTS;
    for (unsigned i = 0; i < CUZK_LABEL_PARENTS; i++) {
        unsigned p = i % period;
        ret[i] = columns[p].rows[p < CUZK_DRG_PARENTS ? layer - 1 : layer - 2];
    }
}

static void seeded(uint8_t ret[32], const char *tag, const uint8_t porep_id[32])
{
    cuzk_sha256_state s;
    cuzk_sha256_init(&s);
    cuzk_sha256_update(&s, tag, strlen(tag));
    cuzk_sha256_update(&s, porep_id, 32);
    cuzk_sha256_final(&s, ret);
}

void cuzk_graph_init(cuzk_graph *ret, uint64_t nodes, cuzk_api_version api,
                     const uint8_t porep_id[32])
{
    uint8_t digest[32];
    *ret = (cuzk_graph){.nodes = nodes, .feistel_bits = 1, .legacy = api == CUZK_API_V1_0};
    seeded(digest, "Filecoin_DRSample", porep_id);
    for (int i = 0; i < 7; i++) {
        ret->drg_key[i] = cuzk_load_u32le(digest + 4 * i);
    }
    seeded(digest, "Filecoin_Feistel", porep_id);
    for (int i = 0; i < 3; i++) {
        ret->feistel_key[i] = cuzk_load_u64le(digest + 8 * i);
    }
    while (1ull << 2 * ret->feistel_bits < CUZK_EXP_PARENTS * nodes) {
        ret->feistel_bits++;
    }
}

/* The generator of a node's DRG parents: ChaCha8 over a 64-bit block counter. */
typedef struct drg_rng {
    uint32_t key[8], words[16];
    uint32_t block;
    unsigned used; /* of words */
} drg_rng;

static uint64_t next_u64(drg_rng *g)
{
    if (g->used == 16) {
        const uint32_t tail[4] = {g->block++};
        cuzk_chacha_block(g->words, g->key, tail, 8);
        g->used = 0;
    }
    uint64_t lo = g->words[g->used], hi = g->words[g->used + 1];
    g->used += 2;
    return lo | hi << 32;
}

static unsigned ceil_log2(uint64_t n)
{
    unsigned lg = 0;
    while (1ull << lg < n) {
        lg++;
    }
    return lg;
}

/* DRSample: a distance uniform in a bucket [2^(i-1), 2^i] of the metagraph, i uniform. */
static uint64_t sample(drg_rng *rng, uint64_t node)
{
    uint64_t meta = node * META;
    uint64_t i = next_u64(rng) % ceil_log2(meta) + 1;
    uint64_t large = 1ull << i < meta ? 1ull << i : meta;
    uint64_t small = large / 2 > 2 ? large / 2 : 2;
    uint64_t back = small + next_u64(rng) % (large - small + 1);
    uint64_t parent = (meta - back) / META;
    return parent == node ? node - 1 : parent;
}

static void drg_parents(const cuzk_graph *g, uint64_t node, uint64_t ret[CUZK_DRG_PARENTS])
{
    if (node <= 1) {
        memset(ret, 0, CUZK_DRG_PARENTS * sizeof *ret);
        return;
    }
    drg_rng rng = {.used = 16};
    memcpy(rng.key, g->drg_key, sizeof g->drg_key);
    rng.key[7] = (uint32_t)node;
    ret[g->legacy ? META : 0] = node - 1;
    for (int i = 0; i < META; i++) {
        ret[g->legacy ? i : i + 1] = sample(&rng, node);
    }
}

static uint64_t feistel_round(uint64_t x, uint64_t key, uint64_t mask)
{
    uint8_t in[16], out[64];
    cuzk_store_u64be(in, x);
    cuzk_store_u64be(in + 8, key);
    cuzk_blake2b(out, sizeof out, NULL, 0, in, sizeof in);
    return cuzk_load_u64be(out) & mask;
}

/* A permutation of [0, 8 nodes): a Feistel cipher over a power of 4, walked until inside. */
static uint64_t permute(const cuzk_graph *g, uint64_t i)
{
    unsigned bits = g->feistel_bits;
    uint64_t mask = (1ull << bits) - 1;
    do {
        uint64_t left = i >> bits, right = i & mask;
        for (int r = 0; r < 3; r++) {
            uint64_t next = left ^ feistel_round(right, g->feistel_key[r], mask);
            left = right;
            right = next;
        }
        i = left << bits | right;
    } while (i >= CUZK_EXP_PARENTS * g->nodes);
    return i;
}

void cuzk_graph_parents(const cuzk_graph *g, uint64_t node, uint64_t ret[CUZK_PARENTS])
{
    drg_parents(g, node, ret);
    for (unsigned j = 0; j < CUZK_EXP_PARENTS; j++) {
        uint64_t to = permute(g, CUZK_EXP_PARENTS * node + j);
        if (g->legacy) {
            to = (uint32_t)to; /* the first proofs lost the upper bits, and must still verify */
        }
        ret[CUZK_DRG_PARENTS + j] = to / CUZK_EXP_PARENTS;
    }
}
