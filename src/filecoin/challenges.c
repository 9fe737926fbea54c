#include "filecoin/challenges.h"

#include "base/blake2b.h"
#include "base/bytes.h"
#include "base/chacha.h"
#include "base/sha256.h"

__extension__ typedef unsigned __int128 u128;

enum { SYNTHETIC_MAX = 1 << 18 }; /* candidates in the synthetic set of a big sector */

/* A 256-bit little-endian integer to a node in [1, nodes). */
static uint64_t reduce(const uint8_t digest[32], uint64_t nodes)
{
    uint64_t m = nodes - 1, rest = 0;
    for (int i = 3; i >= 0; i--) {
        rest = (uint64_t)(((u128)rest << 64 | cuzk_load_u64le(digest + 8 * i)) % m);
    }
    return rest + 1;
}

/* SHA-256(tag || a || b || u32le(j)); tag may be empty. */
static uint64_t hashed(const char *tag, const uint8_t a[32], const uint8_t b[32], uint32_t j,
                       uint64_t nodes)
{
    uint8_t number[4], digest[32];
    cuzk_store_u32le(number, j);
    cuzk_sha256_state s;
    cuzk_sha256_init(&s);
    cuzk_sha256_update(&s, tag, strlen(tag));
    cuzk_sha256_update(&s, a, 32);
    cuzk_sha256_update(&s, b, 32);
    cuzk_sha256_update(&s, number, sizeof number);
    cuzk_sha256_final(&s, digest);
    return reduce(digest, nodes);
}

/* Block `block` of the ChaCha20 stream whose key is keyed-BLAKE2b-256(a || b). */
static void synthetic_block(uint32_t ret[16], const char *tag, const uint8_t a[32],
                            const uint8_t b[32], uint32_t block)
{
    static const uint8_t nonce[12] = "synth-porep"; /* with its NUL */
    uint8_t in[64], digest[32];
    uint32_t key[8], tail[4] = {block};
    memcpy(in, a, 32);
    memcpy(in + 32, b, 32);
    cuzk_blake2b(digest, sizeof digest, tag, strlen(tag), in, sizeof in);
    for (int i = 0; i < 8; i++) {
        key[i] = cuzk_load_u32le(digest + 4 * i);
    }
    for (int i = 0; i < 3; i++) {
        tail[1 + i] = cuzk_load_u32le(nonce + 4 * i);
    }
    cuzk_chacha_block(ret, key, tail, 20);
}

uint64_t cuzk_synthetic_candidate(uint64_t nodes, const cuzk_node *replica_id,
                                  const cuzk_node *comm_r, uint32_t i)
{
    uint32_t words[16];
    uint8_t bytes[32];
    synthetic_block(words, "filecoin.io|PoRep|1|Synthetic|1|Generation", replica_id->b, comm_r->b,
                    i / 2);
    for (int k = 0; k < 8; k++) {
        cuzk_store_u32le(bytes + 4 * k, words[8 * (i % 2) + (unsigned)k]);
    }
    return reduce(bytes, nodes);
}

uint32_t cuzk_synthetic_choice(uint32_t candidates, const cuzk_node *replica_id,
                               const uint8_t seed[32], uint32_t j)
{
    uint32_t words[16];
    synthetic_block(words, "filecoin.io|PoRep|1|Synthetic|1|Selection", replica_id->b, seed,
                    j / 16);
    return words[j % 16] % candidates;
}

void cuzk_porep_challenges(uint64_t *ret, const cuzk_seal_proof *proof, unsigned partition,
                           const cuzk_node *replica_id, const cuzk_node *comm_r,
                           const uint8_t seed[32])
{
    const cuzk_sector *sector = proof->sector;
    uint32_t candidates = sector->nodes < SYNTHETIC_MAX ? (uint32_t)sector->nodes : SYNTHETIC_MAX;
    for (unsigned i = 0; i < sector->challenges; i++) {
        uint32_t j = partition * sector->challenges + i;
        switch (proof->mode) {
        case CUZK_POREP_INTERACTIVE:
            ret[i] = hashed("", replica_id->b, seed, j, sector->nodes);
            break;
        case CUZK_POREP_SYNTHETIC:
            ret[i] =
                cuzk_synthetic_candidate(sector->nodes, replica_id, comm_r,
                                         cuzk_synthetic_choice(candidates, replica_id, seed, j));
            break;
        case CUZK_POREP_NON_INTERACTIVE:
            ret[i] = hashed("filecoin.io|PoRep|1|NonInteractive|1", replica_id->b, comm_r->b, j,
                            sector->nodes);
            break;
        }
    }
}

/* The first 64 bits, little-endian, of SHA-256(parts). */
static uint64_t hash_u64(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b,
                         const uint8_t *c, size_t n_c)
{
    uint8_t digest[32];
    cuzk_sha256_state s;
    cuzk_sha256_init(&s);
    cuzk_sha256_update(&s, a, n_a);
    cuzk_sha256_update(&s, b, n_b);
    cuzk_sha256_update(&s, c, n_c);
    cuzk_sha256_final(&s, digest);
    return cuzk_load_u64le(digest);
}

uint64_t cuzk_post_challenge(uint64_t nodes, const uint8_t randomness[32], uint64_t sector_id,
                             uint64_t index)
{
    uint8_t cut[32], id[8], number[8];
    memcpy(cut, randomness, 32);
    cut[31] &= 0x3f;
    cuzk_store_u64le(id, sector_id);
    cuzk_store_u64le(number, index);
    return hash_u64(cut, 32, id, 8, number, 8) % nodes;
}

void cuzk_post_challenges(uint64_t *ret, const cuzk_post_proof *proof, const uint8_t randomness[32],
                          uint64_t sector_id, uint64_t place)
{
    unsigned n = cuzk_post_proof_challenges(proof);
    bool by_place = proof->window && proof->api != CUZK_API_V1_2;
    for (unsigned i = 0; i < n; i++) {
        ret[i] = cuzk_post_challenge(proof->sector->nodes, randomness, sector_id,
                                     (by_place ? place * n : 0) + i);
    }
}

uint64_t cuzk_winning_sector(const uint8_t prover_id[32], const uint8_t randomness[32], uint64_t n,
                             uint64_t count)
{
    uint8_t cut[32], number[8];
    memcpy(cut, randomness, 32);
    cut[31] &= 0x3f;
    cuzk_store_u64le(number, n);
    return hash_u64(prover_id, 32, cut, 32, number, 8) % count;
}
