#include "base/base64.h"
#include "base/file.h"
#include "base/system.h"
#include "filecoin/read.h"
#include "support/support.h"
#include "support/vanilla_eq.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cuzk_file_map map_of(const char *path)
{
    cuzk_err err;
    cuzk_file_map map;
    assert_int_equal(cuzk_file_map_open(&map, path, &err), CUZK_OK);
    return map;
}

static cuzk_porep read_file(const char *path)
{
    cuzk_err err;
    cuzk_porep p;
    if (cuzk_porep_read_file(&p, path, NULL, &err) != CUZK_OK) {
        print_message("%s\n", err.msg);
        fail();
    }
    return p;
}

static void check_both_forms(const char *bincode, const char *json, const char *size)
{
    cuzk_porep a = read_file(bincode), b = read_file(json);
    assert_string_equal(a.proof.sector->name, size);
    assert_false(b.has_sector_number);
    assert_porep_equal(&a, &b);
    cuzk_porep_clear(&a);
    cuzk_porep_clear(&b);
}

static void json_and_bincode_of_2KiB_are_the_same_proof(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(bincode, "reference/c1-2KiB.bincode")
    TEST_VECTOR_OR_SKIP(json, "reference/c1-2KiB.phase1.json")
    check_both_forms(bincode, json, "2KiB");
}

static void json_and_bincode_of_8MiB_are_the_same_proof(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(bincode, "reference/c1-8MiB.bincode")
    TEST_VECTOR_OR_SKIP(json, "reference/c1-8MiB.phase1.json")
    check_both_forms(bincode, json, "8MiB");
}

/* 51 MB of wrapper, as clients send it. */
static void the_wrapper_of_32GiB_is_the_same_proof_as_its_bincode(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(bincode, "reference/c1-32GiB.bincode")
    TEST_VECTOR_OR_SKIP(packed, "reference/c1-32GiB.wrapper.json.zst")
    char plain[300], command[1200];
    snprintf(plain, sizeof plain, "%s/wrapper.json", test_tmpdir());
    snprintf(command, sizeof command, "zstd -q -d -o '%s' '%s'", plain, packed);
    if (system(command) != 0) { /* NOLINT(cert-env33-c): a decompressor of known arguments */
        print_message("skipped: zstd is not here\n");
        skip();
    }
    cuzk_porep a = read_file(bincode), b = read_file(plain);
    assert_true(b.has_sector_number);
    assert_int_equal(b.sector_number, 1);
    assert_int_equal(b.n_partitions, 10);
    assert_porep_equal(&a, &b);
    cuzk_porep_clear(&a);
    cuzk_porep_clear(&b);
}

/* A text of the 2KiB proof with `from` replaced by `to` at its n-th place (0-based). */
static char *changed(const char *text, const char *from, const char *to, int n)
{
    const char *at = strstr(text, from);
    for (; at && n > 0; n--) {
        at = strstr(at + 1, from);
    }
    if (!at) {
        print_message("no such text: %s\n", from);
        fail();
    }
    size_t head = (size_t)(at - text), size = strlen(text) + strlen(to) + 1;
    char *out = malloc(size);
    snprintf(out, size, "%.*s%s%s", (int)head, text, to, at + strlen(from));
    return out;
}

static char *text_of_2KiB(void)
{
    const char *path = test_vector("reference/c1-2KiB.phase1.json");
    if (!path) {
        return NULL;
    }
    cuzk_file_map map = map_of(path);
    char *text = strndup((const char *)map.bytes.p, map.bytes.n);
    cuzk_file_map_close(&map);
    return text;
}

#define TEXT_OR_SKIP(var)                                                                          \
    char *var = text_of_2KiB();                                                                    \
    if (!var) {                                                                                    \
        print_message("skipped: vector reference/c1-2KiB.phase1.json is not here\n");              \
        skip();                                                                                    \
    }

static cuzk_code read_text(const char *text, cuzk_porep *p, cuzk_err *err)
{
    return cuzk_porep_read(p, (cuzk_span){(const uint8_t *)text, strlen(text)}, "c1.json", NULL,
                           err);
}

