/*
 * attach.c — attaches a handle to its file, also after a fork, a replacement or a fault.
 *
 * A handle attaches when it is opened. At its next call it attaches again in a forked child, which needs its own
 * process slot, after its file was superseded, and after its map was poisoned. The addresses of a map that the
 * handle has left stay reserved until the handle closes, because other threads may still read in it.
 *
 * The opener's lock is held while a handle attaches. The fork lock guards the handle's fields, for short times.
 */
#define _GNU_SOURCE
#include "handle/attach.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/place.h"
#include "base/random.h"
#include "file/belief.h"
#include "file/file.h"
#include "file/format.h"
#include "file/hints.h"
#include "file/map.h"
#include "file/sigbus.h"
#include "file/use.h"
#include "handle/current.h"
#include "handle/newer.h"
#include "handle/opening.h"
#include "handle/pending.h"
#include "proc/bytelock.h"
#include "proc/fork.h"
#include "proc/lockfile.h"
#include "proc/opener.h"
#include "proc/process.h"
#include "shard/discard.h"
#include "usage/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RETRY_MS 1000
#define FAULTS_IN_ROW 32            /* after 32 faults the wait before attaching doubles with each one */
#define FAULT_WAIT_MS 600000        /* the longest such wait */
#define FAULT_FREE_MS (3600 * 1000) /* after a time without faults, the count starts again */
#define OLD_FILES 8                 /* files kept open after the handle left them, for threads still in a call */
#define LOCKED_RETRY_MS 10          /* the wait after another opener held the lock for too long */
#define ATTEMPTS 8

static void forget_waits(lard_core *cache) {
    for (unsigned shard = 0; shard < LARD_MAX_SHARDS; shard++) {
        __atomic_store_n(&cache->stuck[shard], 0, __ATOMIC_RELAXED);
    }
}

/* Names a size with room for more processes, if there is one. */
static larder_status fail_no_slot(const lard_core *cache, const lard_map *map, larder_error *error) {
    lard_superblock plan = map->super;
    uint64_t bytes = map->super.file_bytes;
    while (plan.process_slots <= map->super.process_slots && lard_format_plan(bytes * 2, &plan) == LARDER_OK) {
        bytes *= 2;
    }
    return plan.process_slots > map->super.process_slots
               ? lard_fail(error, LARDER_NO_SLOT, 0, "%s (%llu MiB have room for more than its %u processes)",
                           cache->path, (unsigned long long)bytes >> 20, lard_process_room(map))
               : lard_fail(error, LARDER_NO_SLOT, 0, "%s (no file has room for more than %u processes)",
                           cache->path, lard_process_room(map));
}

static larder_status fail_claim(lard_core *cache, const lard_map *map, larder_status status, larder_error *error) {
    return status == LARDER_SYSTEM ? lard_fail_call(error, "lock a process slot of", cache->path, errno)
                                   : fail_no_slot(cache, map, error);
}

/* errno has the reason. */
static larder_status fail_unknown_users(const char *path, larder_error *error) {
    int code = errno;
    return lard_fail(error, LARDER_SYSTEM, code,
                     "%s: its locks cannot be read, so it is unknown who uses the cache (%s); see what closes or "
                     "removes the file, and try again",
                     path, strerror(code));
}

/* A host may replace the file every minute for years. So only the addresses of all but the last few maps are kept.
 */
static void release_old_files(lard_core *cache) {
    unsigned kept = 0;
    for (lard_map *map = cache->old_maps; map; map = map->older) {
        if (kept++ >= OLD_FILES) {
            lard_map_close_file(map);
            lard_opening_leave(map);
            if (!lard_sigbus_blank(map)) {
                return; /* older ones were closed before */
            }
        }
    }
}

/* A forked child keeps the row of its parent: it must not clear the file for a configuration that its parent found
 * no room for. */
static void adopt_row(larder *handle, lard_map *map) {
    if (handle->belief && handle->adopted != map) {
        handle->adopted = map;
        lard_belief_adopt(handle->belief, map);
    }
}

