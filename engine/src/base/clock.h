/*
 * clock.h — the clocks, in milliseconds: the wall clock for expiry, a monotonic one for waits, and one that also
 * counts the time in which the machine was suspended, for leases.
 */
#ifndef LARD_CLOCK_H
#define LARD_CLOCK_H

#include "larder.h"

#include <stdbool.h>
#include <stdint.h>

#define LARD_COARSE_LAG_MS 20 /* a kernel tick is 10 ms at most */

int64_t lard_clock_ms(void);           /* wall clock, Unix ms */
int64_t lard_clock_coarse_ms(void);    /* the same, up to LARD_COARSE_LAG_MS behind, at an eighth of its cost */
int64_t lard_clock_monotonic_ms(void); /* for waits */
int64_t lard_clock_monotonic_coarse_ms(void);
uint64_t lard_clock_monotonic_us(void); /* for durations; 0 where the clock cannot be read */
int64_t lard_clock_boot_ms(void);       /* since some moment of this boot, suspended or not */
void lard_clock_sleep_ms(unsigned ms);

/* The time that expiry is decided by in a call, Unix ms. */
static inline int64_t lard_clock_of_call(const larder_call *call) {
    return call && call->now_ms ? call->now_ms : lard_clock_ms();
}

/* How long after `then_ms`, 0 if before it. Times of callers and of the file may be any numbers. */
static inline int64_t lard_clock_since(int64_t now_ms, int64_t then_ms) {
    int64_t since_ms;
    bool overflows = __builtin_sub_overflow(now_ms, then_ms, &since_ms);
    return now_ms <= then_ms ? 0 : overflows ? INT64_MAX : since_ms;
}

/* True if a moment that was chosen at most `most_ms` ahead has come. Also true if it is further ahead than that:
 * the clock went back, as after a checkpoint is restored in another boot, or it cannot be read any more. */
static inline bool lard_clock_is_due(int64_t now_ms, int64_t moment_ms, int64_t most_ms) {
    return (uint64_t)moment_ms - (uint64_t)now_ms - 1 >= (uint64_t)most_ms;
}

/* Has the item expired? `now_ms` 0: by the engine's clock. Most expiries are far away, so the cheap clock is asked
 * first. */
static inline bool lard_clock_has_passed(uint64_t expiry_ms, int64_t now_ms) {
    if (now_ms == 0) {
        now_ms = lard_clock_coarse_ms();
        if ((int64_t)expiry_ms > now_ms + LARD_COARSE_LAG_MS) {
            return false;
        }
        now_ms = lard_clock_ms();
    }
    return (int64_t)expiry_ms <= now_ms;
}

#endif
