/*
 * open.c — larder_open, larder_close and larder_path: opens, shares and closes handles.
 *
 * A process has one core per file, in a list that the fork lock guards (registry.c, fork.c), and one handle per
 * configuration of it. Opening a file again with the same configuration returns the same handle with one more
 * reference; the last larder_close closes it, and the core with the last handle. The lock is not held while a core
 * attaches or writes its file back.
 */
#define _GNU_SOURCE
#include "base/crc.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/page.h"
#include "base/place.h"
#include "file/format.h"
#include "file/map.h"
#include "file/sigbus.h"
#include "file/use.h"
#include "handle/attach.h"
#include "handle/enter.h"
#include "handle/opening.h"
#include "handle/pending.h"
#include "handle/registry.h"
#include "proc/bytelock.h"
#include "proc/fork.h"
#include "proc/lockfile.h"
#include "proc/opener.h"
#include "proc/process.h"
#include "usage/fold.h"
#include "usage/sampler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_LOCK_TIMEOUT_MS 200
#define OPEN_WAIT_MS 5000 /* for another opener */

/* Makes the path absolute, so that a daemon that changes its directory can still attach again. On failure `out`
 * may not be absolute. */
static larder_status absolute(const char *path, char out[LARD_PATH_MAX], larder_error *error) {
    int written = snprintf(out, LARD_PATH_MAX, "%s", path);
    if (path[0] != '/') {
        char here[LARD_PATH_MAX];
        if (!getcwd(here, sizeof here)) {
            return lard_fail_call(error, "current directory for", path, errno);
        }
        written = snprintf(out, LARD_PATH_MAX, "%s/%s", here, path);
    }
    if (written < 0 || written + 8 > LARD_PATH_MAX) {
        return lard_fail(error, LARDER_PATH_TOO_LONG, ENAMETOOLONG, "%.200s…", path);
    }
    return LARDER_OK;
}

static bool is_known(const larder_options *options) {
    uint32_t set = options && (options->existing > 1 || options->attach_later > 1 || options->keep_newer > 1 ||
                               options->statistics > 1);
    for (size_t i = 0; options && i < sizeof options->reserved / sizeof *options->reserved; i++) {
        set |= options->reserved[i];
    }
    return set == 0;
}

static lard_core *new_core(const char *path) {
    size_t length = strlen(path) + 1;
    lard_core *cache = calloc(1, sizeof *cache + length);
    if (!cache) {
        return NULL;
    }
    cache->stuck = calloc(LARD_MAX_SHARDS, sizeof *cache->stuck);
    if (!cache->stuck) {
        free(cache);
        return NULL;
    }
    memcpy(cache->path, path, length);
    cache->lock.fd = cache->slot_lock.fd = -1;
    return cache;
}

static void free_core(lard_core *cache) {
    while (cache->old_maps) {
        lard_map *map = cache->old_maps;
        cache->old_maps = map->older;
        lard_map_free(map);
    }
    if (cache->arriving) { /* in a child that was forked while its parent attached */
        lard_map_free(cache->arriving);
    }
    if (cache->map) {
        lard_map_free(cache->map);
    }
    lard_lockfile_close(&cache->lock);
    lard_pending_free(cache);
    lard_sampler_free(cache);
    free(cache->stuck);
    free(cache);
}

/* The core of this path, even if its file is gone, or of the file at this path under another path. */
static lard_core *known_core(const char *path) {
    char lock[LARD_LOCK_PATH_MAX];
    struct stat info;
    lard_core *known = lard_registry_find_path(path);
    if (!known && lard_lockfile_look(path, lock, &info) == 1) {
        known = lard_registry_find_lockfile((uint64_t)info.st_dev, (uint64_t)info.st_ino);
    }
    return known;
}

static uint64_t size_of(const larder_options *options) {
    return options && options->size_bytes ? options->size_bytes : LARDER_DEFAULT_SIZE;
}

/* A handle of the application creates the file, also if a handle that only looks was opened before. */
static void allow_creation(lard_core *cache, const larder_options *options) {
    if (cache->existing) {
        cache->requested_bytes = size_of(options);
        __atomic_store_n(&cache->existing, false, __ATOMIC_RELEASE);
    }
}

static lard_core *take_core(const char *path, const larder_options *options, const larder_error *refusal) {
    lard_core *cache = refusal->status == LARDER_OK ? known_core(path) : NULL;
    if (!cache && (cache = new_core(path)) != NULL) {
        cache->lock_timeout_ms =
            options && options->lock_timeout_ms ? options->lock_timeout_ms : DEFAULT_LOCK_TIMEOUT_MS;
        cache->requested_bytes = size_of(options);
        cache->existing = options && options->existing;
        cache->keep_newer = options && options->keep_newer;
        cache->refusal = *refusal;
        cache->attaches_explicitly = options && options->attach_later;
        lard_registry_add(cache);
    } else if (cache && !(options && options->existing)) {
        allow_creation(cache, options);
    }
    return cache;
}

static void free_core_without_handles(lard_core *cache) {
    if (cache && !cache->handles) {
        lard_registry_remove(cache);
        free_core(cache);
    }
}

static larder *known_handle(const lard_core *cache, uint64_t configuration) {
    larder *handle = cache->handles;
    while (handle && handle->own.digest != configuration) {
        handle = handle->next;
    }
    return handle;
}

static larder *new_handle(lard_core *cache, uint64_t configuration) {
    larder *handle = calloc(1, sizeof *handle);
    if (handle) {
        handle->core = cache;
        handle->own.digest = configuration;
        handle->belief = configuration ? &handle->own : NULL;
        handle->next = cache->handles;
        cache->handles = handle;
    }
    return handle;
}

