#ifndef CUZK_ENGINE_INTERNAL_H
#define CUZK_ENGINE_INTERNAL_H

#include "cuzk/engine.h"
#include "engine/residency.h"
#include "filecoin/statement.h"
#include "groth16/groth16.h"
#include "observe/metrics.h"
#include "observe/timeline.h"
#include "store/store.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * What the files of the engine share.
 *
 * One mutex, cuzk_engine.mu, guards all that is said below to be guarded; what it covers takes
 * microseconds, what takes longer (reading, synthesis, proving, verifying, the store, callbacks) is
 * done without it. Lock order: mu, then the budget's mutex, then those inside the timeline and the
 * metrics. The store is never called with mu held.
 *
 * Functions whose names end in _locked want mu held.
 *
 * A partition's way, and whose file it is in:
 *
 *     queue.c       jobs in order; which partition or input is next for a synthesis worker
 *     synthesis.c   reads inputs, checks partitions, makes public inputs and port values
 *     channel.c     slots and partitions that wait for a device
 *     device.c      device workers: lease, prove
 *     finish.c      verify, keep, assemble, end of jobs
 *     retry.c       what becomes of an attempt that failed
 */

typedef struct cuzk_job cuzk_job;

/** A partition of a job. Guarded by mu, but that who has it in hand (its synthesis worker, device
 *  worker or finish worker) may use ports, inputs and proof without. */
typedef struct cuzk_unit {
    cuzk_job *job;
    uint32_t k;
    cuzk_partition_state state;
    bool in_channel;
    struct cuzk_unit *next, *prev; /* in the channel, or next in the finish queue */
    cuzk_ports ports;              /* owned */
    fr_repr *inputs;               /* owned: public inputs without ONE, as a verifier makes them */
    uint64_t bytes;                /* of both, charged to the pipeline */
    uint32_t attempts;
    int device; /* that has it, or had it last; -1 */
    int prefer; /* the one to try again; -1 */
    int avoid;  /* a device that failed with it twice; -1 */
    bool alone; /* it was there when a device was lost: no other beside it on its device any more */
    uint64_t synth_ns, gpu_ns, load_ns;
    uint8_t proof[CUZK_PROOF_BYTES];
} cuzk_unit;

/** A circuit that the engine proves. Names and paths are set before any thread starts. */
typedef struct cuzk_engine_circuit {
    cuzk_circuit_id id;
    char name[CUZK_CIRCUIT_NAME_MAX];
    const char *reference; /* the reference's name, or "" */
    char *shape_path, *params_path, *vk_path;
    cuzk_circuit_files files;
    /* Guarded by mu. */
    enum { CUZK_CIRCUIT_NEW, CUZK_CIRCUIT_LOADING, CUZK_CIRCUIT_READY } state;
    bool has_thread;
    pthread_t thread; /* that loads it, or did */
    uint32_t no_room; /* bit d: it can never fit device d */
    /* Set when it becomes ready, then constant. */
    cuzk_shape *shape;
    cuzk_verifier *verifier;
    uint64_t unit_bytes; /* of a partition's ports and inputs */
} cuzk_engine_circuit;

/** A list of jobs through queue_next and queue_prev. */
typedef struct cuzk_job_list {
    cuzk_job *first, *last;
    size_t n;
} cuzk_job_list;

/** What a failed job says. */
typedef struct cuzk_job_error {
    int32_t partition; /* -1: none */
    char phase[CUZK_STORE_PHASE_MAX + 1];
    char text[CUZK_STORE_ERROR_MAX + 1];
} cuzk_job_error;

/** A job. Guarded by mu, but for what is constant once it is accepted: id to n_units. */
struct cuzk_job {
    char id[CUZK_JOB_ID_MAX];
    uint64_t number; /* of its acceptance */
    uint8_t identity[32], payload_hash[32];
    uint64_t payload_bytes;
    cuzk_job_kind kind;
    cuzk_priority priority;
    cuzk_engine_circuit *circuit;
    uint8_t *meta; /* owned: the request as the store has it (request.h) */
    size_t n_meta;
    uint32_t n_units;
    uint64_t created_us, created_ns; /* wall clock; CLOCK_MONOTONIC */

    unsigned refs;
    cuzk_job *hash_next;
    bool in_table;
    bool accepting; /* the store is being asked */
    cuzk_job_state state;
    bool ending;              /* how it ends is decided, the store is being told */
    cuzk_job_state end_state; /* how */

