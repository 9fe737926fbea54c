#include "filecoin/statement.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "filecoin/check.h"
#include "filecoin/circuits/circuit_post.h"
#include "filecoin/merkle.h"
#include "filecoin/public_inputs.h"

/* Most sectors before those of a partition; the chain has at most 3000 partitions a deadline. */
enum { PLACE_MAX = 16 << 20 };

/* Owns what was read; of the three kinds one is there. */
struct cuzk_statement {
    cuzk_circuit_id id;
    const char *const *files; /* borrowed; NULL when it came from memory */
    const cuzk_span *inputs;  /* while it is read from memory */
    size_t n;                 /* sectors or update partitions read so far */
    uint64_t first_place;
    cuzk_porep porep;
    cuzk_post_sector *sectors;
    cuzk_update_partition *updates;
    cuzk_post_proof post;
    uint8_t randomness[32];
    cuzk_node comm_r_old, comm_d_new, comm_r_new; /* of an update */
};

static bool is_post(const cuzk_statement *s)
{
    return s->id.kind == CUZK_WINNING_POST || s->id.kind == CUZK_WINDOW_POST;
}

/* What messages call input i of a statement. */
typedef struct input_name {
    char own[48];
    const char *text;
} input_name;

static const char *name_input(input_name *ret, const cuzk_statement *s, size_t i)
{
    if (s->files) {
        return ret->text = s->files[i];
    }
    if (s->id.kind == CUZK_POREP) {
        return ret->text = "vanilla_proof";
    }
    snprintf(ret->own, sizeof ret->own, "vanilla_proofs[%zu]", i);
    return ret->text = ret->own;
}

void cuzk_statement_free(cuzk_statement *s)
{
    if (!s) {
        return;
    }
    cuzk_porep_clear(&s->porep);
    for (size_t i = 0; s->sectors && i < s->n; i++) {
        cuzk_post_sector_clear(&s->sectors[i]);
    }
    for (size_t i = 0; s->updates && i < s->n; i++) {
        cuzk_update_partition_clear(&s->updates[i]);
    }
    free(s->sectors);
    free(s->updates);
    free(s);
}

/* ---- reading ---- */

/* Sectors of a partition; a WinningPoSt has the one. */
static size_t sectors_each(const cuzk_statement *s)
{
    return s->post.window ? cuzk_post_config_of(&s->id).sectors : 1;
}

static cuzk_code one_file(size_t n, const char *what, cuzk_err *err)
{
    return n == 1 ? CUZK_OK : CUZK_FAIL(err, CUZK_E_ARG, "%s has one input, not %zu", what, n);
}

static cuzk_code read_porep(cuzk_statement *s, size_t n, const cuzk_claims *claims, cuzk_err *err)
{
    cuzk_seal_proof want;
    CUZK_TRY(one_file(n, "a PoRep", err));
    if (claims->has_number) {
        CUZK_TRY(cuzk_seal_proof_of_number(&want, claims->number, err));
    }
    const cuzk_seal_proof *told = claims->has_number ? &want : NULL;
    input_name name;
    name_input(&name, s, 0);
    CUZK_TRY(s->inputs ? cuzk_porep_read(&s->porep, s->inputs[0], name.text, told, err)
                       : cuzk_porep_read_file(&s->porep, name.text, told, err));
    if (s->id.sector && s->porep.proof.sector != s->id.sector) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: expected a proof of a %s sector, found %s",
                         name.text, s->id.sector->name, s->porep.proof.sector->name);
    }
    s->id.sector = s->porep.proof.sector;
    return CUZK_OK;
}

static cuzk_code post_proof(cuzk_statement *s, const cuzk_claims *claims, cuzk_err *err)
{
    bool window = s->id.kind == CUZK_WINDOW_POST;
    s->post = cuzk_post_proof_of_sector(s->id.sector, window);
    if (!claims->has_number) {
        return CUZK_OK;
    }
    CUZK_TRY(cuzk_post_proof_of_number(&s->post, claims->number, err));
    if (s->post.sector != s->id.sector || s->post.window != window) {
        return CUZK_FAIL(err, CUZK_E_ARG, "registered PoSt proof %u is %s-%s, not of this circuit",
                         s->post.number, s->post.window ? "window" : "winning",
                         s->post.sector->name);
    }
    return CUZK_OK;
}

