#include "r1cs/shape_file.h"

#include <stdlib.h>

#include "base/system.h"
#include "r1cs/shape_check.h"

static const char magic[8] = "cuzkshp";
enum { BYTE_ORDER_MARK = 0x01020304, ALIGN = 64, DIGEST = 32 };

typedef struct header {
    char magic[8];
    uint32_t version, byte_order;
    char name[CUZK_SHAPE_NAME_MAX];
    uint32_t n_inputs, n_templates, n_instances, n_runs, n_offsets, n_terms, n_class_words;
    uint32_t plan_bytes, n_coeffs;
    uint8_t zero[256 - 16 - CUZK_SHAPE_NAME_MAX - 36];
} header;
_Static_assert(sizeof(header) == 256, "the header is 256 bytes");
_Static_assert(sizeof(cuzk_template) == 80 && sizeof(cuzk_instance) == 24 && sizeof(cuzk_run) == 12,
               "the layout of the file");

enum { SECTIONS = 8 };

/* Where each array of a shape stands in its block. */
typedef struct section {
    const void **array;
    uint64_t bytes, at;
} section;

/* Lists the arrays of s by its counts; returns the size of the block. */
static uint64_t lay_out(cuzk_shape *s, section out[SECTIONS])
{
    const section all[SECTIONS] = {
        {(const void **)&s->templates, s->n_templates * (uint64_t)sizeof *s->templates, 0},
        {(const void **)&s->instances, (s->n_instances + (uint64_t)1) * sizeof *s->instances, 0},
        {(const void **)&s->runs, s->n_runs * (uint64_t)sizeof *s->runs, 0},
        {(const void **)&s->offsets, s->n_offsets * (uint64_t)sizeof *s->offsets, 0},
        {(const void **)&s->terms, s->n_terms * (uint64_t)sizeof *s->terms, 0},
        {(const void **)&s->classes, s->n_class_words * (uint64_t)sizeof *s->classes, 0},
        {(const void **)&s->plans, s->plan_bytes, 0},
        {(const void **)&s->dictionary, s->n_coeffs * (uint64_t)sizeof *s->dictionary, 0},
    };
    uint64_t at = sizeof(header);
    for (int i = 0; i < SECTIONS; i++) {
        out[i] = all[i];
        out[i].at = at;
        at = (at + all[i].bytes + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
    }
    return at;
}

static void point_into(section sections[SECTIONS], const uint8_t *block)
{
    for (int i = 0; i < SECTIONS; i++) {
        *sections[i].array = block + sections[i].at;
    }
}

cuzk_code cuzk_shape_assemble(cuzk_shape **ret, const cuzk_shape *parts, cuzk_err *err)
{
    section sections[SECTIONS];
    cuzk_shape *s = malloc(sizeof *s);
    uint8_t *block = NULL;
    if (s) {
        *s = *parts;
        uint64_t size = lay_out(s, sections);
        block = aligned_alloc(ALIGN, size);
        s->image = (cuzk_span){block, size};
        s->owned = block;
        s->map = (cuzk_file_map){0};
    }
    if (!block) {
        free(s);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the constraint system %s", parts->name);
    }
    memset(block, 0, s->image.n);
    header h = {.version = CUZK_SHAPE_VERSION,
                .byte_order = BYTE_ORDER_MARK,
                .n_inputs = s->n_inputs,
                .n_templates = s->n_templates,
                .n_instances = s->n_instances,
                .n_runs = s->n_runs,
                .n_offsets = s->n_offsets,
                .n_terms = s->n_terms,
                .n_class_words = s->n_class_words,
                .plan_bytes = s->plan_bytes,
                .n_coeffs = s->n_coeffs};
    memcpy(h.magic, magic, sizeof magic);
    memcpy(h.name, s->name, sizeof h.name);
    memcpy(block, &h, sizeof h);
    for (int i = 0; i < SECTIONS; i++) {
        if (sections[i].bytes) {
            memcpy(block + sections[i].at, *sections[i].array, sections[i].bytes);
        }
    }
    point_into(sections, block);
    *ret = s;
    return CUZK_OK;
}

cuzk_code cuzk_shape_save(const cuzk_shape *s, const char *file, cuzk_err *err)
{
    uint8_t digest[DIGEST];
    CUZK_TRY(cuzk_sha256(digest, s->image.p, s->image.n, err));
    cuzk_file_writer *w = NULL;
    CUZK_TRY(cuzk_file_writer_open(&w, file, err));
    cuzk_code code = cuzk_file_writer_put(w, s->image.p, s->image.n, err);
    if (code == CUZK_OK) {
        code = cuzk_file_writer_put(w, digest, sizeof digest, err);
    }
    if (code != CUZK_OK) {
        cuzk_file_writer_abort(w);
        return code;
    }
    return cuzk_file_writer_commit(w, err);
}

static cuzk_code check_header(const header *h, const char *file, const char *name, cuzk_err *err)
{
    if (memcmp(h->magic, magic, sizeof magic) != 0) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: offset 0: no constraint system: want magic %s",
                         file, magic);
    }
    if (h->version != CUZK_SHAPE_VERSION || h->byte_order != BYTE_ORDER_MARK) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset 8: version %u, byte order %08x: want version %d, %08x", file,
                         h->version, h->byte_order, CUZK_SHAPE_VERSION, BYTE_ORDER_MARK);
    }
    if (memchr(h->name, 0, sizeof h->name) == NULL) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: offset 16: circuit name has no end", file);
    }
    if (name && strcmp(h->name, name) != 0) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: offset 16: circuit: want %s, found %.63s", file,
                         name, h->name);
    }
    return CUZK_OK;
}

