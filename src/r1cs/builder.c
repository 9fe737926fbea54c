#include "r1cs/r1cs.h"

#include "base/system.h"

#include <stdlib.h>

/* A term of the open row. */
typedef struct term {
    uint32_t var;
    fr coeff;
} term;

/* One matrix as it grows. */
typedef struct growing {
    uint64_t *row;
    size_t row_cap;
    uint32_t *var, *coeff; /* the closed rows' terms */
    size_t n, cap;
    term *open; /* the open row's terms, in the order of the calls */
    size_t n_open, open_cap;
    bool sorted; /* the open row's variables increase */
} growing;

/* Which index of the dictionary holds a value: open addressing, a power of two of slots. The hash
 * is keyed, so that a file cannot be made whose coefficients all meet in one slot. */
typedef struct coeff_table {
    uint32_t *slot; /* index + 1, 0 when free */
    size_t n_slots; /* at least twice the dictionary's size */
    uint64_t key[FR_LIMBS];
} coeff_table;

struct cuzk_r1cs_builder {
    uint32_t n_inputs, n_aux;
    uint64_t n_rows;
    growing m[3];
    fr *dictionary;
    size_t n_coeffs, dictionary_cap;
    coeff_table table;
};

static cuzk_code no_memory(const cuzk_r1cs_builder *b, cuzk_err *err)
{
    return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for constraint %llu",
                     (unsigned long long)b->n_rows);
}

/* Makes room for `need` elements of `size` bytes by growing half as large again; false when there
 * is no memory, with the array as it was. */
static bool grow(void **array, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap) {
        return true;
    }
    size_t want = *cap + *cap / 2 + 16;
    want = want < need ? need : want;
    void *bigger = want <= SIZE_MAX / size ? realloc(*array, want * size) : NULL;
    if (!bigger) {
        return false;
    }
    *array = bigger;
    *cap = want;
    return true;
}

/* Room for `more` closed terms; var and coeff grow as one. */
static bool grow_terms(growing *m, size_t more)
{
    size_t cap = m->cap;
    if (m->n + more <= cap) {
        return true;
    }
    if (!grow((void **)&m->var, &cap, m->n + more, sizeof *m->var)) {
        return false;
    }
    uint32_t *coeff = realloc(m->coeff, cap * sizeof *coeff);
    if (!coeff) {
        return false; /* var is larger than cap says, which does no harm */
    }
    m->coeff = coeff;
    m->cap = cap;
    return true;
}

