/*
 * file.c — opens the cache file, or creates it if there is none that can be used.
 *
 * The opener's lock is held, so no two processes create or replace the file at once. Superblock A is written last:
 * a file whose creator was killed has none, and is created again. validate.c decides whether an existing file can
 * be used.
 */
#define _GNU_SOURCE
#include "file/file.h"
#include "base/boot.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/fail.h"
#include "base/inode.h"
#include "base/io.h"
#include "base/place.h"
#include "base/random.h"
#include "base/space.h"
#include "file/format.h"
#include "file/hints.h"
#include "file/map.h"
#include "file/memory_limit.h"
#include "file/validate.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The control page too; superblock A last. */
static int write_superblocks(int fd, const lard_control *control, const lard_superblock *super) {
    int code = lard_io_write(fd, control, sizeof *control, LARD_CONTROL_OFFSET);
    code = code ? code : lard_io_write(fd, super, sizeof *super, LARD_PAGE);
    return code ? code : lard_io_write(fd, super, sizeof *super, 0);
}

/*
 * Brings the superblocks and the directory entry to disk before any process stores. Then a loss of power leaves a
 * file of Larder's, whatever it contains, and an earlier file of that name, perhaps one that was closed cleanly,
 * does not come back.
 */
static int sync_new(int fd, const char *path) {
    char directory[LARD_LOCK_PATH_MAX];
    struct stat info;
    if (fsync(fd) != 0) {
        return errno;
    }
    lard_place_directory(path, directory);
    int parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0) {
        return errno == EACCES ? 0 : errno; /* it may be entered but not read: the file's fsync must be enough */
    }
    int code = lard_descriptor_stat(parent, directory, &info);
    if (code) {
        return code;
    }
    code = fsync(parent) == 0 || errno == EINVAL ? 0 : errno;
    lard_descriptor_close(parent, &info);
    return code;
}

static larder_status create(const char *path, uint64_t size_bytes, const uint64_t seed[2],
                            const lard_lockfile_content *lock, int *fd_out, struct stat *info,
                            lard_superblock *super, larder_error *error) {
    larder_status status = lard_format_plan(size_bytes, super);
    if (status != LARDER_OK) {
        return lard_fail(error, status, 0, "%s: size %llu bytes", path, (unsigned long long)size_bytes);
    }
    uint64_t boot[2];
    int code = seed ? 0 : lard_random(super->seed, sizeof super->seed);
    if (seed) {
        memcpy(super->seed, seed, sizeof super->seed);
    }
    code = code ? code : lard_random(super->file_id, sizeof super->file_id);
    if (code) {
        return lard_fail_call(error, "random bytes for", path, code);
    }
    code = lard_boot_id(boot);
    if (code == 0 && boot[0] == 0 && boot[1] == 0) { /* unknown: use an id that no boot will have */
        code = lard_random(boot, sizeof boot);
    }
    if (code) {
        return lard_fail_call(error, "boot id for", path, code);
    }
    memcpy(super->lock_id, lock->id, sizeof super->lock_id);
    super->created_ms = (uint64_t)lard_clock_ms();
    super->crc = lard_format_crc(super);

    int fd = LARD_CHANGE(lard_descriptor_open(path, O_RDWR | O_CREAT | O_EXCL, info));
    if (fd < 0) {
        return lard_fail_call(error, "create", path, errno);
    }
    code = LARD_CHANGE(lard_place_give(fd, path, 0600));
    status = code ? lard_fail_call(error, "set owner and mode of", path, code)
                  : lard_place_trusted(fd, path, info, error);
    if (status == LARDER_OK) {
        status = lard_memory_limit_admits(fd, path, super->file_bytes, lard_hints_least_bytes(super), error);
    }
    if (status == LARDER_OK) {
        code = LARD_CHANGE(lard_space_reserve(fd, info, 0, super->file_bytes));
        status = code ? lard_fail_call(error, "allocate space for", path, code) : LARDER_OK;
    }
    if (status == LARDER_OK) {
        uint64_t inode[2];
        code = lard_inode(fd, inode);
        const lard_control control = {.clear_epoch = {1},
                                      .boot_id = {{boot[0]}, {boot[1]}},
                                      .use = {lock->use[1]},
                                      .inode = {{inode[0]}, {inode[1]}},
                                      .uptime_ms = {(uint64_t)lard_boot_uptime_ms()}};
        code = code ? code : lard_descriptor_check(fd, info);
        code = code ? code : write_superblocks(fd, &control, super);
        status = code ? lard_fail_call(error, "write", path, code) : LARDER_OK;
    }
    if (status == LARDER_OK) {
        code = sync_new(fd, path);
        code = code ? code : lard_descriptor_check(fd, info);
        status = code ? lard_fail_call(error, "fsync", path, code) : LARDER_OK;
    }
    if (status != LARDER_OK) {
        LARD_CHANGE(unlink(path));
        lard_descriptor_close(fd, info);
        return status;
    }
    *fd_out = fd;
    return LARDER_OK;
}

