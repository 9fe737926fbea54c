#include "filecoin/check.h"
#include "filecoin/circuits/circuit_witness.h"
#include "filecoin/generate.h"
#include "gadget/expand.h"
#include "r1cs/assignment.h"
#include "support/support.h"

#include <string.h>

/*
 * A prover who lies about one value of a vanilla proof, and leaves out the native check, gets no
 * witness: some row fails, or the public inputs are not those that the verifier has. The values
 * that a circuit computes for itself are the exception: there the lie changes nothing.
 */

typedef enum outcome {
    ROW_FAILS,     /* under the true public inputs */
    INPUTS_DIFFER, /* from those of the true proof */
    UNUSED,        /* the witness is the true one */
} outcome;

/* A circuit and what the true proof makes of it. */
typedef struct subject {
    cuzk_circuit_id id;
    cuzk_shape *shape;
    cuzk_ports truth;
    cuzk_pool *pool;
} subject;

static void ok(cuzk_code code, const cuzk_err *err)
{
    if (code != CUZK_OK) {
        fail_msg("%s", err->msg);
    }
}

static cuzk_code rows_hold(const subject *u, const cuzk_ports *ports, cuzk_err *err)
{
    cuzk_packed packed;
    ok(cuzk_expand(&packed, u->shape, ports, u->pool, err), err);
    cuzk_code code = cuzk_packed_check(&packed, u->shape, u->pool, err);
    cuzk_packed_clear(&packed);
    return code;
}

static subject subject_open(const char *circuit)
{
    subject u = {0};
    cuzk_err err;
    ok(cuzk_pool_new(&u.pool, 2, &err), &err);
    ok(cuzk_circuit_named(&u.id, circuit, &err), &err);
    ok(cuzk_circuit_shape(&u.shape, &u.id, &err), &err);
    return u;
}

/* Takes the ports of the true proof. */
static void subject_truth(subject *u, cuzk_ports ports)
{
    cuzk_err err;
    u->truth = ports;
    ok(rows_hold(u, &u->truth, &err), &err);
}

static void subject_close(subject *u)
{
    cuzk_ports_clear(&u->truth);
    cuzk_shape_free(u->shape);
    cuzk_pool_free(u->pool);
}

static bool same_inputs(const subject *u, const cuzk_ports *ports)
{
    return memcmp(ports->inputs, u->truth.inputs, u->shape->n_inputs * sizeof(fr)) == 0;
}

/* What became of a lie; takes the ports. */
static void expect_outcome(const subject *u, cuzk_ports ports, outcome want, const char *lie)
{
    cuzk_err err = {0};
    bool same = same_inputs(u, &ports);
    if (want == INPUTS_DIFFER) {
        if (same) {
            fail_msg("%s: the public inputs are the true ones", lie);
        }
    } else if (!same) {
        fail_msg("%s: the public inputs differ", lie);
    } else if (want == UNUSED) {
        if (memcmp(ports.records, u->truth.records, cuzk_shape_record_bytes(u->shape)) != 0) {
            fail_msg("%s: the witness is another", lie);
        }
    } else if (rows_hold(u, &ports, &err) == CUZK_OK) {
        fail_msg("%s: every row holds under the true public inputs", lie);
    } else if (!strstr(err.msg, "does not satisfy constraint")) {
        fail_msg("%s: %s", lie, err.msg);
    }
    cuzk_ports_clear(&ports);
}

static void expect_refusal(cuzk_code code, const cuzk_err *err, const char *lie)
{
    if (code != CUZK_E_INPUT || !strstr(err->msg, "true.proof: ")) {
        fail_msg("%s: the native check says %d: %s", lie, (int)code,
                 code == CUZK_OK ? "" : err->msg);
    }
}

/* Circuits of a million rows are slow with a sanitizer: not all lies are told there. */
static int step(void) { return test_is_slow() ? 5 : 1; }

/* A change of one bit that keeps a node canonical. */
static void flip(cuzk_node *n, test_rng *g)
{
    n->b[test_below(g, 31)] ^= (uint8_t)(1u << test_below(g, 8));
}

static void flip_any(cuzk_node *nodes, size_t n, test_rng *g) { flip(&nodes[test_below(g, n)], g); }

static void flip_index(cuzk_path *p, const cuzk_sector *s, test_rng *g)
{
    p->index ^= 1u << test_below(g, s->lg_nodes);
}

/* ---- PoRep ---- */

