/*
 * steer.c — runs the shadow caches, and chooses the configuration with the fewest misses.
 *
 * A shadow cache does by single keys what evict.c does by segments: of the small queue's oldest keys those that
 * were read go to the main queue, and the others become ghosts. A key whose ghost is younger than the main queue's
 * oldest key goes to the main queue at once.
 */
#include "evict/steer.h"
#include "base/reads.h"
#include "evict/sample.h"
#include "index/ghost.h"
#include "segment/segment.h"

#include <string.h>

#define PER_CENT(n) ((n)*65536u / 100)
#define EVERY 2u          /* choices are made after as many requests as the shadow caches hold items, times this */
#define DECAY_PER_CENT 90 /* of the misses before a choice, in the next one */
#define MIN_GAIN 100      /* another configuration must have fewer misses by one in so many */
#define MAX_MISSES (EVERY * LARD_SHADOW_ITEMS)                        /* between two choices */
#define MAX_SCORE (MAX_MISSES * 256u * 100u / (100 - DECAY_PER_CENT)) /* with as many before each choice */
#define AT_ONCE 16u                                                   /* gets that one set replays */
#define MAX_CHAIN 64u                                                 /* chain, unless it is damaged */

/* Both in 65536ths: of the record segments, and of that part. */
static const struct {
    uint32_t small_share, young_share;
} configurations[LARD_SHADOWS] = {
    {PER_CENT(5), PER_CENT(50)}, /* the first */
    {PER_CENT(1), 0},
    {PER_CENT(30), PER_CENT(50)},
    {PER_CENT(50), 0},
};

static lard_shard_hints *hints_of(const lard_view *view) { return view->map->dircache[view->number].hints; }

static uint32_t part_of(uint64_t whole, uint32_t share) { return (uint32_t)(whole * share / 65536); }

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
    uint32_t young = part_of(part_of(segments, configurations[now].small_share), configurations[now].young_share);
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

/* ---- a shadow cache ---- */

typedef struct { /* in keys */
    uint32_t capacity, most_small, young, ghost_window;
} dimensions;

static uint32_t length(uint32_t first, uint32_t end) { return end - first; }

static uint32_t small_at(uint32_t position) { return position % LARD_SHADOW_SMALL; }
static uint32_t main_at(uint32_t position) { return LARD_SHADOW_SMALL + position % LARD_SHADOW_ITEMS; }

static uint16_t *chain_of(lard_shadow *shadow, uint32_t key) { return &shadow->chains[key % LARD_SHADOW_CHAINS]; }

/* The entry after a link, or NULL: there is none. */
static lard_shadow_entry *entry_at(lard_shadow *shadow, uint32_t link) {
    return link == 0 || link > LARD_SHADOW_SMALL + LARD_SHADOW_ITEMS ? NULL : &shadow->entries[link - 1];
}

static void unlink_entry(lard_shadow *shadow, uint32_t number) {
    lard_shadow_entry *gone = &shadow->entries[number], *before = NULL;
    uint16_t *first = chain_of(shadow, gone->key);
    lard_shadow_entry *entry = entry_at(shadow, *first);
    for (uint32_t i = 0; entry && entry != gone && i < MAX_CHAIN; i++) {
        before = entry;
        entry = entry_at(shadow, entry->next);
    }
    if (entry == gone && before) {
        before->next = gone->next;
    } else if (entry == gone) {
        *first = gone->next;
    }
}

/* Gives the entry to the key. What was there before is forgotten. */
static void push(lard_shadow *shadow, uint32_t number, uint32_t key, uint32_t reads) {
    uint16_t *first = chain_of(shadow, key);
    unlink_entry(shadow, number);
    shadow->entries[number] = (lard_shadow_entry){.key = key,
                                                  .time = (uint16_t)shadow->time++,
                                                  .next = *first & 0xfffu,
                                                  .reads = reads & 3,
                                                  .is_present = 1};
    *first = (uint16_t)(number + 1);
}

static void push_main(lard_shadow *shadow, uint32_t key, uint32_t reads) {
    push(shadow, main_at(shadow->main_end++), key, reads);
}

