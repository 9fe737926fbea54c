#ifndef BENCH_RATES_H
#define BENCH_RATES_H

/*
 * Time of one element's multiplication in registers, ns, on this machine in this run; only where
 * math_isa_level is MATH_ISA_IFMA.
 */

/** fr8_mul: two variable factors. */
double bench_fr8_mul_ns(void);

/** fr8_mul_shoup: a constant factor with its precomputed quotient. */
double bench_fr8_shoup_ns(void);

/** The floor of the former: 105 vpmadd52 for eight elements, at the measured rate of independent
 *  vpmadd52. */
double bench_fr8_floor_ns(void);

#endif
