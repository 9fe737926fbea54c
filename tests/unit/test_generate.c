#include "base/file.h"
#include "base/sha256.h"
#include "filecoin/check.h"
#include "filecoin/generate.h"
#include "filecoin/read.h"
#include "filecoin/write.h"
#include "support/support.h"
#include "support/vanilla_eq.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cuzk_pool *pool;

static int start_pool(void **state)
{
    (void)state;
    cuzk_err err;
    return cuzk_pool_new(&pool, 2, &err) != CUZK_OK;
}

static int stop_pool(void **state)
{
    (void)state;
    cuzk_pool_free(pool);
    return 0;
}

static cuzk_porep generated(const char *size, const char *seed)
{
    cuzk_err err = {0};
    cuzk_porep p;
    if (cuzk_porep_generate(&p, cuzk_sector_named(size), seed, pool, &err) != CUZK_OK) {
        print_message("%s\n", err.msg);
        fail();
    }
    return p;
}

static void write_porep(const char *path, const cuzk_porep *p, cuzk_porep_form form)
{
    cuzk_err err;
    cuzk_file_writer *w;
    assert_int_equal(cuzk_file_writer_open(&w, path, &err), CUZK_OK);
    assert_int_equal(cuzk_porep_write(w, p, form, &err), CUZK_OK);
    assert_int_equal(cuzk_file_writer_commit(w, &err), CUZK_OK);
}

static void assert_digest(const char *path, const char *want)
{
    cuzk_err err;
    cuzk_file_map map;
    uint8_t digest[32];
    char hex[65];
    assert_int_equal(cuzk_file_map_open(&map, path, &err), CUZK_OK);
    cuzk_sha256_digest(digest, map.bytes.p, map.bytes.n);
    cuzk_hex_format(hex, digest, 32);
    assert_string_equal(hex, want);
    cuzk_file_map_close(&map);
}

/* The digests of what the reference implementation's verifier and circuits accepted. */
static void generated_poreps_are_those_that_the_reference_verified(void **state)
{
    (void)state;
    static const struct {
        const char *size, *digest;
    } known[] = {
        {"2KiB", "622e0945292bb8beb19ee34eb09580c8ddf55367f65fef005def80478d41439c"},
        {"8MiB", "fb16691db498a5061bf75d6940a4fd96efbd4901a30e1349e12d09bb2a5642de"},
        {"512MiB", "d69d5838198c4396fd4e6b93e6f79da1e34d968839be0a80adf3869f838333f2"},
        {"32GiB", "15731c7eb6391311057edaf3b39df3accab60986cd4aeccbde79d5dea2f8fa6c"},
    };
    char path[300];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        cuzk_porep p = generated(known[i].size, NULL);
        snprintf(path, sizeof path, "%s/c1", test_tmpdir());
        write_porep(path, &p, CUZK_POREP_BINCODE);
        assert_digest(path, known[i].digest);
        if (strcmp(known[i].size, "32GiB") == 0) { /* and its JSON, 38 MB */
            write_porep(path, &p, CUZK_POREP_JSON);
            assert_digest(path, "e36cb3a7d4828c436eb30a062d7f1361891351e2c45911e054bd8f05b8b0b420");
        }
        cuzk_porep_clear(&p);
    }
}

static void every_form_of_every_size_is_read_back_and_verifies(void **state)
{
    (void)state;
    for (unsigned i = 0; cuzk_sector_at(i); i++) {
        const cuzk_sector *s = cuzk_sector_at(i);
        if (s->layers == 0 || s->challenges > 2) {
            continue; /* the two big sizes: the digest above, and the test of 64GiB below */
        }
        cuzk_porep p = generated(s->name, "a seed");
        for (int form = 0; form < 3; form++) {
            cuzk_err err = {0};
            cuzk_porep q;
            char path[300];
            snprintf(path, sizeof path, "%s/c1", test_tmpdir());
            write_porep(path, &p, (cuzk_porep_form)form);
            cuzk_code code = cuzk_porep_read_file(&q, path, &p.proof, &err);
            if (code == CUZK_OK) {
                code = cuzk_porep_check(&q, path, pool, &err);
            }
            if (code != CUZK_OK) {
                print_message("%s: %s\n", s->name, err.msg);
                fail();
            }
            assert_porep_equal(&p, &q);
            cuzk_porep_clear(&q);
        }
        cuzk_porep_clear(&p);
    }
}