static void lie_about_porep(cuzk_porep *p, int lie, test_rng *g)
{
    const cuzk_sector *s = p->proof.sector;
    size_t octal = cuzk_sector_octal_tree(s).siblings;
    cuzk_porep_challenge *c = &p->partitions[0].challenges[0];
    cuzk_column *drg = &c->columns[test_below(g, CUZK_DRG_PARENTS)];
    cuzk_column *exp = &c->columns[CUZK_COLUMN_EXP + test_below(g, CUZK_EXP_PARENTS)];
    cuzk_column *own = &c->columns[CUZK_COLUMN_OWN];
    cuzk_node *const nodes[] = {&c->data.leaf,
                                &c->replica.leaf,
                                &drg->path.leaf,
                                &own->path.leaf,
                                &own->rows[test_below(g, s->layers)],
                                &drg->rows[test_below(g, s->layers)],
                                &exp->rows[test_below(g, s->layers)],
                                &p->comm_c,
                                &p->comm_r_last,
                                &p->comm_d,
                                &p->comm_r,
                                &p->replica_id};
    cuzk_path *const paths[] = {&c->data, &c->replica, &drg->path, &exp->path, &own->path};
    enum { N_NODES = sizeof nodes / sizeof *nodes, N_PATHS = sizeof paths / sizeof *paths };
    if (lie < N_NODES) {
        flip(nodes[lie], g);
    } else if (lie < N_NODES + N_PATHS) {
        flip_any(paths[lie - N_NODES]->siblings, lie == N_NODES ? s->lg_nodes : octal, g);
    } else {
        flip_index(paths[lie - N_NODES - N_PATHS], s, g);
    }
}

static void no_lie_about_a_porep_gets_a_witness(void **state)
{
    (void)state;
    static const struct {
        const char *lie;
        outcome want;
    } lies[] = {
        {"data leaf", ROW_FAILS},
        {"replica leaf", UNUSED},
        {"a parent's column hash", UNUSED},
        {"own column hash", UNUSED},
        {"own column row", UNUSED},
        {"DRG parent's row", ROW_FAILS},
        {"expander parent's row", ROW_FAILS},
        {"comm_c", ROW_FAILS},
        {"comm_r_last", ROW_FAILS},
        {"comm_d", INPUTS_DIFFER},
        {"comm_r", INPUTS_DIFFER},
        {"replica id", INPUTS_DIFFER},
        {"data path", ROW_FAILS},
        {"replica path", ROW_FAILS},
        {"DRG parent's path", ROW_FAILS},
        {"expander parent's path", ROW_FAILS},
        {"own column's path", ROW_FAILS},
        {"data index", INPUTS_DIFFER},
        {"replica index", INPUTS_DIFFER},
        {"DRG parent's index", INPUTS_DIFFER},
        {"expander parent's index", INPUTS_DIFFER},
        {"own column's index", INPUTS_DIFFER},
    };
    test_rng g = test_rng_new("no_lie_about_a_porep_gets_a_witness");
    subject u = subject_open("porep-2KiB-1challenge");
    for (int lie = -1; lie < (int)(sizeof lies / sizeof *lies); lie += step()) {
        cuzk_err err = {0};
        cuzk_porep p;
        cuzk_ports ports;
        ok(cuzk_porep_generate(&p, u.id.sector, NULL, NULL, &err), &err);
        if (lie >= 0) {
            lie_about_porep(&p, lie, &g);
        }
        ok(cuzk_porep_ports(&ports, u.shape, &u.id, &p, 0, &err), &err);
        if (lie < 0) {
            subject_truth(&u, ports);
        } else {
            expect_outcome(&u, ports, lies[lie].want, lies[lie].lie);
            expect_refusal(cuzk_porep_check(&p, "true.proof", u.pool, &err), &err, lies[lie].lie);
        }
        cuzk_porep_clear(&p);
    }
    subject_close(&u);
}

/* ---- PoSt ---- */

static void lie_about_post(cuzk_post_sector *p, const cuzk_sector *s, int lie, test_rng *g)
{
    cuzk_path *path = &p->paths[test_below(g, p->n_paths)];
    cuzk_node *const nodes[] = {&path->leaf, &p->comm_c, &p->comm_r_last, &p->comm_r};
    if (lie < 4) {
        flip(nodes[lie], g);
    } else if (lie == 4) {
        flip_any(path->siblings, cuzk_sector_octal_tree(s).siblings, g);
    } else {
        flip_index(path, s, g);
    }
}

