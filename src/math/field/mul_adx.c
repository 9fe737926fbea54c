#include "math/field/fp2.h"
#include "math/field/fr.h"

/*
 * Montgomery multiplication with MULX and the two carry chains of ADCX (CF) and ADOX (OF). One row
 * of a product adds lo(a_j b_i) to limb j along CF and hi(a_j b_i) to limb j + 1 along OF. A row of
 * the reduction adds q m and leaves zero in the lowest register, which becomes the next row's top
 * limb: the names of the accumulators rotate and nothing is moved. The multiplier stays in RDX.
 */

/* t0 += lo(x RDX), t1 += hi(x RDX). */
#define MAC(x, t0, t1)                                                                             \
    "mulx " x ", %[lo], %[hi]\n\t"                                                                 \
    "adcx %[lo], %[" t0 "]\n\t"                                                                    \
    "adox %[hi], %[" t1 "]\n\t"

/* The last column of a product's row: t1 is fresh. Both carries end in it. */
#define MAC_TOP(x, t0, t1)                                                                         \
    "mulx " x ", %[lo], %[" t1 "]\n\t"                                                             \
    "adcx %[lo], %[" t0 "]\n\t"                                                                    \
    "mov $0, %k[lo]\n\t"                                                                           \
    "adcx %[lo], %[" t1 "]\n\t"                                                                    \
    "adox %[lo], %[" t1 "]\n\t"

/* The first row, into fresh registers. */
#define MUL_LOW(x, t0, t1)       "mulx " x ", %[" t0 "], %[" t1 "]\n\t"
#define MUL_NEXT(add, x, t0, t1) "mulx " x ", %[lo], %[" t1 "]\n\t" add " %[lo], %[" t0 "]\n\t"

#define CLEAR_CARRIES "xor %k[lo], %k[lo]\n\t"

#define SUB_MODULUS(op, at, t, s) "mov %[" t "], " s "\n\t" op " " at "(%[m]), " s "\n\t"
#define KEEP_DIFFERENCE(t, s)     "cmovnc " s ", %[" t "]\n\t"

#define FP_ROW(at, t0, t1, t2, t3, t4, t5, t6)                                                     \
    "mov " at "(%[b]), %%rdx\n\t" CLEAR_CARRIES MAC("0(%[a])", t0, t1) MAC("8(%[a])", t1, t2)      \
        MAC("16(%[a])", t2, t3) MAC("24(%[a])", t3, t4) MAC("32(%[a])", t4, t5)                    \
            MAC_TOP("40(%[a])", t5, t6) FP_REDUCE(t0, t1, t2, t3, t4, t5, t6)

#define FP_REDUCE(t0, t1, t2, t3, t4, t5, t6)                                                      \
    "mov %[inv], %%rdx\n\t"                                                                        \
    "imul %[" t0 "], %%rdx\n\t" CLEAR_CARRIES MAC("0(%[m])", t0, t1) MAC("8(%[m])", t1, t2)        \
        MAC("16(%[m])", t2, t3) MAC("24(%[m])", t3, t4) MAC("32(%[m])", t4, t5)                    \
            MAC("40(%[m])", t5, t6) "adcx %[" t0 "], %[" t6 "]\n\t"

