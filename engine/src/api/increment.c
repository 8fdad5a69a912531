/*
 * increment.c — larder_increment, and the change of a counter into a plain record for larder_cas.
 *
 * Both hold the shard's lock, so that eviction moves no record meanwhile. A lock-free delete may empty the slot at
 * the same time: then the increment counts as the earlier one.
 */
#include "api/increment.h"
#include "api/request.h"
#include "base/clock.h"
#include "base/count.h"
#include "base/key.h"
#include "base/reads.h"
#include "file/map.h"
#include "file/view.h"
#include "handle/enter.h"
#include "index/index.h"
#include "index/match.h"
#include "item/dirty.h"
#include "item/expiry.h"
#include "item/large.h"
#include "item/read.h"
#include "item/tagged.h"
#include "item/write.h"
#include "segment/counter.h"
#include "segment/deletions.h"
#include "segment/record.h"
#include "shard/shard.h"

#define INCREMENT_ATTEMPTS 16

/* Reads the number of an extended record. MISS: it is a placeholder, or stale. */
static larder_status number_of_extended(const lard_view *view, uint64_t offset, const lard_record_info *info,
                                        int64_t now_ms, lard_extension *extension, int64_t *number) {
    char text[24];
    size_t bytes;
    larder_status status = lard_record_extended(view, offset, info, extension, text, sizeof text, &bytes);
    if (status == LARDER_DAMAGED || !lard_extension_is_fresh(extension, now_ms) ||
        lard_deletions_hit(view, extension)) {
        return status == LARDER_DAMAGED ? status : LARDER_MISS; /* also of a later version */
    }
    bool is_number = status == LARDER_OK && extension->kind == LARD_TYPE_PLAIN && !LARD_WORD1_FLAGS(info->word1) &&
                     lard_counter_parse(text, bytes, number);
    return is_number ? LARDER_OK : LARDER_NOT_A_NUMBER;
}

/* Reads the number of a record that has not expired, and the extension of an extended one. OK, NOT_A_NUMBER, MISS,
 * or DAMAGED: its checksum is wrong. */
static larder_status number_of(const lard_view *view, uint64_t offset, const lard_record_info *info,
                               int64_t now_ms, lard_extension *extension, int64_t *number) {
    char text[24];
    unsigned type = LARD_WORD0_TYPE(info->word0);
    size_t bytes = LARD_WORD0_VALUE_BYTES(info->word0);
    if (type == LARD_TYPE_EXTENDED) {
        return number_of_extended(view, offset, info, now_ms, extension, number);
    }
    if (type == LARD_TYPE_HEAD ||
        (type == LARD_TYPE_PLAIN && (bytes > sizeof text || LARD_WORD1_FLAGS(info->word1)))) {
        return LARDER_NOT_A_NUMBER;
    }
    larder_status status = lard_record_read(view, offset, info, text, sizeof text);
    if (status != LARDER_OK) {
        return LARDER_DAMAGED;
    }
    if (type == LARD_TYPE_COUNTER) {
        bool read = lard_counter_read(lard_record_cells(view, offset, info), LARD_WORD0_CRC(info->word0), number);
        return read ? LARDER_OK : LARDER_DAMAGED;
    }
    return lard_counter_parse(text, bytes, number) ? LARDER_OK : LARDER_NOT_A_NUMBER;
}

/* Copies expiry, flags and pin of the record that is replaced to the new one. */
static void take_over(lard_record_spec *spec, const lard_record_info *info) {
    spec->expiry_ms = info->expiry_ms;
    spec->flags = LARD_WORD1_FLAGS(info->word1);
    spec->pin = LARD_WORD0_PINNED(info->word0);
}

