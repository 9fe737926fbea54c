/*
 * Multi-scalar multiplication by buckets, included by msm_g1.c and msm_g2.c after sums.inc.h.
 *
 * Everything ends in 256 sums S_i with the result sum_i 2^i S_i. Points whose scalar is 1 belong to
 * S_0. The other scalars are cut into windows; within a window, points with the same digit are
 * added into one bucket, and the weighted sum of the buckets is taken bit by bit of the bucket's
 * number, halving the buckets each time: a window of c bits yields c of the S_i. All of these
 * additions are sums of runs of affine points (sums.inc.h).
 */

#define CHUNK       ((size_t)1 << 18) /* entries that are sorted at a time */
#define FEW         8                 /* so few points are multiplied one by one */
#define BITS        255
#define BUCKET_ROOM ((size_t)192 << 20) /* bytes for the buckets of all threads together */
#define LONE_POINTS 32768               /* additions that make a task worth while */

/* The sums of one range of windows over one range of a class's entries; windows.count = 0 means
 * the plain sum of the entries' points. */
typedef struct task {
    const uint32_t *entry;
    size_t n;
    bool small;
    msm_windows windows;
    unsigned first, last; /* windows [first, last) */
    AFFINE *ret;          /* one for each bit of the windows */
} task;

typedef struct worker {
    sums *sums;
    uint32_t sorted[CHUNK];
    uint32_t digit[CHUNK]; /* 2 |digit| + sign of each entry to sort */
    uint32_t *count;       /* 1 + the widest window's digits */
    AFFINE *bucket;        /* the buckets of each of a task's windows, by digit from 0 */
    AFFINE *halved;        /* the same, half as many */
} worker;

typedef struct job {
    const AFFINE *p;
    const fr_repr *k;
    msm_classes classes;
    task *tasks;
    size_t ntasks;
    AFFINE *bit_sums;
    worker **workers;
    unsigned threads;
    unsigned max_width;
} job;

static size_t digits_of(unsigned lo, unsigned hi) { return ((size_t)1 << (hi - lo - 1)) + 1; }

static msm_ref ref_of_entry(const job *j, uint32_t entry)
{
    return ref(&j->p[entry >> 1]) | (entry & 1);
}

static void sum_ones(const job *j, const task *t, sums *s)
{
    sums_begin(s, t->ret);
    for (size_t i = 0; i < t->n; i++) {
        sums_item(s, ref_of_entry(j, t->entry[i]));
    }
    sums_end(s);
    sums_flush(s);
}

/* The digits of n entries in one window, and how many there are of each. */
static void find_digits(const job *j, bool small, worker *w, const uint32_t *entry, size_t n,
                        unsigned lo, unsigned hi)
{
    for (size_t i = 0; i < n; i++) {
        const fr_repr *k = &j->k[entry[i] >> 1];
        uint64_t v = small ? msm_small_bits(k, entry[i], lo, hi) : msm_full_bits(k, lo, hi);
        uint32_t negative;
        uint32_t d = msm_digit(v, hi - lo, &negative);
        w->digit[i] = 2 * d + negative;
        w->count[d + 1]++;
    }
}

/* Counting sort of entries by digit: afterwards digit d's are sorted[count[d - 1] .. count[d]),
 * with the digit's sign worked in. */
static void sort_by_digit(const job *j, const task *t, worker *w, const uint32_t *entry, size_t n,
                          unsigned lo, unsigned hi)
{
    size_t digits = digits_of(lo, hi);
    uint32_t *count = w->count;
    memset(count, 0, (digits + 1) * sizeof *count);
    if (t->small) {
        find_digits(j, true, w, entry, n, lo, hi);
    } else {
        find_digits(j, false, w, entry, n, lo, hi);
    }
    for (size_t d = 1; d < digits; d++) {
        count[d + 1] += count[d];
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t d = w->digit[i];
        w->sorted[count[d >> 1]++] = entry[i] ^ (d & 1);
    }
}

