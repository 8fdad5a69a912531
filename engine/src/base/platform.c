/*
 * platform.c — the functions of platform.h for Linux and macOS. Takes no lock.
 */
#define _GNU_SOURCE
#include "base/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#elif defined(__APPLE__)
#include <sys/mount.h>
#include <sys/param.h>
#include <sys/sysctl.h>
#endif

#ifndef CLOCK_REALTIME_COARSE
#define CLOCK_REALTIME_COARSE CLOCK_REALTIME
#endif
#ifndef CLOCK_MONOTONIC_COARSE
#define CLOCK_MONOTONIC_COARSE CLOCK_MONOTONIC
#endif

/* A sandbox may forbid clock_gettime. Then a monotonic clock counts its calls: a wait of n ms ends after n calls.
 */
static int64_t without_clock(clockid_t id) {
    static int64_t questions;
    bool wall = id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE;
    return wall ? (int64_t)time(NULL) * 1000 : __atomic_add_fetch(&questions, 1, __ATOMIC_RELAXED);
}

static int64_t clock_in_ms(clockid_t id) {
    struct timespec t;
    if (__builtin_expect(clock_gettime(id, &t) != 0, 0)) {
        return without_clock(id);
    }
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t lard_clock_ms(void) { return clock_in_ms(CLOCK_REALTIME); }

int64_t lard_clock_coarse_ms(void) { return clock_in_ms(CLOCK_REALTIME_COARSE); }

int64_t lard_monotonic_coarse_ms(void) { return clock_in_ms(CLOCK_MONOTONIC_COARSE); }

int64_t lard_monotonic_ms(void) { return clock_in_ms(CLOCK_MONOTONIC); }

int64_t lard_uptime_ms(void) {
#ifdef CLOCK_BOOTTIME
    struct timespec t;
    return clock_gettime(CLOCK_BOOTTIME, &t) == 0 ? (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000 : 0;
#else
    return 0;
#endif
}

int lard_inode(int fd, uint64_t inode[2]) {
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return errno;
    }
    inode[0] = (uint64_t)info.st_ino;
    inode[1] = 0;
#if defined(STATX_BTIME)
    struct statx more;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &more) == 0 && (more.stx_mask & STATX_BTIME)) {
        inode[1] = (uint64_t)more.stx_btime.tv_sec * 1000000000u + more.stx_btime.tv_nsec;
    }
#elif defined(__APPLE__)
    inode[1] = (uint64_t)info.st_birthtimespec.tv_sec * 1000000000u + (uint64_t)info.st_birthtimespec.tv_nsec;
#endif
    return 0;
}

bool lard_is_same_inode(const uint64_t one[2], const uint64_t other[2]) {
    return one[0] == other[0] && (one[1] == other[1] || !one[1] || !other[1]);
}

void lard_sleep_ms(unsigned ms) {
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

bool lard_file_may_reach(uint64_t bytes) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

size_t lard_page_bytes(void) {
    long bytes = sysconf(_SC_PAGESIZE);
    return bytes > 0 ? (size_t)bytes : 4096;
}

/* msync accepts only an address that is a multiple of the page size, and syncs whole pages. */
int lard_sync(uint8_t *base, size_t from, size_t bytes) {
    size_t before = from & (lard_page_bytes() - 1);
    return msync(base + (from - before), bytes + before, MS_SYNC) == 0 ? 0 : errno;
}

#if defined(__linux__)

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

#define UUID_CHARACTERS 36
#define UUID_DIGITS 32

#define PROC_MAGIC 0x9fa0 /* <linux/magic.h> */

/* Container runtimes mount /dev/null or an empty file over files that they hide. */
static bool is_masked(int fd) {
    struct statfs info;
    return fstatfs(fd, &info) == 0 && info.f_type != PROC_MAGIC;
}

/* 0, or errno. */
static int read_uuid(const char *path, char text[UUID_CHARACTERS]) {
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
            code = got < 0 ? errno : have >= UUID_DIGITS ? 0 : is_masked(fd) ? ENOENT : EIO;
            break;
        }
    }
    close(fd);
    return code;
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

#define LEAST_PIECE (1u << 20)

/* If a signal interrupts the call, tmpfs gives back what it has reserved: so each interruption halves the piece.
 */
