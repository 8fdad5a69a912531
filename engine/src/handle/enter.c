/*
 * enter.c — which map a call works on: the current one, or the one that the handle attaches to now.
 *
 * An unattached handle tries again from time to time, not at each call. Calls that change something look
 * from time to time whether the file is still at its path.
 */
#define _GNU_SOURCE
#include "handle/enter.h"
#include "base/place.h"
#include "file/map.h"
#include "handle/attach.h"
#include "proc/fork.h"
#include "proc/lockfile.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define LOOK_MS 200            /* between looks whether the file is still at its path */
#define ATTACH_WAIT_MS 1000    /* for another opener, in a call that attaches anew */
#define TOUCH_MS (3600 * 1000) /* between new times for the lock file, which cleaners of old files look at */
#define STORES_PER_LOOK 64     /* under a clock that stands still */

int larder_attached(larder *cache) {
    if (LARD_UNLIKELY(!cache)) {
        return -1;
    }
    lard_sigbus_enter();
    if (LARD_LIKELY(lard_current_map(cache) != NULL)) {
        return 1;
    }
    lard_fork_lock();
    int due = lard_attach_is_due(cache) ? 0 : -1;
    lard_fork_unlock();
    return due;
}

lard_map *lard_enter_slow(larder *cache) {
    lard_fork_lock();
    lard_map *map = lard_current_map(cache); /* another thread was here first */
    bool tries = !map && !cache->attaches_explicitly && lard_attach_is_due(cache);
    lard_fork_unlock();
    return tries && larder_attach(cache, ATTACH_WAIT_MS, NULL) == LARDER_OK ? cache->map : map;
}

/* The file of this handle, also for a child that could not claim a slot: enough to empty slots, which needs none.
 */
lard_map *lard_enter_unattached(larder *cache) {
    lard_map *map = __atomic_load_n(&cache->map, __ATOMIC_ACQUIRE);
    return lard_map_is_fit(map) ? map : NULL;
}

/* Why this process could not attach. */
larder_status lard_enter_failure(const larder *cache) {
    lard_map *map = __atomic_load_n(&cache->map, __ATOMIC_ACQUIRE);
    larder_status failure = cache->failure.status;
    if (map && map->poisoned) {
        return LARDER_DAMAGED;
    }
    if (map && lard_load(&map->control->superseded)) {
        return LARDER_SUPERSEDED;
    }
    return failure ? failure : LARDER_LOCKED; /* none: another thread is at it */
}

/* Of a file that is in use, however seldom it is opened. */
static void touch_lockfile(larder *cache, int64_t now_ms) {
    char path[LARD_LOCK_PATH_MAX];
    __atomic_store_n(&cache->next_touch_ms, now_ms + TOUCH_MS, __ATOMIC_RELAXED);
    lard_lockfile_path(cache->path, path);
    utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
}

/* A copy of a former use was written over the file: the number stays the same while anybody is attached. */
static bool was_overwritten(const lard_map *map) {
    return !map->poisoned && lard_load(&map->control->use) != map->use;
}

/* A file that was removed, replaced or overwritten by hand is left like one that the engine replaced: by
 * everybody. */
void lard_enter_look(larder *cache, lard_map *map) {
    int64_t now_ms = lard_monotonic_coarse_ms();
    if (now_ms < __atomic_load_n(&cache->next_look_ms, __ATOMIC_RELAXED)) {
        return;
    }
    __atomic_store_n(&cache->next_look_ms, now_ms + LOOK_MS, __ATOMIC_RELAXED);
    if (LARD_UNLIKELY(now_ms >= __atomic_load_n(&cache->next_touch_ms, __ATOMIC_RELAXED))) {
        touch_lockfile(cache, now_ms);
    }
    if (lard_map_was_replaced(map, cache->path) || was_overwritten(map)) {
        lard_map_supersede(map);
    }
}

/* Whether another store has just seen the clock show the same. */
static bool shown_before(larder *cache, int64_t now_ms) {
    uint32_t count = __atomic_load_n(&cache->store_count, __ATOMIC_RELAXED);
    bool same = now_ms && now_ms == __atomic_load_n(&cache->store_ms, __ATOMIC_RELAXED) && count < STORES_PER_LOOK;
    __atomic_store_n(&cache->store_count, same ? count + 1 : 0, __ATOMIC_RELAXED);
    if (!same) {
        __atomic_store_n(&cache->store_ms, now_ms, __ATOMIC_RELAXED);
    }
    return same;
}

lard_map *lard_enter_to_write(larder *cache, int64_t now_ms) {
    return shown_before(cache, now_ms) ? lard_enter(cache) : lard_enter_after_look(cache);
}
