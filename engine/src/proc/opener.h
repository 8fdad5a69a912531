/*
 * opener.h — takes the opener's lock: one process at a time opens, closes or replaces a cache.
 */
#ifndef LARD_OPENER_H
#define LARD_OPENER_H

#include "base/types.h"

/* OK, LOCKED: another process has held it for `wait_ms`, or another error. lard_bytelock_drop releases it. */
larder_status lard_opener_lock(const lard_lockfile *file, const char *path, int64_t wait_ms, lard_bytelock *opener,
                               larder_error *error);

#endif
