/*
 * steer.c — runs the shadow caches, and chooses the configuration with the fewest misses.
 */
#include "evict/steer.h"
#include "evict/other_sizes.h"
#include "evict/sample.h"
#include "evict/simulate.h"
#include "index/ghost.h"
#include "segment/segment.h"

#define PER_CENT(n) ((n)*65536u / 100)
#define EVERY 2u          /* choices are made after as many requests as the shadow caches hold items, times this */
#define DECAY_PER_CENT 90 /* of the misses before a choice, in the next one */
#define MIN_GAIN 100      /* another configuration must have fewer misses by one in 100 */
#define MAX_MISSES (EVERY * LARD_SHADOW_ITEMS)                        /* between two choices */
#define MAX_SCORE (MAX_MISSES * 256u * 100u / (100 - DECAY_PER_CENT)) /* with as many before each choice */
#define ASSUMED 9u  /* choices before the first one of new hints, of as many misses */
#define IN_USE 4u   /* a file that was emptied 4 times is in use; a new one chooses at once */
#define AT_ONCE 16u /* gets that one set replays */

/* Both in 65536ths: of the record segments, and of that part. */
static const struct {
    uint32_t small_share, young_share;
} configurations[LARD_SHADOWS] = {
    {PER_CENT(5), PER_CENT(50)}, /* the first */
    {PER_CENT(1), 0},
    {PER_CENT(30), PER_CENT(50)},
    {PER_CENT(50), 0},
};

static lard_shard_hints *hints_of(const lard_view *view) {
    return lard_reads_hints(&view->map->dircache[view->number]);
}

static unsigned chosen(const lard_view *view) {
    uint32_t share = lard_load(&view->header->small_share);
    for (unsigned c = 1; c < LARD_SHADOWS; c++) {
        if (configurations[c].small_share == share) {
            return c;
        }
    }
    return 0;
}

uint32_t lard_steer_small_share(const lard_view *view) { return configurations[chosen(view)].small_share; }

void lard_steer_prepare(lard_view *view) {
    lard_shard_hints *hints = hints_of(view);
    uint64_t items = lard_load(&view->header->items) - lard_load(&view->header->chunks);
    uint64_t segments =
        (uint64_t)lard_load(&view->header->small_segments) + lard_load(&view->header->main_segments);
    unsigned now = chosen(view);
    if (items <= UINT32_MAX) {
        lard_ghost_scale(view, items * view->map->super.shard_count);
    }
    bool is_small = items <= LARD_SHADOW_ITEMS;
    bool is_useful = items > 0 && items <= UINT32_MAX && segments <= view->map->super.segments_per_shard &&
                     !lard_sample_is_roomy(view);
    hints->capacity = is_small ? (uint32_t)items : LARD_SHADOW_ITEMS;
    uint32_t young = lard_simulate_part(lard_simulate_part(segments, configurations[now].small_share),
                                        configurations[now].young_share);
    if (hints->young_segments != young) {
        hints->young_segments = young;
        lard_segment_mark_young(view, LARD_NEWEST);
    }
    __atomic_store_n(&hints->sampled,
                     !is_useful ? 0
                     : is_small ? UINT32_MAX
                                : (uint32_t)(((uint64_t)LARD_SHADOW_ITEMS << 32) / items),
                     __ATOMIC_RELAXED);
}

static lard_dimensions dimensions_of(const lard_view *view, unsigned configuration, uint32_t capacity) {
    uint32_t most_small = lard_simulate_part(capacity, configurations[configuration].small_share);
    return (lard_dimensions){.capacity = capacity,
                             .most_small = most_small,
                             .young = lard_simulate_part(most_small, configurations[configuration].young_share),
                             .ghost_window = (uint32_t)lard_ghost_remembered(view, capacity)};
}

/* ---- the choice ---- */

/* Misses of a configuration in the shadow caches of all shards, whose keys do not differ in kind. Shards whose
 * hints this process has not taken share those of no shard. */
static uint64_t score_of(const lard_view *view, unsigned configuration) {
    uint64_t score = 0;
    for (uint32_t shard = 0; shard < view->map->super.shard_count; shard++) {
        const lard_shadow *shadow = &lard_reads_hints(&view->map->dircache[shard])->shadows[configuration];
        uint32_t here = __atomic_load_n(&shadow->score, __ATOMIC_RELAXED);
        score += here < MAX_SCORE ? here : MAX_SCORE;
    }
    return score;
}

