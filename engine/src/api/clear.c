/*
 * clear.c — larder_clear.
 *
 * It takes no shard lock: the shards are emptied one by one, by their next writers. A process that is not attached
 * takes the opener's lock for it, or notes the clear (unattached.c).
 */
#include "file/map.h"
#include "handle/enter.h"
#include "handle/unattached.h"
#include "segment/stamp.h"

larder_status larder_clear(larder *cache) {
    if (!cache) {
        return LARDER_INVALID;
    }
    lard_map *map = lard_enter_after_look(cache->core);
    if (!map) {
        const lard_removal removal = {.kind = LARD_REMOVE_ALL};
        larder_status status;
        return lard_unattached_remove(cache->core, &removal, true, 0, &status) ? status : larder_clear(cache);
    }
    lard_map_clear(map);
    lard_stamp_repair(map);
    return lard_map_outcome(map, LARDER_OK);
}