    /* In the queue while it has partitions to synthesise, or its place among the ended. */
    cuzk_job *queue_next, *queue_prev;
    bool queued;
    uint64_t order; /* number of the first job of its batch: jobs of a priority go by this */
    bool begun;     /* something of it was handed to synthesis */
    bool reading;   /* its input is being read */
    cuzk_statement *statement; /* owned; NULL until read, and again when nothing needs it */
    uint64_t statement_bytes;  /* charged to the pipeline */
    unsigned in_hand;          /* workers that use it or a partition of it */

    cuzk_unit *units; /* owned */
    uint32_t next_k;  /* partitions before were handed to synthesis, or need none */
    uint32_t to_synth, in_synth, done;
    uint32_t slot_size;   /* at least 1 */
    uint32_t slots_open;  /* begun and not wholly taken by devices */
    uint32_t *slot_synth; /* owned: by slot, partitions that are not yet synthesised */
    uint32_t *slot_left;  /* owned: by slot, partitions that no device has taken yet */
    bool *slot_open;      /* owned: by slot, counted in slots_open */

    uint64_t started_ns, ended_ns; /* 0: not yet */
    uint64_t ended_us;
    uint64_t synth_ns, gpu_ns, load_ns; /* sums over partitions */
    uint8_t *proof;                     /* owned: when done */
    size_t n_proof;
    cuzk_job_error *error;   /* owned: when failed */
    cuzk_job_timings stored; /* of a job that the store told about */
    bool has_stored;

    struct cuzk_watch *watches;
    cuzk_job *task_next; /* in finish_jobs */
    bool task_queued, say_running;
};

struct cuzk_watch {
    cuzk_job *job; /* shares */
    cuzk_job_fn *fn;
    void *ctx;
    bool once;
    /* Guarded by mu. */
    struct cuzk_watch *next, *prev; /* of the job */
    struct cuzk_watch *ready_next;  /* in the notifier's queue */
    bool ready, calling, over, timed_out;
    uint64_t deadline_ns;
    size_t heap_at; /* place in the timer's heap + 1; 0: none */
};

/** A device with its workers. Guarded by mu but for number and backend. */
typedef struct cuzk_engine_device {
    unsigned number;
    cuzk_backend *backend;
    cuzk_device_info info; /* as of the start; refreshed by status */
    bool quarantined;
    unsigned bad_in_row;
    uint64_t partitions, wrong_proofs, errors;
    unsigned running; /* workers that prove */
    uint64_t busy_since_ns, busy_ns;
    uint64_t second[64]; /* busy nanoseconds by second modulo 64 */
    uint64_t second_of[64];
    char wanted[2048]; /* what the residency was last told to fetch, names joined */
} cuzk_engine_device;

typedef struct cuzk_device_worker {
    cuzk_engine *e;
    cuzk_engine_device *device;
    unsigned id; /* over all devices */
    bool critical_only;
    pthread_t thread;
    /* Guarded by mu. */
    cuzk_unit *unit; /* in hand */
    bool proving, leasing;
    uint64_t since_ns;
    atomic_bool yield; /* give the partition back and look again; set with mu held */
} cuzk_device_worker;

enum { CUZK_FAILURES_KEPT = 16, CUZK_ENDED_KEPT = 512, CUZK_FINISH_WORKERS = 2 };

typedef struct cuzk_failure {
    char job_id[CUZK_JOB_ID_MAX];
    cuzk_job_kind kind;
    int32_t partition; /* -1: the whole job */
    char phase[CUZK_STORE_PHASE_MAX + 1];
    char error[CUZK_STORE_ERROR_MAX + 1];
    uint64_t unix_ms;
} cuzk_failure;

/** A batch that takes in jobs. */
typedef struct cuzk_batch {
    cuzk_engine_circuit *circuit;
    cuzk_priority priority;
    uint64_t order, opened_ns;
    unsigned jobs;
} cuzk_batch;

typedef struct cuzk_engine_metrics_set cuzk_engine_metrics_set; /* engine_metrics.c */

