#include "rpc/grpc_text.h"

#include <stdio.h>

static bool plain(unsigned char c) { return c >= 0x20 && c <= 0x7e && c != '%'; }

size_t cuzk_rpc_percent_encode(char *ret, size_t cap, const char *text)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t n = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (n + (plain(*c) ? 1 : 3) >= cap) {
            break;
        }
        if (plain(*c)) {
            ret[n++] = (char)*c;
        } else {
            ret[n++] = '%';
            ret[n++] = digits[*c >> 4];
            ret[n++] = digits[*c & 15];
        }
    }
    ret[n] = 0;
    return n;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t cuzk_rpc_percent_decode(char *ret, size_t cap, const char *text, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n && k + 1 < cap; i++) {
        int hi = text[i] == '%' && i + 2 < n ? digit(text[i + 1]) : -1;
        int lo = hi >= 0 ? digit(text[i + 2]) : -1;
        if (lo >= 0) {
            ret[k++] = (char)(hi << 4 | lo);
            i += 2;
        } else {
            ret[k++] = text[i];
        }
    }
    ret[k] = 0;
    return k;
}

bool cuzk_rpc_timeout_parse(const char *text, size_t n, uint64_t *ret_ns)
{
    if (n < 2 || n > 9) {
        return false;
    }
    uint64_t value = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        value = value * 10 + (uint64_t)(text[i] - '0');
    }
    uint64_t unit_ns;
    switch (text[n - 1]) {
    case 'H':
        unit_ns = 3600000000000u;
        break;
    case 'M':
        unit_ns = 60000000000u;
        break;
    case 'S':
        unit_ns = 1000000000u;
        break;
    case 'm':
        unit_ns = 1000000u;
        break;
    case 'u':
        unit_ns = 1000u;
        break;
    case 'n':
        unit_ns = 1;
        break;
    default:
        return false;
    }
    *ret_ns = value > UINT64_MAX / unit_ns ? UINT64_MAX : value * unit_ns;
    return true;
}

void cuzk_rpc_timeout_format(char ret[16], uint64_t ms)
{
    static const struct {
        uint64_t ms;
        char unit;
    } units[] = {{1, 'm'}, {1000, 'S'}, {60000, 'M'}, {3600000, 'H'}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        uint64_t value = ms / units[i].ms + (ms % units[i].ms != 0);
        if (value <= 99999999) {
            snprintf(ret, 16, "%u%c", (unsigned)value, units[i].unit);
            return;
        }
    }
    snprintf(ret, 16, "99999999H");
}
