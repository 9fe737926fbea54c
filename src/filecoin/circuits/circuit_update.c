#include "filecoin/circuits/circuit_update.h"

#include <stdlib.h>

#include "filecoin/circuits/circuit_por.h"
#include "gadget/poseidon.h"
#include "gadget/sha256_gadget.h"

enum { APEX_MAX = 128, SIBLINGS_MAX = 128, NODE_BITS_MAX = 64 };

/* What every challenge refers to. */
typedef struct common {
    const cuzk_sector *s;
    unsigned partition_bits, apex_bits;
    cuzk_tree octal;
    cuzk_bool h_select[CUZK_UPDATE_H_COUNT];
    cuzk_bool partition[8];
    cuzk_num comm_d_new, comm_r_new, phi, root_r_old, root_r_new;
    cuzk_num apex[APEX_MAX];
} common;

/* What only the commitments' own checks need. */
typedef struct own {
    cuzk_num comm_r_old, comm_c;
} own;

static unsigned lg(unsigned n) { return (unsigned)__builtin_ctz(n); }

static cuzk_tree binary(unsigned levels)
{
    cuzk_tree t = {.levels = (uint8_t)levels, .siblings = (uint16_t)levels};
    memset(t.lg_arity, 1, levels);
    return t;
}

static cuzk_num randomness(cuzk_cs *cs, const cuzk_num *a, const cuzk_num *b)
{
    const cuzk_num pair[2] = {*a, *b};
    return cuzk_poseidon(cs, CUZK_TAG_RANDOMNESS, 2, pair);
}

/* A number and its n bits, made public; sum of bits * 1 = number. */
static void public_bits(cuzk_cs *cs, cuzk_bool *bits, unsigned n, uint64_t value)
{
    fr v = fr_from_u64(value);
    cuzk_num x = cuzk_cs_alloc(cs, &v);
    cuzk_num_inputize(cs, &x);
    cuzk_cs_alloc_bits(cs, bits, n, value);
    cuzk_lc sum = {0};
    cuzk_num_lc_bits(cs, &sum, bits, n);
    cuzk_lc one = cuzk_lc_var(CUZK_ONE);
    cuzk_lc whole = cuzk_lc_var(x.var);
    cuzk_cs_enforce(cs, &sum, &one, &whole);
    cuzk_lc_free(&sum);
}

/* The apex tree, whose root is the partition's place in comm_d_new. */
static void apex_tree(cuzk_cs *cs, common *m, const cuzk_num *siblings)
{
    cuzk_num row[APEX_MAX];
    memcpy(row, m->apex, sizeof row);
    for (unsigned n = m->s->update_apex / 2; n > 0; n /= 2) {
        for (unsigned i = 0; i < n; i++) {
            row[i] = cuzk_gadget_sha256_node(cs, &row[2 * i], &row[2 * i + 1]);
        }
    }
    cuzk_tree tree = binary(m->partition_bits);
    cuzk_por_given(cs, &tree, true, &row[0], m->partition, siblings, &m->comm_d_new);
}

/* Random bits of challenge digest j of D: 255 bits of the hash of comm_r_new and
 * partition * D + j. */
static void challenge_digest(cuzk_cs *cs, const common *m, const cuzk_num *partition, unsigned d,
                             unsigned j, cuzk_bool bits[CUZK_NUM_BITS])
{
    fr fd = fr_from_u64(d);
    fr fj = fr_from_u64(j);
    fr v;
    fr_mul(&v, &fd, &partition->v);
    fr_add(&v, &v, &fj);
    cuzk_num index = cuzk_cs_alloc(cs, &v);
    cuzk_lc la = cuzk_lc_scaled(partition->var, &fd);
    cuzk_lc_add(cs, &la, CUZK_ONE, &fj);
    cuzk_lc one = cuzk_lc_var(CUZK_ONE);
    cuzk_lc lc = cuzk_lc_var(index.var);
    cuzk_cs_enforce(cs, &la, &one, &lc);
    cuzk_num digest = randomness(cs, &m->comm_r_new, &index);
    cuzk_num_to_bits(cs, bits, &digest, CUZK_UNPACK_EQUAL);
}

/* Bits of n challenges, `width` each, cut from digests. ret: n * width. */
static void challenge_bits(cuzk_cs *cs, const common *m, const cuzk_num *partition, unsigned n,
                           unsigned width, cuzk_bool *ret)
{
    unsigned each = CUZK_PACK_BITS / width;
    unsigned digests = (n + each - 1) / each;
    for (unsigned j = 0; j < digests; j++) {
        cuzk_bool bits[CUZK_NUM_BITS];
        challenge_digest(cs, m, partition, digests, j, bits);
        unsigned take = n - j * each < each ? n - j * each : each;
        memcpy(ret + j * each * width, bits, take * width * sizeof *ret);
    }
}

