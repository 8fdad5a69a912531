/*
 * clear.c — larder_clear.
 *
 * It takes no shard lock: the shards are emptied one by one, by their next writers. A process that is not attached
 * notes the clear until it attaches (pending.c), and clears a file of a newer version (newer.c).
 */
#include "file/map.h"
#include "handle/enter.h"
#include "handle/newer.h"
#include "handle/pending.h"

larder_status larder_clear(larder *cache) {
    if (!cache) {
        return LARDER_INVALID;
    }
    lard_map *map = lard_enter_after_look(cache);
    if (!map && !lard_pending_note(cache, NULL, 0)) {
        return larder_clear(cache); /* another thread has attached it */
    }
    if (!map) {
        return lard_newer_clear(cache) ? LARDER_OK : lard_enter_failure(cache);
    }
    lard_map_clear(map);
    return lard_map_outcome(map, LARDER_OK);
}
