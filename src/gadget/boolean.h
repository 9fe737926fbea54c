#ifndef CUZK_GADGET_BOOLEAN_H
#define CUZK_GADGET_BOOLEAN_H

#include "r1cs/cs.h"

/*
 * Logic over truth values, inside a recording (gadgets at the top level call these). Constants fold
 * away, negations cost nothing. Which variable is allocated in which case, and the operands' order
 * in its row, is that of the reference (bellpepper gadgets/boolean.rs).
 */

cuzk_bool cuzk_bool_not(cuzk_bool a);

cuzk_bool cuzk_bool_xor(cuzk_cs *cs, cuzk_bool a, cuzk_bool b);
cuzk_bool cuzk_bool_and(cuzk_cs *cs, cuzk_bool a, cuzk_bool b);

/** not a and not b, of two variables. */
cuzk_bool cuzk_bool_nor(cuzk_cs *cs, cuzk_bool a, cuzk_bool b);

/** SHA-256's choice (a and b) xor (not a and c), and majority. */
cuzk_bool cuzk_bool_ch(cuzk_cs *cs, cuzk_bool a, cuzk_bool b, cuzk_bool c);
cuzk_bool cuzk_bool_maj(cuzk_cs *cs, cuzk_bool a, cuzk_bool b, cuzk_bool c);

#endif
