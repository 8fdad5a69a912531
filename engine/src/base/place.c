/*
 * place.c — decides which files are trusted, sets owner and mode of new files, creates missing directories.
 *
 * A process of root acts for the owner of the directory: it may be a console or a deployment task. It uses that
 * owner's files, and gives the files that it creates to that owner. Takes no lock.
 */
#define _GNU_SOURCE
#include "base/place.h"
#include "base/descriptor.h"
#include "base/fail.h"
#include "base/filesystem.h"
#include "base/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void lard_place_directory(const char *path, char *directory) {
    snprintf(directory, LARD_LOCK_PATH_MAX, "%s", path);
    char *last = strrchr(directory, '/');
    if (last) {
        last[last == directory] = '\0';
    } else {
        strcpy(directory, ".");
    }
}

/* Stats the directory that a path is in: 0, or errno. */
static int look_at_directory(const char *path, struct stat *info) {
    char directory[LARD_LOCK_PATH_MAX];
    lard_place_directory(path, directory);
    return stat(directory, info) == 0 ? 0 : errno;
}

int lard_place_give(int fd, const char *path, unsigned mode) {
    struct stat directory, info;
    int code = lard_descriptor_stat(fd, path, &info);
    if (code == 0 && (info.st_mode & 07777) != mode) { /* the umask removed bits */
        code = fchmod(fd, mode) == 0 ? 0 : errno;
    }
    if (code || geteuid() != 0) {
        return code;
    }
    code = look_at_directory(path, &directory);
    code = code ? code : lard_descriptor_check(fd, &info);
    if (code || directory.st_uid == 0) {
        return code;
    }
    return fchown(fd, directory.st_uid, directory.st_gid) == 0 ? 0 : errno;
}

static bool is_trusted_owner(uid_t owner, const char *path) {
    struct stat directory;
    return owner == geteuid() ||
           (geteuid() == 0 && look_at_directory(path, &directory) == 0 && directory.st_uid == owner);
}

larder_status lard_place_trusted(int fd, const char *path, struct stat *info, larder_error *error) {
    int code = lard_descriptor_stat(fd, path, info);
    if (code) {
        return lard_fail_call(error, "stat", path, code);
    }
    if (!S_ISREG(info->st_mode)) {
        return lard_fail(error, LARDER_NOT_REGULAR, 0, "%s", path);
    }
    if (!is_trusted_owner(info->st_uid, path)) {
        return lard_fail(error, LARDER_NOT_OWNER, 0, "%s (owner uid %u, this process %u)", path,
                         (unsigned)info->st_uid, (unsigned)geteuid());
    }
    if (info->st_mode & (S_IWGRP | S_IWOTH)) {
        return lard_fail(error, LARDER_UNSAFE_MODE, 0, "%s (mode %o)", path, (unsigned)info->st_mode & 07777);
    }
    const char *name;
    int network = lard_filesystem_is_network(fd, &name);
    if (network == 1) {
        return lard_fail(error, LARDER_NETWORK_FS, 0, "%s (%s)", path, name);
    }
    return network < 0 ? lard_fail_call(error, "fstatfs", path, -network) : LARDER_OK;
}

/* Sets owner and mode of a directory that was just created. Its owner may enter it, whatever the umask. */
static int give_directory(const char *path) {
    struct stat info;
    if (lstat(path, &info) != 0) {
        return errno;
    }
    mode_t mode = (info.st_mode & 07777) | S_IRWXU;
    if (geteuid() != 0) { /* by path: without the owner's bits the directory cannot be opened */
        return mode == (info.st_mode & 07777) || chmod(path, mode) == 0 ? 0 : errno;
    }
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return errno;
    }
    int code = lard_place_give(fd, path, mode);
    lard_descriptor_close(fd, &info);
    return code;
}

larder_status lard_place_make(const char *path, larder_error *error) {
    char directory[LARD_LOCK_PATH_MAX];
    lard_place_directory(path, directory);
    if (!directory[1]) { /* "/" or "." */
        return LARDER_OK;
    }
    for (char *at = directory + 1;; at++) {
        if (*at != '/' && *at != '\0') {
            continue;
        }
        char kept = *at;
        *at = '\0';
        if (LARD_CHANGE(mkdir(directory, kept ? 0755 : 0700)) == 0) {
            int code = give_directory(directory);
            if (code) { /* the owner of the directory above could not use it */
                LARD_CHANGE(rmdir(directory));
                return lard_fail_call(error, "set owner and mode of", directory, code);
            }
        } else if (errno != EEXIST && errno != EISDIR) {
            return lard_fail_call(error, "mkdir", directory, errno);
        }
        *at = kept;
        if (!kept) {
            return LARDER_OK;
        }
    }
}
