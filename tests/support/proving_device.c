#include "support/proving_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/sha256.h"
#include "base/system.h"
#include "filecoin/circuits/catalog.h"
#include "gadget/expand.h"
#include "groth16/formats/formats.h"
#include "r1cs/assignment.h"
#include "r1cs/shape_csr.h"
#include "support/keys.h"
#include "support/support.h"

/* ---- real proofs, kept for the life of the process ---- */

typedef struct key {
    char circuit[64];
    cuzk_shape *shape;
    cuzk_r1cs *r1cs;
    cuzk_pk *pk;
} key;

typedef struct made {
    uint8_t statement[32];
    uint8_t proof[CUZK_PROOF_BYTES];
} made;

static pthread_mutex_t proofs_mu = PTHREAD_MUTEX_INITIALIZER;
static key keys[DEVICE_CIRCUITS]; /* guarded by proofs_mu, as is what follows */
static made all_made[256];
static unsigned n_keys, n_made;

static key *key_of(const char *circuit)
{
    for (unsigned i = 0; i < n_keys; i++) {
        if (strcmp(keys[i].circuit, circuit) == 0) {
            return &keys[i];
        }
    }
    key *k = &keys[n_keys];
    cuzk_err err;
    cuzk_circuit_id id;
    test_circuit files;
    test_circuit_open(&files, circuit);
    if (cuzk_circuit_named(&id, circuit, &err) != CUZK_OK ||
        cuzk_circuit_shape_cached(&k->shape, &id, files.shape, NULL, &err) != CUZK_OK ||
        cuzk_shape_to_r1cs(&k->r1cs, k->shape, &err) != CUZK_OK ||
        cuzk_params_read(&k->pk, files.params, k->r1cs, POINT_CHECK_NONE, NULL, &err) != CUZK_OK) {
        abort();
    }
    strncpy(k->circuit, circuit, sizeof k->circuit - 1);
    n_keys++;
    return k;
}

static cuzk_code make(uint8_t ret[CUZK_PROOF_BYTES], const cuzk_partition_task *task, cuzk_err *err)
{
    key *k = key_of(task->circuit);
    cuzk_ports ports = {(fr *)(uintptr_t)task->inputs.p, (uint8_t *)(uintptr_t)task->records.p};
    cuzk_packed packed;
    cuzk_proof proof;
    size_t n = (size_t)k->r1cs->n_inputs + k->r1cs->n_aux;
    CUZK_TRY(cuzk_expand(&packed, k->shape, &ports, NULL, err));
    fr_repr *z = malloc(n * sizeof *z);
    cuzk_packed_values(&packed, k->shape, z, NULL);
    cuzk_packed_clear(&packed);
    cuzk_code code =
        cuzk_groth16_prove(&proof, k->pk, k->r1cs, z, n, NULL, NULL, NULL, NULL, NULL, err);
    free(z);
    if (code == CUZK_OK) {
        cuzk_proof_encode(ret, &proof);
    }
    return code;
}

/* The reference's own proof of the circuit, when it proves this: no need to make one. */
static bool known(uint8_t ret[CUZK_PROOF_BYTES], const cuzk_partition_task *task)
{
    char name[96];
    key *k = key_of(task->circuit);
    size_t n = k->r1cs->n_inputs - 1, got;
    const fr *inputs = (const fr *)(const void *)task->inputs.p;
    cuzk_proof *proof;
    snprintf(name, sizeof name, "reference/%s.0.proof", task->circuit);
    const char *path = test_vector(name);
    if (!path || cuzk_proofs_read(&proof, &got, path, NULL) != CUZK_OK) {
        return false;
    }
    cuzk_verifier *v = NULL;
    fr_repr *public = malloc(n * sizeof *public);
    for (size_t i = 0; i < n; i++) {
        fr_to_repr(&public[i], &inputs[i + 1]);
    }
    bool same = cuzk_verifier_new(&v, &k->pk->vk, NULL) == CUZK_OK &&
                cuzk_verify(v, proof, public, n, NULL, NULL) == CUZK_OK;
    if (same) {
        cuzk_proof_encode(ret, proof);
    }
    cuzk_verifier_free(v);
    free(public);
    free(proof);
    return same;
}