/* Takes the oldest key of a queue off. It goes to the main queue, or from the small one it may become a ghost. */
static void pop(lard_shadow *shadow, bool from_small) {
    lard_shadow_entry *entry =
        &shadow->entries[from_small ? small_at(shadow->small_first++) : main_at(shadow->main_first++)];
    bool stays = entry->is_present && entry->reads;
    if (stays || !from_small) {
        entry->is_present = 0;
    }
    if (stays) {
        push_main(shadow, entry->key, from_small ? 0 : entry->reads - 1u);
    }
}

/* False: there was room. */
static bool make_room(lard_shadow *shadow, const dimensions *has) {
    for (uint32_t i = 0; i < 8 * LARD_SHADOW_ITEMS; i++) {
        uint32_t small = length(shadow->small_first, shadow->small_end);
        uint32_t in_main = length(shadow->main_first, shadow->main_end);
        if (small + in_main < has->capacity) {
            return i > 0;
        }
        pop(shadow, small && (small > has->most_small || !in_main));
    }
    memset(shadow, 0, offsetof(lard_shadow, misses)); /* its content was damaged */
    return true;
}

/* Does a ghost count? See ghost.c. */
static bool is_fresh(const lard_shadow *shadow, const dimensions *has, const lard_shadow_entry *ghost) {
    const lard_shadow_entry *oldest = &shadow->entries[main_at(shadow->main_first)];
    uint16_t now = (uint16_t)shadow->time, age = now - ghost->time, of_main = now - oldest->time;
    return age < has->ghost_window && (age < of_main || shadow->main_first == shadow->main_end);
}

/* A get of the key, or a set. A get that misses is followed by a set. */
static void request(lard_shadow *shadow, const dimensions *has, uint32_t key, bool is_get) {
    uint32_t in_small = length(shadow->small_first, shadow->small_end);
    lard_shadow_entry *entry = entry_at(shadow, *chain_of(shadow, key));
    bool had_ghost = false;
    for (uint32_t i = 0; entry && i < MAX_CHAIN; i++, entry = entry_at(shadow, entry->next)) {
        uint32_t number = (uint32_t)(entry - shadow->entries);
        uint32_t age = small_at(shadow->small_end - 1 - number);
        if (entry->key != key || !entry->is_present) {
            continue;
        }
        if (number >= LARD_SHADOW_SMALL || age < in_small) {
            if (is_get && entry->reads < LARD_READS_MOST && (number >= LARD_SHADOW_SMALL || age >= has->young)) {
                entry->reads = lard_reads_more(entry->reads) & LARD_READS_MOST;
            }
            return;
        }
        had_ghost |= is_fresh(shadow, has, entry);
        entry->is_present = 0;
    }
    bool was_full = make_room(shadow, has);
    shadow->misses += is_get && was_full; /* until then all shadow caches have the same misses */
    if (had_ghost) {
        push_main(shadow, key, 0);
    } else {
        push(shadow, small_at(shadow->small_end++), key, 0);
    }
}

/* ---- the choice ---- */

/* Misses of a configuration in the shadow caches of all shards, whose keys do not differ in kind. */
static uint64_t score_of(const lard_view *view, unsigned configuration) {
    uint64_t score = 0;
    for (uint32_t shard = 0; shard < view->map->super.shard_count; shard++) {
        const lard_shadow *shadow = &view->map->dircache[shard].hints->shadows[configuration];
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

static void choose(lard_view *view, lard_shard_hints *hints) {
    unsigned now = chosen(view), best = now;
    uint64_t scores[LARD_SHADOWS];
    forget_damaged(hints);
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
    dimensions has = {.capacity = hints->capacity,
                      .ghost_window = (uint32_t)lard_ghost_remembered(view, hints->capacity)};
    for (unsigned c = 0; c < LARD_SHADOWS; c++) {
        has.most_small = part_of(has.capacity, configurations[c].small_share);
        has.young = part_of(has.most_small, configurations[c].young_share);
        request(&hints->shadows[c], &has, key ? key : 1, is_get);
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