/* Makes `map` the handle's map. The old one stays mapped: other threads may be inside. */
static void switch_to(lard_core *cache, const lard_lockfile *file, lard_map *map, lard_process_claimed *claim) {
    lard_map *old = cache->map == map ? NULL : cache->map;
    lard_hints_take_row(map, claim->slot);
    lard_process_begin(map, claim);
    lard_fork_lock(); /* no fork sees half of this */
    if (old && claim->lock.held && lard_bytelock_is_ours(&cache->slot_lock)) {
        old->former_slot_lock = cache->slot_lock;
    }
    if (file->fd != cache->lock.fd && !lard_bytelock_is_posix(&cache->lock)) {
        lard_lockfile_close(&cache->lock);
    } else if (file->fd != cache->lock.fd && old) {
        old->keeps_lockfile = true;
    }
    lard_sampler_begin_child(cache);
    lard_process_adopt(cache, file, map, claim);
    lard_pending_apply(cache, map);
    for (larder *handle = cache->handles; handle; handle = handle->next) {
        adopt_row(handle, map);
    }
    if (old) {
        lard_discard(old);
        old->older = cache->old_maps;
        cache->old_maps = old;
        release_old_files(cache);
    }
    forget_waits(cache);
    cache->arriving = NULL;
    __atomic_store_n(&cache->map, map, __ATOMIC_RELEASE);
    __atomic_store_n(&cache->fork_number, lard_fork_number(), __ATOMIC_RELEASE);
    lard_fork_unlock();
}

/* Removes the map from the handle first: a child that is forked in between must not unmap it again. */
static void drop_arriving(lard_core *cache) {
    lard_fork_lock();
    lard_map *map = cache->arriving;
    cache->arriving = NULL;
    lard_fork_unlock();
    if (map) {
        lard_map_free(map);
    }
}

/* Without a lock file no cache file fits, but there may be another reason not to use the path. Checks that first,
 * so that no lock file is created beside a file that is not Larder's. */
static larder_status look_without_lockfile(lard_core *cache, larder_error *error) {
    lard_lockfile_content content;
    int code = lard_random(&content, sizeof content);
    return code ? lard_fail_call(error, "random bytes for", cache->path, code)
                : lard_file_open(cache->path, 0, NULL, &content, true, &cache->arriving, error);
}

/* Opens the cache file. One that this handle had open and that somebody truncated and grew again looks like a
 * stranger's once anything was stored in it: it is replaced. */
static larder_status open_file(lard_core *cache, uint64_t size_bytes, const lard_lockfile_content *content,
                               bool alone, larder_error *error) {
    larder_status status = lard_file_open(cache->path, size_bytes, NULL, content, alone, &cache->arriving, error);
    if (status == LARDER_NOT_LARDER && size_bytes && cache->map &&
        lard_map_lost_superblocks(cache->map, cache->path)) {
        lard_map_give_up(cache->map, cache->path);
        memset(error, 0, sizeof *error);
        status = lard_file_open(cache->path, size_bytes, NULL, content, alone, &cache->arriving, error);
    }
    return status;
}

/* As above. A process of this version that has called nothing since the newer version came, such as the parent of
 * preloaded workers, still has its slot: so this process is not alone when the newer version has gone. */
static larder_status open_after_newer(lard_core *cache, uint64_t size_bytes, const lard_opening *opening,
                                      const lard_lockfile_content *content, bool alone, larder_error *error) {
    larder_status status = open_file(cache, size_bytes, content, alone, error);
    if (status == LARDER_NEWER_VERSION && lard_newer_was_left(cache, &opening->file, opening->path)) {
        memset(error, 0, sizeof *error);
        status = open_file(cache, size_bytes, content, true, error);
    }
    return status;
}

/* Opens the cache file, claims a slot, and sets cache->map. The opener's lock is held. */
static larder_status attach_in(lard_core *cache, uint64_t size_bytes, const lard_opening *opening,
                               larder_error *error) {
    lard_lockfile_content content;
    lard_process_claimed claim;
    const lard_lockfile *file = &opening->file;
    larder_status status = lard_lockfile_read(file, opening->path, &content, error);
    if (status != LARDER_OK) {
        return status;
    }
    if (cache->map) {
        lard_discard(cache->map); /* the next file may need the space */
    }
    int alone = lard_process_is_alone(cache, file, opening->path);
    status = alone < 0 ? fail_unknown_users(opening->path, error)
                       : open_after_newer(cache, size_bytes, opening, &content, alone, error);
    lard_map *map = cache->arriving;
    if (status == LARDER_OK && (status = lard_use_begin(map, cache->path, file, alone, error)) != LARDER_OK) {
        drop_arriving(cache);
    }
    if (status == LARDER_OK) {
        status = lard_process_claim(cache, file, opening->path, map, &claim);
        if (status != LARDER_OK) {
            fail_claim(cache, map, status, error);
            drop_arriving(cache);
        }
    }
    if (status == LARDER_OK) {
        switch_to(cache, file, map, &claim);
    }
    return status;
}

