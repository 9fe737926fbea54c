#include "filecoin/bincode.h"

#include <stdarg.h>
#include <stdio.h>

cuzk_bincode cuzk_bincode_of(cuzk_span bytes, const char *name)
{
    return (cuzk_bincode){.c = cuzk_cursor_of(bytes, name), .section = "", .place = -1};
}

cuzk_code cuzk_bincode_fail(const cuzk_bincode *b, cuzk_err *err, const char *field,
                            const char *fmt, ...)
{
    char what[120], place[16] = "";
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    if (b->place >= 0) {
        snprintf(place, sizeof place, "[%d]", b->place);
    }
    return CUZK_FAIL(err, CUZK_E_INPUT, "%s: offset %zu: %s%s%s%s%s%s: %s", b->c.name,
                     cuzk_cursor_offset(&b->c), b->where, b->where[0] ? ": " : "", b->section,
                     place, b->section[0] ? "." : "", field, what);
}

static cuzk_code take(cuzk_bincode *b, const char *field, size_t n, const uint8_t **ret,
                      cuzk_err *err)
{
    if (cuzk_cursor_left(&b->c) < n) {
        return cuzk_bincode_fail(b, err, field, "expected %zu bytes, found %zu", n,
                                 cuzk_cursor_left(&b->c));
    }
    return cuzk_cursor_take(&b->c, n, field, ret, err);
}

cuzk_code cuzk_bincode_bytes(cuzk_bincode *b, const char *field, void *ret, size_t n, cuzk_err *err)
{
    const uint8_t *p;
    CUZK_TRY(take(b, field, n, &p, err));
    memcpy(ret, p, n);
    return CUZK_OK;
}

cuzk_code cuzk_bincode_u32(cuzk_bincode *b, const char *field, uint32_t *ret, cuzk_err *err)
{
    const uint8_t *p;
    CUZK_TRY(take(b, field, 4, &p, err));
    *ret = cuzk_load_u32le(p);
    return CUZK_OK;
}

cuzk_code cuzk_bincode_u64(cuzk_bincode *b, const char *field, uint64_t *ret, cuzk_err *err)
{
    const uint8_t *p;
    CUZK_TRY(take(b, field, 8, &p, err));
    *ret = cuzk_load_u64le(p);
    return CUZK_OK;
}

cuzk_code cuzk_bincode_length(cuzk_bincode *b, const char *field, uint64_t n, cuzk_err *err)
{
    cuzk_bincode at = *b;
    uint64_t found;
    CUZK_TRY(cuzk_bincode_u64(b, field, &found, err));
    if (found != n) {
        return cuzk_bincode_fail(&at, err, field, "expected length %llu, found %llu",
                                 (unsigned long long)n, (unsigned long long)found);
    }
    return CUZK_OK;
}

cuzk_code cuzk_bincode_nodes(cuzk_bincode *b, const char *field, cuzk_node *ret, size_t n,
                             cuzk_err *err)
{
    cuzk_bincode at = *b;
    CUZK_TRY(cuzk_bincode_bytes(b, field, ret, n * sizeof *ret, err));
    for (size_t i = 0; i < n; i++) {
        if (!cuzk_node_is_canonical(&ret[i])) {
            at.c.pos += i * sizeof *ret;
            return cuzk_bincode_fail(&at, err, field,
                                     "expected a field element, found a number not below r");
        }
    }
    return CUZK_OK;
}

/* Levels [from, to) of a path, as one vector of path elements. */
static cuzk_code levels(cuzk_bincode *b, const char *field, const cuzk_tree *tree, unsigned from,
                        unsigned to, unsigned *shift, cuzk_node **siblings, uint64_t *index,
                        cuzk_err *err)
{
    CUZK_TRY(cuzk_bincode_length(b, field, to - from, err));
    for (unsigned l = from; l < to; l++) {
        size_t n = ((size_t)1 << tree->lg_arity[l]) - 1;
        CUZK_TRY(cuzk_bincode_length(b, "hashes", n, err));
        CUZK_TRY(cuzk_bincode_nodes(b, "hashes", *siblings, n, err));
        cuzk_bincode at = *b;
        uint64_t child;
        CUZK_TRY(cuzk_bincode_u64(b, "index", &child, err));
        if (child > n) {
            return cuzk_bincode_fail(&at, err, "index", "expected at most %zu, found %llu", n,
                                     (unsigned long long)child);
        }
        *siblings += n;
        *index |= child << *shift;
        *shift += tree->lg_arity[l];
    }
    return CUZK_OK;
}

cuzk_code cuzk_bincode_merkle(cuzk_bincode *b, const cuzk_tree *tree, cuzk_path *ret,
                              cuzk_node *ret_root, cuzk_err *err)
{
    cuzk_bincode at = *b;
    uint32_t variant;
    CUZK_TRY(cuzk_bincode_u32(b, "data", &variant, err));
    if (variant != tree->variant) {
        return cuzk_bincode_fail(&at, err, "data", "expected variant %u, found %u", tree->variant,
                                 variant);
    }
    cuzk_node *siblings = ret->siblings;
    unsigned shift = 0, base = tree->levels - variant;
    ret->index = 0;
    if (variant == 0) {
        CUZK_TRY(cuzk_bincode_nodes(b, "root", ret_root, 1, err));
        CUZK_TRY(cuzk_bincode_nodes(b, "leaf", &ret->leaf, 1, err));
        return levels(b, "path", tree, 0, base, &shift, &siblings, &ret->index, err);
    }
    static const char *const parts[] = {"sub_proof", "top_proof"};
    CUZK_TRY(levels(b, "base_proof", tree, 0, base, &shift, &siblings, &ret->index, err));
    for (unsigned i = 0; i < variant; i++) {
        CUZK_TRY(
            levels(b, parts[i], tree, base + i, base + i + 1, &shift, &siblings, &ret->index, err));
    }
    CUZK_TRY(cuzk_bincode_nodes(b, "root", ret_root, 1, err));
    return cuzk_bincode_nodes(b, "leaf", &ret->leaf, 1, err);
}

cuzk_code cuzk_bincode_end(cuzk_bincode *b, cuzk_err *err)
{
    if (cuzk_cursor_left(&b->c) > 0) {
        return cuzk_bincode_fail(b, err, "end", "expected no more bytes, found %zu",
                                 cuzk_cursor_left(&b->c));
    }
    return CUZK_OK;
}