static void a_changed_text_is_refused_with_its_place_and_reason(void **state)
{
    (void)state;
    TEXT_OR_SKIP(text)
    static const struct {
        const char *from, *to;
        int n;
        const char *parts[3]; /* of the message */
    } changes[] = {
        {"\"comm_d\"", "\"comm_x\"", 0, {"expected a member \"comm_d\", found none"}},
        {"\"comm_r\":[238",
         "\"comm_r\":[238,1",
         0,
         {"comm_r[32]", "expected 32 bytes, found more"}},
        {"\"comm_d\":[250", "\"comm_d\":[251", 0, {"comm_d: expected the root of comm_d_proofs"}},
        {"\"comm_d\":[", "\"comm_d\":{", 0, {"comm_d: expected an array, found '{'"}},
        {"V1_1", "V1_3", 0, {"registered_proof: expected a registered seal proof", "V1_3"}},
        {"2KiBV1_1\"", "8MiBV1_1\"", 0, {"vanilla_proofs: expected those of StackedDrg8MiBV1_1"}},
        {"2KiBV1_1\"",
         "2KiBV1_2_Feat_NonInteractivePoRep\"",
         0,
         {"expected 13 partitions", "found 1"}},
        {"\"StackedDrg2KiBV1\":",
         "\"StackedDrg2KiBV1_1\":",
         0,
         {"vanilla_proofs.StackedDrg2KiBV1_1: expected a key such as"}},
        {"\"StackedDrg2KiBV1\":",
         "\"StackedDrg4KiBV1\":",
         0,
         {"partition 0 challenge 0", "comm_d_proofs.data.Single.path.path",
          "expected 7 elements, found fewer"}},
        {"\"Single\"",
         "\"Sub\"",
         0,
         {"partition 0 challenge 0", "expected \"Single\", found another variant"}},
        {"\"Single\"",
         "\"Double\"",
         3,
         {"partition 0 challenge 0: ", "replica_column_proofs.", "expected \"Single\""}},
        {"\"index\":1}", "\"index\":2}", 0, {"comm_d_proofs", "expected at most 1, found 2"}},
        {"\"index\":1}",
         "\"index\":0}",
         0,
         {"partition 0 challenge 0", "not the index of comm_d_proofs"}},
        {"\"layer_index\":2", "\"layer_index\":1", 0, {"layer_index: not the place in the list"}},
        {"\"node\":", "\"node\":1", 1, {"node: not the challenged one"}},
        {"\"root\":[", "\"root\":[9,", 0, {"partition 0 challenge 0", "Single.root"}},
        {"\"hashes\":[[",
         "\"hashes\":[[256,",
         2,
         {"Single.path.path[2].hashes[0][0]", "expected an integer from 0 to 255, found 256"}},
        {"\"rows\":[[",
         "\"rows\":[[1],[",
         4,
         {"partition 0 challenge 0", "rows[0]", "expected 32 bytes, found fewer"}},
        {"\"parents\":[[", "\"parents\":[[[", 0, {"partition 0 challenge 0", "parents[0]"}},
        {"\"seed\":[", "\"ticket\":[", 0, {"expected each key once, found it twice"}},
        {"{\"comm_d\"",
         "{\"Phase1Out\":\"\",\"comm_d\"",
         0,
         {"Phase1Out", "expected an object, found the end"}},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *wrong = changed(text, changes[i].from, changes[i].to, changes[i].n);
        cuzk_err err = {0};
        cuzk_porep p;
        cuzk_code code = read_text(wrong, &p, &err);
        bool found = code == CUZK_E_INPUT && strstr(err.msg, "c1.json");
        for (int k = 0; k < 3 && changes[i].parts[k]; k++) {
            found = found && strstr(err.msg, changes[i].parts[k]);
        }
        if (!found) {
            print_message("%s -> %s: code %d, %s\n", changes[i].from, changes[i].to, (int)code,
                          err.msg);
        }
        assert_true(found);
        free(wrong);
    }
    free(text);
}

static void unknown_keys_space_and_any_order_are_accepted(void **state)
{
    (void)state;
    TEXT_OR_SKIP(text)
    cuzk_err err;
    cuzk_porep a, b;
    assert_int_equal(read_text(text, &a, &err), CUZK_OK);
    char *one =
        changed(text, "{\"comm_d\"", " {\n\"extra\" : {\"deep\":[1,{\"x\":null}]}, \"comm_d\"", 0);
    char *two = changed(one, "\"rows\"", "\"_g\":[[[7]]],\"rows\"", 1);
    char *three = changed(two, "\"index\":1}", "\"index\": 1 , \"phantom\":\"\\u00e9\"}", 0);
    /* registered_proof last instead of in the middle */
    char *four = changed(three, "\"registered_proof\":\"StackedDrg2KiBV1_1\",", "", 0);
    four[strlen(four) - 1] = '\0';
    size_t size = strlen(four) + 100;
    char *five = malloc(size);
    snprintf(five, size, "%s,\"registered_proof\":\"StackedDrg2KiBV1_1\"}\n", four);
    assert_int_equal(read_text(five, &b, &err), CUZK_OK);
    assert_porep_equal(&a, &b);
    cuzk_porep_clear(&a);
    cuzk_porep_clear(&b);
    char *all[] = {text, one, two, three, four, five};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        free(all[i]);
    }
}

