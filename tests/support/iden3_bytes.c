#include "support/iden3_bytes.h"
#include "support/support.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD = 12 }; /* of the file, and of a section */

static iden3_bytes of(const uint8_t *p, size_t n)
{
    iden3_bytes f = {malloc(n ? n : 1), n};
    assert_non_null(f.p);
    if (n) {
        memcpy(f.p, p, n);
    }
    return f;
}

iden3_bytes iden3_bytes_load(const char *name)
{
    cuzk_file_map map;
    assert_int_equal(cuzk_file_map_open(&map, name, NULL), CUZK_OK);
    iden3_bytes f = of(map.bytes.p, map.bytes.n);
    cuzk_file_map_close(&map);
    return f;
}

iden3_bytes iden3_bytes_copy(const iden3_bytes *f) { return of(f->p, f->n); }

void iden3_bytes_clear(iden3_bytes *f)
{
    free(f->p);
    *f = (iden3_bytes){0};
}

size_t iden3_payload(const iden3_bytes *f, uint32_t type, size_t *ret_length)
{
    for (size_t at = HEAD; at < f->n;) {
        size_t length = cuzk_load_u64le(f->p + at + 4);
        if (cuzk_load_u32le(f->p + at) == type) {
            if (ret_length) {
                *ret_length = length;
            }
            return at + HEAD;
        }
        at += HEAD + length;
    }
    fail_msg("there is no section %u", type);
    return 0;
}

void iden3_cut(iden3_bytes *f, size_t n)
{
    iden3_bytes cut = of(f->p, n);
    iden3_bytes_clear(f);
    *f = cut;
}

static void add_to_count(iden3_bytes *f, int by)
{
    cuzk_store_u32le(f->p + 8, cuzk_load_u32le(f->p + 8) + (uint32_t)by);
}

void iden3_remove_section(iden3_bytes *f, uint32_t type)
{
    size_t length;
    size_t end = iden3_payload(f, type, &length) + length;
    memmove(f->p + end - length - HEAD, f->p + end, f->n - end);
    add_to_count(f, -1);
    iden3_cut(f, f->n - length - HEAD);
}

void iden3_append_section(iden3_bytes *f, uint32_t type, const uint8_t *bytes, size_t n)
{
    iden3_bytes longer = {malloc(f->n + HEAD + n), f->n + HEAD + n};
    assert_non_null(longer.p);
    memcpy(longer.p, f->p, f->n);
    cuzk_store_u32le(longer.p + f->n, type);
    cuzk_store_u64le(longer.p + f->n + 4, n);
    if (n) {
        memcpy(longer.p + f->n + HEAD, bytes, n);
    }
    add_to_count(&longer, 1);
    iden3_bytes_clear(f);
    *f = longer;
}

void iden3_repeat_section(iden3_bytes *f, uint32_t type)
{
    size_t length;
    size_t at = iden3_payload(f, type, &length);
    iden3_bytes old = iden3_bytes_copy(f);
    iden3_append_section(f, type, old.p + at, length);
    iden3_bytes_clear(&old);
}

void iden3_replace_section(iden3_bytes *f, uint32_t type, const uint8_t *bytes, size_t n)
{
    iden3_bytes body = of(bytes, n); /* bytes may lie in f */
    iden3_remove_section(f, type);
    iden3_append_section(f, type, body.p, n);
    iden3_bytes_clear(&body);
}

void iden3_reverse_sections(iden3_bytes *f)
{
    iden3_bytes turned = iden3_bytes_copy(f);
    size_t end = f->n;
    for (size_t at = HEAD; at < f->n;) {
        size_t size = HEAD + cuzk_load_u64le(f->p + at + 4);
        end -= size;
        memcpy(turned.p + end, f->p + at, size);
        at += size;
    }
    assert_int_equal(end, HEAD);
    iden3_bytes_clear(f);
    *f = turned;
}

/* Whether the section table leads to that section without leaving the file. */
static bool has_section(const iden3_bytes *f, uint32_t type)
{
    for (size_t at = HEAD; at + HEAD <= f->n;) {
        uint64_t length = cuzk_load_u64le(f->p + at + 4);
        if (length > f->n - at - HEAD) {
            return false;
        }
        if (cuzk_load_u32le(f->p + at) == type) {
            return true;
        }
        at += HEAD + length;
    }
    return false;
}

void iden3_edit(iden3_bytes *f, const uint8_t *edits, size_t n)
{
    for (; n >= 8 && f->n >= HEAD + 8; edits += 8, n -= 8) {
        size_t at = (cuzk_load_u32le(edits) & 0xffffff) % (f->n - 7);
        uint32_t value = cuzk_load_u32le(edits + 4);
        switch (edits[3] % 8) {
        case 0:
            f->p[at] = (uint8_t)value;
            break;
        case 1:
            cuzk_store_u64le(f->p + at, (uint64_t)value << 32 | value);
            break;
        case 2:
            iden3_cut(f, at);
            break;
        case 3:
            if (has_section(f, value % 16)) {
                iden3_remove_section(f, value % 16);
            }
            break;
        case 4:
            if (has_section(f, value % 16)) {
                iden3_repeat_section(f, value % 16);
            }
            break;
        default:
            cuzk_store_u32le(f->p + at, value);
        }
    }
}
