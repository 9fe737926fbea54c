#ifndef CUZK_BACKEND_WORKER_REGION_H
#define CUZK_BACKEND_WORKER_REGION_H

#include <stddef.h>
#include <stdint.h>

/** Memory that carries ports to a child; kept for the next task, since touching fresh memory is
 *  slow. Its size is sealed, so that neither side can pull it from under the other. */
typedef struct cuzk_region {
    struct cuzk_region *next; /* of those that are kept */
    int fd;
    uint8_t *p;
    size_t n;
} cuzk_region;

/** NULL when there is no memory or descriptor. */
cuzk_region *cuzk_region_new(size_t n);

/** Accepts NULL and half-built regions. */
void cuzk_region_free(cuzk_region *r);

#endif