static cuzk_code read_sectors(cuzk_statement *s, size_t n, const cuzk_claims *claims, cuzk_err *err)
{
    CUZK_TRY(post_proof(s, claims, err));
    if (!claims->randomness) {
        return CUZK_FAIL(err, CUZK_E_ARG, "a PoSt needs the randomness that it answers");
    }
    if (!s->post.window) {
        CUZK_TRY(one_file(n, "a WinningPoSt", err));
    }
    if (claims->first_place % sectors_each(s) != 0 || claims->first_place > PLACE_MAX) {
        return CUZK_FAIL(err, CUZK_E_ARG,
                         "a partition of this PoSt cannot begin at sector %" PRIu64,
                         claims->first_place);
    }
    memcpy(s->randomness, claims->randomness, sizeof s->randomness);
    s->sectors = calloc(n, sizeof *s->sectors);
    if (!s->sectors) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu sectors", n);
    }
    s->first_place = claims->first_place;
    for (; s->n < n; s->n++) {
        cuzk_post_sector *at = &s->sectors[s->n];
        input_name name;
        name_input(&name, s, s->n);
        CUZK_TRY(s->inputs ? cuzk_post_sector_read(at, s->inputs[s->n], name.text, &s->post, err)
                           : cuzk_post_sector_read_file(at, name.text, &s->post, err));
    }
    return CUZK_OK;
}

/* A commitment that follows from the proof, and what was said of it. */
static cuzk_code claimed(cuzk_node *ret, const cuzk_node *own, const cuzk_node *said,
                         const char *file, const char *what, cuzk_err *err)
{
    if (said && !cuzk_node_eq(said, own)) {
        char expected[65], found[65];
        cuzk_hex_format(expected, said->b, sizeof said->b);
        cuzk_hex_format(found, own->b, sizeof own->b);
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: %s: expected %s, found %s", file, what, expected,
                         found);
    }
    *ret = *own;
    return CUZK_OK;
}

static cuzk_code update_public(cuzk_statement *s, const cuzk_claims *claims, cuzk_err *err)
{
    const cuzk_update_partition *p = &s->updates[0];
    cuzk_node pair[2] = {p->comm_c, p->root_r_old};
    const cuzk_node r_old = cuzk_poseidon_nodes(pair, 2);
    pair[1] = p->root_r_new;
    const cuzk_node r_new = cuzk_poseidon_nodes(pair, 2);
    input_name name;
    const char *f = name_input(&name, s, 0);
    CUZK_TRY(claimed(&s->comm_r_old, &r_old, claims->comm_r_old, f, "comm_r_old", err));
    CUZK_TRY(claimed(&s->comm_r_new, &r_new, claims->comm_r_new, f, "comm_r_new", err));
    return claimed(&s->comm_d_new, &p->comm_d_new, claims->comm_d_new, f, "comm_d_new", err);
}

static cuzk_code read_updates(cuzk_statement *s, size_t n, const cuzk_claims *claims, cuzk_err *err)
{
    unsigned want = s->id.sector->update_partitions;
    if (n != want && n != 1) {
        return CUZK_FAIL(
            err, CUZK_E_ARG,
            "an update of %s has %u partition%s, a file for each; found %zu (one alone "
            "is allowed)",
            s->id.sector->name, want, want == 1 ? "" : "s", n);
    }
    s->updates = calloc(n, sizeof *s->updates);
    if (!s->updates) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu partitions", n);
    }
    for (; s->n < n; s->n++) {
        cuzk_update_partition *at = &s->updates[s->n];
        const cuzk_sector *sector = s->id.sector;
        input_name name;
        name_input(&name, s, s->n);
        CUZK_TRY(s->inputs ? cuzk_update_partition_read(at, s->inputs[s->n], name.text, sector, err)
                           : cuzk_update_partition_read_file(at, name.text, sector, err));
    }
    return update_public(s, claims, err);
}

static cuzk_code read_any(cuzk_statement *s, size_t n, const cuzk_claims *claims, cuzk_err *err)
{
    switch (s->id.kind) {
    case CUZK_POREP:
        return read_porep(s, n, claims, err);
    case CUZK_WINNING_POST:
    case CUZK_WINDOW_POST:
        return read_sectors(s, n, claims, err);
    case CUZK_UPDATE:
        return read_updates(s, n, claims, err);
    case CUZK_UPDATE_POSEIDON:
        break;
    }
    return CUZK_FAIL(err, CUZK_E_UNSUPPORTED, "no vanilla proofs are known for update-poseidon");
}

