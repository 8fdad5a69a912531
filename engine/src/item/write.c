/*
 * write.c — stores a record: appends it, then publishes it by one compare-and-swap.
 *
 * The record is complete before the segment's write offset moves over it, and no reader finds it before its slot
 * is swapped. A writer that is killed before the swap leaves at most a dead record. lard_write takes the
 * shard's lock; lard_write_find_row, lard_write_locked and the functions above them run under it.
 */
#include "item/write.h"
#include "base/count.h"
#include "base/dead.h"
#include "base/key.h"
#include "evict/admit.h"
#include "evict/reserve.h"
#include "evict/steer.h"
#include "file/belief.h"
#include "file/map.h"
#include "file/view.h"
#include "index/dircache.h"
#include "index/ghost.h"
#include "index/index.h"
#include "index/index_resize.h"
#include "index/match.h"
#include "index/slot.h"
#include "item/dirty.h"
#include "segment/deletions.h"
#include "segment/pin.h"
#include "segment/segment.h"
#include "shard/repair.h"
#include "shard/shard.h"

#include <stdlib.h>

#define ATTEMPTS 8

/* The cache may have been cleared since the lock was taken, and with it the rows may have changed. */
larder_status lard_write_find_row(lard_view *view, lard_write_op *op) {
    unsigned row = LARD_ROW_NONE;
    for (int attempt = 0; row == LARD_ROW_NONE && attempt < ATTEMPTS; attempt++) {
        uint64_t epoch;
        if (!lard_view_is_current(view, &epoch)) {
            lard_repair_empty(view);
            epoch = lard_load(&view->header->epoch);
        }
        row = lard_belief_row(op->key->belief, view->map, epoch);
    }
    if (row == LARD_ROW_NONE) {
        return LARDER_NO_CONFIGURATION;
    }
    if (row != LARD_ROW_ANY) {
        op->spec.configuration = row;
    }
    return LARDER_OK;
}

/* True if a reader of the op's configuration would find the item. A damaged record is a miss. Of a large value
 * *is_large says so: its chunks were not looked for. */
static bool is_live(const lard_view *view, const lard_found *found, unsigned configuration, int64_t now_ms,
                    bool *is_large) {
    lard_record_info info;
    uint64_t offset = LARD_SLOT_OFFSET(found->value);
    *is_large = false;
    if (!found->slot || !lard_record_of_slot(view, found->value, &info) || lard_record_expired(&info, now_ms) ||
        LARD_WORD1_CONFIGURATION(info.word1) != configuration) {
        return false;
    }
    unsigned type = LARD_WORD0_TYPE(info.word0);
    bool live = type == LARD_TYPE_EXTENDED ? lard_record_extended_is_fresh(view, offset, &info, now_ms, &type)
                                           : lard_record_sound(view, offset, &info);
    *is_large = live && type == LARD_TYPE_HEAD;
    return live;
}

static bool expires_at(const lard_view *view, const lard_found *found, uint64_t expiry_ms) {
    lard_record_info info;
    return lard_record_of_slot(view, found->value, &info) && info.expiry_ms == expiry_ms;
}

/* Neither condition holds for a large value whose chunks nobody has looked for: see op->is_large. */
static bool holds(const lard_view *view, const lard_found *found, lard_write_op *op) {
    bool live;
    switch (op->condition) {
    case LARD_IF_ABSENT:
    case LARD_IF_PRESENT:
        live = is_live(view, found, op->spec.configuration, op->now_ms, &op->is_large);
        return live == (op->condition == LARD_IF_PRESENT) && (op->is_whole || !op->is_large);
    case LARD_IF_SLOT:
        return (found->slot ? found->value : 0) == op->expected_slot;
    case LARD_IF_SLOT_AND_EXPIRY:
        return found->slot && found->value == op->expected_slot && expires_at(view, found, op->expected_expiry_ms);
    default:
        return true;
    }
}

static bool is_in_main(const lard_view *view, const lard_found *found) {
    return lard_segment_state(view, LARD_SLOT_OFFSET(found->value)) == LARD_SEGMENT_MAIN;
}

LARD_INLINE uint32_t queue_for(lard_view *view, const lard_found *found, lard_write_op *op) {
    const lard_record_spec *spec = &op->spec;
    if (spec->type == LARD_TYPE_CHUNK) {
        return spec->to_main ? LARD_SEGMENT_MAIN : LARD_SEGMENT_SMALL;
    }
    if (found->slot && is_in_main(view, found)) {
        return LARD_QUEUE_OVERWRITTEN;
    }
    if (LARD_UNLIKELY(spec->pin)) {
        return LARD_SEGMENT_MAIN;
    }
    if (found->slot) {
        return LARD_SEGMENT_SMALL;
    }
    bool had_ghost = lard_ghost_take(view, &op->key->hash, &op->buckets);
    return had_ghost || spec->to_main ? LARD_SEGMENT_MAIN : LARD_SEGMENT_SMALL;
}

