/*
 * exists.c — larder_exists. Takes no lock.
 */
#include "api/request.h"
#include "base/key.h"
#include "handle/enter.h"
#include "item/read.h"

larder_status larder_exists(larder *cache, const void *key, size_t key_bytes, larder_item *item,
                            const larder_call *call) {
    larder_status status = lard_request_check_key(cache, key, key_bytes, call);
    lard_map *map = status == LARDER_OK ? lard_enter(cache->core) : NULL;
    if (!map) {
        return status == LARDER_OK ? LARDER_MISS : status;
    }
    larder_item found;
    lard_hit hit;
    lard_key wanted = lard_key_of(map, cache->belief, key, key_bytes);
    bool exists =
        lard_read(cache->core, map, &wanted, NULL, NULL, &found, &hit, call ? call->now_ms : 0) == LARDER_OK &&
        (!found.staleness || (call && (call->flags & LARDER_CALL_STALE)));
    if (exists && item) {
        *item = found;
    }
    return exists ? LARDER_OK : LARDER_MISS;
}