/* A text in base64 between two others. */
static char *wrapper(const char *text, const char *before, const char *after)
{
    size_t n = strlen(text), chars = cuzk_base64_length(n);
    size_t size = strlen(before) + chars + strlen(after) + 1;
    char *base64 = malloc(chars + 1), *out = malloc(size);
    cuzk_base64_encode(base64, (const uint8_t *)text, n);
    base64[chars] = '\0';
    snprintf(out, size, "%s%s%s", before, base64, after);
    free(base64);
    return out;
}

static void a_wrapper_may_have_any_order_and_is_checked(void **state)
{
    (void)state;
    TEXT_OR_SKIP(text)
    cuzk_err err = {0};
    cuzk_porep a, b;
    assert_int_equal(read_text(text, &a, &err), CUZK_OK);
    char *good[] = {
        wrapper(text, "{\"SectorNum\":7,\"Phase1Out\":\"", "\",\"SectorSize\":2048}"),
        wrapper(text, "{\"SectorSize\":2048,\"New\":[],\"SectorNum\":7,\"Phase1Out\":\"", "\"}"),
        wrapper(text, "{\"Phase1Out\":\"\\u0065", "\",\"SectorSize\":2048,\"SectorNum\":7}"),
    };
    /* 'e' of the base64 as an escape: the same string */
    assert_ptr_equal(strstr(good[2], "\\u0065"), good[2] + 14);
    memmove(good[2] + 20, good[2] + 21, strlen(good[2] + 20));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(read_text(good[i], &b, &err), CUZK_OK);
        assert_int_equal(b.sector_number, 7);
        assert_porep_equal(&a, &b);
        cuzk_porep_clear(&b);
        free(good[i]);
    }
    char *once = wrapper(text, "{\"SectorNum\":7,\"Phase1Out\":\"", "\",\"SectorSize\":2048}");
    const struct {
        char *text;
        const char *message;
    } bad[] = {
        {wrapper(text, "{\"SectorNum\":7,\"Phase1Out\":\"", "\",\"SectorSize\":4096}"),
         "SectorSize: expected 2048, found 4096"},
        {wrapper(text, "{\"SectorNum\":7,\"Phase1Out\":\"", "\"}"),
         "expected a member \"SectorSize\", found none"},
        {wrapper(text, "{\"SectorNum\":7,\"Phase1Out\":\"", "=\",\"SectorSize\":2048}"),
         "expected base64"},
        {wrapper(text, "{\"SectorNum\":7,\"Phase1Out\":\"!", "\",\"SectorSize\":2048}"),
         "expected base64, found something else at its character 0"},
        {wrapper(once, "{\"SectorNum\":7,\"Phase1Out\":\"", "\",\"SectorSize\":2048}"),
         "expected no wrapper in a wrapper"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(read_text(bad[i].text, &b, &err), CUZK_E_INPUT);
        if (!strstr(err.msg, bad[i].message)) {
            print_message("%s\n", err.msg);
        }
        assert_non_null(strstr(err.msg, bad[i].message));
        free(bad[i].text);
    }
    free(once);
    free(text);
    cuzk_porep_clear(&a);
}

static void a_cut_or_longer_bincode_is_refused(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(path, "reference/c1-2KiB.bincode")
    cuzk_file_map map = map_of(path);
    cuzk_err err;
    cuzk_porep p;
    for (size_t n = 0; n < map.bytes.n; n += n < 400 ? 1 : 37) {
        assert_int_equal(cuzk_porep_read(&p, (cuzk_span){map.bytes.p, n}, "c1", NULL, &err),
                         CUZK_E_INPUT);
    }
    uint8_t *longer = calloc(1, map.bytes.n + 1);
    memcpy(longer, map.bytes.p, map.bytes.n);
    assert_int_equal(cuzk_porep_read(&p, (cuzk_span){longer, map.bytes.n + 1}, "c1", NULL, &err),
                     CUZK_E_INPUT);
    assert_non_null(strstr(err.msg, "expected no more bytes, found 1"));
    free(longer);
    cuzk_file_map_close(&map);
}

