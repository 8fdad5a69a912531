/*
 * ghost.c — which keys were evicted a short while ago, kept in slots that hold no item.
 *
 * Two ghosts fit a slot (layout.h draws it): 12 bits of the key's tag each, and when it was
 * evicted, in eighths of the shard's segments that the small queue has emptied since. They
 * cost no space of their own; the oldest give way, and any item does better with the slot.
 * A ghost is a hint: a wrong one sends a new item to the main queue, a lost one to the small.
 *
 * All under the shard's lock, but for lard_ghost_peek. Nobody else stores into a slot that
 * holds no item.
 */
#include "internal.h"

#define TAG_BITS 12
#define STAMP_BITS 5
#define TAG_MASK ((1u << TAG_BITS) - 1)
#define CELL_BITS (TAG_BITS + STAMP_BITS)
#define CELL_MASK ((1u << CELL_BITS) - 1)
#define STAMP_MASK ((1u << STAMP_BITS) - 1)
#define CELLS 2
#define UNITS 8 /* of a stamp, in a shard */

_Static_assert(LARD_LOCATION_BITS + CELLS * CELL_BITS == 64, "ghosts fill what a location leaves");

static uint32_t stamp_now(const lard_view *view) {
    uint64_t emptied = lard_load(&view->head->evict_clock);
    return (uint32_t)(emptied * UNITS / view->map->super.segments_per_shard) & STAMP_MASK;
}

/* Never 0: a cell of 0 is empty. */
static uint32_t short_tag(uint32_t tag) {
    tag &= TAG_MASK;
    return tag ? tag : 1;
}

static uint32_t cell_of(uint64_t value, unsigned number) {
    return (uint32_t)(value >> (LARD_LOCATION_BITS + number * CELL_BITS)) & CELL_MASK;
}

static uint64_t with_cell(uint64_t value, unsigned number, uint32_t cell) {
    unsigned shift = LARD_LOCATION_BITS + number * CELL_BITS;
    return (value & ~((uint64_t)CELL_MASK << shift)) | (uint64_t)cell << shift;
}

static uint32_t age_of(uint32_t cell, uint32_t now) { return (now - (cell >> TAG_BITS)) & STAMP_MASK; }

typedef struct {
    lard_u64 *slot; /* NULL: not found */
    uint64_t value;
    unsigned number;
} place;

static place find(const lard_view *view, const lard_hash *hash) {
    uint32_t tag = short_tag(hash->tag), now = stamp_now(view), window = lard_evict_ghost_window(view);
    lard_bucket *buckets[2] = {NULL, NULL};
    bool fit = lard_buckets_of(view, hash, lard_bucket_count(view), &buckets[0], &buckets[1]);
    for (unsigned i = 0; fit && i < 2 * LARD_BUCKET_SLOTS; i++) {
        lard_u64 *slot = &buckets[i / LARD_BUCKET_SLOTS]->slots[i % LARD_BUCKET_SLOTS];
        uint64_t value = lard_load(slot);
        if (value == 0 || LARD_SLOT_OFFSET(value)) {
            continue;
        }
        for (unsigned c = 0; c < CELLS; c++) {
            uint32_t cell = cell_of(value, c);
            if ((cell & TAG_MASK) == tag && age_of(cell, now) <= window) {
                return (place){slot, value, c};
            }
        }
    }
    return (place){NULL, 0, 0};
}

/* Without the lock: whether the key seems to have a fresh ghost. */
bool lard_ghost_peek(const lard_view *view, const lard_hash *hash) { return find(view, hash).slot != NULL; }

/* Whether the key had a fresh ghost; it has none afterwards. */
bool lard_ghost_take(lard_view *view, const lard_hash *hash) {
    place at = find(view, hash);
    if (at.slot) {
        lard_store(at.slot, with_cell(at.value, at.number, 0));
    }
    return at.slot != NULL;
}

/* How much a slot without an item would be missed: 0 where it is empty, more for younger ghosts. */
unsigned lard_ghost_worth(const lard_view *view, uint64_t value) {
    unsigned worth = 0;
    uint32_t now = stamp_now(view);
    for (unsigned c = 0; c < CELLS && value; c++) {
        uint32_t cell = cell_of(value, c);
        worth += cell ? STAMP_MASK + 1 - age_of(cell, now) : 0;
    }
    return worth;
}

/* What the slot of an evicted item holds afterwards. */
uint64_t lard_ghost_word(const lard_view *view, uint32_t tag) {
    return with_cell(0, 0, short_tag(tag) | stamp_now(view) << TAG_BITS);
}

/* The slot of these ghosts was given to an item: they take cells of the bucket that are empty or hold older ones.
 */
void lard_ghost_rescue(lard_bucket *bucket, const lard_view *view, uint64_t value) {
    uint32_t now = stamp_now(view);
    for (unsigned r = 0; r < CELLS; r++) {
        uint32_t cell = cell_of(value, r);
        uint32_t oldest = cell ? age_of(cell, now) : STAMP_MASK + 1;
        place at = {NULL, 0, 0};
        for (unsigned i = 0; i < LARD_BUCKET_SLOTS && cell; i++) {
            uint64_t other = lard_load(&bucket->slots[i]);
            for (unsigned c = 0; c < CELLS && !LARD_SLOT_OFFSET(other); c++) {
                uint32_t age = cell_of(other, c) ? age_of(cell_of(other, c), now) : STAMP_MASK + 1;
                if (age > oldest) {
                    oldest = age;
                    at = (place){&bucket->slots[i], other, c};
                }
            }
        }
        if (at.slot) {
            lard_store(at.slot, with_cell(at.value, at.number, cell));
        }
    }
}

static uint64_t without_stale(const lard_view *view, uint64_t value) {
    uint32_t now = stamp_now(view);
    for (unsigned c = 0; c < CELLS; c++) {
        if (age_of(cell_of(value, c), now) > LARD_GHOST_OLDEST) {
            value = with_cell(value, c, 0);
        }
    }
    return value;
}

/* With each segment the small queue empties: forgets old ghosts of a part of the index, so that none is there
 * still when stamps begin again. */
void lard_ghost_sweep(lard_view *view) {
    uint64_t count = lard_bucket_count(view), parts = view->map->super.segments_per_shard / 2;
    uint64_t part = lard_load(&view->head->evict_clock) % parts;
    for (uint64_t b = count * part / parts; b < count * (part + 1) / parts; b++) {
        lard_bucket *bucket = lard_bucket_at(view, (uint32_t)b);
        for (unsigned i = 0; bucket && i < LARD_BUCKET_SLOTS; i++) {
            uint64_t value = lard_load(&bucket->slots[i]);
            if (value && !LARD_SLOT_OFFSET(value) && without_stale(view, value) != value) {
                lard_store(&bucket->slots[i], without_stale(view, value));
            }
        }
    }
}
