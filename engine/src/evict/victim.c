/*
 * victim.c — chooses the segment to empty next.
 *
 * While more than a tenth of the shard's bytes is dead, a segment is *cleaned*: emptied for its dead bytes, and
 * its items stay. Otherwise one goes in which every record has expired, or the oldest segment of the small or the
 * main queue. Under the shard's lock.
 */
#include "evict/victim.h"
#include "base/dead.h"
#include "evict/steer.h"
#include "file/advice.h"
#include "file/view.h"
#include "segment/pin.h"
#include "segment/segment.h"

#define DEAD_PART 10 /* nothing is evicted while more than one byte in 10 is dead */
#define MIN_DEAD_PART \
    8 /* one byte in 8 of a cleaned segment is dead: a write processes 8 times its bytes, see reserve.c */
#define MAX_AGE (1u << 20) /* a greater one is damaged, or does not matter */
#define SCORE_UNIT 256u

/* Numbers + 1 of segments that may be emptied; 0: there is none. */
typedef struct {
    uint32_t expired;   /* every record has expired */
    uint32_t oldest[2]; /* the oldest of small and main */
    uint32_t second[2]; /* the second oldest */
} prospects;

/* 0: small, 1: main; more: it has no records. */
static uint32_t queue_of(const lard_segment *row) { return lard_load(&row->state) - LARD_SEGMENT_SMALL; }

/* A segment that may be cleaned. */
typedef struct {
    uint32_t number; /* + 1; 0: none */
    bool is_mostly_dead;
    uint64_t score;
} cleaning;

/* Better are more dead bytes, which are won; fewer others, which are copied; and a greater age, because items that
 * have lived long die late. */
static void compare(const lard_view *view, uint32_t segment, uint64_t dead, cleaning *best) {
    uint64_t size = view->map->super.segment_bytes;
    uint64_t age = lard_load(&view->header->next_sequence) - lard_load(&view->segments[segment].sequence);
    uint64_t score = dead * (age < MAX_AGE ? age : MAX_AGE) * SCORE_UNIT / (size - dead + 1);
    if (score > best->score && !lard_segment_is_open(view, lard_view_segment_offset(view, segment))) {
        *best = (cleaning){segment + 1, dead >= size / 4 * 3, score};
    }
}

/*
 * The segment that is best cleaned. If few bytes of the shard are dead, only one that is mostly dead. The choice
 * by cost and benefit is that of Rosenblum and Ousterhout, "The design and implementation of a log-structured file
 * system", 1992.
 */
static cleaning best_to_clean(const lard_view *view) {
    const uint32_t *dead = lard_dead_in(view->map, view->number, 0), count = view->map->super.segments_per_shard;
    const uint32_t size = (uint32_t)view->map->super.segment_bytes, least = size / MIN_DEAD_PART;
    uint64_t all = 0;
    cleaning best = {0, false, 0}, best_most = best;
    for (uint32_t s = 0; s < count; s++) {
        uint32_t here = __atomic_load_n(&dead[s], __ATOMIC_RELAXED);
        if (LARD_UNLIKELY(here >= least)) {
            here = here < size ? here : size;
            if (queue_of(&view->segments[s]) > 1) { /* a wrong count */
                lard_dead_reset(view->map, view->number, s);
                continue;
            }
            compare(view, s, here, here >= size / 4 * 3 ? &best_most : &best);
        }
        all += here;
    }
    uint64_t segments =
        (uint64_t)lard_load(&view->header->small_segments) + lard_load(&view->header->main_segments);
    bool any = all * DEAD_PART >= segments * size && best.score > best_most.score;
    return any ? best : best_most;
}

static prospects look_over(const lard_view *view, int64_t now_ms, bool open_too) {
    prospects found = {0, {0, 0}, {0, 0}};
    uint64_t sequences[2] = {UINT64_MAX, UINT64_MAX}, seconds[2] = {UINT64_MAX, UINT64_MAX};
    const uint32_t count = view->map->super.segments_per_shard;
    for (uint32_t s = 0; s < count; s++) {
        const lard_segment *row = &view->segments[s];
        uint32_t queue = queue_of(row);
        if (queue > 1 || (!open_too && lard_segment_is_open(view, lard_view_segment_offset(view, s)))) {
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
    cleaning best = best_to_clean(view);
    lard_reads_hints(&view->map->dircache[view->number])->cleaned = best.number;
    if (best.is_mostly_dead) {
        return best.number;
    }
    prospects found = look_over(view, now_ms, false);
    if (best.number && !found.expired) {
        return best.number;
    }
    lard_reads_hints(&view->map->dircache[view->number])->cleaned = 0;
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
