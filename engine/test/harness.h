/*
 * harness.h — the harness of the C tests: named tests, checks, temporary caches, self-describing values.
 */
#ifndef LARD_HARNESS_H
#define LARD_HARNESS_H

#define _GNU_SOURCE
#include "internals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char test_directory[256];
static const char *test_name = "";
static int test_count, test_failures;

#define CHECK(condition, ...)                                                                       \
    do {                                                                                            \
        if (!(condition)) {                                                                         \
            fprintf(stderr, "  %s:%d: %s: %s not true", __FILE__, __LINE__, test_name, #condition); \
            fprintf(stderr, "  " __VA_ARGS__);                                                      \
            fprintf(stderr, "\n");                                                                  \
            test_failures++;                                                                        \
            return;                                                                                 \
        }                                                                                           \
    } while (0)

/* In a child: the exit code says whether it held. */
#define CHILD_CHECK(condition)                                                                                 \
    do {                                                                                                       \
        if (!(condition)) {                                                                                    \
            fprintf(stderr, "  %s:%d: child of %s: %s not true\n", __FILE__, __LINE__, test_name, #condition); \
            _exit(1);                                                                                          \
        }                                                                                                      \
    } while (0)

#define TEST(function, sentence) \
    { sentence, function }
typedef struct {
    const char *sentence;
    void (*run)(void);
} test_case;

static void remove_tree(void) {
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", test_directory);
    if (system(command) != 0) {
        fprintf(stderr, "  could not remove %s\n", test_directory);
    }
}

static inline int run_tests(const char *suite, const test_case *tests, size_t count, const char *only) {
    for (size_t i = 0; i < count; i++) {
        if (only && !strstr(tests[i].sentence, only)) {
            continue;
        }
        const char *base = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
        snprintf(test_directory, sizeof test_directory, "%.200s/larder-test-XXXXXX", base);
        if (!mkdtemp(test_directory)) {
            perror("mkdtemp");
            return 1;
        }
        test_name = tests[i].sentence;
        test_count++;
        int before = test_failures;
        tests[i].run();
        if (test_failures != before) {
            test_failures = before + 1;
            fprintf(stderr, "  not ok: %s\n", test_name);
        }
        remove_tree();
    }
    printf("%s: %d tests, %d failed\n", suite, test_count, test_failures);
    return test_failures ? 1 : 0;
}

#define RUN(suite, tests)                                                                        \
    int main(int argc, char **argv) {                                                            \
        return run_tests(suite, tests, sizeof tests / sizeof *tests, argc > 1 ? argv[1] : NULL); \
    }

/* As RUN, on files in memory if no directory is given: for programs that would wait for a disk most of the time,
 * because they open a file for each of thousands of cases. */
#define RUN_IN_MEMORY(suite, tests)                                                              \
    int main(int argc, char **argv) {                                                            \
        if (access("/dev/shm", W_OK) == 0) {                                                     \
            setenv("TMPDIR", "/dev/shm", 0);                                                     \
        }                                                                                        \
        return run_tests(suite, tests, sizeof tests / sizeof *tests, argc > 1 ? argv[1] : NULL); \
    }

static inline const char *test_path(const char *name) {
    static char path[400];
    snprintf(path, sizeof path, "%s/%s", test_directory, name);
    return path;
}

static inline larder *open_cache(uint64_t size_bytes) {
    larder *cache = NULL;
    larder_error error;
    larder_options options = {.size_bytes = size_bytes, .lock_timeout_ms = 200};
    if (larder_open(test_path("t.larder"), &options, &cache, &error) != LARDER_OK) {
        fprintf(stderr, "  open: %s: %s\n", error.detail, larder_status_text(error.status));
        return NULL;
    }
    return cache;
}

static inline larder_status set(larder *cache, const char *key, const char *value) {
    larder_store store = {.key = key, .key_bytes = strlen(key), .value = value, .value_bytes = strlen(value)};
    return larder_set(cache, &store, NULL);
}

static inline larder_status set_bytes(larder *cache, const char *key, const void *value, size_t bytes,
                                      int64_t ttl_ms) {
    larder_store store = {
        .key = key, .key_bytes = strlen(key), .value = value, .value_bytes = bytes, .ttl_ms = ttl_ms};
    return larder_set(cache, &store, NULL);
}

/* The value as a C string in a static buffer, or NULL on a miss. */
static inline const char *get(larder *cache, const char *key) {
    static char buffer[70000];
    larder_item item;
    if (larder_get(cache, key, strlen(key), buffer, sizeof buffer - 1, &item, NULL) != LARDER_OK) {
        return NULL;
    }
    buffer[item.size_bytes] = '\0';
    return buffer;
}

static inline bool is(larder *cache, const char *key, const char *want) {
    const char *have = get(cache, key);
    return want ? have && strcmp(have, want) == 0 : have == NULL;
}

static inline bool sound(larder *cache) {
    larder_report report = {0}; /* stays so where there is no cache */
    larder_status status = larder_verify(cache, &report);
    for (int again = 0; status == LARDER_BUSY && again < 10; again++) { /* a lock's owner waits for a processor */
        status = larder_verify(cache, &report);
    }
    if (status != LARDER_OK || report.problems) {
        fprintf(stderr, "  verify: %s, %llu problems: %s\n", larder_status_name(status),
                (unsigned long long)report.problems, report.first);
        return false;
    }
    return true;
}

static inline uint64_t next_random(uint64_t *state) { /* splitmix64 (Steele, Lea, Flood 2014) */
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/* Values that prove themselves: every byte follows from key number, stamp and place. */
static inline void describe(unsigned char *out, size_t bytes, uint64_t key, uint64_t stamp) {
    uint64_t state = key * 0x9e3779b97f4a7c15ull ^ stamp;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = i == 0 ? stamp : next_random(&state);
        memcpy(out + i, &word, bytes - i < 8 ? bytes - i : 8);
    }
}

static inline bool describes(const unsigned char *value, size_t bytes, uint64_t key, uint64_t *stamp_out) {
    static unsigned char want[1 << 21];
    uint64_t stamp = 0;
    memcpy(&stamp, value, bytes < 8 ? bytes : 8);
    describe(want, bytes, key, stamp);
    *stamp_out = stamp;
    return memcmp(want, value, bytes) == 0;
}

static inline int wait_for(pid_t pid) {
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

#endif
