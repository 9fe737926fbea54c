#include "filecoin/check.h"
#include "filecoin/generate.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

/* A change of one bit that keeps a node canonical. */
static void flip(cuzk_node *n, test_rng *g)
{
    n->b[test_below(g, 31)] ^= (uint8_t)(1u << test_below(g, 8));
}

static void flip_any(cuzk_node *nodes, size_t n, test_rng *g) { flip(&nodes[test_below(g, n)], g); }

static void expect_refusal(cuzk_code code, const cuzk_err *err, const char *reason)
{
    if (code != CUZK_E_INPUT || !strstr(err->msg, reason)) {
        print_message("expected \"%s\", got code %d: %s\n", reason, (int)code, err->msg);
        fail();
    }
}

/* The parts of a challenge that a proof of 2KiB may lie about. */
enum porep_lie {
    DATA_LEAF,
    DATA_PATH,
    DATA_INDEX,
    PARENT_ROW,
    COLUMN_ROW,
    COLUMN_LEAF,
    COLUMN_PATH,
    DRG_INDEX,
    EXP_INDEX,
    OWN_INDEX,
    OWN_ROW,
    REPLICA_LEAF,
    REPLICA_PATH,
    REPLICA_INDEX,
    POREP_LIES,
};

static const char *const porep_reasons[POREP_LIES] = {
    [DATA_LEAF] = "the data's path does not lead to comm_d",
    [DATA_PATH] = "the data's path does not lead to comm_d",
    [DATA_INDEX] = "the opened node is not the challenged one",
    [PARENT_ROW] = "a label is not the hash of its parents'",
    [COLUMN_ROW] = "a column's hash is not the leaf of its path",
    [COLUMN_LEAF] = "a column's hash is not the leaf of its path",
    [COLUMN_PATH] = "a column's path does not lead to comm_c",
    [DRG_INDEX] = "a DRG parent is not the graph's",
    [EXP_INDEX] = "an expander parent is not the graph's",
    [OWN_INDEX] = "the own column is not the challenged node's",
    [OWN_ROW] = "a label is not the hash of its parents'",
    [REPLICA_LEAF] = "the replica's leaf is not label plus data",
    [REPLICA_PATH] = "the replica's path does not lead to comm_r_last",
    [REPLICA_INDEX] = "the replica's path is not the challenged node's",
};

static void lie_about_porep(cuzk_porep_challenge *c, enum porep_lie lie, test_rng *g)
{
    const cuzk_sector *s = cuzk_sector_named("2KiB");
    const size_t octal = cuzk_sector_octal_tree(s).siblings;
    cuzk_column *parent = &c->columns[test_below(g, CUZK_COLUMN_OWN)];
    cuzk_column *own = &c->columns[CUZK_COLUMN_OWN];
    switch (lie) {
    case DATA_LEAF:
        flip(&c->data.leaf, g);
        break;
    case DATA_PATH:
        flip_any(c->data.siblings, s->lg_nodes, g);
        break;
    case DATA_INDEX:
        c->data.index ^= 1u << test_below(g, s->lg_nodes);
        break;
    case PARENT_ROW:
        flip_any(c->columns[test_below(g, CUZK_DRG_PARENTS)].rows, s->layers, g);
        break;
    case COLUMN_ROW:
        /* the last row of an expander parent: no label is made of it */
        flip(&c->columns[CUZK_COLUMN_EXP + test_below(g, CUZK_EXP_PARENTS)].rows[s->layers - 1], g);
        break;
    case COLUMN_LEAF:
        flip(&parent->path.leaf, g);
        break;
    case COLUMN_PATH:
        flip_any(parent->path.siblings, octal, g);
        break;
    case DRG_INDEX:
        c->columns[test_below(g, CUZK_DRG_PARENTS)].path.index ^= 1u << test_below(g, 6);
        break;
    case EXP_INDEX:
        c->columns[CUZK_COLUMN_EXP + test_below(g, CUZK_EXP_PARENTS)].path.index ^=
            1u << test_below(g, 6);
        break;
    case OWN_INDEX:
        own->path.index ^= 1u << test_below(g, 6);
        break;
    case OWN_ROW:
        flip_any(own->rows, s->layers, g);
        break;
    case REPLICA_LEAF:
        flip(&c->replica.leaf, g);
        break;
    case REPLICA_PATH:
        flip_any(c->replica.siblings, octal, g);
        break;
    case REPLICA_INDEX:
    case POREP_LIES:
        c->replica.index ^= 1u << test_below(g, 6);
        break;
    }
}

