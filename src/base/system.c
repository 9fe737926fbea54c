#include "base/system.h"

#include <errno.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>

uint64_t cuzk_clock_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t cuzk_peak_rss_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

cuzk_code cuzk_random_bytes(void *bytes, size_t n, cuzk_err *err)
{
    uint8_t *p = bytes;
    while (n > 0) {
        ssize_t k = getrandom(p, n, 0);
        if (k < 0 && errno == EINTR) {
            continue;
        }
        if (k <= 0) {
            return CUZK_FAIL(err, CUZK_E_IO, "getrandom: %s", strerror(errno));
        }
        p += k;
        n -= (size_t)k;
    }
    return CUZK_OK;
}

void cuzk_wipe(void *bytes, size_t n) { explicit_bzero(bytes, n); }

cuzk_code cuzk_sha256(uint8_t ret[32], const void *bytes, size_t n, cuzk_err *err)
{
    if (EVP_Digest(bytes, n, ret, NULL, EVP_sha256(), NULL) != 1) {
        return CUZK_FAIL(err, CUZK_E_INTERNAL, "libcrypto refuses to compute SHA-256");
    }
    return CUZK_OK;
}
