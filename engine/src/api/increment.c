/*
 * increment.c — larder_increment, and the one other change of a counter in place.
 *
 * Under the shard's lock, so that eviction moves no record meanwhile. A lock-free delete may empty the slot
 * at the same time: then the increment came before it.
 */
#include "api/increment.h"
#include "api/request.h"
#include "base/count.h"
#include "file/map.h"
#include "file/view.h"
#include "handle/enter.h"
#include "index/index.h"
#include "item/expiry.h"
#include "item/large.h"
#include "item/write.h"
#include "segment/counter.h"
#include "shard/shard.h"

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
        return lard_counter_read(lard_view_words(view, offset + LARD_RECORD_HEADER + key), info->crc, number)
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

    if (found.slot && lard_record_info_at(view, offset, &info) && !lard_record_expired(&info, now_ms)) {
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
        lard_counter_write(lard_view_words(view, offset + LARD_RECORD_HEADER + key), info.crc, spec->number);
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

static larder_status increment(larder *cache, lard_map *map, const lard_hash *hash, lard_record_spec *spec,
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
        lard_large_drop(map, &replaced);
    }
    return lard_map_outcome(map, status);
}

larder_status lard_increment_to_plain(larder *cache, lard_map *map, const lard_hash *hash,
                                      const lard_record_spec *plain, const larder_call *call) {
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
    return lard_map_outcome(map, status);
}

larder_status larder_increment(larder *cache, const void *key, size_t key_bytes, int64_t delta, int64_t initial,
                               int64_t ttl_ms, int64_t *result, const larder_call *call) {
    larder_status status = lard_request_check_key(cache, key, key_bytes, call);
    lard_record_spec spec = {.key = key, .key_bytes = key_bytes, .type = LARD_TYPE_COUNTER};
    if (status != LARDER_OK) {
        return status;
    }
    if (!lard_expiry_from_ttl(ttl_ms, lard_now(call), &spec.expiry_ms)) {
        return LARDER_INVALID;
    }
    lard_map *map = lard_enter_after_look(cache);
    if (!map) {
        return lard_enter_failure(cache);
    }
    lard_hash hash = lard_hash_key(map, key, key_bytes, false);
    status = increment(cache, map, &hash, &spec, delta, initial, call);
    if (status == LARDER_OK) {
        lard_count(cache, LARD_STAT_increments, 1);
        if (result) {
            *result = spec.number;
        }
    }
    return status;
}
