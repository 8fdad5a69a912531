/*
 * opening.c — takes the opener's lock for a handle, in the lock file that is at the handle's path.
 *
 * The handle may have no lock file open, or one that was removed or replaced since.
 */
#include "handle/opening.h"
#include "base/clock.h"
#include "base/fail.h"
#include "file/map.h"
#include "handle/registry.h"
#include "proc/bytelock.h"
#include "proc/fork.h"
#include "proc/lockfile.h"
#include "proc/opener.h"

#include <errno.h>
#include <sys/stat.h>

/* Where locks are POSIX locks, the close of a lock file's descriptor drops all that the process has on the file.
 * So no thread opens a lock file that another one is closing. Waits for that; false: for `wait_ms` in vain. */
static bool await_close(const struct stat *info, int64_t wait_ms) {
    int64_t start = lard_clock_monotonic_ms();
    for (;;) {
        lard_fork_lock();
        const lard_core *closing = lard_registry_find_closing((uint64_t)info->st_dev, (uint64_t)info->st_ino);
        bool waits = closing && lard_bytelock_is_posix(&closing->lock);
        lard_fork_unlock();
        int64_t waited = lard_clock_monotonic_ms() - start;
        if (!waits || waited < 0 || waited > wait_ms) { /* negative: the clock failed */
            return !waits;
        }
        lard_clock_sleep_ms(1);
    }
}

/* The handle's open lock file; if it is gone or another file is at its path, opens or creates one. */
static larder_status find_lockfile(const lard_core *cache, const char *path, bool creates, int64_t wait_ms,
                                   lard_lockfile *file, larder_error *error) {
    struct stat info;
    bool is_there = stat(path, &info) == 0;
    if (!is_there && !creates) {
        return lard_fail(error, LARDER_NOT_THERE, errno, "%s", path);
    }
    if (is_there && lard_lockfile_is(&cache->lock, &info) && lard_lockfile_is_open(&cache->lock)) {
        *file = cache->lock;
        return LARDER_OK;
    }
    lard_fork_lock();
    const lard_core *known =
        is_there ? lard_registry_find_lockfile((uint64_t)info.st_dev, (uint64_t)info.st_ino) : NULL;
    bool opens_twice = known && known != cache && lard_bytelock_is_posix(&known->lock);
    lard_fork_unlock();
    if (opens_twice) { /* closing one descriptor would drop the POSIX locks of the other handle */
        return lard_fail(error, LARDER_SUPERSEDED, 0,
                         "%s: close the cache that this process has open under another path", path);
    }
    if (is_there && !await_close(&info, wait_ms)) {
        return lard_fail(error, LARDER_LOCKED, 0, "%s: this process is closing it", path);
    }
    return lard_lockfile_open(path, file, error);
}

/* A child that dropped its rights, or has no free descriptor, cannot open the lock file again, as a lock that
 * lasts needs it. A lock on the descriptor that it inherited must belong to the process: an open-file-description
 * lock would be its parent's too. */
static larder_status lock_it(lard_opening *opening, lard_opening_purpose purpose, int64_t wait_ms,
                             larder_error *error) {
    larder_status status = lard_opener_lock(&opening->file, opening->path, wait_ms, &opening->opener, error);
    if (status == LARDER_SYSTEM && purpose == LARD_TO_REMOVE) {
        opening->file.is_posix = true;
        status = lard_opener_lock(&opening->file, opening->path, wait_ms, &opening->opener, error);
    }
    return status;
}

larder_status lard_opening_begin(const lard_core *cache, lard_opening_purpose purpose, int64_t wait_ms,
                                 lard_opening *opening, larder_error *error) {
    lard_lockfile_path(cache->path, opening->path);
    opening->opener = (lard_bytelock){.fd = -1};
    larder_status status =
        find_lockfile(cache, opening->path, purpose == LARD_TO_CREATE, wait_ms, &opening->file, error);
    if (status != LARDER_OK) {
        return status;
    }
    status = lock_it(opening, purpose, wait_ms, error);
    if (status == LARDER_OK) {
        int there = lard_lockfile_is_at(&opening->file, opening->path);
        status =
            there == 1 ? LARDER_OK : lard_fail_call(error, "stat", opening->path, there == 0 ? ESTALE : errno);
    }
    if (status != LARDER_OK) {
        lard_opening_end(cache, opening);
    }
    return status;
}

void lard_opening_end(const lard_core *cache, lard_opening *opening) {
    if (opening->file.fd != cache->lock.fd) {
        lard_lockfile_close(&opening->file);
    }
    lard_bytelock_drop(&opening->opener, &opening->file);
}

/* If a handle has the lock file open by now, the close would drop that one's locks. */
void lard_opening_leave(lard_map *map) {
    lard_bytelock_drop(&map->former_slot_lock, &map->lock);
    if (map->keeps_lockfile && !lard_registry_find_lockfile(map->lock.device, map->lock.inode)) {
        lard_lockfile_close(&map->lock);
        map->keeps_lockfile = false;
    }
}

bool lard_opening_is_for(const lard_opening *opening, const lard_map *map, const char *path) {
    return lard_map_is_fit(map) && lard_map_is_at(map, path) && opening->file.inode == map->lock.inode &&
           opening->file.device == map->lock.device;
}