void fp_mul_adx(fp *r, const fp *a, const fp *b)
{
    uint64_t t0, t1, t2, t3, t4, t5, t6, lo, hi;
    const uint64_t *pa = a->l, *pb = b->l;
    __asm__("mov 0(%[b]), %%rdx\n\t" MUL_LOW("0(%[a])", "t0", "t1") MUL_NEXT(
                "add", "8(%[a])", "t1", "t2") MUL_NEXT("adc", "16(%[a])", "t2", "t3")
                MUL_NEXT("adc", "24(%[a])", "t3", "t4") MUL_NEXT("adc", "32(%[a])", "t4", "t5")
                    MUL_NEXT("adc", "40(%[a])", "t5", "t6") "adc $0, %[t6]\n\t" FP_REDUCE(
                        "t0", "t1", "t2", "t3", "t4", "t5",
                        "t6") FP_ROW("8", "t1", "t2", "t3", "t4", "t5", "t6",
                                     "t0") FP_ROW("16", "t2", "t3", "t4", "t5", "t6", "t0", "t1")
                        FP_ROW("24", "t3", "t4", "t5", "t6", "t0", "t1",
                               "t2") FP_ROW("32", "t4", "t5", "t6", "t0", "t1", "t2", "t3")
                            FP_ROW("40", "t5", "t6", "t0", "t1", "t2", "t3", "t4") SUB_MODULUS(
                                "sub", "0", "t6", "%[lo]") SUB_MODULUS("sbb", "8", "t0", "%[hi]")
                                SUB_MODULUS("sbb", "16", "t1", "%%rdx")
                                    SUB_MODULUS("sbb", "24", "t2", "%[a]")
                                        SUB_MODULUS("sbb", "32", "t3", "%[b]")
                                            SUB_MODULUS("sbb", "40", "t4", "%[t5]")
                                                KEEP_DIFFERENCE("t6", "%[lo]")
                                                    KEEP_DIFFERENCE("t0", "%[hi]")
                                                        KEEP_DIFFERENCE("t1", "%%rdx")
                                                            KEEP_DIFFERENCE("t2", "%[a]")
                                                                KEEP_DIFFERENCE("t3", "%[b]")
                                                                    KEEP_DIFFERENCE("t4", "%[t5]")
            : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4),
              [t5] "=&r"(t5), [t6] "=&r"(t6), [lo] "=&r"(lo), [hi] "=&r"(hi), [a] "+&r"(pa),
              [b] "+&r"(pb)
            : [m] "r"(fp_modulus.l), [inv] "i"(FP_INV)
            : "rdx", "cc", "memory");
    r->l[0] = t6;
    r->l[1] = t0;
    r->l[2] = t1;
    r->l[3] = t2;
    r->l[4] = t3;
    r->l[5] = t4;
}

/* A row of a[0] b[0] and one of a[1] b[1], limbs at bytes `at` and `at1` of b. The second finds
 * every register in use; sums stay below 2^448, so no carry leaves the top one. */
#define DOT_ROW(at, at1, t0, t1, t2, t3, t4, t5, t6)                                               \
    "mov " at "(%[b]), %%rdx\n\t" CLEAR_CARRIES MAC("0(%[a])", t0, t1) MAC("8(%[a])", t1, t2)      \
        MAC("16(%[a])", t2, t3) MAC("24(%[a])", t3, t4) MAC("32(%[a])", t4, t5)                    \
            MAC_TOP("40(%[a])", t5, t6) DOT_ROW_SECOND(at1, t0, t1, t2, t3, t4, t5, t6)

#define DOT_ROW_SECOND(at1, t0, t1, t2, t3, t4, t5, t6)                                            \
    "mov " at1 "(%[b]), %%rdx\n\t" CLEAR_CARRIES MAC("48(%[a])", t0, t1) MAC("56(%[a])", t1, t2)   \
        MAC("64(%[a])", t2, t3) MAC("72(%[a])", t3, t4) MAC("80(%[a])", t4, t5)                    \
            MAC("88(%[a])", t5, t6) "mov $0, %k[lo]\n\t"                                           \
                                    "adcx %[lo], %[" t6                                            \
                                    "]\n\t" FP_REDUCE(t0, t1, t2, t3, t4, t5, t6)

/* r = a[0] b[0] + a[1] b[1] with one reduction, whose result is below p + 2 p^2 / 2^384 < 2 p
 * (Longa, eprint 2022/367). */
static void dot(fp *r, const fp a[2], const fp b[2])
{
    uint64_t t0, t1, t2, t3, t4, t5, t6, lo, hi;
    const fp *pa = a, *pb = b;
    __asm__(
        "mov 0(%[b]), %%rdx\n\t" MUL_LOW("0(%[a])", "t0", "t1")
            MUL_NEXT("add", "8(%[a])", "t1", "t2") MUL_NEXT("adc", "16(%[a])", "t2", "t3") MUL_NEXT(
                "adc", "24(%[a])", "t3", "t4") MUL_NEXT("adc", "32(%[a])", "t4", "t5")
                MUL_NEXT("adc", "40(%[a])", "t5", "t6") "adc $0, %[t6]\n\t" DOT_ROW_SECOND(
                    "48", "t0", "t1", "t2", "t3", "t4", "t5",
                    "t6") DOT_ROW("8", "56", "t1", "t2", "t3", "t4", "t5", "t6", "t0")
                    DOT_ROW("16", "64", "t2", "t3", "t4", "t5", "t6", "t0", "t1") DOT_ROW(
                        "24", "72", "t3", "t4", "t5", "t6", "t0", "t1",
                        "t2") DOT_ROW("32", "80", "t4", "t5", "t6", "t0", "t1", "t2", "t3")
                        DOT_ROW("40", "88", "t5", "t6", "t0", "t1", "t2", "t3",
                                "t4") SUB_MODULUS("sub", "0", "t6", "%[lo]")
                            SUB_MODULUS("sbb", "8", "t0", "%[hi]") SUB_MODULUS(
                                "sbb", "16", "t1", "%%rdx") SUB_MODULUS("sbb", "24", "t2", "%[a]")
                                SUB_MODULUS("sbb", "32", "t3", "%[b]") SUB_MODULUS(
                                    "sbb", "40", "t4", "%[t5]") KEEP_DIFFERENCE("t6", "%[lo]")
                                    KEEP_DIFFERENCE("t0", "%[hi]") KEEP_DIFFERENCE("t1", "%%rdx")
                                        KEEP_DIFFERENCE("t2", "%[a]") KEEP_DIFFERENCE("t3", "%[b]")
                                            KEEP_DIFFERENCE("t4", "%[t5]")
        : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4),
          [t5] "=&r"(t5), [t6] "=&r"(t6), [lo] "=&r"(lo), [hi] "=&r"(hi), [a] "+&r"(pa),
          [b] "+&r"(pb)
        : [m] "r"(fp_modulus.l), [inv] "i"(FP_INV)
        : "rdx", "cc", "memory");
    r->l[0] = t6;
    r->l[1] = t0;
    r->l[2] = t1;
    r->l[3] = t2;
    r->l[4] = t3;
    r->l[5] = t4;
}

