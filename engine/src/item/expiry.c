/*
 * expiry.c — computes an expiry from a TTL, and changes the expiry of a record in place.
 *
 * lard_expiry_set takes the lock of the key's shard.
 */
#include "item/expiry.h"
#include "base/clock.h"
#include "base/key.h"
#include "base/reads.h"
#include "file/belief.h"
#include "file/map.h"
#include "file/view.h"
#include "index/index.h"
#include "index/match.h"
#include "item/dirty.h"
#include "segment/record.h"
#include "segment/segment.h"
#include "shard/shard.h"

_Static_assert(LARDER_MAX_EXPIRY_MS == LARD_EXPIRY_MASK, "a record has room for the latest expiry");

bool lard_expiry_from_ttl(int64_t ttl_ms, int64_t now_ms, uint64_t *expiry_ms) {
    if (ttl_ms == 0) {
        *expiry_ms = 0;
        return true;
    }
    if (ttl_ms < 0 || ttl_ms > LARDER_MAX_TTL_MS || now_ms < 0) {
        return false;
    }
    *expiry_ms = (uint64_t)lard_expiry_after(now_ms, ttl_ms);
    return true;
}

/* The later expiry; 0 never ends. A chunk lives as long as any touch of its value asked for, because two touches
 * may reach a chunk in another order than its head. */
static uint64_t later(uint64_t a_ms, uint64_t b_ms) { return !a_ms || !b_ms ? 0 : a_ms > b_ms ? a_ms : b_ms; }

larder_status lard_expiry_set(lard_core *cache, lard_map *map, const lard_key *key, uint64_t expiry_ms,
                              lard_head *head, const larder_call *call) {
    lard_view view = lard_view_of(map, lard_hash_shard(map, &key->hash));
    lard_record_info info;
    lard_dirty_for_change(&view, key);
    larder_status status = lard_shard_lock(cache, &view, call);
    if (status != LARDER_OK) {
        return status;
    }
    status = LARDER_MISS;
    lard_found found = lard_index_find(&view, key);
    uint64_t offset = LARD_SLOT_OFFSET(found.value);
    if (found.slot && lard_record_of_slot(&view, found.value, &info) &&
        (key->is_chunk ||
         !lard_record_expired(&info, lard_clock_of_call(call))) && /* the head decides for chunks */
        lard_belief_accepts(key->belief, map, lard_load(&view.header->epoch), info.word1)) {
        bool large = LARD_WORD0_TYPE(info.word0) == LARD_TYPE_HEAD;
        if (LARD_WORD0_TYPE(info.word0) == LARD_TYPE_EXTENDED) {
            lard_shard_unlock(&view);
            return lard_map_outcome(map, LARDER_NOT_STORED);
        }
        if (large && call && (call->flags & LARDER_CALL_TRY)) {
            lard_shard_unlock(&view);
            return lard_map_outcome(
                map, LARDER_BUSY); /* the chunks are under other locks, and a try call waits for no lock */
        }
        expiry_ms = key->is_chunk ? later(info.expiry_ms, expiry_ms) : expiry_ms;
        /* First, so that the segment is not dropped as expired. */
        lard_segment_widen_expiry(&view, offset, expiry_ms);
        lard_record_set_expiry(&view, found.value, &info, expiry_ms);
        lard_reads_raise(map, &map->dircache[view.number], found.reads, found.slot, offset);
        if (head) {
            lard_record_head(&view, offset, &info, head);
        }
        status = LARDER_OK;
    }
    lard_shard_unlock(&view);
    return lard_map_outcome(map, status);
}
