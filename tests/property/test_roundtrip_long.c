#include "groth16/formats/formats.h"
#include "support/gen_circuit.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

/*
 * A whole life of a key at 2^20 constraints (CUZK_ROUNDTRIP_LG sets another size), 97 % of the
 * witness boolean: setup, write, read, prove, verify, in both file formats. Prints the wall and CPU
 * time of each step and the peak of memory, which must stay below 3 GiB.
 */

static const uint64_t peak_limit_bytes = UINT64_C(3) << 30;

static double wall_s(void) { return (double)cuzk_clock_ns() / 1e9; }

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

typedef struct stopwatch {
    double wall, cpu;
} stopwatch;

static stopwatch start(void) { return (stopwatch){wall_s(), cpu_s()}; }

static void stop(const stopwatch *w, const char *what)
{
    print_message("%-22s %8.2f s wall %8.2f s CPU   peak %5.0f MiB\n", what, wall_s() - w->wall,
                  cpu_s() - w->cpu, (double)cuzk_peak_rss_bytes() / 1048576);
}

static void assert_ok(cuzk_code code, const cuzk_err *err)
{
    if (code != CUZK_OK) {
        fail_msg("%s", err->msg);
    }
}

static const char *path_of(const char *name)
{
    static char paths[4][4096];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", test_tmpdir(), name);
    return path;
}

/* Writes the system and its witness, and forgets them: from here on all comes from files. */
static void write_circuit(uint64_t n_rows)
{
    cuzk_err err = {0};
    stopwatch w = start();
    gen_circuit c = gen_circuit_new(&(gen_wish){.n_rows = n_rows, .bit_permil = 970, .seed = 20});
    size_t n_z = (size_t)c.r1cs->n_inputs + c.r1cs->n_aux, bits = 0;
    for (size_t i = 0; i < n_z; i++) {
        bits += c.z[i].l[0] < 2 && !(c.z[i].l[1] | c.z[i].l[2] | c.z[i].l[3]);
    }
    print_message("%llu constraints, %zu variables, %.1f %% of them 0 or 1\n",
                  (unsigned long long)c.r1cs->n_rows, n_z, 100 * (double)bits / (double)n_z);
    assert_true(bits * 100 >= n_z * 96);
    assert_ok(cuzk_r1cs_write(c.r1cs, path_of("c.r1cs"), &err), &err);
    assert_ok(cuzk_wtns_write(c.z, n_z, path_of("c.wtns"), &err), &err);
    gen_circuit_clear(&c);
    stop(&w, "generate and write");
}

static void make_key(const cuzk_r1cs *r1cs, bool snarkjs, const char *name, cuzk_vk *ret_vk,
                     cuzk_pool *pool)
{
    cuzk_err err = {0};
    cuzk_trapdoor t;
    cuzk_pk *pk;
    assert_ok(cuzk_trapdoor_random(&t, &err), &err);
    stopwatch w = start();
    assert_ok(cuzk_groth16_setup(&pk, r1cs, &t, snarkjs ? FR_ROOT_SNARKJS : FR_ROOT_BELLMAN,
                                 snarkjs ? CUZK_H_ODD_LAGRANGE : CUZK_H_POWERS, pool, NULL, &err),
              &err);
    stop(&w, "setup");
    w = start();
    assert_ok(snarkjs ? cuzk_zkey_write(pk, r1cs, name, &err) : cuzk_params_write(pk, name, &err),
              &err);
    stop(&w, "write the key");
    *ret_vk = pk->vk;
    pk->vk = (cuzk_vk){0};
    cuzk_pk_free(pk);
}

static void say_phases(const cuzk_prove_times *t)
{
#define X(phase) print_message("    %-18s %8.3f s wall\n", #phase, (double)t->phase##_ns / 1e9);
    CUZK_PROVE_PHASES(X)
#undef X
}

static void prove_and_verify(const cuzk_pk *pk, const cuzk_r1cs *r1cs, const cuzk_vk *vk,
                             cuzk_pool *pool)
{
    cuzk_err err = {0};
    cuzk_proof proof;
    cuzk_prove_times times;
    cuzk_verifier *v;
    fr_repr *z;
    size_t n_z;
    assert_ok(cuzk_wtns_read(&z, &n_z, path_of("c.wtns"), &err), &err);
    for (int i = 0; i < 2; i++) {
        stopwatch w = start();
        assert_ok(
            cuzk_groth16_prove(&proof, pk, r1cs, z, n_z, NULL, NULL, pool, NULL, &times, &err),
            &err);
        stop(&w, i ? "prove again" : "prove");
    }
    say_phases(&times);
    stopwatch w = start();
    assert_ok(cuzk_verifier_new(&v, vk, &err), &err);
    assert_ok(cuzk_verify(v, &proof, z + 1, pk->n_inputs - 1, pool, &err), &err);
    stop(&w, "verify");
    cuzk_verifier_free(v);
    free(z);
}

static void round_trip(bool snarkjs, cuzk_pool *pool)
{
    cuzk_err err = {0};
    cuzk_r1cs *r1cs, *own = NULL;
    cuzk_vk vk;
    cuzk_pk *pk;
    const char *name = path_of(snarkjs ? "key.zkey" : "key.params");
    print_message("-- %s\n", snarkjs ? "zkey" : "params");
    stopwatch w = start();
    assert_ok(cuzk_r1cs_read(&r1cs, path_of("c.r1cs"), &err), &err);
    stop(&w, "read the system");
    make_key(r1cs, snarkjs, name, &vk, pool);
    struct stat st;
    assert_int_equal(stat(name, &st), 0);
    print_message("%-22s %8.0f MB\n", "the key's file", (double)st.st_size / 1e6);
    w = start();
    assert_ok(snarkjs ? cuzk_zkey_read(&pk, &own, name, POINT_CHECK_NONE, pool, &err)
                      : cuzk_params_read(&pk, name, r1cs, POINT_CHECK_NONE, pool, &err),
              &err);
    stop(&w, "read the key");
    prove_and_verify(pk, own ? own : r1cs, &vk, pool);
    cuzk_pk_free(pk);
    cuzk_r1cs_free(own);
    cuzk_r1cs_free(r1cs);
    cuzk_vk_clear(&vk);
    assert_int_equal(remove(name), 0);
}

static void a_million_constraints_go_round_within_the_memory_limit(void **state)
{
    (void)state;
    const char *wish = getenv("CUZK_ROUNDTRIP_LG");
    unsigned lg = wish ? (unsigned)strtoul(wish, NULL, 10) : 20;
    cuzk_pool *pool;
    assert_int_equal(cuzk_pool_new(&pool, 0, NULL), CUZK_OK);
    print_message("%u threads\n", cuzk_pool_size(pool));
    write_circuit(UINT64_C(1) << lg);
    round_trip(false, pool);
    round_trip(true, pool);
    assert_true(cuzk_peak_rss_bytes() < peak_limit_bytes);
    cuzk_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_constraints_go_round_within_the_memory_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
