/*
 * processes.c — measures whether reads scale with processes, and which pages a read dirties.
 *
 *   build/bench-processes [--rounds N] [--seconds S] [--directory DIR] [--json]
 *
 * Four workers are forked, each on its own core if there are enough, and stay for the whole run. In each round the
 * same work is done by one worker alone (by each of the first two in turn, of which the mean counts, because cores
 * differ), then by two, three and four together. Ratios are within one round; their medians are printed.
 *
 * Two loops without a cache do the same in the same rounds: "processor" computes in registers, "memory" reads
 * random words of a region that all workers share. They tell what the machine can do: cores of a virtual machine
 * may be two threads of one core, and share its caches. Ratios of the cache are divided by theirs, round by round.
 *
 * Then the pages with records are made read-only in this process, and a read-only workload runs: each page that it
 * stores to is counted by its fault.
 */
#include "bench.h"

#define WORKERS 4
#define VALUE_BYTES 100
#define CHUNK 256 /* operations between two looks at the clock */
#define FILE_BYTES (256u << 20)
#define TTL_MS 300000

typedef enum { CACHE, PROCESSOR, MEMORY } kind;

typedef struct {
    const char *name;
    uint64_t keys;
    unsigned writes_of_100;
    kind kind;
} workload;

static const workload workloads[] = {
    {"95 % reads of 100,000 keys", 100000, 5, CACHE},
    {"reads of 100,000 keys", 100000, 0, CACHE},
    {"reads of one key", 1, 0, CACHE},
    {"95 % reads of one key", 1, 5, CACHE},
    {"processor", 0, 0, PROCESSOR},
    {"memory", 0, 0, MEMORY},
};
#define WORKLOADS (sizeof workloads / sizeof *workloads)

/* Shared by the forked: what to do, and what came of it. */
typedef struct {
    volatile uint32_t turn; /* raised for each stretch; 0 at first */
    volatile uint32_t stop;
    volatile uint32_t active[WORKERS];
    volatile uint32_t workload;
    volatile uint64_t start_ns, end_ns;
    volatile uint32_t finished[WORKERS]; /* turn that the worker is done with */
    volatile double rate[WORKERS];       /* operations a second */
    volatile uint64_t wrong[WORKERS];    /* values that were not their key's */
    volatile uint64_t missed[WORKERS];
} orders;

static orders *shared;

#define REGION_WORDS ((64u << 20) / 8)
static uint64_t *region;         /* that the workers of "memory" read */
static volatile uint64_t result; /* of their loops */

static void operate(larder *cache, const workload *work, uint64_t *state, uint64_t *missed, uint64_t *wrong) {
    char key[KEY_BYTES];
    unsigned char value[VALUE_BYTES];
    for (int i = 0; i < CHUNK; i++) {
        uint64_t random = bench_random(state), number = (random >> 8) % work->keys;
        bench_key(key, number);
        if ((random & 0xff) * 100 < work->writes_of_100 * 256u) {
            bench_value(value, VALUE_BYTES, number);
            larder_store store = {
                .key = key, .key_bytes = KEY_BYTES, .value = value, .value_bytes = VALUE_BYTES, .ttl_ms = TTL_MS};
            *wrong += larder_set(cache, &store, NULL) != LARDER_OK;
        } else if (larder_get(cache, key, KEY_BYTES, value, VALUE_BYTES, NULL, NULL) != LARDER_OK) {
            ++*missed;
        } else {
            *wrong += !bench_is_value(value, VALUE_BYTES, number);
        }
    }
}

static void compute(uint64_t *state) {
    for (int i = 0; i < CHUNK * 16; i++) {
        bench_random(state);
    }
    result = *state;
}

/* Each read waits for the one before it. */
static void read_memory(uint64_t *state) {
    for (int i = 0; i < CHUNK; i++) {
        *state += region[(bench_random(state) >> 8) % REGION_WORDS];
    }
    result = *state;
}

