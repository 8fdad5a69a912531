/*
 * reserve.h — reserves room for a record, and evicts others if it must. Under the lock.
 */
#ifndef LARD_RESERVE_H
#define LARD_RESERVE_H

#include "base/types.h"

/* Offset of room for `bytes` in queue SMALL or MAIN, or 0. */
uint64_t lard_reserve(larder *cache, lard_view *view, uint32_t queue, uint64_t bytes, int64_t now_ms);
/* If room is short, does the part of the eviction work that is due for so many bytes written to a queue. */
void lard_reserve_upkeep(larder *cache, lard_view *view, uint32_t queue, uint64_t written_bytes, int64_t now_ms);
/* Frees segments, even if their items were read recently. */
void lard_reserve_at_once(larder *cache, lard_view *view, int64_t now_ms);

#endif
