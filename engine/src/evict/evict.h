/*
 * evict.h — removes items where room is short: S3-FIFO (Yang et al., "FIFO queues are all you need for cache
 * eviction", SOSP 2023). Under the lock.
 */
#ifndef LARD_EVICT_H
#define LARD_EVICT_H

#include "base/types.h"

/* Looks at up to `budget_bytes` of the victim segment, and frees it at its end. An item that was read `spare`
 * times stays. */
void lard_evict_some(larder *cache, lard_view *view, uint64_t budget_bytes, unsigned spare, int64_t now_ms);

#endif