/* Opens the lock file and the cache file. Size 0: creates no cache file. */
static larder_status try_to_attach(lard_core *cache, uint64_t size_bytes, int64_t wait_ms, larder_error *error) {
    char path[LARD_LOCK_PATH_MAX];
    struct stat info;
    lard_opening opening;

    drop_arriving(cache); /* left by a parent that was attaching when it forked */
    int there = lard_lockfile_look(cache->path, path, &info);
    if (there < 0) {
        return lard_fail_call(error, "stat", path, errno);
    }
    larder_status status = there ? LARDER_OK : look_without_lockfile(cache, error);
    bool is_ours = status == LARDER_NOT_THERE || status == LARDER_UNFIT;
    if (!there && size_bytes && is_ours) {
        status = lard_place_make(cache->path, error);
    }
    if (status != LARDER_OK) {
        return status;
    }
    status = lard_opening_begin(cache, LARD_TO_CREATE, wait_ms, &opening, error);
    if (status == LARDER_OK) {
        status = attach_in(cache, size_bytes, &opening, error);
        lard_opening_end(cache, &opening);
    }
    return status;
}

/* Attaches to the file at the path. Tries again if meanwhile files were removed or descriptors were closed. */
static larder_status attach_to_path(lard_core *cache, uint64_t size_bytes, int64_t wait_ms, larder_error *error) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        larder_status status = try_to_attach(cache, size_bytes, wait_ms, error);
        if (status != LARDER_SYSTEM || (error->system_errno != ESTALE && error->system_errno != EBADF)) {
            return status;
        }
        memset(error, 0, sizeof *error);
    }
    return lard_fail(
        error, LARDER_LOCKED, 0,
        "%s: its files were removed, or their descriptors closed, %d times while they were opened; stop "
        "what does that",
        cache->path, ATTEMPTS);
}

/* Attaches a forked child: it keeps the map and needs its own slot. The parent may have detached and marked the
 * file clean. SUPERSEDED: the file was replaced, perhaps while this process waited for the lock. */
static larder_status attach_child(lard_core *cache, int64_t wait_ms, larder_error *error) {
    lard_opening opening;
    lard_process_claimed claim;
    larder_status status = lard_opening_begin(cache, LARD_TO_ATTACH, wait_ms, &opening, error);
    if (status != LARDER_OK) {
        return status;
    }
    int alone = lard_process_is_alone(cache, &opening.file, opening.path);
    status = !lard_opening_is_for(&opening, cache->map, cache->path)
                 ? lard_fail(error, LARDER_SUPERSEDED, 0, "%s", cache->path)
             : alone < 0 ? fail_unknown_users(opening.path, error)
                         : lard_use_begin(cache->map, cache->path, &opening.file, alone, error);
    if (status == LARDER_OK) {
        status = lard_process_claim(cache, &opening.file, opening.path, cache->map, &claim);
        status = status == LARDER_OK ? status : fail_claim(cache, cache->map, status, error);
    }
    if (status == LARDER_OK) {
        switch_to(cache, &opening.file, cache->map, &claim);
    }
    lard_opening_end(cache, &opening);
    return status;
}

/*
 * The wait before the next attempt. Each fault costs a map, because other threads may still be inside. A full disk
 * under a copy-on-write file system may fault for days, so after many faults the waits grow.
 */
static int64_t wait_after_fault(lard_core *cache, int64_t now_ms) {
    cache->faults = now_ms - cache->last_fault_ms < FAULT_FREE_MS ? cache->faults + 1 : 1;
    cache->last_fault_ms = now_ms;
    unsigned doublings = cache->faults > FAULTS_IN_ROW ? cache->faults - FAULTS_IN_ROW : 0;
    return doublings < 10 ? (int64_t)RETRY_MS << doublings : FAULT_WAIT_MS;
}

static larder_status reattach(lard_core *cache, uint64_t size_bytes, int64_t wait_ms, larder_error *error) {
    lard_map *map = cache->map;
    if (cache->refusal.status != LARDER_OK) {
        *error = cache->refusal;
        return cache->refusal.status;
    }
    if (lard_map_is_fit(map)) {
        larder_status status = attach_child(cache, wait_ms, error);
        if (status != LARDER_SYSTEM && status != LARDER_SUPERSEDED && status != LARDER_NOT_THERE) {
            return status;
        }
        memset(error, 0, sizeof *error); /* the file or its lock file was replaced, or is gone */
    }
    if (map && (map->poisoned || (lard_map_is_fit(map) && lard_map_was_replaced(map, cache->path)))) {
        lard_map_supersede(map); /* so that other processes leave it, too */
    }
    return attach_to_path(cache, size_bytes, wait_ms, error);
}

