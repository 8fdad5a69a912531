/*
 * reserve.h — reserves room for a record, and evicts others if it must. Under the lock.
 */
#ifndef LARD_RESERVE_H
#define LARD_RESERVE_H

#include "segment/segment.h"

/* As lard_reserve and lard_reserve_upkeep, where segments are short. */
uint64_t lard_reserve_when_short(lard_core *cache, lard_view *view, uint32_t queue, uint64_t bytes,
                                 int64_t now_ms);
void lard_reserve_upkeep_when_short(lard_core *cache, lard_view *view, uint32_t queue, uint64_t written_bytes,
                                    int64_t now_ms);

/* Offset of room for `bytes` in queue SMALL or MAIN, or 0. */
static inline uint64_t lard_reserve(lard_core *cache, lard_view *view, uint32_t queue, uint64_t bytes,
                                    int64_t now_ms) {
    uint64_t offset =
        LARD_LIKELY(lard_load(&view->header->free_segments)) ? lard_segment_reserve(view, queue, bytes, 1) : 0;
    return LARD_LIKELY(offset != 0) ? offset : lard_reserve_when_short(cache, view, queue, bytes, now_ms);
}

/* If room is short, does the part of the eviction work that is due for this number of bytes written to a queue. */
static inline void lard_reserve_upkeep(lard_core *cache, lard_view *view, uint32_t queue, uint64_t written_bytes,
                                       int64_t now_ms) {
    if (LARD_UNLIKELY(lard_load(&view->header->free_segments) < LARD_MIN_FREE_SEGMENTS)) {
        lard_reserve_upkeep_when_short(cache, view, queue, written_bytes, now_ms);
    }
}

#endif
