/*
 * enter.c — chooses the map that a call works on: the current one, or one that the handle attaches to now.
 *
 * A handle that could not attach tries again from time to time, not at each call. Calls that change something
 * check from time to time that the file is still at its path.
 */
#define _GNU_SOURCE
#include "handle/enter.h"
#include "base/clock.h"
#include "base/place.h"
#include "file/hints.h"
#include "file/map.h"
#include "handle/attach.h"
#include "proc/fork.h"
#include "proc/lockfile.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define LOOK_MS 200            /* between checks that the file is still at its path */
#define ATTACH_WAIT_MS 1000    /* for another opener, in a call that attaches */
#define TOUCH_MS (3600 * 1000) /* between new timestamps of the lock file, by which cleaners find old files */
#define STORES_PER_LOOK 64     /* while the time given with the stores does not change */

lard_map *lard_enter_slow(lard_core *cache) {
    lard_fork_lock();
    lard_map *map = lard_current_map(cache); /* another thread may have attached it */
    bool tries = !map && !cache->attaches_explicitly && lard_attach_is_due(cache);
    lard_fork_unlock();
    return tries && lard_attach(cache, ATTACH_WAIT_MS, NULL) == LARDER_OK ? cache->map : map;
}

larder_status lard_enter_failure(const lard_core *cache) {
    lard_map *map = __atomic_load_n(&cache->map, __ATOMIC_ACQUIRE);
    larder_status failure = cache->failure.status;
    if (map && map->poisoned) {
        return LARDER_DAMAGED;
    }
    if (map && lard_load(&map->control->superseded)) {
        return LARDER_SUPERSEDED;
    }
    return failure ? failure : LARDER_LOCKED; /* OK: another thread is attaching */
}

/* Renews the timestamps of the lock file, so that cleaners keep a file that is in use but rarely opened. */
static void touch_lockfile(lard_core *cache, int64_t now_ms) {
    char path[LARD_LOCK_PATH_MAX];
    __atomic_store_n(&cache->next_touch_ms, now_ms + TOUCH_MS, __ATOMIC_RELAXED);
    lard_lockfile_path(cache->path, path);
    utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
}

/* Was a copy of an earlier use written over the file? The use number does not change while a process is attached.
 */
static bool was_overwritten(const lard_map *map) {
    return !map->poisoned && lard_load(&map->control->use) != map->use;
}

/* All processes leave a file that was removed, replaced or overwritten by hand, like one that the engine replaced.
 * Else the hints grow with the index. */
void lard_enter_look(lard_core *cache, lard_map *map) {
    int64_t now_ms = lard_clock_monotonic_coarse_ms();
    if (!lard_clock_is_due(now_ms, __atomic_load_n(&cache->next_look_ms, __ATOMIC_RELAXED), LOOK_MS)) {
        return;
    }
    __atomic_store_n(&cache->next_look_ms, now_ms + LOOK_MS, __ATOMIC_RELAXED);
    if (LARD_UNLIKELY(
            lard_clock_is_due(now_ms, __atomic_load_n(&cache->next_touch_ms, __ATOMIC_RELAXED), TOUCH_MS))) {
        touch_lockfile(cache, now_ms);
    }
    if (lard_map_was_replaced(map, cache->path) || was_overwritten(map)) {
        lard_map_supersede(map);
    } else {
        lard_hints_keep_up(map);
    }
}

/* Does the store come with the same time as the last one? True for STORES_PER_LOOK stores at most. */
static bool has_time_of_last_store(lard_core *cache, int64_t now_ms) {
    uint32_t count = __atomic_load_n(&cache->store_count, __ATOMIC_RELAXED);
    bool same = now_ms && now_ms == __atomic_load_n(&cache->store_ms, __ATOMIC_RELAXED) && count < STORES_PER_LOOK;
    __atomic_store_n(&cache->store_count, same ? count + 1 : 0, __ATOMIC_RELAXED);
    if (!same) {
        __atomic_store_n(&cache->store_ms, now_ms, __ATOMIC_RELAXED);
    }
    return same;
}

lard_map *lard_enter_to_write(lard_core *cache, int64_t now_ms) {
    return has_time_of_last_store(cache, now_ms) ? lard_enter(cache) : lard_enter_after_look(cache);
}
