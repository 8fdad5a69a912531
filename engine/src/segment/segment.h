/*
 * segment.h — takes, fills and frees the segments of a shard. Under the lock.
 */
#ifndef LARD_SEGMENT_H
#define LARD_SEGMENT_H

#include "base/reads.h"
#include "base/types.h"

#define LARD_MIN_FREE_SEGMENTS \
    2u /* below it eviction frees more: one for new records, one for eviction's copies */

/* Not a queue of its own: segments of the main queue for items whose keys had a value there before. Such items are
 * often overwritten again. Where they are together, whole segments die, and eviction has little to copy. */
#define LARD_QUEUE_OVERWRITTEN 5u

/* Takes any free segment. The caller sets its state, which is still FREE. */
bool lard_segment_take(lard_view *view, uint32_t *segment);
void lard_segment_free(lard_view *view, uint32_t segment);
void lard_segment_recount(lard_view *view);
/* Offset of room for `bytes` in queue SMALL, MAIN or OVERWRITTEN, or 0. Opens a segment only if at least
 * `min_free` stay free.
 */
uint64_t lard_segment_reserve(lard_view *view, uint32_t queue, uint64_t bytes, uint32_t min_free);
void lard_segment_commit(lard_view *view, uint64_t offset, uint64_t bytes, uint64_t expiry_ms);
void lard_segment_widen_expiry(lard_view *view, uint64_t offset, uint64_t expiry_ms);
/* Notes that the segment got an item from `from_offset`, which is as old as before. */
void lard_segment_inherit_age(lard_view *view, uint32_t segment, uint64_t from_offset);
/* Pages leave memory before they are stored to again: the shard is not hot, for a turn at least. A hint. */
void lard_segment_cool(const lard_view *view);
/* Corrects the bits of the newest `count` small segments (reads.h), 64 at most, when it has changed how many are
 * young. */
void lard_segment_mark_young(const lard_view *view, uint32_t count);
/* Segments of the small queue that stay after a value of that many bytes was written, one less with each that is
 * opened then. So its end does not evict its beginning, and small values that follow do not at once. */
uint32_t lard_segment_staying(const lard_map *map, uint64_t bytes);
/* The least number that stays. */
void lard_segment_stay(const lard_view *view, uint32_t least_small);
/* The number that stay now. */
uint32_t lard_segment_least_small(const lard_view *view);
/* Bytes left in the queue's open segment; 0: it is full, or none is open. */
uint64_t lard_segment_room(const lard_view *view, uint32_t queue);

/* The segment + 1 that the queue appends to; 0: none. That of OVERWRITTEN may be any number. */
static inline uint32_t lard_segment_active(const lard_view *view, uint32_t queue) {
    return lard_load(queue == LARD_QUEUE_OVERWRITTEN
                         ? &lard_reads_hints(&view->map->dircache[view->number])->overwritten[0]
                         : &view->header->active[queue - LARD_SEGMENT_SMALL]);
}

/* The segment that a record's offset is in. */
static inline uint32_t lard_segment_at(const lard_view *view, uint64_t offset) {
    return (uint32_t)((offset - view->map->super.data_offset) >> view->map->segment_shift);
}

/* The state of the segment that an offset is in; FREE: it is in none. */
static inline uint32_t lard_segment_state(const lard_view *view, uint64_t offset) {
    uint64_t inside = offset - view->map->super.data_offset;
    return inside < view->map->data_bytes ? lard_load(&view->segments[inside >> view->map->segment_shift].state)
                                          : (uint32_t)LARD_SEGMENT_FREE;
}

/* Is the record in the segment that its queue appends to? */
static inline bool lard_segment_is_open(const lard_view *view, uint64_t offset) {
    uint32_t number = lard_segment_at(view, offset) + 1;
    return number == lard_segment_active(view, LARD_SEGMENT_SMALL) ||
           number == lard_segment_active(view, LARD_SEGMENT_MAIN) ||
           number == lard_segment_active(view, LARD_QUEUE_OVERWRITTEN);
}

/* Bytes from `offset` to the end of its segment; 0: it is in none. */
static inline uint64_t lard_segment_left(const lard_view *view, uint64_t offset) {
    const lard_superblock *super = &view->map->super;
    uint64_t inside = offset - super->data_offset;
    if (LARD_UNLIKELY(inside >= view->map->data_bytes)) {
        return 0;
    }
    return super->segment_bytes - (inside & (super->segment_bytes - 1));
}

#endif