int lard_allocate(int fd, uint64_t bytes) {
    if (!lard_file_may_reach(bytes)) {
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
        int failed = posix_fallocate(fd, (off_t)done, (off_t)piece);
        if (failed == 0) {
            done += piece;
        } else if (failed != EINTR) {
            return failed;
        } else if (piece > LEAST_PIECE) {
            piece /= 2;
        }
    }
    return 0;
}

void lard_release_space(int fd, uint64_t from, uint64_t bytes) {
    (void)!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)bytes);
}

/*
 * File systems whose files change past this kernel's page cache: those of servers, of clusters, and of the host of
 * a virtual machine (9p, vboxsf, prl_fs, vmhgfs; virtiofs has FUSE's type). FUSE is refused as a whole: its server
 * may show one file under two names, each with its own pages.
 */
const char *lard_fs_of_others(unsigned long type) {
    static const struct {
        unsigned long type;
        const char *name;
    } others[] = {
        {0x6969, "nfs"},        {0xff534d42, "cifs"}, {0xfe534d42, "smb2"},   {0x517b, "smb"},
        {0x00c36400, "ceph"},   {0x01021997, "9p"},   {0x5346414f, "afs"},    {0x6b414653, "kafs"},
        {0x0bd00bd0, "lustre"}, {0x47504653, "gpfs"}, {0x7461636f, "ocfs2"},  {0x01161970, "gfs2"},
        {0x73757245, "coda"},   {0x65735546, "fuse"}, {0x786f4256, "vboxsf"}, {0x7c7c6673, "prl_fs"},
        {0xbacbacbc, "vmhgfs"}, {0x564c, "ncp"},      {0x19830326, "beegfs"}, {0x20030528, "orangefs"},
        {0xaad7aaea, "panfs"},  {0xbeefdead, "snfs"}, {0x61636673, "acfs"},   {0x013111a8, "ibrix"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if ((type & 0xffffffffUL) == others[i].type) {
            return others[i].name;
        }
    }
    return NULL;
}

int lard_is_network_fs(int fd, const char **name) {
    struct statfs info;
    if (fstatfs(fd, &info) != 0) {
        return -errno;
    }
    *name = lard_fs_of_others((unsigned long)info.f_type);
    return *name != NULL;
}

int lard_is_stacked_fs(int fd) {
    struct statfs info;
    if (fstatfs(fd, &info) != 0) {
        return -errno;
    }
    unsigned long type = (unsigned long)info.f_type & 0xffffffffUL;
    return type == 0x794c7630 /* overlay */ || type == 0xf15f /* ecryptfs */;
}

void lard_wait(uint32_t *word, uint32_t value, unsigned timeout_ms) {
    struct timespec t = {.tv_sec = timeout_ms / 1000, .tv_nsec = (long)(timeout_ms % 1000) * 1000000};
    syscall(SYS_futex, word, FUTEX_WAIT, value, &t, NULL, 0);
}

void lard_wake(uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0); }

#elif defined(__APPLE__)

int lard_random(void *out, size_t bytes) {
    arc4random_buf(out, bytes);
    return 0;
}

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

int lard_allocate(int fd, uint64_t bytes) {
    if (!lard_file_may_reach(bytes)) {
        return EFBIG;
    }
    fstore_t store = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, (off_t)bytes, 0};
    if (fcntl(fd, F_PREALLOCATE, &store) == -1) {
        return errno;
    }
    return ftruncate(fd, (off_t)bytes) == 0 ? 0 : errno;
}

void lard_release_space(int fd, uint64_t from, uint64_t bytes) { (void)fd, (void)from, (void)bytes; }

int lard_is_network_fs(int fd, const char **name) {
    struct statfs info;
    *name = "not local";
    if (fstatfs(fd, &info) != 0) {
        return -errno;
    }
    return (info.f_flags & MNT_LOCAL) ? 0 : 1;
}

int lard_is_stacked_fs(int fd) { return (void)fd, 0; }

/* macOS has no futex across processes, so this sleeps for a short time. Callers check their word again. */
void lard_wait(uint32_t *word, uint32_t value, unsigned timeout_ms) {
    (void)timeout_ms;
    if (__atomic_load_n(word, __ATOMIC_RELAXED) == value) {
        struct timespec t = {0, 100000};
        nanosleep(&t, NULL);
    }
}

void lard_wake(uint32_t *word) { (void)word; }

#else
#error "Larder runs on Linux and macOS"
#endif