static cuzk_code prove_once(uint8_t ret[CUZK_PROOF_BYTES], const cuzk_partition_task *task,
                            cuzk_err *err)
{
    cuzk_sha256_state s;
    uint8_t statement[32];
    cuzk_code code = CUZK_OK;
    unsigned i = 0;
    cuzk_sha256_init(&s);
    cuzk_sha256_update(&s, task->circuit, strlen(task->circuit));
    cuzk_sha256_update(&s, task->inputs.p, task->inputs.n);
    cuzk_sha256_update(&s, task->records.p, task->records.n);
    cuzk_sha256_final(&s, statement);
    pthread_mutex_lock(&proofs_mu);
    while (i < n_made && memcmp(all_made[i].statement, statement, sizeof statement) != 0) {
        i++;
    }
    if (i < n_made) {
        memcpy(ret, all_made[i].proof, CUZK_PROOF_BYTES);
    } else if ((known(ret, task) || (code = make(ret, task, err)) == CUZK_OK) && n_made < 256) {
        memcpy(all_made[n_made].statement, statement, sizeof statement);
        memcpy(all_made[n_made++].proof, ret, CUZK_PROOF_BYTES);
    }
    pthread_mutex_unlock(&proofs_mu);
    return code;
}

/* ---- the device ---- */

static proving_device *device_of(cuzk_backend *b) { return (proving_device *)b; }

static unsigned slot_of(proving_device *d, const char *circuit)
{
    unsigned i = 0;
    while (i < d->n_circuits && strcmp(d->circuits[i].name, circuit) != 0) {
        i++;
    }
    if (i == d->n_circuits) {
        strncpy(d->circuits[i].name, circuit, sizeof d->circuits[i].name - 1);
        d->n_circuits++;
    }
    return i;
}

static void lose_locked(proving_device *d)
{
    d->losses++;
    for (unsigned i = 0; i < d->n_circuits; i++) {
        d->circuits[i].loaded = false;
    }
}

static cuzk_code device_info(cuzk_backend *b, cuzk_device_info *ret, cuzk_err *err)
{
    proving_device *d = device_of(b);
    (void)err;
    *ret = (cuzk_device_info){.backend = "test", .name = "test device", .memory_total = d->memory};
    return CUZK_OK;
}

static cuzk_code device_cost(cuzk_backend *b, cuzk_circuit_cost *ret,
                             const cuzk_circuit_files *files, cuzk_err *err)
{
    proving_device *d = device_of(b);
    (void)files;
    (void)err;
    pthread_mutex_lock(&d->mu);
    *ret = (cuzk_circuit_cost){.resident = {[CUZK_MEMORY_DEVICE] = d->resident},
                               .working = {[CUZK_MEMORY_DEVICE] = d->working}};
    pthread_mutex_unlock(&d->mu);
    return CUZK_OK;
}

static cuzk_code device_load(cuzk_backend *b, cuzk_load_times *ret, const cuzk_circuit_files *files,
                             cuzk_err *err)
{
    proving_device *d = device_of(b);
    (void)err;
    pthread_mutex_lock(&d->mu);
    unsigned i = slot_of(d, files->circuit);
    d->in_load++;
    pthread_cond_broadcast(&d->changed);
    while (d->hold_loads) {
        pthread_cond_wait(&d->changed, &d->mu);
    }
    d->in_load--;
    d->circuits[i].loads += !d->circuits[i].loaded;
    d->circuits[i].loaded = true;
    pthread_mutex_unlock(&d->mu);
    *ret = (cuzk_load_times){1, 1};
    return CUZK_OK;
}

static cuzk_code device_unload(cuzk_backend *b, const char *circuit, bool *ret_was_loaded,
                               cuzk_err *err)
{
    proving_device *d = device_of(b);
    (void)err;
    pthread_mutex_lock(&d->mu);
    unsigned i = slot_of(d, circuit);
    *ret_was_loaded = d->circuits[i].loaded;
    d->circuits[i].unloads += d->circuits[i].loaded;
    d->circuits[i].loaded = false;
    pthread_mutex_unlock(&d->mu);
    return CUZK_OK;
}

static device_fault begin_proof(proving_device *d, const cuzk_partition_task *task)
{
    pthread_mutex_lock(&d->mu);
    bool loaded = d->circuits[slot_of(d, task->circuit)].loaded;
    d->unloaded_uses += !loaded && d->losses == 0;
    device_fault fault = !loaded                      ? FAULT_LOST /* while this was on its way */
                         : d->at_script < d->n_script ? d->script[d->at_script++]
                                                      : d->always;
    d->in_prove++;
    d->most_in_prove = d->in_prove > d->most_in_prove ? d->in_prove : d->most_in_prove;
    pthread_cond_broadcast(&d->changed);
    while (d->hold) {
        pthread_cond_wait(&d->changed, &d->mu);
    }
    if (fault == FAULT_HANG) {
        struct timespec t = {(time_t)(task->deadline_ns / 1000000000),
                             (long)(task->deadline_ns % 1000000000)};
        while (cuzk_clock_ns() < task->deadline_ns) {
            pthread_cond_timedwait(&d->changed, &d->mu, &t);
        }
    }
    if (fault == FAULT_HANG || (fault == FAULT_LOST && loaded)) {
        lose_locked(d);
    }
    pthread_mutex_unlock(&d->mu);
    return fault;
}