/* Adds sorted entries to a window's buckets; the first time, the buckets have no value yet. */
static void fill_buckets(const job *j, worker *w, AFFINE *bucket, size_t digits, bool first_time)
{
    sums *s = w->sums;
    for (size_t d = 1; d < digits; d++) {
        sums_begin(s, &bucket[d]);
        if (!first_time && !G_(_affine_is_inf)(&bucket[d])) {
            sums_item(s, ref(&bucket[d]));
        }
        for (size_t i = w->count[d - 1]; i < w->count[d]; i++) {
            sums_item(s, ref_of_entry(j, w->sorted[i]));
        }
        sums_end(s);
    }
}

static void halve_item(sums *s, const AFFINE *p)
{
    if (!G_(_affine_is_inf)(p)) {
        sums_item(s, ref(p));
    }
}

/* One step of sum_d d B_d = sum_{d odd} B_d + 2 sum_e e (B_2e + B_2e+1) over n buckets from 0.
 * Returns how many buckets are left. */
static size_t halve(sums *s, AFFINE *ret_odd, AFFINE *ret_half, const AFFINE *b, size_t n)
{
    sums_begin(s, ret_odd);
    for (size_t d = 1; d < n; d += 2) {
        halve_item(s, &b[d]);
    }
    sums_end(s);
    for (size_t e = 1; 2 * e < n; e++) {
        sums_begin(s, &ret_half[e]);
        halve_item(s, &b[2 * e]);
        if (2 * e + 1 < n) {
            halve_item(s, &b[2 * e + 1]);
        }
        sums_end(s);
    }
    return (n + 1) / 2;
}

/* The bit sums of all of a task's windows, level by level. */
static void reduce_buckets(const task *t, worker *w)
{
    AFFINE *from = w->bucket;
    AFFINE *to = w->halved;
    unsigned start, ignored;
    msm_window(t->windows, t->first, &start, &ignored);
    for (unsigned bit = 0, busy = 1; busy; bit++) {
        AFFINE *in = from, *out = to;
        busy = 0;
        for (unsigned v = t->first; v < t->last; v++) {
            unsigned lo, hi;
            msm_window(t->windows, v, &lo, &hi);
            if (bit < hi - lo) {
                size_t n = ((digits_of(lo, hi) - 1) >> bit) + 1;
                busy = 1;
                halve(w->sums, &t->ret[lo - start + bit], out, in, n);
                in += n;
                out += (n + 1) / 2;
            }
        }
        sums_flush(w->sums);
        AFFINE *swap = from;
        from = to;
        to = swap;
    }
}

static void run_task(void *context, size_t index, unsigned worker_index)
{
    const job *j = context;
    const task *t = &j->tasks[index];
    worker *w = j->workers[worker_index];
    if (t->windows.count == 0) {
        sum_ones(j, t, w->sums);
        return;
    }
    for (size_t at = 0; at < t->n; at += CHUNK) {
        size_t n = t->n - at < CHUNK ? t->n - at : CHUNK;
        AFFINE *bucket = w->bucket;
        for (unsigned v = t->first; v < t->last; v++) {
            unsigned lo, hi;
            msm_window(t->windows, v, &lo, &hi);
            sort_by_digit(j, t, w, t->entry + at, n, lo, hi);
            fill_buckets(j, w, bucket, digits_of(lo, hi), at == 0);
            bucket += digits_of(lo, hi);
        }
        sums_flush(w->sums);
    }
    reduce_buckets(t, w);
}

/* How a class's work is spread: tasks of `group` windows (or of plain sums) over each of `parts`
 * ranges of entries. */
typedef struct spread {
    msm_windows windows;
    unsigned group;
    size_t parts;
} spread;

