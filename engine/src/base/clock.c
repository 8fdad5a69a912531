/*
 * clock.c — reads the clocks of Linux and macOS, and sleeps. Takes no lock.
 */
#define _GNU_SOURCE
#include "base/clock.h"

#include <time.h>

#ifndef CLOCK_REALTIME_COARSE
#define CLOCK_REALTIME_COARSE CLOCK_REALTIME
#endif
#ifndef CLOCK_MONOTONIC_COARSE
#define CLOCK_MONOTONIC_COARSE CLOCK_MONOTONIC
#endif

/* A sandbox may forbid clock_gettime. Then a monotonic clock counts its calls: a wait of n ms ends after n calls.
 */
static int64_t without_clock(clockid_t id) {
    static int64_t questions;
    bool wall = id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE;
    return wall ? (int64_t)time(NULL) * 1000 : __atomic_add_fetch(&questions, 1, __ATOMIC_RELAXED);
}

static int64_t in_ms(const struct timespec *t) { return (int64_t)t->tv_sec * 1000 + t->tv_nsec / 1000000; }

static int64_t clock_in_ms(clockid_t id) {
    struct timespec t;
    if (__builtin_expect(clock_gettime(id, &t) != 0, 0)) {
        return without_clock(id);
    }
    return in_ms(&t);
}

int64_t lard_clock_ms(void) { return clock_in_ms(CLOCK_REALTIME); }

int64_t lard_clock_coarse_ms(void) { return clock_in_ms(CLOCK_REALTIME_COARSE); }

int64_t lard_clock_monotonic_coarse_ms(void) { return clock_in_ms(CLOCK_MONOTONIC_COARSE); }

int64_t lard_clock_monotonic_ms(void) { return clock_in_ms(CLOCK_MONOTONIC); }

uint64_t lard_clock_monotonic_us(void) {
    struct timespec t = {0};
    return clock_gettime(CLOCK_MONOTONIC, &t) == 0 ? (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000 : 0;
}

/* That of macOS counts suspended time under the name of the monotonic clock. */
int64_t lard_clock_boot_ms(void) {
#ifdef CLOCK_BOOTTIME
    struct timespec t;
    if (__builtin_expect(clock_gettime(CLOCK_BOOTTIME, &t) == 0, 1)) {
        return in_ms(&t);
    }
#endif
    return clock_in_ms(CLOCK_MONOTONIC);
}

void lard_clock_sleep_ms(unsigned ms) {
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}