static uint64_t fold(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 p = (unsigned __int128)a * b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static size_t slot_of(const coeff_table *t, const fr *v)
{
    uint64_t h = fold(v->l[0] ^ t->key[0], v->l[1] ^ t->key[1]) ^
                 fold(v->l[2] ^ t->key[2], v->l[3] ^ t->key[3]);
    return (size_t)h & (t->n_slots - 1);
}

static bool rehash(cuzk_r1cs_builder *b, size_t n_slots)
{
    uint32_t *slot = calloc(n_slots, sizeof *slot);
    if (!slot) {
        return false;
    }
    free(b->table.slot);
    b->table.slot = slot;
    b->table.n_slots = n_slots;
    for (size_t i = 0; i < b->n_coeffs; i++) {
        size_t s = slot_of(&b->table, &b->dictionary[i]);
        while (slot[s]) {
            s = (s + 1) & (n_slots - 1);
        }
        slot[s] = (uint32_t)i + 1;
    }
    return true;
}

/* *ret = the index of v in the dictionary, where it is put if it is new. */
static cuzk_code intern(cuzk_r1cs_builder *b, const fr *v, uint32_t *ret, cuzk_err *err)
{
    coeff_table *t = &b->table;
    size_t s = slot_of(t, v);
    while (t->slot[s]) {
        if (fr_eq(&b->dictionary[t->slot[s] - 1], v)) {
            *ret = t->slot[s] - 1;
            return CUZK_OK;
        }
        s = (s + 1) & (t->n_slots - 1);
    }
    if (b->n_coeffs >= UINT32_MAX - 1) {
        return CUZK_FAIL(err, CUZK_E_UNSUPPORTED,
                         "a constraint system of more than %u distinct coefficients",
                         UINT32_MAX - 1);
    }
    if (!grow((void **)&b->dictionary, &b->dictionary_cap, b->n_coeffs + 1,
              sizeof *b->dictionary)) {
        return no_memory(b, err);
    }
    b->dictionary[b->n_coeffs++] = *v;
    t->slot[s] = (uint32_t)b->n_coeffs;
    *ret = (uint32_t)b->n_coeffs - 1;
    if (2 * b->n_coeffs > t->n_slots && !rehash(b, 2 * t->n_slots)) {
        return no_memory(b, err);
    }
    return CUZK_OK;
}

static cuzk_code start(cuzk_r1cs_builder *b, cuzk_err *err)
{
    CUZK_TRY(cuzk_random_bytes(b->table.key, sizeof b->table.key, err));
    if (!rehash(b, 64)) {
        return no_memory(b, err);
    }
    fr minus_one;
    fr_neg(&minus_one, &fr_one);
    uint32_t index;
    CUZK_TRY(intern(b, &fr_one, &index, err)); /* CUZK_R1CS_COEFF_ONE */
    CUZK_TRY(intern(b, &minus_one, &index, err));
    for (size_t i = 0; i < 3; i++) {
        growing *m = &b->m[i];
        m->sorted = true;
        if (!grow((void **)&m->row, &m->row_cap, 1, sizeof *m->row) || !grow_terms(m, 1)) {
            return no_memory(b, err);
        }
        m->row[0] = 0;
    }
    return CUZK_OK;
}

cuzk_code cuzk_r1cs_builder_new(cuzk_r1cs_builder **ret, uint32_t n_inputs, uint32_t n_aux,
                                cuzk_err *err)
{
    if (n_inputs == 0 || n_aux > UINT32_MAX - n_inputs) {
        return CUZK_FAIL(err, CUZK_E_ARG, "a constraint system of %u inputs and %u other variables",
                         n_inputs, n_aux);
    }
    cuzk_r1cs_builder *b = calloc(1, sizeof *b);
    if (!b) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a constraint system");
    }
    b->n_inputs = n_inputs;
    b->n_aux = n_aux;
    cuzk_code code = start(b, err);
    if (code != CUZK_OK) {
        cuzk_r1cs_builder_free(b);
        return code;
    }
    *ret = b;
    return CUZK_OK;
}

void cuzk_r1cs_builder_free(cuzk_r1cs_builder *b)
{
    if (!b) {
        return;
    }
    for (size_t i = 0; i < 3; i++) {
        free(b->m[i].row);
        free(b->m[i].var);
        free(b->m[i].coeff);
        free(b->m[i].open);
    }
    free(b->dictionary);
    free(b->table.slot);
    free(b);
}

cuzk_code cuzk_r1cs_builder_term(cuzk_r1cs_builder *b, cuzk_matrix which, uint32_t var,
                                 const fr *coeff, cuzk_err *err)
{
    if (var >= b->n_inputs + b->n_aux) {
        return CUZK_FAIL(err, CUZK_E_ARG,
                         "constraint %llu: variable %u is out of range, there are %u",
                         (unsigned long long)b->n_rows, var, b->n_inputs + b->n_aux);
    }
    growing *m = &b->m[which];
    if (!grow((void **)&m->open, &m->open_cap, m->n_open + 1, sizeof *m->open)) {
        return no_memory(b, err);
    }
    if (m->n_open > 0 && var <= m->open[m->n_open - 1].var) {
        m->sorted = false;
    }
    m->open[m->n_open++] = (term){var, *coeff};
    return CUZK_OK;
}

static int by_var(const void *a, const void *b)
{
    uint32_t x = ((const term *)a)->var;
    uint32_t y = ((const term *)b)->var;
    return (x > y) - (x < y);
}

