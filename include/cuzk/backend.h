#ifndef CUZK_BACKEND_H
#define CUZK_BACKEND_H

#include "cuzk/err.h"
#include "cuzk/span.h"

#include <stdbool.h>

/*
 * What a device does: keep circuits with their keys, and prove partitions from port values. Coarse
 * on purpose: streams, chunks, layouts and devices' processes are behind it. All calls may come
 * from any thread, several at once. A failure is a value and says what it means for the caller:
 *
 *   CUZK_E_INPUT        the assignment does not satisfy the circuit: proving again cannot help
 *   CUZK_E_MEMORY       the device's memory does not suffice: unload something, or elsewhere
 *   CUZK_E_TIMEOUT      the deadline passed; the device was stopped if need be
 *   CUZK_E_UNAVAILABLE  the device was lost; all that was loaded is gone, the next call starts anew
 *   others              this attempt failed; another may not
 */

/** The memories that are accounted for. */
typedef enum cuzk_memory {
    CUZK_MEMORY_HOST,
    CUZK_MEMORY_PINNED,
    CUZK_MEMORY_DEVICE,
    CUZK_MEMORIES,
} cuzk_memory;

/** What a device is. */
typedef struct cuzk_device_info {
    char backend[16]; /* "cpu", "cuda" */
    char name[64];
    int ordinal;                        /* among its kind */
    uint64_t memory_total, memory_free; /* bytes of the memory that keys stay in */
    uint64_t losses;                    /* how often the device was lost and started anew */
} cuzk_device_info;

/** A circuit and where its files are. Strings are borrowed for the call. */
typedef struct cuzk_circuit_files {
    const char *circuit; /* e.g. "porep-32GiB" */
    const char *shape;   /* its compressed form; made and written when it is not there */
    const char *params;  /* its proving key */
} cuzk_circuit_files;

/** Bytes that a loaded circuit takes, and that each partition in work takes besides. */
typedef struct cuzk_circuit_cost {
    uint64_t resident[CUZK_MEMORIES];
    uint64_t working[CUZK_MEMORIES];
} cuzk_circuit_cost;

/** How long loading took. */
typedef struct cuzk_load_times {
    uint64_t circuit_ns, key_ns;
} cuzk_load_times;

/** A partition to prove: the first stage of its witness (r1cs/cs.h) and the blinding. Borrowed
 *  until the call returns; r and s are secret. */
typedef struct cuzk_partition_task {
    const char *circuit;  /* loaded before */
    cuzk_span inputs;     /* 32 bytes each, Montgomery form, ONE first */
    cuzk_span records;    /* of all instances */
    uint8_t r[32], s[32]; /* canonical, little-endian */
    uint64_t deadline_ns; /* of CLOCK_MONOTONIC; 0: none */
} cuzk_partition_task;

/** Steps of a partition on a device, for times. */
#define CUZK_DEVICE_PHASES(X)                                                                      \
    X(expand) /* inner variables from records */                                                   \
    X(eval)   /* rows */                                                                           \
    X(ntt)    /* the quotient */                                                                   \
    X(h_msm)                                                                                       \
    X(l_msm)                                                                                       \
    X(a_msm)                                                                                       \
    X(b1_msm)                                                                                      \
    X(b2_msm)

typedef struct cuzk_partition_result {
    uint8_t proof[192]; /* A, B, C compressed; not verified */
    struct {
#define X(phase) uint64_t phase##_ns;
        CUZK_DEVICE_PHASES(X)
#undef X
    } times;
} cuzk_partition_result;

typedef struct cuzk_backend cuzk_backend;

/** One device. Each backend fills all members. */
typedef struct cuzk_backend_ops {
    cuzk_code (*info)(cuzk_backend *b, cuzk_device_info *ret, cuzk_err *err);
    /** What loading would take; needs the files, not the device. */
    cuzk_code (*cost)(cuzk_backend *b, cuzk_circuit_cost *ret, const cuzk_circuit_files *files,
                      cuzk_err *err);
    /** Loads a circuit and its key, or returns at once when it is loaded. */
    cuzk_code (*load)(cuzk_backend *b, cuzk_load_times *ret, const cuzk_circuit_files *files,
                      cuzk_err *err);
    /** Frees a circuit; *ret_was_loaded tells whether it was there. No partition of it may be in
     *  work. */
    cuzk_code (*unload)(cuzk_backend *b, const char *circuit, bool *ret_was_loaded, cuzk_err *err);
    /** Proves one partition; blocks. CUZK_E_UNAVAILABLE when the circuit is not loaded. */
    cuzk_code (*prove)(cuzk_backend *b, cuzk_partition_result *ret, const cuzk_partition_task *task,
                       cuzk_err *err);
    /** Frees the backend, which no other call may use; accepts one that was lost. */
    void (*close)(cuzk_backend *b);
} cuzk_backend_ops;

/** First member of each backend's own struct. */
struct cuzk_backend {
    const cuzk_backend_ops *ops;
};

#endif