static spread spread_of(const job *j, size_t n, unsigned bits)
{
    spread s = {{bits, 0}, 1, 1};
    size_t want = j->threads > 1 ? 4 * (size_t)j->threads : 1; /* tasks, to keep all threads busy */
    if (bits > 0) {
        s.windows = msm_windows_for(n, bits, j->max_width);
        s.group = (unsigned)(LONE_POINTS / n) + 1;
        if (s.group > s.windows.count) {
            s.group = s.windows.count;
        }
        if (j->threads > 1 && s.group > s.windows.count / j->threads + 1) {
            s.group = s.windows.count / j->threads + 1;
        }
    }
    size_t tasks = bits > 0 ? (s.windows.count + s.group - 1) / s.group : 1;
    s.parts = (want + tasks - 1) / tasks;
    size_t most = n / LONE_POINTS + 1;
    if (s.parts > most) {
        s.parts = most;
    }
    if (bits > 0 && s.parts > 1) {
        s.windows = msm_windows_for(n / s.parts, bits, j->max_width);
    }
    return s;
}

/* Appends a class's tasks to *j; their sums take the places from *used on in j->bit_sums. With
 * j->tasks NULL only counts. */
static void plan_class(job *j, const uint32_t *entry, size_t n, unsigned bits, bool small,
                       size_t *used)
{
    if (n == 0) {
        return;
    }
    spread s = spread_of(j, n, bits);
    for (size_t part = 0; part < s.parts; part++) {
        size_t begin, end;
        cuzk_split(n, s.parts, part, &begin, &end);
        task t = {entry + begin, end - begin, small, s.windows, 0, 0, NULL};
        do {
            unsigned lo = 0, hi = 1;
            t.last = t.first + s.group < s.windows.count ? t.first + s.group : s.windows.count;
            if (s.windows.count > 0) {
                msm_window(s.windows, t.first, &lo, &hi);
                msm_window(s.windows, t.last - 1, &(unsigned){0}, &hi);
            }
            if (j->tasks) {
                t.ret = j->bit_sums + *used;
                j->tasks[j->ntasks] = t;
            }
            j->ntasks++;
            *used += hi - lo;
            t.first = t.last;
        } while (t.first < s.windows.count);
    }
}

static size_t plan(job *j)
{
    size_t used = 0;
    const msm_classes *c = &j->classes;
    j->ntasks = 0;
    plan_class(j, c->full, c->nfull, BITS, false, &used);
    plan_class(j, c->small, c->nsmall, c->small_bits, true, &used);
    plan_class(j, c->ones, c->nones, 0, false, &used);
    return used;
}

static void worker_free(worker *w)
{
    if (w) {
        free(w->sums);
        free(w->count);
        free(w->bucket);
        free(w->halved);
        free(w);
    }
}

/* Buckets of the windows of a task, and digits of the widest one. */
static size_t buckets_of(const task *t, size_t *ret_widest)
{
    size_t sum = 0;
    *ret_widest = 0;
    for (unsigned v = t->first; v < t->last; v++) {
        unsigned lo, hi;
        msm_window(t->windows, v, &lo, &hi);
        size_t digits = digits_of(lo, hi);
        sum += digits;
        *ret_widest = *ret_widest > digits ? *ret_widest : digits;
    }
    return sum;
}

static worker *worker_new(const job *j)
{
    size_t buckets = 1, widest = 1;
    for (size_t i = 0; i < j->ntasks; i++) {
        size_t digits;
        size_t n = buckets_of(&j->tasks[i], &digits);
        buckets = buckets > n ? buckets : n;
        widest = widest > digits ? widest : digits;
    }
    worker *w = malloc(sizeof *w);
    if (!w) {
        return NULL;
    }
    w->count = malloc((widest + 1) * sizeof *w->count);
    w->bucket = malloc(buckets * sizeof *w->bucket);
    w->halved = malloc(buckets * sizeof *w->halved);
    w->sums = sums_new();
    if (!w->sums || !w->count || !w->bucket || !w->halved) {
        worker_free(w);
        return NULL;
    }
    return w;
}

static void add_bit_sums(const job *j, GROUP total[BITS + 1])
{
    for (size_t i = 0; i < j->ntasks; i++) {
        const task *t = &j->tasks[i];
        unsigned lo = 0, hi = 1;
        if (t->windows.count > 0) {
            msm_window(t->windows, t->first, &lo, &hi);
            msm_window(t->windows, t->last - 1, &(unsigned){0}, &hi);
        }
        for (unsigned bit = lo; bit < hi; bit++) {
            canonical(&t->ret[bit - lo]);
            G_(_add_affine)(&total[bit], &total[bit], &t->ret[bit - lo]);
        }
    }
}