static void a_porep_of_64GiB_with_a_top_tree_verifies(void **state)
{
    (void)state;
    cuzk_err err = {0};
    cuzk_porep p = generated("64GiB", NULL), q;
    char path[300];
    snprintf(path, sizeof path, "%s/c1", test_tmpdir());
    write_porep(path, &p, CUZK_POREP_WRAPPER);
    assert_int_equal(cuzk_porep_read_file(&q, path, NULL, &err), CUZK_OK);
    assert_porep_equal(&p, &q);
    if (cuzk_porep_check_partition(&q, 9, path, pool, &err) != CUZK_OK) {
        print_message("%s\n", err.msg);
        fail();
    }
    cuzk_porep_clear(&p);
    cuzk_porep_clear(&q);
}

static void sizes_without_porep_are_refused(void **state)
{
    (void)state;
    cuzk_err err;
    cuzk_porep p;
    assert_int_equal(cuzk_porep_generate(&p, cuzk_sector_named("8KiB"), NULL, pool, &err),
                     CUZK_E_ARG);
}

static void check_post_file(const char *path, const char *size, bool window, uint64_t id)
{
    cuzk_err err = {0};
    cuzk_post_proof proof = cuzk_post_proof_of_sector(cuzk_sector_named(size), window);
    cuzk_post_sector read, made;
    uint8_t randomness[32];
    char out[300];
    cuzk_post_generate_randomness(randomness, NULL);
    if (cuzk_post_sector_read_file(&read, path, &proof, &err) != CUZK_OK ||
        cuzk_post_check(&read, &proof, randomness, id - 1, path, pool, &err) != CUZK_OK) {
        print_message("%s\n", err.msg);
        fail();
    }
    assert_int_equal(read.id, id);
    /* what the generator writes is that file */
    assert_int_equal(cuzk_post_generate(&made, &proof, id, NULL, pool, &err), CUZK_OK);
    snprintf(out, sizeof out, "%s/sector", test_tmpdir());
    cuzk_file_writer *w;
    assert_int_equal(cuzk_file_writer_open(&w, out, &err), CUZK_OK);
    assert_int_equal(cuzk_post_sector_write(w, &made, proof.sector, &err), CUZK_OK);
    assert_int_equal(cuzk_file_writer_commit(w, &err), CUZK_OK);
    cuzk_file_map a, b;
    assert_int_equal(cuzk_file_map_open(&a, path, &err), CUZK_OK);
    assert_int_equal(cuzk_file_map_open(&b, out, &err), CUZK_OK);
    assert_int_equal(a.bytes.n, b.bytes.n);
    assert_memory_equal(a.bytes.p, b.bytes.p, a.bytes.n);
    cuzk_file_map_close(&a);
    cuzk_file_map_close(&b);
    cuzk_post_sector_clear(&read);
    cuzk_post_sector_clear(&made);
}

static void reference_post_proofs_verify_and_are_generated_bit_for_bit(void **state)
{
    (void)state;
    static const struct {
        const char *file, *size;
        bool window;
        uint64_t id;
    } files[] = {
        {"reference/window-2KiB.sector0.bincode", "2KiB", true, 1},
        {"reference/window-2KiB.sector1.bincode", "2KiB", true, 2},
        {"reference/window-32GiB.sector0.bincode", "32GiB", true, 1},
        {"reference/window-32GiB.sector1.bincode", "32GiB", true, 2},
        {"reference/winning-2KiB.sector0.bincode", "2KiB", false, 1},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        TEST_VECTOR_OR_SKIP(path, files[i].file)
        check_post_file(path, files[i].size, files[i].window, files[i].id);
    }
}