struct cuzk_engine {
    cuzk_engine_config config; /* strings are not kept but for those copied */
    cuzk_timeline *timeline;
    cuzk_metrics *metrics;
    cuzk_engine_metrics_set *metric;
    cuzk_store *store;
    cuzk_budget *budget;
    cuzk_residency *residency;
    cuzk_pool *pool; /* of synthesis */
    uint64_t start_ns;
    cuzk_engine_circuit *circuits;
    size_t n_circuits;
    size_t *preload; /* places in circuits */
    size_t n_preload;
    cuzk_engine_device *devices;
    unsigned n_devices;
    cuzk_device_worker *workers;
    unsigned n_workers;
    unsigned n_synth;
    pthread_t *synth_threads, finish_threads[CUZK_FINISH_WORKERS], notifier, timer, preloader;
    unsigned synth_started, workers_started, finish_started;
    bool notifier_started, timer_started, preloader_started;

    pthread_mutex_t mu;
    /* All below is guarded by mu. */
    bool draining, stopping;
    bool devices_ended;    /* their workers, and those of synthesis, are gone */
    atomic_bool stop_flag; /* ends waits for leases: set with mu held */
    cuzk_job **table;      /* by hash of the id */
    size_t table_size, table_n;
    size_t unended;             /* jobs in the table that have not ended */
    pthread_cond_t accepted_cv; /* a job stopped being accepted, or has ended */

    cuzk_job_list queue[CUZK_PRIORITY_CRITICAL + 1];
    size_t waiting[CUZK_PRIORITY_CRITICAL + 1]; /* jobs queued and not begun */
    size_t begun[CUZK_PRIORITY_CRITICAL + 1];   /* jobs queued and begun */
    unsigned slots_open[CUZK_PRIORITY_CRITICAL + 1];
    unsigned slot_limit;
    uint64_t pipeline_used, pipeline_max;
    unsigned units_made; /* partitions whose ports are in memory or being made */
    unsigned synth_active;
    cuzk_batch batch[8];
    pthread_cond_t synth_cv;

    cuzk_unit *channel_first[CUZK_PRIORITY_CRITICAL + 1];
    cuzk_unit *channel_last[CUZK_PRIORITY_CRITICAL + 1];
    unsigned channel_n, held_n;
    unsigned device_idle; /* workers that wait on device_cv */
    pthread_cond_t device_cv;

    cuzk_unit *finish_first, *finish_last;
    cuzk_job *task_first, *task_last;
    unsigned finishing;
    pthread_cond_t finish_cv;
    pthread_cond_t quiet_cv; /* a partition left a worker's hand */

    struct cuzk_watch *ready_first, *ready_last;
    pthread_cond_t ready_cv; /* the notifier's */
    pthread_cond_t called_cv;
    struct cuzk_watch **heap;
    size_t heap_n, heap_cap;
    uint64_t next_purge_ns;
    pthread_cond_t timer_cv;

    cuzk_job_list ended; /* in the table, oldest first */
    cuzk_snapshot_counters counters;
    cuzk_failure *failures; /* ring of CUZK_FAILURES_KEPT */
    size_t n_failures;
};

/* ---- engine.c ---- */

/** Tells the log; printf-like. Any locks may be held: the callback must not call the engine. */
void cuzk_engine_say(const cuzk_engine *e, cuzk_engine_level level, const char *job_id,
                     const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/** Microseconds since 1970. */
uint64_t cuzk_wall_us(void);

/** Condition of CLOCK_MONOTONIC; waits until deadline_ns (0: for ever), false when it passed. */
void cuzk_cond_init(pthread_cond_t *cond);
bool cuzk_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mu, uint64_t deadline_ns);

/** Starts a thread with a name of at most 15 bytes. */
cuzk_code cuzk_thread_start(pthread_t *ret, void *(*fn)(void *), void *arg, const char *name,
                            cuzk_err *err);

/** Wakes every worker: something that they look at has changed. */
void cuzk_engine_wake_locked(cuzk_engine *e);

/** True when workers should take nothing new. */
static inline bool cuzk_engine_is_resting(const cuzk_engine *e)
{
    return e->draining || e->stopping;
}

/* ---- circuits.c ---- */

/** Fills the table of circuits; no thread runs yet. */
cuzk_code cuzk_circuits_init(cuzk_engine *e, const cuzk_engine_config *config, cuzk_err *err);
void cuzk_circuits_clear(cuzk_engine *e);
cuzk_engine_circuit *cuzk_circuits_find(cuzk_engine *e, const cuzk_circuit_id *id);
/** By either name; NULL when unknown. */
cuzk_engine_circuit *cuzk_circuits_named(cuzk_engine *e, const char *name);
/** CUZK_E_NOT_FOUND, naming the file, when the key is not there. */
cuzk_code cuzk_circuit_require(const cuzk_engine_circuit *c, cuzk_err *err);
/** True when the circuit is ready; else starts loading it unless that is under way. */
bool cuzk_circuit_want_locked(cuzk_engine *e, cuzk_engine_circuit *c);

