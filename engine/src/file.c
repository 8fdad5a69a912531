/*
 * file.c — the cache file: created, mapped, replaced, given back.
 *
 * Called with the opener's lock held (process.c), so that no two processes create
 * or replace at once. Superblock A is written last: a file whose creator was
 * killed has none and is made anew. What to do with a file that is there is decided in
 * validate.c.
 */
#define _GNU_SOURCE
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

larder_status lard_fail(larder_error *error, larder_status status, int system_errno, const char *format, ...) {
    if (error) {
        va_list arguments;
        error->status = status;
        error->system_errno = system_errno;
        va_start(arguments, format);
        vsnprintf(error->detail, sizeof error->detail, format, arguments);
        va_end(arguments);
    }
    return status;
}

larder_status lard_fail_call(larder_error *error, const char *call, const char *path, int code) {
    larder_status status = code == ENOSPC || code == EDQUOT || code == EFBIG  ? LARDER_NO_SPACE
                           : code == ELOOP || code == EISDIR || code == ENXIO ? LARDER_NOT_REGULAR
                                                                              : LARDER_SYSTEM;
    return lard_fail(error, status, code, "%s %s: %s", call, path, strerror(code));
}

int lard_file_write(int fd, const void *data, size_t bytes, uint64_t at) {
    const char *from = data;
    if (!lard_file_may_reach(at + bytes)) {
        return EFBIG;
    }
    while (bytes) {
        ssize_t done = LARD_CHANGE(pwrite(fd, from, bytes, (off_t)at));
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return done < 0 ? errno : ENOSPC;
        }
        from += done;
        at += (uint64_t)done;
        bytes -= (size_t)done;
    }
    return 0;
}

int lard_file_read(int fd, void *out, size_t bytes, uint64_t at, size_t *got) {
    for (*got = 0; *got < bytes;) {
        ssize_t done = pread(fd, (char *)out + *got, bytes - *got, (off_t)(at + *got));
        if (done < 0 && errno != EINTR) {
            return errno;
        }
        if (done == 0) {
            break;
        }
        *got += done > 0 ? (size_t)done : 0;
    }
    return 0;
}

/* Superblock A last. */
static int write_heads(int fd, const lard_control *control, const lard_superblock *super) {
    int code = lard_file_write(fd, control, sizeof *control, LARD_CONTROL_OFFSET);
    code = code ? code : lard_file_write(fd, super, sizeof *super, LARD_PAGE);
    return code ? code : lard_file_write(fd, super, sizeof *super, 0);
}

/*
 * To disk with the superblocks and with the names in the directory, before anyone stores: whatever the power
 * leaves of the rest is then Larder's, and a former file of that name, perhaps one that was closed cleanly, does
 * not return.
 */
static int settle(int fd, const char *path) {
    char directory[LARD_LOCK_PATH_MAX];
    if (fsync(fd) != 0) {
        return errno;
    }
    lard_place_directory(path, directory);
    int parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0) {
        return errno == EACCES ? 0 : errno; /* it may be entered but not read; the file's fsync has to do */
    }
    int code = fsync(parent) == 0 || errno == EINVAL ? 0 : errno;
    close(parent);
    return code;
}

