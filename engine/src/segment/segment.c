/*
 * segment.c — takes, fills and frees the segments of a shard. All under the shard's lock.
 *
 * A segment's generation is raised when the segment is freed, after the last slot into it was emptied. A writer
 * that takes it again fences first, so a reader of overwritten bytes must see that its slot is gone.
 */
#include "segment/segment.h"
#include "base/clock.h"
#include "base/dead.h"
#include "base/reads.h"
#include "file/view.h"

#define HOT_TURN_S 5

/* Words of the queue: see lard_shard. */
LARD_INLINE lard_u32 *hint_of(const lard_view *view, unsigned word) {
    return &lard_reads_hints(&view->map->dircache[view->number])->overwritten[word];
}

LARD_INLINE lard_u32 *active_of(const lard_view *view, uint32_t queue) {
    return LARD_UNLIKELY(queue == LARD_QUEUE_OVERWRITTEN) ? hint_of(view, 0)
                                                          : &view->header->active[queue - LARD_SEGMENT_SMALL];
}

LARD_INLINE lard_u32 *closed_of(const lard_view *view, uint32_t queue) {
    return LARD_UNLIKELY(queue == LARD_QUEUE_OVERWRITTEN) ? hint_of(view, 1)
                                                          : &view->header->closed[queue - LARD_SEGMENT_SMALL];
}

LARD_INLINE lard_u32 *gap_of(const lard_view *view, uint32_t queue) {
    return LARD_UNLIKELY(queue == LARD_QUEUE_OVERWRITTEN) ? hint_of(view, 2)
                                                          : &view->header->gap[queue - LARD_SEGMENT_SMALL];
}

/* The state of the queue's segments. */
LARD_INLINE uint32_t state_of(uint32_t queue) {
    return queue == LARD_QUEUE_OVERWRITTEN ? (uint32_t)LARD_SEGMENT_MAIN : queue;
}

static lard_u32 *queue_size(lard_view *view, uint32_t state) {
    return state == LARD_SEGMENT_SMALL ? &view->header->small_segments : &view->header->main_segments;
}

static void adjust(lard_u32 *counter, int by) { lard_store(counter, lard_load(counter) + (uint32_t)by); }

void lard_segment_recount(lard_view *view) {
    uint32_t count[LARD_SEGMENT_TABLE + 1] = {0};
    for (uint32_t s = 0; s < view->map->super.segments_per_shard; s++) {
        uint32_t state = lard_load(&view->segments[s].state);
        if (state > LARD_SEGMENT_TABLE) { /* damaged: its contents are unknown, so it is freed */
            lard_segment_free(view, s);
            state = LARD_SEGMENT_FREE;
        }
        count[state]++;
    }
    lard_store(&view->header->free_segments, count[LARD_SEGMENT_FREE]);
    lard_store(&view->header->small_segments, count[LARD_SEGMENT_SMALL]);
    lard_store(&view->header->main_segments, count[LARD_SEGMENT_MAIN]);
}

bool lard_segment_take(lard_view *view, uint32_t *segment) {
    if (lard_load(&view->header->free_segments) == 0) {
        return false;
    }
    for (uint32_t s = 0; s < view->map->super.segments_per_shard; s++) {
        if (lard_load(&view->segments[s].state) == LARD_SEGMENT_FREE) {
            lard_fence(); /* the slots into its old records were emptied before this; its bytes change after it */
            adjust(&view->header->free_segments, -1);
            *segment = s;
            return true;
        }
    }
    lard_store(&view->header->free_segments, 0);
    return false;
}

void lard_segment_free(lard_view *view, uint32_t segment) {
    lard_segment *row = &view->segments[segment];
    uint32_t state = lard_load(&row->state);
    lard_store(&row->write_offset, 0); /* first, so that no walk finds records of the old generation */
    lard_store_release(&row->generation, lard_load(&row->generation) + 1);
    lard_store(&row->max_expiry_ms, 0);
    lard_store_release(&row->state, LARD_SEGMENT_FREE);
    if (state == LARD_SEGMENT_SMALL || state == LARD_SEGMENT_MAIN) {
        lard_u32 *size = queue_size(view, state);
        if (lard_load(size)) {
            adjust(size, -1);
        }
    }
    adjust(&view->header->free_segments, 1);
    lard_dead_reset(view->map, view->number, segment);
}

uint64_t lard_segment_room(const lard_view *view, uint32_t queue) {
    uint32_t active = lard_load(active_of(view, queue));
    if (active == 0 || active > view->map->super.segments_per_shard) {
        return 0;
    }
    uint64_t used = lard_load(&view->segments[active - 1].write_offset) & ~7u;
    return used < view->map->super.segment_bytes ? view->map->super.segment_bytes - used : 0;
}

