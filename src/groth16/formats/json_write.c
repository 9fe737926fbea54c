#include "groth16/formats/formats.h"

#include "groth16/formats/decimal.h"

#include <stdlib.h>

#include <jansson.h>

/* Every function here that returns a json_t returns a new reference, or NULL without memory; the
 * functions of jansson that take one accept NULL and then fail. */

static json_t *integer(const uint64_t *limbs, size_t n)
{
    char text[CUZK_DECIMAL_SIZE(6)];
    cuzk_decimal_format(text, limbs, n);
    return json_string(text);
}

static json_t *from_fp(const fp *a)
{
    static const fp one = {{1}}; /* a product with the integer 1 leaves Montgomery form */
    fp t;
    fp_mul(&t, a, &one);
    return integer(t.l, FP_LIMBS);
}

static json_t *from_fp2(const fp2 *a)
{
    return json_pack("[o,o]", from_fp(&a->c0), from_fp(&a->c1));
}

static json_t *from_g1(const g1_affine *a)
{
    bool inf = g1_affine_is_inf(a);
    return json_pack("[o,o,o]", from_fp(&a->x), from_fp(inf ? &fp_one : &a->y),
                     from_fp(inf ? &fp_zero : &fp_one));
}

static json_t *from_g2(const g2_affine *a)
{
    bool inf = g2_affine_is_inf(a);
    return json_pack("[o,o,o]", from_fp2(&a->x), from_fp2(inf ? &fp2_one : &a->y),
                     from_fp2(inf ? &fp2_zero : &fp2_one));
}

static json_t *from_points(const g1_affine *points, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) {
        if (json_array_append_new(array, from_g1(&points[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

typedef struct sink {
    cuzk_file_writer *w;
    cuzk_code code;
    cuzk_err *err;
} sink;

static int put(const char *bytes, size_t n, void *opaque)
{
    sink *s = opaque;
    s->code = cuzk_file_writer_put(s->w, bytes, n, s->err);
    return s->code == CUZK_OK ? 0 : -1;
}

/* Writes a document in the layout of JSON.stringify(document, null, 1), which is snarkjs's, and
 * drops the reference. NULL stands for a document that there was no memory for. */
static cuzk_code write_document(json_t *document, const char *name, cuzk_err *err)
{
    if (!document) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory to make the JSON", name);
    }
    sink s = {.err = err};
    cuzk_code code = cuzk_file_writer_open(&s.w, name, err);
    if (code == CUZK_OK) {
        if (json_dump_callback(document, put, &s, JSON_INDENT(1)) == 0) {
            code = cuzk_file_writer_commit(s.w, err);
        } else {
            code = s.code;
            if (code == CUZK_OK) {
                code = CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory to write the JSON", name);
            }
            cuzk_file_writer_abort(s.w);
        }
    }
    json_decref(document);
    return code;
}

cuzk_code cuzk_vk_json_write(const cuzk_vk *vk, const char *name, cuzk_err *err)
{
    return write_document(
        json_pack("{s:s,s:s,s:I,s:o,s:o,s:o,s:o,s:o}", "protocol", "groth16", "curve", "bls12381",
                  "nPublic", (json_int_t)vk->n_ic - 1, "vk_alpha_1", from_g1(&vk->alpha_g1),
                  "vk_beta_2", from_g2(&vk->beta_g2), "vk_gamma_2", from_g2(&vk->gamma_g2),
                  "vk_delta_2", from_g2(&vk->delta_g2), "IC", from_points(vk->ic, vk->n_ic)),
        name, err);
}

cuzk_code cuzk_proof_json_write(const cuzk_proof *proof, const char *name, cuzk_err *err)
{
    return write_document(json_pack("{s:o,s:o,s:o,s:s,s:s}", "pi_a", from_g1(&proof->a), "pi_b",
                                    from_g2(&proof->b), "pi_c", from_g1(&proof->c), "protocol",
                                    "groth16", "curve", "bls12381"),
                          name, err);
}

cuzk_code cuzk_public_json_write(const fr_repr *inputs, size_t n, const char *name, cuzk_err *err)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) {
        if (json_array_append_new(array, integer(inputs[i].l, FR_LIMBS)) != 0) {
            json_decref(array);
            array = NULL;
            break;
        }
    }
    return write_document(array, name, err);
}
