#include "base/file.h"
#include "filecoin/read.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

/* A copy of a file, to be changed. */
typedef struct copy {
    uint8_t *p;
    size_t n;
} copy;

static copy copy_of(const char *path)
{
    cuzk_err err;
    cuzk_file_map map;
    assert_int_equal(cuzk_file_map_open(&map, path, &err), CUZK_OK);
    copy c = {malloc(map.bytes.n + 1), map.bytes.n};
    memcpy(c.p, map.bytes.p, map.bytes.n);
    c.p[c.n] = 0;
    cuzk_file_map_close(&map);
    return c;
}

static cuzk_code read_post(const copy *c, size_t n, const char *size, bool window, cuzk_err *err)
{
    cuzk_post_proof proof = cuzk_post_proof_of_sector(cuzk_sector_named(size), window);
    cuzk_post_sector s;
    cuzk_code code = cuzk_post_sector_read(&s, (cuzk_span){c->p, n}, "s", &proof, err);
    if (code == CUZK_OK) {
        cuzk_post_sector_clear(&s);
    }
    return code;
}

static cuzk_code read_update(const copy *c, size_t n, const char *size, cuzk_err *err)
{
    cuzk_update_partition p;
    cuzk_code code =
        cuzk_update_partition_read(&p, (cuzk_span){c->p, n}, "u", cuzk_sector_named(size), err);
    if (code == CUZK_OK) {
        cuzk_update_partition_clear(&p);
    }
    return code;
}

/* One changed byte of a file, and what is said about it. */
typedef struct change {
    size_t at;
    uint8_t value;
    const char *message;
} change;

static void a_cut_or_longer_file_is_refused(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(sector, "reference/window-2KiB.sector0.bincode")
    TEST_VECTOR_OR_SKIP(partition, "reference/update-2KiB.partition0.bincode")
    cuzk_err err;
    copy c = copy_of(sector);
    assert_int_equal(read_post(&c, c.n, "2KiB", true, &err), CUZK_OK);
    for (size_t n = 0; n < c.n; n += 7) {
        assert_int_equal(read_post(&c, n, "2KiB", true, &err), CUZK_E_INPUT);
    }
    assert_int_equal(read_post(&c, c.n + 1, "2KiB", true, &err), CUZK_E_INPUT);
    assert_string_equal(err.msg, "s: offset 5680: end: expected no more bytes, found 1");
    free(c.p);
    c = copy_of(partition);
    assert_int_equal(read_update(&c, c.n, "2KiB", &err), CUZK_OK);
    for (size_t n = 0; n < c.n; n += 17) {
        assert_int_equal(read_update(&c, n, "2KiB", &err), CUZK_E_INPUT);
    }
    assert_int_equal(read_update(&c, c.n + 1, "2KiB", &err), CUZK_E_INPUT);
    free(c.p);
}

static void a_file_of_another_size_or_kind_is_refused(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(sector, "reference/window-2KiB.sector0.bincode")
    TEST_VECTOR_OR_SKIP(partition, "reference/update-2KiB.partition0.bincode")
    cuzk_err err;
    copy c = copy_of(sector);
    assert_int_equal(read_post(&c, c.n, "2KiB", false, &err), CUZK_E_INPUT);
    assert_string_equal(err.msg, "s: offset 48: inclusion_proofs: expected length 66, found 10");
    assert_int_equal(read_post(&c, c.n, "8MiB", true, &err), CUZK_E_INPUT);
    assert_string_equal(err.msg,
                        "s: offset 124: challenge 0: inclusion_proof.path: expected length "
                        "6, found 2");
    assert_int_equal(read_post(&c, c.n, "32GiB", true, &err), CUZK_E_INPUT);
    assert_string_equal(err.msg, "s: offset 56: challenge 0: inclusion_proof.data: expected "
                                 "variant 1, found 0");
    free(c.p);
    c = copy_of(partition);
    assert_int_equal(read_update(&c, c.n, "16KiB", &err), CUZK_E_INPUT);
    assert_string_equal(err.msg, "u: offset 32: apex_leafs: expected length 128, found 8");
    free(c.p);
}

static void a_changed_post_file_is_refused_with_its_place_and_reason(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(path, "reference/window-2KiB.sector0.bincode")
    static const change changes[] = {
        {40, 2, "s: offset 40: vanilla_proof.sectors: expected length 1, found 2"},
        {39, 0x80, "s: offset 8: comm_r: expected a field element, found a number not below r"},
        {132, 6, "s: offset 132: challenge 0: inclusion_proof.hashes: expected length 7, found 6"},
        {364, 8, "s: offset 364: challenge 0: inclusion_proof.index: expected at most 7, found 8"},
        {5679, 0x12, "s: offset 5680: comm_r_last: not the root of the inclusion proofs"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        cuzk_err err = {0};
        copy c = copy_of(path);
        c.p[changes[i].at] = changes[i].value;
        assert_int_equal(read_post(&c, c.n, "2KiB", true, &err), CUZK_E_INPUT);
        assert_string_equal(err.msg, changes[i].message);
        free(c.p);
    }
}

static void a_root_or_index_that_differs_between_proofs_is_refused(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(sector, "reference/window-2KiB.sector0.bincode")
    TEST_VECTOR_OR_SKIP(partition, "reference/update-2KiB.partition0.bincode")
    enum { MERKLE = 4 + 32 + 32 + 8 + 2 * (8 + 7 * 32 + 8) }; /* bytes of a path of 64 leaves */
    cuzk_err err = {0};
    copy c = copy_of(sector);
    c.p[56 + MERKLE + 4] ^= 1; /* root of the second challenge */
    assert_int_equal(read_post(&c, c.n, "2KiB", true, &err), CUZK_E_INPUT);
    assert_non_null(strstr(err.msg, "challenge 1: inclusion_proof.root: not that of the first"));
    free(c.p);
    c = copy_of(partition);
    const size_t first = 32 + 8 + 8 * 32 + 8;       /* proof_r_old of challenge 0 */
    c.p[first + MERKLE + 4 + 64 + 8 + 8 + 32] ^= 1; /* first index of its proof_d_new */
    assert_int_equal(read_update(&c, c.n, "2KiB", &err), CUZK_E_INPUT);
    assert_non_null(strstr(err.msg, "challenge 0: proof_d_new.path: not the index of proof_r_old"));
    free(c.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_or_longer_file_is_refused),
        cmocka_unit_test(a_file_of_another_size_or_kind_is_refused),
        cmocka_unit_test(a_changed_post_file_is_refused_with_its_place_and_reason),
        cmocka_unit_test(a_root_or_index_that_differs_between_proofs_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
