/*
 * clear.c — larder_clear.
 *
 * It takes no shard lock: the shards are emptied one by one, by their next writers. A process that is not attached
 * notes the clear until it attaches (pending.c).
 */
#include "file/map.h"
#include "handle/enter.h"
#include "handle/pending.h"

larder_status larder_clear(larder *cache) {
    if (!cache) {
        return LARDER_INVALID;
    }
    lard_map *map = lard_enter_after_look(cache);
    if (!map) {
        return lard_pending_note(cache, NULL, 0) ? lard_enter_failure(cache) : larder_clear(cache);
    }
    lard_map_clear(map);
    return lard_map_outcome(map, LARDER_OK);
}
