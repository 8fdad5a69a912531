/*
 * handle.c — handles: opening, sharing, closing.
 *
 * One handle a process and lock file, in a registry guarded by one mutex that
 * fork handlers hold across fork. Who opens a file again is given the same handle;
 * it closes when all have closed it.
 */
#define _GNU_SOURCE
#include "internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_LOCK_TIMEOUT_MS 200
#define OPEN_WAIT_MS 5000 /* for another opener */

static larder *handles;

larder *lard_handle_of(uint64_t device, uint64_t inode) {
    for (larder *cache = handles; cache; cache = cache->next) {
        if (cache->lock_device == device && cache->lock_inode == inode) {
            return cache;
        }
    }
    return NULL;
}

/* Absolute, so that a daemon that leaves its directory can still attach anew. */
static larder_status absolute(const char *path, char out[PATH_MAX], larder_error *error) {
    int written;
    if (path[0] == '/') {
        written = snprintf(out, PATH_MAX, "%s", path);
    } else {
        char here[PATH_MAX];
        if (!getcwd(here, sizeof here)) {
            return lard_fail_call(error, "current directory for", path, errno);
        }
        written = snprintf(out, PATH_MAX, "%s/%s", here, path);
    }
    if (written < 0 || written + 8 > PATH_MAX) {
        return lard_fail(error, LARDER_PATH_TOO_LONG, ENAMETOOLONG, "%.200s…", path);
    }
    return LARDER_OK;
}

static larder_status make_directories(const char *path, larder_error *error) {
    char directory[PATH_MAX];
    snprintf(directory, sizeof directory, "%s", path);
    char *last = strrchr(directory, '/');
    if (!last || last == directory) {
        return LARDER_OK;
    }
    *last = '\0';
    for (char *at = directory + 1;; at++) {
        if (*at != '/' && *at != '\0') {
            continue;
        }
        char kept = *at;
        *at = '\0';
        if (LARD_CHANGE(mkdir(directory, kept ? 0777 : 0700)) != 0 && errno != EEXIST && errno != EISDIR) {
            return lard_fail_call(error, "mkdir", directory, errno);
        }
        *at = kept;
        if (!kept) {
            return LARDER_OK;
        }
    }
}

static larder *new_handle(const char *path) {
    size_t length = strlen(path) + 1;
    larder *cache = calloc(1, sizeof *cache + length);
    if (!cache) {
        return NULL;
    }
    cache->stuck = calloc(LARD_MOST_SHARDS, sizeof *cache->stuck);
    if (!cache->stuck) {
        free(cache);
        return NULL;
    }
    memcpy(cache->path, path, length);
    cache->lock_fd = -1;
    cache->references = 1;
    return cache;
}

static void free_handle(larder *cache) {
    while (cache->old_maps) {
        lard_map *map = cache->old_maps;
        cache->old_maps = map->older;
        lard_file_unmap(map);
    }
    if (cache->map) {
        lard_file_unmap(cache->map);
    }
    if (lard_lockfile_kept(cache, cache->lock_fd)) {
        close(cache->lock_fd);
    }
    free(cache->stuck);
    free(cache);
}

static larder_status open_locked(const char *path, const larder_options *options, larder **out,
                                 larder_error *error) {
    char lock[LARD_LOCK_PATH_MAX];
    struct stat info;
    int there = lard_lockfile_look(path, lock, &info);
    if (there < 0) {
        return lard_fail_call(error, "stat", lock, errno);
    }
    larder *known = there ? lard_handle_of((uint64_t)info.st_dev, (uint64_t)info.st_ino) : NULL;
    if (known) { /* never opened twice: see process.c */
        known->references++;
        *out = known;
        return LARDER_OK;
    }
    larder *cache = new_handle(path);
    if (!cache) {
        return lard_fail(error, LARDER_NO_MEMORY, ENOMEM, "%s", path);
    }
    cache->lock_timeout_ms =
        options && options->lock_timeout_ms ? options->lock_timeout_ms : DEFAULT_LOCK_TIMEOUT_MS;
    cache->requested_bytes = options && options->size_bytes ? options->size_bytes : LARDER_DEFAULT_SIZE;
    bool existing = options && options->existing;
    larder_status status = lard_attach(cache, existing ? 0 : cache->requested_bytes, OPEN_WAIT_MS, error);
    if (status != LARDER_OK) {
        free_handle(cache);
        return status;
    }
    cache->next = handles;
    handles = cache;
    *out = cache;
    return LARDER_OK;
}

larder_status larder_open(const char *path, const larder_options *options, larder **out, larder_error *error) {
    char full[PATH_MAX];
    if (error) {
        memset(error, 0, sizeof *error);
    }
    if (!path || !*path || !out) {
        return lard_fail(error, LARDER_INVALID, 0, "larder_open needs a path and a place for the handle");
    }
    lard_superblock plan;
    uint64_t size = options && options->size_bytes ? options->size_bytes : LARDER_DEFAULT_SIZE;
    larder_status status = lard_format_plan(size, &plan);
    if (status != LARDER_OK) {
        return lard_fail(error, status, 0, "%s: size %llu bytes", path, (unsigned long long)size);
    }
    status = absolute(path, full, error);
    if (status == LARDER_OK && !(options && options->existing)) {
        status = make_directories(full, error);
    }
    if (status != LARDER_OK) {
        return status;
    }
    lard_registry_lock();
    status = lard_watch_forks() ? open_locked(full, options, out, error)
                                : lard_fail(error, LARDER_NO_MEMORY, ENOMEM, "%s", path);
    lard_registry_unlock();
    return status;
}

void larder_close(larder *cache) {
    if (!cache) {
        return;
    }
    lard_registry_lock();
    if (--cache->references > 0) {
        lard_registry_unlock();
        return;
    }
    for (larder **at = &handles; *at; at = &(*at)->next) {
        if (*at == cache) {
            *at = cache->next;
            break;
        }
    }
    if (cache->fork_epoch == lard_fork_epoch &&
        lard_lockfile_kept(cache, cache->lock_fd)) { /* else the slot is the parent's, or lost */
        bool entered = lard_lockfile_enter(cache->lock_fd, OPEN_WAIT_MS, NULL, cache->path) == LARDER_OK;
        if (entered && lard_lockfile_alone(cache->lock_fd) == 1 && !lard_load(&cache->map->control->superseded) &&
            lard_file_sync(cache->map) != LARDER_OK) {
            lard_file_give_up(cache->map, cache->path);
        }
        lard_process_release(cache);
        if (entered) {
            lard_lockfile_leave(cache->lock_fd);
        }
    }
    free_handle(cache);
    lard_registry_unlock();
}

const char *larder_path(const larder *cache) { return cache->path; }

uint64_t larder_size(const larder *cache) {
    lard_map *map = __atomic_load_n(&cache->map, __ATOMIC_ACQUIRE);
    return map ? map->super.file_bytes : 0;
}
