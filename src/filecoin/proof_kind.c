#include "filecoin/proof_kind.h"

#include "base/bytes.h"
#include "base/sha256.h"

#include <stdio.h>
#include <string.h>

#define KIB                   (1ull << 10)
#define MIB                   (1ull << 20)
#define GIB                   (1ull << 30)
#define SIZE(name, bytes, lg) name, bytes, (bytes) / 32, lg
#define HS_SMALL                                                                                   \
    {                                                                                              \
        1, 1, 1, 1, 1, 1                                                                           \
    }
#define HS_BIG                                                                                     \
    {                                                                                              \
        7, 8, 9, 10, 11, 12                                                                        \
    }

/* size; sub, top; layers, partitions, ni_partitions, challenges; window sectors; update partitions,
 * challenges, apex leaves, hs; registered */
static const cuzk_sector sectors[] = {
    {SIZE("1KiB", KIB, 5), 4, 0, 0, 0, 0, 0, 0, 1, 10, 8, HS_SMALL, -1},
    {SIZE("2KiB", 2 * KIB, 6), 0, 0, 2, 1, 13, 2, 2, 1, 10, 8, HS_SMALL, 0},
    {SIZE("4KiB", 4 * KIB, 7), 2, 0, 2, 1, 13, 2, 2, 1, 10, 8, HS_SMALL, -1},
    {SIZE("8KiB", 8 * KIB, 8), 4, 0, 0, 0, 0, 0, 0, 1, 10, 8, HS_SMALL, -1},
    {SIZE("16KiB", 16 * KIB, 9), 8, 0, 2, 1, 13, 2, 2, 2, 10, 128, HS_SMALL, -1},
    {SIZE("32KiB", 32 * KIB, 10), 8, 2, 2, 1, 13, 2, 2, 2, 10, 128, HS_SMALL, -1},
    {SIZE("8MiB", 8 * MIB, 18), 0, 0, 2, 1, 13, 2, 2, 4, 10, 128, HS_BIG, 1},
    {SIZE("16MiB", 16 * MIB, 19), 2, 0, 2, 1, 13, 2, 2, 4, 10, 128, HS_BIG, -1},
    {SIZE("512MiB", 512 * MIB, 24), 0, 0, 2, 1, 13, 2, 2, 16, 86, 128, HS_BIG, 2},
    {SIZE("1GiB", GIB, 25), 2, 0, 2, 1, 13, 2, 2, 16, 86, 128, HS_BIG, -1},
    {SIZE("32GiB", 32 * GIB, 30), 8, 0, 11, 10, 126, 18, 2349, 16, 86, 128, HS_BIG, 3},
    {SIZE("64GiB", 64 * GIB, 31), 8, 2, 11, 10, 126, 18, 2300, 16, 86, 128, HS_BIG, 4},
};
enum { SECTORS = sizeof sectors / sizeof *sectors, REGISTERED = 5 };

const cuzk_sector *cuzk_sector_at(unsigned i) { return i < SECTORS ? &sectors[i] : NULL; }

const cuzk_sector *cuzk_sector_named(const char *name)
{
    for (unsigned i = 0; i < SECTORS; i++) {
        if (strcmp(sectors[i].name, name) == 0) {
            return &sectors[i];
        }
    }
    return NULL;
}

const cuzk_sector *cuzk_sector_of_bytes(uint64_t bytes)
{
    for (unsigned i = 0; i < SECTORS; i++) {
        if (sectors[i].bytes == bytes) {
            return &sectors[i];
        }
    }
    return NULL;
}

const cuzk_sector *cuzk_sector_of_levels(unsigned lg_nodes)
{
    for (unsigned i = 0; i < SECTORS; i++) {
        if (sectors[i].lg_nodes == lg_nodes) {
            return &sectors[i];
        }
    }
    return NULL;
}

static const cuzk_sector *registered_sector(unsigned place)
{
    for (unsigned i = 0; i < SECTORS; i++) {
        if (sectors[i].registered == (int)place) {
            return &sectors[i];
        }
    }
    return NULL;
}

static unsigned lg(unsigned n) { return n > 1 ? 1 + lg(n / 2) : 0; }

