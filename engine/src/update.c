/*
 * update.c — what changes a record in place: increment and touch.
 *
 * Under the shard's lock, so that eviction moves no record meanwhile. A lock-free
 * delete may empty the slot at the same time: then the change came before it.
 */
#include "internal.h"

#define INCREMENT_ATTEMPTS 16

/* The number a live record holds. NOT_A_NUMBER, or DAMAGED where its checksum is wrong. */
static larder_status number_of(const lard_view *view, uint64_t offset, const lard_record_info *info,
                               int64_t *number) {
    char text[24];
    unsigned type = LARD_WORD2_TYPE(info->word2);
    size_t bytes = LARD_WORD2_VALUE_BYTES(info->word2);
    if (type == LARD_TYPE_HEAD ||
        (type == LARD_TYPE_PLAIN && (bytes > sizeof text || LARD_WORD2_FLAGS(info->word2)))) {
        return LARDER_NOT_A_NUMBER;
    }
    larder_status status = lard_record_read(view, offset, info, text, sizeof text);
    if (status != LARDER_OK) {
        return LARDER_DAMAGED;
    }
    if (type == LARD_TYPE_COUNTER) {
        uint64_t key = LARD_ALIGN8(LARD_WORD2_KEY_BYTES(info->word2));
        return lard_counter_read(lard_words(view, offset + LARD_RECORD_HEADER + key), info->crc, number)
                   ? LARDER_OK
                   : LARDER_DAMAGED;
    }
    return lard_counter_parse(text, bytes, number) ? LARDER_OK : LARDER_NOT_A_NUMBER;
}

static larder_status write_either(larder *cache, lard_view *view, const lard_hash *hash,
                                  const lard_record_spec *spec, lard_condition condition,
                                  const lard_expected *expected, int64_t now_ms, lard_head *replaced) {
    return (spec->pin ? lard_write_pinned_locked : lard_write_locked)(cache, view, hash, spec, condition, expected,
                                                                      now_ms, replaced);
}

/* NOT_STORED where the number that was read left its slot, deleted or moved, before the sum was in its place. */
static larder_status increment_once(larder *cache, lard_view *view, const lard_hash *hash, lard_record_spec *spec,
                                    int64_t delta, int64_t number, int64_t now_ms, lard_head *replaced) {
    lard_found found = lard_index_find(view, hash, spec->key, spec->key_bytes, false);
    lard_record_info info;
    uint64_t offset = LARD_SLOT_OFFSET(found.value);
    int64_t initial = number;
    larder_status status = LARDER_MISS;

    if (found.slot && lard_record_info_at(view, offset, &info) && !lard_expired(&info, now_ms)) {
        status = number_of(view, offset, &info, &number);
        if (status == LARDER_DAMAGED) { /* a damaged record is a miss */
            lard_count(cache, LARD_STAT_damaged, 1);
            number = initial;
        } else if (status != LARDER_OK) {
            return status;
        } else {
            spec->expiry_ms = info.expiry_ms;
            spec->flags = LARD_WORD2_FLAGS(info.word2);
            spec->pin = LARD_WORD2_PINNED(info.word2);
        }
    }
    if (__builtin_add_overflow(number, delta, &spec->number)) {
        return LARDER_OVERFLOW;
    }
    if (status == LARDER_OK && LARD_WORD2_TYPE(info.word2) == LARD_TYPE_COUNTER) {
        uint64_t key = LARD_ALIGN8(LARD_WORD2_KEY_BYTES(info.word2));
        lard_counter_write(lard_words(view, offset + LARD_RECORD_HEADER + key), info.crc, spec->number);
        return LARDER_OK;
    }
    lard_condition condition = status == LARDER_OK ? LARD_IF_SLOT : LARD_IF_ANY;
    lard_expected same = {.slot = found.value};
    return write_either(cache, view, hash, spec, condition, &same, now_ms, replaced);
}

/* A number that was deleted meanwhile must not come back as a part of the sum: then it starts from `initial`. */
static larder_status increment_locked(larder *cache, lard_view *view, const lard_hash *hash,
                                      lard_record_spec *spec, int64_t delta, int64_t initial, int64_t now_ms,
                                      lard_head *replaced) {
    for (int attempt = 0; attempt < INCREMENT_ATTEMPTS; attempt++) {
        lard_record_spec sum = *spec;
        larder_status status = increment_once(cache, view, hash, &sum, delta, initial, now_ms, replaced);
        if (status != LARDER_NOT_STORED) {
            spec->number = sum.number;
            return status;
        }
    }
    return LARDER_FULL;
}