static void every_lie_about_a_porep_challenge_is_found_and_named(void **state)
{
    (void)state;
    test_rng rng = test_rng_new("every_lie_about_a_porep_challenge_is_found_and_named");
    const cuzk_sector *sector = cuzk_sector_named("2KiB");
    for (int round = 0; round < 4 * POREP_LIES; round++) {
        const enum porep_lie lie = (enum porep_lie)(round % POREP_LIES);
        const unsigned challenge = (unsigned)test_below(&rng, 2);
        cuzk_err err = {0};
        cuzk_porep p;
        char where[60];
        assert_int_equal(cuzk_porep_generate(&p, sector, NULL, NULL, &err), CUZK_OK);
        lie_about_porep(&p.partitions[0].challenges[challenge], lie, &rng);
        cuzk_code code = cuzk_porep_check(&p, "c1", NULL, &err);
        expect_refusal(code, &err, porep_reasons[lie]);
        snprintf(where, sizeof where, "c1: partition 0 challenge %u: ", challenge);
        expect_refusal(code, &err, where);
        cuzk_porep_clear(&p);
    }
}

static void a_changed_commitment_seed_or_version_is_refused(void **state)
{
    (void)state;
    cuzk_err err = {0};
    cuzk_porep p;
    assert_int_equal(cuzk_porep_generate(&p, cuzk_sector_named("2KiB"), NULL, NULL, &err), CUZK_OK);
    p.replica_id.b[0] ^= 1; /* the challenges move, too */
    expect_refusal(cuzk_porep_check(&p, "c1", NULL, &err), &err,
                   "the opened node is not the challenged one");
    p.replica_id.b[0] ^= 1;
    p.seed[3] ^= 1;
    expect_refusal(cuzk_porep_check(&p, "c1", NULL, &err), &err,
                   "the opened node is not the challenged one");
    p.seed[3] ^= 1;
    p.comm_r.b[3] ^= 1;
    expect_refusal(cuzk_porep_check(&p, "c1", NULL, &err), &err, "comm_r: not the hash");
    p.comm_r.b[3] ^= 1;
    p.comm_d.b[3] ^= 1;
    expect_refusal(cuzk_porep_check(&p, "c1", NULL, &err), &err, "does not lead to comm_d");
    p.comm_d.b[3] ^= 1;
    assert_int_equal(cuzk_porep_check(&p, "c1", NULL, &err), CUZK_OK);
    assert_int_equal(cuzk_porep_check_partition(&p, 1, "c1", NULL, &err), CUZK_E_ARG);
    /* another version of the graph */
    assert_int_equal(cuzk_seal_proof_of_number(&p.proof, 0, &err), CUZK_OK);
    expect_refusal(cuzk_porep_check(&p, "c1", NULL, &err), &err, "parent is not the graph's");
    cuzk_porep_clear(&p);
}

