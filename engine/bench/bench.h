/*
 * bench.h — helpers of the measuring programs: clock, random numbers, keys, cores, processes, histogram, figures.
 *
 * A program measures its contenders in turns, round after round, and prints figures: text lines, or with --json
 * one JSON object per line. --rounds and --seconds limit it. It leaves only its output behind.
 *
 * A program is compiled as one file, so everything here is static.
 */
#ifndef LARD_BENCH_H
#define LARD_BENCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../test/internals.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__GNUC__)
#define BENCH_MAYBE_UNUSED __attribute__((unused))
#else
#define BENCH_MAYBE_UNUSED
#endif
#define BENCH_FUNCTION static BENCH_MAYBE_UNUSED

#define MOST_ROUNDS 101
#define KEY_BYTES 21 /* "views/product/" and seven digits */

/* ---- failing ---- */

BENCH_FUNCTION void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
BENCH_FUNCTION void bench_die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    fputs("bench: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

/* ---- time, numbers, keys ---- */

static inline uint64_t bench_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t bench_random(uint64_t *state) { /* xorshift64 (Marsaglia 2003) */
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* Writes KEY_BYTES bytes, without the cost of sprintf. */
static inline void bench_key(char *out, uint64_t number) {
    memcpy(out, "views/product/", 14);
    for (int i = KEY_BYTES - 1; i >= 14; i--) {
        out[i] = (char)('0' + number % 10);
        number /= 10;
    }
}

/* A value that names its key, so that a reader can tell a wrong one. */
static inline void bench_value(void *out, size_t bytes, uint64_t number) {
    memset(out, 'v', bytes);
    memcpy(out, &number, bytes < sizeof number ? bytes : sizeof number);
}

static inline bool bench_is_value(const void *value, size_t bytes, uint64_t number) {
    return memcmp(value, &number, bytes < sizeof number ? bytes : sizeof number) == 0;
}

/* ---- cores ---- */

#if defined(__linux__)
static cpu_set_t bench_cores; /* that this process may use, as it was at the start */

BENCH_FUNCTION int bench_core_count(void) {
    if (sched_getaffinity(0, sizeof bench_cores, &bench_cores) != 0) {
        return 1;
    }
    return CPU_COUNT(&bench_cores);
}

/* Puts the calling thread on the n-th of the cores it may use, counted round. */
BENCH_FUNCTION void bench_pin(int n) {
    int count = CPU_COUNT(&bench_cores);
    for (int core = 0, seen = 0; count && core < CPU_SETSIZE; core++) {
        if (CPU_ISSET(core, &bench_cores) && seen++ == n % count) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(core, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
    }
}
#else
BENCH_FUNCTION int bench_core_count(void) { return (int)sysconf(_SC_NPROCESSORS_ONLN); }
BENCH_FUNCTION void bench_pin(int n) { (void)n; } /* there is no such call */
#endif

/* ---- options ---- */

typedef struct {
    int rounds;
    double seconds; /* of one measured stretch */
    const char *directory;
    bool json;
} bench_options;

static bench_options bench_given;
static const char *bench_program = "bench";

BENCH_FUNCTION void bench_usage(const char *about) {
    fprintf(stderr,
            "usage: %s [--rounds 1..%d] [--seconds S] [--directory DIR] [--json]\n%s\n"
            "defaults: %d rounds, %g seconds a stretch, files in %s\n",
            bench_program, MOST_ROUNDS, about, bench_given.rounds, bench_given.seconds, bench_given.directory);
    exit(2);
}

/* Reads the options over the defaults; a wrong one explains them. */
BENCH_FUNCTION void bench_read_options(int argc, char **argv, int rounds, double seconds, const char *about) {
    const char *name = strrchr(argv[0], '/');
    bench_program = name ? name + 1 : argv[0];
    const char *base = getenv("TMPDIR");
    bench_given = (bench_options){.rounds = rounds, .seconds = seconds, .directory = base ? base : "/tmp"};
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (!strcmp(argv[i], "--rounds") && more) {
            rounds = atoi(argv[++i]);
        } else if (!strcmp(argv[i], "--seconds") && more) {
            seconds = atof(argv[++i]);
        } else if (!strcmp(argv[i], "--directory") && more) {
            bench_given.directory = argv[++i];
        } else if (!strcmp(argv[i], "--json")) {
            bench_given.json = true;
        } else {
            bench_usage(about);
        }
    }
    if (rounds < 1 || rounds > MOST_ROUNDS || !(seconds > 0 && seconds <= 600)) {
        bench_usage(about);
    }
    bench_given.rounds = rounds;
    bench_given.seconds = seconds;
}

/* ---- a directory that goes away ---- */

static char bench_directory[300];
static pid_t bench_owner;

static void bench_remove_directory(void) {
    if (getpid() != bench_owner || !bench_directory[0]) {
        return; /* a child's end is not the end */
    }
    char command[340];
    snprintf(command, sizeof command, "rm -rf '%s'", bench_directory);
    if (system(command) != 0) {
        fprintf(stderr, "bench: could not remove %s\n", bench_directory);
    }
}

BENCH_FUNCTION void bench_make_directory(void) {
    snprintf(bench_directory, sizeof bench_directory, "%.250s/larder-bench-XXXXXX", bench_given.directory);
    bench_owner = getpid();
    if (!mkdtemp(bench_directory)) {
        const char *reason = strerror(errno);
        bench_directory[0] = '\0';
        bench_die("%s: %s", bench_given.directory, reason);
    }
    atexit(bench_remove_directory);
}

BENCH_FUNCTION const char *bench_path(const char *name) {
    static char path[360];
    snprintf(path, sizeof path, "%s/%s", bench_directory, name);
    return path;
}

BENCH_FUNCTION larder *bench_open(const char *path, uint64_t size_bytes) {
    larder *cache;
    larder_error error;
    larder_options options = {.size_bytes = size_bytes};
    if (larder_open(path, &options, &cache, &error) != LARDER_OK) {
        bench_die("%s: %s", error.detail, larder_status_text(error.status));
    }
    return cache;
}

/* Stores keys from..to-1 with values that name them. */
BENCH_FUNCTION void bench_fill(larder *cache, uint64_t from, uint64_t to, size_t value_bytes) {
    char key[KEY_BYTES];
    unsigned char *value = malloc(value_bytes);
    if (!value) {
        bench_die("no memory for a value of %zu bytes", value_bytes);
    }
    for (uint64_t i = from; i < to; i++) {
        bench_key(key, i);
        bench_value(value, value_bytes, i);
        larder_store store = {.key = key, .key_bytes = KEY_BYTES, .value = value, .value_bytes = value_bytes};
        larder_status status = larder_set(cache, &store, NULL);
        if (status != LARDER_OK) {
            bench_die("filling: %s", larder_status_text(status));
        }
    }
    free(value);
}

/* ---- processes ---- */

BENCH_FUNCTION uint64_t bench_cpu_ns(void) { /* of this process so far */
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

BENCH_FUNCTION uint64_t bench_faults(void) { /* page faults of this process so far */
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)(usage.ru_minflt + usage.ru_majflt);
}

/* Memory of zeros that the caller shares with the processes that it forks. */
BENCH_FUNCTION void *bench_shared(size_t bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        bench_die("mmap: %s", strerror(errno));
    }
    return at;
}

BENCH_FUNCTION pid_t bench_fork(void) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) {
        bench_die("fork: %s", strerror(errno));
    }
    return pid;
}

