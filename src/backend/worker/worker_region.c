#include "backend/worker/worker_region.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void cuzk_region_free(cuzk_region *r)
{
    if (r) {
        if (r->p) {
            munmap(r->p, r->n);
        }
        if (r->fd >= 0) {
            close(r->fd);
        }
        free(r);
    }
}

cuzk_region *cuzk_region_new(size_t n)
{
    cuzk_region *r = calloc(1, sizeof *r);
    if (!r) {
        return NULL;
    }
    r->n = n;
    r->fd = memfd_create("cuzk-ports", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *p = MAP_FAILED;
    if (r->fd >= 0 && ftruncate(r->fd, (off_t)n) == 0 &&
        fcntl(r->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
        p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
    }
    if (p == MAP_FAILED) {
        cuzk_region_free(r);
        return NULL;
    }
    r->p = p;
    return r;
}
