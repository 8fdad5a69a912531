/*
 * lockfile.c — opens, creates and identifies the lock file beside a cache.
 *
 * A process that opens or closes the cache holds byte 0 (bytelock.c); each attached process holds byte 1 + slot.
 * The file contains a random identity and the current use number, which the cache file repeats, and its own inode.
 * If they differ, then either the lock file was lost, so that it is unknown which processes are alive, or one of
 * the two files is an old copy. In both cases the cache is replaced by an empty one.
 */
#define _GNU_SOURCE
#include "proc/lockfile.h"
#include "base/descriptor.h"
#include "base/fail.h"
#include "base/filesystem.h"
#include "base/inode.h"
#include "base/io.h"
#include "base/place.h"
#include "base/random.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCKFILE_MAGIC "LARDLOCK"
#define LOCKFILE_VERSION 3u

/* Was its creator killed half-way, or did the power fail? The length may reach the disk without the bytes. */
static bool is_unfinished(const lard_lockfile_content *content, size_t bytes, uint64_t file_bytes) {
    static const lard_lockfile_content zeros;
    return memcmp(content->magic, LOCKFILE_MAGIC, bytes < 8 ? bytes : 8) == 0 ||
           (file_bytes <= sizeof *content && memcmp(content, &zeros, bytes) == 0);
}

/* Writes a new identity to disk before it is used. If a crash of the machine lost it, a cache that was closed
 * cleanly would be lost too. */
static int make_identity(const lard_lockfile *file, const uint64_t inode[2], lard_lockfile_content *content) {
    memset(content, 0, sizeof *content);
    memcpy(content->magic, LOCKFILE_MAGIC, 8);
    content->version = LOCKFILE_VERSION;
    content->inode[0] = inode[0];
    content->inode[1] = inode[1];
    int code = lard_random(content->id, sizeof content->id);
    code = code ? code : lard_random(&content->use[0], sizeof content->use[0]);
    content->use[1] = content->use[0] |= 1; /* never 0 */
    code = code ? code : lard_lockfile_check(file, file->fd);
    code = code ? code : lard_io_write(file->fd, content, sizeof *content, 0);
    code = code ? code : fsync(file->fd) == 0 ? 0 : errno;
    return code ? code : lard_lockfile_check(file, file->fd);
}

larder_status lard_lockfile_read(const lard_lockfile *file, const char *path, lard_lockfile_content *content,
                                 larder_error *error) {
    struct stat info;
    uint64_t inode[2];
    size_t got;
    memset(content, 0, sizeof *content);
    int code = fstat(file->fd, &info) == 0 ? lard_inode(file->fd, inode) : errno;
    code = code ? code : lard_io_read(file->fd, content, sizeof *content, 0, &got);
    code = code ? code : lard_lockfile_check(file, file->fd);
    if (code) {
        return lard_fail_call(error, "read", path, code);
    }
    if (!is_unfinished(content, got, (uint64_t)info.st_size)) {
        return lard_fail(error, LARDER_NOT_LARDER, 0, "%s", path);
    }
    bool valid = got == sizeof *content && memcmp(content->magic, LOCKFILE_MAGIC, 8) == 0 &&
                 content->version == LOCKFILE_VERSION && lard_inode_is_same(content->inode, inode);
    if (!valid && (code = make_identity(file, inode, content)) != 0) {
        return lard_fail_call(error, "write", path, code);
    }
    return LARDER_OK;
}

/* Writes the content to disk, but not the file's times: a journal need not be written for them. */
static int sync_content(int fd) {
#ifdef __linux__
    return fdatasync(fd);
#else
    return fsync(fd);
#endif
}

int lard_lockfile_note_use(const lard_lockfile *file, const char *path, uint64_t old, uint64_t fresh) {
    const uint64_t use[2] = {old, fresh};
    bool opened = !lard_lockfile_is_open(file);
    int fd = opened ? lard_lockfile_reopen(file, path) : file->fd;
    if (fd < 0) {
        return errno;
    }
    int code = lard_io_write(fd, use, sizeof use, offsetof(lard_lockfile_content, use));
    code = code || old == fresh || sync_content(fd) == 0 ? code : errno;
    int lost = lard_lockfile_check(file, fd);
    if (opened && !lost) {
        close(fd);
    }
    return code ? code : lost;
}

