/*
 * expired.h — drops expired items from a part of a shard. Under the lock.
 */
#ifndef LARD_EXPIRED_H
#define LARD_EXPIRED_H

#include "base/types.h"

/* Of up to `most` buckets from *next on; *next is where to go on, 0 at the end. Where those were all buckets,
 * counts what is pinned. Answers the items dropped. Segments follow when their turn comes. */
uint64_t lard_expired_drop(larder *cache, lard_view *view, uint32_t *next, uint32_t most, int64_t now_ms);

#endif
