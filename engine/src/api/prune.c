/*
 * prune.c — larder_prune: drops expired items of all shards, and those whose tag was deleted, in turns.
 */
#include "api/request.h"
#include "base/clock.h"
#include "evict/expired.h"
#include "file/advice.h"
#include "file/map.h"
#include "file/view.h"
#include "handle/enter.h"
#include "item/large.h"
#include "shard/shard.h"

/* Checked before others may take the lock: about 400 records, less than 50 microseconds. */
#define BUCKETS_A_TURN 64u
#define MAX_PASSES 4 /* through a shard, if items move to buckets that a pass has left behind */

/* Drops the items of a shard that have ended, in turns. Repeats the pass if items moved to buckets that it had
 * checked. The chunks of large values are dropped after each turn, without the lock. */
static larder_status prune_shard(larder *cache, lard_view *view, uint64_t *dropped, const larder_call *call) {
    uint32_t next = 0, moves_down = 0;
    lard_advice_read_records(view);
    for (unsigned pass = 0; pass < MAX_PASSES;) {
        lard_expired_large large = {.count = 0};
        larder_status status = lard_shard_lock(cache->core, view, call);
        if (status != LARDER_OK) {
            return status;
        }
        moves_down = next ? moves_down : lard_load(&view->header->moves_down);
        *dropped += lard_expired_drop(cache->core, view, &next, BUCKETS_A_TURN, lard_clock_of_call(call), &large);
        pass += next == 0;
        bool done = next == 0 && lard_load(&view->header->moves_down) == moves_down;
        lard_shard_end_turn(view);
        for (unsigned i = 0; i < large.count; i++) {
            lard_large_drop(view->map, &large.heads[i]);
        }
        if (done) {
            break;
        }
    }
    return LARDER_OK;
}

larder_status larder_prune(larder *cache, uint64_t *dropped, const larder_call *call) {
    uint64_t sum = 0;
    larder_status result = LARDER_OK;
    if (!cache || !lard_request_knows_call(call)) {
        return LARDER_INVALID;
    }
    lard_map *map = lard_enter(cache->core);
    if (!map) {
        return lard_enter_failure(cache->core);
    }
    for (uint32_t s = 0; s < map->super.shard_count; s++) {
        lard_view view = lard_view_of(map, s);
        larder_status status = prune_shard(cache, &view, &sum, call);
        result = status == LARDER_OK ? result : status;
    }
    if (dropped) {
        *dropped = sum;
    }
    return lard_map_outcome(map, result);
}
