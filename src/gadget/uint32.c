#include "gadget/uint32.h"

#include "gadget/boolean.h"
#include "gadget/num.h"

cuzk_word cuzk_word_const(uint32_t v)
{
    cuzk_word w;
    for (int i = 0; i < 32; i++) {
        w.b[i] = cuzk_bool_const(v >> i & 1);
    }
    return w;
}

cuzk_word cuzk_word_rotr(const cuzk_word *a, unsigned n)
{
    cuzk_word w;
    for (unsigned i = 0; i < 32; i++) {
        w.b[i] = a->b[(i + n) % 32];
    }
    return w;
}

cuzk_word cuzk_word_shr(const cuzk_word *a, unsigned n)
{
    cuzk_word w;
    for (unsigned i = 0; i < 32; i++) {
        w.b[i] = i + n < 32 ? a->b[i + n] : cuzk_bool_const(false);
    }
    return w;
}

static void plan(cuzk_cs *cs, uint64_t mask, uint64_t inverted)
{
    cuzk_word_plan p = {mask, inverted & mask};
    cuzk_cs_plan(cs, &p, sizeof p);
}

typedef cuzk_bool bit_fn(cuzk_cs *cs, cuzk_bool a, cuzk_bool b, cuzk_bool c);

/* Applies f bit by bit. A bit that allocated something is in the plan; `wide`: the first of two
 * variables is the result, and the second is in the plan too. */
static cuzk_word bitwise(cuzk_cs *cs, bit_fn *f, bool wide, const cuzk_word *a, const cuzk_word *b,
                         const cuzk_word *c)
{
    cuzk_word w;
    uint64_t mask = 0;
    uint64_t inverted = 0;
    unsigned step = wide ? 2 : 1;
    for (unsigned i = 0; i < 32; i++) {
        uint32_t before = cuzk_cs_recorded_aux(cs);
        w.b[i] = f(cs, a->b[i], b->b[i], c->b[i]);
        uint32_t made = cuzk_cs_recorded_aux(cs) - before;
        mask |= (((uint64_t)1 << made) - 1) << (step * i);
        inverted |= (uint64_t)(w.b[i].kind == CUZK_NOT) << (step * i);
    }
    plan(cs, mask, inverted);
    return w;
}

static cuzk_bool xor_bit(cuzk_cs *cs, cuzk_bool a, cuzk_bool b, cuzk_bool c)
{
    (void)c;
    return cuzk_bool_xor(cs, a, b);
}

cuzk_word cuzk_word_xor(cuzk_cs *cs, const cuzk_word *a, const cuzk_word *b)
{
    return bitwise(cs, xor_bit, false, a, b, b);
}

cuzk_word cuzk_word_ch(cuzk_cs *cs, const cuzk_word *a, const cuzk_word *b, const cuzk_word *c)
{
    return bitwise(cs, cuzk_bool_ch, false, a, b, c);
}

cuzk_word cuzk_word_maj(cuzk_cs *cs, const cuzk_word *a, const cuzk_word *b, const cuzk_word *c)
{
    return bitwise(cs, cuzk_bool_maj, true, a, b, c);
}

void cuzk_multieq_flush(cuzk_cs *cs, cuzk_multieq *m)
{
    if (m->used) {
        cuzk_lc one = cuzk_lc_var(CUZK_ONE);
        cuzk_cs_enforce(cs, &m->left, &one, &m->right);
    }
    cuzk_lc_free(&m->left);
    cuzk_lc_free(&m->right);
    m->used = 0;
}

static bool all_constant(const cuzk_word *ops, size_t n, uint32_t *ret_sum)
{
    uint32_t sum = 0;
    for (size_t k = 0; k < n; k++) {
        for (unsigned i = 0; i < 32; i++) {
            if (ops[k].b[i].kind > CUZK_TRUE) {
                return false;
            }
            sum += (uint32_t)(ops[k].b[i].kind == CUZK_TRUE) << i;
        }
    }
    *ret_sum = sum;
    return true;
}

cuzk_word cuzk_word_add(cuzk_cs *cs, cuzk_multieq *m, const cuzk_word *ops, size_t n)
{
    uint32_t sum;
    if (all_constant(ops, n, &sum)) {
        plan(cs, 0, 0);
        return cuzk_word_const(sum);
    }
    unsigned bits = 64 - (unsigned)__builtin_clzll(n * (uint64_t)UINT32_MAX);
    cuzk_bool result[35];
    cuzk_cs_alloc_bits(cs, result, bits, 0);
    plan(cs, ((uint64_t)1 << bits) - 1, 0);
    if (m->used + bits >= CUZK_PACK_BITS) {
        cuzk_multieq_flush(cs, m);
    }
    const fr *two = cuzk_num_powers_of_two() + m->used;
    for (size_t k = 0; k < n; k++) {
        for (unsigned i = 0; i < 32; i++) {
            cuzk_lc_add_bool(cs, &m->left, &ops[k].b[i], &two[i]);
        }
    }
    for (unsigned i = 0; i < bits; i++) {
        cuzk_lc_add_bool(cs, &m->right, &result[i], &two[i]);
    }
    m->used += bits;
    cuzk_word w;
    memcpy(w.b, result, sizeof w.b);
    return w;
}