/* Half as many again as its chunks in a shard may fill, and two, because it begins and ends within segments. */
uint32_t lard_segment_staying(const lard_map *map, uint64_t bytes) {
    uint64_t group = (uint64_t)map->chunk_record * LARD_CHUNK_GROUP, groups = bytes / group + 2;
    uint64_t here = (groups + map->super.shard_count - 1) / map->super.shard_count * group;
    return (uint32_t)((here < bytes ? here : bytes) * 3 / 2 >> map->segment_shift) + 2;
}

/* More than the longest value keeps cannot be: the word was overwritten. */
uint32_t lard_segment_least_small(const lard_view *view) {
    uint32_t least_small = lard_reads_hints(&view->map->dircache[view->number])->least_small;
    return least_small <= lard_segment_staying(view->map, view->map->max_value) ? least_small : 0;
}

void lard_segment_stay(const lard_view *view, uint32_t least_small) {
    uint32_t now = lard_segment_least_small(view);
    lard_reads_hints(&view->map->dircache[view->number])->least_small = now < least_small ? least_small : now;
}

/* How many of the newest small segments are young: fewer than are remembered, so that each is marked as old later.
 */
static uint32_t young_segments(const lard_shard_hints *hints) {
    return hints->young_segments < LARD_NEWEST ? hints->young_segments : LARD_NEWEST - 1;
}

void lard_segment_mark_young(const lard_view *view, uint32_t count) {
    const lard_dircache *copy = &view->map->dircache[view->number];
    const lard_shard_hints *hints = lard_reads_hints(copy);
    count = count < LARD_NEWEST ? count : LARD_NEWEST;
    uint32_t age = hints->opened < count ? hints->opened : count;
    while (age-- > 0) { /* the newest last, because a segment may occur twice */
        uint32_t other = hints->newest[(hints->opened - 1 - age) % LARD_NEWEST];
        if (other < view->map->super.segments_per_shard) {
            bool is_small = lard_load(&view->segments[other].state) == LARD_SEGMENT_SMALL;
            lard_reads_set_young(view->map, copy, other, age < young_segments(hints) && is_small);
        }
    }
}

/* A segment that the small queue opens is young, and the one that is no longer among the newest is not. */
static void note_opened(const lard_view *view, uint32_t segment, uint32_t queue) {
    const lard_dircache *copy = &view->map->dircache[view->number];
    lard_shard_hints *hints = lard_reads_hints(copy);
    lard_reads_set_young(view->map, copy, segment, false);
    lard_dead_reset(view->map, view->number, segment);
    if (queue == LARD_SEGMENT_SMALL) {
        uint32_t least_small = lard_segment_least_small(view);
        hints->least_small = least_small ? least_small - 1 : 0;
        hints->newest[hints->opened++ % LARD_NEWEST] = segment;
        lard_segment_mark_young(view, young_segments(hints) + 1);
    }
}

/*
 * Pages stay writable for this process until they are written back, by default 30 s after their first store. A
 * shard that is written through in less time is hot: its pages will be stored to again while they are. Where
 * memory is short, they leave it before: lard_segment_cool.
 */
static void note_turn(const lard_view *view, int64_t now_ms) {
    lard_shard_hints *hints = lard_reads_hints(&view->map->dircache[view->number]);
    uint32_t now_s = (uint32_t)((uint64_t)now_ms / 1000), took_s = now_s - hints->turn_began_s;
    if (hints->turn_left == 0 || hints->turn_left > view->map->super.segments_per_shard) {
        hints->is_hot = hints->turn_began_s && took_s <= HOT_TURN_S;
        hints->turn_began_s = now_s ? now_s : 1;
        hints->turn_left = view->map->super.segments_per_shard;
    } else if (hints->is_hot && took_s > HOT_TURN_S) {
        hints->is_hot = 0;
    }
    hints->turn_left--;
}

void lard_segment_cool(const lard_view *view) {
    lard_shard_hints *hints = lard_reads_hints(&view->map->dircache[view->number]);
    hints->is_hot = 0;
    hints->turn_began_s = 0;
}

static bool open_segment(lard_view *view, uint32_t queue) {
    uint32_t segment;
    uint64_t gap = lard_segment_room(view, queue);
    if (!lard_segment_take(view, &segment)) {
        return false;
    }
    lard_store(gap_of(view, queue), (uint32_t)gap);
    lard_store(closed_of(view, queue), lard_load(active_of(view, queue)));
    lard_segment *row = &view->segments[segment];
    uint64_t sequence = lard_load(&view->header->next_sequence);
    lard_store(&view->header->next_sequence, sequence + 1);
    lard_store(&row->sequence, sequence);
    lard_store(&row->write_offset, 0);
    lard_store(&row->max_expiry_ms, 0);
    int64_t now_ms = lard_clock_of_call(NULL);
    lard_store(&row->oldest_ms, (uint64_t)now_ms);
    lard_store_release(&row->state, state_of(queue));
    note_opened(view, segment, queue);
    note_turn(view, now_ms);
    adjust(queue_size(view, queue), 1);
    lard_store(active_of(view, queue), segment + 1);
    return true;
}