static void add_level(cuzk_tree *t, unsigned lg_arity)
{
    t->lg_arity[t->levels++] = (uint8_t)lg_arity;
    t->siblings = (uint16_t)(t->siblings + (1u << lg_arity) - 1);
}

cuzk_tree cuzk_sector_data_tree(const cuzk_sector *s)
{
    cuzk_tree t = {0};
    for (unsigned i = 0; i < s->lg_nodes; i++) {
        add_level(&t, 1);
    }
    return t;
}

cuzk_tree cuzk_sector_octal_tree(const cuzk_sector *s)
{
    cuzk_tree t = {.variant = (uint8_t)((s->sub > 0) + (s->top > 0))};
    for (unsigned left = s->lg_nodes - lg(s->sub) - lg(s->top); left > 0; left -= 3) {
        add_level(&t, 3);
    }
    if (s->sub > 0) {
        add_level(&t, lg(s->sub));
    }
    if (s->top > 0) {
        add_level(&t, lg(s->top));
    }
    return t;
}

const char *cuzk_proof_kind_name(cuzk_proof_kind kind)
{
    static const char *const names[] = {"porep", "winning", "window", "update", "update-poseidon"};
    return names[kind];
}

static const struct version {
    const char *suffix;
    cuzk_api_version api;
    cuzk_porep_mode mode;
} versions[] = {
    {"V1", CUZK_API_V1_0, CUZK_POREP_INTERACTIVE},
    {"V1_1", CUZK_API_V1_1, CUZK_POREP_INTERACTIVE},
    {"V1_1_Feat_SyntheticPoRep", CUZK_API_V1_1, CUZK_POREP_SYNTHETIC},
    {"V1_2_Feat_NonInteractivePoRep", CUZK_API_V1_2, CUZK_POREP_NON_INTERACTIVE},
};
enum { VERSIONS = sizeof versions / sizeof *versions };

static cuzk_seal_proof seal_proof(const cuzk_sector *sector, unsigned version)
{
    unsigned place = sector->registered < 0 ? 0 : (unsigned)sector->registered;
    return (cuzk_seal_proof){version * REGISTERED + place, sector, versions[version].api,
                             versions[version].mode};
}

cuzk_code cuzk_seal_proof_of_number(cuzk_seal_proof *ret, uint64_t number, cuzk_err *err)
{
    if (number >= VERSIONS * REGISTERED) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "registered seal proof: expected 0 to %d, found %llu",
                         VERSIONS * REGISTERED - 1, (unsigned long long)number);
    }
    *ret =
        seal_proof(registered_sector((unsigned)number % REGISTERED), (unsigned)number / REGISTERED);
    return CUZK_OK;
}

cuzk_seal_proof cuzk_seal_proof_of_sector(const cuzk_sector *sector)
{
    return seal_proof(sector, 1);
}

bool cuzk_seal_proof_named(cuzk_seal_proof *ret, const char *name)
{
    for (unsigned i = 0; i < SECTORS; i++) {
        for (unsigned v = 0; v < VERSIONS && sectors[i].layers > 0; v++) {
            cuzk_seal_proof proof = seal_proof(&sectors[i], v);
            char text[CUZK_SEAL_NAME_MAX];
            cuzk_seal_proof_name(text, &proof);
            if (strcmp(text, name) == 0) {
                *ret = proof;
                return true;
            }
        }
    }
    return false;
}

void cuzk_seal_proof_name(char ret[CUZK_SEAL_NAME_MAX], const cuzk_seal_proof *proof)
{
    snprintf(ret, CUZK_SEAL_NAME_MAX, "StackedDrg%s%s", proof->sector->name,
             versions[proof->number / REGISTERED].suffix);
}

unsigned cuzk_seal_proof_partitions(const cuzk_seal_proof *proof)
{
    return proof->mode == CUZK_POREP_NON_INTERACTIVE ? proof->sector->ni_partitions
                                                     : proof->sector->partitions;
}

