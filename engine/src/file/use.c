/*
 * use.c — begins a period of use of a cache file with a new use number, and ends it with the clean mark.
 *
 * A period lasts from the first process that attaches to the last one that detaches. Its random use number is in
 * the file and in the lock file, so a copy of an earlier period is recognised. The opener's lock is held.
 */
#define _GNU_SOURCE
#include "file/use.h"
#include "base/boot.h"
#include "base/fail.h"
#include "base/page.h"
#include "base/place.h"
#include "base/random.h"
#include "file/map.h"
#include "proc/lockfile.h"

static int sync_control(lard_map *map) { return lard_page_sync(map->base, LARD_CONTROL_OFFSET, LARD_PAGE); }

/* Writes two use numbers to the lock file: that of the cache, and `fresh`, which it will get. After the cache has
 * got it both are the same: from then on a copy of the previous period is recognised. */
static int note_use(const lard_map *map, const char *path, const lard_lockfile *lock, uint64_t fresh) {
    char lock_path[LARD_LOCK_PATH_MAX];
    lard_lockfile_path(path, lock_path);
    return lard_lockfile_note_use(lock, lock_path, lard_load(&map->control->use), fresh);
}

/* Makes a use number that this file and its lock file have never had, so it differs from that of every copy, which
 * may be put back later. If this process dies half-way, both numbers are valid. */
static int renew_use(const lard_map *map, const char *path, const lard_lockfile *lock, uint64_t *fresh) {
    int code = lard_random(fresh, sizeof *fresh);
    *fresh |= 1; /* never 0 */
    return code ? code : note_use(map, path, lock, *fresh);
}

/* Removes the clean mark, on disk too, before the first store. */
larder_status lard_use_begin(lard_map *map, const char *path, const lard_lockfile *lock, bool alone,
                             larder_error *error) {
    uint64_t boot[2], use = lard_load(&map->control->use);
    map->use = use;
    if (lard_load(&map->control->clean) == LARD_IN_USE && !alone) {
        return LARDER_OK;
    }
    int code = lard_boot_id(boot);
    if (code) {
        return lard_fail_call(error, "boot id for", path, code);
    }
    if (alone && (code = renew_use(map, path, lock, &use)) != 0) {
        return lard_fail_call(error, "write the lock file of", path, code);
    }
    lard_store(&map->control->boot_id[0], boot[0]);
    lard_store(&map->control->boot_id[1], boot[1]);
    lard_store(&map->control->uptime_ms, (uint64_t)lard_boot_uptime_ms());
    lard_store(&map->control->clean, LARD_DIRTY);
    lard_store_release(&map->control->use, use);
    map->use = use;
    if ((code = sync_control(map)) != 0) {
        lard_map_give_up(map, path);
        return lard_fail_call(error, "msync", path, code);
    }
    if (alone && (code = note_use(map, path, lock, use)) != 0) {
        return lard_fail_call(error, "write the lock file of", path, code);
    }
    lard_store(&map->control->clean, LARD_IN_USE);
    return LARDER_OK;
}

larder_status lard_use_mark_dirty(lard_map *map) {
    if (lard_load(&map->control->clean) == LARD_IN_USE) {
        return LARDER_OK;
    }
    lard_store(&map->control->clean, LARD_DIRTY);
    if (sync_control(map) != 0) {
        lard_map_supersede(map);
        return LARDER_DAMAGED;
    }
    return LARDER_OK;
}

/*
 * Writes the file to disk, then stores a new use number and the clean mark, then writes those to disk. No mark is
 * set if the file was changed in between. A copy that was made before has the number of the period that ends here.
 */
larder_status lard_use_end(lard_map *map, const char *path, const lard_lockfile *lock) {
    uint32_t closing = LARD_CLOSING;
    uint64_t use;
    if (map->poisoned) {
        return LARDER_DAMAGED;
    }
    lard_store(&map->control->clean, closing);
    lard_fence();
    if (lard_page_sync(map->base, 0, map->bytes) != 0) {
        return LARDER_DAMAGED;
    }
    if (renew_use(map, path, lock, &use) != 0) {
        return LARDER_OK; /* as after kill -9: the file is valid, but not after a crash of the machine */
    }
    lard_store(&map->control->use, use);
    if (!lard_cas32(&map->control->clean, &closing, LARD_CLEAN)) {
        return LARDER_OK;
    }
    if (sync_control(map) != 0) {
        return LARDER_DAMAGED;
    }
    note_use(map, path, lock, use); /* if this fails, both numbers are valid until the next period begins */
    return LARDER_OK;
}
