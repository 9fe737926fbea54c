#ifndef TESTS_SPOIL_H
#define TESTS_SPOIL_H

#include "cuzk/err.h"
#include "support/iden3_bytes.h"
#include "support/support.h"

/** One way to spoil a good file, and what the reader's message must say. */
typedef struct spoil {
    const char *name; /* of the test */
    void (*apply)(iden3_bytes *f);
    const char *want[3]; /* parts of the message */
} spoil;

/** Fails the test unless the code is CUZK_E_INPUT and the message names the file "bad", an offset,
 *  and has the wanted parts. */
void spoil_expect(const spoil *s, cuzk_code code, const cuzk_err *err);

/** Runs plain[n_plain], then `refuses` with each of spoils[n] as its state. */
int spoil_run_tests(const struct CMUnitTest *plain, size_t n_plain, const spoil *spoils, size_t n,
                    CMUnitTestFunction refuses, CMFixtureFunction setup,
                    CMFixtureFunction teardown);

/* Ways that suit every file of the container. */
void spoil_empty(iden3_bytes *f);
void spoil_one_byte_less(iden3_bytes *f);
void spoil_one_byte_more(iden3_bytes *f);
void spoil_magic(iden3_bytes *f);
void spoil_version_99(iden3_bytes *f);
void spoil_many_sections(iden3_bytes *f);
void spoil_no_sections(iden3_bytes *f);
void spoil_remove_1(iden3_bytes *f);
void spoil_remove_2(iden3_bytes *f);
void spoil_endless_2(iden3_bytes *f); /* the length of section 2 */
void spoil_unknown_2(iden3_bytes *f); /* the type of section 2 becomes 11 */

/** XORs one byte. */
void spoil_flip(iden3_bytes *f, uint32_t section, size_t offset, uint8_t bits);
/** Overwrites a little-endian u32. */
void spoil_u32(iden3_bytes *f, uint32_t section, size_t offset, uint32_t v);
/** Overwrites 32 bytes with the scalar field's prime, little-endian. */
void spoil_with_prime(iden3_bytes *f, uint32_t section, size_t offset);
/** Overwrites 32 bytes with the prime of BN254's scalar field. */
void spoil_with_bn254(iden3_bytes *f, uint32_t section, size_t offset);

#endif
