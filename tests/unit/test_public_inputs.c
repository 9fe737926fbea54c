#include "base/bytes.h"
#include "base/file.h"
#include "filecoin/challenges.h"
#include "filecoin/public_inputs.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_INPUTS = 400 };

static cuzk_node node_of_hex(const char *hex)
{
    cuzk_node n;
    assert_true(cuzk_hex_parse(hex, n.b, sizeof n.b));
    return n;
}

static cuzk_file_map map_of(const char *path)
{
    cuzk_err err;
    cuzk_file_map map;
    assert_int_equal(cuzk_file_map_open(&map, path, &err), CUZK_OK);
    return map;
}

static void assert_inputs(const fr_repr *got, size_t n, const uint8_t *want)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t bytes[32];
        fr_repr_to_bytes(bytes, &got[i]);
        if (memcmp(bytes, want + 32 * i, 32) != 0) {
            print_message("input %zu differs\n", i);
            assert_memory_equal(bytes, want + 32 * i, 32);
        }
    }
}

/* The public values are the last five fields of the bincode form. */
static cuzk_porep_public public_of_tail(const cuzk_file_map *c1, unsigned number)
{
    cuzk_err err;
    const uint8_t *tail = c1->bytes.p + c1->bytes.n - 160;
    cuzk_porep porep = {0};
    assert_int_equal(cuzk_seal_proof_of_number(&porep.proof, number, &err), CUZK_OK);
    memcpy(porep.comm_r.b, tail, 32);
    memcpy(porep.comm_d.b, tail + 32, 32);
    memcpy(porep.replica_id.b, tail + 64, 32);
    memcpy(porep.seed, tail + 96, 32);
    memcpy(porep.ticket, tail + 128, 32);
    return cuzk_porep_public_of(&porep);
}

static void check_reference_porep(const char *c1_path, const char *inputs_path, unsigned number)
{
    cuzk_file_map c1 = map_of(c1_path), want = map_of(inputs_path);
    cuzk_porep_public pub = public_of_tail(&c1, number);
    const cuzk_sector *s = pub.proof.sector;
    size_t n = cuzk_porep_input_count(s);
    fr_repr got[MAX_INPUTS];
    assert_true(n <= MAX_INPUTS);
    assert_int_equal(want.bytes.n, n * s->partitions * 32);
    for (unsigned k = 0; k < s->partitions; k++) {
        cuzk_porep_inputs(got, &pub, k);
        assert_inputs(got, n, want.bytes.p + k * n * 32);
    }
    /* the replica id is that of prover f01000, sector 1 */
    uint8_t prover[32], id[32];
    cuzk_prover_id(prover, 1000);
    cuzk_porep_id(id, &pub.proof);
    cuzk_node replica = cuzk_replica_id(prover, 1, c1.bytes.p + c1.bytes.n - 32, &pub.comm_d, id);
    assert_memory_equal(replica.b, pub.replica_id.b, 32);
    cuzk_file_map_close(&c1);
    cuzk_file_map_close(&want);
}

