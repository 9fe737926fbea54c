#ifndef CUZK_FILECOIN_PROOF_KIND_H
#define CUZK_FILECOIN_PROOF_KIND_H

#include "cuzk/err.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What Filecoin proves and about which sectors: sector sizes with all that depends on them, the
 * numbers and names of registered proofs, and the names of parameter files.
 * Source: rust-fil-proofs (filecoin-proofs/src/constants.rs, parameters.rs,
 * update/src/constants.rs, core/src/parameter_cache.rs) and rust-filecoin-proofs-api
 * (src/registry.rs).
 */

enum {
    CUZK_DRG_PARENTS = 6,
    CUZK_EXP_PARENTS = 8,
    CUZK_LABEL_PARENTS = 37, /* parents hashed into a label, repetitions included */
    CUZK_MAX_LAYERS = 11,
    CUZK_MAX_LEVELS = 31, /* of a Merkle tree */
    CUZK_WINDOW_CHALLENGES = 10,
    CUZK_WINNING_CHALLENGES = 66,
    CUZK_UPDATE_H_COUNT = 6,
};

/** A Merkle tree's shape: how many children a node has, by level from the leaves to the root. */
typedef struct cuzk_tree {
    uint8_t variant; /* tag of its proofs: 0 single, 1 with a sub tree, 2 with sub and top tree */
    uint8_t levels;
    uint8_t lg_arity[CUZK_MAX_LEVELS];
    uint16_t siblings; /* nodes of a path: the sum over levels of arity - 1 */
} cuzk_tree;

/** A sector size and what the protocol fixes for it. One static constant for each. */
typedef struct cuzk_sector {
    const char *name; /* "32GiB" */
    uint64_t bytes;
    uint64_t nodes;          /* bytes / 32 */
    unsigned lg_nodes;       /* levels of the binary data tree */
    unsigned sub, top;       /* arities of the sub and top tree of an octal tree; 0: none */
    unsigned layers;         /* of labels; 0: this size exists for sector updates alone */
    unsigned partitions;     /* of an interactive or synthetic PoRep */
    unsigned ni_partitions;  /* of a non-interactive one */
    unsigned challenges;     /* of a PoRep partition */
    unsigned window_sectors; /* sectors in a WindowPoSt partition */
    unsigned update_partitions, update_challenges; /* challenges in each partition */
    unsigned update_apex;                          /* leaves of the apex tree of a sector update */
    uint8_t update_hs[CUZK_UPDATE_H_COUNT];
    int registered; /* 0 .. 4: its place among the sizes with registered proofs; -1: none */
} cuzk_sector;

/** The size of that name, or NULL. */
const cuzk_sector *cuzk_sector_named(const char *name);
/** The size of that many bytes, or NULL. */
const cuzk_sector *cuzk_sector_of_bytes(uint64_t bytes);
/** The size with that many levels in its data tree, or NULL. */
const cuzk_sector *cuzk_sector_of_levels(unsigned lg_nodes);
/** The i-th size in ascending order, or NULL past the end. */
const cuzk_sector *cuzk_sector_at(unsigned i);

/** Shape of the SHA-256 tree over the data (tree D). */
cuzk_tree cuzk_sector_data_tree(const cuzk_sector *s);
/** Shape of the Poseidon trees over columns and replica (trees C and R). */
cuzk_tree cuzk_sector_octal_tree(const cuzk_sector *s);

/** The h that updates of this size use. */
static inline unsigned cuzk_sector_update_h(const cuzk_sector *s) { return s->update_hs[3]; }

/** The bit that selects it in a circuit: its first place among update_hs, which small sectors fill
 *  with one value. */
static inline unsigned cuzk_sector_update_h_index(const cuzk_sector *s)
{
    unsigned i = 0;
    while (s->update_hs[i] != cuzk_sector_update_h(s)) {
        i++;
    }
    return i;
}

