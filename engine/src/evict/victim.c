/*
 * victim.c — chooses the segment to empty next.
 *
 * A segment that is mostly dead comes first, then one in which every record has expired, then the oldest segment
 * of the small or the main queue. Under the shard's lock.
 */
#include "evict/victim.h"
#include "base/dead.h"
#include "evict/steer.h"
#include "file/advice.h"
#include "segment/pin.h"
#include "segment/segment.h"

/* Numbers + 1 of segments that may be emptied; 0: there is none. */
typedef struct {
    uint32_t expired;   /* every record has expired */
    uint32_t oldest[2]; /* the oldest of small and main */
    uint32_t second[2]; /* the second oldest */
} prospects;

/* 0: small, 1: main; more: it has no records. */
static uint32_t queue_of(const lard_segment *row) { return lard_load(&row->state) - LARD_SEGMENT_SMALL; }

/* Number + 1 of a segment most of which is dead. Values in chunks that are overwritten leave such ones so often
 * that to look over all rows would take a twentieth of a write. */
static uint32_t mostly_dead(const lard_view *view) {
    const uint32_t *dead = lard_dead_in(view->map, view->number, 0), most = lard_dead_most(view->map);
    const uint32_t count = view->map->super.segments_per_shard;
    for (uint32_t s = 0; s < count; s++) {
        if (LARD_UNLIKELY(__atomic_load_n(&dead[s], __ATOMIC_RELAXED) >= most)) {
            uint32_t queue = queue_of(&view->segments[s]);
            if (queue <= 1 && s + 1 != lard_load(&view->header->active[queue])) {
                return s + 1;
            }
        }
    }
    return 0;
}

static prospects look_over(const lard_view *view, int64_t now_ms, bool open_too) {
    prospects found = {0, {0, 0}, {0, 0}};
    uint64_t sequences[2] = {UINT64_MAX, UINT64_MAX}, seconds[2] = {UINT64_MAX, UINT64_MAX};
    const uint32_t active[2] = {lard_load(&view->header->active[0]), lard_load(&view->header->active[1])};
    const uint32_t count = view->map->super.segments_per_shard;
    for (uint32_t s = 0; s < count; s++) {
        const lard_segment *row = &view->segments[s];
        uint32_t queue = queue_of(row);
        if (queue > 1 || (!open_too && s + 1 == active[queue])) {
            continue;
        }
        if (lard_load(&row->max_expiry_ms) <= (uint64_t)now_ms && !found.expired &&
            lard_load(&row->write_offset)) {
            found.expired = s + 1;
        }
        uint64_t sequence = lard_load(&row->sequence);
        if (sequence < sequences[queue]) {
            seconds[queue] = sequences[queue];
            found.second[queue] = found.oldest[queue];
            sequences[queue] = sequence;
            found.oldest[queue] = s + 1;
        } else if (sequence < seconds[queue]) {
            seconds[queue] = sequence;
            found.second[queue] = s + 1;
        }
    }
    return found;
}

/* Starts to read the segment that is probably the next victim from disk. */
static void prefetch_next(const lard_view *view, uint32_t victim, const prospects *found, unsigned queue) {
    uint32_t next = victim == found->oldest[queue] ? found->second[queue] : found->oldest[queue];
    if (next && view->map->is_on_disk) {
        if (!lard_advice_segment(view, next - 1)) {
            lard_segment_cool(view);
        }
    }
}

/* Ghosts are compared with it. */
static void note_oldest_main(lard_view *view, uint32_t oldest) {
    uint64_t sequence = oldest ? lard_load(&view->segments[oldest - 1].sequence) + 1 : 0;
    if ((uint32_t)sequence != lard_load(&view->header->oldest_main)) {
        lard_store(&view->header->oldest_main, (uint32_t)sequence);
    }
}

uint32_t lard_victim_choose(lard_view *view, int64_t now_ms) {
    uint32_t dead = mostly_dead(view);
    if (dead) {
        return dead;
    }
    prospects found = look_over(view, now_ms, false);
    uint32_t small = lard_load(&view->header->small_segments);
    uint32_t main_count = lard_load(&view->header->main_segments);
    uint64_t pinned =
        lard_pin_bytes(view) >> view->map->segment_shift; /* in segments; not divided between the queues */
    uint64_t shared = small + (main_count > pinned ? main_count - pinned : 0);
    unsigned queue =
        small <= lard_segment_least_small(view) || (uint64_t)small << 16 <= shared * lard_steer_small_share(view);
    queue = found.oldest[queue] ? queue : !queue;
    note_oldest_main(view, found.oldest[1]);
    uint32_t victim = found.expired ? found.expired : found.oldest[queue];
    if (victim) {
        prefetch_next(view, victim, &found, queue);
        return victim;
    }
    found = look_over(view, now_ms, true); /* only open segments are left: close one */
    queue = found.oldest[0] == 0;
    if (found.oldest[queue]) {
        lard_store(&view->header->active[queue], 0);
    }
    return found.oldest[queue];
}
