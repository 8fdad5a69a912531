/*
 * ghost.c — remembers keys that were evicted recently, in slots that hold no item.
 *
 * A slot holds two ghosts (layout.h draws it). Each has 11 bits of the key's fingerprint, the queue that the key
 * was in, and the time of its eviction, by that queue's clock, in eighths of the shard. Ghosts need no space of
 * their own: new ghosts replace the oldest ones, and items replace ghosts. A ghost is a hint: a wrong one sends a
 * new item to the main queue, a lost one sends it to the small queue.
 *
 * All under the shard's lock, but for lard_ghost_peek and lard_ghost_word. Nobody else stores into a slot that
 * holds no item.
 */
#include "index/ghost.h"
#include "index/bucket.h"

#define CELL_MASK ((1u << LARD_GHOST_CELL_BITS) - 1)
#define YOUNG 0      /* greatest age from which the size of the queues is learned: less than one unit */
#define MAIN_OLD 2   /* greatest age of a ghost of the main queue: such ghosts serve only that learning */
#define SMALL_OLD 20 /* the same of the small queue: above LARD_GHOST_WINDOW */
#define AGELESS (LARD_GHOST_EVICTED_MASK + 1)

_Static_assert(LARD_LOCATION_BITS + LARD_GHOST_CELLS * LARD_GHOST_CELL_BITS == 64,
               "ghosts fill what a location leaves");

typedef struct {
    uint32_t now[2]; /* of the small and of the main queue */
} clocks;

static clocks clocks_of(const lard_view *view) {
    uint32_t both = lard_load(&view->header->ghost_clocks);
    return (clocks){
        {both & LARD_GHOST_EVICTED_MASK, both >> LARD_GHOST_CLOCKS_MAIN_SHIFT & LARD_GHOST_EVICTED_MASK}};
}

/* Never 0: a cell of 0 is empty. */
static uint32_t short_fingerprint(uint32_t fingerprint) {
    fingerprint &= LARD_GHOST_FINGERPRINT_MASK;
    return fingerprint ? fingerprint : 1;
}

static uint32_t cell_of(uint64_t value, unsigned number) {
    return (uint32_t)(value >> (LARD_LOCATION_BITS + number * LARD_GHOST_CELL_BITS)) & CELL_MASK;
}

static uint64_t with_cell(uint64_t value, unsigned number, uint32_t cell) {
    unsigned shift = LARD_LOCATION_BITS + number * LARD_GHOST_CELL_BITS;
    return (value & ~((uint64_t)CELL_MASK << shift)) | (uint64_t)cell << shift;
}

static bool was_main(uint32_t cell) { return (cell & LARD_GHOST_MAIN) != 0; }

/* AGELESS: the cell is empty or too old. */
static uint32_t age_of(uint32_t cell, clocks at) {
    uint32_t age = (at.now[was_main(cell)] - (cell >> LARD_GHOST_EVICTED_SHIFT)) & LARD_GHOST_EVICTED_MASK;
    return cell == 0 || age > (was_main(cell) ? MAIN_OLD : SMALL_OLD) ? AGELESS : age;
}

typedef struct {
    lard_u64 *slot; /* NULL: not found */
    uint64_t value;
    unsigned number;
} place;

static place find(const lard_view *view, const lard_hash *hash, clocks at) {
    uint32_t fingerprint = short_fingerprint(hash->fingerprint);
    lard_buckets pair;
    bool fit = lard_bucket_pair(view, hash, lard_bucket_count(view), &pair);
    for (unsigned i = 0; fit && i < 2 * LARD_BUCKET_SLOTS; i++) {
        lard_u64 *slot = &pair.at[i / LARD_BUCKET_SLOTS]->slots[i % LARD_BUCKET_SLOTS];
        uint64_t value = lard_load(slot);
        for (unsigned n = 0; value && !LARD_SLOT_OFFSET(value) && n < LARD_GHOST_CELLS; n++) {
            uint32_t cell = cell_of(value, n);
            if ((cell & LARD_GHOST_FINGERPRINT_MASK) == fingerprint && age_of(cell, at) <= LARD_GHOST_WINDOW) {
                return (place){slot, value, n};
            }
        }
    }
    return (place){NULL, 0, 0};
}

