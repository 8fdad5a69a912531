/*
 * many.c — measures a large file with many items that many processes have open.
 *
 *   build/bench-many [--gib N] [--file PATH] [--rounds N] [--seconds S] [--directory DIR] [--json]
 *
 * The file has --gib GiB (40, or half of what the directory has free) and ITEMS_A_GIB items for each: a process
 * for each core fills it. With --file it stays for the next run, which need not fill it again. Then PROCESSES
 * processes of this program open it, each by itself, and these are measured:
 *
 * "open": by one more process, with the get that follows, in wall time and in CPU time.
 * "get": of random keys by one of the processes, while the others sleep, and by all at once. "recent": of the part
 * of the keys that was stored last, "any": of all, which the disk must read where the file exceeds the memory.
 * "memory of a process": after it opened the file, and after that many gets (/proc/PID/smaps_rollup, status).
 * "set": by one process, while nothing else runs, and while another process runs prune or verify. A call that runs
 * longer than LIMIT_S is ended by its process.
 */
#include "worker.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>

#define PROCESSES 32
#define ITEM_KEY_BYTES 16
#define VALUE_BYTES 340
#define ITEMS_A_GIB 2500000u /* 90 % of a GiB with what the engine adds */
#define MOST_GIB 40u
#define RECENT_PART 100 /* of the keys are recent */
#define LIMIT_S 900
#define CHILD "--child"

typedef enum { OPEN, GET_RECENT, GET_ANY, SET, PRUNE, VERIFY } kind;

typedef struct {
    kind what;
    uint64_t calls; /* gets; 0: as many as the seconds allow */
    double seconds;
} order;

typedef struct {
    double wall_us, cpu_us; /* of all calls; of the first two orders of a process, one call */
    uint64_t missed, refused, count;
    bench_histogram times;
} answer;

static uint64_t file_bytes, items;

/* ---- keys ---- */

static void make_key(char key[ITEM_KEY_BYTES], uint64_t number) {
    memcpy(key, "product/", 8);
    for (int i = ITEM_KEY_BYTES - 1; i >= 8; i--) {
        key[i] = (char)('0' + number % 10);
        number /= 10;
    }
}

static larder_status set(larder *cache, uint64_t number) {
    char key[ITEM_KEY_BYTES];
    unsigned char value[VALUE_BYTES];
    make_key(key, number);
    bench_value(value, VALUE_BYTES, number);
    larder_store store = {.key = key, .key_bytes = ITEM_KEY_BYTES, .value = value, .value_bytes = VALUE_BYTES};
    return larder_set(cache, &store, NULL);
}

static bool get(larder *cache, uint64_t number) {
    char key[ITEM_KEY_BYTES];
    unsigned char value[VALUE_BYTES];
    make_key(key, number);
    larder_status status = larder_get(cache, key, ITEM_KEY_BYTES, value, sizeof value, NULL, NULL);
    if (status != LARDER_OK && status != LARDER_MISS) {
        bench_die("get: %s", larder_status_text(status));
    }
    if (status == LARDER_OK && !bench_is_value(value, sizeof value, number)) {
        bench_die("key %lu has a wrong value", (unsigned long)number);
    }
    return status == LARDER_OK;
}

/* ---- filling ---- */

/* With time for the process that holds the lock to get a core. */
static larder *open_to_fill(const char *path) {
    larder *cache;
    larder_error error;
    larder_options options = {.size_bytes = file_bytes, .lock_timeout_ms = LIMIT_S * 1000};
    if (larder_open(path, &options, &cache, &error) != LARDER_OK) {
        bench_die("%s: %s", error.detail, larder_status_text(error.status));
    }
    return cache;
}

/* Every `step`-th key from `first` on, so that the keys of all processes are stored in their order. */
static void fill_part(const char *path, uint64_t first, uint64_t step) {
    larder *cache = open_to_fill(path);
    for (uint64_t i = first; i < items; i += step) {
        larder_status status = set(cache, i);
        if (status != LARDER_OK) {
            bench_die("filling: %s", larder_status_text(status));
        }
    }
    larder_close(cache);
}

static void fill(const char *path) {
    int cores = bench_core_count();
    uint64_t start = bench_now_ns();
    struct rusage used;
    for (int i = 0; i < cores; i++) {
        pid_t child = bench_fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            fill_part(path, (uint64_t)i, (uint64_t)cores);
            _exit(0);
        }
    }
    for (int status; wait(&status) > 0;) {
        if (status != 0) {
            bench_die("a process that filled the file ended with status %d", status);
        }
    }
    getrusage(RUSAGE_CHILDREN, &used);
    double cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                 (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    bench_number("filling", "s", (double)(bench_now_ns() - start) / 1e9);
    bench_number("filling: CPU time a set", "us", cpu * 1e6 / (double)items);
}