static void a_changed_bincode_is_refused_with_its_place_and_reason(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(path, "reference/c1-2KiB.bincode")
    cuzk_file_map map = map_of(path);
    static const struct {
        size_t at;
        uint8_t value;
        const char *message;
    } changes[] = {
        {0, 2, "c1: offset 0: vanilla_proofs: expected 1 partitions for 2KiB, found 2"},
        {8, 3, "c1: offset 8: partition 0: challenges: expected length 2, found 3"},
        {16, 1,
         "c1: offset 16: partition 0 challenge 0: comm_d_proofs.data: expected variant 0, "
         "found 1"},
        {51, 0xff,
         "c1: offset 20: partition 0 challenge 0: comm_d_proofs.root: expected a field "
         "element, found a number not below r"},
        {84, 31 + 2,
         "c1: offset 84: comm_d_proofs.path: expected the height of a sector's tree, "
         "found 33"},
        {92, 2,
         "c1: offset 92: partition 0 challenge 0: comm_d_proofs.hashes: expected length 1, "
         "found 2"},
        {132, 7,
         "c1: offset 132: partition 0 challenge 0: comm_d_proofs.index: expected at most "
         "1, found 7"},
    };
    uint8_t *bytes = malloc(map.bytes.n);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        cuzk_err err = {0};
        cuzk_porep p;
        memcpy(bytes, map.bytes.p, map.bytes.n);
        bytes[changes[i].at] = changes[i].value;
        assert_int_equal(cuzk_porep_read(&p, (cuzk_span){bytes, map.bytes.n}, "c1", NULL, &err),
                         CUZK_E_INPUT);
        assert_string_equal(err.msg, changes[i].message);
    }
    free(bytes);
    cuzk_file_map_close(&map);
}

/* Flips one bit in turn all over the first challenge: what is not kept is compared. */
static void no_flipped_bit_leaves_the_proof_unchanged(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(path, "reference/c1-2KiB.bincode")
    cuzk_file_map map = map_of(path);
    cuzk_err err;
    cuzk_porep good = read_file(path), p;
    const size_t nodes =
        good.proof.sector->challenges * cuzk_porep_challenge_nodes(good.proof.sector);
    uint8_t *bytes = malloc(map.bytes.n);
    memcpy(bytes, map.bytes.p, map.bytes.n);
    for (size_t at = 16; at < map.bytes.n - 160; at += 13) {
        bytes[at] ^= 1;
        if (cuzk_porep_read(&p, (cuzk_span){bytes, map.bytes.n}, "c1", NULL, &err) == CUZK_OK) {
            bool same = memcmp(p.partitions[0].nodes, good.partitions[0].nodes, nodes * 32) == 0;
            for (unsigned i = 0; same && i < 2; i++) {
                const cuzk_porep_challenge *x = &p.partitions[0].challenges[i];
                const cuzk_porep_challenge *y = &good.partitions[0].challenges[i];
                same = cuzk_node_eq(&x->data.leaf, &y->data.leaf) &&
                       cuzk_node_eq(&x->replica.leaf, &y->replica.leaf);
                for (unsigned c = 0; c < CUZK_COLUMNS; c++) {
                    same = same && x->columns[c].path.index == y->columns[c].path.index &&
                           cuzk_node_eq(&x->columns[c].path.leaf, &y->columns[c].path.leaf);
                }
            }
            cuzk_porep_clear(&p);
            assert_false(same);
        }
        bytes[at] ^= 1;
    }
    free(bytes);
    cuzk_porep_clear(&good);
    cuzk_file_map_close(&map);
}

static void a_registered_proof_that_was_not_asked_for_is_refused(void **state)
{
    (void)state;
    TEXT_OR_SKIP(text)
    cuzk_err err;
    cuzk_porep p;
    cuzk_seal_proof want;
    cuzk_span bytes = {(const uint8_t *)text, strlen(text)};
    assert_int_equal(cuzk_seal_proof_of_number(&want, 0, &err), CUZK_OK);
    assert_int_equal(cuzk_porep_read(&p, bytes, "c1.json", &want, &err), CUZK_E_INPUT);
    assert_string_equal(err.msg, "c1.json: registered_proof: expected StackedDrg2KiBV1, found "
                                 "StackedDrg2KiBV1_1");
    assert_int_equal(cuzk_seal_proof_of_number(&want, 5, &err), CUZK_OK);
    assert_int_equal(cuzk_porep_read(&p, bytes, "c1.json", &want, &err), CUZK_OK);
    cuzk_porep_clear(&p);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_and_bincode_of_2KiB_are_the_same_proof),
        cmocka_unit_test(json_and_bincode_of_8MiB_are_the_same_proof),
        cmocka_unit_test(the_wrapper_of_32GiB_is_the_same_proof_as_its_bincode),
        cmocka_unit_test(a_changed_text_is_refused_with_its_place_and_reason),
        cmocka_unit_test(unknown_keys_space_and_any_order_are_accepted),
        cmocka_unit_test(a_wrapper_may_have_any_order_and_is_checked),
        cmocka_unit_test(a_cut_or_longer_bincode_is_refused),
        cmocka_unit_test(a_changed_bincode_is_refused_with_its_place_and_reason),
        cmocka_unit_test(no_flipped_bit_leaves_the_proof_unchanged),
        cmocka_unit_test(a_registered_proof_that_was_not_asked_for_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
