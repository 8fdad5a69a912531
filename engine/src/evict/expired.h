/*
 * expired.h — drops expired items, and those whose tag was deleted, from a part of a shard. Under the lock.
 */
#ifndef LARD_EXPIRED_H
#define LARD_EXPIRED_H

#include "base/types.h"

#define LARD_EXPIRED_HEADS 64u

typedef struct { /* large values that were dropped, but not yet their chunks, which are under other locks */
    lard_head heads[LARD_EXPIRED_HEADS];
    unsigned count;
} lard_expired_large;

/* Drops such items of up to `most` buckets from *next on, and sets *next to the next bucket, 0 at the end. If one
 * call covers all buckets, it also counts the pinned bytes again. Returns the number of items dropped. Their
 * segments are emptied later.
 * Adds large values to *large, for lard_large_drop, and stops when that is full. `large`
 * NULL: large values whose tag was deleted stay, and the chunks of those that have expired are left to expire. */
uint64_t lard_expired_drop(lard_core *cache, lard_view *view, uint32_t *next, uint32_t most, int64_t now_ms,
                           lard_expired_large *large);

#endif