cuzk_code cuzk_post_proof_of_number(cuzk_post_proof *ret, uint64_t number, cuzk_err *err)
{
    if (number >= 3 * REGISTERED) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "registered PoSt proof: expected 0 to %d, found %llu",
                         3 * REGISTERED - 1, (unsigned long long)number);
    }
    *ret = (cuzk_post_proof){
        .number = (unsigned)number,
        .sector = registered_sector((unsigned)number % REGISTERED),
        .api = number >= 2 * REGISTERED ? CUZK_API_V1_2 : CUZK_API_V1_0,
        .window = number >= REGISTERED,
    };
    return CUZK_OK;
}

cuzk_post_proof cuzk_post_proof_of_sector(const cuzk_sector *sector, bool window)
{
    unsigned place = sector->registered < 0 ? 0 : (unsigned)sector->registered;
    return (cuzk_post_proof){
        .number = place + (window ? 2 * REGISTERED : 0),
        .sector = sector,
        .api = window ? CUZK_API_V1_2 : CUZK_API_V1_0,
        .window = window,
    };
}

cuzk_code cuzk_update_proof_of_number(const cuzk_sector **ret, uint64_t number, cuzk_err *err)
{
    if (number >= REGISTERED) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "registered update proof: expected 0 to %d, found %llu",
                         REGISTERED - 1, (unsigned long long)number);
    }
    *ret = registered_sector((unsigned)number);
    return CUZK_OK;
}

/* The name of the octal tree's type, as the reference prints it. */
static void tree_name(char *ret, size_t cap, const cuzk_sector *s)
{
    snprintf(ret, cap, "merkletree-poseidon_hasher-8-%u-%u", s->sub, s->top);
}

void cuzk_param_identifier(char ret[CUZK_PARAM_NAME_MAX], cuzk_proof_kind kind,
                           const cuzk_sector *sector)
{
    const unsigned long long nodes = sector->nodes;
    char tree[64];
    tree_name(tree, sizeof tree, sector);
    switch (kind) {
    case CUZK_POREP:
        snprintf(ret, CUZK_PARAM_NAME_MAX,
                 "layered_drgporep::PublicParams{ graph: stacked_graph::StackedGraph{"
                 "expansion_degree: %d base_graph: drgraph::BucketGraph{size: %llu; degree: %d; "
                 "hasher: poseidon_hasher} }, challenges: LayerChallenges { layers: %u, "
                 "max_count: %u }, tree: %s }",
                 CUZK_EXP_PARENTS, nodes, CUZK_DRG_PARENTS, sector->layers, sector->challenges,
                 tree);
        return;
    case CUZK_WINNING_POST:
    case CUZK_WINDOW_POST:
        snprintf(ret, CUZK_PARAM_NAME_MAX,
                 "FallbackPoSt::PublicParams{sector_size: %llu, challenge_count: %d, "
                 "sector_count: %u}",
                 (unsigned long long)sector->bytes,
                 kind == CUZK_WINDOW_POST ? CUZK_WINDOW_CHALLENGES : 1,
                 kind == CUZK_WINDOW_POST ? sector->window_sectors : CUZK_WINNING_CHALLENGES);
        return;
    case CUZK_UPDATE:
    case CUZK_UPDATE_POSEIDON:
        snprintf(ret, CUZK_PARAM_NAME_MAX,
                 "empty_sector_update::PublicParams{ sector_nodes: %llu }", nodes);
        return;
    }
}

void cuzk_param_stem(char ret[CUZK_PARAM_NAME_MAX], cuzk_proof_kind kind, const cuzk_sector *sector)
{
    static const char *const prefixes[] = {
        "stacked-proof-of-replication", "proof-of-spacetime-fallback",
        "proof-of-spacetime-fallback",  "empty-sector-update",
        "empty-sector-update-poseidon",
    };
    char identifier[CUZK_PARAM_NAME_MAX], tree[64], hex[65];
    uint8_t digest[32];
    cuzk_param_identifier(identifier, kind, sector);
    cuzk_sha256_digest(digest, identifier, strlen(identifier));
    cuzk_hex_format(hex, digest, sizeof digest);
    tree_name(tree, sizeof tree, sector);
    snprintf(ret, CUZK_PARAM_NAME_MAX, "v28-%s-%s%s-%s", prefixes[kind], tree,
             kind == CUZK_POREP ? "-sha256_hasher" : "", hex);
}
