/*
 * attach.c — a handle's file: attaching to it, and anew.
 *
 * A handle attaches when it is opened, and anew, at its next call, in a forked child
 * (a process slot of its own), when its file was superseded, and when its map was
 * poisoned. The addresses of a map that was left stay the handle's until it closes:
 * other threads may still be reading in it.
 */
#define _GNU_SOURCE
#include "internal.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#define RETRY_MS 1000
#define FAULTS_IN_ROW 32            /* after so many, attaching anew waits twice as long each time, up to */
#define FAULT_WAIT_MS 600000        /* this; */
#define FAULT_FREE_MS (3600 * 1000) /* an hour without one, and all is well again */
#define LOOK_MS 200                 /* between looks whether the file is still at its path */
#define OLD_FILES 8                 /* that were left, for threads that are still inside */
#define ATTACH_WAIT_MS 1000         /* for another opener, in a call that attaches anew */

static void forget_waits(larder *cache) {
    for (unsigned shard = 0; shard < LARD_MOST_SHARDS; shard++) {
        __atomic_store_n(&cache->stuck[shard], 0, __ATOMIC_RELAXED);
    }
}

static larder_status fail_claim(larder *cache, const lard_map *map, larder_status status, larder_error *error) {
    return status == LARDER_SYSTEM
               ? lard_fail_call(error, "lock a process slot of", cache->path, errno)
               : lard_fail(error, status, 0, "%s (%u slots)", cache->path, map->super.process_slots);
}

/* A host may replace the file every minute for years. Of each map but the last few only its addresses are kept. */
static void let_old_files_go(larder *cache) {
    unsigned kept = 0;
    for (lard_map *map = cache->old_maps; map; map = map->older) {
        if (kept++ >= OLD_FILES) {
            lard_file_close(map);
            if (!lard_fault_blank(map)) {
                return; /* what is older was let go before */
            }
        }
    }
}

larder_status lard_attach(larder *cache, uint64_t size_bytes, int64_t wait_ms, larder_error *error) {
    char path[LARD_LOCK_PATH_MAX];
    uint8_t lock_id[16];
    struct stat info;
    int fd = -1;
    lard_map *map = NULL;

    int there = lard_lockfile_look(cache->path, path, &info);
    if (there < 0) { /* a lock file that this process has open already must not be opened again: see process.c */
        return lard_fail_call(error, "stat", path, errno);
    }
    if (!there && !size_bytes) { /* no cache fits a lock file that nobody has: this says what else is the matter */
        int code = lard_random(lock_id, sizeof lock_id);
        return code ? lard_fail_call(error, "random bytes for", cache->path, code)
                    : lard_file_open(cache->path, 0, lock_id, true, &map, error);
    }
    larder *known = there ? lard_handle_of((uint64_t)info.st_dev, (uint64_t)info.st_ino) : NULL;
    bool kept = lard_lockfile_kept(cache, cache->lock_fd);
    bool same = kept && known == cache;
    larder_status status;
    if (same) {
        fd = cache->lock_fd;
        status = lard_lockfile_reenter(fd, wait_ms, lock_id, error, path);
    } else if (known && known != cache) {
        status = lard_fail(error, LARDER_SUPERSEDED, 0, "%s belongs to another handle of this process", path);
    } else {
        status = lard_lockfile_open(path, wait_ms, &fd, &info, lock_id, error);
    }
    if (status != LARDER_OK) {
        return status;
    }
    if (cache->map) {
        lard_file_discard(cache->map); /* its successor may need the room */
    }
    int alone = lard_lockfile_alone(fd);
    status = alone < 0 ? lard_fail_call(error, "lock", path, errno)
                       : lard_file_open(cache->path, size_bytes, lock_id, alone, &map, error);
    if (status == LARDER_OK) {
        int old_fd = cache->lock_fd;
        __atomic_store_n(&cache->lock_fd, fd, __ATOMIC_RELAXED);
        status = lard_process_claim(cache, map);
        if (status != LARDER_OK) {
            fail_claim(cache, map, status, error);
            __atomic_store_n(&cache->lock_fd, old_fd, __ATOMIC_RELAXED);
            lard_file_unmap(map);
        } else if (!same) {
            if (kept) {
                close(old_fd);
            }
            cache->lock_device = (uint64_t)info.st_dev;
            cache->lock_inode = (uint64_t)info.st_ino;
        }
    }
    lard_lockfile_leave(fd);
    if (status != LARDER_OK) {
        if (!same) {
            close(fd);
        }
        return status;
    }
    forget_waits(cache);
    if (cache->map) {
        lard_file_discard(cache->map);
        cache->map->older = cache->old_maps;
        cache->old_maps = cache->map;
        let_old_files_go(cache);
    }
    __atomic_store_n(&cache->map, map, __ATOMIC_RELEASE);
    __atomic_store_n(&cache->fork_epoch, lard_fork_epoch, __ATOMIC_RELEASE);
    return LARDER_OK;
}

