#include "patch.h"

#include "base/system.h"
#include "gadget/expand.h"
#include "gadget/merkle.h"
#include "r1cs/digest.h"
#include "r1cs/shape_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A Merkle step, its bits public, and a row: every kind of table is in use. */
static cuzk_shape *base_shape(void)
{
    cuzk_cs *cs = NULL;
    cuzk_shape *s = NULL;
    if (cuzk_cs_new_shape(&cs, "fuzz", NULL) != CUZK_OK) {
        abort();
    }
    fr sibling = fr_zero;
    cuzk_bool bit;
    cuzk_num x = cuzk_cs_alloc(cs, NULL);
    x = cuzk_merkle_step(cs, 2, &x, &bit, 0, &sibling);
    x = cuzk_merkle_step_given(cs, 2, &x, &bit, &x);
    cuzk_num_pack_inputs(cs, &bit, 1);
    cuzk_num_inputize(cs, &x);
    if (cuzk_cs_finish_shape(cs, &s, NULL) != CUZK_OK) {
        abort();
    }
    cuzk_cs_free(cs);
    return s;
}

/* What passed the checks must be safe to use. */
static void use(const cuzk_shape *s)
{
    cuzk_shape_counts counts;
    uint8_t digest[32];
    cuzk_ports ports = {calloc(s->n_inputs, sizeof(fr)), calloc(cuzk_shape_record_bytes(s) + 1, 1)};
    fr *rows = malloc((cuzk_shape_rows(s) + 1) * sizeof *rows);
    cuzk_packed p;
    if (ports.inputs && ports.records && rows) {
        cuzk_shape_count(s, &counts, NULL);
        cuzk_shape_digest(s, digest, NULL);
        if (cuzk_expand(&p, s, &ports, NULL, NULL) == CUZK_OK) {
            cuzk_packed_eval(&p, s, 0, 0, s->n_instances, rows, NULL, NULL);
            cuzk_packed_clear(&p);
        }
    }
    cuzk_ports_clear(&ports);
    free(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static cuzk_shape *base;
    base = base ? base : base_shape();
    size_t n;
    uint8_t *file = patched(data, size, base->image.p, base->image.n, &n);
    uint8_t *bytes = file ? aligned_alloc(64, (n + 32 + 63) / 64 * 64) : NULL;
    cuzk_shape *s = NULL;
    cuzk_err err;
    if (bytes) {
        /* A checksum that fits, so that the checks behind it are reached. */
        memcpy(bytes, file, n);
        if (cuzk_sha256(bytes + n, bytes, n, NULL) != CUZK_OK) {
            abort();
        }
        if (cuzk_shape_parse(&s, (cuzk_span){bytes, n + 32}, "fuzz", NULL, &err) == CUZK_OK) {
            if (cuzk_shape_aux(s) < 1 << 16 && cuzk_shape_rows(s) < 1 << 16 &&
                cuzk_shape_record_bytes(s) < 1 << 20 && s->n_inputs < 1 << 16) {
                use(s);
            }
            cuzk_shape_free(s);
        } else if (err.code != CUZK_E_INPUT) {
            abort();
        }
    }
    free(bytes);
    free(file);
    return 0;
}
