/*
 * limited.c — measures a cache whose memory limit is less than its file, compared with one without a limit and
 * with bare appends.
 *
 *   build/bench-limited [--rounds N] [--seconds S] [--directory DIR] [--json]
 *
 * Each measurement runs in its own process, in its own memory control group, whose limit is none, three quarters
 * of the file, or half of it. For values of 1, 10 and 60 KB, in turns, round after round:
 *
 * "set": keys that were not stored before, into a full file, so that each evicts.
 * "mixed" (1 KB): nine gets of a key that was stored recently, then one set of a new key.
 * "write(2)": appends the bytes that a set writes to a file of the same size; at its end it starts again. The
 * kernel must read a page if the write covers only a part of it. "whole pages": as write(2), but zeros complete
 * the last page of each record, as of segment/image.c. "sync_file_range": as whole pages, and asks the kernel for
 * each AHEAD_BYTES to begin to write them to the disk. "cold get" (1 KB): GETS gets of stored keys by a new
 * process, after all pages of the file were dropped from memory.
 *
 * The appends are floors: they evict nothing. A set must read the keys that it evicts, so it reads their pages.
 *
 * The program also prints what a call takes: bytes that the disk read and wrote (/proc/self/io; a write counts
 * when a page becomes dirty), processor time and page faults. The disk may limit a run without a memory limit too:
 * the kernel allows a process a limited number of unwritten pages. Needs root, and memory control groups.
 */
#include "bench.h"

#include "memory_group.h"

#define FILE_BYTES (256u << 20)
#define MOST_BYTES 60000u /* of a value */
#define AHEAD_BYTES (1u << 20)
#define GETS 500
#define BATCH 64
#define SETTLE_NS 2000000000u /* until what was cached under no limit is gone */

enum { SET, MIXED, WRITE, WHOLE, AHEAD, WORKS };
static const char *const works[] = {"set", "mixed", "write(2)", "whole pages", "sync_file_range"};
static const size_t sizes[] = {1000, 10000, 60000};
#define SIZES (sizeof sizes / sizeof *sizes)
static const double parts[] = {0, 0.75, 0.5};
static const char *const memories[] = {"unlimited", "3/4 of the file", "1/2 of the file"};
#define MEMORIES 3

static size_t value_bytes; /* of this turn */

static uint64_t record_bytes(void) { return LARD_ALIGN8(LARD_RECORD_HEADER + KEY_BYTES + value_bytes); }
static uint64_t keys_in_file(void) { return FILE_BYTES / record_bytes(); }

typedef struct {
    double calls_a_second, read_bytes, written_bytes; /* bytes for each call */
    double hits;                                      /* of the gets, as a share */
    double cpu_us, faults, waits;                     /* page faults for each call, and those that read the disk */
} outcome;

typedef struct {
    uint64_t read_bytes, written_bytes, faults, waits;
    double cpu_us;
} use_so_far;

static use_so_far used(void) {
    struct rusage usage;
    unsigned long long got = 0, taken = 0;
    char line[128];
    FILE *file = fopen("/proc/self/io", "re");
    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "read_bytes: %llu", &got);
        sscanf(line, "write_bytes: %llu", &taken);
    }
    if (file) {
        fclose(file);
    }
    getrusage(RUSAGE_SELF, &usage);
    return (use_so_far){got, taken, (uint64_t)(usage.ru_minflt + usage.ru_majflt), (uint64_t)usage.ru_majflt,
                        (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
                            (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)};
}

static bool get(larder *cache, uint64_t number) {
    char key[KEY_BYTES];
    static unsigned char value[MOST_BYTES];
    bench_key(key, number);
    if (larder_get(cache, key, KEY_BYTES, value, sizeof value, NULL, NULL) != LARDER_OK) {
        return false;
    }
    if (!bench_is_value(value, value_bytes, number)) {
        bench_die("key %lu has a wrong value", (unsigned long)number);
    }
    return true;
}

/* ---- a stretch, in a process of its own ---- */

static larder *cache;
static int raw_fd;
static uint64_t next_key, raw_at, gets, hits, chance = 88172645463325252u;

static void append_raw(int which) {
    static unsigned char record[MOST_BYTES + 2 * LARD_PAGE]; /* zeros are behind it */
    uint64_t bytes = record_bytes(), written = bytes;
    memset(record, 'v', bytes);
    raw_at = raw_at + bytes > FILE_BYTES ? 0 : raw_at;
    if (which != WRITE) {
        written = (raw_at + bytes + LARD_PAGE - 1) / LARD_PAGE * LARD_PAGE - raw_at;
    }
    if (pwrite(raw_fd, record, written, (off_t)raw_at) != (ssize_t)written) {
        bench_die("write: %s", strerror(errno));
    }
    uint64_t before = raw_at / AHEAD_BYTES * AHEAD_BYTES;
    raw_at += bytes;
    if (which == AHEAD && raw_at - before >= AHEAD_BYTES) {
        sync_file_range(raw_fd, (off_t)before, AHEAD_BYTES, SYNC_FILE_RANGE_WRITE);
    }
}