bool lard_ghost_peek(const lard_view *view, const lard_hash *hash) {
    place at = find(view, hash, clocks_of(view));
    return at.slot && !was_main(cell_of(at.value, at.number));
}

lard_ghost lard_ghost_take(lard_view *view, const lard_hash *hash) {
    clocks now = clocks_of(view);
    place at = find(view, hash, now);
    if (!at.slot) {
        return LARD_GHOST_NONE;
    }
    uint32_t cell = cell_of(at.value, at.number);
    bool young = age_of(cell, now) <= YOUNG;
    lard_store(at.slot, with_cell(at.value, at.number, 0));
    if (was_main(cell)) {
        return young ? LARD_GHOST_MAIN_YOUNG : LARD_GHOST_NONE;
    }
    return young ? LARD_GHOST_SMALL_YOUNG : LARD_GHOST_SMALL;
}

uint64_t lard_ghost_word(const lard_view *view, uint32_t fingerprint, bool from_main) {
    return with_cell(0, 0,
                     short_fingerprint(fingerprint) | (from_main ? LARD_GHOST_MAIN : 0) |
                         clocks_of(view).now[from_main] << LARD_GHOST_EVICTED_SHIFT);
}

void lard_ghost_rescue(lard_bucket *bucket, const lard_view *view, uint64_t value) {
    clocks now = clocks_of(view);
    for (unsigned r = 0; r < LARD_GHOST_CELLS; r++) {
        uint32_t cell = cell_of(value, r);
        uint32_t oldest = age_of(cell, now);
        place at = {NULL, 0, 0};
        for (unsigned i = 0; i < LARD_BUCKET_SLOTS && oldest != AGELESS; i++) {
            uint64_t other = lard_load(&bucket->slots[i]);
            if (LARD_SLOT_OFFSET(other)) {
                continue;
            }
            for (unsigned n = 0; n < LARD_GHOST_CELLS; n++) {
                uint32_t age = age_of(cell_of(other, n), now);
                if (age > oldest) {
                    oldest = age;
                    at = (place){&bucket->slots[i], other, n};
                }
            }
        }
        if (at.slot) {
            lard_store(at.slot, with_cell(at.value, at.number, cell));
        }
    }
}

static uint64_t without_old(uint64_t value, clocks now) {
    for (unsigned n = 0; n < LARD_GHOST_CELLS; n++) {
        value = age_of(cell_of(value, n), now) == AGELESS ? with_cell(value, n, 0) : value;
    }
    return value;
}

static void sweep(lard_view *view, uint32_t clock) {
    clocks now = clocks_of(view);
    uint64_t count = lard_bucket_count(view), parts = view->map->super.segments_per_shard;
    uint64_t part = clock % parts;
    for (uint64_t b = count * part / parts; b < count * (part + 1) / parts; b++) {
        lard_bucket *bucket = lard_bucket_at(view, (uint32_t)b);
        for (unsigned i = 0; bucket && i < LARD_BUCKET_SLOTS; i++) {
            uint64_t value = lard_load(&bucket->slots[i]);
            uint64_t kept = value && !LARD_SLOT_OFFSET(value) ? without_old(value, now) : value;
            if (kept != value) {
                lard_store(&bucket->slots[i], kept);
            }
        }
    }
}

/* The sweep drops old ghosts before the times wrap around: otherwise they would look new again. */
void lard_ghost_tick(lard_view *view, bool main_queue) {
    lard_u32 *clock = main_queue ? &view->header->main_clock : &view->header->small_clock;
    lard_store(clock, lard_load(clock) + 1);
    uint64_t segments = view->map->super.segments_per_shard;
    uint64_t small = lard_load(&view->header->small_clock) * (uint64_t)LARD_GHOST_EVICTED_UNITS / segments;
    uint64_t large = lard_load(&view->header->main_clock) * (uint64_t)LARD_GHOST_EVICTED_UNITS / segments;
    lard_store(&view->header->ghost_clocks,
               (uint32_t)((small & LARD_GHOST_EVICTED_MASK) | (large & LARD_GHOST_EVICTED_MASK)
                                                                  << LARD_GHOST_CLOCKS_MAIN_SHIFT));
    sweep(view, lard_load(clock));
}