/* A forked child: the slot is its parent's, the map is shared. The parent may have left and marked the file clean.
 */
static lard_map *attach_child(larder *cache) {
    if (lard_lockfile_enter(cache->lock_fd, ATTACH_WAIT_MS, NULL, cache->path) != LARDER_OK) {
        return NULL;
    }
    larder_status status = lard_file_begin_use(cache->map, cache->path, NULL);
    status = status == LARDER_OK ? lard_process_claim(cache, cache->map) : status;
    lard_lockfile_leave(cache->lock_fd);
    if (status != LARDER_OK) {
        return NULL;
    }
    forget_waits(cache);
    __atomic_store_n(&cache->fork_epoch, lard_fork_epoch, __ATOMIC_RELEASE);
    return cache->map;
}

/*
 * Each fault costs a map, for other threads may still be inside. A disk that is full under a
 * copy-on-write file system faults again and again, for days perhaps: so not at once again, and ever more seldom.
 */
static int64_t wait_after_fault(larder *cache, int64_t now_ms) {
    cache->faults = now_ms - cache->last_fault_ms < FAULT_FREE_MS ? cache->faults + 1 : 1;
    cache->last_fault_ms = now_ms;
    unsigned doublings = cache->faults > FAULTS_IN_ROW ? cache->faults - FAULTS_IN_ROW : 0;
    return doublings < 10 ? (int64_t)RETRY_MS << doublings : FAULT_WAIT_MS;
}

lard_map *lard_enter_slow(larder *cache) {
    lard_map *result = NULL;
    lard_registry_lock();
    lard_map *map = cache->map;
    bool fit = map && !map->poisoned && !lard_load(&map->control->superseded);
    bool faulted = map && map->poisoned;
    int64_t now_ms = lard_monotonic_ms();
    if (fit && cache->fork_epoch == lard_fork_epoch) {
        lard_registry_unlock();
        return map; /* another thread was here first */
    }
    if (cache->retry_attach_ms && now_ms < cache->retry_attach_ms &&
        (!fit || cache->retry_epoch == lard_fork_epoch)) {
        lard_registry_unlock();
        return NULL; /* calls that did not try do not put off the one that will */
    }
    if (fit && lard_lockfile_kept(cache, cache->lock_fd)) {
        result = attach_child(cache);
    } else {
        if (map && (map->poisoned || (fit && lard_file_was_replaced(map, cache->path)))) {
            lard_file_mark_superseded(map); /* so that other processes leave it, too */
        }
        uint64_t size = map ? map->super.file_bytes : cache->requested_bytes;
        result = lard_attach(cache, size, ATTACH_WAIT_MS, NULL) == LARDER_OK ? cache->map : NULL;
    }
    int64_t wait_ms = faulted && result ? wait_after_fault(cache, now_ms) : RETRY_MS;
    /* From now on, not from the beginning: the attempt may have taken as long as the next one is to wait. */
    cache->retry_attach_ms = result && !faulted ? 0 : lard_monotonic_ms() + wait_ms;
    cache->retry_epoch = lard_fork_epoch;
    lard_registry_unlock();
    return result;
}

/* The file of this handle, also for a child that could not claim a slot: enough to empty slots, which needs none.
 */
lard_map *lard_reachable(larder *cache) {
    lard_map *map = __atomic_load_n(&cache->map, __ATOMIC_ACQUIRE);
    return map && !map->poisoned && !lard_load(&map->control->superseded) ? map : NULL;
}

/* A file that was removed or replaced by hand is left like one that the engine replaced: by everybody. */
void lard_look_at_path(larder *cache, lard_map *map) {
    int64_t now_ms = lard_monotonic_coarse_ms();
    if (now_ms < __atomic_load_n(&cache->next_look_ms, __ATOMIC_RELAXED)) {
        return;
    }
    __atomic_store_n(&cache->next_look_ms, now_ms + LOOK_MS, __ATOMIC_RELAXED);
    if (lard_file_was_replaced(map, cache->path)) {
        lard_file_mark_superseded(map);
    }
}
