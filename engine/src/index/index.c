/*
 * index.c — finds, inserts and deletes the slot of a key.
 *
 * Two-choice buckets (Azar et al., 1994). An insert runs under the shard's lock. Lookups and deletes take no lock:
 * a delete empties slots by compare-and-swap, so every other change of a slot is a compare-and-swap too.
 * index_resize.c tells how deletes work while the index changes its shape.
 */
#include "index/index.h"
#include "base/count.h"
#include "base/dead.h"
#include "base/key.h"
#include "index/bucket.h"
#include "index/ghost.h"
#include "index/index_resize.h"
#include "index/probe.h"
#include "index/slot.h"
#include "segment/pin.h"
#include "segment/record.h"
#include "segment/segment.h"

#include <limits.h>

#define DELETE_ATTEMPTS 4096 /* many, because a slow delete is better than one that leaves the key */

LARD_INLINE lard_found first_of(const lard_view *view, const lard_hash *hash, lard_match_test *passes,
                                const void *context) {
    lard_buckets pair;
    return lard_bucket_pair(view, hash, lard_bucket_count(view), &pair)
               ? lard_match_first(view, &pair, hash->fingerprint, passes, context)
               : (lard_found){NULL, 0, NULL};
}

LARD_INLINE bool is_of_key(const lard_view *view, const lard_u64 *slot, uint64_t value, const void *key) {
    lard_record_info info;
    (void)slot;
    return lard_match_key(view, value, key, &info);
}

lard_found lard_index_find(const lard_view *view, const lard_key *key) {
    return first_of(view, &key->hash, is_of_key, key);
}

/* Prefetches the header and the beginning of the key; the value is not needed. */
LARD_INLINE bool is_in_shard(const lard_view *view, const lard_u64 *slot, uint64_t value, const void *unused) {
    uint64_t offset = LARD_SLOT_OFFSET(value);
    (void)slot, (void)unused;
    if (offset >= view->map->super.shard_bytes) {
        return false;
    }
    __builtin_prefetch(view->base + offset);
    __builtin_prefetch(view->base + offset + LARD_RECORD_HEADER + 16);
    return true;
}

lard_found lard_index_probe(const lard_view *view, const lard_hash *hash, lard_buckets *buckets) {
    return LARD_LIKELY(lard_bucket_renew(view, hash, buckets))
               ? lard_match_first(view, buckets, hash->fingerprint, is_in_shard, NULL)
               : (lard_found){NULL, 0, NULL};
}

LARD_INLINE bool is_same(const lard_view *view, const lard_u64 *slot, uint64_t value, const void *wanted) {
    const uint64_t *same = wanted;
    (void)view, (void)slot;
    return value == *same;
}

lard_found lard_index_find_offset(const lard_view *view, const lard_hash *hash, uint64_t offset,
                                  uint32_t generation) {
    uint64_t wanted = lard_slot_make(offset, hash->fingerprint, generation);
    return first_of(view, hash, is_same, &wanted);
}

bool lard_index_is_chunk(const lard_view *view, uint64_t slot) {
    lard_record_info info;
    return lard_record_of_slot(view, slot, &info) && LARD_WORD0_TYPE(info.word0) == LARD_TYPE_CHUNK;
}

/* Chunks first: if the process dies in between, the count is one item too high. */
void lard_index_count_off(const lard_view *view, bool is_chunk) {
    if (is_chunk) {
        lard_add(&view->header->chunks, (uint64_t)-1);
    }
    lard_add(&view->header->items, (uint64_t)-1);
}

/* Reads records only if some may be chunks. */
void lard_index_recount(lard_view *view) {
    bool has_chunks = lard_load(&view->header->chunks) != 0;
    uint64_t items = 0, chunks = 0;
    uint32_t count = lard_bucket_count(view);
    for (uint32_t b = 0; b < count; b++) {
        lard_bucket *bucket = lard_bucket_at(view, b);
        for (unsigned i = 0; bucket && i < LARD_BUCKET_SLOTS; i++) {
            uint64_t value = lard_load(&bucket->slots[i]);
            items += LARD_SLOT_OFFSET(value) != 0;
            chunks += has_chunks && LARD_SLOT_OFFSET(value) && lard_index_is_chunk(view, value);
        }
    }
    lard_store(&view->header->items, items);
    lard_store(&view->header->chunks, chunks);
}

static unsigned live_slots(const lard_bucket *bucket) {
    unsigned live = 0;
    for (unsigned i = 0; i < LARD_BUCKET_SLOTS; i++) {
        live += LARD_SLOT_OFFSET(lard_load(&bucket->slots[i])) != 0;
    }
    return live;
}