uint32_t lard_write_queue_of(lard_map *map, const lard_key *key) {
    lard_view view = lard_view_of(map, lard_hash_shard(map, &key->hash));
    lard_found found = lard_index_find(&view, key);
    if (found.slot) {
        return is_in_main(&view, &found) ? LARD_QUEUE_OVERWRITTEN : LARD_SEGMENT_SMALL;
    }
    return lard_ghost_peek(&view, &key->hash) ? LARD_SEGMENT_MAIN : LARD_SEGMENT_SMALL;
}

/* Notes what the slot's record is, before the slot is swapped: a large value in op->replaced, the cost of a pinned
 * record in *pinned_bytes. Returns the record's length, or 0: the slot leads to no segment. */
LARD_INLINE uint64_t note_replaced(const lard_view *view, uint64_t slot, lard_write_op *op,
                                   uint64_t *pinned_bytes) {
    lard_record_info old;
    uint64_t offset = LARD_SLOT_OFFSET(slot);
    op->replaced.value_bytes = 0;
    *pinned_bytes = 0;
    if (LARD_UNLIKELY(lard_segment_left(view, offset) < LARD_RECORD_HEADER)) {
        return 0;
    }
    old.word0 = lard_load(&lard_view_words(view, offset)[0]);
    uint64_t bytes = lard_record_bytes_at(&old);
    if (LARD_WORD0_TYPE_BITS(old.word0) >= LARD_TYPE_HEAD && lard_record_of_slot(view, slot, &old)) {
        lard_record_head(view, offset, &old, &op->replaced);
        *pinned_bytes = lard_pin_cost_of(view, slot);
    }
    return bytes;
}

LARD_INLINE larder_status publish(lard_core *cache, lard_view *view, lard_write_op *op, lard_found found,
                                  uint64_t slot) {
    for (;;) { /* repeats only if eviction or a lock-free delete changed the slot */
        uint64_t pinned_bytes;
        if (!found.slot) {
            return lard_index_insert(cache, view, &op->key->hash, &op->buckets, slot, op->spec.reads);
        }
        uint64_t bytes = note_replaced(view, found.value, op, &pinned_bytes);
        if (lard_slot_replace(found.slot, found.value, slot)) {
            if (LARD_LIKELY(bytes != 0)) {
                lard_dead_add(view->map, view->number, lard_segment_at(view, LARD_SLOT_OFFSET(found.value)),
                              bytes);
            }
            if (LARD_UNLIKELY(pinned_bytes != 0)) {
                lard_add(&view->header->pinned_bytes, -pinned_bytes);
            }
            return LARDER_OK;
        }
        op->replaced.value_bytes = 0;
        found = lard_index_find(view, op->key);
        if (!holds(view, &found, op)) {
            return LARDER_NOT_STORED;
        }
    }
}

LARD_INLINE void append(lard_view *view, uint64_t offset, uint64_t generation, lard_write_op *op) {
    if (LARD_UNLIKELY(op->image) && lard_image_is_of(op->image, &op->spec) &&
        lard_image_put(view, offset, generation, op->image)) {
        op->crc = op->image->crc;
        return;
    }
    op->crc = lard_record_write(view, offset, generation, op->key, &op->spec);
}

LARD_INLINE larder_status append_and_publish(lard_core *cache, lard_view *view, lard_write_op *op,
                                             uint64_t bytes) {
    bool any = op->condition == LARD_IF_ANY;
    /* Without a condition the old record is only prefetched: eviction and the copy of the new one come first. */
    lard_found found = any ? lard_index_probe(view, &op->key->hash, &op->buckets) : lard_index_find(view, op->key);
    if (!any && !holds(view, &found, op)) {
        return LARDER_NOT_STORED;
    }
    uint32_t queue = queue_for(view, &found, op);
    lard_steer_keep_up(view, &op->key->hash, !found.slot && op->spec.type != LARD_TYPE_CHUNK);
    if (any) {
        lard_reserve_upkeep(cache, view, queue, bytes, op->now_ms);
    }
    uint64_t offset = lard_reserve(cache, view, queue, bytes, op->now_ms);
    if (!offset) {
        return LARDER_FULL;
    }
    uint64_t generation = lard_load(&view->segments[lard_segment_at(view, offset)].generation);
    append(view, offset, generation, op);
    lard_segment_commit(view, offset, bytes, op->spec.expiry_ms);
    if (any) {
        found = lard_index_match(view, found, op->key);
    }
    larder_status status =
        publish(cache, view, op, found, lard_slot_make(offset, op->key->hash.fingerprint, generation));
    if (!any) {
        lard_reserve_upkeep(cache, view, queue, bytes, op->now_ms);
    }
    lard_index_resize_grow(cache, view);
    return status;
}

