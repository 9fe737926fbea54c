#include "gadget/num.h"

#include <pthread.h>

static fr powers[CUZK_NUM_BITS];

static void make_powers(void)
{
    powers[0] = fr_one;
    for (int i = 1; i < CUZK_NUM_BITS; i++) {
        fr_dbl(&powers[i], &powers[i - 1]);
    }
}

const fr *cuzk_num_powers_of_two(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_powers);
    return powers;
}

void cuzk_num_lc_bits(cuzk_cs *cs, cuzk_lc *lc, const cuzk_bool *bits, size_t n)
{
    const fr *two = cuzk_num_powers_of_two();
    for (size_t i = 0; i < n; i++) {
        cuzk_lc_add_bool(cs, lc, &bits[i], &two[i]);
    }
}

uint64_t cuzk_num_bits_value(const cuzk_bool *bits, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) {
        v |= (uint64_t)bits[i].v << i;
    }
    return v;
}

static void record_to_bits(cuzk_cs *cs, uint32_t x, cuzk_unpack_row row)
{
    cuzk_bool bits[CUZK_NUM_BITS];
    for (unsigned i = 0; i < CUZK_NUM_BITS; i += 51) {
        cuzk_cs_alloc_bits(cs, bits + i, 51, 0);
    }
    cuzk_lc sum = {0};
    cuzk_num_lc_bits(cs, &sum, bits, CUZK_NUM_BITS);
    if (row == CUZK_UNPACK_DIFFERENCE) {
        fr minus;
        fr_neg(&minus, &fr_one);
        cuzk_lc_add(cs, &sum, x, &minus);
        cuzk_cs_enforce(cs, NULL, NULL, &sum);
    } else {
        cuzk_lc one = cuzk_lc_var(CUZK_ONE);
        cuzk_lc whole = cuzk_lc_var(x);
        cuzk_cs_enforce(cs, &sum, &one, &whole);
    }
    cuzk_lc_free(&sum);
    cuzk_cs_output_bools(cs, bits, CUZK_NUM_BITS);
}

void cuzk_num_to_bits(cuzk_cs *cs, cuzk_bool ret[CUZK_NUM_BITS], const cuzk_num *x,
                      cuzk_unpack_row row)
{
    if (cuzk_cs_is_witness(cs)) {
        fr_repr v;
        fr_to_repr(&v, &x->v);
        uint8_t *record = cuzk_cs_record(cs, "to_bits", row);
        if (record) {
            memcpy(record, v.l, sizeof v.l);
        }
        for (unsigned i = 0; i < CUZK_NUM_BITS; i++) {
            ret[i] = (cuzk_bool){0, CUZK_IS, v.l[i / 64] >> (i % 64) & 1};
        }
        return;
    }
    cuzk_num local;
    cuzk_cs_begin(cs, "to_bits", row, sizeof(fr_repr));
    cuzk_cs_port_nums(cs, x, &local, 1);
    if (cuzk_cs_recording(cs)) {
        record_to_bits(cs, local.var, row);
    }
    cuzk_cs_end(cs, ret, CUZK_NUM_BITS);
}

static fr bits_to_fr(const cuzk_bool *bits, size_t n)
{
    fr_repr v = {{0}};
    for (size_t i = 0; i < n; i++) {
        v.l[i / 64] |= (uint64_t)bits[i].v << (i % 64);
    }
    fr r;
    fr_from_repr(&r, &v);
    return r;
}

cuzk_num cuzk_num_pack(cuzk_cs *cs, const cuzk_bool *bits, size_t n)
{
    if (cuzk_cs_is_witness(cs)) {
        cuzk_num x = {0, bits_to_fr(bits, n)};
        uint8_t *record = cuzk_cs_record(cs, "pack", (uint32_t)n);
        if (record) {
            memcpy(record, &x.v, sizeof x.v);
        }
        return x;
    }
    cuzk_bool local[CUZK_PACK_BITS];
    cuzk_cs_begin(cs, "pack", (uint32_t)n, sizeof(fr));
    cuzk_cs_port_bools(cs, bits, local, n);
    if (cuzk_cs_recording(cs)) {
        cuzk_lc sum = {0};
        cuzk_num_lc_bits(cs, &sum, local, n);
        uint32_t x = cuzk_cs_var(cs, true);
        cuzk_lc one = cuzk_lc_var(CUZK_ONE);
        cuzk_lc whole = cuzk_lc_var(x);
        cuzk_cs_enforce(cs, &sum, &one, &whole);
        cuzk_lc_free(&sum);
        cuzk_cs_output_num(cs, x);
    }
    return cuzk_cs_end_num(cs);
}

