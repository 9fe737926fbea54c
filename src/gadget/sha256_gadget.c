#include "gadget/sha256_gadget.h"

#include "base/sha256.h"
#include "gadget/uint32.h"

enum { RECORD = 96 };

/* Where bit j of word i of a big-endian string of words stands among the string's bits. */
static unsigned bit_of_word(unsigned i, unsigned j) { return 8 * (4 * i + 3 - j / 8) + j % 8; }

static cuzk_word sigma(cuzk_cs *cs, const cuzk_word *a, unsigned r1, unsigned r2, unsigned r3,
                       bool shift)
{
    cuzk_word x = cuzk_word_rotr(a, r1);
    cuzk_word y = cuzk_word_rotr(a, r2);
    cuzk_word z = shift ? cuzk_word_shr(a, r3) : cuzk_word_rotr(a, r3);
    x = cuzk_word_xor(cs, &x, &y);
    return cuzk_word_xor(cs, &x, &z);
}

static void schedule(cuzk_cs *cs, cuzk_multieq *m, cuzk_word w[64])
{
    for (unsigned i = 16; i < 64; i++) {
        cuzk_word ops[4];
        ops[0] = w[i - 16];
        ops[2] = w[i - 7];
        ops[1] = sigma(cs, &w[i - 15], 7, 18, 3, true);
        ops[3] = sigma(cs, &w[i - 2], 17, 19, 10, true);
        w[i] = cuzk_word_add(cs, m, ops, 4);
    }
}

/* The words a and e are sums that are only written when they are read: until then they are lists.
 */
typedef struct late {
    cuzk_word ops[8];
    size_t n; /* 1: already one word */
} late;

static cuzk_word concrete(cuzk_cs *cs, cuzk_multieq *m, const late *l)
{
    return l->n == 1 ? l->ops[0] : cuzk_word_add(cs, m, l->ops, l->n);
}

static void rounds(cuzk_cs *cs, cuzk_multieq *m, const cuzk_word w[64], cuzk_word state[8])
{
    cuzk_word v[8];
    memcpy(v, state, sizeof v);
    late a = {{v[0]}, 1};
    late e = {{v[4]}, 1};
    for (unsigned i = 0; i < 64; i++) {
        v[4] = concrete(cs, m, &e);
        cuzk_word temp[5];
        temp[0] = v[7];
        temp[3] = cuzk_word_const(cuzk_sha256_k[i]);
        temp[4] = w[i];
        temp[1] = sigma(cs, &v[4], 6, 11, 25, false);
        temp[2] = cuzk_word_ch(cs, &v[4], &v[5], &v[6]);
        v[0] = concrete(cs, m, &a);
        a.ops[5] = sigma(cs, &v[0], 2, 13, 22, false);
        a.ops[6] = cuzk_word_maj(cs, &v[0], &v[1], &v[2]);
        a.n = 7;
        e.ops[5] = v[3];
        e.n = 6;
        memcpy(a.ops, temp, sizeof temp);
        memcpy(e.ops, temp, sizeof temp);
        memmove(v + 1, v, 7 * sizeof *v); /* places 0 and 4 are filled at the top */
    }
    a.ops[a.n++] = state[0];
    e.ops[e.n++] = state[4];
    for (unsigned i = 0; i < 8; i++) {
        cuzk_word pair[2] = {state[i], v[i]};
        state[i] = i == 0   ? cuzk_word_add(cs, m, a.ops, a.n)
                   : i == 4 ? cuzk_word_add(cs, m, e.ops, e.n)
                            : cuzk_word_add(cs, m, pair, 2);
    }
}

static void record(cuzk_cs *cs, const cuzk_bool *state, const cuzk_bool *block)
{
    cuzk_word w[64], s[8];
    for (unsigned i = 0; i < 16; i++) {
        for (unsigned j = 0; j < 32; j++) {
            w[i].b[j] = block[bit_of_word(i, j)];
        }
    }
    memcpy(s, state, sizeof s);
    cuzk_multieq m = {0};
    schedule(cs, &m, w);
    rounds(cs, &m, w, s);
    cuzk_multieq_flush(cs, &m);
    cuzk_cs_output_bools(cs, s[0].b, CUZK_SHA256_STATE_BITS);
}

