/*
 * map.c — maps and unmaps a cache file, and marks it so that processes leave it.
 */
#define _GNU_SOURCE
#include "file/map.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/fail.h"
#include "base/filesystem.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/random.h"
#include "base/space.h"
#include "file/advice.h"
#include "file/format.h"
#include "file/hints.h"
#include "file/sigbus.h"
#include "proc/bytelock.h"
#include "proc/fork.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int lard_map_supersede_fd(int fd) {
    struct stat info;
    const uint32_t mark = LARD_SUPERSEDED;
    if (fstat(fd, &info) != 0) {
        return errno;
    }
    if ((uint64_t)info.st_size < LARD_CONTROL_OFFSET + sizeof mark) {
        return 0; /* processes that have it mapped get a SIGBUS there */
    }
    return lard_io_write(fd, &mark, sizeof mark, LARD_CONTROL_OFFSET + offsetof(lard_control, superseded));
}

int lard_map_descriptor(const lard_map *map, struct stat *info) {
    int fd = __atomic_load_n(&map->fd, __ATOMIC_RELAXED);
    bool own = fd >= 0 && fstat(fd, info) == 0 && (uint64_t)info->st_dev == map->device &&
               (uint64_t)info->st_ino == map->inode;
    return own ? fd : -1;
}

void lard_map_close_file(lard_map *map) {
    struct stat info;
    int fd = lard_map_descriptor(map, &info);
    __atomic_store_n(&map->fd, -1, __ATOMIC_RELAXED);
    if (fd >= 0) {
        close(fd);
    }
}

void lard_map_supersede(lard_map *map) {
    struct stat info;
    if (!map->poisoned) {
        lard_store(&map->control->superseded, LARD_SUPERSEDED);
    }
    int fd =
        map->poisoned ? lard_map_descriptor(map, &info) : -1; /* a fault in the store above may have poisoned it */
    if (fd >= 0) {
        lard_map_supersede_fd(fd);
    }
}

bool lard_map_was_replaced(const lard_map *map, const char *path) {
    struct stat info;
    if (stat(path, &info) == 0) {
        return (uint64_t)info.st_ino != map->inode || (uint64_t)info.st_dev != map->device;
    }
    return errno == ENOENT && lard_map_descriptor(map, &info) >= 0 && info.st_nlink == 0;
}

bool lard_map_is_at(const lard_map *map, const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && (uint64_t)info.st_ino == map->inode && (uint64_t)info.st_dev == map->device;
}

bool lard_map_lost_superblocks(const lard_map *map, const char *path) {
    uint8_t pages[LARD_CONTROL_OFFSET];
    struct stat info;
    size_t got = 0;
    int fd = lard_map_descriptor(map, &info);
    bool lost = fd >= 0 && !lard_map_was_replaced(map, path) &&
                lard_io_read(fd, pages, sizeof pages, 0, &got) == 0 && got == sizeof pages;
    for (size_t i = 0; lost && i < got; i++) {
        lost = pages[i] == 0;
    }
    return lost && lard_map_descriptor(map, &info) >= 0;
}

/* The directory caches of all shards. False: no memory. */
static bool make_dircache(lard_map *map) {
    size_t shards = map->super.shard_count, most = map->super.segments_per_shard;
    size_t bytes = sizeof(lard_dircache) + sizeof(lard_renewal) + most * sizeof(uintptr_t); /* of a shard */
    map->dircache = calloc(shards, bytes);
    if (!map->dircache) {
        return false;
    }
    map->renewals = (lard_renewal *)(map->dircache + shards);
    for (size_t s = 0; s < shards; s++) {
        map->dircache[s].pages = (uintptr_t *)(map->renewals + shards) + s * most;
    }
    return true;
}

static uint32_t maps_made; /* under the fork lock */