/* Offset of room for `bytes` in segment `number` - 1 of the queue, or 0. */
LARD_INLINE uint64_t room_in(const lard_view *view, uint32_t number, uint32_t queue, uint64_t bytes) {
    if (number == 0 || number > view->map->super.segments_per_shard) {
        return 0;
    }
    uint64_t used = lard_load(&view->segments[number - 1].write_offset);
    if (lard_load(&view->segments[number - 1].state) != state_of(queue)) {
        return 0;
    }
    if (used > view->map->super.segment_bytes || (used & 7) || view->map->super.segment_bytes - used < bytes) {
        return 0;
    }
    return lard_view_segment_offset(view, number - 1) + used;
}

/* The same in the segment before the open one, which may have room left because a longer record did not fit. 0
 * while that segment is being emptied. */
static uint64_t room_in_closed(lard_view *view, uint32_t queue, uint64_t bytes) {
    uint32_t closed = lard_load(closed_of(view, queue));
    uint64_t offset = closed == lard_load(&view->header->victim) ? 0 : room_in(view, closed, queue, bytes);
    uint64_t used = (offset - view->map->super.data_offset) & (view->map->super.segment_bytes - 1);
    uint64_t left = offset ? view->map->super.segment_bytes - used - bytes : 0;
    lard_store(gap_of(view, queue), (uint32_t)left);
    return offset;
}

/* Offset of room in the queue's segments that are not full, or 0. */
LARD_INLINE uint64_t room_for(lard_view *view, uint32_t queue, uint64_t bytes) {
    uint64_t offset = 0;
    uint32_t active = lard_load(active_of(view, queue));
    if (LARD_UNLIKELY(bytes <= lard_load(gap_of(view, queue)))) {
        offset = room_in_closed(view, queue, bytes);
    }
    if (LARD_UNLIKELY(queue == LARD_QUEUE_OVERWRITTEN) && active == lard_load(&view->header->victim)) {
        active = 0; /* what a hint names may be the victim */
    }
    return offset ? offset : room_in(view, active, queue, bytes);
}

/* A function of its own, so that the other queues take no longer. */
static __attribute__((noinline)) uint64_t room_for_overwritten(lard_view *view, uint64_t bytes) {
    return room_for(view, LARD_QUEUE_OVERWRITTEN, bytes);
}

void lard_segment_inherit_age(lard_view *view, uint32_t segment, uint64_t from_offset) {
    uint64_t oldest_ms = lard_load(&view->segments[lard_segment_at(view, from_offset)].oldest_ms);
    if (oldest_ms < lard_load(&view->segments[segment].oldest_ms)) {
        lard_store(&view->segments[segment].oldest_ms, oldest_ms);
    }
}

uint64_t lard_segment_reserve(lard_view *view, uint32_t queue, uint64_t bytes, uint32_t min_free) {
    for (bool opened = false;; opened = true) {
        uint64_t offset = LARD_UNLIKELY(queue == LARD_QUEUE_OVERWRITTEN) ? room_for_overwritten(view, bytes)
                                                                         : room_for(view, queue, bytes);
        if (LARD_LIKELY(offset != 0) || opened) {
            return offset;
        }
        if (lard_load(&view->header->free_segments) <= min_free || !open_segment(view, queue)) {
            return 0;
        }
    }
}

void lard_segment_widen_expiry(lard_view *view, uint64_t offset, uint64_t expiry_ms) {
    lard_segment *row = &view->segments[lard_segment_at(view, offset)];
    uint64_t last = expiry_ms ? expiry_ms : UINT64_MAX;
    if (last > lard_load(&row->max_expiry_ms)) {
        lard_store(&row->max_expiry_ms, last);
    }
}

void lard_segment_commit(lard_view *view, uint64_t offset, uint64_t bytes, uint64_t expiry_ms) {
    lard_segment *row = &view->segments[lard_segment_at(view, offset)];
    lard_segment_widen_expiry(view, offset, expiry_ms);
    uint32_t used = (uint32_t)((offset - view->map->super.data_offset) & (view->map->super.segment_bytes - 1));
    lard_store_release(&row->write_offset, used + (uint32_t)bytes);
}