/** The circuits with parameter files. */
typedef enum cuzk_proof_kind {
    CUZK_POREP,
    CUZK_WINNING_POST,
    CUZK_WINDOW_POST,
    CUZK_UPDATE,          /* SnapDeals */
    CUZK_UPDATE_POSEIDON, /* its variant that no chain uses */
} cuzk_proof_kind;

/** "porep", "winning", "window", "update" or "update-poseidon". */
const char *cuzk_proof_kind_name(cuzk_proof_kind kind);

typedef enum cuzk_api_version { CUZK_API_V1_0, CUZK_API_V1_1, CUZK_API_V1_2 } cuzk_api_version;

/** Where the challenges of a PoRep come from. */
typedef enum cuzk_porep_mode {
    CUZK_POREP_INTERACTIVE,
    CUZK_POREP_SYNTHETIC,
    CUZK_POREP_NON_INTERACTIVE,
} cuzk_porep_mode;

/** A registered seal proof. Sizes without one behave as the 2KiB proof of the same version. */
typedef struct cuzk_seal_proof {
    unsigned number; /* 0 .. 19 */
    const cuzk_sector *sector;
    cuzk_api_version api;
    cuzk_porep_mode mode;
} cuzk_seal_proof;

/** The seal proof of that number; CUZK_E_INPUT when there is none. */
cuzk_code cuzk_seal_proof_of_number(cuzk_seal_proof *ret, uint64_t number, cuzk_err *err);
/** The seal proof of a name such as "StackedDrg32GiBV1_1"; false when there is none. */
bool cuzk_seal_proof_named(cuzk_seal_proof *ret, const char *name);
/** The interactive V1_1 proof of a sector size that has PoRep at all. */
cuzk_seal_proof cuzk_seal_proof_of_sector(const cuzk_sector *sector);

/** Longest name of a seal proof with its NUL. */
enum { CUZK_SEAL_NAME_MAX = 64 };
void cuzk_seal_proof_name(char ret[CUZK_SEAL_NAME_MAX], const cuzk_seal_proof *proof);

/** Partitions of a proof: depends on the mode. */
unsigned cuzk_seal_proof_partitions(const cuzk_seal_proof *proof);

/** A registered PoSt proof. */
typedef struct cuzk_post_proof {
    unsigned number; /* 0 .. 14 */
    const cuzk_sector *sector;
    cuzk_api_version api; /* V1_2: challenges count from 0 in each sector */
    bool window;          /* else winning */
} cuzk_post_proof;

/** The PoSt proof of that number; CUZK_E_INPUT when there is none. */
cuzk_code cuzk_post_proof_of_number(cuzk_post_proof *ret, uint64_t number, cuzk_err *err);
/** The PoSt proof of a size: winning, or window of the newest version. */
cuzk_post_proof cuzk_post_proof_of_sector(const cuzk_sector *sector, bool window);

/** Challenges answered in one sector's vanilla proof: 10 or 66. */
static inline unsigned cuzk_post_proof_challenges(const cuzk_post_proof *p)
{
    return p->window ? CUZK_WINDOW_CHALLENGES : CUZK_WINNING_CHALLENGES;
}

/** The sector size of registered update proof 0 .. 4; CUZK_E_INPUT for another number. */
cuzk_code cuzk_update_proof_of_number(const cuzk_sector **ret, uint64_t number, cuzk_err *err);

/** Longest identifier or file stem with its NUL. */
enum { CUZK_PARAM_NAME_MAX = 400 };

/** The string that stands for a circuit's public parameters; its SHA-256 names the files. */
void cuzk_param_identifier(char ret[CUZK_PARAM_NAME_MAX], cuzk_proof_kind kind,
                           const cuzk_sector *sector);
/** Name of a circuit's parameter files without ".params", ".vk" or ".meta". */
void cuzk_param_stem(char ret[CUZK_PARAM_NAME_MAX], cuzk_proof_kind kind,
                     const cuzk_sector *sector);

#endif