/* ---- a child, which carries out orders ---- */

static uint64_t chance;

static void one_call(larder *cache, kind what, answer *found) {
    uint64_t number = bench_random(&chance) % (what == GET_RECENT ? items / RECENT_PART : items);
    uint64_t start = bench_now_ns();
    if (what == SET) {
        found->refused += set(cache, number) != LARDER_OK;
    } else {
        found->missed += !get(cache, what == GET_RECENT ? items - 1 - number : number);
    }
    bench_record(&found->times, bench_now_ns() - start);
}

static void carry_out(larder **cache, const char *path, const order *given, answer *found) {
    larder_report report;
    larder_status status = LARDER_OK;
    memset(found, 0, sizeof *found);
    uint64_t start = bench_now_ns(), end = start + (uint64_t)(given->seconds * 1e9);
    uint64_t cpu = bench_cpu_ns();
    if (given->what == OPEN) {
        *cache = bench_open(path, file_bytes);
    } else if (given->what == PRUNE) {
        status = larder_prune(*cache, &found->count, NULL);
    } else if (given->what == VERIFY) {
        status = larder_verify(*cache, &report);
        found->count = report.items;
        if (report.problems) {
            bench_die("verify: %s", report.first);
        }
    } else {
        for (uint64_t i = 0; given->calls ? i < given->calls : bench_now_ns() < end; i++) {
            one_call(*cache, given->what, found);
        }
    }
    found->refused += status != LARDER_OK;
    found->wall_us = (double)(bench_now_ns() - start) / 1e3;
    found->cpu_us = (double)(bench_cpu_ns() - cpu) / 1e3;
}

static int be_the_child(char **argv) {
    order given;
    static answer found;
    larder *cache = NULL;
    const char *path = argv[0];
    file_bytes = strtoull(argv[1], NULL, 10);
    items = strtoull(argv[2], NULL, 10);
    chance = 88172645463325252ull + strtoull(argv[3], NULL, 10) * 7919;
    while (read_all(STDIN_FILENO, &given, sizeof given)) {
        carry_out(&cache, path, &given, &found);
        if (!write_all(STDOUT_FILENO, &found, sizeof found)) {
            return 1;
        }
    }
    larder_close(cache);
    return 0;
}

/* ---- the parent's side of a child ---- */

static worker start(const char *path, unsigned number) {
    char bytes[24], count[24], seed[24];
    snprintf(bytes, sizeof bytes, "%lu", (unsigned long)file_bytes);
    snprintf(count, sizeof count, "%lu", (unsigned long)items);
    snprintf(seed, sizeof seed, "%u", number + 1);
    return start_worker((char *[]){(char *)bench_program, CHILD, (char *)path, bytes, count, seed, NULL});
}

static void tell(const worker *who, kind what, uint64_t calls, double seconds) {
    order given = {what, calls, seconds};
    tell_worker(who, &given, sizeof given);
}

static void hear(const worker *who, answer *found) { hear_worker(who, found, sizeof *found); }

/* ---- memory ---- */

/* The sum of the KiB in lines of /proc/PID/file that begin with `field`. */
static double kib_of(pid_t pid, const char *file, const char *field) {
    char path[64], line[256];
    unsigned long value;
    double sum = 0;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    FILE *status = fopen(path, "re");
    while (status && fgets(line, sizeof line, status)) {
        if (strncmp(line, field, strlen(field)) == 0 && sscanf(line + strlen(field), "%lu", &value) == 1) {
            sum += (double)value;
        }
    }
    if (status) {
        fclose(status);
    }
    return sum;
}

static void report_memory(const worker *workers, const char *after) {
    static const struct {
        const char *name, *file, *field;
    } fields[] = {{"Rss", "smaps_rollup", "Rss:"},
                  {"Pss", "smaps_rollup", "Pss:"},
                  {"of its own", "smaps_rollup", "Private_Dirty:"},
                  {"page tables", "status", "VmPTE:"}};
    double values[PROCESSES];
    char name[120];
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        for (int i = 0; i < PROCESSES; i++) {
            values[i] = kib_of(workers[i].pid, fields[f].file, fields[f].field) / 1024;
        }
        snprintf(name, sizeof name, "memory of a process after %s: %s", after, fields[f].name);
        bench_figure(name, "MiB", values, PROCESSES);
    }
}