static void stretch(larder *cache, int self, uint64_t *state) {
    const workload *work = &workloads[shared->workload];
    uint64_t operations = 0, missed = 0, wrong = 0, now;
    while (bench_now_ns() < shared->start_ns) {
    }
    uint64_t begun = bench_now_ns();
    do {
        if (work->kind == PROCESSOR) {
            compute(state);
        } else if (work->kind == MEMORY) {
            read_memory(state);
        } else {
            operate(cache, work, state, &missed, &wrong);
        }
        operations += CHUNK;
        now = bench_now_ns();
    } while (now < shared->end_ns);
    shared->rate[self] = (double)operations / ((double)(now - begun) / 1e9);
    shared->wrong[self] += wrong;
    shared->missed[self] += missed;
}

/* A worker's life. Sleeps between stretches, so that it does not disturb those of others. */
static void serve(larder *cache, int self) {
    uint64_t state = 88172645463325252ull + (uint64_t)self * 7919;
    uint32_t done = 0;
    pid_t parent = getppid();
    bench_pin(self);
    while (!shared->stop && getppid() == parent) {
        if (__atomic_load_n(&shared->turn, __ATOMIC_ACQUIRE) == done) {
            usleep(200);
            continue;
        }
        done = shared->turn;
        if (shared->active[self]) {
            stretch(cache, self, &state);
        }
        __atomic_store_n(&shared->finished[self], done, __ATOMIC_RELEASE);
    }
    larder_close(cache);
    _exit(0);
}

/* Lets the workers of `mask` work together. Answers their operations a second, summed. */
static double together(unsigned mask, uint32_t workload) {
    double sum = 0;
    for (int i = 0; i < WORKERS; i++) {
        shared->active[i] = mask >> i & 1;
    }
    shared->workload = workload;
    shared->start_ns = bench_now_ns() + 3000000; /* time for all to wake up */
    shared->end_ns = shared->start_ns + (uint64_t)(bench_given.seconds * 1e9);
    __atomic_add_fetch(&shared->turn, 1, __ATOMIC_RELEASE);
    uint64_t limit = shared->end_ns + 20000000000ull;
    for (int i = 0; i < WORKERS; i++) {
        while (__atomic_load_n(&shared->finished[i], __ATOMIC_ACQUIRE) != shared->turn) {
            usleep(1000);
            if (bench_now_ns() > limit) {
                bench_die("worker %d does not answer", i);
            }
        }
        sum += shared->active[i] ? shared->rate[i] : 0;
    }
    return sum;
}

/* Operations a second of that many workers; of one, the mean of the first two. */
static double rates[WORKLOADS][WORKERS + 1][MOST_ROUNDS];

static void measure(uint32_t number, int r) {
    double *rate[WORKERS + 1], first, second;
    for (int n = 1; n <= WORKERS; n++) {
        rate[n] = &rates[number][n][r];
    }
    if (r % 2) { /* who goes first changes, so that a slow spell meets all */
        *rate[2] = together(3, number);
        second = together(2, number);
        first = together(1, number);
    } else {
        first = together(1, number);
        second = together(2, number);
        *rate[2] = together(3, number);
    }
    *rate[3] = together(7, number);
    *rate[4] = together(15, number);
    *rate[1] = (first + second) / 2;
}

static void report(uint32_t number, int cores) {
    double millions[MOST_ROUNDS], ratio[MOST_ROUNDS];
    char name[120];
    for (int n = 1; n <= WORKERS; n++) {
        const char *crowded = n > cores ? " (more than cores)" : "";
        for (int r = 0; r < bench_given.rounds; r++) {
            millions[r] = rates[number][n][r] / 1e6;
            ratio[r] = rates[number][n][r] / rates[number][1][r];
        }
        if (n == 1) {
            snprintf(name, sizeof name, "%s: one process", workloads[number].name);
        } else {
            snprintf(name, sizeof name, "%s: %d processes%s", workloads[number].name, n, crowded);
        }
        bench_figure(name, "Mop/s", millions, bench_given.rounds);
        if (n > 1) {
            snprintf(name, sizeof name, "%s: %d as one%s", workloads[number].name, n, crowded);
            bench_figure(name, "x", ratio, bench_given.rounds);
        }
    }
}

