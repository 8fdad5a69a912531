/*
 * pin.c — pinned items, which eviction leaves: how much of a shard they may take, and how much they do.
 *
 * They stand in the main queue. Emptying a segment copies them on, which needs room: so
 * that there is always some, they may have two thirds of the shard, and nothing else
 * is written where the last free segment was taken for them until its victim is empty
 * (evict.c, segment.c). A whole victim fits into one free segment, so this never ends in
 * a shard where nothing can move.
 *
 * A long record costs more than its bytes: of eleven parts of thirty-two only two fit a
 * segment. Costs are counted as records come and go. A process that dies between an item and
 * its count leaves the count too high; so nobody is refused before it was made anew, but
 * for the second after that: many may be refused in it, and each count looks at every item.
 * All under the shard's lock.
 */
#include "internal.h"

#define ROOM 2u / 3u        /* of the shard: what is dead, the index and all others have the rest */
#define RECORDS_A_SEGMENT 2 /* at least */
#define REFUSALS_MS 1000u   /* a count that found no room is believed for so long */
#define WIDENINGS 16 /* attempts to have the index grow: two buckets each, where an item needs a sixth of one */

size_t lard_pin_limit(const lard_map *map) { return map->super.segment_bytes / RECORDS_A_SEGMENT; }

size_t larder_max_pinned(const larder *cache) {
    const lard_map *map = cache ? __atomic_load_n(&cache->map, __ATOMIC_ACQUIRE) : NULL;
    return map ? lard_pin_limit(map) - LARD_RECORD_HEADER : 0;
}

uint64_t lard_pin_room(const lard_view *view) {
    uint64_t segments = view->map->super.segments_per_shard - LARD_SPARE_SEGMENTS; /* of 8 at least */
    return (segments << view->map->segment_shift) * ROOM;
}

uint64_t lard_pin_cost(const lard_view *view, uint64_t record_bytes) {
    uint64_t segment = view->map->super.segment_bytes;
    return record_bytes < segment ? segment / (segment / record_bytes) : segment;
}

uint64_t lard_pin_cost_of(const lard_view *view, uint64_t slot) {
    lard_record_info info;
    if (!lard_slot_record(view, slot, &info) || !LARD_WORD2_PINNED(info.word2)) {
        return 0;
    }
    return lard_pin_cost(view, lard_record_bytes(LARD_WORD2_TYPE(info.word2), LARD_WORD2_KEY_BYTES(info.word2),
                                                 LARD_WORD2_VALUE_BYTES(info.word2)));
}

/* The index has slots to give while it grows with its items, which takes a free segment now and then. Otherwise an
 * item is overwritten in a full one; that must not be the end of one that is kept. */
static void widen_index(larder *cache, lard_view *view, int64_t now_ms) {
    for (unsigned i = 0; i < WIDENINGS && lard_index_resize_is_due(view); i++) {
        if (lard_load(&view->head->free_segments) < LARD_SPARE_SEGMENTS) {
            lard_evict_some(cache, view, UINT64_MAX, i / (WIDENINGS / 4), now_ms);
        }
        lard_index_resize_grow(cache, view);
    }
}

/* Is there room for a record in place of what its key has? */
static bool fits(const lard_view *view, const lard_hash *hash, const lard_record_spec *spec, bool *is_new) {
    uint64_t cost = lard_pin_cost(view, lard_record_bytes(spec->type, spec->key_bytes, spec->value_bytes));
    lard_found found = lard_index_find(view, hash, spec->key, spec->key_bytes, false);
    *is_new = !found.slot;
    uint64_t before = found.slot ? lard_pin_cost_of(view, found.value) : 0;
    return cost <= before || lard_pin_bytes(view) + cost <= lard_pin_room(view) + before;
}

bool lard_pin_admits(larder *cache, lard_view *view, const lard_hash *hash, const lard_record_spec *spec,
                     int64_t now_ms) {
    bool is_new;
    if (!fits(view, hash, spec, &is_new)) {
        if ((uint32_t)now_ms - lard_load(&view->head->full_ms) < REFUSALS_MS) {
            return false;
        }
        uint32_t next = 0;
        lard_pin_prune(cache, view, &next, UINT32_MAX, now_ms);
        if (!fits(view, hash, spec, &is_new)) {
            lard_store(&view->head->full_ms, (uint32_t)now_ms);
            return false;
        }
    }
    if (is_new) {
        widen_index(cache, view, now_ms);
    }
    return true;
}