/* Maps the first bytes of a file; they are not guarded yet. The fork lock is held. */
static larder_status map_bytes(int fd, uint64_t bytes, const struct stat *info, const char *path, lard_map **out,
                               larder_error *error) {
    lard_map *map = calloc(1, sizeof *map);
    if (!map) {
        return lard_fail(error, LARDER_NO_MEMORY, ENOMEM, "%s", path);
    }
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int code = base == MAP_FAILED ? errno : lard_descriptor_check(fd, info);
    if (code) {
        if (base != MAP_FAILED) {
            munmap(base, bytes);
        }
        free(map);
        return lard_fail_call(error, "mmap", path, code);
    }
    map->base = base;
    map->bytes = bytes;
    map->control = (lard_control *)(map->base + LARD_CONTROL_OFFSET);
    map->fd = fd;
    map->number = ++maps_made;
    map->device = (uint64_t)info->st_dev;
    map->inode = (uint64_t)info->st_ino;
    *out = map;
    return LARDER_OK;
}

/* Its guard is released, or it has none. The descriptor stays. */
static void unmap(lard_map *map) {
    lard_hints_close(map);
    munmap(map->base, map->bytes);
    free(map->dircache);
    free(map);
}

/* Guards the map. If that fails, unmaps it. The fork lock is held. */
static larder_status guard(lard_map *map, const char *path, larder_error *error) {
    larder_status status = lard_sigbus_guard(map, map->base, map->bytes, path, error);
    if (status != LARDER_OK) {
        unmap(map);
    }
    return status;
}

larder_status lard_map_control(int fd, const struct stat *info, const char *path, lard_map **out,
                               larder_error *error) {
    lard_fork_lock();
    larder_status status = map_bytes(fd, LARD_PROCESS_OFFSET, info, path, out, error);
    status = status == LARDER_OK ? guard(*out, path, error) : status;
    lard_fork_unlock();
    return status;
}

larder_status lard_map_new(int fd, const struct stat *info, const lard_superblock *super, const char *path,
                           lard_map **out, larder_error *error) {
    lard_map *map = NULL;
    lard_fork_lock(); /* a child that is forked meanwhile has all of the map or nothing */
    larder_status status = map_bytes(fd, super->file_bytes, info, path, &map, error);
    if (status == LARDER_OK) {
        map->super = *super;
        map->is_on_disk = !lard_filesystem_is_memory(fd);
        map->processes = (lard_process *)(map->base + LARD_PROCESS_OFFSET);
        map->shards = map->base + super->shard_offset;
        lard_format_derive(map);
        if (!make_dircache(map)) {
            unmap(map);
            status = lard_fail(error, LARDER_NO_MEMORY, ENOMEM, "%s", path);
        }
    }
    status = status == LARDER_OK ? guard(map, path, error) : status;
    if (status == LARDER_OK) {
        lard_advice_map(map);
        *out = map;
    }
    lard_fork_unlock();
    return status;
}

/* A random number, which is not an earlier epoch but by chance. Two bits of it differ from the current one, so
 * that no flipped bit makes one of the other: a shard that is not emptied yet would be read again. */
static uint32_t next_epoch(uint32_t epoch) {
    uint32_t next;
    if (lard_random(&next, sizeof next) != 0) {
        next = (uint32_t)lard_hash_mix(epoch + ((uint64_t)lard_clock_ms() << 32));
    }
    while (next == 0 || __builtin_popcount(next ^ epoch) < 2) {
        next += 0x9e3779b9u;
    }
    return next;
}

void lard_map_clear(lard_map *map) {
    uint32_t epoch = lard_load(&map->control->clear_epoch);
    while (!lard_cas32(&map->control->clear_epoch, &epoch, next_epoch(epoch))) {
    }
}

void lard_map_give_up(lard_map *map, const char *path) {
    struct stat mine, named;
    lard_map_supersede(map);
    if (lard_map_descriptor(map, &mine) >= 0 && lstat(path, &named) == 0 && named.st_ino == mine.st_ino &&
        named.st_dev == mine.st_dev) {
        LARD_CHANGE(unlink(path));
    }
}

void lard_map_free(lard_map *map) {
    lard_bytelock_drop(&map->former_slot_lock, &map->lock);
    lard_sigbus_release(map);
    lard_map_close_file(map);
    unmap(map);
}
