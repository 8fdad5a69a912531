/*
 * io.c — reads or writes a range of a file completely: repeats pread or pwrite until it is done.
 */
#define _GNU_SOURCE
#include "base/io.h"
#include "base/layout.h"
#include "base/shared.h"
#include "base/space.h"

#include <errno.h>
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

int lard_io_write(int fd, const void *data, size_t bytes, uint64_t at) {
    const char *from = data;
    if (!lard_space_may_reach(at + bytes)) {
        return EFBIG;
    }
    while (bytes) {
        ssize_t done = LARD_CHANGE(pwrite(fd, from, part_of(bytes, at), (off_t)at));
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
