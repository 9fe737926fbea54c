#include "gadget/merkle.h"

#include "gadget/insertion.h"
#include "gadget/poseidon.h"
#include "gadget/sha256_gadget.h"

enum { MAX_ARITY = 8 };

static uint32_t record_bytes(unsigned arity) { return (uint32_t)(8 + arity * sizeof(fr)); }

/* Appends the record and returns the parent. in[0] is cur, the siblings follow. */
static cuzk_num witness(cuzk_cs *cs, uint32_t param, unsigned arity, uint64_t index, const fr *in)
{
    uint8_t *record = cuzk_cs_record(cs, "step", param);
    if (record) {
        memcpy(record, &index, sizeof index);
        memcpy(record + 8, in, arity * sizeof *in);
    }
    fr children[MAX_ARITY];
    cuzk_insertion_values(children, arity, (unsigned)index, in, in + 1);
    cuzk_num parent = {0, fr_zero};
    poseidon_hash_tree(&parent.v, poseidon_params_of(arity), children);
    return parent;
}

static uint32_t hash_rows(cuzk_cs *cs, unsigned arity, uint32_t cur, const cuzk_bool *bits,
                          const uint32_t *siblings)
{
    uint32_t vars[3], children[MAX_ARITY];
    for (unsigned i = 0; i < cuzk_lg_arity(arity); i++) {
        vars[i] = bits[i].var;
    }
    cuzk_insertion_rows(cs, arity, children, vars, cur, siblings);
    fr tag = poseidon_tag_tree(arity);
    return cuzk_poseidon_rows(cs, poseidon_params_of(arity), &tag, children);
}

cuzk_num cuzk_merkle_step(cuzk_cs *cs, unsigned arity, const cuzk_num *cur, cuzk_bool *bits,
                          unsigned index, const fr *siblings)
{
    unsigned lg = cuzk_lg_arity(arity);
    if (cuzk_cs_is_witness(cs)) {
        fr in[MAX_ARITY];
        in[0] = cur->v;
        memcpy(in + 1, siblings, (arity - 1) * sizeof *in);
        for (unsigned i = 0; i < lg; i++) {
            bits[i] = (cuzk_bool){0, CUZK_IS, index >> i & 1};
        }
        return witness(cs, arity, arity, index, in);
    }
    cuzk_num local;
    cuzk_bool out[4];
    cuzk_cs_begin(cs, "step", arity, record_bytes(arity));
    cuzk_cs_port_nums(cs, cur, &local, 1);
    if (cuzk_cs_recording(cs)) {
        cuzk_bool b[3];
        uint32_t refs[MAX_ARITY];
        cuzk_cs_alloc_bits(cs, b, lg, 0);
        for (unsigned i = 0; i + 1 < arity; i++) {
            refs[i] = cuzk_cs_var(cs, true);
        }
        cuzk_cs_output_num(cs, hash_rows(cs, arity, local.var, b, refs));
        cuzk_cs_output_bools(cs, b, lg);
    }
    cuzk_cs_end(cs, out, 1 + lg);
    memcpy(bits, out + 1, lg * sizeof *bits);
    return (cuzk_num){out[0].var, fr_zero};
}

cuzk_num cuzk_merkle_step_given(cuzk_cs *cs, unsigned arity, const cuzk_num *cur,
                                const cuzk_bool *bits, const cuzk_num *siblings)
{
    unsigned lg = cuzk_lg_arity(arity);
    uint32_t param = arity | CUZK_MERKLE_GIVEN;
    if (cuzk_cs_is_witness(cs)) {
        fr in[MAX_ARITY];
        in[0] = cur->v;
        for (unsigned i = 1; i < arity; i++) {
            in[i] = siblings[i - 1].v;
        }
        return witness(cs, param, arity, cuzk_num_bits_value(bits, lg), in);
    }
    cuzk_num c, s[MAX_ARITY];
    cuzk_bool b[3];
    cuzk_cs_begin(cs, "step", param, record_bytes(arity));
    cuzk_cs_port_nums(cs, cur, &c, 1);
    cuzk_cs_port_bools(cs, bits, b, lg);
    cuzk_cs_port_nums(cs, siblings, s, arity - 1);
    if (cuzk_cs_recording(cs)) {
        uint32_t refs[MAX_ARITY];
        for (unsigned i = 0; i + 1 < arity; i++) {
            refs[i] = s[i].var;
        }
        cuzk_cs_output_num(cs, hash_rows(cs, arity, c.var, b, refs));
    }
    return cuzk_cs_end_num(cs);
}

cuzk_num cuzk_merkle_sha_step(cuzk_cs *cs, const cuzk_num *cur, const cuzk_bool *bit,
                              const cuzk_num *sibling)
{
    cuzk_num children[2];
    cuzk_insertion(cs, 2, children, bit, cur, sibling);
    return cuzk_gadget_sha256_node(cs, &children[0], &children[1]);
}