static void check_update_file(const char *path, const char *size)
{
    cuzk_err err = {0};
    const cuzk_sector *sector = cuzk_sector_named(size);
    cuzk_update_partition read, made;
    cuzk_update_source *source;
    cuzk_node comm_r_old, comm_d_new, comm_r_new;
    char out[300];
    assert_int_equal(cuzk_update_source_new(&source, sector, NULL, pool, &err), CUZK_OK);
    cuzk_update_source_public(source, &comm_r_old, &comm_d_new, &comm_r_new);
    if (cuzk_update_partition_read_file(&read, path, sector, &err) != CUZK_OK ||
        cuzk_update_check(&read, 0, &comm_r_old, &comm_d_new, &comm_r_new, path, pool, &err) !=
            CUZK_OK) {
        print_message("%s\n", err.msg);
        fail();
    }
    assert_int_equal(cuzk_update_generate(&made, source, 0, &err), CUZK_OK);
    snprintf(out, sizeof out, "%s/partition", test_tmpdir());
    cuzk_file_writer *w;
    assert_int_equal(cuzk_file_writer_open(&w, out, &err), CUZK_OK);
    assert_int_equal(cuzk_update_partition_write(w, &made, &err), CUZK_OK);
    assert_int_equal(cuzk_file_writer_commit(w, &err), CUZK_OK);
    cuzk_file_map a, b;
    assert_int_equal(cuzk_file_map_open(&a, path, &err), CUZK_OK);
    assert_int_equal(cuzk_file_map_open(&b, out, &err), CUZK_OK);
    assert_int_equal(a.bytes.n, b.bytes.n);
    assert_memory_equal(a.bytes.p, b.bytes.p, a.bytes.n);
    cuzk_file_map_close(&a);
    cuzk_file_map_close(&b);
    cuzk_update_partition_clear(&read);
    cuzk_update_partition_clear(&made);
    cuzk_update_source_free(source);
}

static void reference_updates_verify_and_are_generated_bit_for_bit(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(small, "reference/update-2KiB.partition0.bincode")
    TEST_VECTOR_OR_SKIP(big, "reference/update-32GiB.partition0.bincode")
    check_update_file(small, "2KiB");
    check_update_file(big, "32GiB");
}

static void every_partition_of_every_update_size_verifies(void **state)
{
    (void)state;
    for (unsigned i = 0; cuzk_sector_at(i); i++) {
        const cuzk_sector *s = cuzk_sector_at(i);
        cuzk_err err = {0};
        cuzk_update_source *source;
        cuzk_node comm_r_old, comm_d_new, comm_r_new;
        if (s->update_challenges > 10 && strcmp(s->name, "64GiB") != 0) {
            continue; /* 32GiB is above; two more would only take time */
        }
        assert_int_equal(cuzk_update_source_new(&source, s, "u", pool, &err), CUZK_OK);
        cuzk_update_source_public(source, &comm_r_old, &comm_d_new, &comm_r_new);
        for (unsigned k = 0; k<s->update_partitions; k += s->update_partitions> 4 ? 15 : 1) {
            cuzk_update_partition p;
            assert_int_equal(cuzk_update_generate(&p, source, k, &err), CUZK_OK);
            if (cuzk_update_check(&p, k, &comm_r_old, &comm_d_new, &comm_r_new, s->name, pool,
                                  &err) != CUZK_OK) {
                print_message("%s\n", err.msg);
                fail();
            }
            cuzk_update_partition_clear(&p);
        }
        cuzk_update_source_free(source);
    }
}

static void each_seed_gives_other_proofs(void **state)
{
    (void)state;
    cuzk_porep a = generated("2KiB", NULL), b = generated("2KiB", ""), c = generated("2KiB", "x");
    assert_memory_equal(a.comm_r.b, b.comm_r.b, 32);
    assert_memory_not_equal(a.comm_r.b, c.comm_r.b, 32);
    assert_memory_not_equal(a.replica_id.b, c.replica_id.b, 32);
    cuzk_porep_clear(&a);
    cuzk_porep_clear(&b);
    cuzk_porep_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_poreps_are_those_that_the_reference_verified),
        cmocka_unit_test(every_form_of_every_size_is_read_back_and_verifies),
        cmocka_unit_test(a_porep_of_64GiB_with_a_top_tree_verifies),
        cmocka_unit_test(sizes_without_porep_are_refused),
        cmocka_unit_test(reference_post_proofs_verify_and_are_generated_bit_for_bit),
        cmocka_unit_test(reference_updates_verify_and_are_generated_bit_for_bit),
        cmocka_unit_test(every_partition_of_every_update_size_verifies),
        cmocka_unit_test(each_seed_gives_other_proofs),
    };
    return cmocka_run_group_tests(tests, start_pool, stop_pool);
}