/* ---- jobs.c: the table ---- */

/** A job with n partitions, of which none is proved; in no list. One reference is the caller's. */
cuzk_code cuzk_job_new(cuzk_job **ret, const char *id, uint32_t n_units, cuzk_err *err);
void cuzk_job_share_locked(cuzk_job *job);
/** Drops a reference; frees with the last one. */
void cuzk_job_drop_locked(cuzk_job *job);
/** The job of that id, or NULL. */
cuzk_job *cuzk_table_find_locked(cuzk_engine *e, const char *id);
/** Adds a job, which the table then shares; takes out an ended one of the same id. */
cuzk_code cuzk_table_add_locked(cuzk_engine *e, cuzk_job *job, cuzk_err *err);
void cuzk_table_remove_locked(cuzk_engine *e, cuzk_job *job);
/** What the job looks like; borrows from it. */
void cuzk_job_look_locked(cuzk_engine *e, const cuzk_job *job, cuzk_job_view *ret);
/** A job as the store keeps it, with its proof; in no list, but with its state. */
cuzk_code cuzk_job_of_store(cuzk_engine *e, cuzk_job **ret, const cuzk_store_job *kept,
                            cuzk_err *err);
/** The job of that id from table or store, one reference for the caller. */
cuzk_code cuzk_job_find(cuzk_engine *e, cuzk_job **ret, const char *id, cuzk_err *err);

/** Insertion into, and removal from, a list in order of (order, number). */
void cuzk_list_insert(cuzk_job_list *list, cuzk_job *job);
void cuzk_list_remove(cuzk_job_list *list, cuzk_job *job);

/* ---- queue.c ---- */

/** Puts an accepted job with partitions to prove in its place. */
void cuzk_queue_add_locked(cuzk_engine *e, cuzk_job *job);
void cuzk_queue_remove_locked(cuzk_engine *e, cuzk_job *job);
/** Jobs that have not begun and go before this one. */
uint32_t cuzk_queue_position_locked(const cuzk_engine *e, const cuzk_job *job);

typedef enum cuzk_synth_task {
    CUZK_SYNTH_NOTHING,
    CUZK_SYNTH_READ,
    CUZK_SYNTH_UNIT
} cuzk_synth_task;

/** The next thing for a synthesis worker, which it then has in hand. */
cuzk_synth_task cuzk_queue_pick_locked(cuzk_engine *e, cuzk_job **ret_job, cuzk_unit **ret_unit);

/** Tells each device's residency which circuits will be wanted. */
void cuzk_queue_prefetch_locked(cuzk_engine *e);

/* ---- synthesis.c ---- */

void *cuzk_synthesis_main(void *engine);
/** Gives back what a partition holds for devices. */
void cuzk_unit_release_locked(cuzk_engine *e, cuzk_unit *u);
/** Frees the statement when no partition needs it any more. */
void cuzk_statement_settle_locked(cuzk_engine *e, cuzk_job *job);

/* ---- channel.c ---- */

/** A partition was synthesised by this worker: sends its slot when that is whole. */
void cuzk_channel_made_locked(cuzk_engine *e, cuzk_unit *u, int16_t worker);
/** Puts a partition into the channel. */
void cuzk_channel_put_locked(cuzk_engine *e, cuzk_unit *u);
/** Puts one back that a worker had in hand; workers that wait for a key are left alone. */
void cuzk_channel_return_locked(cuzk_engine *e, cuzk_unit *u);
void cuzk_channel_remove_locked(cuzk_engine *e, cuzk_unit *u);
/** Negative when a goes before b. */
int cuzk_unit_compare(const cuzk_unit *a, const cuzk_unit *b);
cuzk_order cuzk_unit_order(const cuzk_unit *u);
/** A device took the partition: its slot may be free. */
void cuzk_slot_taken_locked(cuzk_engine *e, cuzk_unit *u);
/** A job that ends holds no slots. */
void cuzk_slots_close_locked(cuzk_engine *e, cuzk_job *job);

/* ---- device.c ---- */

