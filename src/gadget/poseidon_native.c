#include "gadget/poseidon_native.h"

#define W POSEIDON_MAX_WIDTH

/* Where a trace goes; a plain hash has at == NULL. */
typedef struct sink {
    fr *at;
} sink;

static inline void keep(sink *s, const fr *v)
{
    if (s->at) {
        *s->at++ = *v;
    }
}

/* e = (e + pre)^5 + post, keeping the square, the fourth power and the result. */
static inline void sbox(fr *e, const fr *pre, const fr *post, sink *s)
{
    fr l, l2, l4;
    if (pre) {
        fr_add(&l, e, pre);
    } else {
        l = *e;
        keep(s, &l);
    }
    fr_sqr(&l2, &l);
    keep(s, &l2);
    fr_sqr(&l4, &l2);
    keep(s, &l4);
    fr_mul(e, &l4, &l);
    if (post) {
        fr_add(e, e, post);
    }
    keep(s, e);
}

static void mix(fr *e, const fr (*m)[W], unsigned t)
{
    fr out[W];
    for (unsigned j = 0; j < t; j++) {
        fr_mul(&out[j], &m[0][j], &e[0]);
        for (unsigned i = 1; i < t; i++) {
            fr x;
            fr_mul(&x, &m[i][j], &e[i]);
            fr_add(&out[j], &out[j], &x);
        }
    }
    memcpy(e, out, t * sizeof *e);
}

static void mix_sparse(fr *e, const poseidon_sparse *m, unsigned t)
{
    fr sum, x;
    fr_mul(&sum, &m->column[0], &e[0]);
    for (unsigned i = 1; i < t; i++) {
        fr_mul(&x, &m->column[i], &e[i]);
        fr_add(&sum, &sum, &x);
        fr_mul(&x, &m->row[i - 1], &e[0]);
        fr_add(&e[i], &e[i], &x);
    }
    e[0] = sum;
}

static inline void permute(fr *e, const poseidon_params *p, sink *s)
{
    unsigned t = p->width;
    const fr *post = p->compressed + t;
    /* The tag is a constant: the circuit has no variables for its first S-box. */
    sink none = {NULL};
    sbox(&e[0], &p->compressed[0], &post[0], &none);
    for (unsigned i = 1; i < t; i++) {
        sbox(&e[i], &p->compressed[i], &post[i], s);
    }
    mix(e, p->mds, t);
    post += t;
    for (unsigned r = 1; r < POSEIDON_FULL_ROUNDS / 2; r++, post += t) {
        for (unsigned i = 0; i < t; i++) {
            sbox(&e[i], NULL, &post[i], s);
        }
        mix(e, r == POSEIDON_FULL_ROUNDS / 2 - 1 ? p->pre_sparse : p->mds, t);
    }
    for (unsigned r = 0; r < p->partial; r++) {
        sbox(&e[0], NULL, post++, s);
        mix_sparse(e, &p->sparse[r], t);
    }
    for (unsigned r = 1; r <= POSEIDON_FULL_ROUNDS / 2; r++, post += t) {
        for (unsigned i = 0; i < t; i++) {
            sbox(&e[i], NULL, r == POSEIDON_FULL_ROUNDS / 2 ? NULL : &post[i], s);
        }
        mix(e, p->mds, t);
    }
    keep(s, &e[1]);
}

void poseidon_hash(fr *ret, const poseidon_params *p, const fr *tag, const fr *in)
{
    fr e[W];
    sink none = {NULL};
    e[0] = *tag;
    memcpy(e + 1, in, p->arity * sizeof *e);
    permute(e, p, &none);
    *ret = e[1];
}

void poseidon_hash_tree(fr *ret, const poseidon_params *p, const fr *in)
{
    fr tag = poseidon_tag_tree(p->arity);
    poseidon_hash(ret, p, &tag, in);
}

void poseidon_trace(fr *aux, const poseidon_params *p, const fr *tag, const fr *in)
{
    fr e[W];
    sink s = {aux};
    e[0] = *tag;
    memcpy(e + 1, in, p->arity * sizeof *e);
    permute(e, p, &s);
}

void poseidon_hash_plain(fr *ret, const poseidon_params *p, const fr *tag, const fr *in)
{
    fr e[W];
    unsigned t = p->width;
    unsigned rounds = POSEIDON_FULL_ROUNDS + p->partial;
    e[0] = *tag;
    memcpy(e + 1, in, p->arity * sizeof *e);
    for (unsigned r = 0; r < rounds; r++) {
        unsigned half = POSEIDON_FULL_ROUNDS / 2;
        unsigned boxes = r < half || r >= half + p->partial ? t : 1;
        for (unsigned i = 0; i < t; i++) {
            fr_add(&e[i], &e[i], &p->round[r * t + i]);
        }
        for (unsigned i = 0; i < boxes; i++) {
            sink none = {NULL};
            sbox(&e[i], &fr_zero, NULL, &none);
        }
        mix(e, p->mds, t);
    }
    *ret = e[1];
}