typedef struct {    /* a slot for a new item */
    lard_u64 *slot; /* NULL: none */
    uint64_t value;
    unsigned bucket; /* of the pair */
} place;

/* A slot without an item, in the bucket that has fewer if it has one; rather an empty one than one with ghosts. */
static place vacancy(const lard_buckets *pair) {
    unsigned order = live_slots(pair->at[1]) < live_slots(pair->at[0]);
    place best = {NULL, 1, 0};
    for (unsigned c = 0; c < 2 && !best.slot; c++) {
        lard_bucket *bucket = pair->at[c ^ order];
        for (unsigned i = 0; i < LARD_BUCKET_SLOTS && (!best.slot || best.value); i++) {
            uint64_t value = lard_load(&bucket->slots[i]);
            if (value == 0 || (!best.slot && !LARD_SLOT_OFFSET(value))) {
                best = (place){&bucket->slots[i], value, c ^ order};
            }
        }
    }
    return best;
}

/* Of the items of two full buckets the one that was read least and is not pinned. */
static place find_victim(const lard_view *view, const lard_buckets *pair) {
    place best = {NULL, 0, 0};
    unsigned least = UINT_MAX;
    for (unsigned i = 0; i < 2 * LARD_BUCKET_SLOTS; i++) {
        unsigned bucket = i / LARD_BUCKET_SLOTS;
        lard_u64 *slot = &pair->at[bucket]->slots[i % LARD_BUCKET_SLOTS];
        uint64_t value = lard_load(slot);
        unsigned reads = lard_reads_of(lard_reads_at(view->map, view->number, pair->number[bucket]), slot);
        if (reads < least && LARD_SLOT_OFFSET(value) && !lard_pin_cost_of(view, value)) {
            best = (place){slot, value, bucket};
            least = reads;
        }
    }
    return best;
}

larder_status lard_index_insert(lard_core *cache, lard_view *view, const lard_hash *hash, lard_buckets *pair,
                                uint64_t slot, unsigned reads) {
    if (!lard_bucket_renew(view, hash, pair)) {
        return LARDER_DAMAGED;
    }
    for (;;) { /* repeats only if a deleter emptied a slot */
        place at = vacancy(pair);
        bool occupied = !at.slot;
        if (occupied) {
            if (lard_index_resize_make_room(view, pair)) {
                continue;
            }
            at = find_victim(view, pair);
            if (!at.slot && !vacancy(pair).slot) {
                return LARDER_FULL;
            }
            if (!at.slot) {
                continue;
            }
        }
        bool was_chunk = occupied && lard_index_is_chunk(view, at.value);
        if (lard_slot_replace(at.slot, at.value, slot)) {
            lard_reads_set(lard_reads_at(view->map, view->number, pair->number[at.bucket]), at.slot, reads);
            if (was_chunk) {
                lard_add(&view->header->chunks, (uint64_t)-1);
            } else if (occupied) {
                lard_count(cache, LARD_STAT_evictions, 1);
            } else {
                lard_add(&view->header->items, 1);
                if (at.value) {
                    lard_ghost_rescue(pair->at[at.bucket], view, at.value);
                }
            }
            return LARDER_OK;
        }
    }
}

/* The record that a deleter looks for, and what it found. */
typedef struct {
    uint64_t only; /* not 0: only the record that this slot names, not the key's record whatever it is */
    bool was_live;
    uint64_t pinned_bytes;
    lard_head *head; /* out: of a large value; may be NULL */
} deletion;

/* Reads the head of a large value. Has the record, which may be extended, a value that is fresh? */
static __attribute__((noinline)) bool look_at_long(const lard_view *view, uint64_t offset,
                                                   const lard_record_info *info, int64_t now_ms,
                                                   lard_head *large) {
    unsigned kind;
    lard_record_head(view, offset, info, large);
    return LARD_WORD0_TYPE(info->word0) != LARD_TYPE_EXTENDED ||
           lard_record_extended_is_fresh(view, offset, info, now_ms, &kind);
}