static larder_status create(const char *path, uint64_t size_bytes, const lard_lockfile_content *lock, int *fd_out,
                            struct stat *info, lard_superblock *super, larder_error *error) {
    larder_status status = lard_format_plan(size_bytes, super);
    if (status != LARDER_OK) {
        return lard_fail(error, status, 0, "%s: size %llu bytes", path, (unsigned long long)size_bytes);
    }
    uint64_t boot[2];
    int code = lard_random(super->seed, sizeof super->seed);
    code = code ? code : lard_random(super->file_id, sizeof super->file_id);
    if (code) {
        return lard_fail_call(error, "random bytes for", path, code);
    }
    code = lard_boot_id(boot);
    if (code == 0 && boot[0] == 0 && boot[1] == 0) { /* none is told: one that no boot will have */
        code = lard_random(boot, sizeof boot);
    }
    if (code) {
        return lard_fail_call(error, "boot id for", path, code);
    }
    memcpy(super->lock_id, lock->id, sizeof super->lock_id);
    super->created_ms = (uint64_t)lard_clock_ms();
    super->crc = lard_format_crc(super);

    int fd = LARD_CHANGE(open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (fd < 0) {
        return lard_fail_call(error, "create", path, errno);
    }
    code = LARD_CHANGE(lard_place_give(fd, path, 0600));
    status = code ? lard_fail_call(error, "set owner and mode of", path, code)
                  : lard_place_trusted(fd, path, info, error);
    if (status == LARDER_OK) {
        status = lard_memory_admits(fd, path, super->file_bytes, error);
    }
    if (status == LARDER_OK && (code = LARD_CHANGE(lard_allocate(fd, super->file_bytes))) != 0) {
        status = lard_fail_call(error, "allocate space for", path, code);
    }
    if (status == LARDER_OK) {
        uint64_t inode[2];
        code = lard_inode(fd, inode);
        const lard_control control = {.clear_epoch = {1},
                                      .boot_id = {{boot[0]}, {boot[1]}},
                                      .use = {lock->use[1]},
                                      .inode = {{inode[0]}, {inode[1]}},
                                      .uptime_ms = {(uint64_t)lard_uptime_ms()}};
        if ((code = code ? code : write_heads(fd, &control, super)) != 0) {
            status = lard_fail_call(error, "write", path, code);
        }
    }
    if (status == LARDER_OK && (code = settle(fd, path)) != 0) {
        status = lard_fail_call(error, "fsync", path, code);
    }
    if (status != LARDER_OK) {
        LARD_CHANGE(unlink(path));
        close(fd);
        return status;
    }
    *fd_out = fd;
    return LARDER_OK;
}

/* 0, or errno: then processes that have the file mapped would go on with it. */
static int mark_superseded(int fd) {
    struct stat info;
    uint32_t one = 1;
    if (fstat(fd, &info) != 0) {
        return errno;
    }
    if ((uint64_t)info.st_size < LARD_CONTROL_OFFSET + sizeof one) {
        return 0; /* who has it mapped meets a fault there */
    }
    return lard_file_write(fd, &one, sizeof one, LARD_CONTROL_OFFSET + offsetof(lard_control, superseded));
}

/* The descriptor, if it is still the map's, else -1: daemonizers close descriptors that are not theirs. */
static int own_descriptor(const lard_map *map, struct stat *info) {
    int fd = __atomic_load_n(&map->fd, __ATOMIC_RELAXED);
    bool own = fd >= 0 && fstat(fd, info) == 0 && (uint64_t)info->st_dev == map->device &&
               (uint64_t)info->st_ino == map->inode;
    return own ? fd : -1;
}

void lard_file_close(lard_map *map) {
    struct stat info;
    int fd = own_descriptor(map, &info);
    __atomic_store_n(&map->fd, -1, __ATOMIC_RELAXED);
    if (fd >= 0) {
        close(fd);
    }
}

void lard_file_mark_superseded(lard_map *map) {
    struct stat info;
    if (!map->poisoned) {
        lard_store(&map->control->superseded, 1);
    }
    int fd = map->poisoned ? own_descriptor(map, &info) : -1; /* perhaps since a moment ago */
    if (fd >= 0) {
        mark_superseded(fd);
    }
}

/* Whether someone removed the file or put another one at its path. */
bool lard_file_was_replaced(const lard_map *map, const char *path) {
    struct stat info;
    if (stat(path, &info) == 0) {
        return (uint64_t)info.st_ino != map->inode || (uint64_t)info.st_dev != map->device;
    }
    return errno == ENOENT && own_descriptor(map, &info) >= 0 && info.st_nlink == 0;
}

/* Gives the space of a file that nobody can open any more back; readers still inside find zeros, so misses. */
void lard_file_discard(lard_map *map) {
    struct stat info;
    int fd = own_descriptor(map, &info);
    if (fd >= 0 && info.st_nlink == 0) {
        LARD_CHANGE(lard_release_space(fd, map->super.shard_offset, map->bytes - map->super.shard_offset));
    }
}

static larder_status map_file(int fd, const struct stat *info, const lard_superblock *super, const char *path,
                              lard_map **out, larder_error *error) {
    lard_map *map = calloc(1, sizeof *map);
    if (!map) {
        return lard_fail(error, LARDER_NO_MEMORY, ENOMEM, "%s", path);
    }
    lard_registry_lock(); /* a child that is forked meanwhile has all of it, or nothing */
    void *base = mmap(NULL, super->file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) {
        int code = errno;
        lard_registry_unlock();
        free(map);
        return lard_fail_call(error, "mmap", path, code);
    }
    map->base = base;
    map->bytes = super->file_bytes;
    map->super = *super;
    map->control = (lard_control *)(map->base + LARD_CONTROL_OFFSET);
    map->processes = (lard_process *)(map->base + LARD_PROCESS_OFFSET);
    map->shards = map->base + super->shard_offset;
    map->shard_mask = super->shard_count - 1;
    map->segment_shift = (unsigned)__builtin_ctz(super->segment_bytes);
    map->record_limit = super->segment_bytes / 8 > 8192 ? super->segment_bytes / 8 : 8192;
    map->fd = fd;
    map->device = (uint64_t)info->st_dev;
    map->inode = (uint64_t)info->st_ino;
    map->dircache = lard_dircache_new(super);
    larder_status status = map->dircache ? lard_sigbus_guard(map, path, error)
                                         : lard_fail(error, LARDER_NO_MEMORY, ENOMEM, "%s", path);
    if (status != LARDER_OK) {
        munmap(base, map->bytes);
        free(map->dircache);
        free(map);
    } else {
        lard_advise_map(map);
        *out = map;
    }
    lard_registry_unlock();
    return status;
}

/* Changes may not have reached the disk, and no later sync would tell: nobody goes on with this file. */
void lard_file_give_up(lard_map *map, const char *path) {
    struct stat mine, named;
    lard_file_mark_superseded(map);
    if (own_descriptor(map, &mine) >= 0 && lstat(path, &named) == 0 && named.st_ino == mine.st_ino &&
        named.st_dev == mine.st_dev) {
        LARD_CHANGE(unlink(path));
    }
}

static int sync_control(lard_map *map) { return lard_sync(map->base, LARD_CONTROL_OFFSET, LARD_PAGE); }

/* In the lock file: the number that the cache has, and `fresh`, which it is to have; the same twice where it has
 * it, so that from here on a copy of the use before is known for one. */
static int note_use(const lard_map *map, const char *path, const lard_lockfile *lock, uint64_t fresh) {
    char lock_path[LARD_LOCK_PATH_MAX];
    lard_lockfile_path(path, lock_path);
    return lard_lockfile_note_use(lock, lock_path, lard_load(&map->control->use), fresh);
}

/* A use number that this file and its lock file have had at no time. Whatever a copy has, which may be put back
 * later, differs from it. Where this ends half-way either number is right. */
static int renew_use(const lard_map *map, const char *path, const lard_lockfile *lock, uint64_t *fresh) {
    int code = lard_random(fresh, sizeof *fresh);
    *fresh |= 1; /* never 0 */
    return code ? code : note_use(map, path, lock, *fresh);
}

/* The clean mark goes before the first store, and on disk before it. */
larder_status lard_file_begin_use(lard_map *map, const char *path, const lard_lockfile *lock, bool alone,
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
    lard_store(&map->control->uptime_ms, (uint64_t)lard_uptime_ms());
    lard_store(&map->control->clean, LARD_DIRTY);
    lard_store_release(&map->control->use, use);
    map->use = use;
    if ((code = sync_control(map)) != 0) {
        lard_file_give_up(map, path);
        return lard_fail_call(error, "msync", path, code);
    }
    if (alone && (code = note_use(map, path, lock, use)) != 0) {
        return lard_fail_call(error, "write the lock file of", path, code);
    }
    lard_store(&map->control->clean, LARD_IN_USE);
    return LARDER_OK;
}

/* After a change by a process without a slot, which others do not wait for before they mark the file clean. */
larder_status lard_file_mark_dirty(lard_map *map) {
    lard_fence();
    if (lard_load(&map->control->clean) == LARD_IN_USE) {
        return LARDER_OK;
    }
    lard_store(&map->control->clean, LARD_DIRTY);
    if (sync_control(map) != 0) {
        lard_file_mark_superseded(map);
        return LARDER_DAMAGED;
    }
    return LARDER_OK;
}

/* Takes a file that is not to be used out of everybody's way: first who has it mapped learns of it. */
static larder_status remove_file(int fd, const struct stat *info, const char *path, larder_error *error) {
    /* By another name it may be somebody else's cache, in use and sound. */
    int code = info->st_nlink == 1 ? mark_superseded(fd) : 0;
    if (code) {
        return lard_fail_call(error, "mark as replaced", path, code);
    }
    return LARD_CHANGE(unlink(path)) == 0 ? LARDER_OK : lard_fail_call(error, "unlink", path, errno);
}

/* Of size 0 none is made, and the one that is there stays as it is. */
larder_status lard_file_open(const char *path, uint64_t size_bytes, const lard_lockfile_content *lock, bool alone,
                             lard_map **out, larder_error *error) {
    lard_superblock super;
    struct stat info;
    larder_status status;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0 && (errno != ENOENT || !size_bytes)) {
        return errno == ENOENT ? lard_fail(error, LARDER_NOT_THERE, errno, "%s", path)
                               : lard_fail_call(error, "open", path, errno);
    }
    if (fd >= 0) {
        const char *unfit = NULL;
        status = lard_place_trusted(fd, path, &info, error);
        if (status == LARDER_OK) {
            status = lard_validate(fd, path, lock, alone, &unfit, &super, error);
        }
        if (status == LARDER_OK && unfit) {
            status = size_bytes ? remove_file(fd, &info, path, error)
                                : lard_fail(error, LARDER_UNFIT, 0, "%s: %s", path, unfit);
        }
        if (status != LARDER_OK || unfit) {
            close(fd);
            fd = -1;
        }
        if (status != LARDER_OK) {
            return status;
        }
    }
    if (fd < 0) {
        status = create(path, size_bytes, lock, &fd, &info, &super, error);
        if (status != LARDER_OK) {
            return status;
        }
    }
    status = map_file(fd, &info, &super, path, out, error);
    if (status != LARDER_OK) {
        close(fd);
    }
    return status;
}