/* Adds the sums of one part of the points, already classified, to total. */
static bool run_part(job *j, GROUP total[BITS + 1], cuzk_pool *pool)
{
    j->tasks = NULL;
    size_t nsums = plan(j);
    if (j->ntasks == 0) {
        return true;
    }
    j->tasks = malloc(j->ntasks * sizeof *j->tasks);
    j->bit_sums = malloc(nsums * sizeof *j->bit_sums);
    j->workers = calloc(j->threads, sizeof(worker *));
    bool ok = j->tasks && j->bit_sums && j->workers;
    if (ok) {
        plan(j);
        for (unsigned i = 0; i < j->threads && i < j->ntasks; i++) {
            ok = ok && (j->workers[i] = worker_new(j));
        }
    }
    if (ok) {
        cuzk_pool_run(pool, j->ntasks, run_task, j);
        add_bit_sums(j, total);
    }
    for (unsigned i = 0; j->workers && i < j->threads; i++) {
        worker_free(j->workers[i]);
    }
    free(j->workers);
    free(j->bit_sums);
    free(j->tasks);
    return ok;
}

static void one_by_one(GROUP *ret, const AFFINE *p, const fr_repr *k, size_t n)
{
    GROUP sum;
    G_(_set_inf)(&sum);
    for (size_t i = 0; i < n; i++) {
        GROUP t;
        G_(_from_affine)(&t, &p[i]);
        G_(_mul)(&t, &t, &k[i]);
        G_(_add)(&sum, &sum, &t);
    }
    *ret = sum;
}

static unsigned max_width(unsigned threads)
{
    unsigned width = 2;
    while (width < 18 && ((size_t)3 << width) * sizeof(AFFINE) / 2 * threads <= BUCKET_ROOM) {
        width++;
    }
    return width;
}

size_t MSM_(_scratch_bytes)(size_t n, unsigned threads)
{
    size_t part = n < MSM_PART ? n : MSM_PART;
    size_t room = ((size_t)1 << max_width(threads)) * (sizeof(AFFINE) + sizeof(uint32_t)) +
                  2 * LONE_POINTS * sizeof(AFFINE);
    return 3 * part * sizeof(uint32_t) + threads * (sizeof(worker) + sizeof(sums) + room) +
           ((size_t)1 << 20);
}

cuzk_code GROUP_PASTE(msm_, GROUP)(GROUP *ret, const AFFINE *p, const fr_repr *k, size_t n,
                                   cuzk_pool *pool, cuzk_err *err)
{
    if (n <= FEW) {
        one_by_one(ret, p, k, n);
        return CUZK_OK;
    }
    size_t part = n < MSM_PART ? n : MSM_PART;
    GROUP total[BITS + 1];
    for (int i = 0; i <= BITS; i++) {
        G_(_set_inf)(&total[i]);
    }
    job j = {0};
    j.threads = cuzk_pool_size(pool);
    j.max_width = max_width(j.threads);
    uint32_t *entries = malloc(3 * part * sizeof *entries);
    bool ok = entries;
    for (size_t at = 0; ok && at < n; at += part) {
        j.p = p + at;
        j.k = k + at;
        j.classes.full = entries;
        j.classes.small = entries + part;
        j.classes.ones = entries + 2 * part;
        msm_classify(&j.classes, j.k, n - at < part ? n - at : part, pool);
        ok = run_part(&j, total, pool);
    }
    free(entries);
    if (!ok) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a sum of %zu multiples on %u threads",
                         n, j.threads);
    }
    GROUP sum = total[BITS];
    for (int i = BITS; i-- > 0;) {
        G_(_dbl)(&sum, &sum);
        G_(_add)(&sum, &sum, &total[i]);
    }
    *ret = sum;
    return CUZK_OK;
}