BENCH_FUNCTION void bench_wait_well(pid_t pid) {
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        bench_die("a process ended with status %d", status);
    }
}

/* ---- latencies: 64 buckets for each power of two, so within 1.6 % ---- */

#define HISTOGRAM_BITS 6
#define HISTOGRAM_BUCKETS ((64 - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS)

typedef struct {
    uint64_t count, max_ns;
    uint32_t buckets[HISTOGRAM_BUCKETS];
} bench_histogram;

static inline unsigned bench_bucket(uint64_t ns) {
    if (ns < 1u << HISTOGRAM_BITS) {
        return (unsigned)ns;
    }
    unsigned shift = 63u - (unsigned)__builtin_clzll(ns) - HISTOGRAM_BITS;
    return ((shift + 1) << HISTOGRAM_BITS) + (unsigned)((ns >> shift) - (1u << HISTOGRAM_BITS));
}

static inline void bench_record(bench_histogram *histogram, uint64_t ns) {
    histogram->count++;
    histogram->max_ns = ns > histogram->max_ns ? ns : histogram->max_ns;
    histogram->buckets[bench_bucket(ns)]++;
}

BENCH_FUNCTION void bench_merge(bench_histogram *into, const bench_histogram *from) {
    into->count += from->count;
    into->max_ns = from->max_ns > into->max_ns ? from->max_ns : into->max_ns;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        into->buckets[i] += from->buckets[i];
    }
}

/* The least time in ns that `fraction` of the calls did not exceed; the upper edge of its bucket. */
BENCH_FUNCTION double bench_quantile(const bench_histogram *histogram, double fraction) {
    uint64_t wanted = (uint64_t)((double)histogram->count * fraction), seen = 0;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += histogram->buckets[i];
        if (seen > wanted) {
            if (i < 1u << HISTOGRAM_BITS) {
                return i;
            }
            unsigned shift = (i >> HISTOGRAM_BITS) - 1;
            uint64_t low = (uint64_t)((1u << HISTOGRAM_BITS) + (i & ((1u << HISTOGRAM_BITS) - 1))) << shift;
            double high = (double)(low + (1ull << shift) - 1);
            return high < (double)histogram->max_ns ? high : (double)histogram->max_ns;
        }
    }
    return (double)histogram->max_ns;
}

/* ---- figures ---- */

static int bench_by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

BENCH_FUNCTION double bench_median(const double *values, int count) {
    double sorted[MOST_ROUNDS];
    memcpy(sorted, values, sizeof(double) * (size_t)count);
    qsort(sorted, (size_t)count, sizeof(double), bench_by_value);
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

BENCH_FUNCTION void bench_heading(const char *format, ...) __attribute__((format(printf, 1, 2)));
BENCH_FUNCTION void bench_heading(const char *format, ...) {
    if (bench_given.json) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
}

/* One figure of several rounds: its median, and the rounds' range. Names have no quotes or backslashes. */
BENCH_FUNCTION void bench_figure(const char *name, const char *unit, const double *values, int count) {
    double low = values[0], high = values[0];
    for (int i = 1; i < count; i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    if (!bench_given.json) {
        printf("  %-56s %12.3f %-8s", name, bench_median(values, count), unit);
        printf(count > 1 ? " (%.3f to %.3f)\n" : "\n", low, high);
    } else {
        printf("{\"figure\":\"%s\",\"unit\":\"%s\",\"median\":%.9g,\"rounds\":[", name, unit,
               bench_median(values, count));
        for (int i = 0; i < count; i++) {
            printf("%s%.9g", i ? "," : "", values[i]);
        }
        printf("]}\n");
    }
    fflush(stdout);
}

BENCH_FUNCTION void bench_number(const char *name, const char *unit, double value) {
    bench_figure(name, unit, &value, 1);
}

#endif
