#include "support/keys.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "filecoin/circuits/catalog.h"
#include "filecoin/statement.h"
#include "groth16/formats/formats.h"
#include "r1cs/shape_csr.h"
#include "support/files.h"
#include "support/support.h"

static void ok(cuzk_code code, const cuzk_err *err)
{
    if (code != CUZK_OK) {
        fail_msg("%s", err->msg);
    }
}

static void make_key(const test_circuit *c, const cuzk_circuit_id *id)
{
    cuzk_err err;
    cuzk_shape *shape;
    cuzk_r1cs *r1cs;
    cuzk_pk *pk;
    cuzk_pool *pool;
    cuzk_trapdoor secrets;
    ok(cuzk_pool_new(&pool, 0, &err), &err);
    ok(cuzk_circuit_shape_cached(&shape, id, c->shape, NULL, &err), &err);
    ok(cuzk_shape_to_r1cs(&r1cs, shape, &err), &err);
    ok(cuzk_trapdoor_named(&secrets, "ref", &err), &err);
    ok(cuzk_groth16_setup(&pk, r1cs, &secrets, FR_ROOT_BELLMAN, CUZK_H_POWERS, pool, NULL, &err),
       &err);
    ok(cuzk_vk_write(&pk->vk, c->vk, &err), &err);
    ok(cuzk_params_write(pk, c->params, &err), &err); /* last: it tells that all is there */
    cuzk_pk_free(pk);
    cuzk_r1cs_free(r1cs);
    cuzk_shape_free(shape);
    cuzk_pool_free(pool);
}

void test_circuit_open(test_circuit *ret, const char *name)
{
    cuzk_err err;
    cuzk_circuit_id id;
    char stem[CUZK_PARAM_NAME_MAX], lock[600];
    memset(ret, 0, sizeof *ret);
    ok(cuzk_circuit_named(&id, name, &err), &err);
    cuzk_param_stem(stem, id.kind, id.sector);
    snprintf(ret->name, sizeof ret->name, "%s", name);
    snprintf(ret->folder, sizeof ret->folder, "%s", TEST_KEYS);
    snprintf(ret->shape, sizeof ret->shape, "%s/%s.circuit", ret->folder, name);
    snprintf(ret->params, sizeof ret->params, "%s/%s.params", ret->folder, stem);
    snprintf(ret->vk, sizeof ret->vk, "%s/%s.vk", ret->folder, stem);
    snprintf(lock, sizeof lock, "%s/lock", ret->folder);
    mkdir(ret->folder, 0777);
    int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    if (access(ret->params, F_OK) != 0) {
        make_key(ret, &id);
    }
    close(fd);
}

cuzk_circuit_files test_circuit_files(const test_circuit *c)
{
    return (cuzk_circuit_files){c->name, c->shape, c->params};
}

/* What the reference proved, by circuit. */
typedef struct source {
    const char *circuit;
    const char *files[2];
    const char *proof;
} source;

static const source sources[] = {
    {"window-2KiB",
     {"reference/window-2KiB.sector0.bincode", "reference/window-2KiB.sector1.bincode"},
     "reference/window-2KiB.0.proof"},
    {"winning-2KiB", {"reference/winning-2KiB.sector0.bincode"}, "reference/winning-2KiB.0.proof"},
};

static const source *source_of(const char *circuit)
{
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        if (strcmp(sources[i].circuit, circuit) == 0) {
            return &sources[i];
        }
    }
    fail_msg("no proof of %s is known", circuit);
    return NULL;
}

static void make_ports(cuzk_ports *ret, const source *from, const char *const *files, size_t n,
                       const test_circuit *c)
{
    cuzk_err err;
    uint8_t randomness[32];
    const cuzk_claims claims = {.randomness = randomness};
    cuzk_circuit_id id;
    cuzk_shape *shape;
    cuzk_statement *s;
    cuzk_sha256_digest(randomness, "post randomness", strlen("post randomness"));
    randomness[31] &= 0x3f;
    ok(cuzk_circuit_named(&id, from->circuit, &err), &err);
    ok(cuzk_circuit_shape_cached(&shape, &id, c->shape, NULL, &err), &err);
    ok(cuzk_statement_read(&s, &id, files, n, &claims, &err), &err);
    ok(cuzk_statement_ports(s, 0, shape, ret, &err), &err);
    cuzk_statement_free(s);
    cuzk_shape_free(shape);
}

static void blinding(uint8_t ret[32], const char *name)
{
    cuzk_err err;
    fr k;
    ok(cuzk_scalar_named(&k, name, &err), &err);
    fr_to_bytes(ret, &k);
}

void test_partition_make(test_partition *ret, const test_circuit *c)
{
    const source *from = source_of(c->name);
    const char *files[2];
    size_t n = 0;
    cuzk_err err;
    cuzk_circuit_id id;
    cuzk_shape *shape;
    for (; n < 2 && from->files[n]; n++) {
        TEST_VECTOR_OR_SKIP(path, from->files[n]);
        files[n] = path;
    }
    memset(ret, 0, sizeof *ret);
    make_ports(&ret->ports, from, files, n, c);
    ok(cuzk_circuit_named(&id, c->name, &err), &err);
    ok(cuzk_circuit_shape_cached(&shape, &id, c->shape, NULL, &err), &err);
    ret->task = (cuzk_partition_task){
        .circuit = c->name,
        .inputs = {(const uint8_t *)ret->ports.inputs, shape->n_inputs * sizeof(fr)},
        .records = {ret->ports.records, cuzk_shape_record_bytes(shape)},
    };
    cuzk_shape_free(shape);
    blinding(ret->task.r, "ref-r-0");
    blinding(ret->task.s, "ref-s-0");
    TEST_VECTOR_OR_SKIP(path, from->proof);
    test_file want = test_file_load(path);
    assert_int_equal(want.n, sizeof ret->proof);
    memcpy(ret->proof, want.p, sizeof ret->proof);
    free(want.p);
}

void test_partition_clear(test_partition *p) { cuzk_ports_clear(&p->ports); }

void test_vk_equal(const cuzk_vk *got, const cuzk_vk *want)
{
    assert_memory_equal(&got->alpha_g1, &want->alpha_g1, sizeof want->alpha_g1);
    assert_memory_equal(&got->beta_g1, &want->beta_g1, sizeof want->beta_g1);
    assert_memory_equal(&got->delta_g1, &want->delta_g1, sizeof want->delta_g1);
    assert_memory_equal(&got->beta_g2, &want->beta_g2, sizeof want->beta_g2);
    assert_memory_equal(&got->gamma_g2, &want->gamma_g2, sizeof want->gamma_g2);
    assert_memory_equal(&got->delta_g2, &want->delta_g2, sizeof want->delta_g2);
    assert_int_equal(got->n_ic, want->n_ic);
    assert_memory_equal(got->ic, want->ic, want->n_ic * sizeof *want->ic);
}
