#ifndef TESTS_IDEN3_BYTES_H
#define TESTS_IDEN3_BYTES_H

#include "base/bytes.h"

/** A file of iden3's container format in memory, to be spoilt by tests. Owns p (malloc: a sanitizer
 *  sees a read past its end). */
typedef struct iden3_bytes {
    uint8_t *p;
    size_t n;
} iden3_bytes;

/** Reads a file, or fails the test. */
iden3_bytes iden3_bytes_load(const char *name);
iden3_bytes iden3_bytes_copy(const iden3_bytes *f);
void iden3_bytes_clear(iden3_bytes *f);

static inline cuzk_span iden3_bytes_span(const iden3_bytes *f) { return (cuzk_span){f->p, f->n}; }

/** Offset of the payload of the section of that type (its head is the 12 bytes before), and its
 *  length; fails the test when there is none. */
size_t iden3_payload(const iden3_bytes *f, uint32_t type, size_t *ret_length);

/** Cuts the file to its first n bytes, into an allocation of that size. */
void iden3_cut(iden3_bytes *f, size_t n);

void iden3_remove_section(iden3_bytes *f, uint32_t type);

/** Appends a section, a copy of bytes[n]. */
void iden3_append_section(iden3_bytes *f, uint32_t type, const uint8_t *bytes, size_t n);

/** Appends a copy of a section of the file. */
void iden3_repeat_section(iden3_bytes *f, uint32_t type);

/** Replaces the payload of a section, which becomes the last. */
void iden3_replace_section(iden3_bytes *f, uint32_t type, const uint8_t *bytes, size_t n);

/** Turns the order of the sections round. */
void iden3_reverse_sections(iden3_bytes *f);

/** Spoils a file as a fuzzer wishes: edits[n] is read as steps of 8 bytes, each an offset and a
 *  value to overwrite 1, 4 or 8 bytes with, or a cut, or a section to remove or repeat. */
void iden3_edit(iden3_bytes *f, const uint8_t *edits, size_t n);

#endif
