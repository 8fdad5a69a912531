/*
 * write.c — storing a record: append, then publish by one compare-and-swap.
 *
 * The record is complete before the segment's write offset moves over it, and it
 * is reachable only once its slot is swapped in; a writer killed anywhere in
 * between leaves at most a dead record. A store that cannot be made drops the old
 * value first: an old value never outlives a refused overwrite.
 */
#include "item/write.h"
#include "evict/admit.h"
#include "evict/queue.h"
#include "evict/reserve.h"
#include "file/map.h"
#include "file/view.h"
#include "index/dircache.h"
#include "index/ghost.h"
#include "index/index.h"
#include "index/index_resize.h"
#include "index/slot.h"
#include "segment/pin.h"
#include "segment/segment.h"
#include "shard/shard.h"

/* As a reader would find it: a damaged record is absent. */
static bool is_live(const lard_view *view, const lard_found *found, int64_t now_ms) {
    lard_record_info info;
    uint64_t offset = LARD_SLOT_OFFSET(found->value);
    return found->slot && lard_record_info_at(view, offset, &info) && !lard_record_expired(&info, now_ms) &&
           lard_record_sound(view, offset, &info);
}

static bool expires_at(const lard_view *view, const lard_found *found, uint64_t expiry_ms) {
    lard_record_info info;
    return lard_record_info_at(view, LARD_SLOT_OFFSET(found->value), &info) && info.expiry_ms == expiry_ms;
}

static bool holds(const lard_view *view, const lard_found *found, lard_condition condition,
                  const lard_expected *expected, int64_t now_ms) {
    switch (condition) {
    case LARD_IF_ABSENT:
        return !is_live(view, found, now_ms);
    case LARD_IF_PRESENT:
        return is_live(view, found, now_ms);
    case LARD_IF_SLOT:
        return found->slot && LARD_SLOT_SAME(found->value, expected->slot) &&
               (expected->expiry_ms == 0 || expires_at(view, found, expected->expiry_ms));
    default:
        return true;
    }
}

static bool is_in_main(const lard_view *view, const lard_found *found) {
    return lard_segment_state(view, LARD_SLOT_OFFSET(found->value)) == LARD_SEGMENT_MAIN;
}

/* Of the whole value where it is in chunks. */
static uint64_t size_of(const lard_record_spec *spec) {
    return spec->type == LARD_TYPE_HEAD ? ((const lard_head *)spec->value)->value_bytes : spec->value_bytes;
}

LARD_INLINE uint32_t queue_for(lard_view *view, const lard_found *found, const lard_hash *hash,
                               const lard_record_spec *spec) {
    if (spec->type == LARD_TYPE_CHUNK) {
        return spec->to_main ? LARD_SEGMENT_MAIN : LARD_SEGMENT_SMALL;
    }
    if (found->slot) {
        return is_in_main(view, found) ? LARD_SEGMENT_MAIN : LARD_SEGMENT_SMALL;
    }
    uint32_t queue = lard_queue_for(view, hash, size_of(spec));
    return spec->to_main ? LARD_SEGMENT_MAIN : queue;
}

uint32_t lard_write_queue_of(lard_map *map, const lard_hash *hash, const lard_record_spec *spec) {
    lard_view view = lard_view_of(map, lard_hash_shard(map, hash));
    lard_found found = lard_index_find(&view, hash, spec->key, spec->key_bytes, false);
    bool main_queue = found.slot ? is_in_main(&view, &found) : lard_ghost_peek(&view, hash);
    return main_queue ? LARD_SEGMENT_MAIN : LARD_SEGMENT_SMALL;
}

/* What is about to be replaced: the head of a large value, 0 bytes where it is another kind, as nearly always; and
 * the bytes of a record that was kept. */
LARD_INLINE void note_replaced(const lard_view *view, uint64_t slot, lard_head *replaced, uint64_t *pinned_bytes) {
    lard_record_info old;
    uint64_t offset = LARD_SLOT_OFFSET(slot);
    replaced->value_bytes = 0;
    *pinned_bytes = 0;
    if (lard_segment_left(view, offset) >= LARD_RECORD_HEADER &&
        ((lard_load(&lard_view_words(view, offset)[2]) >> 16) & 0xff) >= LARD_TYPE_HEAD &&
        lard_record_info_at(view, offset, &old)) {
        lard_record_head(view, offset, &old, replaced);
        *pinned_bytes = lard_pin_cost_of(view, slot);
    }
}

LARD_INLINE larder_status publish(larder *cache, lard_view *view, const lard_hash *hash,
                                  const lard_record_spec *spec, lard_condition condition,
                                  const lard_expected *expected, lard_found found, uint64_t slot, int64_t now_ms,
                                  lard_head *replaced) {
    for (;;) { /* each round more means that eviction or a lock-free deleter came in between */
        uint64_t pinned_bytes;
        if (!found.slot) {
            return lard_index_insert(cache, view, hash, slot);
        }
        note_replaced(view, found.value, replaced, &pinned_bytes);
        uint64_t with_frequency = slot | (found.value & LARD_FREQUENCY_MASK);
        if (lard_slot_replace(found.slot, found.value, with_frequency)) {
            if (LARD_UNLIKELY(pinned_bytes != 0)) {
                lard_add(&view->head->pinned_bytes, -pinned_bytes);
            }
            return LARDER_OK;
        }
        replaced->value_bytes = 0;
        found = lard_index_find(view, hash, spec->key, spec->key_bytes, spec->type == LARD_TYPE_CHUNK);
        if (!holds(view, &found, condition, expected, now_ms)) {
            return LARDER_NOT_STORED;
        }
    }
}

