/*
 * places.h — small file systems that run full, fail or turn read-only: mounted where
 * nobody else sees them. Needs root.
 */
#ifndef LARD_PROOF_PLACES_H
#define LARD_PROOF_PLACES_H

#include "../places.h"
#include "../mounts.h"

#include <sched.h>
#include <stdarg.h>
#include <sys/mount.h>
#include <sys/statfs.h>

static inline void note(const char *text) { printf("@note not run here: %s\n", text); }

/* In a child of its own: mounts of now are seen by it and its children only. */
static inline bool alone_with_mounts(void) { return mounts_of_its_own(NULL); }

static inline bool may_mount(const char *what) {
    pid_t pid = fork_child();
    if (pid == 0) {
        _exit(alone_with_mounts() ? 0 : 1);
    }
    bool may = wait_for(pid) == 0;
    if (!may) {
        printf("@note not run here, for nothing can be mounted: %s\n", what);
    }
    return may;
}

__attribute__((format(printf, 1, 2))) static inline bool run(const char *format, ...) {
    char command[1200], quiet[1300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    snprintf(quiet, sizeof quiet, "{ %s ; } >/dev/null 2>&1", command);
    return system(quiet) == 0;
}

/* Takes what room there is; returns its path. */
static inline const char *filler(const char *directory) {
    static char path[600], bytes[65536];
    snprintf(path, sizeof path, "%s/filler", directory);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    memset(bytes, 7, sizeof bytes);
    for (size_t piece = sizeof bytes; piece >= 512; piece /= 2) {
        while (write(fd, bytes, piece) == (ssize_t)piece) {
        }
        fsync(fd);
    }
    close(fd);
    return path;
}

static inline larder *open_at(const char *path, uint64_t size_bytes) {
    larder *cache = NULL;
    larder_options options = {.size_bytes = size_bytes, .lock_timeout_ms = 200};
    memset(&failure, 0, sizeof failure);
    larder_open(path, &options, &cache, &failure);
    return cache;
}

/* Stores of many sizes until everything was overwritten several times. -1: a wrong value; else how many were kept.
 */
static inline int use_hard(larder *cache, uint64_t seed, int times) {
    static unsigned char value[5000], have[5000];
    uint64_t state = seed, stamp;
    int found = 0;
    char key[32];
    for (int i = 0; i < times; i++) {
        uint64_t random = next_random(&state);
        size_t bytes = 8 + random % 4000;
        int number = (int)(random >> 32) % 4000 + 4000;
        snprintf(key, sizeof key, "hard %d", number);
        describe(value, bytes, (uint64_t)number, random | 1);
        set_bytes(cache, key, value, bytes, 0);
        larder_item item;
        larder_status status = larder_get(cache, key, strlen(key), have, sizeof have, &item, NULL);
        if (status == LARDER_OK && (item.size_bytes != bytes ||
                                    !describes(have, bytes, (uint64_t)number, &stamp) || stamp != (random | 1))) {
            return -1;
        }
        found += status == LARDER_OK;
    }
    return found;
}

/* Waits until sets and gets work again. */
static inline bool heals(larder *cache) {
    char value[32];
    for (int64_t until = now_us() + LONGEST_MS * 1000ll; now_us() < until; sleep_us(20000)) {
        snprintf(value, sizeof value, "%lld", (long long)now_us());
        if (set(cache, "healed", value) == LARDER_OK && is(cache, "healed", value)) {
            return true;
        }
    }
    return false;
}

#endif
