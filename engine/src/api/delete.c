/*
 * delete.c — larder_delete.
 *
 * It takes no shard lock. A process that is not attached empties the key's slot if it has a map of the file;
 * otherwise it notes the delete until it attaches (pending.c), and clears a file of a newer version, to which it
 * cannot attach (newer.c).
 */
#include "api/request.h"
#include "base/clock.h"
#include "base/count.h"
#include "base/key.h"
#include "file/map.h"
#include "file/use.h"
#include "handle/enter.h"
#include "handle/newer.h"
#include "handle/pending.h"
#include "item/drop.h"

static inline larder_status delete_in(larder *cache, lard_map *map, const void *key, size_t key_bytes,
                                      const larder_call *call) {
    lard_key wanted = lard_key_of(map, key, key_bytes);
    bool was_live = lard_drop(map, &wanted, lard_clock_of_call(call));
    lard_count(cache, LARD_STAT_deletes, was_live);
    return lard_map_outcome(map, was_live ? LARDER_OK : LARDER_MISS);
}

/* Emptying a slot of the index needs no process slot. */
static __attribute__((noinline)) larder_status delete_unattached(larder *cache, const void *key, size_t key_bytes,
                                                                 const larder_call *call) {
    lard_map *map = lard_enter_unattached(cache);
    if (!map && !lard_pending_note(cache, key, key_bytes)) {
        return larder_delete(cache, key, key_bytes, call); /* another thread has attached it */
    }
    if (!map) {
        return lard_newer_clear(cache) ? LARDER_MISS : lard_enter_failure(cache);
    }
    larder_status status = delete_in(cache, map, key, key_bytes, call);
    return lard_use_mark_dirty(map) == LARDER_OK ? status : LARDER_DAMAGED;
}

larder_status larder_delete(larder *cache, const void *key, size_t key_bytes, const larder_call *call) {
    larder_status status = lard_request_check_key(cache, key, key_bytes, call);
    if (status != LARDER_OK) {
        return status;
    }
    lard_map *map = lard_enter_after_look(cache);
    if (LARD_UNLIKELY(!map)) {
        return delete_unattached(cache, key, key_bytes, call);
    }
    return delete_in(cache, map, key, key_bytes, call);
}
