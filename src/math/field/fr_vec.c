#include "math/field/fr_vec.h"

/* Elements of one task: 128 KiB of each array. */
enum { TASK = 4096 };

typedef struct job {
    fr_vec_op op;
    fr *r;
    const fr *a, *b, *c;
    size_t n;
} job;

static bool by_one_factor(fr_vec_op op) { return op == FR_VEC_SCALE || op == FR_VEC_SUB_SCALE; }

static void run_scalar(const job *j, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        fr t = j->a[i];
        if (j->op == FR_VEC_SUB_SCALE) {
            fr_sub(&t, &t, &j->c[i]);
        }
        fr_mul(&t, &t, by_one_factor(j->op) ? j->b : &j->b[i]);
        if (j->op == FR_VEC_MUL_SUB) {
            fr_sub(&t, &t, &j->c[i]);
        }
        j->r[i] = t;
    }
}

static void run_task(void *ctx, size_t index, unsigned worker)
{
    (void)worker;
    const job *j = ctx;
    size_t begin = index * TASK, end = begin + TASK < j->n ? begin + TASK : j->n;
#ifdef CUZK_X86_64
    if (math_isa_level >= MATH_ISA_IFMA) {
        size_t n = (end - begin) / 8 * 8;
        fr_vec_run_ifma(j->op, j->r + begin, j->a + begin,
                        by_one_factor(j->op) ? j->b : j->b + begin, j->c ? j->c + begin : NULL, n);
        begin += n;
    }
#endif
    run_scalar(j, begin, end);
}

static void run(const job *j, cuzk_pool *pool)
{
    cuzk_pool_run(pool, (j->n + TASK - 1) / TASK, run_task, (void *)j);
}

void fr_vec_mul(fr *r, const fr *a, const fr *b, size_t n, cuzk_pool *pool)
{
    run(&(job){.op = FR_VEC_MUL, .r = r, .a = a, .b = b, .n = n}, pool);
}

void fr_vec_mul_sub(fr *a, const fr *b, const fr *c, size_t n, cuzk_pool *pool)
{
    run(&(job){.op = FR_VEC_MUL_SUB, .r = a, .a = a, .b = b, .c = c, .n = n}, pool);
}

void fr_vec_sub_scale(fr *a, const fr *c, const fr *k, size_t n, cuzk_pool *pool)
{
    fr factor = *k;
    run(&(job){.op = FR_VEC_SUB_SCALE, .r = a, .a = a, .b = &factor, .c = c, .n = n}, pool);
}

void fr_vec_scale(fr *r, const fr *a, const fr *k, size_t n, cuzk_pool *pool)
{
    fr factor = *k; /* k may be an element of r */
    run(&(job){.op = FR_VEC_SCALE, .r = r, .a = a, .b = &factor, .n = n}, pool);
}

/* fr and fr_repr are the same four limbs; conversions are multiplications by 1 and 2^512. */
_Static_assert(sizeof(fr) == sizeof(fr_repr), "an array of one is used as an array of the other");

void fr_vec_to_repr(fr_repr *r, const fr *a, size_t n, cuzk_pool *pool)
{
    static const fr one = {{1}};
    run(&(job){.op = FR_VEC_SCALE, .r = (fr *)(void *)r, .a = a, .b = &one, .n = n}, pool);
}

void fr_vec_from_repr(fr *r, const fr_repr *a, size_t n, cuzk_pool *pool)
{
    const fr *from = (const fr *)(const void *)a;
    run(&(job){.op = FR_VEC_SCALE, .r = r, .a = from, .b = &fr_r2, .n = n}, pool);
}