/* The shard is locked and stays so. `pin`: as the spec says. */
LARD_INLINE larder_status write_record(bool pin, larder *cache, lard_view *view, const lard_hash *hash,
                                       const lard_record_spec *spec, lard_condition condition,
                                       const lard_expected *expected, int64_t now_ms, lard_head *replaced) {
    bool is_chunk = spec->type == LARD_TYPE_CHUNK;
    uint64_t bytes = lard_record_bytes(spec->type, spec->key_bytes, spec->value_bytes);
    lard_found found;
    uint32_t queue;
    if (condition == LARD_IF_ANY) {
        found = lard_index_probe(view, hash); /* its record comes while others leave and ours is written */
        queue = pin ? LARD_SEGMENT_MAIN : queue_for(view, &found, hash, spec);
        lard_reserve_upkeep(cache, view, queue, bytes, now_ms);
    } else {
        found = lard_index_find(view, hash, spec->key, spec->key_bytes, is_chunk);
        if (!holds(view, &found, condition, expected, now_ms)) {
            return LARDER_NOT_STORED;
        }
        queue = pin ? LARD_SEGMENT_MAIN : queue_for(view, &found, hash, spec);
    }
    uint64_t offset = lard_reserve(cache, view, queue, bytes, now_ms);
    if (!offset) {
        return LARDER_FULL;
    }
    uint32_t segment = (uint32_t)((offset - view->map->super.data_offset) >> view->map->segment_shift);
    uint64_t generation = lard_load(&view->segments[segment].generation);
    lard_record_write(view, offset, generation, spec);
    lard_segment_commit(view, offset, bytes, spec->expiry_ms);
    if (condition == LARD_IF_ANY) {
        found = lard_index_verify(view, found, hash, spec->key, spec->key_bytes, is_chunk);
    }
    larder_status status =
        publish(cache, view, hash, spec, condition, expected, found,
                lard_slot(offset, hash->fingerprint, spec->reads, generation), now_ms, replaced);
    if (condition != LARD_IF_ANY) {
        lard_reserve_upkeep(cache, view, queue, bytes, now_ms);
    }
    lard_index_resize_grow(cache, view);
    lard_dircache_keep_up(view->map, view);
    return status;
}

larder_status lard_write_locked(larder *cache, lard_view *view, const lard_hash *hash,
                                const lard_record_spec *spec, lard_condition condition,
                                const lard_expected *expected, int64_t now_ms, lard_head *replaced) {
    return write_record(false, cache, view, hash, spec, condition, expected, now_ms, replaced);
}

/* Counted before others may find it: whoever dies in between leaves the count too high, not too low. */
larder_status lard_write_pinned_locked(larder *cache, lard_view *view, const lard_hash *hash,
                                       const lard_record_spec *spec, lard_condition condition,
                                       const lard_expected *expected, int64_t now_ms, lard_head *replaced) {
    lard_found found = lard_index_find(view, hash, spec->key, spec->key_bytes, false);
    if (!holds(view, &found, condition, expected, now_ms)) {
        return LARDER_NOT_STORED;
    }
    if (!lard_admit_pinned(cache, view, hash, spec, now_ms)) {
        return LARDER_FULL;
    }
    uint64_t bytes = lard_record_bytes(spec->type, spec->key_bytes, spec->value_bytes);
    uint64_t cost = lard_pin_cost(view, bytes);
    lard_store(&view->head->has_pins, 1);
    lard_add(&view->head->pinned_bytes, cost);
    larder_status status = write_record(true, cache, view, hash, spec, condition, expected, now_ms, replaced);
    if (status != LARDER_OK) {
        lard_add(&view->head->pinned_bytes, -cost);
    }
    return status;
}

larder_status lard_write(larder *cache, lard_map *map, const lard_hash *hash, const lard_record_spec *spec,
                         lard_condition condition, const lard_expected *expected, const larder_call *call,
                         lard_head *replaced) {
    lard_view view = lard_view_of(map, lard_hash_shard(map, hash));
    int64_t now_ms = lard_now(call);
    larder_status status = lard_shard_lock(cache, &view, call);
    if (status != LARDER_OK) {
        return status;
    }
    status = lard_write_locked(cache, &view, hash, spec, condition, expected, now_ms, replaced);
    lard_shard_unlock(&view);
    return lard_map_outcome(map, status);
}

larder_status lard_write_pinned(larder *cache, lard_map *map, const lard_hash *hash, const lard_record_spec *spec,
                                lard_condition condition, const lard_expected *expected, const larder_call *call,
                                lard_head *replaced) {
    lard_view view = lard_view_of(map, lard_hash_shard(map, hash));
    int64_t now_ms = lard_now(call);
    if (lard_record_bytes(spec->type, spec->key_bytes, spec->value_bytes) > lard_pin_limit(map)) {
        return LARDER_VALUE_TOO_LARGE;
    }
    larder_status status = lard_shard_lock(cache, &view, call);
    if (status != LARDER_OK) {
        return status;
    }
    status = lard_write_pinned_locked(cache, &view, hash, spec, condition, expected, now_ms, replaced);
    lard_shard_unlock(&view);
    return lard_map_outcome(map, status);
}