/* Removes a file that must not be used. Marks it superseded first, so that processes that have it mapped leave it.
 */
static larder_status remove_file(int fd, const struct stat *info, const char *path, larder_error *error) {
    int code = lard_descriptor_check(fd, info);
    if (code == 0 &&
        info->st_nlink == 1) { /* otherwise it may be, by another name, a valid cache that is in use */
        code = lard_map_supersede_fd(fd);
    }
    if (code) {
        return lard_fail_call(error, "mark as replaced", path, code);
    }
    return LARD_CHANGE(unlink(path)) == 0 ? LARDER_OK : lard_fail_call(error, "unlink", path, errno);
}

/* OK: the file may be used, and *super is filled. UNFIT: *error has the reason. Or another error. */
static larder_status judge(int fd, const char *path, const struct stat *info, const lard_lockfile_content *lock,
                           bool alone, lard_superblock *super, larder_error *error) {
    lard_validate_facts facts;
    larder_status status = lard_validate_read(fd, path, info, &facts, error);
    if (status != LARDER_OK) {
        return status;
    }
    lard_verdict verdict = lard_validate(&facts, lock, alone);
    switch (verdict.kind) {
    case LARD_FILE_UNFIT:
        return lard_fail(error, LARDER_UNFIT, 0, "%s: %s", path, verdict.reason);
    case LARD_FILE_NEWER:
        return lard_fail(error, LARDER_NEWER_VERSION, 0, "%s", path);
    case LARD_FILE_FOREIGN:
        return lard_fail(error, LARDER_NOT_LARDER, 0, "%s", path);
    default:
        *super = facts.copies[verdict.superblock];
    }
    if (verdict.superblock == 1 && lard_descriptor_check(fd, info) == 0) {
        lard_io_write(fd, super, sizeof *super, 0); /* if this fails, the copy stays in use */
    }
    return LARDER_OK;
}

/* *fd_out is -1 if there is no file, or if it was removed because it cannot be used. */
static larder_status open_existing(const char *path, bool replaces, const lard_lockfile_content *lock, bool alone,
                                   int *fd_out, struct stat *info, lard_superblock *super, larder_error *error) {
    int fd = lard_descriptor_open(path, O_RDWR | O_NONBLOCK, info);
    *fd_out = -1;
    if (fd < 0) {
        return errno != ENOENT ? lard_fail_call(error, "open", path, errno)
               : replaces      ? LARDER_OK
                               : lard_fail(error, LARDER_NOT_THERE, errno, "%s", path);
    }
    larder_status status = lard_place_trusted(fd, path, info, error);
    if (status == LARDER_OK) {
        status = judge(fd, path, info, lock, alone, super, error);
    }
    if (status == LARDER_OK) {
        *fd_out = fd;
        return status;
    }
    if (status == LARDER_UNFIT && replaces) {
        status = remove_file(fd, info, path, error);
        if (status == LARDER_OK && error) {
            memset(error, 0, sizeof *error);
        }
    }
    lard_descriptor_close(fd, info);
    return status;
}

larder_status lard_file_open(const char *path, uint64_t size_bytes, const uint64_t seed[2],
                             const lard_lockfile_content *lock, bool alone, lard_map **out, larder_error *error) {
    lard_superblock super;
    struct stat info;
    int fd;
    larder_status status = open_existing(path, size_bytes != 0, lock, alone, &fd, &info, &super, error);
    if (status == LARDER_OK && fd < 0) {
        status = create(path, size_bytes, seed, lock, &fd, &info, &super, error);
    }
    if (status != LARDER_OK) {
        return status;
    }
    status = lard_map_new(fd, &info, &super, path, out, error);
    if (status != LARDER_OK) {
        lard_descriptor_close(fd, &info);
    } else if ((status = lard_hints_open(*out, info.st_uid, path, error)) != LARDER_OK) {
        lard_map_free(*out);
        *out = NULL;
    }
    return status;
}