/*
 * Everything to disk, then the clean mark and a new use number, then those; no mark where something was changed
 * meanwhile (lard_file_mark_dirty). A copy that was made before has the number of the use that ends here.
 */
larder_status lard_file_sync(lard_map *map, const char *path, const lard_lockfile *lock) {
    uint32_t closing = LARD_CLOSING;
    uint64_t use;
    if (map->poisoned) {
        return LARDER_DAMAGED;
    }
    lard_store(&map->control->clean, closing);
    lard_fence();
    if (lard_sync(map->base, 0, map->bytes) != 0) {
        return LARDER_DAMAGED;
    }
    if (renew_use(map, path, lock, &use) != 0) {
        return LARDER_OK; /* it stays as it is after kill -9: kept, but not through a crash of the machine */
    }
    lard_store(&map->control->use, use);
    if (!lard_cas32(&map->control->clean, &closing, LARD_CLEAN)) {
        return LARDER_OK;
    }
    if (sync_control(map) != 0) {
        return LARDER_DAMAGED;
    }
    note_use(map, path, lock, use); /* where this fails both numbers are right, until the next use begins */
    return LARDER_OK;
}

void lard_file_unmap(lard_map *map) {
    lard_bytelock_drop(&map->left, &map->lock);
    lard_sigbus_release(map);
    munmap(map->base, map->bytes);
    lard_file_close(map);
    free(map->dircache);
    free(map);
}