void cuzk_num_pack_inputs(cuzk_cs *cs, const cuzk_bool *bits, size_t n)
{
    for (size_t i = 0; i < n; i += CUZK_PACK_BITS) {
        size_t part = n - i < CUZK_PACK_BITS ? n - i : CUZK_PACK_BITS;
        fr v = bits_to_fr(bits + i, part);
        cuzk_num x = cuzk_cs_input(cs, &v);
        cuzk_lc sum = {0};
        cuzk_num_lc_bits(cs, &sum, bits + i, part);
        cuzk_lc one = cuzk_lc_var(CUZK_ONE);
        cuzk_lc whole = cuzk_lc_var(x.var);
        cuzk_cs_enforce(cs, &sum, &one, &whole);
        cuzk_lc_free(&sum);
    }
}

void cuzk_num_equal(cuzk_cs *cs, const cuzk_num *a, const cuzk_num *b)
{
    cuzk_lc la = cuzk_lc_var(a->var);
    cuzk_lc one = cuzk_lc_var(CUZK_ONE);
    cuzk_lc lc = cuzk_lc_var(b->var);
    cuzk_cs_enforce(cs, &la, &one, &lc);
}

void cuzk_num_inputize(cuzk_cs *cs, const cuzk_num *x)
{
    cuzk_num input = cuzk_cs_input(cs, &x->v);
    cuzk_num_equal(cs, &input, x);
}

cuzk_num cuzk_num_add(cuzk_cs *cs, const cuzk_num *a, const cuzk_num *b)
{
    fr v;
    fr_add(&v, &a->v, &b->v);
    cuzk_num s = cuzk_cs_alloc(cs, &v);
    cuzk_lc la = cuzk_lc_var(a->var);
    cuzk_lc_add(cs, &la, b->var, &fr_one);
    cuzk_lc one = cuzk_lc_var(CUZK_ONE);
    cuzk_lc lc = cuzk_lc_var(s.var);
    cuzk_cs_enforce(cs, &la, &one, &lc);
    return s;
}

cuzk_num cuzk_num_mul(cuzk_cs *cs, const cuzk_num *a, const cuzk_num *b)
{
    fr v;
    fr_mul(&v, &a->v, &b->v);
    cuzk_num p = cuzk_cs_alloc(cs, &v);
    cuzk_lc la = cuzk_lc_var(a->var);
    cuzk_lc lb = cuzk_lc_var(b->var);
    cuzk_lc lc = cuzk_lc_var(p.var);
    cuzk_cs_enforce(cs, &la, &lb, &lc);
    return p;
}

uint32_t cuzk_num_pick(cuzk_cs *cs, uint32_t cond, uint32_t a, uint32_t b)
{
    uint32_t c = cuzk_cs_var(cs, true);
    cuzk_lc la = cuzk_lc_sub(b, a);
    cuzk_lc lb = cuzk_lc_var(cond);
    cuzk_lc lc = cuzk_lc_sub(b, c);
    cuzk_cs_enforce(cs, &la, &lb, &lc);
    return c;
}

enum { PICK_MAX = 64 };

static void witness_pick(cuzk_cs *cs, cuzk_num *ret, bool cond, const cuzk_num *a,
                         const cuzk_num *b, size_t n)
{
    uint8_t *record = cuzk_cs_record(cs, "pick", (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        ret[i] = cond ? a[i] : b[i];
        if (record) {
            memcpy(record + i * sizeof(fr), &ret[i].v, sizeof(fr));
        }
    }
}

void cuzk_num_pick_n(cuzk_cs *cs, cuzk_num *ret, const cuzk_bool *cond, const cuzk_num *a,
                     const cuzk_num *b, size_t n)
{
    if (n > PICK_MAX || cond->kind != CUZK_IS) {
        cuzk_cs_fail(cs, CUZK_E_INTERNAL, "a selection of more than 64, or by no variable");
        return;
    }
    if (cuzk_cs_is_witness(cs)) {
        witness_pick(cs, ret, cond->v, a, b, n);
        return;
    }
    cuzk_bool c, out[PICK_MAX];
    cuzk_num la[PICK_MAX], lb[PICK_MAX];
    cuzk_cs_begin(cs, "pick", (uint32_t)n, (uint32_t)(n * sizeof(fr)));
    cuzk_cs_port_bools(cs, cond, &c, 1);
    cuzk_cs_port_nums(cs, a, la, n);
    cuzk_cs_port_nums(cs, b, lb, n);
    if (cuzk_cs_recording(cs)) {
        for (size_t i = 0; i < n; i++) {
            cuzk_cs_output_num(cs, cuzk_num_pick(cs, c.var, la[i].var, lb[i].var));
        }
    }
    cuzk_cs_end(cs, out, n);
    for (size_t i = 0; i < n; i++) {
        ret[i] = (cuzk_num){out[i].var, fr_zero};
    }
}
