/*
 * ghost.c — remembers keys that were evicted recently, in slots that hold no item.
 *
 * A slot holds two ghosts (layout.h draws it). Each has 11 bits of the key's fingerprint, and when the segment of
 * the small queue was opened that the item was in. The clock is the number of segments opened so far, in
 * sixteenths of the shard. Ghosts need no space of their own: new ghosts replace the oldest ones, and items
 * replace ghosts. A ghost is a hint: a wrong one sends a new item to the main queue, a lost one sends it to the
 * small queue.
 *
 * An item that comes back goes to the main queue if its segment was younger than the oldest one of the main queue:
 * if it had been stored there, it would still be there.
 *
 * All under the shard's lock, but for lard_ghost_peek and lard_ghost_word. Nobody else stores into a slot that
 * holds no item.
 */
#include "index/ghost.h"
#include "index/bucket.h"
#include "segment/segment.h"

#define CELL_MASK ((1u << LARD_GHOST_CELL_BITS) - 1)
#define OLD (LARD_GHOST_WINDOW + 4) /* greatest age of a ghost that keeps its place */
#define MIN_REMEMBERED 2048u        /* items that came before, however few the shard holds */
#define AGELESS (LARD_GHOST_TIME_MASK + 1)

_Static_assert(LARD_LOCATION_BITS + LARD_GHOST_CELLS * LARD_GHOST_CELL_BITS == 64,
               "ghosts fill what a location leaves");

static uint32_t scale_of(const lard_view *view) {
    uint32_t scale = lard_load(&view->header->ghost_scale);
    return scale < LARD_GHOST_MAX_SCALE ? scale : LARD_GHOST_MAX_SCALE;
}

static uint32_t time_of(const lard_view *view, uint64_t sequence) {
    return (uint32_t)(sequence * LARD_GHOST_UNITS / view->map->super.segments_per_shard >> scale_of(view));
}

static uint32_t now_of(const lard_view *view) { return time_of(view, lard_load(&view->header->next_sequence)); }

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

/* AGELESS: the cell is empty or too old. */
static uint32_t age_of(uint32_t cell, uint32_t now) {
    uint32_t age = (now - (cell >> LARD_GHOST_TIME_SHIFT)) & LARD_GHOST_TIME_MASK;
    return cell == 0 || age > OLD ? AGELESS : age;
}

typedef struct {
    lard_u64 *slot; /* NULL: not found */
    uint64_t value;
    unsigned number;
} place;

/* The ages from which on ghosts do not count. */
static uint32_t too_old(const lard_view *view, uint32_t now) {
    uint32_t oldest = lard_load(&view->header->oldest_main);
    uint32_t age = oldest ? now - time_of(view, oldest - 1) : AGELESS;
    return age <= LARD_GHOST_WINDOW ? age : LARD_GHOST_WINDOW + 1;
}

static place find(const lard_view *view, const lard_hash *hash, lard_buckets *pair) {
    uint32_t now = now_of(view);
    uint32_t limit = too_old(view, now);
    uint32_t fingerprint = short_fingerprint(hash->fingerprint);
    bool fit = lard_bucket_renew(view, hash, pair);
    for (unsigned i = 0; fit && i < 2 * LARD_BUCKET_SLOTS; i++) {
        lard_u64 *slot = &pair->at[i / LARD_BUCKET_SLOTS]->slots[i % LARD_BUCKET_SLOTS];
        uint64_t value = lard_load(slot);
        for (unsigned n = 0; value && !LARD_SLOT_OFFSET(value) && n < LARD_GHOST_CELLS; n++) {
            uint32_t cell = cell_of(value, n);
            if ((cell & LARD_GHOST_FINGERPRINT_MASK) == fingerprint && age_of(cell, now) < limit) {
                return (place){slot, value, n};
            }
        }
    }
    return (place){NULL, 0, 0};
}

bool lard_ghost_peek(const lard_view *view, const lard_hash *hash) {
    lard_buckets pair = {.epoch = 0};
    return find(view, hash, &pair).slot != NULL;
}

bool lard_ghost_take(lard_view *view, const lard_hash *hash, lard_buckets *buckets) {
    place at = find(view, hash, buckets);
    if (!at.slot) {
        return false;
    }
    lard_store(at.slot, with_cell(at.value, at.number, 0));
    return true;
}

uint64_t lard_ghost_word(const lard_view *view, uint32_t fingerprint, uint64_t offset) {
    uint64_t sequence = lard_load(&view->segments[lard_segment_at(view, offset)].sequence);
    uint32_t time = time_of(view, sequence) & LARD_GHOST_TIME_MASK;
    return with_cell(0, 0, short_fingerprint(fingerprint) | time << LARD_GHOST_TIME_SHIFT);
}

void lard_ghost_rescue(lard_bucket *bucket, const lard_view *view, uint64_t value) {
    uint32_t now = now_of(view);
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

static uint64_t without_old(uint64_t value, uint32_t now) {
    for (unsigned n = 0; n < LARD_GHOST_CELLS; n++) {
        value = age_of(cell_of(value, n), now) == AGELESS ? with_cell(value, n, 0) : value;
    }
    return value;
}

uint64_t lard_ghost_remembered(const lard_view *view, uint64_t items) {
    return (items * LARD_GHOST_WINDOW / LARD_GHOST_UNITS) << scale_of(view);
}

/* Ghosts that a change of the scale makes wrong are forgotten sooner or later. */
void lard_ghost_scale(lard_view *view, uint64_t items) {
    uint64_t remembered = items * LARD_GHOST_WINDOW / LARD_GHOST_UNITS;
    uint32_t scale = 0, now = scale_of(view);
    while (scale < LARD_GHOST_MAX_SCALE && remembered << scale < MIN_REMEMBERED) {
        scale++;
    }
    bool is_close = scale + 1 == now && (remembered << scale) < MIN_REMEMBERED * 5 / 4;
    if (scale != now && !is_close) {
        lard_store(&view->header->ghost_scale, scale);
    }
}

/* Times wrap around: old ghosts would look new again. */
void lard_ghost_sweep(lard_view *view) {
    uint32_t now = now_of(view);
    uint64_t count = lard_bucket_count(view), parts = view->map->super.segments_per_shard;
    uint64_t part = lard_load(&view->header->next_sequence) % parts;
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