void *cuzk_device_main(void *worker);
/** Told by the residency. */
void cuzk_device_note(void *engine, const cuzk_residency_note *note);
/** Whether some device that is not quarantined, other than `but`, is there. */
bool cuzk_device_another_locked(const cuzk_engine *e, int but);
/** Whether the circuit fits some device that is not quarantined. */
bool cuzk_device_fits_locked(const cuzk_engine *e, const cuzk_engine_circuit *c);
/** Nanoseconds of the last minute in which the device was busy. */
uint64_t cuzk_device_busy_minute_locked(const cuzk_engine_device *d, uint64_t now_ns);

/* ---- retry.c ---- */

/** An attempt of a device on a partition failed: the partition goes back to the channel, or its job
 *  fails. The partition is in the caller's hand and is given up. */
void cuzk_unit_failed_locked(cuzk_engine *e, cuzk_unit *u, cuzk_code code, const char *phase,
                             const char *reason);
/** An attempt of the device was good. */
void cuzk_device_good_locked(cuzk_engine_device *d);

/* ---- finish.c ---- */

void *cuzk_finish_main(void *engine);
/** Hands a proved partition to the finish workers. */
void cuzk_finish_put_locked(cuzk_engine *e, cuzk_unit *u);
/** Decides that a job fails. k: -1 for the job as a whole. Does nothing when its end is decided. */
void cuzk_job_fail_locked(cuzk_engine *e, cuzk_job *job, int32_t k, const char *phase,
                          const char *reason);
/** All partitions are there: puts them one after the other and ends the job. */
void cuzk_job_assemble_locked(cuzk_engine *e, cuzk_job *job);
/** Decides how a job ends and takes it out of the pipeline; false when that was decided before. */
bool cuzk_job_decide_locked(cuzk_engine *e, cuzk_job *job, cuzk_job_state end);
/** Tells the store, then everybody, that a job whose end is decided has ended. Without mu. */
void cuzk_job_end(cuzk_engine *e, cuzk_job *job);
/** Lets a finish worker end the job, or tell the store that it runs. */
void cuzk_job_task_locked(cuzk_engine *e, cuzk_job *job);
/** A worker gives up what it has in hand of a job. */
void cuzk_job_unhand_locked(cuzk_engine *e, cuzk_job *job);

/* ---- watch.c ---- */

void *cuzk_notifier_main(void *engine);
/** Everybody who watches the job is to be told. */
void cuzk_watch_changed_locked(cuzk_engine *e, cuzk_job *job);
/** The wait of this watch is over without its job. */
void cuzk_watch_expired_locked(cuzk_engine *e, struct cuzk_watch *w);

/* ---- timers.c ---- */

void *cuzk_timer_main(void *engine);
cuzk_code cuzk_timer_add_locked(cuzk_engine *e, struct cuzk_watch *w, cuzk_err *err);
void cuzk_timer_remove_locked(cuzk_engine *e, struct cuzk_watch *w);

/* ---- resume.c ---- */

/** Takes up what the store has that has not ended. No thread runs yet. */
cuzk_code cuzk_engine_resume(cuzk_engine *e, cuzk_err *err);

/* ---- keys.c ---- */

void *cuzk_preload_main(void *engine);

/* ---- engine_metrics.c ---- */

cuzk_code cuzk_engine_metrics_init(cuzk_engine *e, cuzk_err *err);
void cuzk_engine_metrics_free(cuzk_engine *e);
typedef enum cuzk_engine_phase {
    CUZK_TIME_QUEUE,
    CUZK_TIME_SYNTH,
    CUZK_TIME_GPU,
    CUZK_TIME_FINISH,
    CUZK_TIMES,
} cuzk_engine_phase;
void cuzk_metrics_phase(cuzk_engine *e, cuzk_job_kind kind, cuzk_engine_phase phase, uint64_t ns);
void cuzk_metrics_ended(cuzk_engine *e, const cuzk_job *job);
void cuzk_metrics_retry(cuzk_engine *e, unsigned device, bool wrong);

/** Appends an event about a partition. */
static inline void cuzk_unit_event(cuzk_engine *e, cuzk_event_kind kind, const cuzk_unit *u,
                                   int16_t worker, int16_t device, int64_t value,
                                   const char *detail)
{
    cuzk_timeline_record(e->timeline, kind, u->job->number, (int32_t)u->k, worker, device, value,
                         detail);
}

#endif