static void work(int which, unsigned number) {
    if (which >= WRITE) {
        append_raw(which);
    } else if (which == MIXED && number % 10) {
        hits += get(cache, next_key - 1 - bench_random(&chance) % (keys_in_file() / 4 * 3));
        gets++;
    } else {
        bench_fill(cache, next_key, next_key + 1, value_bytes);
        next_key++;
    }
}

static void prepare(int which, const char *path) {
    if (which >= WRITE) {
        raw_fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (raw_fd < 0 || posix_fallocate(raw_fd, 0, FILE_BYTES) != 0) {
            bench_die("%s: %s", path, strerror(errno));
        }
        for (uint64_t i = 0; i < keys_in_file(); i++) {
            append_raw(which);
        }
    } else {
        cache = bench_open(path, FILE_BYTES);
        bench_fill(cache, 0, keys_in_file(), value_bytes);
        next_key = keys_in_file();
    }
}

/* The file is filled without a limit: that would take minutes with one. */
static void limit(const memory_group *group, uint64_t bytes, const char *path) {
    int fd = open(path, O_RDWR | O_CLOEXEC), code = bytes ? EBUSY : 0;
    for (int i = 0; i < 20 && code == EBUSY; i++) {
        fsync(fd); /* dirty pages cannot be taken away */
        code = memory_group_limit(group, bytes);
    }
    if (code) {
        bench_die("limit of %s: %s", group->directory, strerror(code));
    }
    close(fd);
}

static outcome stretch(int which, const char *path, const memory_group *group, uint64_t limit_bytes) {
    prepare(which, path);
    limit(group, limit_bytes, path);
    for (uint64_t until = bench_now_ns() + SETTLE_NS, i = 0; bench_now_ns() < until; i++) {
        work(which, (unsigned)i);
    }
    use_so_far before = used();
    uint64_t calls = 0, start = bench_now_ns(), end = start + (uint64_t)(bench_given.seconds * 1e9), now = start;
    for (gets = hits = 0; now < end; now = bench_now_ns()) {
        for (unsigned i = 0; i < BATCH && (i % 8 || bench_now_ns() < end); i++) {
            work(which, (unsigned)calls++);
        }
    }
    use_so_far after = used();
    double count = (double)calls;
    return (outcome){count / ((double)(now - start) / 1e9),
                     (double)(after.read_bytes - before.read_bytes) / count,
                     (double)(after.written_bytes - before.written_bytes) / count,
                     gets ? (double)hits / (double)gets : 0,
                     (after.cpu_us - before.cpu_us) / count,
                     (double)(after.faults - before.faults) / count,
                     (double)(after.waits - before.waits) / count};
}

static outcome cold_gets(const char *path, uint64_t first, uint64_t keys) {
    cache = bench_open(path, FILE_BYTES);
    use_so_far before = used();
    uint64_t start = bench_now_ns(), found = 0;
    for (int i = 0; i < GETS; i++) {
        found += get(cache, first + bench_random(&chance) % keys);
    }
    double seconds = (double)(bench_now_ns() - start) / 1e9;
    return (outcome){
        GETS / seconds, (double)(used().read_bytes - before.read_bytes) / GETS, 0, (double)found / GETS, 0, 0, 0};
}

/* ---- processes and groups ---- */

typedef outcome measured(int which, const char *path, const memory_group *group, uint64_t limit_bytes);

static outcome cold(int which, const char *path, const memory_group *group, uint64_t limit_bytes) {
    (void)which, (void)group, (void)limit_bytes;
    return cold_gets(path, keys_in_file() / 4, keys_in_file() / 8 * 3);
}

/* What `measure` answers in a child whose memory is limited to `limit_bytes`. */
static outcome apart(measured *measure, int which, const char *path, uint64_t limit_bytes) {
    int ends[2];
    outcome found;
    memory_group group;
    const char *reason = memory_group_make(&group);
    if (reason) {
        bench_die("no memory control group can be made: %s", reason);
    }
    pid_t child = pipe(ends) == 0 ? fork() : -1;
    if (child < 0) {
        memory_group_remove(&group);
        bench_die("fork: %s", strerror(errno));
    }
    if (child == 0) {
        int code = memory_group_enter(&group);
        if (code) {
            bench_die("entering %s: %s", group.directory, strerror(code));
        }
        found = measure(which, path, &group, limit_bytes);
        _exit(write(ends[1], &found, sizeof found) == (ssize_t)sizeof found ? 0 : 1);
    }
    close(ends[1]);
    bool whole = read(ends[0], &found, sizeof found) == (ssize_t)sizeof found;
    close(ends[0]);
    waitpid(child, NULL, 0);
    if (which != WORKS) {
        unlink(path); /* first, so that nothing waits for the disk */
    }
    memory_group_remove(&group);
    if (!whole) {
        bench_die("a measuring process ended early, perhaps for want of memory");
    }
    return found;
}