/* NOT_STORED: the record that was read was deleted or moved before the sum was stored over it. */
static larder_status increment_once(larder *cache, lard_view *view, lard_write_op *op, int64_t delta,
                                    int64_t initial, const lard_extension *tagged) {
    lard_found found = lard_index_find(view, op->key);
    lard_record_info info;
    uint64_t offset = LARD_SLOT_OFFSET(found.value);
    lard_extension extension;
    char text[24];
    int64_t number = initial;
    larder_status status = LARDER_MISS;

    if (found.slot && lard_record_of_slot(view, found.value, &info) && !lard_record_expired(&info, op->now_ms) &&
        LARD_WORD1_CONFIGURATION(info.word1) == op->spec.configuration) {
        status = number_of(view, offset, &info, op->now_ms, &extension, &number);
        if (status == LARDER_DAMAGED) { /* a damaged record is a miss */
            lard_count(cache->core, LARD_STAT_damaged, 1);
            number = initial;
        } else if (status == LARDER_OK) {
            take_over(&op->spec, &info);
        } else if (status != LARDER_MISS) {
            return status;
        }
    }
    if (__builtin_add_overflow(number, delta, &op->spec.number)) {
        return LARDER_OVERFLOW;
    }
    if (status == LARDER_OK && LARD_WORD0_TYPE(info.word0) == LARD_TYPE_COUNTER) {
        lard_counter_write(lard_record_cells(view, offset, &info), LARD_WORD0_CRC(info.word0), op->spec.number);
        /* A counter that is only incremented is in use, although its record becomes older. */
        lard_reads_raise(view->map, &view->map->dircache[view->number], found.reads, found.slot, offset);
        return LARDER_OK;
    }
    bool is_extended = status == LARDER_OK && LARD_WORD0_TYPE(info.word0) == LARD_TYPE_EXTENDED;
    if (status != LARDER_OK && tagged) {
        extension = *tagged;
        is_extended = true;
    }
    if (is_extended) { /* stays so, with its tags */
        extension.fields &= ~LARD_FIELD_LEASE;
        op->spec.type = LARD_TYPE_EXTENDED;
        op->spec.extension = &extension;
        op->spec.value_bytes = lard_counter_text(op->spec.number, text);
        op->spec.value = text;
    }
    op->condition = status == LARDER_OK ? LARD_IF_SLOT : LARD_IF_ANY;
    op->expected_slot = found.value;
    return lard_write_locked(cache->core, view, op);
}

/* Each attempt reads the number again. A number that was deleted meanwhile must not become part of the sum: the
 * next attempt starts from `initial`. */
static larder_status increment_locked(larder *cache, lard_view *view, lard_write_op *op, int64_t delta,
                                      int64_t initial, const lard_extension *tagged) {
    larder_status status = lard_write_configure(view, op);
    const lard_record_spec fresh = op->spec;
    if (status != LARDER_OK) {
        return status;
    }
    for (int attempt = 0; attempt < INCREMENT_ATTEMPTS; attempt++) {
        op->spec = fresh;
        status = increment_once(cache, view, op, delta, initial, tagged);
        if (status != LARDER_NOT_STORED) {
            return status;
        }
    }
    return LARDER_FULL;
}

static larder_status increment(larder *cache, lard_map *map, lard_write_op *op, int64_t delta, int64_t initial,
                               const lard_extension *tagged, const larder_call *call) {
    lard_view view = lard_view_of(map, lard_hash_shard(map, &op->key->hash));
    if (!lard_dirty_for_change(&view, op->key)) {
        lard_dirty_for_write(&view, &op->key->hash, &op->buckets, LARD_SEGMENT_FREE,
                             lard_record_bytes(LARD_TYPE_COUNTER, op->key->bytes, 0));
    }
    larder_status status = lard_shard_lock(cache->core, &view, call);
    if (status != LARDER_OK) {
        return status;
    }
    op->now_ms = lard_clock_of_call(call);
    status = increment_locked(cache, &view, op, delta, initial, tagged);
    lard_write_unlock(&view);
    if (op->replaced.value_bytes) {
        lard_large_drop(map, &op->replaced);
    }
    return lard_map_outcome(map, status);
}