bool lard_attach_begin(lard_core *cache, bool *attached) {
    lard_fork_lock();
    *attached = lard_current_map(cache) != NULL;
    bool mine = !*attached && cache->attaching != lard_fork_number();
    if (mine) {
        cache->attaching = lard_fork_number();
    }
    lard_fork_unlock();
    return mine;
}

static void end_attaching(lard_core *cache, bool faulted, const larder_error *outcome, int64_t started_ms) {
    larder_status status = outcome->status;
    bool attached = status == LARDER_OK;
    lard_fork_lock();
    cache->failure = *outcome;
    int64_t wait_ms = faulted && attached       ? wait_after_fault(cache, started_ms)
                      : status == LARDER_LOCKED ? LOCKED_RETRY_MS
                                                : RETRY_MS;
    /* Counted from now, not from the start: the attempt itself may have taken as long as the wait. */
    cache->retry_attach_ms = attached && !faulted ? 0 : lard_clock_monotonic_ms() + wait_ms;
    cache->retry_fork_number = lard_fork_number();
    cache->attaching = 0;
    lard_fork_unlock();
}

void lard_attach_end(lard_core *cache, const larder_error *failure) {
    lard_fork_lock();
    if (failure) {
        cache->failure = *failure;
    }
    cache->attaching = 0;
    lard_fork_unlock();
}

/* Attaches, or waits for the thread that does. */
static larder_status attach_once(lard_core *cache, uint64_t size_bytes, int64_t wait_ms, larder_error *error) {
    int64_t start = lard_clock_monotonic_ms();
    bool done;
    while (!lard_attach_begin(cache, &done)) {
        int64_t waited = lard_clock_monotonic_ms() - start;
        if (done) {
            return LARDER_OK;
        }
        if (waited < 0 || waited > wait_ms) {
            return lard_fail(error, LARDER_LOCKED, 0, "%s", cache->path);
        }
        lard_clock_sleep_ms(1);
    }
    bool faulted = cache->map && cache->map->poisoned;
    error->status = reattach(cache, size_bytes, wait_ms, error);
    end_attaching(cache, faulted, error, start);
    return error->status;
}

larder_status lard_attach(lard_core *cache, int64_t wait_ms, larder_error *error) {
    larder_error mine;
    error = error ? error : &mine;
    memset(error, 0, sizeof *error);
    lard_sigbus_enter();
    lard_map *map = __atomic_load_n(&cache->map, __ATOMIC_ACQUIRE);
    bool existing = __atomic_load_n(&cache->existing, __ATOMIC_ACQUIRE);
    uint64_t size = existing ? 0 : map ? map->super.file_bytes : cache->requested_bytes;
    return attach_once(cache, size, wait_ms, error);
}

/* Clears the file to get a row, unless the map is another file's by now. */
static void adopt_locked(larder *handle, lard_map *map, int64_t wait_ms) {
    char path[LARD_LOCK_PATH_MAX];
    lard_bytelock opener;
    lard_lockfile *lock = &handle->core->lock;
    lard_lockfile_path(handle->core->path, path);
    if (lard_opener_lock(lock, path, wait_ms, &opener, NULL) == LARDER_OK) {
        lard_fork_lock();
        if (lard_map_is_fit(map) && lard_lockfile_is_at(lock, path) == 1) {
            adopt_row(handle, map);
        }
        lard_fork_unlock();
        lard_bytelock_drop(&opener, lock);
    }
}

void lard_attach_adopt(larder *handle, int64_t wait_ms) {
    lard_map *map = handle->belief ? lard_current_map(handle->core) : NULL;
    lard_fork_lock();
    bool has_looked = handle->adopted == map;
    lard_fork_unlock();
    if (!map || has_looked) {
        return;
    }
    if (lard_belief_row_now(handle->belief, map) == LARD_ROW_NONE) {
        adopt_locked(handle, map, wait_ms);
        return;
    }
    lard_fork_lock();
    handle->adopted = map;
    lard_fork_unlock();
}

bool lard_attach_is_due(const lard_core *cache) {
    return !cache->retry_attach_ms ||
           lard_clock_is_due(lard_clock_monotonic_ms(), cache->retry_attach_ms, FAULT_WAIT_MS) ||
           (lard_map_is_fit(cache->map) && cache->retry_fork_number != lard_fork_number());
}