/* ---- measurements ---- */

static void report_times(const char *what, const answer *found) {
    static const struct {
        const char *name;
        double fraction;
    } parts[] = {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}};
    char name[120];
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        snprintf(name, sizeof name, "%s, %s", what, parts[p].name);
        bench_number(name, "us", bench_quantile(&found->times, parts[p].fraction) / 1e3);
    }
    snprintf(name, sizeof name, "%s, slowest", what);
    bench_number(name, "us", (double)found->times.max_ns / 1e3);
    if (found->refused || found->missed) {
        snprintf(name, sizeof name, "%s, missed or refused", what);
        bench_number(name, "%", 100.0 * (double)(found->refused + found->missed) / (double)found->times.count);
    }
}

static void measure_open(const char *path) {
    static const char *const names[] = {"open, one more process", "first get after it, a recent key",
                                        "second get, any key"};
    static const kind kinds[] = {OPEN, GET_RECENT, GET_ANY};
    double wall[3][MOST_ROUNDS], cpu[3][MOST_ROUNDS];
    static answer found;
    char name[120];
    for (int r = 0; r < bench_given.rounds; r++) {
        worker who = start(path, PROCESSES + (unsigned)r);
        for (int i = 0; i < 3; i++) {
            tell(&who, kinds[i], 1, 0);
            hear(&who, &found);
            wall[i][r] = found.wall_us;
            cpu[i][r] = found.cpu_us;
        }
        end_worker(&who);
    }
    for (int i = 0; i < 3; i++) {
        bench_figure(names[i], "us", wall[i], bench_given.rounds);
        snprintf(name, sizeof name, "%s: CPU time", names[i]);
        bench_figure(name, "us", cpu[i], bench_given.rounds);
    }
}

/* Answers the sum of what the workers found. */
static void together(const worker *workers, int count, kind what, uint64_t calls, double seconds, answer *sum) {
    static answer found;
    memset(sum, 0, sizeof *sum);
    for (int i = 0; i < count; i++) {
        tell(&workers[i], what, calls, seconds);
    }
    for (int i = 0; i < count; i++) {
        hear(&workers[i], &found);
        bench_merge(&sum->times, &found.times);
        sum->missed += found.missed;
        sum->refused += found.refused;
        sum->wall_us = found.wall_us > sum->wall_us ? found.wall_us : sum->wall_us;
    }
}

static void measure_gets(const worker *workers) {
    static answer found;
    static const struct {
        const char *name;
        kind what;
    } keys[] = {{"a recent key", GET_RECENT}, {"any key", GET_ANY}};
    static const int counts[] = {1, PROCESSES};
    char name[120];
    for (int k = 0; k < 2; k++) {
        for (int c = 0; c < 2; c++) {
            together(workers, counts[c], keys[k].what, 0, bench_given.seconds, &found);
            snprintf(name, sizeof name, "get of %s, %d process%s", keys[k].name, counts[c], c ? "es" : "");
            report_times(name, &found);
            snprintf(name, sizeof name, "gets of %s, %d process%s", keys[k].name, counts[c], c ? "es" : "");
            bench_number(name, "1/s", (double)found.times.count / found.wall_us * 1e6);
        }
    }
}

/* The upkeep runs in a process of its own; sets go on until it is done, at most LIMIT_S. */
static void measure_upkeep(const char *path, const worker *writer, kind what, const char *title) {
    static answer found, sum;
    worker who = start(path, 1000);
    char name[120];
    tell(&who, OPEN, 0, 0);
    hear(&who, &found);
    uint64_t limit = bench_now_ns() + LIMIT_S * 1000000000ull;
    tell(&who, what, 0, 0);
    memset(&sum, 0, sizeof sum);
    bool done = false;
    while (!done && bench_now_ns() < limit) {
        together(writer, 1, SET, 0, bench_given.seconds, &found);
        bench_merge(&sum.times, &found.times);
        sum.refused += found.refused;
        struct timeval now = {0, 0};
        fd_set ready;
        FD_ZERO(&ready);
        FD_SET(who.out, &ready);
        done = select(who.out + 1, &ready, NULL, NULL, &now) == 1;
    }
    snprintf(name, sizeof name, "set while %s runs", title);
    report_times(name, &sum);
    if (done) {
        hear(&who, &found);
        snprintf(name, sizeof name, "%s", title);
        bench_number(name, "s", found.wall_us / 1e6);
        snprintf(name, sizeof name, "%s: CPU time", title);
        bench_number(name, "s", found.cpu_us / 1e6);
        snprintf(name, sizeof name, "%s: items", title);
        bench_number(name, "", (double)found.count);
        if (found.refused) {
            bench_die("%s was refused", title);
        }
    } else {
        snprintf(name, sizeof name, "%s: ended after", title);
        bench_number(name, "s", LIMIT_S);
        kill(who.pid, SIGKILL);
    }
    end_worker(&who);
}