#define REFERENCE_POREP(SIZE, NUMBER)                                                              \
    static void inputs_of_porep_##SIZE##_equal_the_reference(void **state)                         \
    {                                                                                              \
        (void)state;                                                                               \
        TEST_VECTOR_OR_SKIP(c1, "reference/c1-" #SIZE ".bincode")                                  \
        TEST_VECTOR_OR_SKIP(inputs, "reference/porep-" #SIZE ".inputs")                            \
        check_reference_porep(c1, inputs, NUMBER);                                                 \
    }

REFERENCE_POREP(2KiB, 5)
REFERENCE_POREP(8MiB, 6)
REFERENCE_POREP(32GiB, 8)

static void inputs_of_the_first_real_porep_follow_from_its_challenges(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(path, "verify/filecoin-v27-32GiB/seal32.inputs");
    cuzk_file_map want = map_of(path);
    cuzk_err err;
    cuzk_porep porep = {0};
    assert_int_equal(cuzk_seal_proof_of_number(&porep.proof, 3, &err), CUZK_OK);
    memcpy(porep.replica_id.b, want.bytes.p, 32);
    porep.comm_d = node_of_hex("077e5fde35c50a9303a55009e3498a4ebedff39c42b710b730d8ec7ac7afa63e");
    memcpy(porep.comm_r.b, want.bytes.p + 64, 32);
    cuzk_porep_public pub = cuzk_porep_public_of(&porep);
    const size_t n = cuzk_porep_input_count(porep.proof.sector);
    assert_int_equal(want.bytes.n, 10 * n * 32);
    for (unsigned k = 0; k < 10; k++) {
        const uint8_t *block = want.bytes.p + k * n * 32;
        uint64_t challenges[18];
        for (unsigned i = 0; i < 18; i++) {
            challenges[i] = cuzk_load_u64le(block + (3 + 18 * (size_t)i) * 32);
        }
        fr_repr got[MAX_INPUTS];
        cuzk_porep_inputs_of(got, &pub, challenges);
        assert_inputs(got, n, block);
    }
    cuzk_file_map_close(&want);
}

static void inputs_of_an_independent_porep_are_rebuilt_from_its_public_data(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(path, "verify/polka-storage-2KiB/porep.inputs");
    cuzk_file_map want = map_of(path);
    cuzk_porep_public pub = {
        .proof = {0, cuzk_sector_named("2KiB"), CUZK_API_V1_2, CUZK_POREP_INTERACTIVE}};
    uint8_t zero[32] = {0}, ticket[32];
    memset(ticket, 0x0c, sizeof ticket);
    memset(pub.seed, 0x0d, sizeof pub.seed);
    cuzk_graph_init(&pub.graph, pub.proof.sector->nodes, pub.proof.api, zero);
    memcpy(pub.comm_d.b, want.bytes.p + 32, 32);
    memcpy(pub.comm_r.b, want.bytes.p + 64, 32);
    pub.replica_id = cuzk_replica_id(zero, 77, ticket, &pub.comm_d, zero);
    fr_repr got[MAX_INPUTS];
    cuzk_porep_inputs(got, &pub, 0);
    assert_int_equal(want.bytes.n, 39 * 32);
    assert_inputs(got, 39, want.bytes.p);
    cuzk_file_map_close(&want);
}

static void inputs_of_an_independent_window_post_are_rebuilt(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(path, "verify/polka-storage-2KiB/windowpost.inputs");
    cuzk_file_map want = map_of(path);
    cuzk_err err;
    cuzk_post_proof proof = cuzk_post_proof_of_sector(cuzk_sector_named("2KiB"), true);
    cuzk_post_public sector = {.id = 77};
    memcpy(sector.comm_r.b, want.bytes.p, 32);
    uint8_t randomness[32];
    memset(randomness, 1, sizeof randomness);
    fr_repr got[22];
    assert_int_equal(cuzk_post_input_count(&proof, 2), 22);
    assert_int_equal(cuzk_post_inputs(got, &proof, randomness, &sector, 1, 2, 0, &err), CUZK_OK);
    assert_int_equal(want.bytes.n, 22 * 32);
    assert_inputs(got, 22, want.bytes.p);
    assert_int_equal(cuzk_post_inputs(got, &proof, randomness, &sector, 1, 2, 1, &err), CUZK_E_ARG);
    cuzk_file_map_close(&want);
}

static const char randomness_hex[] =
    "b3929a15aefaadad1e512efabfda36bc6742d3beeeb8f8b5952440de717fe532";

static void inputs_of_the_reference_window_post_are_rebuilt(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(path, "reference/window-2KiB.0.inputs");
    cuzk_file_map want = map_of(path);
    cuzk_err err;
    cuzk_post_proof proof = cuzk_post_proof_of_sector(cuzk_sector_named("2KiB"), true);
    cuzk_post_public sectors[2] = {
        {1, node_of_hex("d353c3f6382c8a6b9d107e798f28e1ddcc0856665c27666bb198c49237d7f635")},
        {2, node_of_hex("8c43db87593ca1d31169e01d537450769ef54d558cc8819f5575b0d480bd6b66")}};
    cuzk_node randomness = node_of_hex(randomness_hex);
    fr_repr got[22];
    assert_int_equal(cuzk_post_inputs(got, &proof, randomness.b, sectors, 2, 2, 0, &err), CUZK_OK);
    assert_int_equal(want.bytes.n, 22 * 32);
    assert_inputs(got, 22, want.bytes.p);
    cuzk_file_map_close(&want);
}

static void inputs_of_the_reference_winning_post_are_rebuilt(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(path, "reference/winning-2KiB.0.inputs");
    cuzk_file_map want = map_of(path);
    cuzk_err err;
    cuzk_post_proof proof = cuzk_post_proof_of_sector(cuzk_sector_named("2KiB"), false);
    cuzk_post_public sector = {
        1, node_of_hex("a3dfef6255389c1ef5b44666b1ebee0d53379f33bab6926f6c30b8593721c301")};
    cuzk_node randomness = node_of_hex(randomness_hex);
    fr_repr got[132];
    assert_int_equal(cuzk_post_input_count(&proof, 66), 132);
    assert_int_equal(cuzk_post_inputs(got, &proof, randomness.b, &sector, 1, 66, 0, &err), CUZK_OK);
    assert_int_equal(want.bytes.n, 132 * 32);
    assert_inputs(got, 132, want.bytes.p);
    cuzk_file_map_close(&want);
}

static void a_window_partition_repeats_its_last_sector(void **state)
{
    (void)state;
    cuzk_err err;
    cuzk_post_proof proof;
    /* V1_0, whose challenges depend on the place of the sector in the whole list */
    assert_int_equal(cuzk_post_proof_of_number(&proof, 5, &err), CUZK_OK);
    cuzk_post_public sectors[3] = {{.id = 4}, {.id = 7}, {.id = 9}};
    uint8_t randomness[32] = {1, 2, 3};
    fr_repr got[22];
    assert_int_equal(cuzk_post_inputs(got, &proof, randomness, sectors, 3, 2, 1, &err), CUZK_OK);
    assert_memory_equal(got, got + 11, 11 * sizeof *got);
    for (unsigned k = 0; k < 10; k++) {
        assert_int_equal(got[1 + k].l[0], cuzk_post_challenge(64, randomness, 9, 2 * 10 + k));
    }
}

static void synthetic_challenges_equal_the_published_example(void **state)
{
    (void)state;
    static const uint64_t all[21] = {178, 297, 869, 211, 875, 477, 94,  781, 124, 332, 856,
                                     801, 176, 692, 429, 691, 290, 204, 986, 210, 973};
    static const uint64_t chosen[10] = {176, 781, 801, 986, 290, 211, 692, 856, 986, 332};
    const cuzk_node replica_id = {{55}}, comm_r = {{101}};
    uint8_t seed[32];
    memset(seed, 1, sizeof seed);
    for (uint32_t i = 0; i < 21; i++) {
        assert_int_equal(cuzk_synthetic_candidate(1024, &replica_id, &comm_r, i), all[i]);
    }
    for (uint32_t j = 0; j < 10; j++) {
        assert_int_equal(all[cuzk_synthetic_choice(21, &replica_id, seed, j)], chosen[j]);
    }
}

static void each_mode_of_porep_has_its_own_challenges(void **state)
{
    (void)state;
    cuzk_err err;
    const cuzk_node replica_id = {{5}}, comm_r[2] = {{{6}}, {{7}}};
    const uint8_t seed[2][32] = {{8}, {9}};
    static const struct {
        unsigned number;
        bool by_comm_r, by_seed;
    } modes[] = {{8, false, true}, {13, true, true}, {18, true, false}};
    for (size_t m = 0; m < 3; m++) {
        cuzk_seal_proof proof;
        assert_int_equal(cuzk_seal_proof_of_number(&proof, modes[m].number, &err), CUZK_OK);
        uint64_t a[18], b[18];
        cuzk_porep_challenges(a, &proof, 3, &replica_id, &comm_r[0], seed[0]);
        for (int i = 0; i < 18; i++) {
            assert_in_range(a[i], 1, proof.sector->nodes - 1);
        }
        cuzk_porep_challenges(b, &proof, 3, &replica_id, &comm_r[1], seed[0]);
        assert_int_equal(memcmp(a, b, sizeof a) != 0, modes[m].by_comm_r);
        cuzk_porep_challenges(b, &proof, 3, &replica_id, &comm_r[0], seed[1]);
        assert_int_equal(memcmp(a, b, sizeof a) != 0, modes[m].by_seed);
    }
}

static void a_winning_sector_is_below_the_count(void **state)
{
    (void)state;
    uint8_t prover[32], randomness[32] = {0}, high[32] = {0};
    cuzk_prover_id(prover, 1000);
    assert_int_equal(prover[0], 0xe8);
    assert_int_equal(prover[1], 0x07);
    high[31] = 0xc0; /* bits that callers clear */
    for (uint64_t n = 0; n < 100; n++) {
        assert_in_range(cuzk_winning_sector(prover, randomness, n, 7), 0, 6);
        assert_int_equal(cuzk_winning_sector(prover, randomness, n, 7),
                         cuzk_winning_sector(prover, high, n, 7));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_of_porep_2KiB_equal_the_reference),
        cmocka_unit_test(inputs_of_porep_8MiB_equal_the_reference),
        cmocka_unit_test(inputs_of_porep_32GiB_equal_the_reference),
        cmocka_unit_test(inputs_of_the_first_real_porep_follow_from_its_challenges),
        cmocka_unit_test(inputs_of_an_independent_porep_are_rebuilt_from_its_public_data),
        cmocka_unit_test(inputs_of_an_independent_window_post_are_rebuilt),
        cmocka_unit_test(inputs_of_the_reference_window_post_are_rebuilt),
        cmocka_unit_test(inputs_of_the_reference_winning_post_are_rebuilt),
        cmocka_unit_test(a_window_partition_repeats_its_last_sector),
        cmocka_unit_test(synthetic_challenges_equal_the_published_example),
        cmocka_unit_test(each_mode_of_porep_has_its_own_challenges),
        cmocka_unit_test(a_winning_sector_is_below_the_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