void fp2_mul_adx(fp2 *r, const fp2 *a, const fp2 *b)
{
    const fp left[2] = {a->c0, a->c1};
    fp right[3] = {b->c1, b->c0};
    fp_neg(&right[2], &b->c1);
    dot(&r->c1, left, right);     /* a0 b1 + a1 b0 */
    dot(&r->c0, left, right + 1); /* a0 b0 - a1 b1 */
}

/* r = 1 - 2^32 mod 2^64, so q and q r_0 could be had from shifts; that measured 12 % slower. */
#define FR_REDUCE(t0, t1, t2, t3, t4)                                                              \
    "mov %[inv], %%rdx\n\t"                                                                        \
    "imul %[" t0 "], %%rdx\n\t" CLEAR_CARRIES MAC("0(%[m])", t0, t1) MAC("8(%[m])", t1, t2)        \
        MAC("16(%[m])", t2, t3) MAC("24(%[m])", t3, t4) "adcx %[" t0 "], %[" t4 "]\n\t"

#define FR_ROW(at, t0, t1, t2, t3, t4)                                                             \
    "mov " at "(%[b]), %%rdx\n\t" CLEAR_CARRIES MAC("0(%[a])", t0, t1) MAC("8(%[a])", t1, t2)      \
        MAC("16(%[a])", t2, t3) MAC_TOP("24(%[a])", t3, t4) FR_REDUCE(t0, t1, t2, t3, t4)

void fr_mul_adx(fr *r, const fr *a, const fr *b)
{
    uint64_t t0, t1, t2, t3, t4, lo, hi;
    const uint64_t *pa = a->l, *pb = b->l;
    __asm__("mov 0(%[b]), %%rdx\n\t" MUL_LOW("0(%[a])", "t0", "t1")
                MUL_NEXT("add", "8(%[a])", "t1", "t2") MUL_NEXT("adc", "16(%[a])", "t2", "t3")
                    MUL_NEXT("adc", "24(%[a])", "t3", "t4") "adc $0, %[t4]\n\t" FR_REDUCE(
                        "t0", "t1", "t2", "t3", "t4") FR_ROW("8", "t1", "t2", "t3", "t4", "t0")
                        FR_ROW("16", "t2", "t3", "t4", "t0", "t1")
                            FR_ROW("24", "t3", "t4", "t0", "t1", "t2") SUB_MODULUS(
                                "sub", "0", "t4", "%[lo]") SUB_MODULUS("sbb", "8", "t0", "%[hi]")
                                SUB_MODULUS("sbb", "16", "t1", "%%rdx") SUB_MODULUS("sbb", "24",
                                                                                    "t2", "%[a]")
                                    KEEP_DIFFERENCE("t4", "%[lo]") KEEP_DIFFERENCE("t0", "%[hi]")
                                        KEEP_DIFFERENCE("t1", "%%rdx") KEEP_DIFFERENCE("t2", "%[a]")
            : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4),
              [lo] "=&r"(lo), [hi] "=&r"(hi), [a] "+&r"(pa), [b] "+&r"(pb)
            : [m] "r"(fr_modulus.l), [inv] "i"(FR_INV)
            : "rdx", "cc", "memory");
    r->l[0] = t4;
    r->l[1] = t0;
    r->l[2] = t1;
    r->l[3] = t2;
}