static cuzk_code parse(cuzk_shape *s, cuzk_span bytes, const char *file, const char *name,
                       cuzk_err *err)
{
    cuzk_cursor c = cuzk_cursor_of(bytes, file);
    const uint8_t *p;
    CUZK_TRY(cuzk_cursor_take(&c, sizeof(header), "header", &p, err));
    header h;
    memcpy(&h, p, sizeof h);
    CUZK_TRY(check_header(&h, file, name, err));
    memcpy(s->name, h.name, sizeof s->name);
    s->n_inputs = h.n_inputs;
    s->n_templates = h.n_templates;
    s->n_instances = h.n_instances;
    s->n_runs = h.n_runs;
    s->n_offsets = h.n_offsets;
    s->n_terms = h.n_terms;
    s->n_class_words = h.n_class_words;
    s->plan_bytes = h.plan_bytes;
    s->n_coeffs = h.n_coeffs;
    section sections[SECTIONS];
    uint64_t size = lay_out(s, sections);
    if (bytes.n != size + DIGEST) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: offset 80: counts ask for %llu bytes, found %zu",
                         file, (unsigned long long)(size + DIGEST), bytes.n);
    }
    uint8_t digest[DIGEST];
    CUZK_TRY(cuzk_sha256(digest, bytes.p, size, err));
    if (memcmp(digest, bytes.p + size, DIGEST) != 0) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: offset %llu: checksum does not match", file,
                         (unsigned long long)size);
    }
    s->image = (cuzk_span){bytes.p, size};
    point_into(sections, bytes.p);
    return cuzk_shape_check(s, file, err);
}

cuzk_code cuzk_shape_parse(cuzk_shape **ret, cuzk_span bytes, const char *file, const char *name,
                           cuzk_err *err)
{
    cuzk_shape *s = calloc(1, sizeof *s);
    if (!s) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the constraint system %s", file);
    }
    cuzk_code code = parse(s, bytes, file, name, err);
    if (code != CUZK_OK) {
        free(s);
        return code;
    }
    *ret = s;
    return CUZK_OK;
}

cuzk_code cuzk_shape_load(cuzk_shape **ret, const char *file, const char *name, cuzk_err *err)
{
    cuzk_file_map map;
    CUZK_TRY(cuzk_file_map_open(&map, file, err));
    cuzk_shape *s = NULL;
    cuzk_code code = cuzk_shape_parse(&s, map.bytes, file, name, err);
    if (code != CUZK_OK) {
        cuzk_file_map_close(&map);
        return code;
    }
    s->map = map;
    *ret = s;
    return CUZK_OK;
}