static cuzk_code read_new(cuzk_statement **ret, const cuzk_circuit_id *id, const char *const *files,
                          const cuzk_span *inputs, size_t n, const cuzk_claims *claims,
                          cuzk_err *err)
{
    if (n == 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "no input file");
    }
    cuzk_statement *s = calloc(1, sizeof *s);
    if (!s) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a statement");
    }
    s->id = *id;
    s->files = files;
    s->inputs = inputs;
    cuzk_code code = read_any(s, n, claims, err);
    s->inputs = NULL;
    if (code != CUZK_OK) {
        cuzk_statement_free(s);
        return code;
    }
    *ret = s;
    return CUZK_OK;
}

cuzk_code cuzk_statement_read(cuzk_statement **ret, const cuzk_circuit_id *id,
                              const char *const *files, size_t n_files, const cuzk_claims *claims,
                              cuzk_err *err)
{
    return read_new(ret, id, files, NULL, n_files, claims, err);
}

cuzk_code cuzk_statement_parse(cuzk_statement **ret, const cuzk_circuit_id *id,
                               const cuzk_span *inputs, size_t n_inputs, const cuzk_claims *claims,
                               cuzk_err *err)
{
    return read_new(ret, id, NULL, inputs, n_inputs, claims, err);
}

const cuzk_circuit_id *cuzk_statement_circuit(const cuzk_statement *s) { return &s->id; }

uint64_t cuzk_statement_bytes(const cuzk_statement *s)
{
    const cuzk_sector *sector = s->id.sector;
    uint64_t path = cuzk_sector_octal_tree(sector).siblings * sizeof(cuzk_node);
    if (s->id.kind == CUZK_POREP) {
        uint64_t each =
            cuzk_porep_challenge_nodes(sector) * sizeof(cuzk_node) + sizeof(cuzk_porep_challenge);
        return sizeof *s + (uint64_t)s->porep.n_partitions * sector->challenges * each;
    }
    if (is_post(s)) {
        uint64_t paths = cuzk_post_proof_challenges(&s->post);
        return sizeof *s + s->n * (sizeof *s->sectors + paths * (path + sizeof *s->sectors->paths));
    }
    uint64_t data = cuzk_sector_data_tree(sector).siblings * sizeof(cuzk_node);
    uint64_t each = 2 * path + data + sizeof *s->updates->challenges;
    return sizeof *s + s->n * (sizeof *s->updates + sector->update_challenges * each +
                               sector->update_apex * sizeof(cuzk_node));
}

/* ---- partitions ---- */

unsigned cuzk_statement_partitions(const cuzk_statement *s)
{
    if (s->id.kind == CUZK_POREP) {
        return s->porep.n_partitions;
    }
    if (!is_post(s)) {
        return s->id.sector->update_partitions;
    }
    size_t each = sectors_each(s);
    return (unsigned)((s->n + each - 1) / each);
}

bool cuzk_statement_is_whole(const cuzk_statement *s)
{
    return s->id.kind != CUZK_UPDATE || s->n == cuzk_statement_partitions(s);
}

/* Partition k of an update, and what its input is called; k was checked. */
static const cuzk_update_partition *update_at(const cuzk_statement *s, unsigned k,
                                              input_name *ret_name)
{
    size_t at = cuzk_statement_is_whole(s) ? k : 0;
    name_input(ret_name, s, at);
    return &s->updates[at];
}

/* The sectors [*ret_from, end) of partition k; returns the end. */
static size_t sectors_of(const cuzk_statement *s, unsigned k, size_t *ret_from)
{
    size_t each = sectors_each(s);
    *ret_from = k * each;
    return s->n - *ret_from < each ? s->n : *ret_from + each;
}

static cuzk_code check_index(const cuzk_statement *s, unsigned k, cuzk_err *err)
{
    unsigned n = cuzk_statement_partitions(s);
    input_name name;
    if (k >= n) {
        return CUZK_FAIL(err, CUZK_E_ARG, "partition %u of a proof that has %u", k, n);
    }
    if (!cuzk_statement_is_whole(s) && s->updates[0].k != k) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: expected partition %u, found %u",
                         name_input(&name, s, 0), k, s->updates[0].k);
    }
    return CUZK_OK;
}

