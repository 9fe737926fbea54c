/*
 * The kernels of fixed.c in one group, included by fixed_core.h, which defines GROUP (dg1, dg2) and
 * FIELD (dfp, dfp2).
 */

#define G_(name)     DG_PASTE(GROUP, name)
#define F_(name)     DG_PASTE(FIELD, name)
#define AFFINE       G_(_affine)
#define FIXED_(name) DG_PASTE(DG_PASTE(fixed_, GROUP), name)
#define WORDS(type)  ((int)(sizeof(type) / sizeof(uint32_t)))

CUZK_HD AFFINE FIXED_(_load_affine)(const AFFINE *p)
{
    AFFINE a;
    load_words((uint32_t *)(void *)&a, p, WORDS(AFFINE));
    return a;
}

CUZK_HD void FIXED_(_store_affine)(AFFINE *p, AFFINE a)
{
    store_words(p, (const uint32_t *)(const void *)&a, WORDS(AFFINE));
}

CUZK_HD FIELD FIXED_(_load_field)(const FIELD *p)
{
    FIELD a;
    load_words((uint32_t *)(void *)&a, p, WORDS(FIELD));
    return a;
}

CUZK_HD void FIXED_(_fill_one)(const cuzk_cuda_fixed_fill_job *job, uint64_t i)
{
    uint64_t m = (uint64_t)1 << job->k, w = i >> job->k, d = (i & (m - 1)) + 1;
    AFFINE *table = (AFFINE *)job->table + (w << job->width);
    if ((m + d) >> job->width) {
        return;
    }
    AFFINE a = FIXED_(_load_affine)(&table[m]), b = FIXED_(_load_affine)(&table[d]);
    GROUP sum = G_(_from_affine)(&a);
    sum = G_(_add_affine)(&sum, &b);
    a = G_(_to_affine)(&sum);
    FIXED_(_store_affine)(&table[m + d], (AFFINE){F_(_reduce)(a.x), F_(_reduce)(a.y)});
}

/** Bound by the additions, one a window; entries are read from anywhere in the table. */
CUZK_HD void FIXED_(_sum_one)(const cuzk_cuda_fixed_sum_job *job, uint64_t i)
{
    const AFFINE *table = (const AFFINE *)job->table;
    const uint32_t *scalar = job->scalars[i].l;
    GROUP sum = G_(_inf)();
    for (uint32_t w = 0; w < job->windows; w++) {
        uint32_t d = fixed_digit(scalar, w * job->width, job->width);
        if (d) {
            AFFINE a = FIXED_(_load_affine)(&table[((uint64_t)w << job->width) + d]);
            sum = G_(_add_affine)(&sum, &a);
        }
    }
    store_words((GROUP *)job->sums + i, (const uint32_t *)(const void *)&sum, WORDS(GROUP));
}

/** Bound by 7 products a point, and one inversion. The products before a point wait in its place.
 */
CUZK_HD void FIXED_(_affine_one)(const cuzk_cuda_fixed_affine_job *job, uint64_t t)
{
    const GROUP *sums = (const GROUP *)job->sums;
    AFFINE *points = (AFFINE *)job->points;
    FIELD product = F_(_one)();
    uint64_t j = t;
    for (; j < job->n; j += job->stride) {
        store_words(&points[j].x, (const uint32_t *)(const void *)&product, WORDS(FIELD));
        if (!F_(_is_zero)(FIXED_(_load_field)(&sums[j].zz))) {
            product = F_(_mul_called)(product, FIXED_(_load_field)(&sums[j].zzz));
        }
    }
    FIELD inverse = F_(_inv_called)(product);
    while (j != t) {
        j -= job->stride;
        FIELD zz = FIXED_(_load_field)(&sums[j].zz);
        AFFINE r = G_(_affine_inf)();
        if (!F_(_is_zero)(zz)) {
            /* 1 / ZZ = (ZZ / ZZZ)^2 as ZZ^3 = ZZZ^2 */
            FIELD i = F_(_mul_called)(inverse, FIXED_(_load_field)(&points[j].x));
            inverse = F_(_mul_called)(inverse, FIXED_(_load_field)(&sums[j].zzz));
            r.y = F_(_reduce)(F_(_mul_called)(FIXED_(_load_field)(&sums[j].y), i));
            i = F_(_sqr_called)(F_(_mul_called)(i, zz));
            r.x = F_(_reduce)(F_(_mul_called)(FIXED_(_load_field)(&sums[j].x), i));
        }
        FIXED_(_store_affine)(&points[j], r);
    }
}

#undef WORDS
#undef FIXED_
#undef AFFINE
#undef F_
#undef G_