/* rho: hash of phi and the node's highest h bits, h being the selected one. */
static cuzk_num rho(cuzk_cs *cs, const common *m, const cuzk_bool *node)
{
    cuzk_num parts[CUZK_UPDATE_H_COUNT];
    fr sum = fr_zero;
    for (unsigned i = 0; i < CUZK_UPDATE_H_COUNT; i++) {
        unsigned h = m->s->update_hs[i];
        cuzk_num high = cuzk_num_pack(cs, node + m->s->lg_nodes - h, h);
        cuzk_num select = {m->h_select[i].var, m->h_select[i].v ? fr_one : fr_zero};
        parts[i] = cuzk_num_mul(cs, &high, &select);
        fr_add(&sum, &sum, &parts[i].v);
    }
    cuzk_num high = cuzk_cs_alloc(cs, &sum);
    cuzk_lc la = {0};
    for (unsigned i = 0; i < CUZK_UPDATE_H_COUNT; i++) {
        cuzk_lc_add(cs, &la, parts[i].var, &fr_one);
    }
    cuzk_lc one = cuzk_lc_var(CUZK_ONE);
    cuzk_lc lc = cuzk_lc_var(high.var);
    cuzk_cs_enforce(cs, &la, &one, &lc);
    cuzk_lc_free(&la);
    return randomness(cs, &m->phi, &high);
}

/* Allocates a path's siblings and walks it. */
static void open_path(cuzk_cs *cs, const cuzk_tree *tree, bool sha, const cuzk_num *leaf,
                      const cuzk_bool *bits, const cuzk_path *path, const cuzk_num *root)
{
    cuzk_num siblings[SIBLINGS_MAX];
    cuzk_node_alloc_n(cs, siblings, tree->siblings, path ? path->siblings : NULL);
    cuzk_por_given(cs, tree, sha, leaf, bits, siblings, root);
}

/* One of the apex leaves, by its index in bits. */
static cuzk_num select_apex(cuzk_cs *cs, const common *m, const cuzk_bool *bits)
{
    cuzk_num row[APEX_MAX];
    memcpy(row, m->apex, sizeof row);
    for (unsigned k = m->apex_bits; k-- > 0;) {
        unsigned half = 1U << k;
        cuzk_num_pick_n(cs, row, &bits[k], row + half, row, half);
    }
    return row[0];
}

typedef struct leaves {
    cuzk_num r_old, d_new, r_new;
} leaves;

/* The three leaves of a challenge, tied by r_new = r_old + d_new * rho. */
static leaves encode(cuzk_cs *cs, const common *m, const cuzk_bool *node,
                     const cuzk_update_challenge *p)
{
    leaves l;
    cuzk_num r = rho(cs, m, node);
    l.r_old = cuzk_node_alloc(cs, p ? &p->r_old.leaf : NULL);
    l.d_new = cuzk_node_alloc(cs, p ? &p->d_new.leaf : NULL);
    cuzk_num product = cuzk_num_mul(cs, &l.d_new, &r);
    l.r_new = cuzk_num_add(cs, &l.r_old, &product);
    return l;
}

static void challenge(cuzk_cs *cs, const common *m, const cuzk_bool *node,
                      const cuzk_update_challenge *p)
{
    leaves l = encode(cs, m, node, p);
    open_path(cs, &m->octal, false, &l.r_old, node, p ? &p->r_old : NULL, &m->root_r_old);
    open_path(cs, &m->octal, false, &l.r_new, node, p ? &p->r_new : NULL, &m->root_r_new);
    unsigned below_apex = m->s->lg_nodes - m->partition_bits - m->apex_bits;
    cuzk_num apex_leaf = select_apex(cs, m, node + below_apex);
    cuzk_tree tree = binary(below_apex);
    open_path(cs, &tree, true, &l.d_new, node, p ? &p->d_new : NULL, &apex_leaf);
}

/* Public commitments, phi, and variables for what the replicas' commitments are made of. */
static void commitments(cuzk_cs *cs, common *m, const cuzk_update_partition *p, own *o)
{
    const cuzk_node *comm_c = p ? &p->comm_c : NULL;
    const cuzk_node *roots[2] = {p ? &p->root_r_old : NULL, p ? &p->root_r_new : NULL};
    fr values[2];
    for (int i = 0; i < 2; i++) {
        const fr pair[2] = {cuzk_node_value(comm_c), cuzk_node_value(roots[i])};
        poseidon_hash_tree(&values[i], poseidon_params_of(2), pair);
    }
    o->comm_r_old = cuzk_cs_alloc(cs, &values[0]);
    cuzk_num_inputize(cs, &o->comm_r_old);
    m->comm_d_new = cuzk_node_alloc_input(cs, p ? &p->comm_d_new : NULL);
    m->comm_r_new = cuzk_cs_alloc(cs, &values[1]);
    cuzk_num_inputize(cs, &m->comm_r_new);
    m->phi = randomness(cs, &m->comm_d_new, &o->comm_r_old);
    o->comm_c = cuzk_node_alloc(cs, comm_c);
    m->root_r_old = cuzk_node_alloc(cs, roots[0]);
    m->root_r_new = cuzk_node_alloc(cs, roots[1]);
}

