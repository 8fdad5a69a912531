/*
 * unattached.c — removes something from the file for a process that is not attached.
 *
 * A forked child has a map of the file before it has a process slot, and it may find no slot. So no other process
 * knows of the map. larder_resize copies the items when no other process has a slot, and a removal in the old file
 * would be lost then. So a removal takes the opener's lock, which larder_resize and every replacement hold, and
 * then checks that the map is still the file at its path. If it cannot have the lock, it is noted (pending.c) and
 * refused.
 */
#include "handle/unattached.h"
#include "base/clock.h"
#include "file/map.h"
#include "file/use.h"
#include "handle/attach.h"
#include "handle/current.h"
#include "handle/enter.h"
#include "handle/newer.h"
#include "handle/opening.h"
#include "proc/fork.h"

#define THREAD_WAIT_MS 10 /* for another thread of this process */

static lard_u64 uncounted[LARD_COUNTERS];

/* Removes also what was noted before. The owner word and the counters are those of the parent process, which has
 * the slot: this one must take no lock of a shard, and must not count. */
static larder_status remove_from(lard_core *cache, lard_map *map, const lard_removal *removal, int64_t now_ms) {
    if (lard_use_mark_dirty(map) != LARDER_OK) {
        return LARDER_DAMAGED;
    }
    map->owner_word = 0;
    __atomic_store_n(&cache->counters, uncounted, __ATOMIC_RELAXED);
    lard_fork_lock();
    lard_pending_apply(cache, map);
    lard_fork_unlock();
    bool was_live = lard_pending_remove(cache, map, removal, now_ms);
    return lard_map_outcome(map, was_live || removal->kind != LARD_REMOVE_KEY ? LARDER_OK : LARDER_MISS);
}

static larder_status remove_in(lard_core *cache, const lard_opening *opening, const lard_removal *removal,
                               bool clears_newer, int64_t now_ms) {
    lard_map *map = cache->map;
    if (lard_opening_is_for(opening, map, cache->path)) {
        return remove_from(cache, map, removal, now_ms);
    }
    if (lard_map_is_fit(map) && lard_map_was_replaced(map, cache->path)) {
        lard_map_supersede(map); /* as lard_enter_look does */
    }
    if (clears_newer && lard_newer_clear(cache)) {
        return removal->kind == LARD_REMOVE_KEY ? LARDER_MISS : LARDER_OK;
    }
    return lard_enter_failure(cache);
}

/* Waits for a thread that removes something: that takes microseconds. One that attaches may take longer. */
static bool begin(lard_core *cache, bool *attached) {
    int64_t start = lard_clock_monotonic_ms();
    while (!lard_attach_begin(cache, attached)) {
        int64_t waited = lard_clock_monotonic_ms() - start;
        if (*attached || waited < 0 || waited >= THREAD_WAIT_MS) {
            return false;
        }
        lard_clock_sleep_ms(1);
    }
    return true;
}

bool lard_unattached_remove(lard_core *cache, const lard_removal *removal, bool clears_newer, int64_t now_ms,
                            larder_status *status) {
    lard_opening opening;
    larder_error error = {.status = LARDER_LOCKED};
    bool attached;
    *status = LARDER_LOCKED;
    if (begin(cache, &attached)) {
        /* If the last attempt to attach waited in vain, so would this. */
        int64_t wait_ms = cache->failure.status == LARDER_LOCKED ? 0 : cache->lock_timeout_ms;
        error.status = lard_opening_begin(cache, LARD_TO_REMOVE, wait_ms, &opening, &error);
        *status = error.status == LARDER_LOCKED ? LARDER_LOCKED : lard_enter_failure(cache);
        if (error.status == LARDER_OK) {
            *status = remove_in(cache, &opening, removal, clears_newer, now_ms);
            lard_opening_end(cache, &opening);
        }
        lard_attach_end(cache, error.status == LARDER_LOCKED ? &error : NULL);
    }
    bool is_done = *status == LARDER_OK || *status == LARDER_MISS;
    return !attached && (is_done || lard_pending_note(cache, removal));
}
