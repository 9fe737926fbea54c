#include "gadget/poseidon.h"

#define W POSEIDON_MAX_WIDTH

fr cuzk_poseidon_tag_value(cuzk_poseidon_tag tag, unsigned arity)
{
    return tag == CUZK_TAG_TREE ? poseidon_tag_tree(arity) : poseidon_tag_randomness();
}

/* state[i] is a combination; `single` ones are one variable already. */
typedef struct element {
    cuzk_lc lc;
    bool single;
} element;

static element single(uint32_t var) { return (element){cuzk_lc_var(var), true}; }

static uint32_t var_of(element *e) { return cuzk_lc_terms(&e->lc)[0].var; }

/* Gives a combination a variable: lc * 1 = v. */
static void ensure(cuzk_cs *cs, element *e)
{
    if (e->single) {
        return;
    }
    uint32_t v = cuzk_cs_var(cs, true);
    cuzk_lc one = cuzk_lc_var(CUZK_ONE);
    cuzk_lc whole = cuzk_lc_var(v);
    cuzk_cs_enforce(cs, &e->lc, &one, &whole);
    cuzk_lc_free(&e->lc);
    *e = single(v);
}

/* l + pre, pre may be NULL. */
static cuzk_lc shifted(cuzk_cs *cs, uint32_t l, const fr *pre)
{
    cuzk_lc lc = cuzk_lc_var(l);
    if (pre) {
        cuzk_lc_add(cs, &lc, CUZK_ONE, pre);
    }
    return lc;
}

/* e = (e + pre)^5 + post, through variables for the square, the fourth power and the result. */
static void sbox(cuzk_cs *cs, element *e, const fr *pre, const fr *post)
{
    ensure(cs, e);
    uint32_t l = var_of(e);
    uint32_t l2 = cuzk_cs_var(cs, true);
    cuzk_lc a = shifted(cs, l, pre);
    cuzk_lc b = a;
    cuzk_lc c = cuzk_lc_var(l2);
    cuzk_cs_enforce(cs, &a, &b, &c);
    uint32_t l4 = cuzk_cs_var(cs, true);
    a = cuzk_lc_var(l2);
    b = a;
    c = cuzk_lc_var(l4);
    cuzk_cs_enforce(cs, &a, &b, &c);
    uint32_t l5 = cuzk_cs_var(cs, true);
    a = shifted(cs, l, pre);
    b = cuzk_lc_var(l4);
    c = cuzk_lc_var(l5);
    if (post) {
        fr minus;
        fr_neg(&minus, post);
        cuzk_lc_add(cs, &c, CUZK_ONE, &minus);
    }
    cuzk_cs_enforce(cs, &a, &b, &c);
    *e = single(l5);
}

/* The first S-box of the tag, which is constant: no variables. */
static element constant_box(const fr *tag, const fr *pre, const fr *post)
{
    fr x, v;
    fr_add(&x, tag, pre);
    fr_sqr(&v, &x);
    fr_sqr(&v, &v);
    fr_mul(&v, &v, &x);
    fr_add(&v, &v, post);
    return (element){cuzk_lc_scaled(CUZK_ONE, &v), false};
}

static void replace(element *e, element *with, unsigned t)
{
    for (unsigned i = 0; i < t; i++) {
        cuzk_lc_merge(&with[i].lc);
        cuzk_lc_free(&e[i].lc);
        e[i] = with[i];
    }
}

static void mix(cuzk_cs *cs, element *e, const fr (*m)[W], unsigned t)
{
    element out[W] = {{{0}, false}};
    for (unsigned j = 0; j < t; j++) {
        for (unsigned i = 0; i < t; i++) {
            cuzk_lc_add_lc(cs, &out[j].lc, &e[i].lc, &m[i][j]);
        }
    }
    replace(e, out, t);
}

static void mix_sparse(cuzk_cs *cs, element *e, const poseidon_sparse *m, unsigned t)
{
    element out[W] = {{{0}, false}};
    for (unsigned i = 0; i < t; i++) {
        cuzk_lc_add_lc(cs, &out[0].lc, &e[i].lc, &m->column[i]);
    }
    for (unsigned j = 1; j < t; j++) {
        cuzk_lc_add_lc(cs, &out[j].lc, &e[j].lc, &fr_one);
        cuzk_lc_add_lc(cs, &out[j].lc, &e[0].lc, &m->row[j - 1]);
    }
    replace(e, out, t);
}

uint32_t cuzk_poseidon_rows(cuzk_cs *cs, const poseidon_params *p, const fr *tag,
                            const uint32_t *in)
{
    unsigned t = p->width;
    element e[W];
    const fr *post = p->compressed + t;
    e[0] = constant_box(tag, &p->compressed[0], &post[0]);
    for (unsigned i = 1; i < t; i++) {
        e[i] = single(in[i - 1]);
        sbox(cs, &e[i], &p->compressed[i], &post[i]);
    }
    mix(cs, e, p->mds, t);
    post += t;
    for (unsigned r = 1; r < POSEIDON_FULL_ROUNDS / 2; r++, post += t) {
        for (unsigned i = 0; i < t; i++) {
            sbox(cs, &e[i], NULL, &post[i]);
        }
        mix(cs, e, r == POSEIDON_FULL_ROUNDS / 2 - 1 ? p->pre_sparse : p->mds, t);
    }
    for (unsigned r = 0; r < p->partial; r++) {
        sbox(cs, &e[0], NULL, post++);
        mix_sparse(cs, e, &p->sparse[r], t);
    }
    for (unsigned r = 1; r <= POSEIDON_FULL_ROUNDS / 2; r++, post += t) {
        for (unsigned i = 0; i < t; i++) {
            sbox(cs, &e[i], NULL, r == POSEIDON_FULL_ROUNDS / 2 ? NULL : &post[i]);
        }
        mix(cs, e, p->mds, t);
    }
    ensure(cs, &e[1]);
    uint32_t result = var_of(&e[1]);
    for (unsigned i = 0; i < t; i++) {
        cuzk_lc_free(&e[i].lc);
    }
    return result;
}

cuzk_num cuzk_poseidon(cuzk_cs *cs, cuzk_poseidon_tag tag, unsigned arity, const cuzk_num *in)
{
    const poseidon_params *p = poseidon_params_of(arity);
    cuzk_num result = {0, fr_zero};
    if (!p) {
        cuzk_cs_fail(cs, CUZK_E_INTERNAL, "Poseidon of an arity other than 2, 4, 8, 11");
        return result;
    }
    fr t = cuzk_poseidon_tag_value(tag, arity);
    uint32_t param = arity | (uint32_t)tag << 8;
    if (cuzk_cs_is_witness(cs)) {
        fr values[W];
        for (unsigned i = 0; i < arity; i++) {
            values[i] = in[i].v;
        }
        uint8_t *record = cuzk_cs_record(cs, "poseidon", param);
        if (record) {
            memcpy(record, values, arity * sizeof *values);
        }
        poseidon_hash(&result.v, p, &t, values);
        return result;
    }
    cuzk_num local[W];
    cuzk_cs_begin(cs, "poseidon", param, (uint32_t)(arity * sizeof(fr)));
    cuzk_cs_port_nums(cs, in, local, arity);
    if (cuzk_cs_recording(cs)) {
        uint32_t refs[W];
        for (unsigned i = 0; i < arity; i++) {
            refs[i] = local[i].var;
        }
        cuzk_cs_output_num(cs, cuzk_poseidon_rows(cs, p, &t, refs));
    }
    return cuzk_cs_end_num(cs);
}
