/*
 * expired.c — drops expired items, and those whose tag was deleted, from a part of a shard's index. Under the
 * shard's lock.
 */
#include "evict/expired.h"
#include "base/count.h"
#include "index/bucket.h"
#include "index/index.h"
#include "index/slot.h"
#include "segment/pin.h"
#include "segment/record.h"

/* Not a large value whose tag was deleted: its chunks would stay. */
static bool is_to_drop(const lard_view *view, uint64_t slot, const lard_record_info *info, int64_t now_ms) {
    bool is_large;
    return lard_record_has_ended(view, LARD_SLOT_OFFSET(slot), info, now_ms, &is_large) && !is_large;
}

uint64_t lard_expired_drop(larder *cache, lard_view *view, uint32_t *next, uint32_t most, int64_t now_ms) {
    uint64_t dropped = 0, pinned = 0;
    uint32_t count = lard_bucket_count(view), from = *next;
    uint32_t end = from < count && count - from > most ? from + most : count;
    for (uint32_t b = from; b < end; b++) {
        lard_bucket *bucket = lard_bucket_at(view, b);
        for (unsigned i = 0; bucket && i < LARD_BUCKET_SLOTS; i++) {
            lard_record_info info;
            uint64_t value = lard_load(&bucket->slots[i]);
            if (!LARD_SLOT_OFFSET(value) || !lard_record_of_slot(view, value, &info)) {
                continue;
            }
            uint64_t cost = lard_pin_cost_of(view, value);
            if (!is_to_drop(view, value, &info, now_ms)) {
                pinned += cost;
            } else if (lard_slot_replace(&bucket->slots[i], value, 0)) {
                bool is_chunk = LARD_WORD0_TYPE(info.word0) == LARD_TYPE_CHUNK;
                lard_index_count_off(view, is_chunk);
                lard_add(&view->header->pinned_bytes, -cost);
                dropped += !is_chunk;
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
