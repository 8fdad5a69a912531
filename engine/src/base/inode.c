/*
 * inode.c — reads an inode's number and its time of creation, on Linux and macOS. Takes no lock.
 */
#define _GNU_SOURCE
#include "base/inode.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

int lard_inode(int fd, uint64_t inode[2]) {
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return errno;
    }
    inode[0] = (uint64_t)info.st_ino;
    inode[1] = 0;
#if defined(STATX_BTIME)
    struct statx more = {.stx_mask = 0}; /* MemorySanitizer does not know what statx fills */
    if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &more) == 0 && (more.stx_mask & STATX_BTIME)) {
        inode[1] = (uint64_t)more.stx_btime.tv_sec * 1000000000u + more.stx_btime.tv_nsec;
    }
#elif defined(__APPLE__)
    inode[1] = (uint64_t)info.st_birthtimespec.tv_sec * 1000000000u + (uint64_t)info.st_birthtimespec.tv_nsec;
#endif
    return 0;
}

bool lard_inode_is_same(const uint64_t one[2], const uint64_t other[2]) {
    return one[0] == other[0] && (one[1] == other[1] || !one[1] || !other[1]);
}