/* Sorts the open row and sums the terms of each variable. */
static void merge(growing *m)
{
    qsort(m->open, m->n_open, sizeof *m->open, by_var);
    size_t n = 0;
    for (size_t i = 0; i < m->n_open; i++) {
        if (n > 0 && m->open[n - 1].var == m->open[i].var) {
            fr_add(&m->open[n - 1].coeff, &m->open[n - 1].coeff, &m->open[i].coeff);
        } else {
            m->open[n++] = m->open[i];
        }
    }
    m->n_open = n;
    m->sorted = true;
}

/* Appends the open row's terms to the closed ones; m->n is set by the caller once all matrices
 * are through, so that a failure leaves the row open. */
static cuzk_code close_matrix(cuzk_r1cs_builder *b, growing *m, size_t *ret_n, cuzk_err *err)
{
    if (!m->sorted) {
        merge(m);
    }
    if (!grow_terms(m, m->n_open) ||
        !grow((void **)&m->row, &m->row_cap, (size_t)b->n_rows + 2, sizeof *m->row)) {
        return no_memory(b, err);
    }
    size_t n = m->n;
    for (size_t i = 0; i < m->n_open; i++) {
        if (fr_is_zero(&m->open[i].coeff)) {
            continue;
        }
        m->var[n] = m->open[i].var;
        CUZK_TRY(intern(b, &m->open[i].coeff, &m->coeff[n], err));
        n++;
    }
    *ret_n = n;
    return CUZK_OK;
}

cuzk_code cuzk_r1cs_builder_end_row(cuzk_r1cs_builder *b, cuzk_err *err)
{
    size_t n[3];
    for (size_t i = 0; i < 3; i++) {
        CUZK_TRY(close_matrix(b, &b->m[i], &n[i], err));
    }
    b->n_rows++;
    for (size_t i = 0; i < 3; i++) {
        b->m[i].n = n[i];
        b->m[i].n_open = 0;
        b->m[i].row[b->n_rows] = n[i];
    }
    return CUZK_OK;
}

/* Gives back what an array has too much; keeps it when that fails. */
static void *trimmed(void *array, size_t n, size_t size)
{
    void *smaller = realloc(array, (n ? n : 1) * size);
    return smaller ? smaller : array;
}

static void move_matrix(cuzk_csr *csr, growing *m, uint64_t n_rows)
{
    csr->row = trimmed(m->row, (size_t)n_rows + 1, sizeof *m->row);
    csr->var = trimmed(m->var, m->n, sizeof *m->var);
    csr->coeff = trimmed(m->coeff, m->n, sizeof *m->coeff);
    m->row = NULL;
    m->var = NULL;
    m->coeff = NULL;
}

cuzk_code cuzk_r1cs_builder_finish(cuzk_r1cs_builder *b, cuzk_r1cs **ret, cuzk_err *err)
{
    for (size_t i = 0; i < 3; i++) {
        if (b->m[i].n_open > 0) {
            return CUZK_FAIL(err, CUZK_E_ARG, "constraint %llu was begun and not ended",
                             (unsigned long long)b->n_rows);
        }
    }
    if (!b->dictionary) {
        return CUZK_FAIL(err, CUZK_E_ARG, "the constraint system was finished before");
    }
    cuzk_r1cs *r = calloc(1, sizeof *r);
    if (!r) {
        return no_memory(b, err);
    }
    r->n_inputs = b->n_inputs;
    r->n_aux = b->n_aux;
    r->n_rows = b->n_rows;
    r->has_c = true;
    r->n_coeffs = (uint32_t)b->n_coeffs;
    r->dictionary = trimmed(b->dictionary, b->n_coeffs, sizeof *b->dictionary);
    b->dictionary = NULL;
    move_matrix(&r->a, &b->m[0], b->n_rows);
    move_matrix(&r->b, &b->m[1], b->n_rows);
    move_matrix(&r->c, &b->m[2], b->n_rows);
    *ret = r;
    return CUZK_OK;
}
