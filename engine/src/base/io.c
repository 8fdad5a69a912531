/*
 * io.c — reads or writes a range of a file completely: repeats pread, pwrite or pwritev until it is done.
 */
#define _GNU_SOURCE
#include "base/io.h"
#include "base/layout.h"
#include "base/shared.h"
#include "base/space.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

/* How much of it one call writes. A process may be killed among the pages of a call: in a test build, between two
 * calls. */
static size_t part_of(size_t bytes, uint64_t at) {
#ifdef LARDER_CRASH_POINTS
    size_t left = LARD_PAGE - at % LARD_PAGE;
    return bytes < left ? bytes : left;
#else
    return (void)at, bytes;
#endif
}

/* The number of bytes that were written, or -1 and errno. */
static ssize_t write_some(int fd, const struct iovec *parts, int count, uint64_t at) {
#if defined(__linux__) && !defined(LARDER_CRASH_POINTS)
    if (count > 1) {
        return LARD_CHANGE(pwritev(fd, parts, count, (off_t)at));
    }
#endif
    (void)count;
    return LARD_CHANGE(pwrite(fd, parts->iov_base, part_of(parts->iov_len, at), (off_t)at));
}

/* Takes the first `bytes` bytes from the parts. */
static void advance(struct iovec *parts, int count, size_t bytes) {
    for (int i = 0; i < count; i++) {
        size_t taken = bytes < parts[i].iov_len ? bytes : parts[i].iov_len;
        parts[i].iov_base = (char *)parts[i].iov_base + taken;
        parts[i].iov_len -= taken;
        bytes -= taken;
    }
}

int lard_io_write_parts(int fd, struct iovec *parts, int count, uint64_t at) {
    size_t bytes = 0;
    for (int i = 0; i < count; i++) {
        bytes += parts[i].iov_len;
    }
    if (!lard_space_may_reach(at + bytes)) {
        return EFBIG;
    }
    while (bytes) {
        if (parts->iov_len == 0) {
            parts++, count--;
            continue;
        }
        ssize_t done = write_some(fd, parts, count, at);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return done < 0 ? errno : ENOSPC;
        }
        advance(parts, count, (size_t)done);
        at += (uint64_t)done;
        bytes -= (size_t)done;
    }
    return 0;
}

int lard_io_write(int fd, const void *data, size_t bytes, uint64_t at) {
    struct iovec all = {.iov_base = (void *)(uintptr_t)data, .iov_len = bytes};
    return lard_io_write_parts(fd, &all, 1, at);
}

int lard_io_read(int fd, void *out, size_t bytes, uint64_t at, size_t *got) {
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
