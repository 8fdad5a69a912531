/*
 * boot.c — reads the id of this boot and the time since, on Linux and macOS. Takes no lock.
 */
#define _GNU_SOURCE
#include "base/boot.h"

#include <stdbool.h>
#include <time.h>

#if defined(__linux__)
#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#else
#include <sys/sysctl.h>
#include <sys/time.h>
#endif

int64_t lard_boot_uptime_ms(void) {
#ifdef CLOCK_BOOTTIME
    struct timespec t;
    return clock_gettime(CLOCK_BOOTTIME, &t) == 0 ? (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000 : 0;
#else
    return 0;
#endif
}

#if defined(__linux__)

#define UUID_CHARACTERS 36
#define UUID_DIGITS 32

/* 0, or errno. */
static int read_uuid(const char *path, char text[UUID_CHARACTERS]) {
    bool is_short = false;
    int fd, code = 0;
    memset(text, '-', UUID_CHARACTERS); /* some systems write the UUID without dashes */
    do {
        fd = open(path, O_RDONLY | O_CLOEXEC);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        return errno;
    }
    for (size_t have = 0; have < UUID_CHARACTERS && !code;) {
        ssize_t got = read(fd, text + have, UUID_CHARACTERS - have);
        if (got > 0) {
            have += (size_t)got;
        } else if (got == 0 || errno != EINTR) {
            is_short = got == 0 && have < UUID_DIGITS;
            code = got < 0 ? errno : is_short ? EIO : 0;
            break;
        }
    }
    bool is_kernels;
    int failed = lard_descriptor_close_read(fd, path, &is_kernels);
    if (failed) {
        return failed;
    }
    /* Container runtimes mount /dev/null or an empty file over files that they hide. */
    return is_short && !is_kernels ? ENOENT : code;
}

/* The kernel makes a new UUID at each boot: 36 characters, whose hexadecimal digits are read here. If the file is
 * hidden, the id is zeros. Other failures, such as too many open files, are errors: they do not mean that there is
 * no id. */
int lard_boot_id(uint64_t id[2]) {
    char text[UUID_CHARACTERS];
    id[0] = id[1] = 0;
    int code = read_uuid("/proc/sys/kernel/random/boot_id", text);
    if (code) {
        bool is_unseen = code == ENOENT || code == ENOTDIR || code == EISDIR || code == EACCES || code == EPERM;
        return is_unseen ? 0 : code;
    }
    for (int i = 0, digit = 0; i < UUID_CHARACTERS && digit < UUID_DIGITS; i++) {
        char c = text[i];
        if (c == '-') {
            continue;
        }
        uint64_t nibble = c >= 'a' ? (uint64_t)(c - 'a' + 10) : (uint64_t)(c - '0');
        id[digit / 16] = id[digit / 16] << 4 | (nibble & 15);
        digit++;
    }
    return 0;
}

#else

int lard_boot_id(uint64_t id[2]) {
    struct timeval boot;
    size_t bytes = sizeof boot;
    id[0] = id[1] = 0;
    if (sysctlbyname("kern.boottime", &boot, &bytes, NULL, 0) == 0) {
        id[0] = (uint64_t)boot.tv_sec;
        id[1] = 1;
    }
    return 0;
}

#endif