/* How the ratio of two processes to one compares with that of the loops, which is the machine's. */
static void report_as_ideal(uint32_t number) {
    for (uint32_t loop = 0; loop < WORKLOADS; loop++) {
        double ratio[MOST_ROUNDS];
        char name[120];
        for (int r = 0; r < bench_given.rounds; r++) {
            ratio[r] = rates[number][2][r] / rates[number][1][r] / (rates[loop][2][r] / rates[loop][1][r]);
        }
        if (workloads[loop].kind != CACHE) {
            snprintf(name, sizeof name, "%s: 2 as one, as %s", workloads[number].name, workloads[loop].name);
            bench_figure(name, "x", ratio, bench_given.rounds);
        }
    }
}

/* ---- pages that a read-only workload stores to ---- */

static struct {
    uint8_t *base, *end;
    long page;
    volatile sig_atomic_t stores; /* to pages that were read-only */
    struct sigaction before;
} guarded;

static void on_fault(int signal, siginfo_t *info, void *context) {
    uint8_t *at = info->si_addr;
    (void)context;
    if (at < guarded.base || at >= guarded.end) {
        sigaction(signal, &guarded.before, NULL); /* not ours: it happens again, and ends us */
        return;
    }
    guarded.stores++;
    at -= (uintptr_t)at % (uintptr_t)guarded.page;
    mprotect(at, (size_t)guarded.page, PROT_READ | PROT_WRITE);
}

/* Makes the whole pages of all segments that hold records read-only. Answers how many pages. */
static uint64_t protect_records(larder *cache) {
    lard_map *map = cache->core->map;
    uint64_t pages = 0;
    guarded.page = sysconf(_SC_PAGESIZE);
    guarded.base = map->base;
    guarded.end = map->base + map->bytes;
    for (uint32_t s = 0; s < map->super.shard_count; s++) {
        lard_view view = lard_view_of(map, s);
        for (uint32_t i = 0; i < map->super.segments_per_shard; i++) {
            uint32_t state = lard_load(&view.segments[i].state);
            if (state != LARD_SEGMENT_SMALL && state != LARD_SEGMENT_MAIN) {
                continue;
            }
            uintptr_t page = (uintptr_t)guarded.page;
            uintptr_t from =
                (uintptr_t)view.base + map->super.data_offset + (uintptr_t)i * map->super.segment_bytes;
            uintptr_t to = (from + map->super.segment_bytes) & ~(page - 1);
            from = (from + page - 1) & ~(page - 1);
            if (to > from) {
                if (mprotect((void *)from, to - from, PROT_READ) != 0) {
                    bench_die("mprotect: %s", strerror(errno));
                }
                pages += (to - from) / page;
            }
        }
    }
    return pages;
}

/* Pages of the map that the kernel holds for dirty, by /proc/self/smaps; -1 where it does not say. */
static double dirty_kib(const lard_map *map) {
    FILE *smaps = fopen("/proc/self/smaps", "r");
    if (!smaps) {
        return -1;
    }
    char line[512];
    double sum = 0;
    bool inside = false;
    while (fgets(line, sizeof line, smaps)) {
        unsigned long from, to, kib;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
            inside = from >= (unsigned long)map->base && to <= (unsigned long)(map->base + map->bytes);
        } else if (inside && (sscanf(line, "Shared_Dirty: %lu", &kib) == 1 ||
                              sscanf(line, "Private_Dirty: %lu", &kib) == 1)) {
            sum += (double)kib;
        }
    }
    fclose(smaps);
    return sum;
}

