/*
 * expired.c — drops expired items, and those whose tag was deleted, from a part of a shard's index. Under the
 * shard's lock.
 */
#include "evict/expired.h"
#include "base/count.h"
#include "base/dead.h"
#include "index/bucket.h"
#include "index/index.h"
#include "index/slot.h"
#include "segment/pin.h"
#include "segment/record.h"
#include "segment/segment.h"

/* Fills *head if the record is that of a large value. */
static bool is_to_drop(const lard_view *view, uint64_t slot, const lard_record_info *info, int64_t now_ms,
                       bool with_chunks, lard_head *head) {
    uint64_t offset = LARD_SLOT_OFFSET(slot);
    head->value_bytes = 0;
    if (!lard_record_has_ended(view, offset, info, now_ms)) {
        return false;
    }
    lard_record_head(view, offset, info, head);
    return with_chunks || !head->value_bytes || lard_record_expired(info, now_ms);
}

/* True if the large values of another bucket may have no room. */
static bool is_full(const lard_expired_large *large) {
    return large && large->count + LARD_BUCKET_SLOTS > LARD_EXPIRED_HEADS;
}

uint64_t lard_expired_drop(lard_core *cache, lard_view *view, uint32_t *next, uint32_t most, int64_t now_ms,
                           lard_expired_large *large) {
    uint64_t dropped = 0, pinned = 0;
    uint32_t count = lard_bucket_count(view), from = *next;
    uint32_t end = from < count && count - from > most ? from + most : count;
    for (uint32_t b = from; b < end; b++) {
        lard_bucket *bucket = lard_bucket_at(view, b);
        if (is_full(large)) {
            end = b;
            break;
        }
        for (unsigned i = 0; bucket && i < LARD_BUCKET_SLOTS; i++) {
            lard_record_info info;
            lard_head head;
            uint64_t value = lard_load(&bucket->slots[i]);
            if (!LARD_SLOT_OFFSET(value) || !lard_record_of_slot(view, value, &info)) {
                continue;
            }
            uint64_t cost = lard_pin_cost_of(view, value);
            if (!is_to_drop(view, value, &info, now_ms, large != NULL, &head)) {
                pinned += cost;
            } else if (lard_slot_replace(&bucket->slots[i], value, 0)) {
                bool is_chunk = LARD_WORD0_TYPE(info.word0) == LARD_TYPE_CHUNK;
                lard_index_count_off(view, is_chunk);
                lard_dead_add(view->map, view->number, lard_segment_at(view, LARD_SLOT_OFFSET(value)),
                              lard_record_bytes_at(&info));
                lard_add(&view->header->pinned_bytes, -cost);
                dropped += !is_chunk;
                if (large && head.value_bytes) {
                    large->heads[large->count++] = head;
                }
            }
        }
    }
    if (from == 0 && end == count) {
        lard_store(&view->header->pinned_bytes, pinned);
        lard_store(&view->header->has_pins, pinned != 0);
    }
    lard_count(cache, LARD_STAT_expirations, dropped);
    *next = end < count ? end : 0;
    return dropped;
}