/* Scores that cannot be would decide for a long time. */
static void forget_damaged(lard_shard_hints *hints) {
    bool is_damaged = false;
    for (unsigned c = 0; c < LARD_SHADOWS; c++) {
        is_damaged |= hints->shadows[c].score > MAX_SCORE || hints->shadows[c].misses > MAX_MISSES;
    }
    for (unsigned c = 0; is_damaged && c < LARD_SHADOWS; c++) {
        lard_shadow *shadow = &hints->shadows[c];
        __atomic_store_n(&shadow->score, 0, __ATOMIC_RELAXED);
        shadow->misses = 0;
    }
}

/* Hints that are new know nothing of what led to the choice that a file in use has. Until they do, all
 * configurations were as good as the chosen one: a few misses decide nothing. */
static void assume_equal(const lard_view *view, lard_shard_hints *hints, uint32_t misses) {
    bool is_new = lard_load(&view->header->evicted_segments) / IN_USE > view->map->super.segments_per_shard;
    for (unsigned c = 0; c < LARD_SHADOWS; c++) {
        is_new &= hints->shadows[c].score == 0;
    }
    for (unsigned c = 0; is_new && c < LARD_SHADOWS; c++) {
        lard_shadow *shadow = &hints->shadows[c];
        __atomic_store_n(&shadow->score, misses * ASSUMED * 256u, __ATOMIC_RELAXED);
    }
}

static void choose(lard_view *view, lard_shard_hints *hints) {
    unsigned now = chosen(view), best = now;
    uint64_t scores[LARD_SHADOWS];
    forget_damaged(hints);
    assume_equal(view, hints, hints->shadows[now].misses);
    for (unsigned c = 0; c < LARD_SHADOWS; c++) {
        lard_shadow *shadow = &hints->shadows[c];
        uint64_t score = (uint64_t)shadow->score * DECAY_PER_CENT / 100 + shadow->misses * 256ull;
        __atomic_store_n(&shadow->score, (uint32_t)score, __ATOMIC_RELAXED);
        shadow->misses = 0;
        scores[c] = score_of(view, c);
    }
    for (unsigned c = 0; c < LARD_SHADOWS; c++) {
        best = scores[c] < scores[best] ? c : best;
    }
    if (scores[best] < scores[now] - scores[now] / MIN_GAIN) {
        lard_store(&view->header->small_share, configurations[best].small_share);
    }
}

static void show(lard_view *view, lard_shard_hints *hints, uint32_t key, bool is_get) {
    unsigned now = chosen(view);
    bool missed_now = false;
    key = key ? key : 1;
    for (unsigned c = 0; c < LARD_SHADOWS; c++) {
        lard_dimensions has = dimensions_of(view, c, hints->capacity);
        lard_shadow *shadow = &hints->shadows[c];
        lard_shadow_result result = lard_simulate(shadow, &has, key, is_get);
        shadow->misses += is_get && result == LARD_SHADOW_MISSED; /* until then all have the same misses */
        missed_now = c == now ? result != LARD_SHADOW_HAD : missed_now;
    }
    lard_other_sizes *others = lard_other_sizes_of(view->map, view->number);
    for (unsigned other = 0; others && other < LARDER_OTHER_SIZES; other++) {
        if (lard_other_sizes_sees(other, key, hints->sampled)) {
            lard_dimensions has = dimensions_of(view, now, lard_other_sizes_capacity(other, hints->capacity));
            lard_other_sizes_show(&others->sizes[other], &has, key, is_get, missed_now);
        }
    }
    hints->requests += is_get;
    if (hints->requests >= EVERY * hints->capacity) {
        hints->requests = 0;
        choose(view, hints);
        lard_steer_prepare(view); /* so that a wrong sample does not last where no segment is emptied */
    }
}

void lard_steer_replay(lard_view *view, const lard_hash *stored) {
    lard_shard_hints *hints = hints_of(view);
    uint32_t end = __atomic_load_n(&hints->heard_end, __ATOMIC_RELAXED);
    if (hints->capacity == 0 || hints->capacity > LARD_SHADOW_ITEMS) {
        __atomic_store_n(&hints->sampled, 0, __ATOMIC_RELAXED); /* until eviction begins: nothing is heard */
        hints->replayed = end;
        return;
    }
    if (end - hints->replayed > LARD_HEARD) {
        hints->replayed = end - LARD_HEARD;
    }
    for (uint32_t i = 0; i < AT_ONCE && hints->replayed != end; i++) {
        uint32_t key = __atomic_load_n(&hints->heard[hints->replayed++ % LARD_HEARD], __ATOMIC_RELAXED);
        show(view, hints, key, true);
    }
    if (stored) {
        show(view, hints, stored->second, false);
    }
}
