/*
 * random.c — random bytes of Linux and macOS. Takes no lock.
 */
#define _GNU_SOURCE
#include "base/random.h"

#include <errno.h>
#include <stdlib.h>

#if defined(__linux__)
#include <sys/random.h>

int lard_random(void *out, size_t bytes) {
    for (char *at = out; bytes;) {
        ssize_t got = getrandom(at, bytes, 0);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return got == 0 ? EIO : errno;
        }
        at += got > 0 ? got : 0;
        bytes -= got > 0 ? (size_t)got : 0;
    }
    return 0;
}

#else

int lard_random(void *out, size_t bytes) {
    arc4random_buf(out, bytes);
    return 0;
}

#endif
