#ifndef CUZK_BACKEND_CUDA_PROVER_H
#define CUZK_BACKEND_CUDA_PROVER_H

#include "backend/cuda/circuit.h"
#include "backend/cuda/cuda_ntt.h"
#include "backend/cuda/expand.h"
#include "backend/cuda/msm_finish.h"
#include "backend/cuda/prove.h"

#include <pthread.h>

/* What the files of the prover share. */

/** Phases of a partition on the device. */
typedef enum cuzk_cuda_phase {
#define X(name) CUZK_CUDA_PHASE_##name,
    CUZK_DEVICE_PHASES(X)
#undef X
        CUZK_CUDA_PHASES
} cuzk_cuda_phase;

enum { CUZK_CUDA_MARKS = CUZK_CUDA_PHASES + 1 };

/** A sum that was started: its windows' sums come to `windows`, pinned memory. */
typedef struct cuzk_cuda_sum {
    msm_plan plan;
    cuzk_params_part part;
    void *windows;
} cuzk_cuda_sum;

/** What the partition in work has. What it holds on the device is secret. */
typedef struct cuzk_cuda_work {
    cuzk_cuda_block block; /* all that follows, as layout.at has it */
    uint8_t *records;
    uint32_t *bits, *selected; /* all bits; those of a query */
    dfr *full, *tail;          /* all full values; those of a query, */
    uint32_t *which;           /* and where their points are */
    dfr *a, *b;
    void *scratch;
    cuzk_cuda_block chunk[2]; /* of streamed points */
    unsigned chunks;          /* streamed so far */
    unsigned n_sums;          /* started so far */
    unsigned n_marks;
} cuzk_cuda_work;

struct cuzk_cuda_prover {
    pthread_mutex_t mu; /* held by the call that uses work, sums, windows, events and streams */
    cuzk_shape *shape;
    cuzk_cuda_memory *memory;
    cuzk_cuda_layout layout;
    cuzk_cuda_circuit *circuit;
    cuzk_cuda_expand *expand;
    cuzk_cuda_key *key;
    cuzk_cuda_ntt *inverse; /* values on the domain, in order, to coefficients in reversed order; */
    cuzk_cuda_ntt *forward; /* those to values on the coset 7 D, in order; */
    cuzk_cuda_ntt *back;    /* and those to coefficients in reversed order */
    uint64_t table_bytes;   /* booked for the three */
    dfr z_inv;              /* 1 / (7^m - 1): of the vanishing polynomial on the coset */
    msm_limits limits[2];   /* by msm_group */
    cuzk_cuda_stream stream, copies; /* copies: of streamed queries */
    cuzk_cuda_event arrived[2];      /* the points of a chunk are there, */
    cuzk_cuda_event used[2];         /* and are no longer wanted */
    cuzk_cuda_event marks[CUZK_CUDA_MARKS];
    cuzk_cuda_phase phase[CUZK_CUDA_MARKS]; /* that ends at the mark */
    cuzk_cuda_block bad_row;                /* a word: the first row that fails */
    void *pinned;                           /* a word for it, then the windows of all sums */
    uint64_t pinned_bytes;
    unsigned most_sums;
    cuzk_cuda_sum *sums;
    cuzk_cuda_work work;
};

/** Bytes for the windows of one sum in pinned memory. */
enum { CUZK_CUDA_WINDOWS_BYTES = MSM_MAX_WINDOWS * sizeof(msm_g2_sum) };

/** How many sums a partition takes with a layout. */
unsigned cuzk_cuda_sums_count(const cuzk_cuda_layout *layout, const uint64_t *points);

/** Starts the sums over one query: over H with the scalars in work.a, else with those in work.bits
 *  and work.full. */
cuzk_code cuzk_cuda_sums_start(cuzk_cuda_prover *p, cuzk_params_part part, cuzk_err *err);

/** Once the stream is done: adds up what was started. */
void cuzk_cuda_sums_finish(const cuzk_cuda_prover *p, cuzk_query_sums *ret);

#endif
