/*
 * reserve.c — reserves room for a record, and evicts others if it must. Under the shard's lock.
 */
#include "evict/reserve.h"
#include "evict/evict.h"
#include "evict/sample.h"
#include "segment/pin.h"
#include "segment/segment.h"

#define LEAST_PATIENCE 4    /* segments searched for room before items that were read once must go */
#define BYTES_A_SEGMENT 128 /* bytes to write, for each further segment of that patience */
#define WORK_PER_BYTE 8     /* bytes processed for each byte written, while too few segments are free */
#define LEAST_WORK 2048
#define SPARE_ALL 0               /* least frequency of an item that stays: all items stay */
#define SPARE_NONE 4              /* above any frequency: no item stays */
#define MOST_PATIENCE (16u << 20) /* most bytes to search, so that the lock is not held for too long */

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* The least frequency of items that stay, after so many attempts without room. The more a writer writes, the
 * longer items that were read stay. While there is room for all items, none must go. */
static unsigned spare_at(const lard_view *view, uint64_t attempt, uint64_t bytes) {
    uint64_t segments = view->map->super.segments_per_shard, longest = MOST_PATIENCE >> view->map->segment_shift;
    if (attempt < least(segments, longest) && lard_sample_is_roomy(view)) {
        return 0;
    }
    uint64_t patience = least(LEAST_PATIENCE + bytes / BYTES_A_SEGMENT, least(segments / 4, longest));
    return attempt < patience ? 1 : attempt < patience + 2 ? 2 : attempt < patience + 4 ? 3 : 4;
}

uint64_t lard_reserve(larder *cache, lard_view *view, uint32_t queue, uint64_t bytes, int64_t now_ms) {
    uint32_t most = 2 * view->map->super.segments_per_shard + 8;

    for (uint32_t attempt = 0; attempt < most; attempt++) {
        if (LARD_UNLIKELY(lard_load(&view->header->free_segments) == 0 && lard_load(&view->header->victim) &&
                          lard_pin_any(view))) { /* an owner died while only the victim could be moved */
            lard_evict_some(cache, view, UINT64_MAX, spare_at(view, attempt, bytes), now_ms);
        }
        uint64_t offset = lard_segment_reserve(view, queue, bytes, 1);
        if (LARD_LIKELY(offset != 0)) {
            return offset;
        }
        lard_evict_some(cache, view, UINT64_MAX, spare_at(view, attempt, bytes), now_ms);
    }
    return 0;
}

/* Will the queue soon need another segment? Until then no items are evicted. */
static bool is_wanted_soon(const lard_view *view, uint32_t queue) {
    return lard_segment_room(view, queue) < view->map->super.segment_bytes / 4;
}

void lard_reserve_upkeep(larder *cache, lard_view *view, uint32_t queue, uint64_t written_bytes, int64_t now_ms) {
    uint32_t free_segments = lard_load(&view->header->free_segments);
    if (free_segments < LARD_SPARE_SEGMENTS &&
        (free_segments == 0 || lard_load(&view->header->victim) || is_wanted_soon(view, queue))) {
        lard_evict_some(cache, view, written_bytes * WORK_PER_BYTE + LEAST_WORK,
                        lard_sample_is_roomy(view) ? SPARE_ALL : 1, now_ms);
    }
}

void lard_reserve_at_once(larder *cache, lard_view *view, int64_t now_ms) {
    for (uint32_t i = 0; i < LARD_SPARE_SEGMENTS && lard_load(&view->header->free_segments) < LARD_SPARE_SEGMENTS;
         i++) {
        lard_evict_some(cache, view, UINT64_MAX, SPARE_NONE, now_ms);
    }
}