larder_status lard_increment(larder *cache, lard_map *map, const lard_hash *hash, lard_record_spec *spec,
                             int64_t delta, int64_t initial, const larder_call *call) {
    lard_view view = lard_view_of(map, lard_hash_shard(map, hash));
    lard_head replaced = {{0, 0}, 0, 0};
    larder_status status = lard_shard_lock(cache, &view, call);
    if (status != LARDER_OK) {
        return status;
    }
    status = increment_locked(cache, &view, hash, spec, delta, initial, lard_now(call), &replaced);
    lard_shard_unlock(&view);
    if (replaced.value_bytes) {
        lard_large_drop(cache, map, &replaced);
    }
    return lard_outcome(map, status);
}

larder_status lard_pin_counter(larder *cache, lard_map *map, const lard_hash *hash, const lard_record_spec *plain,
                               const larder_call *call) {
    lard_view view = lard_view_of(map, lard_hash_shard(map, hash));
    lard_head none = {{0, 0}, 0, 0};
    lard_record_info info;
    char text[24];
    int64_t number;
    larder_status status = lard_shard_lock(cache, &view, call);
    if (status != LARDER_OK) {
        return status;
    }
    lard_found found = lard_index_find(&view, hash, plain->key, plain->key_bytes, false);
    uint64_t offset = LARD_SLOT_OFFSET(found.value);
    if (found.slot && lard_record_info_at(&view, offset, &info) &&
        LARD_WORD2_TYPE(info.word2) == LARD_TYPE_COUNTER &&
        number_of(&view, offset, &info, &number) == LARDER_OK &&
        lard_counter_text(number, text) == plain->value_bytes &&
        __builtin_memcmp(text, plain->value, plain->value_bytes) == 0) {
        lard_record_spec pinned = *plain; /* what may have changed since it was read is of the record */
        lard_expected same = {.slot = found.value};
        pinned.expiry_ms = info.expiry_ms;
        pinned.flags = LARD_WORD2_FLAGS(info.word2);
        pinned.pin = LARD_WORD2_PINNED(info.word2);
        status = write_either(cache, &view, hash, &pinned, LARD_IF_SLOT, &same, lard_now(call), &none);
        status = status == LARDER_NOT_STORED ? LARDER_OK : status;
    }
    lard_shard_unlock(&view);
    return lard_outcome(map, status);
}

/* Of a chunk: it lives as long as any touch of its value said, for touches may pass each other on their way to it.
 */
static uint64_t later(uint64_t a_ms, uint64_t b_ms) { return !a_ms || !b_ms ? 0 : a_ms > b_ms ? a_ms : b_ms; }

larder_status lard_touch(larder *cache, lard_map *map, const lard_hash *hash, const void *key, size_t key_bytes,
                         bool is_chunk, uint64_t expiry_ms, lard_head *head, const larder_call *call) {
    lard_view view = lard_view_of(map, lard_hash_shard(map, hash));
    lard_record_info info;
    larder_status status = lard_shard_lock(cache, &view, call);
    if (status != LARDER_OK) {
        return status;
    }
    status = LARDER_MISS;
    lard_found found = lard_index_find(&view, hash, key, key_bytes, is_chunk);
    uint64_t offset = LARD_SLOT_OFFSET(found.value);
    if (found.slot && lard_record_info_at(&view, offset, &info) &&
        (is_chunk || !lard_expired(&info, lard_now(call)))) { /* chunks follow their head */
        bool large = LARD_WORD2_TYPE(info.word2) == LARD_TYPE_HEAD;
        if (large && call && (call->flags & LARDER_CALL_TRY)) {
            lard_shard_unlock(&view);
            return lard_outcome(
                map,
                LARDER_BUSY); /* its chunks have locks of their own, and a call that only tries waits for none */
        }
        expiry_ms = is_chunk ? later(info.expiry_ms, expiry_ms) : expiry_ms;
        lard_segment_widen_expiry(&view, offset,
                                  expiry_ms); /* first: its segment must not be dropped as expired */
        lard_record_set_expiry(&view, offset, info.crc, expiry_ms);
        if (head) {
            lard_record_head(&view, offset, &info, head);
        }
        status = LARDER_OK;
    }
    lard_shard_unlock(&view);
    return lard_outcome(map, status);
}
