#ifndef CUZK_R1CS_TEMPLATE_TYPES_H
#define CUZK_R1CS_TEMPLATE_TYPES_H

#include <stdint.h>

/* The records that a compressed system (template.h) consists of: plain data, for device code too.
 */

/** A variable of the whole system: bit 31 set for an input, clear for an aux; below it the number.
 */
typedef uint32_t cuzk_var;
#define CUZK_VAR_INPUT 0x80000000U
#define CUZK_ONE       CUZK_VAR_INPUT

enum {
    CUZK_GADGET_NAME_MAX = 16,
    CUZK_SHAPE_NAME_MAX = 64,
    CUZK_TEMPLATE_REFS_MAX = 65535,
    CUZK_DICTIONARY_MAX = 65536,
};

typedef struct cuzk_template {
    char gadget[CUZK_GADGET_NAME_MAX]; /* which expansion its records are for, NUL-padded */
    uint32_t param;                    /* the gadget's own, e.g. an arity */
    uint32_t n_ports, n_aux, n_rows;
    uint32_t n_full;       /* aux of class full */
    uint32_t record_bytes; /* multiple of 8 */
    uint32_t offsets[3];   /* for A, B, C: the first of n_rows + 1 entries of shape->offsets, which
                              are indices into shape->terms */
    uint32_t classes;      /* first 64-bit word in shape->classes: bit r is set when reference
                              r (bit 0, ONE, included) is of class full */
    uint32_t plan, plan_bytes; /* in shape->plans; the first is a multiple of 8 */
    uint32_t zeros[3];         /* terms dropped because their coefficient is zero: in counts only */
    uint32_t reserved;         /* 0 */
} cuzk_template;

typedef struct cuzk_instance {
    uint32_t template_id;
    uint32_t aux;    /* its first aux variable */
    uint32_t full;   /* its first slot in the list of field elements */
    uint32_t row;    /* its first row */
    uint32_t record; /* offset of its record in bytes */
    uint32_t run;    /* its first run; runs up to those of the next instance fill its ports */
} cuzk_instance;

/** `count` ports in a row, filled by consecutive variables of one class with consecutive slots. */
typedef struct cuzk_run {
    cuzk_var var;
    uint32_t slot;
    uint32_t count;
} cuzk_run;

#endif
