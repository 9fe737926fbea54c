/*
 * A stream of sums of points: the caller says run after run which points belong to it, and each
 * run's sum arrives where the run says. Runs collect in blocks; in a block the points of each run
 * are added in pairs, then the pairs' sums, and so on, every level in one batch of additions. So
 * the cost is one addition less than there are points, however they are spread over the runs, and
 * equal or repeated points do no harm. What a short batch would add is left to the next block,
 * since each batch costs an inversion.
 *
 * Included with GROUP and FIELD defined; all names are file-local.
 */

#define G_(name)   GROUP_PASTE(GROUP, name)
#define F_(name)   GROUP_PASTE(FIELD, name)
#define MSM_(name) GROUP_PASTE(msm_, GROUP_PASTE(GROUP, name))
#define AFFINE     G_(_affine)

#define BLOCK 4096        /* points in a block */
#define SHORT 256         /* pairs that are too few for a batch of their own */
#define KEPT  (3 * SHORT) /* points that pair up to fewer than SHORT: a run of 3 is one pair */

/* A run, or what is left of it to add: points and partial sums. */
typedef struct run {
    AFFINE *sum;
    size_t n;
} run;

typedef struct sums {
    msm_batch batch;
    _Alignas(
        64) AFFINE pool[BLOCK]; /* partial sums of the block, every level after the one before */
    AFFINE kept[2][KEPT];       /* partial sums of earlier blocks: those of this one, of the next */
    msm_pair pair[BLOCK / 2];
    msm_ref item[BLOCK]; /* the points of the runs, in order */
    run runs[BLOCK + 1]; /* the last one is still growing */
    size_t nitems, nruns;
    unsigned side; /* of kept */
} sums;

/* Empty; NULL without memory. The caller owns it (free). */
static sums *sums_new(void)
{
    sums *s = aligned_alloc(64, (sizeof *s + 63) / 64 * 64);
    if (s) {
        s->nitems = 0;
        s->nruns = 0;
        s->side = 0;
    }
    return s;
}

static msm_ref ref(const AFFINE *p) { return (msm_ref)p; }

/* Delivers a run's sum. Eight lanes at a time leave coordinates that may be above p by a little:
 * good enough to add, else see canonical. */
static void put(AFFINE *ret, msm_ref r)
{
    *ret = *(const AFFINE *)msm_ref_point(r);
    if (r & 1) { /* a point of the caller's, and canonical */
        G_(_affine_neg)(ret, ret);
    }
}

/* Makes the coordinates of a sum canonical. */
static void canonical(AFFINE *p)
{
    fp *coordinate = (fp *)p;
    for (size_t i = 0; i < sizeof *p / sizeof(fp); i++) {
        mont_reduce_once(coordinate[i].l, coordinate[i].l, fp_modulus.l, FP_LIMBS);
    }
}

static size_t pairs_of(const sums *s)
{
    size_t pairs = 0;
    for (size_t j = 0; j < s->nruns; j++) {
        pairs += s->runs[j].n / 2;
    }
    return pairs;
}

/* One level: pairs up the points of each run, whose sums will be at pool[used..]; delivers the runs
 * of one point. */
static void next_level(sums *s, size_t used)
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
}

/* Delivers the runs of one point; makes the others, fewer than SHORT pairs, the beginning of the
 * next block. */
static void keep(sums *s)
{
    AFFINE *to = s->kept[s->side ^= 1];
    size_t in = 0, out = 0, left = 0;
    for (size_t j = 0; j < s->nruns; j++) {
        run r = s->runs[j];
        if (r.n == 1) {
            put(r.sum, s->item[in++]);
            continue;
        }
        for (size_t i = 0; i < r.n; i++) {
            msm_ref item = s->item[in++];
            if (item - (msm_ref)s < sizeof *s) { /* not a point of the caller's */
                to[out] = *(const AFFINE *)msm_ref_point(item);
                item = ref(&to[out]);
            }
            s->item[out++] = item;
        }
        s->runs[left++] = r;
    }
    s->nitems = out;
    s->nruns = left;
}

/* Adds up the runs of the block, as long as a level has so many pairs. */
static void add_levels(sums *s, size_t least)
{
    size_t used = 0, pairs;
    while ((pairs = pairs_of(s)) >= least) {
        next_level(s, used);
        MSM_(_add_pairs)(s->pool + used, s->pair, pairs, &s->batch);
        used += pairs;
    }
    keep(s);
}

/* Delivers all runs. */
static void sums_flush(sums *s) { add_levels(s, 1); }

static void sums_begin(sums *s, AFFINE *sum)
{
    if (s->nitems == BLOCK) {
        add_levels(s, SHORT);
    }
    s->runs[s->nruns] = (run){sum, 0};
}

/* Makes room in the middle of a run, which goes on from what is left of it. */
static void interrupt(sums *s)
{
    run growing = s->runs[s->nruns];
    s->nruns += growing.n > 0;
    add_levels(s, SHORT);
    if (s->nruns > 0 && s->runs[s->nruns - 1].sum == growing.sum) {
        s->nruns--;
        return;
    }
    s->runs[s->nruns] = (run){growing.sum, 0};
    if (growing.n > 0) { /* it came down to one point */
        s->item[s->nitems++] = ref(growing.sum);
        s->runs[s->nruns].n = 1;
    }
}

/* Adds a point to the run. It must stay where it is until sums_flush. */
static void sums_item(sums *s, msm_ref point)
{
    if (s->nitems == BLOCK) {
        interrupt(s);
    }
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
