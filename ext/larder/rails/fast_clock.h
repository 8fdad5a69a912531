/*
 * fast_clock.h — what time it is for the fast path.
 *
 * Rails asks Time.now, which tests replace (travel_to). Only then is it asked here;
 * otherwise the system's clock is read, and for a read mostly just its coarse form.
 */
#ifndef LARDER_FAST_CLOCK_H
#define LARDER_FAST_CLOCK_H

#include "base/clock.h"

#include <ruby.h>
#include <stdbool.h>

/* The coarse clock may be behind by a tick of the kernel: 10 ms at 100 Hz. */
#define FAST_CLOCK_COARSE_LAG_MS 20

#ifndef CLOCK_REALTIME_COARSE
#define CLOCK_REALTIME_COARSE CLOCK_REALTIME
#endif

#pragma GCC visibility push(hidden)
extern bool fast_clock_is_real;      /* Time.now is Ruby's own, see fast_guard.c */
extern int64_t fast_clock_coarse_ms; /* the coarse clock, as it was last read */
#pragma GCC visibility pop

void fast_clock_init(VALUE store_module);

/* Seconds since 1970, as Rails sees them. Runs Ruby where Time.now was replaced. */
double fast_clock_now(void);

/* The same as the engine counts it. */
int64_t fast_clock_ms(double now);

/* What to hand to the engine for a read: 0, its own clock, unless Time.now was replaced. */
static inline int64_t fast_clock_read_ms(void) { return fast_clock_is_real ? 0 : fast_clock_ms(fast_clock_now()); }

/* Reads the coarse clock, which fast_clock_has_passed() uses: at the start of a call, and before a read after Ruby
 * has run. */
static inline void fast_clock_tick(void) { fast_clock_coarse_ms = glue_clock_ms(CLOCK_REALTIME_COARSE); }

/* Has this time (Unix ms) passed? `now_ms` is from fast_clock_read_ms(). */
static inline bool fast_clock_has_passed(int64_t expires_at_ms, int64_t now_ms) {
    if (now_ms == 0) {
        if (expires_at_ms > fast_clock_coarse_ms + FAST_CLOCK_COARSE_LAG_MS) {
            return false;
        }
        now_ms = glue_clock_ms(CLOCK_REALTIME);
    }
    return expires_at_ms <= now_ms;
}

#endif
