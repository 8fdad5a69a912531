/*
 * fixed.c — preloaded, answers libc's functions for random bytes with the same bytes in each run, and for the time
 * of day with the same time: seeds of Ruby's hashes and of a new cache decide where keys collide, and what is done
 * once a second would count more often where a run takes longer.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

ssize_t getrandom(void *out, size_t bytes, unsigned flags);
int getentropy(void *out, size_t bytes);
void arc4random_buf(void *out, size_t bytes);

static void fill(unsigned char *out, size_t bytes) {
    static uint64_t state = 88172645463325252ull;
    for (size_t i = 0; i < bytes; i++) { /* xorshift64 (Marsaglia 2003) */
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        out[i] = (unsigned char)(state >> 24);
    }
}

ssize_t getrandom(void *out, size_t bytes, unsigned flags) {
    (void)flags;
    fill(out, bytes);
    return (ssize_t)bytes;
}

int getentropy(void *out, size_t bytes) {
    fill(out, bytes);
    return 0;
}

void arc4random_buf(void *out, size_t bytes) { fill(out, bytes); }

/* Stands still, but for the clock that waits are measured by, and those of processor time. */
int clock_gettime(clockid_t id, struct timespec *t) {
    static struct timespec first[CLOCK_MONOTONIC_COARSE + 1];
    if (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE && id != CLOCK_MONOTONIC_COARSE) {
        return (int)syscall(SYS_clock_gettime, id, t);
    }
    if (first[id].tv_sec == 0) {
        syscall(SYS_clock_gettime, id, &first[id]);
    }
    *t = first[id];
    return 0;
}
