/*
 * delete.c — larder_delete.
 *
 * It takes no shard lock. A process that is not attached takes the opener's lock for it, or notes the delete
 * (unattached.c).
 */
#include "api/request.h"
#include "base/clock.h"
#include "base/count.h"
#include "base/key.h"
#include "file/belief.h"
#include "file/map.h"
#include "handle/enter.h"
#include "handle/unattached.h"
#include "item/drop.h"

static inline larder_status delete_in(larder *cache, lard_map *map, const void *key, size_t key_bytes,
                                      const larder_call *call) {
    lard_key wanted = lard_key_of(map, &lard_belief_any, key, key_bytes);
    bool was_live = lard_drop(map, &wanted, lard_clock_of_call(call));
    lard_count(cache->core, LARD_STAT_deletes, was_live);
    return lard_map_outcome(map, was_live ? LARDER_OK : LARDER_MISS);
}

static __attribute__((noinline)) larder_status delete_unattached(larder *cache, const void *key, size_t key_bytes,
                                                                 const larder_call *call) {
    const lard_removal removal = lard_pending_of_key(key, key_bytes);
    larder_status status;
    return lard_unattached_remove(cache->core, &removal, true, lard_clock_of_call(call), &status)
               ? status
               : larder_delete(cache, key, key_bytes, call);
}

larder_status larder_delete(larder *cache, const void *key, size_t key_bytes, const larder_call *call) {
    larder_status status = lard_request_check_key(cache, key, key_bytes, call);
    if (status != LARDER_OK) {
        return status;
    }
    lard_map *map = lard_enter_after_look(cache->core);
    if (LARD_UNLIKELY(!map)) {
        return delete_unattached(cache, key, key_bytes, call);
    }
    return delete_in(cache, map, key, key_bytes, call);
}
