#include "base/file.h"
#include "filecoin/proof_kind.h"
#include "support/support.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* How many files of a kind the list has, each checked for its sector size. */
static unsigned count_published(json_t *list, cuzk_proof_kind kind)
{
    unsigned n = 0;
    for (unsigned i = 0; cuzk_sector_at(i); i++) {
        const cuzk_sector *s = cuzk_sector_at(i);
        char stem[CUZK_PARAM_NAME_MAX], file[CUZK_PARAM_NAME_MAX + 8];
        cuzk_param_stem(stem, kind, s);
        static const char *const suffixes[] = {"params", "vk"};
        for (int k = 0; k < 2; k++) {
            snprintf(file, sizeof file, "%s.%s", stem, suffixes[k]);
            json_t *entry = json_object_get(list, file);
            if (entry) {
                json_t *size = json_object_get(entry, "sector_size");
                assert_int_equal(json_integer_value(size), s->bytes);
                n++;
            }
        }
    }
    return n;
}

static void every_published_parameter_name_is_reproduced(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(path, "filecoin-params/parameters.json");
    json_t *list = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(list);
    unsigned n = count_published(list, CUZK_POREP);
    assert_int_equal(n, 10);
    n += count_published(list, CUZK_WINNING_POST);
    n += count_published(list, CUZK_WINDOW_POST);
    n += count_published(list, CUZK_UPDATE);
    assert_int_equal(n, 40);
    n += count_published(list, CUZK_UPDATE_POSEIDON);
    const char *key;
    json_t *value;
    unsigned listed = 0;
    json_object_foreach(list, key, value)
    {
        listed += strncmp(key, "v28-fil-inner-product", 21) != 0;
    }
    assert_int_equal(n, listed);
    json_decref(list);
}

static void sizes_without_published_files_have_the_reference_identifiers(void **state)
{
    (void)state;
    static const struct {
        const char *size, *digest;
    } known[] = {
        {"4KiB", "71fadf776fff80d5977d027cdf5b4af941c75de6aafee6530ff15997f7173b9b"},
        {"16KiB", "5d6414be6742cfc2d41b04c9f12eacd8f78775cf01c1f5cdcf5b370808fe5b74"},
        {"32KiB", "2a21b24b412f71b8441648d2cd849229afd278d96964baf1a0f2712f4afbadfd"},
        {"16MiB", "86c715b389cbfdcb1c84b73e4bf276474652288a6aefcaa9f9600c21b0cff44e"},
        {"1GiB", "002b03e3cbccd5d23c5f673a39ec4127ae31a1820be2faa32f72fdc75cf262c2"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char stem[CUZK_PARAM_NAME_MAX];
        cuzk_param_stem(stem, CUZK_POREP, cuzk_sector_named(known[i].size));
        assert_string_equal(stem + strlen(stem) - 64, known[i].digest);
    }
}

static void numbers_and_names_of_seal_proofs_agree(void **state)
{
    (void)state;
    static const char *const names[20] = {
        [0] = "StackedDrg2KiBV1",
        [3] = "StackedDrg32GiBV1",
        [5] = "StackedDrg2KiBV1_1",
        [9] = "StackedDrg64GiBV1_1",
        [11] = "StackedDrg8MiBV1_1_Feat_SyntheticPoRep",
        [17] = "StackedDrg512MiBV1_2_Feat_NonInteractivePoRep",
    };
    cuzk_err err;
    cuzk_seal_proof p, q;
    for (unsigned i = 0; i < 20; i++) {
        char name[CUZK_SEAL_NAME_MAX];
        assert_int_equal(cuzk_seal_proof_of_number(&p, i, &err), CUZK_OK);
        assert_int_equal(p.number, i);
        cuzk_seal_proof_name(name, &p);
        if (names[i]) {
            assert_string_equal(name, names[i]);
        }
        assert_true(cuzk_seal_proof_named(&q, name));
        assert_int_equal(q.number, i);
        assert_ptr_equal(q.sector, p.sector);
    }
    assert_int_equal(cuzk_seal_proof_of_number(&p, 20, &err), CUZK_E_INPUT);
    assert_false(cuzk_seal_proof_named(&p, "StackedDrg32GiBV2"));
    assert_false(cuzk_seal_proof_named(&p, "StackedDrg1KiBV1"));
    assert_int_equal(cuzk_seal_proof_of_number(&p, 18, &err), CUZK_OK);
    assert_int_equal(cuzk_seal_proof_partitions(&p), 126);
    assert_int_equal(cuzk_seal_proof_of_number(&p, 8, &err), CUZK_OK);
    assert_int_equal(cuzk_seal_proof_partitions(&p), 10);
}

static void numbers_of_post_and_update_proofs_choose_size_and_version(void **state)
{
    (void)state;
    cuzk_err err;
    cuzk_post_proof p;
    assert_int_equal(cuzk_post_proof_of_number(&p, 3, &err), CUZK_OK);
    assert_false(p.window);
    assert_string_equal(p.sector->name, "32GiB");
    assert_int_equal(cuzk_post_proof_of_number(&p, 9, &err), CUZK_OK);
    assert_true(p.window && p.api == CUZK_API_V1_0);
    assert_string_equal(p.sector->name, "64GiB");
    assert_int_equal(cuzk_post_proof_of_number(&p, 10, &err), CUZK_OK);
    assert_true(p.window && p.api == CUZK_API_V1_2);
    assert_string_equal(p.sector->name, "2KiB");
    assert_int_equal(cuzk_post_proof_of_number(&p, 15, &err), CUZK_E_INPUT);
    const cuzk_sector *s = NULL;
    assert_int_equal(cuzk_update_proof_of_number(&s, 1, &err), CUZK_OK);
    assert_string_equal(s->name, "8MiB");
    assert_int_equal(cuzk_update_proof_of_number(&s, 5, &err), CUZK_E_INPUT);
}

static void trees_cover_all_nodes(void **state)
{
    (void)state;
    for (unsigned i = 0; cuzk_sector_at(i); i++) {
        const cuzk_sector *s = cuzk_sector_at(i);
        const cuzk_tree trees[] = {cuzk_sector_data_tree(s), cuzk_sector_octal_tree(s)};
        for (int k = 0; k < 2; k++) {
            unsigned bits = 0, siblings = 0;
            for (unsigned l = 0; l < trees[k].levels; l++) {
                bits += trees[k].lg_arity[l];
                siblings += (1u << trees[k].lg_arity[l]) - 1;
            }
            assert_int_equal(bits, s->lg_nodes);
            assert_int_equal(siblings, trees[k].siblings);
        }
        assert_int_equal(s->nodes, 1ull << s->lg_nodes);
        assert_ptr_equal(cuzk_sector_of_bytes(s->bytes), s);
        assert_ptr_equal(cuzk_sector_of_levels(s->lg_nodes), s);
        assert_ptr_equal(cuzk_sector_named(s->name), s);
    }
    assert_int_equal(cuzk_sector_octal_tree(cuzk_sector_named("64GiB")).siblings, 9 * 7 + 7 + 1);
    assert_null(cuzk_sector_named("3KiB"));
    assert_null(cuzk_sector_of_bytes(0));
    assert_null(cuzk_sector_of_levels(32));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_published_parameter_name_is_reproduced),
        cmocka_unit_test(sizes_without_published_files_have_the_reference_identifiers),
        cmocka_unit_test(numbers_and_names_of_seal_proofs_agree),
        cmocka_unit_test(numbers_of_post_and_update_proofs_choose_size_and_version),
        cmocka_unit_test(trees_cover_all_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
