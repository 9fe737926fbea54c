#include "groth16/formats/decimal.h"

#include <assert.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

bool cuzk_decimal_parse(const char *text, uint64_t *limbs, size_t n)
{
    if (text[0] == '\0' || (text[0] == '0' && text[1] != '\0')) {
        return false;
    }
    memset(limbs, 0, n * sizeof *limbs);
    for (; *text; text++) {
        if (*text < '0' || *text > '9') {
            return false;
        }
        uint64_t carry = (uint64_t)(*text - '0');
        for (size_t i = 0; i < n; i++) {
            u128 t = (u128)limbs[i] * 10 + carry;
            limbs[i] = (uint64_t)t;
            carry = (uint64_t)(t >> 64);
        }
        if (carry != 0) { /* also bounds the work: no more than 20 n digits are looked at */
            return false;
        }
    }
    return true;
}

void cuzk_decimal_format(char *text, const uint64_t *limbs, size_t n)
{
    uint64_t rest[6];
    char digits[CUZK_DECIMAL_SIZE(6)];
    assert(n <= sizeof rest / sizeof *rest);
    memcpy(rest, limbs, n * sizeof *rest);
    size_t first = sizeof digits - 1;
    digits[first] = '\0';
    bool more;
    do {
        uint64_t remainder = 0;
        more = false;
        for (size_t i = n; i-- > 0;) {
            u128 t = (u128)remainder << 64 | rest[i];
            rest[i] = (uint64_t)(t / 10);
            remainder = (uint64_t)(t % 10);
            more |= rest[i] != 0;
        }
        digits[--first] = (char)('0' + remainder);
    } while (more);
    memcpy(text, digits + first, sizeof digits - first);
}