cuzk_code cuzk_statement_check(const cuzk_statement *s, unsigned k, cuzk_pool *pool, cuzk_err *err)
{
    input_name name;
    CUZK_TRY(check_index(s, k, err));
    if (s->id.kind == CUZK_POREP) {
        return cuzk_porep_check_partition(&s->porep, k, name_input(&name, s, 0), pool, err);
    }
    if (!is_post(s)) {
        const cuzk_update_partition *p = update_at(s, k, &name);
        return cuzk_update_check(p, k, &s->comm_r_old, &s->comm_d_new, &s->comm_r_new, name.text,
                                 pool, err);
    }
    size_t i, end = sectors_of(s, k, &i);
    for (; i < end; i++) {
        CUZK_TRY(cuzk_post_check(&s->sectors[i], &s->post, s->randomness, s->first_place + i,
                                 name_input(&name, s, i), pool, err));
    }
    return CUZK_OK;
}

/* The list is that of the whole proof, of whose sectors before ours only the number matters. */
static cuzk_code post_inputs(const cuzk_statement *s, unsigned k, fr_repr *ret, cuzk_err *err)
{
    size_t each = sectors_each(s), before = s->post.window ? s->first_place : 0;
    cuzk_post_public *all = calloc(before + s->n, sizeof *all);
    if (!all) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu sectors", before + s->n);
    }
    for (size_t i = 0; i < s->n; i++) {
        all[before + i] = (cuzk_post_public){s->sectors[i].id, s->sectors[i].comm_r};
    }
    cuzk_code code = cuzk_post_inputs(ret, &s->post, s->randomness, all, before + s->n,
                                      (unsigned)each, (unsigned)(k + before / each), err);
    free(all);
    return code;
}

size_t cuzk_statement_input_count(const cuzk_circuit_id *id)
{
    cuzk_sector cut = *id->sector; /* a circuit cut to fewer challenges has the first inputs */
    cuzk_post_proof post = {.window = id->kind == CUZK_WINDOW_POST};
    switch (id->kind) {
    case CUZK_POREP:
        cut.challenges = id->cut ? id->cut : cut.challenges;
        return cuzk_porep_input_count(&cut);
    case CUZK_WINNING_POST:
    case CUZK_WINDOW_POST:
        return cuzk_post_input_count(&post, cuzk_post_config_of(id).sectors);
    case CUZK_UPDATE:
    case CUZK_UPDATE_POSEIDON:
        break;
    }
    return CUZK_UPDATE_INPUTS;
}

cuzk_code cuzk_statement_inputs(const cuzk_statement *s, unsigned k, fr_repr *ret, cuzk_err *err)
{
    CUZK_TRY(check_index(s, k, err));
    if (is_post(s)) {
        return post_inputs(s, k, ret, err);
    }
    if (s->id.kind == CUZK_UPDATE) {
        cuzk_update_inputs(ret, s->id.sector, k, &s->comm_r_old, &s->comm_d_new, &s->comm_r_new);
        return CUZK_OK;
    }
    cuzk_porep_public pub = cuzk_porep_public_of(&s->porep);
    fr_repr *all = malloc(cuzk_porep_input_count(s->id.sector) * sizeof *all);
    if (!all) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for public inputs");
    }
    cuzk_porep_inputs(all, &pub, k);
    memcpy(ret, all, cuzk_statement_input_count(&s->id) * sizeof *ret);
    free(all);
    return CUZK_OK;
}

cuzk_code cuzk_statement_ports(const cuzk_statement *s, unsigned k, const cuzk_shape *shape,
                               cuzk_ports *ret, cuzk_err *err)
{
    CUZK_TRY(check_index(s, k, err));
    if (s->id.kind == CUZK_POREP) {
        return cuzk_porep_ports(ret, shape, &s->id, &s->porep, k, err);
    }
    if (!is_post(s)) {
        input_name name;
        return cuzk_update_ports(ret, shape, update_at(s, k, &name), err);
    }
    size_t from, end = sectors_of(s, k, &from);
    return cuzk_post_ports(ret, shape, &s->id, s->sectors + from, end - from, err);
}
