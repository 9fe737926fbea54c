#include "support/spoil.h"

#include <stdlib.h>
#include <string.h>

void spoil_expect(const spoil *s, cuzk_code code, const cuzk_err *err)
{
    assert_int_equal(code, CUZK_E_INPUT);
    print_message("    %s\n", err->msg);
    assert_int_equal(strncmp(err->msg, "bad: offset ", 12), 0);
    for (size_t i = 0; i < sizeof s->want / sizeof *s->want && s->want[i]; i++) {
        assert_non_null(strstr(err->msg, s->want[i]));
    }
}

int spoil_run_tests(const struct CMUnitTest *plain, size_t n_plain, const spoil *spoils, size_t n,
                    CMUnitTestFunction refuses, CMFixtureFunction setup, CMFixtureFunction teardown)
{
    struct CMUnitTest *tests = calloc(n_plain + n, sizeof *tests);
    assert_non_null(tests);
    memcpy(tests, plain, n_plain * sizeof *tests);
    for (size_t i = 0; i < n; i++) {
        tests[n_plain + i].name = spoils[i].name;
        tests[n_plain + i].test_func = refuses;
        tests[n_plain + i].initial_state = (void *)(uintptr_t)&spoils[i];
    }
    int failed = _cmocka_run_group_tests("tests", tests, n_plain + n, setup, teardown);
    free(tests);
    return failed;
}

void spoil_empty(iden3_bytes *f) { iden3_cut(f, 0); }

void spoil_one_byte_less(iden3_bytes *f) { iden3_cut(f, f->n - 1); }

void spoil_one_byte_more(iden3_bytes *f)
{
    uint8_t *longer = realloc(f->p, f->n + 1);
    assert_non_null(longer);
    longer[f->n] = 0;
    *f = (iden3_bytes){longer, f->n + 1};
}

void spoil_magic(iden3_bytes *f) { f->p[0] = '!'; }

void spoil_version_99(iden3_bytes *f) { cuzk_store_u32le(f->p + 4, 99); }

void spoil_many_sections(iden3_bytes *f) { cuzk_store_u32le(f->p + 8, UINT32_MAX); }

void spoil_no_sections(iden3_bytes *f) { cuzk_store_u32le(f->p + 8, 0); }

void spoil_remove_1(iden3_bytes *f) { iden3_remove_section(f, 1); }

void spoil_remove_2(iden3_bytes *f) { iden3_remove_section(f, 2); }

void spoil_endless_2(iden3_bytes *f)
{
    cuzk_store_u64le(f->p + iden3_payload(f, 2, NULL) - 8, UINT64_MAX - 5);
}

void spoil_unknown_2(iden3_bytes *f)
{
    cuzk_store_u32le(f->p + iden3_payload(f, 2, NULL) - 12, 11);
}

void spoil_flip(iden3_bytes *f, uint32_t section, size_t offset, uint8_t bits)
{
    f->p[iden3_payload(f, section, NULL) + offset] ^= bits;
}

void spoil_u32(iden3_bytes *f, uint32_t section, size_t offset, uint32_t v)
{
    cuzk_store_u32le(f->p + iden3_payload(f, section, NULL) + offset, v);
}

static void put_limbs(iden3_bytes *f, uint32_t section, size_t offset, const uint64_t l[4])
{
    for (size_t i = 0; i < 4; i++) {
        cuzk_store_u64le(f->p + iden3_payload(f, section, NULL) + offset + 8 * i, l[i]);
    }
}

void spoil_with_prime(iden3_bytes *f, uint32_t section, size_t offset)
{
    put_limbs(f, section, offset, fr_modulus.l);
}

void spoil_with_bn254(iden3_bytes *f, uint32_t section, size_t offset)
{
    static const uint64_t r[4] = {0x43e1f593f0000001u, 0x2833e84879b97091u, 0xb85045b68181585du,
                                  0x30644e72e131a029u};
    put_limbs(f, section, offset, r);
}