/* The record that was appended last to the main queue's open segment: its offset, or 0. */
static uint64_t last_in_main(const lard_view *view, lard_record_info *info) {
    uint32_t active = lard_load(&view->head->active[LARD_SEGMENT_MAIN - LARD_SEGMENT_SMALL]);
    if (active == 0) {
        return 0;
    }
    const lard_segment *row = &view->segments[active - 1]; /* check_active (shard.c) has looked at it */
    uint64_t end = lard_load(&row->write_offset), last = 0;
    for (uint64_t at = 0; at < end && end <= view->map->super.segment_bytes;) {
        uint64_t offset = lard_segment_offset(view, active - 1) + at;
        if (!lard_record_info_at(view, offset, info) ||
            info->generation != (uint32_t)lard_load(&row->generation)) {
            return 0;
        }
        last = offset;
        at += lard_record_bytes(LARD_WORD2_TYPE(info->word2), LARD_WORD2_KEY_BYTES(info->word2),
                                LARD_WORD2_VALUE_BYTES(info->word2));
    }
    return last && LARD_WORD2_KEY_BYTES(info->word2) <= LARDER_MAX_KEY ? last : 0;
}

/*
 * Eviction died between a copy and its slot. A second copy might be the one record too many for the segment that
 * the victim is emptied into.
 */
void lard_pin_finish_copy(lard_view *view) {
    unsigned char key[LARDER_MAX_KEY + 8];
    lard_record_info copy, original;
    uint32_t victim = lard_load(&view->head->victim);
    uint64_t offset = victim ? last_in_main(view, &copy) : 0;
    if (!offset) {
        return;
    }
    bool is_chunk = LARD_WORD2_TYPE(copy.word2) == LARD_TYPE_CHUNK;
    size_t key_bytes = LARD_WORD2_KEY_BYTES(copy.word2);
    lard_record_copy_key(view, offset, &copy, key);
    lard_hash hash = lard_hash_key(view->map, key, key_bytes, is_chunk);
    lard_found found = lard_index_find(view, &hash, key, key_bytes, is_chunk);
    uint64_t stands = LARD_SLOT_OFFSET(found.value) - lard_segment_offset(view, victim - 1);
    if (found.slot && stands < view->map->super.segment_bytes &&
        lard_record_info_at(view, LARD_SLOT_OFFSET(found.value), &original) && original.word2 == copy.word2 &&
        original.crc == copy.crc && original.expiry_ms == copy.expiry_ms) {
        lard_index_unlink(view, found.slot, found.value,
                          lard_slot(offset, hash.fingerprint, LARD_SLOT_FREQUENCY(found.value), copy.generation));
    }
}

uint64_t lard_pin_prune(larder *cache, lard_view *view, uint32_t *next, uint32_t most, int64_t now_ms) {
    uint64_t dropped = 0, kept = 0;
    uint32_t count = lard_bucket_count(view), from = *next;
    uint32_t end = from < count && count - from > most ? from + most : count;
    for (uint32_t b = from; b < end; b++) {
        lard_bucket *bucket = lard_bucket_at(view, b);
        for (unsigned i = 0; bucket && i < LARD_BUCKET_SLOTS; i++) {
            lard_record_info info;
            uint64_t value = lard_load(&bucket->slots[i]);
            if (!LARD_SLOT_OFFSET(value) || !lard_slot_record(view, value, &info)) {
                continue;
            }
            uint64_t cost = lard_pin_cost_of(view, value);
            if (!lard_expired(&info, now_ms)) {
                kept += cost;
            } else if (lard_index_unlink(view, &bucket->slots[i], value, 0)) {
                bool is_chunk = LARD_WORD2_TYPE(info.word2) == LARD_TYPE_CHUNK;
                lard_index_count_off(view, is_chunk);
                lard_add(&view->head->pinned_bytes, -cost);
                dropped += !is_chunk;
            }
        }
    }
    if (from == 0 && end == count) {
        lard_store(&view->head->pinned_bytes, kept);
        lard_store(&view->head->has_pins, kept != 0);
    }
    lard_count(cache, LARD_STAT_expirations, dropped);
    *next = end < count ? end : 0;
    return dropped;
}
