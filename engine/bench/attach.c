/*
 * attach.c — measures how long a process takes to open a warm file of 1 GiB, and a forked child to its first get.
 *
 *   build/bench-attach [--rounds N] [--seconds S] [--directory DIR] [--json]
 *
 * Each opening happens in a fresh process: this program runs itself. It is measured while another process has the
 * file open, as for a further worker, and while none has, as for the first worker after a restart. "warm": the
 * file is in the page cache, and seven eighths full. A forked child has the file from its parent, but needs a
 * process slot of its own. CPU time and page faults are those of the process until its first get has returned.
 * --seconds has no effect here.
 */
#include "bench.h"

#define FILE_BYTES (1ull << 30)
#define VALUE_BYTES 1000
#define KEYS 850000u
#define CHILD "--open"

/* The times that a process measured, in ns; `cpu` and `faults` are of open and first get. */
typedef struct {
    uint64_t open, first, second, thousand, close, cpu, faults;
} timings;

static uint64_t get_ns(larder *cache, uint64_t number) {
    char key[KEY_BYTES];
    unsigned char value[VALUE_BYTES];
    bench_key(key, number);
    uint64_t start = bench_now_ns();
    larder_status status = larder_get(cache, key, KEY_BYTES, value, sizeof value, NULL, NULL);
    uint64_t ns = bench_now_ns() - start;
    if (status != LARDER_OK || !bench_is_value(value, sizeof value, number)) {
        bench_die("key %lu is not there, or wrong", (unsigned long)number);
    }
    return ns;
}

static void get_first(larder *cache, timings *took) {
    /* The latest keys: eviction of the oldest may have begun. */
    took->first = get_ns(cache, KEYS - 1);
    took->cpu = bench_cpu_ns() - took->cpu;
    took->faults = bench_faults() - took->faults;
    took->second = get_ns(cache, KEYS - 1);
    for (uint64_t i = 0; i < 1000; i++) {
        took->thousand += get_ns(cache, KEYS - 2 - i * 100);
    }
}

/* In the fresh process: writes the timings to standard output. */
static int be_the_child(const char *path) {
    timings took = {.faults = bench_faults(), .cpu = bench_cpu_ns()};
    larder *cache;
    larder_error error;
    uint64_t start = bench_now_ns();
    larder_status status = larder_open(path, NULL, &cache, &error);
    took.open = bench_now_ns() - start;
    if (status != LARDER_OK) {
        bench_die("%s: %s", error.detail, larder_status_text(status));
    }
    get_first(cache, &took);
    start = bench_now_ns();
    larder_close(cache);
    took.close = bench_now_ns() - start;
    return write(STDOUT_FILENO, &took, sizeof took) == sizeof took ? 0 : 1;
}

/* The child's work, after a fork. */
typedef void work(const char *path, larder *cache, int out);

static void open_freshly(const char *path, larder *cache, int out) {
    (void)cache;
    dup2(out, STDOUT_FILENO);
    execl("/proc/self/exe", bench_program, CHILD, path, (char *)NULL);
    _exit(127);
}

static void get_in_forked_child(const char *path, larder *cache, int out) {
    timings took = {.faults = bench_faults(), .cpu = bench_cpu_ns()};
    (void)path;
    get_first(cache, &took);
    _exit(write(out, &took, sizeof took) == sizeof took ? 0 : 1);
}

static timings in_child(work *carry_out, const char *path, larder *cache) {
    timings took;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        bench_die("pipe: %s", strerror(errno));
    }
    pid_t child = bench_fork();
    if (child == 0) {
        carry_out(path, cache, ends[1]);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], &took, sizeof took);
    close(ends[0]);
    bench_wait_well(child);
    if (got != sizeof took) {
        bench_die("the process that opened the file ended early");
    }
    return took;
}

static void report(const char *when, const timings *all, int count) {
    static const struct {
        const char *name, *unit;
        size_t at;
        double divisor;
    } fields[] = {{"open", "us", offsetof(timings, open), 1e3},
                  {"first get", "us", offsetof(timings, first), 1e3},
                  {"CPU time until the first get", "us", offsetof(timings, cpu), 1e3},
                  {"page faults until the first get", "", offsetof(timings, faults), 1},
                  {"second get", "us", offsetof(timings, second), 1e3},
                  {"a get of 1,000 more", "us", offsetof(timings, thousand), 1e6},
                  {"close", "us", offsetof(timings, close), 1e3}};
    double values[MOST_ROUNDS];
    char name[120];
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        bool has_any = false;
        for (int r = 0; r < count; r++) {
            uint64_t value = *(const uint64_t *)((const char *)&all[r] + fields[f].at);
            has_any |= value != 0;
            values[r] = (double)value / fields[f].divisor;
        }
        snprintf(name, sizeof name, "%s, %s", fields[f].name, when);
        if (has_any) { /* a forked child opens and closes nothing */
            bench_figure(name, fields[f].unit, values, count);
        }
    }
}

int main(int argc, char **argv) {
    timings beside[MOST_ROUNDS], forked[MOST_ROUNDS], alone[MOST_ROUNDS];
    char path[360];
    if (argc == 3 && !strcmp(argv[1], CHILD)) {
        bench_program = argv[0];
        return be_the_child(argv[2]);
    }
    bench_read_options(argc, argv, 9, 1, "Opening a warm file of 1 GiB (needs 1 GiB there).");
    bench_make_directory();
    snprintf(path, sizeof path, "%s", bench_path("attach.larder"));
    larder *cache = bench_open(path, FILE_BYTES);
    bench_fill(cache, 0, KEYS, VALUE_BYTES);
    bench_heading("1 GiB with %u values of %d bytes, %d rounds, in %s", KEYS, VALUE_BYTES, bench_given.rounds,
                  bench_given.directory);
    for (int r = 0; r < bench_given.rounds; r++) {
        beside[r] = in_child(open_freshly, path, NULL);
        forked[r] = in_child(get_in_forked_child, path, cache);
    }
    uint64_t start = bench_now_ns();
    larder_close(cache);
    double wrote_back = (double)(bench_now_ns() - start) / 1e3;
    for (int r = 0; r < bench_given.rounds; r++) {
        alone[r] = in_child(open_freshly, path, NULL);
    }
    report("with another process", beside, bench_given.rounds);
    report("in a forked child", forked, bench_given.rounds);
    report("as the only process", alone, bench_given.rounds);
    bench_number("close of the process that filled it", "us", wrote_back);
    return 0;
}
