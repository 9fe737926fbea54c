#ifndef CUZK_SPAN_H
#define CUZK_SPAN_H

#include <stddef.h>
#include <stdint.h>

/** A borrowed run of bytes. */
typedef struct cuzk_span {
    const uint8_t *p;
    size_t n;
} cuzk_span;

#endif
