#include "rates.h"

#include "bench.h"
#include "math/field/fr8_ifma.h"

enum { ROUNDS = 5000, STREAMS = 4, REPEATS = 30, CHAINS = 16, MADDS_A_MUL = 105 };

typedef struct work {
    fr8 x[STREAMS], factor;
    fr52_shoup shoup;
} work;

static void run_mul(void *ctx)
{
    work *w = ctx;
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < STREAMS; k++) {
            w->x[k] = fr8_mul(&w->x[k], &w->factor);
        }
    }
    bench_touch(w);
}

static void run_shoup(void *ctx)
{
    work *w = ctx;
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < STREAMS; k++) {
            w->x[k] = fr8_mul_shoup(&w->x[k], &w->shoup);
        }
    }
    bench_touch(w);
}

static void run_madds(void *ctx)
{
    work *w = ctx;
    __m512i c[CHAINS], a = w->factor.l[0], b = w->factor.l[1];
    FR8_UNROLL
    for (int k = 0; k < CHAINS; k++) {
        c[k] = w->x[k % STREAMS].l[k % 5];
    }
    for (int i = 0; i < ROUNDS; i++) {
        FR8_UNROLL
        for (int k = 0; k < CHAINS; k++) {
            c[k] = fr8_low(c[k], a, b);
        }
    }
    FR8_UNROLL
    for (int k = 0; k < CHAINS; k++) {
        w->x[k % STREAMS].l[k % 5] = c[k];
    }
    bench_touch(w);
}

static double measure(bench_fn *fn)
{
    fr a[8];
    for (uint64_t i = 0; i < 8; i++) {
        a[i] = fr_from_u64(i + 2);
        fr_inv(&a[i], &a[i]);
    }
    work w;
    for (int i = 0; i < STREAMS; i++) {
        w.x[i] = fr8_load(a, 1);
    }
    w.factor = fr8_load_factor(a, 1);
    w.shoup = fr52_shoup_of(&a[3]);
    return bench_min_ns(fn, &w, REPEATS);
}

double bench_fr8_mul_ns(void) { return measure(run_mul) / (ROUNDS * STREAMS * 8.0); }

double bench_fr8_shoup_ns(void) { return measure(run_shoup) / (ROUNDS * STREAMS * 8.0); }

double bench_fr8_floor_ns(void)
{
    return measure(run_madds) / (ROUNDS * (double)CHAINS) * MADDS_A_MUL / 8;
}
