#include "r1cs/digest.h"

#include <openssl/evp.h>
#include <stdlib.h>

enum { BUFFER = 1 << 16, TERM_BYTES = 41 };

typedef struct hasher {
    EVP_MD_CTX *md;
    bool failed;
    size_t n;
    uint8_t (*coeffs)[32]; /* the dictionary, big-endian */
    cuzk_var *vars;        /* of the references of the instance at hand */
    uint64_t *terms;       /* of the row at hand: sort key << 32 | coefficient */
    uint8_t buffer[BUFFER];
} hasher;

static void put_u64be(uint8_t *p, uint64_t v)
{
    v = __builtin_bswap64(v);
    memcpy(p, &v, sizeof v);
}

static uint8_t *room(hasher *h, size_t n)
{
    if (h->n + n > BUFFER) {
        h->failed |= EVP_DigestUpdate(h->md, h->buffer, h->n) != 1;
        h->n = 0;
    }
    uint8_t *p = h->buffer + h->n;
    h->n += n;
    return p;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* References ascend, and an instance's own variables come after all others: only ports may stand in
 * another order than their variables. */
static void put_combination(hasher *h, const uint32_t *terms, uint32_t n)
{
    put_u64be(room(h, 8), n);
    bool sorted = true;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t key = h->vars[cuzk_term_ref(terms[i])] ^ CUZK_VAR_INPUT; /* inputs first */
        h->terms[i] = key << 32 | cuzk_term_coeff(terms[i]);
        sorted = sorted && (i == 0 || h->terms[i - 1] < h->terms[i]);
    }
    if (!sorted) {
        qsort(h->terms, n, sizeof *h->terms, ascending);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint8_t *p = room(h, TERM_BYTES);
        uint32_t key = (uint32_t)(h->terms[i] >> 32);
        p[0] = key & CUZK_VAR_INPUT ? 'A' : 'I';
        put_u64be(p + 1, key & ~CUZK_VAR_INPUT);
        memcpy(p + 9, h->coeffs[(uint32_t)h->terms[i]], 32);
    }
}

static void put_instance(hasher *h, const cuzk_shape *s, uint32_t i)
{
    const cuzk_template *t = cuzk_shape_template(s, &s->instances[i]);
    cuzk_instance_vars(s, i, h->vars);
    for (uint32_t row = 0; row < t->n_rows; row++) {
        for (unsigned m = 0; m < 3; m++) {
            const uint32_t *offset = s->offsets + t->offsets[m] + row;
            put_combination(h, s->terms + offset[0], offset[1] - offset[0]);
        }
    }
}

static bool run(hasher *h, const cuzk_shape *s, uint8_t ret[32])
{
    for (uint32_t k = 0; k < s->n_coeffs; k++) {
        uint8_t le[32];
        fr_to_bytes(le, &s->dictionary[k]);
        for (int b = 0; b < 32; b++) {
            h->coeffs[k][b] = le[31 - b];
        }
    }
    h->failed = EVP_DigestInit_ex(h->md, EVP_blake2s256(), NULL) != 1;
    put_u64be(room(h, 8), s->n_inputs);
    put_u64be(room(h, 8), cuzk_shape_aux(s));
    put_u64be(room(h, 8), cuzk_shape_rows(s));
    for (uint32_t i = 0; i < s->n_instances && !h->failed; i++) {
        put_instance(h, s, i);
    }
    return !h->failed && EVP_DigestUpdate(h->md, h->buffer, h->n) == 1 &&
           EVP_DigestFinal_ex(h->md, ret, NULL) == 1;
}

cuzk_code cuzk_shape_digest(const cuzk_shape *s, uint8_t ret[32], cuzk_err *err)
{
    cuzk_code code = CUZK_OK;
    uint8_t digest[32];
    hasher *h = calloc(1, sizeof *h);
    if (h) {
        h->md = EVP_MD_CTX_new();
        h->coeffs = malloc(s->n_coeffs * sizeof *h->coeffs);
        h->vars = malloc((CUZK_TEMPLATE_REFS_MAX + 1) * sizeof *h->vars);
        h->terms = malloc((CUZK_TEMPLATE_REFS_MAX + 1) * sizeof *h->terms);
    }
    if (!h || !h->md || !h->coeffs || !h->vars || !h->terms) {
        code = CUZK_FAIL(err, CUZK_E_MEMORY, "no memory to digest %s", s->name);
    } else if (!run(h, s, digest)) {
        code = CUZK_FAIL(err, CUZK_E_INTERNAL, "BLAKE2s-256 of libcrypto failed");
    } else {
        memcpy(ret, digest, sizeof digest);
    }
    if (h) {
        EVP_MD_CTX_free(h->md);
        free(h->coeffs);
        free(h->vars);
        free(h->terms);
        free(h);
    }
    return code;
}