static void no_lie_about_a_post_gets_a_witness(void **state)
{
    (void)state;
    static const struct {
        const char *lie;
        outcome want;
    } lies[] = {
        {"leaf", ROW_FAILS},       {"comm_c", ROW_FAILS}, {"comm_r_last", ROW_FAILS},
        {"comm_r", INPUTS_DIFFER}, {"path", ROW_FAILS},   {"index", INPUTS_DIFFER},
    };
    enum { KINDS = sizeof lies / sizeof *lies, ROUNDS = 4 };
    test_rng g = test_rng_new("no_lie_about_a_post_gets_a_witness");
    subject u = subject_open("window-2KiB");
    const cuzk_post_proof proof = cuzk_post_proof_of_sector(u.id.sector, true);
    uint8_t randomness[32];
    cuzk_post_generate_randomness(randomness, NULL);
    for (int round = -1; round < KINDS * ROUNDS; round++) {
        cuzk_err err = {0};
        cuzk_post_sector sectors[2];
        cuzk_ports ports;
        int lie = round % KINDS, which = round & 1;
        for (unsigned i = 0; i < 2; i++) {
            ok(cuzk_post_generate(&sectors[i], &proof, i + 1, NULL, NULL, &err), &err);
        }
        if (round >= 0) {
            lie_about_post(&sectors[which], u.id.sector, lie, &g);
        }
        ok(cuzk_post_ports(&ports, u.shape, &u.id, sectors, 2, &err), &err);
        if (round < 0) {
            subject_truth(&u, ports);
        } else {
            expect_outcome(&u, ports, lies[lie].want, lies[lie].lie);
            expect_refusal(
                cuzk_post_check(&sectors[which], &proof, randomness, 0, "true.proof", NULL, &err),
                &err, lies[lie].lie);
        }
        cuzk_post_sector_clear(&sectors[0]);
        cuzk_post_sector_clear(&sectors[1]);
    }
    subject_close(&u);
}

/* ---- sector updates ---- */

static void lie_about_update(cuzk_update_partition *p, int lie, test_rng *g)
{
    const cuzk_sector *s = p->sector;
    size_t octal = cuzk_sector_octal_tree(s).siblings;
    cuzk_update_challenge *c = &p->challenges[test_below(g, s->update_challenges)];
    cuzk_node *const nodes[] = {&c->r_old.leaf,       &c->d_new.leaf,
                                &c->r_new.leaf,       &p->apex[test_below(g, s->update_apex)],
                                &p->root_r_old,       &p->root_r_new,
                                &p->comm_c,           &p->comm_d_new,
                                &c->d_new.siblings[0]};
    enum { N_NODES = sizeof nodes / sizeof *nodes };
    if (lie < N_NODES) {
        flip(nodes[lie], g);
    } else if (lie < N_NODES + 2) {
        flip_any((lie == N_NODES ? c->r_old : c->r_new).siblings, octal, g);
    } else {
        flip_index(&c->r_old, s, g);
    }
}

static void no_lie_about_an_update_gets_a_witness(void **state)
{
    (void)state;
    static const struct {
        const char *lie;
        outcome want;
    } lies[] = {
        {"old leaf", ROW_FAILS},   {"data leaf", ROW_FAILS},      {"new leaf", UNUSED},
        {"apex leaf", ROW_FAILS},  {"old root", INPUTS_DIFFER},   {"new root", INPUTS_DIFFER},
        {"comm_c", INPUTS_DIFFER}, {"comm_d_new", INPUTS_DIFFER}, {"data path", ROW_FAILS},
        {"old path", ROW_FAILS},   {"new path", ROW_FAILS},       {"index", UNUSED},
    };
    test_rng g = test_rng_new("no_lie_about_an_update_gets_a_witness");
    cuzk_err err = {0};
    subject u = subject_open("update-2KiB");
    cuzk_update_source *source;
    cuzk_node comm_r_old, comm_d_new, comm_r_new;
    ok(cuzk_update_source_new(&source, u.id.sector, NULL, NULL, &err), &err);
    cuzk_update_source_public(source, &comm_r_old, &comm_d_new, &comm_r_new);
    for (int lie = -1; lie < (int)(sizeof lies / sizeof *lies); lie += step()) {
        cuzk_update_partition p;
        cuzk_ports ports;
        ok(cuzk_update_generate(&p, source, 0, &err), &err);
        if (lie >= 0) {
            lie_about_update(&p, lie, &g);
        }
        ok(cuzk_update_ports(&ports, u.shape, &p, &err), &err);
        if (lie < 0) {
            subject_truth(&u, ports);
        } else {
            expect_outcome(&u, ports, lies[lie].want, lies[lie].lie);
            expect_refusal(cuzk_update_check(&p, 0, &comm_r_old, &comm_d_new, &comm_r_new,
                                             "true.proof", u.pool, &err),
                           &err, lies[lie].lie);
        }
        cuzk_update_partition_clear(&p);
    }
    cuzk_update_source_free(source);
    subject_close(&u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_lie_about_a_porep_gets_a_witness),
        cmocka_unit_test(no_lie_about_a_post_gets_a_witness),
        cmocka_unit_test(no_lie_about_an_update_gets_a_witness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