static void every_lie_about_a_post_sector_is_found_and_named(void **state)
{
    (void)state;
    test_rng rng = test_rng_new("every_lie_about_a_post_sector_is_found_and_named");
    const cuzk_post_proof proof = cuzk_post_proof_of_sector(cuzk_sector_named("2KiB"), true);
    const size_t octal = cuzk_sector_octal_tree(proof.sector).siblings;
    static const char *const reasons[] = {
        "the path does not lead to comm_r_last",
        "the path does not lead to comm_r_last",
        "the opened leaf is not the challenged one",
        "comm_r: not the hash of comm_c and comm_r_last",
        "comm_r: not the hash of comm_c and comm_r_last",
        "comm_r: not the hash of comm_c and comm_r_last",
        "the opened leaf is not the challenged one",
    };
    for (int round = 0; round < 28; round++) {
        cuzk_err err = {0};
        cuzk_post_sector s;
        uint8_t randomness[32];
        cuzk_post_generate_randomness(randomness, NULL);
        assert_int_equal(cuzk_post_generate(&s, &proof, 1, NULL, NULL, &err), CUZK_OK);
        cuzk_path *path = &s.paths[test_below(&rng, s.n_paths)];
        switch (round % 7) {
        case 0:
            flip(&path->leaf, &rng);
            break;
        case 1:
            flip_any(path->siblings, octal, &rng);
            break;
        case 2:
            path->index ^= 1u << test_below(&rng, 6);
            break;
        case 3:
            flip(&s.comm_r, &rng);
            break;
        case 4:
            flip(&s.comm_c, &rng);
            break;
        case 5:
            flip(&s.comm_r_last, &rng);
            break;
        default:
            randomness[5] ^= 1;
        }
        expect_refusal(cuzk_post_check(&s, &proof, randomness, 0, "s", NULL, &err), &err,
                       reasons[round % 7]);
        cuzk_post_sector_clear(&s);
    }
}

static void every_lie_about_an_update_is_found_and_named(void **state)
{
    (void)state;
    test_rng rng = test_rng_new("every_lie_about_an_update_is_found_and_named");
    const cuzk_sector *sector = cuzk_sector_named("16KiB"); /* two partitions */
    static const char *const reasons[] = {
        "the new leaf is not old leaf plus data times rho",
        "the data's path does not pass through its apex leaf",
        "the new replica's path does not lead to its root",
        "the old replica's path does not lead to its root",
        "an opened leaf is not the challenged one",
        "the apex leaves do not lead to comm_d_new",
        "comm_r_old is not the hash",
        "proof_d_new.root is not comm_d_new",
        "comm_r_new is not the hash",
        "expected partition 1, found 0",
        "the data's path does not lead to comm_d_new",
    };
    cuzk_err err = {0};
    cuzk_update_source *source;
    assert_int_equal(cuzk_update_source_new(&source, sector, NULL, NULL, &err), CUZK_OK);
    const size_t octal = cuzk_sector_octal_tree(sector).siblings;
    for (int round = 0; round < 33; round++) {
        cuzk_node comm_r_old, comm_d_new, comm_r_new;
        cuzk_update_partition p;
        cuzk_update_source_public(source, &comm_r_old, &comm_d_new, &comm_r_new);
        assert_int_equal(cuzk_update_generate(&p, source, 1, &err), CUZK_OK);
        cuzk_update_challenge *c = &p.challenges[test_below(&rng, sector->update_challenges)];
        switch (round % 11) {
        case 0:
            flip(round % 3 == 0   ? &c->r_old.leaf
                 : round % 3 == 1 ? &c->d_new.leaf
                                  : &c->r_new.leaf,
                 &rng);
            break;
        case 1: /* below the apex: 128 leaves of a partition of 256 nodes */
            flip(&c->d_new.siblings[0], &rng);
            break;
        case 2:
            flip_any(c->r_new.siblings, octal, &rng);
            break;
        case 3:
            flip_any(c->r_old.siblings, octal, &rng);
            break;
        case 4:
            c->d_new.index ^= 1u << test_below(&rng, 8);
            break;
        case 5:
            flip_any(p.apex, sector->update_apex, &rng);
            break;
        case 6:
            flip(&comm_r_old, &rng);
            break;
        case 7:
            flip(&comm_d_new, &rng);
            break;
        case 8:
            flip(&comm_r_new, &rng);
            break;
        case 9:
            p.k = 0;
            break;
        default: /* between the apex leaf and the partition's root */
            flip_any(c->d_new.siblings + 1, 7, &rng);
        }
        expect_refusal(
            cuzk_update_check(&p, 1, &comm_r_old, &comm_d_new, &comm_r_new, "u", NULL, &err), &err,
            reasons[round % 11]);
        cuzk_update_partition_clear(&p);
    }
    cuzk_update_source_free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_lie_about_a_porep_challenge_is_found_and_named),
        cmocka_unit_test(a_changed_commitment_seed_or_version_is_refused),
        cmocka_unit_test(every_lie_about_a_post_sector_is_found_and_named),
        cmocka_unit_test(every_lie_about_an_update_is_found_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