larder_status lard_increment_to_plain(larder *cache, lard_map *map, const lard_key *key, const char *text,
                                      size_t bytes, uint64_t *slot, const larder_call *call) {
    lard_view view = lard_view_of(map, lard_hash_shard(map, &key->hash));
    lard_record_info info;
    char now[24];
    int64_t number;
    larder_status status = lard_shard_lock(cache->core, &view, call);
    if (status != LARDER_OK) {
        return status;
    }
    status = LARDER_NOT_STORED;
    if (lard_index_find(&view, key).value == *slot && lard_record_of_slot(&view, *slot, &info) &&
        LARD_WORD0_TYPE(info.word0) == LARD_TYPE_COUNTER &&
        number_of(&view, LARD_SLOT_OFFSET(*slot), &info, 0, NULL, &number) == LARDER_OK &&
        lard_counter_text(number, now) == bytes && __builtin_memcmp(now, text, bytes) == 0) {
        lard_write_op op = {.key = key,
                            .spec = {.value = text, .value_bytes = bytes, .type = LARD_TYPE_PLAIN},
                            .condition = LARD_IF_SLOT,
                            .expected_slot = *slot,
                            .now_ms = lard_clock_of_call(call)};
        take_over(&op.spec, &info); /* of the record as it is now: it may have changed since its text was read */
        status = lard_write_locked(cache->core, &view, &op);
        lard_found found = lard_index_find(&view, key);
        *slot = found.value;
        if (status == LARDER_OK && !found.slot) { /* deleted since, which takes no lock */
            status = LARDER_NOT_STORED;
        }
    }
    lard_write_unlock(&view);
    return lard_map_outcome(map, status);
}

/* `extra` has tags, or is NULL. */
static larder_status increment_extended(larder *cache, const void *key, size_t key_bytes, int64_t delta,
                                        int64_t initial, int64_t ttl_ms, const larder_extra *extra,
                                        int64_t *result, const larder_call *call) {
    larder_status status = lard_request_check_key(cache, key, key_bytes, call);
    lard_write_op op = {.spec = {.type = LARD_TYPE_COUNTER}, .now_ms = lard_clock_of_call(call)};
    if (status != LARDER_OK) {
        return status;
    }
    if (!lard_expiry_from_ttl(ttl_ms, op.now_ms, &op.spec.expiry_ms)) {
        return LARDER_INVALID;
    }
    lard_map *map = lard_enter_after_look(cache->core);
    if (!map) {
        return lard_enter_failure(cache->core);
    }
    lard_key wanted = lard_key_of(map, cache->belief, key, key_bytes);
    op.key = &wanted;
    lard_extension extension, *tagged = NULL;
    if (extra) {
        tagged = &extension;
        lard_extension_init(tagged, LARD_TYPE_PLAIN, 0);
        lard_tagged_extend(cache->core, map, extra, tagged, call);
    }
    status = increment(cache, map, &op, delta, initial, tagged, call);
    if (status == LARDER_NOT_A_NUMBER && !lard_read_exists(cache->core, map, &wanted, NULL, op.now_ms)) {
        status = increment(cache, map, &op, delta, initial, tagged, call); /* it was large; a chunk is missing */
    }
    if (status == LARDER_OK) {
        lard_count(cache->core, LARD_STAT_increments, 1);
        if (result) {
            *result = op.spec.number;
        }
    }
    return status;
}

larder_status larder_increment(larder *cache, const void *key, size_t key_bytes, int64_t delta, int64_t initial,
                               int64_t ttl_ms, int64_t *result, const larder_call *call) {
    return increment_extended(cache, key, key_bytes, delta, initial, ttl_ms, NULL, result, call);
}

larder_status larder_increment_tagged(larder *cache, const void *key, size_t key_bytes, int64_t delta,
                                      int64_t initial, int64_t ttl_ms, const larder_tag *tags, size_t count,
                                      int64_t *result, const larder_call *call) {
    larder_extra extra = {.tags = tags, .tag_count = (uint32_t)count};
    if (count > LARDER_MAX_TAGS || !lard_request_knows_tags(tags, count)) {
        return LARDER_INVALID;
    }
    return increment_extended(cache, key, key_bytes, delta, initial, ttl_ms, count ? &extra : NULL, result, call);
}