static cuzk_code outcome(cuzk_partition_result *ret, device_fault fault,
                         const cuzk_partition_task *task, cuzk_err *err)
{
    switch (fault) {
    case FAULT_ERROR:
        return CUZK_FAIL(err, CUZK_E_INTERNAL, "the device made an error");
    case FAULT_INPUT:
        return CUZK_FAIL(err, CUZK_E_INPUT, "row 7 is not satisfied");
    case FAULT_MEMORY:
        return CUZK_FAIL(err, CUZK_E_MEMORY, "the device has no memory left");
    case FAULT_LOST:
        return CUZK_FAIL(err, CUZK_E_UNAVAILABLE, "the device was lost");
    case FAULT_HANG:
        return CUZK_FAIL(err, CUZK_E_TIMEOUT, "the deadline passed");
    case FAULT_JUNK:
        memset(ret->proof, 0xff, sizeof ret->proof);
        return CUZK_OK;
    default:
        break;
    }
    CUZK_TRY(prove_once(ret->proof, task, err));
    if (fault == FAULT_WRONG) {
        memcpy(ret->proof + 144, ret->proof, 48); /* C is A: a point, but not the right one */
    }
    return CUZK_OK;
}

static cuzk_code device_prove(cuzk_backend *b, cuzk_partition_result *ret,
                              const cuzk_partition_task *task, cuzk_err *err)
{
    proving_device *d = device_of(b);
    device_fault fault = begin_proof(d, task);
    cuzk_code code = outcome(ret, fault, task, err);
    pthread_mutex_lock(&d->mu);
    d->in_prove--;
    d->proofs++;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->mu);
    return code;
}

static void device_close(cuzk_backend *b)
{
    proving_device *d = device_of(b);
    pthread_mutex_lock(&d->mu);
    d->closed = true;
    pthread_mutex_unlock(&d->mu);
}

static const cuzk_backend_ops ops = {device_info,   device_cost,  device_load,
                                     device_unload, device_prove, device_close};

void proving_device_init(proving_device *d)
{
    pthread_condattr_t attr;
    *d = (proving_device){
        .base = {&ops}, .memory = (uint64_t)1 << 30, .resident = 16 << 20, .working = 1 << 20};
    pthread_mutex_init(&d->mu, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&d->changed, &attr);
    pthread_condattr_destroy(&attr);
}

void proving_device_clear(proving_device *d)
{
    pthread_mutex_destroy(&d->mu);
    pthread_cond_destroy(&d->changed);
}

void proving_device_fail(proving_device *d, const device_fault *faults, unsigned n)
{
    pthread_mutex_lock(&d->mu);
    for (unsigned i = 0; i < n; i++) {
        d->script[i] = faults[i];
    }
    d->n_script = n;
    d->at_script = 0;
    pthread_mutex_unlock(&d->mu);
}

void proving_device_always(proving_device *d, device_fault fault)
{
    pthread_mutex_lock(&d->mu);
    d->always = fault;
    pthread_mutex_unlock(&d->mu);
}

void proving_device_hold(proving_device *d, bool proofs, bool loads)
{
    pthread_mutex_lock(&d->mu);
    d->hold = proofs;
    d->hold_loads = loads;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->mu);
}

static void wait_for(proving_device *d, const unsigned *count, unsigned n)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += 60;
    pthread_mutex_lock(&d->mu);
    int rc = 0;
    while (*count < n && rc == 0) {
        rc = pthread_cond_timedwait(&d->changed, &d->mu, &t);
    }
    bool there = *count >= n;
    pthread_mutex_unlock(&d->mu);
    if (!there) {
        fail_msg("the device was not asked in a minute");
    }
}

void proving_device_wait(proving_device *d, unsigned proofs) { wait_for(d, &d->in_prove, proofs); }
void proving_device_wait_load(proving_device *d, unsigned loads)
{
    wait_for(d, &d->in_load, loads);
}

unsigned proving_device_proofs(proving_device *d)
{
    pthread_mutex_lock(&d->mu);
    unsigned n = d->proofs;
    pthread_mutex_unlock(&d->mu);
    return n;
}

unsigned proving_device_loads(proving_device *d, const char *circuit)
{
    pthread_mutex_lock(&d->mu);
    unsigned n = d->circuits[slot_of(d, circuit)].loads;
    pthread_mutex_unlock(&d->mu);
    return n;
}