/* Counts a pinned record before others may find it: if the writer dies in between, the count is too high, not too
 * low. *cost is the number of bytes counted. */
static __attribute__((noinline)) larder_status count_pinned(lard_core *cache, lard_view *view, lard_write_op *op,
                                                            uint64_t bytes, uint64_t *cost) {
    lard_found found = lard_index_find(view, op->key);
    if (!holds(view, &found, op)) {
        return LARDER_NOT_STORED;
    }
    if (!lard_admit_pinned(cache, view, op->key, bytes, op->now_ms)) {
        return LARDER_PIN_FULL;
    }
    *cost = lard_pin_cost(view, bytes);
    lard_store(&view->header->has_pins, 1);
    lard_add(&view->header->pinned_bytes, *cost);
    return LARDER_OK;
}

/* Is it the origin of the shard's epoch, in which the item will be? */
static bool has_origin(const lard_view *view, uint64_t origin) {
    return lard_deletions_origin(view->map, LARD_EPOCH_CLEAR(lard_load(&view->header->epoch))) == origin;
}

larder_status lard_write_locked(lard_core *cache, lard_view *view, lard_write_op *op) {
    uint64_t bytes = lard_record_bytes_of(op->key, &op->spec), pinned = 0;
    if (LARD_UNLIKELY(op->origin) && !has_origin(view, op->origin)) {
        return LARDER_NOT_STORED;
    }
    larder_status status = lard_write_configure(view, op);
    if (LARD_UNLIKELY(status != LARDER_OK)) {
        return status;
    }
    if (LARD_UNLIKELY(op->spec.pin)) {
        larder_status counted = count_pinned(cache, view, op, bytes, &pinned);
        if (counted != LARDER_OK) {
            return counted;
        }
    }
    status = append_and_publish(cache, view, op, bytes);
    if (LARD_UNLIKELY(status == LARDER_DAMAGED && !view->map->poisoned)) { /* the index: it stays so otherwise */
        lard_count(cache, LARD_STAT_resets, 1);
        lard_repair_empty(view);
    }
    if (LARD_UNLIKELY(pinned && status != LARDER_OK)) {
        lard_add(&view->header->pinned_bytes, -pinned);
    }
    return status;
}

static larder_status write_prepared(lard_core *cache, lard_view *view, lard_write_op *op,
                                    const larder_call *call) {
    larder_status status = lard_shard_lock(cache, view, call);
    if (status != LARDER_OK) {
        return status;
    }
    status = lard_write_locked(cache, view, op);
    lard_write_unlock(view);
    return lard_map_outcome(view->map, status);
}

void lard_write_unlock(lard_view *view) {
    lard_shard_unlock(view);
    lard_dircache_keep_up(view->map, view);
}

bool lard_write_form(const lard_view *view, lard_write_op *op, lard_image *image) {
    unsigned row;
    image->words = malloc(lard_record_bytes_of(op->key, &op->spec));
    if (!image->words) {
        return false;
    }
    if (op->key->belief && lard_belief_knows(op->key->belief, view->map, lard_load(&view->header->epoch), &row)) {
        op->spec.configuration = row;
    }
    lard_image_form(image, op->key, &op->spec);
    op->image = image;
    return true;
}

void lard_write_forget(lard_write_op *op, lard_image *image) {
    free(image->words);
    op->image = NULL;
}

void lard_write_prepare(const lard_view *view, lard_write_op *op, lard_image *image, uint32_t queue) {
    uint64_t stored = lard_write_form(view, op, image) ? 0 : lard_record_bytes_of(op->key, &op->spec);
    lard_dirty_for_write(view, &op->key->hash, &op->buckets, queue, stored);
}

static __attribute__((noinline)) larder_status write_image(lard_core *cache, lard_view *view, lard_write_op *op,
                                                           const larder_call *call) {
    lard_image image;
    lard_write_prepare(view, op, &image, LARD_SEGMENT_FREE);
    larder_status status = write_prepared(cache, view, op, call);
    lard_write_forget(op, &image);
    return status;
}

larder_status lard_write(lard_core *cache, lard_map *map, lard_write_op *op, const larder_call *call) {
    lard_view view = lard_view_of(map, lard_hash_shard(map, &op->key->hash));
    uint64_t bytes = lard_record_bytes_of(op->key, &op->spec);
    if (LARD_UNLIKELY(lard_image_suits(&view, bytes))) {
        return write_image(cache, &view, op, call);
    }
    lard_dirty_for_write(&view, &op->key->hash, &op->buckets, LARD_SEGMENT_FREE, bytes);
    return write_prepared(cache, &view, op, call);
}
