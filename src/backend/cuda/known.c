/* The proof that a device makes before it is trusted with others. */
#include "backend/cuda/prove.h"
#include "base/system.h"
#include "gadget/insertion.h"
#include "gadget/merkle.h"
#include "gadget/poseidon.h"
#include "gadget/sha256_gadget.h"

#include <string.h>

/* A level of a tree and an insertion of one arity. */
static cuzk_num climb(cuzk_cs *cs, unsigned arity, cuzk_num cur)
{
    cuzk_bool bits[3];
    cuzk_num in[8], out[8];
    fr siblings[7];
    for (unsigned i = 0; i + 1 < arity; i++) {
        siblings[i] = fr_from_u64(1000 * arity + i);
    }
    cur = cuzk_merkle_step(cs, arity, &cur, bits, 1, siblings);
    cuzk_cs_alloc_n(cs, in, arity, (fr[8]){fr_one, cur.v, fr_zero, fr_one, cur.v, fr_one});
    cuzk_insertion(cs, arity, out, bits, &in[0], &in[1]);
    return cuzk_poseidon(cs, CUZK_TAG_TREE, arity, out);
}

/* Every kind of gadget, each variable in a row. */
static void circuit(cuzk_cs *cs)
{
    cuzk_bool bits[64], digest[CUZK_SHA256_DIGEST_BITS], unpacked[CUZK_NUM_BITS];
    cuzk_num picked[2], columns[11];
    fr five = fr_from_u64(5);
    cuzk_num x = cuzk_cs_input(cs, &five);
    cuzk_cs_alloc_bits(cs, bits, 64, 0x0123456789abcdefu);
    cuzk_gadget_sha256(cs, digest, bits, 64);
    cuzk_num packed = cuzk_num_pack(cs, digest, CUZK_PACK_BITS);
    cuzk_num_to_bits(cs, unpacked, &packed, CUZK_UNPACK_EQUAL);
    cuzk_num_pick_n(cs, picked, &bits[0], (cuzk_num[2]){x, packed}, (cuzk_num[2]){packed, x}, 2);
    cuzk_num sum = cuzk_num_add(cs, &picked[0], &picked[1]);
    sum = climb(cs, 2, sum);
    sum = climb(cs, 4, sum);
    sum = climb(cs, 8, sum);
    for (int i = 0; i < 11; i++) {
        columns[i] = cuzk_num_add(cs, &sum, i ? &columns[i - 1] : &x);
    }
    sum = cuzk_poseidon(cs, CUZK_TAG_TREE, 11, columns);
    cuzk_num_inputize(cs, &sum);
}

static cuzk_code make_shape(cuzk_shape **ret, cuzk_err *err)
{
    cuzk_cs *cs;
    CUZK_TRY(cuzk_cs_new_shape(&cs, "known-answer", err));
    circuit(cs);
    cuzk_code code = cuzk_cs_finish_shape(cs, ret, err);
    cuzk_cs_free(cs);
    return code;
}

static cuzk_code make_ports(cuzk_ports *ret, const cuzk_shape *shape, cuzk_err *err)
{
    cuzk_cs *cs;
    CUZK_TRY(cuzk_cs_new_witness(&cs, shape, err));
    circuit(cs);
    cuzk_code code = cuzk_cs_finish_witness(cs, ret, err);
    cuzk_cs_free(cs);
    return code;
}

static cuzk_code verify(const cuzk_vk *vk, const uint8_t bytes[CUZK_PROOF_BYTES],
                        const cuzk_ports *ports, cuzk_err *err)
{
    cuzk_verifier *v;
    cuzk_proof proof;
    cuzk_pool *pool;
    fr_repr inputs[2];
    fr_to_repr(&inputs[0], &ports->inputs[1]);
    fr_to_repr(&inputs[1], &ports->inputs[2]);
    CUZK_TRY(cuzk_proof_decode(&proof, bytes, "the device's proof", 0, err));
    CUZK_TRY(cuzk_verifier_new(&v, vk, err));
    cuzk_code code = cuzk_pool_new(&pool, 1, err);
    if (code == CUZK_OK) {
        code = cuzk_verify(v, &proof, inputs, 2, pool, err);
        cuzk_pool_free(pool);
    }
    cuzk_verifier_free(v);
    return code;
}

static cuzk_code prove_ports(cuzk_cuda_prover *p, const cuzk_shape *shape, const cuzk_ports *ports,
                             cuzk_err *err)
{
    cuzk_partition_result result;
    cuzk_partition_task task = {
        .circuit = "known-answer",
        .inputs = {(const uint8_t *)ports->inputs, shape->n_inputs * sizeof(fr)},
        .records = {ports->records, cuzk_shape_record_bytes(shape)},
        .r = {3},
        .s = {4},
    };
    cuzk_code code = cuzk_cuda_prove(p, &result, &task, err);
    if (code == CUZK_OK) {
        code = verify(&cuzk_cuda_prover_key(p)->vk, result.proof, ports, err);
    }
    return code;
}

cuzk_code cuzk_cuda_known_answer(cuzk_cuda_memory *m, cuzk_err *err)
{
    cuzk_trapdoor trapdoor;
    cuzk_shape *shape;
    cuzk_cuda_prover *p;
    cuzk_ports ports;
    cuzk_load_times times;
    cuzk_err why = {0};
    CUZK_TRY(cuzk_trapdoor_named(&trapdoor, "known-answer", err));
    CUZK_TRY(make_shape(&shape, err));
    cuzk_code code = cuzk_cuda_prover_setup(&p, shape, &trapdoor, m, &times, &why);
    if (code != CUZK_OK) {
        cuzk_shape_free(shape);
    } else {
        code = make_ports(&ports, shape, &why);
        if (code == CUZK_OK) {
            code = prove_ports(p, shape, &ports, &why);
            cuzk_ports_clear(&ports);
        }
        cuzk_cuda_prover_free(p);
    }
    if (code == CUZK_E_INPUT || code == CUZK_E_INVALID) {
        return CUZK_FAIL(err, CUZK_E_INTERNAL, "the device's proof of a known circuit is wrong: %s",
                         why.msg);
    }
    if (code != CUZK_OK && err) {
        *err = why;
    }
    return code;
}
