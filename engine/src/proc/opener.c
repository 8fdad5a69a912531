/*
 * opener.c — takes the opener's lock, byte 0 of the lock file.
 *
 * Its holder opens, closes or replaces the cache: one process at a time.
 */
#include "proc/opener.h"
#include "base/clock.h"
#include "base/fail.h"
#include "proc/bytelock.h"

#include <errno.h>

larder_status lard_opener_lock(const lard_lockfile *file, const char *path, int64_t wait_ms, lard_bytelock *opener,
                               larder_error *error) {
    int64_t start = lard_clock_monotonic_ms();
    for (;;) {
        int code = lard_bytelock_take(file, path, 0, opener);
        if (code == 0) {
            return LARDER_OK;
        }
        if (code != EAGAIN && code != EINTR) {
            return lard_fail_call(error, "lock", path, code);
        }
        int64_t waited = lard_clock_monotonic_ms() - start;
        if (waited < 0 || waited > wait_ms) { /* negative: the clock failed */
            return lard_fail(error, LARDER_LOCKED, 0, "%s", path);
        }
        lard_clock_sleep_ms(2);
    }
}