/* Empties the slot if it holds the key. True: this call emptied it. */
static bool delete_in_slot(const lard_view *view, lard_u64 *slot, const lard_key *key, int64_t now_ms,
                           deletion *found) {
    for (int attempt = 0; attempt < DELETE_ATTEMPTS; attempt++) {
        lard_record_info info;
        uint64_t value = lard_load_acquire(slot);
        uint64_t settled = value & ~LARD_SLOT_PENDING;
        if (!lard_match_key(view, settled, key, &info)) {
            lard_fence_acquire();
            if (lard_load(slot) == value) {
                return false;
            }
            continue; /* moved or recycled meanwhile */
        }
        if (LARD_UNLIKELY(found->only) && settled != found->only) {
            return false;
        }
        lard_head large = {{0, 0}, 0, 0, 0};
        uint64_t pinned_bytes = 0;
        bool has_value = true;
        if (LARD_UNLIKELY(LARD_WORD0_TYPE(info.word0) >= LARD_TYPE_HEAD) && found->head) {
            has_value = look_at_long(view, LARD_SLOT_OFFSET(settled), &info, now_ms, &large);
        }
        if (LARD_UNLIKELY(LARD_WORD0_PINNED(info.word0))) {
            pinned_bytes = lard_pin_cost_of(view, settled);
        }
        if (lard_slot_replace(slot, value, 0)) {
            found->was_live |= has_value & !lard_record_expired(&info, now_ms);
            found->pinned_bytes = pinned_bytes;
            if (large.value_bytes) {
                *found->head = large;
            }
            lard_dead_add(view->map, view->number, lard_segment_at(view, LARD_SLOT_OFFSET(settled)),
                          lard_record_bytes_at(&info));
            return true;
        }
    }
    return false;
}

/* Empties the key's slots in two buckets; in a damaged directory one may be missing. */
static bool delete_in_buckets(const lard_view *view, const uint32_t numbers[2], const lard_key *key,
                              int64_t now_ms, deletion *found) {
    lard_bucket *first = lard_bucket_at(view, numbers[0]);
    lard_bucket *second = lard_bucket_at(view, numbers[1]);
    bool any = false;
    first = first ? first : second;
    second = second ? second : first;
    for (unsigned mask = first ? lard_probe(first, second, key->hash.fingerprint) : 0; mask; mask &= mask - 1) {
        any |= delete_in_slot(view, lard_probe_slot(first, second, mask), key, now_ms, found);
    }
    return any;
}

/* True: this call emptied a slot. */
LARD_INLINE bool delete_key(const lard_view *view, const lard_key *key, int64_t now_ms, deletion *found) {
    bool any = false;
    for (int attempt = 0; attempt < DELETE_ATTEMPTS; attempt++) {
        uint32_t splitting = lard_load_acquire(&view->header->splitting);
        uint32_t moves = lard_load_acquire(&view->header->moves);
        uint32_t count = lard_bucket_count(view);
        if (count == 0) {
            break;
        }
        uint32_t choices[6] = {lard_bucket_of(key->hash.first, count), lard_bucket_of(key->hash.second, count)};
        int used = 2;
        if (splitting && splitting - 1 < count) { /* moved items stay in it a little longer than the count tells */
            choices[used++] = splitting - 1;
            choices[used++] = splitting - 1;
        }
        uint64_t paged = (uint64_t)lard_load(&view->header->index_pages) << view->map->index_shift;
        if (splitting && count < paged) { /* the new bucket, which is filled but not published yet */
            choices[used++] = lard_bucket_of(key->hash.first, count + 1);
            choices[used++] = lard_bucket_of(key->hash.second, count + 1);
        }
        for (int c = 0; c < used; c += 2) {
            if (c) {
                lard_fence(); /* others see the original emptied before this call searches for its copy */
            }
            any |= delete_in_buckets(view, &choices[c], key, now_ms, found);
        }
        lard_fence();
        if (lard_load_acquire(&view->header->splitting) == splitting && lard_load(&view->header->moves) == moves &&
            lard_bucket_count(view) == count) { /* a process that sees the split ended also sees the new count */
            break;
        }
    }
    if (any) {
        lard_index_count_off(view, key->is_chunk);
        if (LARD_UNLIKELY(found->pinned_bytes != 0)) {
            lard_add(&view->header->pinned_bytes, -found->pinned_bytes);
        }
    }
    return any;
}

bool lard_index_delete(const lard_view *view, const lard_key *key, int64_t now_ms, lard_head *head) {
    deletion found = {.head = head};
    delete_key(view, key, now_ms, &found);
    return found.was_live;
}

bool lard_index_delete_record(const lard_view *view, const lard_key *key, uint64_t slot, lard_head *head) {
    deletion found = {.only = slot & ~LARD_SLOT_PENDING, .head = head};
    return delete_key(view, key, 0, &found);
}
