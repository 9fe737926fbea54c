#include "base/system.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

void *cuzk_alloc_large(size_t n, size_t size)
{
    enum { HUGE_PAGE = 2 << 20 };
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX - HUGE_PAGE) {
        return NULL;
    }
    if (bytes < (size_t)8 * HUGE_PAGE) {
        return malloc(bytes ? bytes : 1);
    }
    bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *p = aligned_alloc(HUGE_PAGE, bytes);
    if (p) {
        madvise(p, bytes, MADV_HUGEPAGE); /* without them it is slower, and no harm */
    }
    return p;
}

void cuzk_wipe(void *bytes, size_t n) { explicit_bzero(bytes, n); }

cuzk_code cuzk_sha256(uint8_t ret[32], const void *bytes, size_t n, cuzk_err *err)
{
    if (EVP_Digest(bytes, n, ret, NULL, EVP_sha256(), NULL) != 1) {
        return CUZK_FAIL(err, CUZK_E_INTERNAL, "libcrypto refuses to compute SHA-256");
    }
    return CUZK_OK;
}