/* With a refusal the handle is one of its own that never attaches. */
static larder_status take_handle(const char *path, const larder_options *options, const larder_error *refusal,
                                 larder **out) {
    uint64_t configuration = options ? options->configuration : 0;
    lard_fork_lock();
    lard_core *cache = lard_fork_watch() ? take_core(path, options, refusal) : NULL;
    larder *handle = cache ? known_handle(cache, configuration) : NULL;
    if (cache && options && options->statistics && !lard_sampler_start(cache)) {
        free_core_without_handles(cache);
        cache = NULL;
        handle = NULL;
    }
    if (cache && !handle) {
        handle = new_handle(cache, configuration);
    }
    if (handle) {
        handle->references++;
    } else {
        free_core_without_handles(cache);
    }
    lard_fork_unlock();
    *out = handle;
    return handle ? LARDER_OK : LARDER_NO_MEMORY;
}

larder_status larder_open(const char *path, const larder_options *options, larder **out, larder_error *error) {
    char full[LARD_PATH_MAX];
    lard_crc_init_once(); /* every handle comes from here, so no call with a handle needs to */
    if (error) {
        memset(error, 0, sizeof *error);
    }
    if (!path || !*path || !out) {
        return lard_fail(error, LARDER_INVALID, 0, "larder_open needs a path and a place for the handle");
    }
    if (!is_known(options)) {
        return lard_fail(error, LARDER_INVALID, 0, "%s: larder_options: set what is reserved to zero", path);
    }
    lard_superblock plan;
    uint64_t size = size_of(options);
    larder_status status = lard_format_plan(size, &plan);
    if (status != LARDER_OK) {
        return lard_fail(error, status, 0, "%s: size %llu bytes", path, (unsigned long long)size);
    }
    larder_error refusal = {.status = LARDER_OK};
    status = absolute(path, full, &refusal);
    if (status != LARDER_OK && !(options && options->attach_later)) {
        if (error) {
            *error = refusal;
        }
        return status;
    }
    larder *cache;
    status = take_handle(full, options, &refusal, &cache);
    if (status != LARDER_OK) {
        return lard_fail(error, status, ENOMEM, "%s", path);
    }
    if (__atomic_load_n(&cache->core->map, __ATOMIC_ACQUIRE)) {
        /* Another file may be at the path since the last look. */
        __atomic_store_n(&cache->core->next_look_ms, 0, __ATOMIC_RELAXED);
        lard_enter_after_look(cache->core);
        lard_attach_adopt(cache, OPEN_WAIT_MS);
    } else if (!(options && options->attach_later)) {
        status = lard_attach(cache->core, OPEN_WAIT_MS, error);
    }
    if (status != LARDER_OK) {
        larder_close(cache);
        return status;
    }
    *out = cache;
    return LARDER_OK;
}

static bool is_last(const lard_core *cache, const char *path) {
    return lard_map_is_fit(cache->map) && lard_process_is_alone(cache, &cache->lock, path) == 1;
}

/*
 * Marks the file clean if no other process has it open. Most of it is written back before that with no lock held,
 * so that neither openers nor forks wait for the disk.
 */
static void detach(lard_core *cache) {
    char path[LARD_LOCK_PATH_MAX];
    lard_bytelock opener;
    lard_map *map = cache->map;
    lard_lockfile_path(cache->path, path);
    if (lard_map_is_fit(map)) {
        lard_process_keep_all_counts(map, lard_clock_ms());
    }
    bool lost = is_last(cache, path) && lard_page_sync(map->base, 0, map->bytes) != 0;
    if (lost) { /* no later sync would report the loss */
        lard_map_supersede(map);
    }
    bool entered = lard_opener_lock(&cache->lock, path, OPEN_WAIT_MS, &opener, NULL) == LARDER_OK;
    if (entered && (lost || (is_last(cache, path) && lard_use_end(map, cache->path, &cache->lock) != LARDER_OK))) {
        lard_map_give_up(map, cache->path);
    }
    lard_process_release(cache);
    if (entered) {
        lard_bytelock_drop(&opener, &cache->lock);
    }
}

/* Removes the handle from its core. True: the core has no other, and no further handle finds it. Under the fork
 * lock. */
static bool leave_core(larder *handle) {
    lard_core *cache = handle->core;
    for (larder **at = &cache->handles; *at; at = &(*at)->next) {
        if (*at == handle) {
            *at = handle->next;
            break;
        }
    }
    if (!cache->handles) {
        cache->closing = lard_fork_number() + 1;
    }
    return !cache->handles;
}

void larder_close(larder *handle) {
    if (!handle) {
        return;
    }
    lard_core *cache = handle->core;
    lard_sigbus_enter();
    lard_fork_lock();
    if (--handle->references > 0) {
        lard_fork_unlock();
        return;
    }
    bool is_last_handle = leave_core(handle);
    lard_fork_unlock();
    free(handle);
    if (!is_last_handle) {
        return;
    }
    if (cache->map && lard_bytelock_is_ours(&cache->slot_lock)) { /* otherwise the slot is the parent's */
        larder_error ignored;
        lard_fold_now(cache, LARDER_USAGE_WAIT_MS, &ignored);
        detach(cache);
    }
    lard_fork_lock(); /* until then a thread that opens the file waits, where it has to: see handle/opening.c */
    lard_lockfile_close(&cache->lock);
    lard_registry_remove(cache);
    for (lard_map *map = cache->old_maps; map; map = map->older) {
        lard_opening_leave(map);
    }
    lard_fork_unlock();
    free_core(cache);
}

const char *larder_path(const larder *cache) { return cache->core->path; }
