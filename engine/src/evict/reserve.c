/*
 * reserve.c — reserves room for a record, and evicts others if it must. Under the shard's lock.
 */
#include "evict/reserve.h"
#include "base/reads.h"
#include "evict/evict.h"
#include "evict/sample.h"
#include "segment/pin.h"

#define MIN_SEARCHED 4      /* segments searched for room before items that were read once must go */
#define BYTES_A_SEGMENT 128 /* bytes to write, for each further segment that is searched */
#define WORK_PER_BYTE 8     /* bytes processed for each byte written, while too few segments are free */
#define MIN_WORK 2048
#define ALL_STAY 0                     /* least reads of an item that stays */
#define NONE_STAYS 4                   /* above any count of reads */
#define MAX_SEARCHED_BYTES (16u << 20) /* so that the lock is not held for too long */

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* The least reads of items that stay, after that number of attempts without room. The more a writer writes, the
 * longer items that were read stay. While there is room for all items, none must go. */
static unsigned min_reads_at(const lard_view *view, uint64_t attempt, uint64_t bytes) {
    uint64_t segments = view->map->super.segments_per_shard;
    uint64_t longest = MAX_SEARCHED_BYTES >> view->map->segment_shift;
    if (attempt < least(segments, longest) && lard_sample_is_roomy(view)) {
        return ALL_STAY;
    }
    uint64_t searched = least(MIN_SEARCHED + bytes / BYTES_A_SEGMENT, least(segments / 4, longest));
    return attempt < searched ? 1 : attempt < searched + 2 ? 2 : attempt < searched + 4 ? 3 : NONE_STAYS;
}

uint64_t lard_reserve_when_short(lard_core *cache, lard_view *view, uint32_t queue, uint64_t bytes,
                                 int64_t now_ms) {
    uint32_t most = 2 * view->map->super.segments_per_shard + 8;

    for (uint32_t attempt = 0; attempt < most; attempt++) {
        if (LARD_UNLIKELY(lard_load(&view->header->free_segments) == 0 && lard_load(&view->header->victim) &&
                          lard_pin_any(view))) { /* an owner died while only the victim could be moved */
            lard_evict_some(cache, view, UINT64_MAX, min_reads_at(view, attempt, bytes), now_ms);
        }
        uint64_t offset = lard_segment_reserve(view, queue, bytes, 1);
        if (LARD_LIKELY(offset != 0)) {
            return offset;
        }
        lard_evict_some(cache, view, UINT64_MAX, min_reads_at(view, attempt, bytes), now_ms);
    }
    return 0;
}

/* True if another segment is to be emptied now. Items are evicted only when the queue will soon need one, because
 * they may stay until then. Where keys are overwritten, segments are cleaned, several for each that is won, which
 * takes longer. */
static bool is_time(const lard_view *view, uint32_t queue) {
    return queue == LARD_QUEUE_OVERWRITTEN || lard_reads_hints(&view->map->dircache[view->number])->cleaned ||
           lard_segment_room(view, queue) < view->map->super.segment_bytes / 4;
}

void lard_reserve_upkeep_when_short(lard_core *cache, lard_view *view, uint32_t queue, uint64_t written_bytes,
                                    int64_t now_ms) {
    if (lard_load(&view->header->free_segments) == 0 || lard_load(&view->header->victim) || is_time(view, queue)) {
        lard_evict_some(cache, view, written_bytes * WORK_PER_BYTE + MIN_WORK,
                        lard_sample_is_roomy(view) ? ALL_STAY : 1, now_ms);
    }
}
