#include "gadget/boolean.h"

static cuzk_bool is(uint32_t var) { return (cuzk_bool){var, CUZK_IS, false}; }

static bool constant(cuzk_bool a) { return a.kind <= CUZK_TRUE; }

cuzk_bool cuzk_bool_not(cuzk_bool a)
{
    static const uint8_t other[] = {[CUZK_FALSE] = CUZK_TRUE,
                                    [CUZK_TRUE] = CUZK_FALSE,
                                    [CUZK_IS] = CUZK_NOT,
                                    [CUZK_NOT] = CUZK_IS};
    return (cuzk_bool){a.var, other[a.kind], !a.v};
}

/* c = a xor b, of variables: 2a * b = a + b - c. */
static cuzk_bool xor_vars(cuzk_cs *cs, uint32_t a, uint32_t b)
{
    fr two = fr_from_u64(2);
    uint32_t c = cuzk_cs_var(cs, false);
    cuzk_lc la = cuzk_lc_scaled(a, &two);
    cuzk_lc lb = cuzk_lc_var(b);
    cuzk_lc lc = cuzk_lc_sub(a, c);
    cuzk_lc_add(cs, &lc, b, &fr_one);
    cuzk_cs_enforce(cs, &la, &lb, &lc);
    return is(c);
}

cuzk_bool cuzk_bool_xor(cuzk_cs *cs, cuzk_bool a, cuzk_bool b)
{
    if (constant(a)) {
        return a.kind == CUZK_TRUE ? cuzk_bool_not(b) : b;
    }
    if (constant(b)) {
        return b.kind == CUZK_TRUE ? cuzk_bool_not(a) : a;
    }
    if (a.kind == b.kind) {
        return xor_vars(cs, a.var, b.var);
    }
    return cuzk_bool_not(a.kind == CUZK_IS ? xor_vars(cs, a.var, b.var)
                                           : xor_vars(cs, b.var, a.var));
}

/* c = a and b, as a * b = c over the truth values' own combinations. */
static cuzk_bool and_row(cuzk_cs *cs, cuzk_bool a, cuzk_bool b)
{
    uint32_t c = cuzk_cs_var(cs, false);
    cuzk_lc la = cuzk_lc_bool(&a);
    cuzk_lc lb = cuzk_lc_bool(&b);
    cuzk_lc lc = cuzk_lc_var(c);
    cuzk_cs_enforce(cs, &la, &lb, &lc);
    return is(c);
}

cuzk_bool cuzk_bool_and(cuzk_cs *cs, cuzk_bool a, cuzk_bool b)
{
    if (constant(a)) {
        return a.kind == CUZK_TRUE ? b : a;
    }
    if (constant(b)) {
        return b.kind == CUZK_TRUE ? a : b;
    }
    if (a.kind == CUZK_NOT && b.kind == CUZK_IS) {
        return and_row(cs, b, a);
    }
    return and_row(cs, a, b);
}

cuzk_bool cuzk_bool_nor(cuzk_cs *cs, cuzk_bool a, cuzk_bool b)
{
    return and_row(cs, cuzk_bool_not(a), cuzk_bool_not(b));
}

cuzk_bool cuzk_bool_ch(cuzk_cs *cs, cuzk_bool a, cuzk_bool b, cuzk_bool c)
{
    if (constant(a) && constant(b) && constant(c)) {
        return a.kind == CUZK_TRUE ? b : c;
    }
    if (a.kind == CUZK_FALSE) {
        return c;
    }
    if (b.kind == CUZK_FALSE) {
        return cuzk_bool_and(cs, cuzk_bool_not(a), c);
    }
    if (c.kind == CUZK_FALSE) {
        return cuzk_bool_and(cs, a, b);
    }
    if (c.kind == CUZK_TRUE) {
        return cuzk_bool_not(cuzk_bool_and(cs, a, cuzk_bool_not(b)));
    }
    if (b.kind == CUZK_TRUE) {
        return cuzk_bool_not(cuzk_bool_and(cs, cuzk_bool_not(a), cuzk_bool_not(c)));
    }
    /* (b - c) * a = ch - c */
    fr minus;
    fr_neg(&minus, &fr_one);
    uint32_t ch = cuzk_cs_var(cs, false);
    cuzk_lc la = cuzk_lc_bool(&b);
    cuzk_lc_add_bool(cs, &la, &c, &minus);
    cuzk_lc lb = cuzk_lc_bool(&a);
    cuzk_lc lc = cuzk_lc_var(ch);
    cuzk_lc_add_bool(cs, &lc, &c, &minus);
    cuzk_cs_enforce(cs, &la, &lb, &lc);
    return is(ch);
}

static cuzk_bool nand_not(cuzk_cs *cs, cuzk_bool a, cuzk_bool b)
{
    return cuzk_bool_not(cuzk_bool_and(cs, cuzk_bool_not(a), cuzk_bool_not(b)));
}

cuzk_bool cuzk_bool_maj(cuzk_cs *cs, cuzk_bool a, cuzk_bool b, cuzk_bool c)
{
    if (constant(a) && constant(b) && constant(c)) {
        int n = (a.kind == CUZK_TRUE) + (b.kind == CUZK_TRUE) + (c.kind == CUZK_TRUE);
        return cuzk_bool_const(n >= 2);
    }
    if (a.kind == CUZK_FALSE) {
        return cuzk_bool_and(cs, b, c);
    }
    if (b.kind == CUZK_FALSE) {
        return cuzk_bool_and(cs, a, c);
    }
    if (c.kind == CUZK_FALSE) {
        return cuzk_bool_and(cs, a, b);
    }
    if (c.kind == CUZK_TRUE) {
        return nand_not(cs, a, b);
    }
    if (b.kind == CUZK_TRUE) {
        return nand_not(cs, a, c);
    }
    if (a.kind == CUZK_TRUE) {
        return nand_not(cs, b, c);
    }
    /* (2bc - b - c) * a = bc - maj; maj is allocated before bc */
    fr two = fr_from_u64(2);
    fr minus;
    fr_neg(&minus, &fr_one);
    uint32_t maj = cuzk_cs_var(cs, false);
    cuzk_bool bc = cuzk_bool_and(cs, b, c);
    cuzk_lc la = {0};
    cuzk_lc_add_bool(cs, &la, &bc, &two);
    cuzk_lc_add_bool(cs, &la, &b, &minus);
    cuzk_lc_add_bool(cs, &la, &c, &minus);
    cuzk_lc lb = cuzk_lc_bool(&a);
    cuzk_lc lc = cuzk_lc_bool(&bc);
    cuzk_lc_add(cs, &lc, maj, &minus);
    cuzk_cs_enforce(cs, &la, &lb, &lc);
    cuzk_lc_free(&la);
    return is(maj);
}