/* Out of the page cache, once it is on disk. */
static void forget(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0) {
        bench_die("dropping the pages of %s failed", path);
    }
    close(fd);
}

static void report(const char *what, const char *memory, outcome *rounds, bool is_cold, bool gets_too) {
    static const struct {
        const char *name, *unit;
        size_t at;
    } fields[] = {{"rate", "calls/s", offsetof(outcome, calls_a_second)},
                  {"read from disk a call", "bytes", offsetof(outcome, read_bytes)},
                  {"written a call", "bytes", offsetof(outcome, written_bytes)},
                  {"hits", "", offsetof(outcome, hits)},
                  {"processor time a call", "us", offsetof(outcome, cpu_us)},
                  {"page faults a call", "", offsetof(outcome, faults)},
                  {"page faults that read, a call", "", offsetof(outcome, waits)}};
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        double values[MOST_ROUNDS];
        char name[120];
        if ((is_cold && (f == 2 || f > 3)) || (!gets_too && f == 3)) {
            continue;
        }
        for (int r = 0; r < bench_given.rounds; r++) {
            values[r] = *(double *)((char *)&rounds[r] + fields[f].at);
        }
        snprintf(name, sizeof name, "%s, %s: %s", what, memory, fields[f].name);
        bench_figure(name, fields[f].unit, values, bench_given.rounds);
    }
}

static bool is_measured(int which, size_t size) { return which != MIXED || size == 0; }

static void report_size(size_t size, outcome found[WORKS][MEMORIES][MOST_ROUNDS]) {
    char what[60], name[120];
    for (int w = 0; w < WORKS; w++) {
        snprintf(what, sizeof what, "%s of %zu bytes", works[w], sizes[size]);
        for (int m = 0; is_measured(w, size) && m < MEMORIES; m++) {
            double ratio[MOST_ROUNDS], as_floor[MOST_ROUNDS];
            report(what, memories[m], found[w][m], false, w == MIXED);
            for (int r = 0; r < bench_given.rounds; r++) {
                ratio[r] = found[w][m][r].calls_a_second / found[w][0][r].calls_a_second;
                as_floor[r] = found[SET][m][r].calls_a_second / found[w][m][r].calls_a_second;
            }
            if (m) {
                snprintf(name, sizeof name, "%s, %s: rate as unlimited", what, memories[m]);
                bench_figure(name, "x", ratio, bench_given.rounds);
            }
            if (w >= WRITE) {
                snprintf(name, sizeof name, "set as %s, %s", what, memories[m]);
                bench_figure(name, "x", as_floor, bench_given.rounds);
            }
        }
    }
}

int main(int argc, char **argv) {
    static outcome found[SIZES][WORKS][MEMORIES][MOST_ROUNDS], colds[MOST_ROUNDS];
    char path[360];
    bench_read_options(argc, argv, 5, 3.0,
                       "A cache with memory for its whole file, three quarters of it and half of it, compared "
                       "with bare appends.");
    bench_make_directory();
    snprintf(path, sizeof path, "%s", bench_path("limited.larder"));
    bench_heading("a file of %u MiB, %g s a stretch, %d rounds, in %s", FILE_BYTES >> 20, bench_given.seconds,
                  bench_given.rounds, bench_given.directory);
    for (int r = 0; r < bench_given.rounds; r++) {
        for (size_t s = 0; s < SIZES; s++) {
            value_bytes = sizes[s];
            for (int m = 0; m < MEMORIES; m++) {
                for (int w = 0; w < WORKS; w++) {
                    if (is_measured(w, s)) {
                        found[s][w][m][r] = apart(stretch, w, path, (uint64_t)(parts[m] * FILE_BYTES));
                    }
                }
            }
        }
        value_bytes = sizes[0];
        cache = bench_open(path, FILE_BYTES);
        bench_fill(cache, 0, keys_in_file() / 4 * 3, value_bytes);
        larder_close(cache);
        forget(path);
        colds[r] = apart(cold, WORKS, path, 0);
        unlink(path);
    }
    for (size_t s = 0; s < SIZES; s++) {
        report_size(s, found[s]);
    }
    report("cold get of 1000 bytes", "unlimited", colds, true, true);
    return 0;
}
