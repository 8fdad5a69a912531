/*
 * attach.c — measures how long a process takes to open a warm file of 1 GiB.
 *
 *   build/bench-attach [--rounds N] [--seconds S] [--directory DIR] [--json]
 *
 * Each opening happens in a fresh process: this program runs itself. It is measured while another process has the
 * file open, as for a further worker, and while none has, as for the first worker after a restart. "warm": the
 * file is in the page cache, and seven eighths full. --seconds has no effect here.
 */
#include "bench.h"

#define FILE_BYTES (1ull << 30)
#define VALUE_BYTES 1000
#define KEYS 850000u
#define CHILD "--open"

/* What a fresh process measured, in ns. */
typedef struct {
    uint64_t open, first, second, thousand, close;
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

/* In the fresh process: writes the timings to standard output. */
static int be_the_child(const char *path) {
    timings took = {0, 0, 0, 0, 0};
    larder *cache;
    larder_error error;
    uint64_t start = bench_now_ns();
    larder_status status = larder_open(path, NULL, &cache, &error);
    took.open = bench_now_ns() - start;
    if (status != LARDER_OK) {
        bench_die("%s: %s", error.detail, larder_status_text(status));
    }
    /* The latest keys: eviction of the oldest may have begun. */
    took.first = get_ns(cache, KEYS - 1);
    took.second = get_ns(cache, KEYS - 1);
    for (uint64_t i = 0; i < 1000; i++) {
        took.thousand += get_ns(cache, KEYS - 2 - i * 100);
    }
    start = bench_now_ns();
    larder_close(cache);
    took.close = bench_now_ns() - start;
    return write(STDOUT_FILENO, &took, sizeof took) == sizeof took ? 0 : 1;
}

static timings open_in_fresh_process(const char *path) {
    timings took;
    int ends[2], status;
    if (pipe(ends) != 0) {
        bench_die("pipe: %s", strerror(errno));
    }
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) {
        bench_die("fork: %s", strerror(errno));
    }
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl("/proc/self/exe", bench_program, CHILD, path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], &took, sizeof took);
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (got != sizeof took || !WIFEXITED(status) || WEXITSTATUS(status)) {
        bench_die("the process that opened the file ended with status %d", status);
    }
    return took;
}

static void report(const char *when, const timings *all, int count) {
    static const char *const names[] = {"open", "first get", "second get", "a get of 1,000 more", "close"};
    double values[MOST_ROUNDS];
    char name[120];
    for (int f = 0; f < 5; f++) {
        for (int r = 0; r < count; r++) {
            const uint64_t ns[] = {all[r].open, all[r].first, all[r].second, all[r].thousand / 1000, all[r].close};
            values[r] = (double)ns[f] / 1e3;
        }
        snprintf(name, sizeof name, "%s, %s", names[f], when);
        bench_figure(name, "us", values, count);
    }
}

int main(int argc, char **argv) {
    timings beside[MOST_ROUNDS], alone[MOST_ROUNDS];
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
        beside[r] = open_in_fresh_process(path);
    }
    uint64_t start = bench_now_ns();
    larder_close(cache);
    double wrote_back = (double)(bench_now_ns() - start) / 1e3;
    for (int r = 0; r < bench_given.rounds; r++) {
        alone[r] = open_in_fresh_process(path);
    }
    report("beside another process", beside, bench_given.rounds);
    report("as the only process", alone, bench_given.rounds);
    bench_number("close of the process that filled it", "us", wrote_back);
    return 0;
}