static void witness(cuzk_cs *cs, cuzk_bool *state, const cuzk_bool *block)
{
    uint32_t s[8];
    uint8_t bytes[64];
    for (unsigned i = 0; i < 8; i++) {
        s[i] = (uint32_t)cuzk_num_bits_value(state + 32 * i, 32);
    }
    for (unsigned i = 0; i < 64; i++) {
        bytes[i] = (uint8_t)cuzk_num_bits_value(block + 8 * i, 8);
    }
    uint8_t *r = cuzk_cs_record(cs, "sha256", 0);
    if (r) {
        memcpy(r, s, sizeof s);
        memcpy(r + sizeof s, bytes, sizeof bytes);
    }
    cuzk_sha256_compress(s, bytes, 1);
    for (unsigned i = 0; i < CUZK_SHA256_STATE_BITS; i++) {
        state[i] = (cuzk_bool){0, CUZK_IS, s[i / 32] >> (i % 32) & 1};
    }
}

void cuzk_gadget_sha256_block(cuzk_cs *cs, cuzk_bool state[CUZK_SHA256_STATE_BITS],
                              const cuzk_bool block[CUZK_SHA256_BLOCK_BITS])
{
    if (cuzk_cs_is_witness(cs)) {
        witness(cs, state, block);
        return;
    }
    cuzk_bool s[CUZK_SHA256_STATE_BITS], b[CUZK_SHA256_BLOCK_BITS];
    cuzk_cs_begin(cs, "sha256", 0, RECORD);
    cuzk_cs_port_bools(cs, state, s, CUZK_SHA256_STATE_BITS);
    cuzk_cs_port_bools(cs, block, b, CUZK_SHA256_BLOCK_BITS);
    if (cuzk_cs_recording(cs)) {
        record(cs, s, b);
    }
    cuzk_cs_end(cs, state, CUZK_SHA256_STATE_BITS);
}

static void put_const_byte(cuzk_bool *bits, uint8_t v)
{
    for (unsigned j = 0; j < 8; j++) {
        bits[j] = cuzk_bool_const(v >> j & 1);
    }
}

/* The byte of the padding of n bits at bit `at` of the padded message. */
static uint8_t padding(size_t n, size_t at, size_t from_end)
{
    if (at == n) {
        return 0x80;
    }
    return (uint8_t)(from_end <= 64 ? n >> (from_end - 8) : 0);
}

void cuzk_gadget_sha256(cuzk_cs *cs, cuzk_bool ret[CUZK_SHA256_DIGEST_BITS], const cuzk_bool *bits,
                        size_t n)
{
    cuzk_bool state[CUZK_SHA256_STATE_BITS], block[CUZK_SHA256_BLOCK_BITS];
    for (unsigned i = 0; i < CUZK_SHA256_STATE_BITS; i++) {
        state[i] = cuzk_bool_const(cuzk_sha256_iv[i / 32] >> (i % 32) & 1);
    }
    size_t blocks = (n + 8 + 64 + CUZK_SHA256_BLOCK_BITS - 1) / CUZK_SHA256_BLOCK_BITS;
    for (size_t k = 0; k < blocks; k++) {
        for (size_t i = 0; i < CUZK_SHA256_BLOCK_BITS; i += 8) {
            size_t at = k * CUZK_SHA256_BLOCK_BITS + i;
            size_t from_end =
                blocks * CUZK_SHA256_BLOCK_BITS - at; /* the length takes the last 64 bits */
            if (at < n) {
                memcpy(block + i, bits + at, 8 * sizeof *block);
            } else {
                put_const_byte(block + i, padding(n, at, from_end));
            }
        }
        cuzk_gadget_sha256_block(cs, state, block);
    }
    for (unsigned i = 0; i < CUZK_SHA256_STATE_BITS; i++) {
        ret[bit_of_word(i / 32, i % 32)] = state[i];
    }
}

void cuzk_gadget_sha256_num_bits(cuzk_cs *cs, cuzk_bool ret[256], const cuzk_num *x)
{
    cuzk_num_to_bits(cs, ret, x, CUZK_UNPACK_DIFFERENCE);
    ret[255] = cuzk_bool_const(false);
}

cuzk_num cuzk_gadget_sha256_node(cuzk_cs *cs, const cuzk_num *left, const cuzk_num *right)
{
    cuzk_bool bits[512], digest[CUZK_SHA256_DIGEST_BITS];
    cuzk_gadget_sha256_num_bits(cs, bits, left);
    cuzk_gadget_sha256_num_bits(cs, bits + 256, right);
    cuzk_gadget_sha256(cs, digest, bits, 512);
    return cuzk_num_pack(cs, digest, CUZK_PACK_BITS);
}
