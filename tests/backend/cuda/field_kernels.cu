#include "field_kernels.h"

enum { THREADS = 128 };

static __global__ void fp_kernel(fp_results *ret, const dfp *a, const dfp *b, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    dfp x = a[i], y = b[i];
    if (i & 1) { /* x + p */
        uint32_t c = 0;
        x.l[0] = limb_add(x.l[0], dfp_p(0), &c);
#pragma unroll
        for (int k = 1; k < DFP_LIMBS; k++) {
            x.l[k] = limb_addc(x.l[k], dfp_p(k), &c);
        }
    }
    ret[i].mul = dfp_reduce(dfp_mul(x, y));
    ret[i].sqr = dfp_reduce(dfp_sqr(x));
    ret[i].dot2 = dfp_reduce(dfp_dot2(x, y, y, y));
    ret[i].add = dfp_reduce(dfp_add(x, y));
    ret[i].sub = dfp_reduce(dfp_sub(x, y));
    ret[i].neg = dfp_reduce(dfp_neg(x));
}

static __global__ void fr_kernel(fr_results *ret, const dfr *a, const dfr *b, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    dfr x = a[i], y = b[i];
    if (i & 1) {
        uint32_t c = 0;
        x.l[0] = limb_add(x.l[0], dfr_r(0), &c);
#pragma unroll
        for (int k = 1; k < DFR_LIMBS; k++) {
            x.l[k] = limb_addc(x.l[k], dfr_r(k), &c);
        }
    }
    dfr_shoup w = dfr_shoup_of(y);
    ret[i].mul = dfr_reduce(dfr_mul(y, x));
    ret[i].shoup = dfr_reduce(dfr_shoup_mul(x, w.w, w.q));
    ret[i].add = dfr_reduce(dfr_add(x, y));
    ret[i].sub = dfr_reduce(dfr_sub(x, y));
    ret[i].integer = dfr_to_integer(x);
}

static __global__ void fp_inverse_kernel(dfp *a, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        a[i] = dfp_reduce(dfp_inv(a[i]));
    }
}

static __global__ void fr_inverse_kernel(dfr *a, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        a[i] = dfr_inv(a[i]);
    }
}

static unsigned blocks(size_t n) { return (unsigned)((n + THREADS - 1) / THREADS); }

extern "C" void field_fp_results(fp_results *ret, const dfp *a, const dfp *b, size_t n)
{
    fp_kernel<<<blocks(n), THREADS>>>(ret, a, b, n);
}

extern "C" void field_fr_results(fr_results *ret, const dfr *a, const dfr *b, size_t n)
{
    fr_kernel<<<blocks(n), THREADS>>>(ret, a, b, n);
}

extern "C" void field_fp_inverses(dfp *a, size_t n)
{
    fp_inverse_kernel<<<blocks(n), THREADS>>>(a, n);
}

extern "C" void field_fr_inverses(dfr *a, size_t n)
{
    fr_inverse_kernel<<<blocks(n), THREADS>>>(a, n);
}