static void check_comm_r(cuzk_cs *cs, const cuzk_num *comm_c, const cuzk_num *root,
                         const cuzk_num *comm_r)
{
    const cuzk_num pair[2] = {*comm_c, *root};
    cuzk_num h = cuzk_poseidon(cs, CUZK_TAG_TREE, 2, pair);
    cuzk_num_equal(cs, &h, comm_r);
}

static void check_commitments(cuzk_cs *cs, const common *m, const own *o)
{
    check_comm_r(cs, &o->comm_c, &m->root_r_old, &o->comm_r_old);
    check_comm_r(cs, &o->comm_c, &m->root_r_new, &m->comm_r_new);
}

/* The challenged nodes' random bits, width each; the caller frees. NULL after a failure. */
static cuzk_bool *all_bits(cuzk_cs *cs, const common *m, const cuzk_num *partition, unsigned n,
                           unsigned width)
{
    cuzk_bool *bits = calloc((size_t)n * width, sizeof *bits);
    if (!bits) {
        cuzk_cs_fail(cs, CUZK_E_MEMORY, "no memory for the bits of challenges");
        return NULL;
    }
    challenge_bits(cs, m, partition, n, width, bits);
    return bits;
}

void cuzk_circuit_update(cuzk_cs *cs, const cuzk_sector *s, const cuzk_update_partition *p)
{
    common m = {.s = s,
                .partition_bits = lg(s->update_partitions),
                .apex_bits = lg(s->update_apex),
                .octal = cuzk_sector_octal_tree(s)};
    own o;
    cuzk_bool bits[8 + CUZK_UPDATE_H_COUNT];
    uint64_t h_bit = (uint64_t)1 << cuzk_sector_update_h_index(s);
    uint64_t k_and_h = (p ? p->k : 0) | h_bit << m.partition_bits;
    public_bits(cs, bits, m.partition_bits + CUZK_UPDATE_H_COUNT, k_and_h);
    memcpy(m.partition, bits, m.partition_bits * sizeof *bits);
    memcpy(m.h_select, bits + m.partition_bits, sizeof m.h_select);
    cuzk_num partition = cuzk_num_pack(cs, m.partition, m.partition_bits);
    commitments(cs, &m, p, &o);
    cuzk_node_alloc_n(cs, m.apex, s->update_apex, p ? p->apex : NULL);
    cuzk_num siblings[8];
    unsigned width = s->lg_nodes - m.partition_bits;
    cuzk_node_alloc_n(cs, siblings, m.partition_bits,
                      p ? p->challenges[0].d_new.siblings + width : NULL);
    check_commitments(cs, &m, &o);
    apex_tree(cs, &m, siblings);
    cuzk_bool *random = all_bits(cs, &m, &partition, s->update_challenges, width);
    for (unsigned i = 0; random && i < s->update_challenges && !cuzk_cs_failed(cs); i++) {
        cuzk_bool node[NODE_BITS_MAX];
        memcpy(node, random + i * width, width * sizeof *node);
        memcpy(node + width, m.partition, m.partition_bits * sizeof *node);
        challenge(cs, &m, node, p ? &p->challenges[i] : NULL);
    }
    free(random);
}

void cuzk_circuit_update_poseidon(cuzk_cs *cs, const cuzk_sector *s)
{
    common m = {.s = s, .octal = cuzk_sector_octal_tree(s)};
    own o;
    public_bits(cs, m.h_select, CUZK_UPDATE_H_COUNT, 0);
    commitments(cs, &m, NULL, &o);
    check_commitments(cs, &m, &o);
    cuzk_num partition = cuzk_cs_alloc(cs, &fr_zero);
    unsigned n = s->update_partitions * s->update_challenges;
    unsigned width = s->lg_nodes;
    cuzk_bool *random = all_bits(cs, &m, &partition, n, width);
    for (unsigned i = 0; random && i < n && !cuzk_cs_failed(cs); i++) {
        const cuzk_bool *node = random + i * width;
        leaves l = encode(cs, &m, node, NULL);
        open_path(cs, &m.octal, false, &l.r_old, node, NULL, &m.root_r_old);
        open_path(cs, &m.octal, false, &l.r_new, node, NULL, &m.root_r_new);
        open_path(cs, &m.octal, false, &l.d_new, node, NULL, &m.comm_d_new);
    }
    free(random);
}
