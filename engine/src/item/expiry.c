/*
 * expiry.c — the time at which a record expires, changed in place.
 */
#include "item/expiry.h"
#include "file/map.h"
#include "file/view.h"
#include "index/index.h"
#include "index/match.h"
#include "segment/record.h"
#include "segment/segment.h"
#include "shard/shard.h"

bool lard_expiry_from_ttl(int64_t ttl_ms, int64_t now_ms, uint64_t *expiry_ms) {
    if (ttl_ms == 0) {
        *expiry_ms = 0;
        return true;
    }
    if (ttl_ms < 0 || ttl_ms > LARDER_MAX_TTL_MS || now_ms < 0 || now_ms > LARDER_MAX_TTL_MS) {
        return false;
    }
    *expiry_ms = (uint64_t)(now_ms + ttl_ms);
    return true;
}

/* Of a chunk: it lives as long as any touch of its value said, for touches may pass each other on their way to it.
 */
static uint64_t later(uint64_t a_ms, uint64_t b_ms) { return !a_ms || !b_ms ? 0 : a_ms > b_ms ? a_ms : b_ms; }

larder_status lard_expiry_set(larder *cache, lard_map *map, const lard_key *key, uint64_t expiry_ms,
                              lard_head *head, const larder_call *call) {
    lard_view view = lard_view_of(map, lard_hash_shard(map, &key->hash));
    lard_record_info info;
    larder_status status = lard_shard_lock(cache, &view, call);
    if (status != LARDER_OK) {
        return status;
    }
    status = LARDER_MISS;
    lard_found found = lard_index_find(&view, key);
    uint64_t offset = LARD_SLOT_OFFSET(found.value);
    if (found.slot && lard_record_info_at(&view, offset, &info) &&
        (key->is_chunk || !lard_record_expired(&info, lard_now(call)))) { /* chunks follow their head */
        bool large = LARD_WORD2_TYPE(info.word2) == LARD_TYPE_HEAD;
        if (large && call && (call->flags & LARDER_CALL_TRY)) {
            lard_shard_unlock(&view);
            return lard_map_outcome(
                map,
                LARDER_BUSY); /* its chunks have locks of their own, and a call that only tries waits for none */
        }
        expiry_ms = key->is_chunk ? later(info.expiry_ms, expiry_ms) : expiry_ms;
        lard_segment_widen_expiry(&view, offset,
                                  expiry_ms); /* first: its segment must not be dropped as expired */
        lard_record_set_expiry(&view, offset, info.crc, expiry_ms);
        if (head) {
            lard_record_head(&view, offset, &info, head);
        }
        status = LARDER_OK;
    }
    lard_shard_unlock(&view);
    return lard_map_outcome(map, status);
}