static void measure_sets(const char *path, const worker *writer) {
    static answer found;
    together(writer, 1, SET, 0, bench_given.seconds * 5, &found);
    report_times("set", &found);
    measure_upkeep(path, writer, PRUNE, "prune");
    measure_upkeep(path, writer, VERIFY, "verify");
}

static void report_directory_cache(larder *cache) {
    const lard_superblock *super = &cache->core->map->super;
    double bytes = (double)super->shard_count * (double)(sizeof(lard_dircache) + sizeof(lard_renewal) +
                                                         super->segments_per_shard * sizeof(uintptr_t));
    bench_number("directory cache of a process", "MiB", bytes / 1048576);
    bench_number("hints, which all processes share", "MiB", (double)lard_hints_bytes(cache->core->map) / 1048576);
}

static bool is_full(larder *cache) { return get(cache, items - 1) && get(cache, items / 2); }

static uint64_t gib_that_fit(void) {
    struct statvfs space;
    if (statvfs(bench_given.directory, &space) != 0) {
        bench_die("%s: %s", bench_given.directory, strerror(errno));
    }
    uint64_t half = (uint64_t)space.f_bavail * space.f_frsize / 2 >> 30;
    return half < 1 ? 1 : half < MOST_GIB ? half : MOST_GIB;
}

/* Removes an option and its value from the arguments. Answers the value, or NULL. */
static const char *take_option(int *argc, char **argv, const char *name) {
    for (int i = 1; i + 1 < *argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            const char *value = argv[i + 1];
            for (int j = i; j + 2 <= *argc; j++) {
                argv[j] = argv[j + 2];
            }
            *argc -= 2;
            return value;
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    worker workers[PROCESSES];
    static answer found;
    char path[360];
    if (argc == 6 && !strcmp(argv[1], CHILD)) {
        bench_program = argv[0];
        return be_the_child(argv + 2);
    }
    const char *file = take_option(&argc, argv, "--file"), *gib = take_option(&argc, argv, "--gib");
    bench_read_options(argc, argv, 9, 5,
                       "A large file with many items and processes; also: --gib N, --file PATH.");
    uint64_t size = gib ? strtoull(gib, NULL, 10) : gib_that_fit();
    if (size < 1 || size > MOST_GIB) {
        bench_die("--gib must be a number from 1 to %u", MOST_GIB);
    }
    file_bytes = size << 30;
    items = size * ITEMS_A_GIB;
    if (!file) {
        bench_make_directory();
    }
    snprintf(path, sizeof path, "%s", file ? file : bench_path("many.larder"));
    bench_heading("%lu GiB, %lu items of %d and %d bytes, %d processes, %g s a stretch, in %s",
                  (unsigned long)size, (unsigned long)items, ITEM_KEY_BYTES, VALUE_BYTES, PROCESSES,
                  bench_given.seconds, path);
    /* Stays open, so that no process that closes the file waits until all of it is on the disk. */
    larder *cache = open_to_fill(path);
    if (!is_full(cache)) {
        fill(path);
    }
    for (unsigned i = 0; i < PROCESSES; i++) {
        workers[i] = start(path, i);
    }
    together(workers, PROCESSES, OPEN, 0, 0, &found);
    measure_open(path);
    report_directory_cache(cache);
    report_memory(workers, "open");
    together(workers, PROCESSES, GET_RECENT, 1000, 0, &found);
    report_memory(workers, "1,000 gets");
    together(workers, PROCESSES, GET_RECENT, 100000, 0, &found);
    report_memory(workers, "100,000 more of recent keys");
    measure_gets(workers);
    report_memory(workers, "all gets");
    measure_sets(path, workers);
    for (int i = 0; i < PROCESSES; i++) {
        end_worker(&workers[i]);
    }
    if (!file) {
        unlink(path); /* first, so that nothing waits for the disk */
    }
    larder_close(cache);
    return 0;
}
