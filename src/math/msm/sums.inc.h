/*
 * A stream of sums of points: the caller says run after run which points belong to it, and each
 * run's sum arrives where the run says. Runs collect in blocks; in a block the points of each run
 * are added in pairs, then the pairs' sums, and so on, every level in one batch of additions. So
 * the cost is one addition less than there are points, however they are spread over the runs, and
 * equal or repeated points do no harm.
 *
 * Included with GROUP and FIELD defined; all names are file-local.
 */

#define G_(name)   GROUP_PASTE(GROUP, name)
#define F_(name)   GROUP_PASTE(FIELD, name)
#define MSM_(name) GROUP_PASTE(msm_, GROUP_PASTE(GROUP, name))
#define AFFINE     G_(_affine)

#define BLOCK 4096 /* points in a block */

/* A run, or the part of it that is in the block. */
typedef struct run {
    AFFINE *sum;
    size_t n; /* points left to add */
} run;

typedef struct sums {
    msm_batch batch;
    _Alignas(
        64) AFFINE pool[BLOCK]; /* partial sums of the block, every level after the one before */
    msm_pair pair[BLOCK / 2];
    msm_ref item[BLOCK]; /* the points of the runs, in order */
    run runs[BLOCK + 1]; /* the last one is still growing */
    size_t nitems, nruns;
} sums;

/* Empty; NULL without memory. The caller owns it (free). */
static sums *sums_new(void)
{
    sums *s = aligned_alloc(64, (sizeof *s + 63) / 64 * 64);
    if (s) {
        s->nitems = 0;
        s->nruns = 0;
    }
    return s;
}

static msm_ref ref(const AFFINE *p) { return (msm_ref)p; }

/* Delivers a run's sum, canonical: those of eight lanes at a time may be above p by a little. */
static void put(AFFINE *ret, msm_ref r)
{
    AFFINE p = *(const AFFINE *)msm_ref_point(r);
    fp *coordinate = (fp *)&p;
    for (size_t i = 0; i < sizeof p / sizeof(fp); i++) {
        mont_reduce_once(coordinate[i].l, coordinate[i].l, fp_modulus.l, FP_LIMBS);
    }
    if (r & 1) {
        G_(_affine_neg)(&p, &p);
    }
    *ret = p;
}

/* One level: delivers the runs of one point, pairs up the others. Returns how many pairs. */
static size_t next_level(sums *s, size_t used)
{
    size_t pairs = 0, in = 0, out = 0, left = 0;
    for (size_t j = 0; j < s->nruns; j++) {
        run r = s->runs[j];
        const msm_ref *item = s->item + in;
        in += r.n;
        if (r.n == 1) {
            put(r.sum, item[0]);
            continue;
        }
        for (size_t i = 0; i + 1 < r.n; i += 2) {
            s->pair[pairs] = (msm_pair){item[i], item[i + 1]};
            s->item[out++] = ref(&s->pool[used + pairs]);
            pairs++;
        }
        if (r.n & 1) {
            s->item[out++] = item[r.n - 1];
        }
        s->runs[left++] = (run){r.sum, (r.n + 1) / 2};
    }
    s->nruns = left;
    return pairs;
}

/* Adds up all runs of the block and leaves it empty. */
static void sums_flush(sums *s)
{
    size_t used = 0, pairs;
    while ((pairs = next_level(s, used)) > 0) {
        MSM_(_add_pairs)(s->pool + used, s->pair, pairs, &s->batch);
        used += pairs;
    }
    s->nitems = 0;
    s->nruns = 0;
}

static void sums_begin(sums *s, AFFINE *sum)
{
    if (s->nitems == BLOCK) {
        sums_flush(s);
    }
    s->runs[s->nruns] = (run){sum, 0};
}

/* Adds a point to the run. It must stay where it is until the block is flushed. */
static void sums_item(sums *s, msm_ref point)
{
    if (s->nitems == BLOCK) {
        AFFINE *sum = s->runs[s->nruns].sum;
        if (s->runs[s->nruns].n > 0) { /* to be continued: from its sum so far */
            s->nruns++;
            sums_flush(s);
            s->item[s->nitems++] = ref(sum);
            s->runs[0] = (run){sum, 1};
        } else {
            sums_flush(s);
            s->runs[0] = (run){sum, 0};
        }
    }
    /* Into the second cache by the time that the block is full. */
    __builtin_prefetch(msm_ref_point(point), 0, 2);
    __builtin_prefetch((const char *)msm_ref_point(point) + sizeof(AFFINE) - 2, 0, 2);
    s->item[s->nitems++] = point;
    s->runs[s->nruns].n++;
}

static void sums_end(sums *s)
{
    run *r = &s->runs[s->nruns];
    if (r->n == 0) {
        memset(r->sum, 0, sizeof *r->sum);
    } else {
        s->nruns++;
    }
}
