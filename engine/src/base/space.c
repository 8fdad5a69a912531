/*
 * space.c — reserves and releases disk space, on Linux and macOS. Takes no lock.
 */
#define _GNU_SOURCE
#include "base/space.h"
#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

bool lard_space_may_reach(uint64_t bytes) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

uint64_t lard_space_left(const char *directory) {
    struct statvfs room;
    return statvfs(directory, &room) == 0 && room.f_blocks ? (uint64_t)room.f_bavail * room.f_frsize : UINT64_MAX;
}

#if defined(__linux__)

#define MIN_PIECE (1u << 20)

/* If a signal interrupts the call, tmpfs gives back what it has reserved: so each interruption halves the piece.
 */
int lard_space_reserve(int fd, const struct stat *info, uint64_t from, uint64_t bytes) {
    if (!lard_space_may_reach(from + bytes)) {
        return EFBIG;
    }
    struct statvfs room; /* checked first: a reservation that fails takes space from others meanwhile */
    if (fstatvfs(fd, &room) == 0 && room.f_blocks && room.f_frsize &&
        bytes / room.f_frsize > (geteuid() == 0 ? room.f_bfree : room.f_bavail)) {
        return ENOSPC;
    }
    uint64_t piece = bytes;
    for (uint64_t done = 0; done < bytes;) {
        piece = piece < bytes - done ? piece : bytes - done;
        int failed = lard_descriptor_check(fd, info);
        failed = failed ? failed : posix_fallocate(fd, (off_t)(from + done), (off_t)piece);
        if (failed == 0) {
            done += piece;
        } else if (failed != EINTR) {
            return failed;
        } else if (piece > MIN_PIECE) {
            piece /= 2;
        }
    }
    return 0;
}

void lard_space_release(int fd, uint64_t from, uint64_t bytes) {
    (void)!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)bytes);
}

#else

int lard_space_reserve(int fd, const struct stat *info, uint64_t from, uint64_t bytes) {
    if (!lard_space_may_reach(from + bytes)) {
        return EFBIG;
    }
    fstore_t store = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, (off_t)bytes, 0};
    int code = lard_descriptor_check(fd, info);
    if (code) {
        return code;
    }
    if (fcntl(fd, F_PREALLOCATE, &store) == -1) {
        return errno;
    }
    return ftruncate(fd, (off_t)(from + bytes)) == 0 ? 0 : errno;
}

void lard_space_release(int fd, uint64_t from, uint64_t bytes) { (void)fd, (void)from, (void)bytes; }

#endif