bool lard_lockfile_is(const lard_lockfile *file, const struct stat *info) {
    return (uint64_t)info->st_ino == file->inode && (uint64_t)info->st_dev == file->device;
}

int lard_lockfile_check(const lard_lockfile *file, int fd) {
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return errno == EBADF ? ESTALE : errno;
    }
    return lard_lockfile_is(file, &info) ? 0 : ESTALE;
}

bool lard_lockfile_has(const lard_lockfile *file, int fd) { return fd >= 0 && lard_lockfile_check(file, fd) == 0; }

bool lard_lockfile_is_open(const lard_lockfile *file) {
    return lard_lockfile_has(file, __atomic_load_n(&file->fd, __ATOMIC_RELAXED));
}

int lard_lockfile_reopen(const lard_lockfile *file, const char *path) {
    struct stat info;
    int fd = lard_descriptor_open(path, O_RDWR | O_NONBLOCK, &info);
    if (fd >= 0 && !lard_lockfile_is(file, &info)) {
        close(fd);
        errno = ESTALE;
        return -1;
    }
    return fd;
}

void lard_lockfile_path(const char *path, char *lock) {
    snprintf(lock, LARD_LOCK_PATH_MAX, "%.*s.lock", LARD_PATH_MAX - 1, path);
}

int lard_lockfile_look(const char *path, char *lock, struct stat *info) {
    lard_lockfile_path(path, lock);
    return stat(lock, info) == 0 ? 1 : errno == ENOENT ? 0 : -1;
}

/* Removes a new lock file that this root could not give to the owner of the directory, who could not use it. */
static void take_back(int fd, const char *path, const struct stat *created) {
    struct stat now, named;
    bool ours = geteuid() == 0 && lard_descriptor_check(fd, created) == 0 && fstat(fd, &now) == 0 &&
                now.st_size == 0 && now.st_uid == 0;
    if (ours && stat(path, &named) == 0 && named.st_dev == now.st_dev && named.st_ino == now.st_ino) {
        LARD_CHANGE(unlink(path));
    }
}

larder_status lard_lockfile_open(const char *path, lard_lockfile *file, larder_error *error) {
    struct stat info;
    int code = 0, stacked = 0;
    int fd = LARD_CHANGE(lard_descriptor_open(path, O_RDWR | O_CREAT | O_NONBLOCK, &info));
    if (fd < 0) {
        return lard_fail_call(error, "open", path, errno);
    }
    if (S_ISREG(info.st_mode) && info.st_size == 0 && info.st_nlink == 1) {
        code = LARD_CHANGE(lard_place_give(fd, path, 0600));
        if (code) {
            take_back(fd, path, &info);
        }
    }
    larder_status status = code ? lard_fail_call(error, "set owner and mode of", path, code)
                                : lard_place_trusted(fd, path, &info, error);
    if (status == LARDER_OK) {
        stacked = lard_filesystem_is_stacked(fd);
        code = stacked < 0 ? -stacked : lard_descriptor_check(fd, &info);
        status = code ? lard_fail_call(error, "fstatfs", path, code) : LARDER_OK;
    }
    if (status != LARDER_OK) {
        lard_descriptor_close(fd, &info);
        return status;
    }
    *file = (lard_lockfile){
        .fd = fd, .device = (uint64_t)info.st_dev, .inode = (uint64_t)info.st_ino, .is_posix = stacked};
    return LARDER_OK;
}

int lard_lockfile_is_at(const lard_lockfile *file, const char *path) {
    struct stat named;
    if (stat(path, &named) != 0) {
        return errno == ENOENT ? 0 : -1;
    }
    return lard_lockfile_is(file, &named);
}

void lard_lockfile_close(lard_lockfile *file) {
    if (lard_lockfile_is_open(file)) {
        close(file->fd);
    }
    file->fd = -1;
}
