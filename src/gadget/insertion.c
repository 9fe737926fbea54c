#include "gadget/insertion.h"

#include "gadget/boolean.h"
#include "gadget/num.h"

/*
 * A selection network as a list of picks, so that rows and values come from one place. Operands are
 * places: 0 is the inserted number, 1.. the others, OUT.. the results, TMP.. values in between.
 */
enum { OUT = 8, TMP = 16, PLACES = 18 };
enum { BIT0, BIT1, BIT2, NOR, AND };

typedef struct pick {
    uint8_t to, cond, a, b; /* to = cond ? a : b */
} pick;

static const pick picks2[] = {{OUT, BIT0, 1, 0}, {OUT + 1, BIT0, 0, 1}};

static const pick picks4[] = {
    {TMP, BIT0, 1, 0}, {OUT, BIT1, 1, TMP},     {TMP, BIT0, 0, 1}, {OUT + 1, BIT1, 2, TMP},
    {TMP, BIT0, 3, 0}, {OUT + 2, BIT1, TMP, 2}, {TMP, BIT0, 0, 3}, {OUT + 3, BIT1, TMP, 3},
};

static const pick picks8[] = {
    {TMP, NOR, 0, 1},
    {OUT, BIT2, 1, TMP},
    {TMP, BIT0, 0, 1},
    {TMP + 1, BIT1, 2, TMP},
    {OUT + 1, BIT2, 2, TMP + 1},
    {TMP, BIT0, 3, 0},
    {TMP + 1, BIT1, TMP, 2},
    {OUT + 2, BIT2, 3, TMP + 1},
    {TMP, AND, 0, 3},
    {OUT + 3, BIT2, 4, TMP},
    {TMP, NOR, 0, 5},
    {OUT + 4, BIT2, TMP, 4},
    {TMP, BIT0, 0, 5},
    {TMP + 1, BIT1, 6, TMP},
    {OUT + 5, BIT2, TMP + 1, 5},
    {TMP, BIT0, 7, 0},
    {TMP + 1, BIT1, TMP, 6},
    {OUT + 6, BIT2, TMP + 1, 6},
    {TMP, AND, 0, 7},
    {OUT + 7, BIT2, TMP, 7},
};

static const pick *network(unsigned arity, size_t *ret_n)
{
    *ret_n = arity == 2   ? sizeof picks2 / sizeof *picks2
             : arity == 4 ? sizeof picks4 / sizeof *picks4
                          : sizeof picks8 / sizeof *picks8;
    return arity == 2 ? picks2 : arity == 4 ? picks4 : picks8;
}

void cuzk_insertion_rows(cuzk_cs *cs, unsigned arity, uint32_t *out, const uint32_t *bits,
                         uint32_t cur, const uint32_t *others)
{
    uint32_t cond[5] = {0};
    uint32_t at[PLACES] = {cur};
    memcpy(cond, bits, cuzk_lg_arity(arity) * sizeof *bits);
    memcpy(at + 1, others, (arity - 1) * sizeof *others);
    if (arity == 8) {
        cuzk_bool b0 = {bits[0], CUZK_IS, false};
        cuzk_bool b1 = {bits[1], CUZK_IS, false};
        cond[NOR] = cuzk_bool_nor(cs, b0, b1).var;
        cond[AND] = cuzk_bool_and(cs, b0, b1).var;
    }
    size_t n;
    const pick *p = network(arity, &n);
    for (size_t i = 0; i < n; i++) {
        at[p[i].to] = cuzk_num_pick(cs, cond[p[i].cond], at[p[i].a], at[p[i].b]);
    }
    memcpy(out, at + OUT, arity * sizeof *out);
}

unsigned cuzk_insertion_trace(fr ret[22], unsigned arity, unsigned index, const fr *cur,
                              const fr *others)
{
    bool b0 = index & 1;
    bool b1 = index >> 1 & 1;
    const bool cond[5] = {b0, b1, index >> 2 & 1, !b0 && !b1, b0 && b1};
    fr at[PLACES];
    at[0] = *cur;
    memcpy(at + 1, others, (arity - 1) * sizeof *others);
    unsigned made = 0;
    if (arity == 8) {
        ret[made++] = cond[NOR] ? fr_one : fr_zero;
        ret[made++] = cond[AND] ? fr_one : fr_zero;
    }
    size_t n;
    const pick *p = network(arity, &n);
    for (size_t i = 0; i < n; i++) {
        at[p[i].to] = cond[p[i].cond] ? at[p[i].a] : at[p[i].b];
        ret[made++] = at[p[i].to];
    }
    return made;
}

void cuzk_insertion_values(fr *out, unsigned arity, unsigned index, const fr *cur, const fr *others)
{
    for (unsigned i = 0; i < arity; i++) {
        out[i] = i == index ? *cur : *others++;
    }
}

enum { MAX_ARITY = 8 };

static void witness(cuzk_cs *cs, unsigned arity, cuzk_num *out, const cuzk_bool *bits,
                    const cuzk_num *cur, const cuzk_num *others)
{
    uint64_t index = cuzk_num_bits_value(bits, cuzk_lg_arity(arity));
    fr in[MAX_ARITY], children[MAX_ARITY];
    in[0] = cur->v;
    for (unsigned i = 1; i < arity; i++) {
        in[i] = others[i - 1].v;
    }
    uint8_t *record = cuzk_cs_record(cs, "insert", arity);
    if (record) {
        memcpy(record, &index, sizeof index);
        memcpy(record + 8, in, arity * sizeof *in);
    }
    cuzk_insertion_values(children, arity, (unsigned)index, in, in + 1);
    for (unsigned i = 0; i < arity; i++) {
        out[i] = (cuzk_num){0, children[i]};
    }
}

void cuzk_insertion(cuzk_cs *cs, unsigned arity, cuzk_num *out, const cuzk_bool *bits,
                    const cuzk_num *cur, const cuzk_num *others)
{
    if (cuzk_cs_is_witness(cs)) {
        witness(cs, arity, out, bits, cur, others);
        return;
    }
    cuzk_bool b[3], result[MAX_ARITY];
    cuzk_num c, o[MAX_ARITY];
    unsigned lg = cuzk_lg_arity(arity);
    cuzk_cs_begin(cs, "insert", arity, (uint32_t)(8 + arity * sizeof(fr)));
    cuzk_cs_port_bools(cs, bits, b, lg);
    cuzk_cs_port_nums(cs, cur, &c, 1);
    cuzk_cs_port_nums(cs, others, o, arity - 1);
    if (cuzk_cs_recording(cs)) {
        uint32_t vars[3], refs[MAX_ARITY], outs[MAX_ARITY];
        for (unsigned i = 0; i < lg; i++) {
            vars[i] = b[i].var;
        }
        for (unsigned i = 0; i + 1 < arity; i++) {
            refs[i] = o[i].var;
        }
        cuzk_insertion_rows(cs, arity, outs, vars, c.var, refs);
        for (unsigned i = 0; i < arity; i++) {
            cuzk_cs_output_num(cs, outs[i]);
        }
    }
    cuzk_cs_end(cs, result, arity);
    for (unsigned i = 0; i < arity; i++) {
        out[i] = (cuzk_num){result[i].var, fr_zero};
    }
}
