/*
 * descriptor.c — tells whether a descriptor is still that of its file. Takes no lock.
 */
#define _GNU_SOURCE
#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#endif

static bool is_same(const struct stat *one, const struct stat *other) {
    return one->st_ino == other->st_ino && one->st_dev == other->st_dev;
}

int lard_descriptor_stat(int fd, const char *path, struct stat *info) {
    struct stat open, named;
    if (fstat(fd, &open) != 0) {
        return errno == EBADF ? ESTALE : errno;
    }
    if (stat(path, &named) != 0) {
        return errno == ENOENT ? ESTALE : errno;
    }
    if (!is_same(&open, &named)) {
        return ESTALE;
    }
    *info = open;
    return 0;
}

int lard_descriptor_open(const char *path, int flags, struct stat *info) {
    struct stat open_file;
    int fd = open(path, flags | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return -1;
    }
    int code = lard_descriptor_stat(fd, path, info);
    if (code == 0) {
        return fd;
    }
    bool is_known = fstat(fd, &open_file) == 0;
    bool is_open = is_known || errno != EBADF;
    /* A file without a name was removed from the path just now, so it is this one, not one of the host's. */
    if (is_known && open_file.st_nlink == 0) {
        close(fd);
        is_open = false;
    }
    errno = code;
    return is_open ? LARD_DESCRIPTOR_LEFT : -1;
}

int lard_descriptor_check(int fd, const struct stat *info) {
    struct stat now;
    if (fstat(fd, &now) != 0) {
        return errno == EBADF ? ESTALE : errno;
    }
    return is_same(&now, info) ? 0 : ESTALE;
}

int64_t lard_descriptor_bytes(int fd, uint64_t device, uint64_t inode) {
    struct stat info;
#if defined(STATX_INO)
    struct statx found = {.stx_mask = 0}; /* MemorySanitizer does not know what statx fills */
    unsigned wanted = STATX_INO | STATX_SIZE;
    if (statx(fd, "", AT_EMPTY_PATH, wanted, &found) == 0 && (found.stx_mask & wanted) == wanted) {
        bool is_its = found.stx_ino == inode && makedev(found.stx_dev_major, found.stx_dev_minor) == device;
        return is_its ? (int64_t)found.stx_size : -1;
    }
#endif
    bool is_its = fstat(fd, &info) == 0 && (uint64_t)info.st_dev == device && (uint64_t)info.st_ino == inode;
    return is_its ? (int64_t)info.st_size : -1;
}

void lard_descriptor_close(int fd, const struct stat *info) {
    if (lard_descriptor_check(fd, info) == 0) {
        close(fd);
    }
}

#if defined(__linux__)

/* <linux/magic.h>. Inodes there may change while a file is open. */
#define PROC_MAGIC 0x9fa0
#define CGROUP_MAGIC 0x27e0eb
#define CGROUP2_MAGIC 0x63677270

int lard_descriptor_close_read(int fd, const char *path, bool *is_kernels) {
    struct statfs system;
    struct stat info;
    *is_kernels = fstatfs(fd, &system) == 0 &&
                  (system.f_type == PROC_MAGIC || system.f_type == CGROUP_MAGIC || system.f_type == CGROUP2_MAGIC);
    if (*is_kernels) {
        close(fd);
        return 0;
    }
    int code = lard_descriptor_stat(fd, path, &info);
    if (code == 0) {
        close(fd);
    }
    return code;
}

#endif