static void read_everything(larder *cache, uint64_t keys, int times) {
    char key[KEY_BYTES];
    unsigned char value[VALUE_BYTES];
    for (int t = 0; t < times; t++) {
        for (uint64_t i = 0; i < keys; i++) {
            bench_key(key, i);
            if (larder_get(cache, key, KEY_BYTES, value, VALUE_BYTES, NULL, NULL) != LARDER_OK ||
                !bench_is_value(value, VALUE_BYTES, i)) {
                bench_die("key %lu is not there, or wrong", (unsigned long)i);
            }
        }
    }
}

static void watch_pages(void) {
    const uint64_t keys = 100000;
    char path[360];
    snprintf(path, sizeof path, "%s", bench_path("pages.larder"));
    larder *cache = bench_open(path, 64u << 20);
    bench_fill(cache, 0, keys, VALUE_BYTES);
    lard_map *map = cache->core->map;
    msync(map->base, map->bytes, MS_SYNC);
    double before = dirty_kib(map);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, &guarded.before);
    uint64_t pages = protect_records(cache);
    read_everything(cache, keys, 5);
    double stores = (double)guarded.stores;
    mprotect(map->base, map->bytes, PROT_READ | PROT_WRITE);
    double after = dirty_kib(map);
    /* Does the trap catch? One set may find its room at the beginning of a page; not all of many do. */
    protect_records(cache);
    bench_fill(cache, 0, 1000, VALUE_BYTES);
    if ((double)guarded.stores == stores) {
        bench_die("the trap for stores does not work: a set went unnoticed");
    }
    mprotect(map->base, map->bytes, PROT_READ | PROT_WRITE);
    sigaction(SIGSEGV, &guarded.before, NULL);
    bench_heading("500,000 reads of 100,000 keys, after msync");
    bench_number("pages with records", "pages", (double)pages);
    bench_number("pages with records that reads stored to", "pages", stores);
    bench_number("KiB dirty before, by the kernel (all, on tmpfs)", "KiB", before);
    bench_number("KiB dirty after: index and statistics", "KiB", after);
    larder_close(cache);
}

int main(int argc, char **argv) {
    pid_t workers[WORKERS];
    bench_read_options(argc, argv, 5, 0.2, "One process beside two, three and four on the same file.");
    int cores = bench_core_count();
    bench_make_directory();
    shared = bench_shared(sizeof *shared);
    region = bench_shared(REGION_WORDS * 8);
    uint64_t random = 88172645463325252ull;
    for (size_t i = 0; i < REGION_WORDS; i++) {
        region[i] = bench_random(&random);
    }
    larder *cache = bench_open(bench_path("processes.larder"), FILE_BYTES);
    bench_fill(cache, 0, workloads[0].keys, VALUE_BYTES);
    bench_heading("%d cores, %d rounds of %g s a stretch, in %s", cores, bench_given.rounds, bench_given.seconds,
                  bench_given.directory);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = bench_fork();
        if (workers[i] == 0) {
            serve(cache, i);
        }
    }
    together(15, 0); /* attaches all, and warms them */
    for (int r = 0; r < bench_given.rounds; r++) {
        for (uint32_t i = 0; i < WORKLOADS; i++) {
            measure(i, r);
        }
    }
    for (uint32_t i = 0; i < WORKLOADS; i++) {
        report(i, cores);
    }
    for (uint32_t i = 0; i < WORKLOADS && workloads[i].kind == CACHE; i++) {
        report_as_ideal(i);
    }
    shared->stop = 1;
    uint64_t wrong = 0, missed = 0;
    for (int i = 0; i < WORKERS; i++) {
        bench_wait_well(workers[i]);
        wrong += shared->wrong[i];
        missed += shared->missed[i];
    }
    larder_stats stats;
    larder_get_stats(cache, &stats);
    larder_close(cache);
    bench_heading("of all processes");
    bench_number("waits for a lock", "waits", (double)stats.lock_waits);
    bench_number("reads that missed", "reads", (double)missed);
    if (wrong) {
        bench_die("%lu values were wrong or refused", (unsigned long)wrong);
    }
    watch_pages();
    return 0;
}
