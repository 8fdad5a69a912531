/*
 * expired.h — drops expired items, and those whose tag was deleted, from a part of a shard. Under the lock.
 */
#ifndef LARD_EXPIRED_H
#define LARD_EXPIRED_H

#include "base/types.h"

/* Drops such items of up to `most` buckets from *next on, and sets *next to the next bucket, 0 at the end.
 * If one call covers all buckets, it also counts the pinned bytes again. Returns the number of items dropped.
 * Their segments are emptied later. */
uint64_t lard_expired_drop(larder *cache, lard_view *view, uint32_t *next, uint32_t most, int64_t now_ms);

#endif
