/*
 * calls.h — wraps every system and library call that the engine makes, so that a test can let one fail.
 *
 * The program is linked with --wrap for each name (CALLS in the Makefile). A process that is armed counts its
 * calls. The plan names one of them and how it fails: once, together with the next call, or from then on always.
 * A run in which none fails notes the place of each call in the code, by its callers. Allocations are counted, so
 * that leaks are found.
 */
#ifndef LARD_CALLS_H
#define LARD_CALLS_H

#include "children.h"
#include "mounts.h"

#include <execinfo.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>

/* AddressSanitizer is not asked about SIGBUS, or it would report, and not be killed by, what nobody handles. */
const char *__asan_default_options(void);
__attribute__((visibility("default"), used)) const char *__asan_default_options(void) { return "handle_sigbus=0"; }

enum { PART = -1, NOTHING = -2, MOST_CALLS = 4096 }; /* beside the errnos: half of the bytes, none */
enum { ONCE, TWICE, FOR_GOOD, WAYS };

#define CALLS_LIST(X)                                                          \
    X(open, EMFILE, ENFILE, EACCES, ENOMEM, EINTR, ENOSPC, EDQUOT, EROFS, EIO) \
    X(close, EIO, EINTR)                                                       \
    X(stat, EIO, EACCES, ENOMEM, ENOENT)                                       \
    X(fstat, EIO, ENOMEM)                                                      \
    X(fstatfs, EIO, ENOSYS, EINTR)                                             \
    X(lseek, EINVAL, EIO)                                                      \
    X(read, EIO, EINTR, PART, NOTHING)                                         \
    X(pread, EIO, EINTR, PART, ENOMEM)                                         \
    X(pwrite, EIO, ENOSPC, EDQUOT, EINTR, PART, NOTHING)                       \
    X(pwritev, EIO, ENOSPC, EDQUOT, EINTR, PART, NOTHING)                      \
    X(unlink, EACCES, EROFS, EIO, EBUSY)                                       \
    X(mkdir, EACCES, ENOSPC, EDQUOT, EROFS, EMLINK, EIO)                       \
    X(rmdir, EBUSY, EACCES, EIO)                                               \
    X(chmod, EPERM, EROFS, EIO)                                                \
    X(fchmod, EPERM, EROFS, EIO)                                               \
    X(fchown, EPERM, EROFS, EIO)                                               \
    X(ftruncate, EPERM, ENOSPC, EFBIG, EINTR, EIO)                             \
    X(truncate, EPERM, ENOSPC, EFBIG, EINTR, EIO)                              \
    X(statvfs, ENOSYS, EACCES, EINTR, EIO)                                     \
    X(fstatvfs, ENOSYS, EINTR, EIO)                                            \
    X(getrlimit, EINVAL)                                                       \
    X(getcwd, ENOENT, ENOMEM, EACCES)                                          \
    X(fcntl, ENOLCK, EINTR, EIO, EAGAIN, EACCES)                               \
    X(flock, EWOULDBLOCK, EINTR, ENOLCK)                                       \
    X(fsync, EIO, ENOSPC, EINTR)                                               \
    X(fdatasync, EIO, ENOSPC, EINTR)                                           \
    X(lstat, EIO, ENOMEM)                                                      \
    X(mmap, ENOMEM, EAGAIN, EACCES, ENODEV, ENFILE)                            \
    X(munmap, ENOMEM)                                                          \
    X(madvise, ENOMEM, EAGAIN)                                                 \
    X(posix_madvise, ENOMEM)                                                   \
    X(mincore, ENOMEM, EAGAIN)                                                 \
    X(utimensat, EACCES, EROFS)                                                \
    X(statx, ENOSYS, EIO)                                                      \
    X(msync, EIO, ENOSPC, ENOMEM, EBUSY)                                       \
    X(posix_fallocate, ENOSPC, EDQUOT, EIO, EINTR, EFBIG, ENODEV)              \
    X(fallocate, EOPNOTSUPP, ENOSPC, EIO, EINTR)                               \
    X(malloc, ENOMEM)                                                          \
    X(calloc, ENOMEM)                                                          \
    X(getrandom, ENOSYS, EINTR, EAGAIN, PART)                                  \
    X(clock_gettime, EINVAL, EPERM)                                            \
    X(nanosleep, EINTR)                                                        \
    X(syscall, ENOSYS, EINTR, EAGAIN)                                          \
    X(sigaction, EINVAL, EPERM)                                                \
    X(pthread_atfork, ENOMEM)

enum {
#define CALL_NUMBER(name, ...) CALL_##name,
    CALLS_LIST(CALL_NUMBER) KINDS
};

static const struct {
    const char *name;
    int codes[12]; /* 0: no more */
} kinds[] = {
#define CALL_ROW(name, ...) {#name, {__VA_ARGS__}},
    CALLS_LIST(CALL_ROW)};

typedef struct {
    unsigned long count;
    unsigned char kind[MOST_CALLS];
    uint64_t place[MOST_CALLS]; /* in the code; only where none fails */
} call_list;

typedef struct { /* in memory that parent and children share */
    unsigned long at;
    int code, way;
    call_list calls;
    unsigned long failed;
    int failed_kind;
    unsigned failed_of[KINDS];
} call_plan;

static call_plan *plan;
static bool armed; /* this process */
static long blocks;
static void (*instead)(int kind); /* done before the call that the plan names, which then does not fail */

enum { MOST_CALLERS = 64 };
static int callers_outside; /* callers that belong to the test and not to a place */

/* Called where the calls that count begin. */
static void begin_places(void) {
    void *callers[MOST_CALLERS];
    callers_outside = backtrace(callers, MOST_CALLERS) - 1;
}

/* The return addresses of a call's callers, as one number. They are the same in all children of a process. */
static uint64_t place_in_code(void) {
    void *callers[MOST_CALLERS];
    int count = backtrace(callers, MOST_CALLERS) - callers_outside;
    uint64_t place = 0;
    for (int i = 0; i < count; i++) {
        place = (place ^ (uint64_t)(uintptr_t)callers[i]) * 0x9e3779b97f4a7c15ull;
        place ^= place >> 32;
    }
    return place;
}

static bool can_answer(int kind, int code) {
    bool can = false;
    for (size_t i = 0; i < sizeof kinds->codes / sizeof *kinds->codes; i++) {
        can = can || (kinds[kind].codes[i] && kinds[kind].codes[i] == code);
    }
    return can;
}

/* How this call is to fail; 0: not. Where the program has no /dev/shm of its own, the files of other processes
 * there change the number of calls. So the one at the planned number may be of another kind, and then only fails
 * as its own kind can. */
static int verdict(int kind) {
    if (!armed) {
        return 0;
    }
    unsigned long number = ++plan->calls.count;
    if (number < MOST_CALLS) {
        plan->calls.kind[number] = (unsigned char)kind;
        plan->calls.place[number] = plan->at ? 0 : place_in_code();
    }
    bool first = number == plan->at && (instead || can_answer(kind, plan->code));
    bool again =
        plan->failed && number > plan->at &&
        ((plan->way == TWICE && number == plan->at + 1) || (plan->way == FOR_GOOD && kind == plan->failed_kind));
    if (!first && !again) {
        return 0;
    }
    if (first && instead) {
        instead(kind);
        return 0;
    }
    if (first) {
        plan->failed_kind = kind;
    }
    plan->failed++;
    plan->failed_of[kind] |= 1;
    return first || plan->way == FOR_GOOD ? plan->code : kinds[kind].codes[0];
}

/* A call that answers -1 and errno. */
#define FAILS(kind, answer)              \
    do {                                 \
        int code = verdict(CALL_##kind); \
        if (code) {                      \
            errno = code;                \
            return answer;               \
        }                                \
    } while (0)

#define WRAP(type, name, declared, given) \
    type __real_##name declared;          \
    type __wrap_##name declared;          \
    type __wrap_##name declared {         \
        FAILS(name, (type)-1);            \
        return __real_##name given;       \
    }

WRAP(int, stat, (const char *path, struct stat *info), (path, info))
WRAP(int, lstat, (const char *path, struct stat *info), (path, info))
WRAP(int, fstat, (int fd, struct stat *info), (fd, info))
WRAP(int, fstatfs, (int fd, struct statfs *info), (fd, info))
WRAP(off_t, lseek, (int fd, off_t at, int whence), (fd, at, whence))
WRAP(int, flock, (int fd, int operation), (fd, operation))
WRAP(int, unlink, (const char *path), (path))
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(int, rmdir, (const char *path), (path))
WRAP(int, chmod, (const char *path, mode_t mode), (path, mode))
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode))
WRAP(int, fchown, (int fd, uid_t owner, gid_t group), (fd, owner, group))
WRAP(int, truncate, (const char *path, off_t bytes), (path, bytes))
WRAP(int, ftruncate, (int fd, off_t bytes), (fd, bytes))
WRAP(int, statvfs, (const char *path, struct statvfs *room), (path, room))
WRAP(int, fstatvfs, (int fd, struct statvfs *room), (fd, room))
WRAP(int, getrlimit, (__rlimit_resource_t which, struct rlimit *limit), (which, limit))
WRAP(void *, mmap, (void *at, size_t bytes, int may, int flags, int fd, off_t offset),
     (at, bytes, may, flags, fd, offset))
WRAP(int, munmap, (void *at, size_t bytes), (at, bytes))
WRAP(int, madvise, (void *at, size_t bytes, int advice), (at, bytes, advice))
WRAP(int, mincore, (void *at, size_t bytes, unsigned char *pages), (at, bytes, pages))
WRAP(int, statx, (int at, const char *path, int flags, unsigned mask, struct statx *info),
     (at, path, flags, mask, info))
WRAP(int, utimensat, (int at, const char *path, const struct timespec times[2], int flags),
     (at, path, times, flags))
WRAP(int, fallocate, (int fd, int mode, off_t from, off_t bytes), (fd, mode, from, bytes))
WRAP(int, clock_gettime, (clockid_t id, struct timespec *t), (id, t))
WRAP(int, nanosleep, (const struct timespec *t, struct timespec *left), (t, left))
WRAP(int, sigaction, (int number, const struct sigaction *action, struct sigaction *old), (number, action, old))

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    FAILS(open, -1);
    return __real_open(path, flags, mode);
}

int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...) {
    va_list rest;
    va_start(rest, command);
    void *with = va_arg(rest, void *);
    va_end(rest);
    FAILS(fcntl, -1);
    return __real_fcntl(fd, command, with);
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
    long with[6] = {0};
    int count = number == SYS_getdents64 ? 3 : 6; /* as the engine has them */
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < count; i++) {
        with[i] = va_arg(rest, long);
    }
    va_end(rest);
    FAILS(syscall, -1);
    return __real_syscall(number, with[0], with[1], with[2], with[3], with[4], with[5]);
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd) { /* which closes the descriptor even so */
    int done = __real_close(fd);
    FAILS(close, -1);
    return done;
}

/* Not to wait for a disk: what is tested is what follows from the answer. */
int __wrap_msync(void *at, size_t bytes, int flags);
int __wrap_msync(void *at, size_t bytes, int flags) {
    (void)at, (void)bytes, (void)flags;
    FAILS(msync, -1);
    return 0;
}

int __wrap_fsync(int fd);
int __wrap_fsync(int fd) {
    (void)fd;
    FAILS(fsync, -1);
    return 0;
}

int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd) {
    (void)fd;
    FAILS(fdatasync, -1);
    return 0;
}

char *__real_getcwd(char *out, size_t bytes);
char *__wrap_getcwd(char *out, size_t bytes);
char *__wrap_getcwd(char *out, size_t bytes) {
    FAILS(getcwd, NULL);
    return __real_getcwd(out, bytes);
}

/* Those that may do a part of their work. */
#define WRAP_PARTIAL(type, name, declared, given_with)         \
    type __real_##name declared;                               \
    type __wrap_##name declared;                               \
    type __wrap_##name declared {                              \
        int code = verdict(CALL_##name);                       \
        if (code > 0) {                                        \
            errno = code;                                      \
            return -1;                                         \
        }                                                      \
        bytes = code == PART ? bytes / 2 : bytes;              \
        return code == NOTHING ? 0 : __real_##name given_with; \
    }

WRAP_PARTIAL(ssize_t, read, (int fd, void *out, size_t bytes), (fd, out, bytes))
WRAP_PARTIAL(ssize_t, pread, (int fd, void *out, size_t bytes, off_t at), (fd, out, bytes, at))
WRAP_PARTIAL(ssize_t, pwrite, (int fd, const void *from, size_t bytes, off_t at), (fd, from, bytes, at))
WRAP_PARTIAL(ssize_t, getrandom, (void *out, size_t bytes, unsigned flags), (out, bytes, flags))

ssize_t __real_pwritev(int fd, const struct iovec *parts, int count, off_t at);
ssize_t __wrap_pwritev(int fd, const struct iovec *parts, int count, off_t at);
ssize_t __wrap_pwritev(int fd, const struct iovec *parts, int count, off_t at) {
    int code = verdict(CALL_pwritev);
    if (code > 0) {
        errno = code;
        return -1;
    }
    return code == NOTHING ? 0
           : code == PART  ? __real_pwrite(fd, parts->iov_base, parts->iov_len / 2, at)
                           : __real_pwritev(fd, parts, count, at);
}

/* Those that answer the errno. */
int __real_posix_fallocate(int fd, off_t from, off_t bytes);
int __wrap_posix_fallocate(int fd, off_t from, off_t bytes);
int __wrap_posix_fallocate(int fd, off_t from, off_t bytes) {
    int code = verdict(CALL_posix_fallocate);
    return code ? code : __real_posix_fallocate(fd, from, bytes);
}

int __real_posix_madvise(void *at, size_t bytes, int advice);
int __wrap_posix_madvise(void *at, size_t bytes, int advice);
int __wrap_posix_madvise(void *at, size_t bytes, int advice) {
    int code = verdict(CALL_posix_madvise);
    return code ? code : __real_posix_madvise(at, bytes, advice);
}

/* glibc's is no function of its own for --wrap; this one registers by way of the real one. */
int __real_pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void));
int __wrap_pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void));
int __wrap_pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void)) {
    int code = verdict(CALL_pthread_atfork);
    return code ? code : __real_pthread_atfork(before, parent, child);
}

/* Memory */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void __real_free(void *block);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void __wrap_free(void *block);

void *__wrap_malloc(size_t bytes) {
    FAILS(malloc, NULL);
    void *block = __real_malloc(bytes);
    blocks += block != NULL;
    return block;
}

void *__wrap_calloc(size_t count, size_t bytes) {
    FAILS(calloc, NULL);
    void *block = __real_calloc(count, bytes);
    blocks += block != NULL;
    return block;
}

void __wrap_free(void *block) {
    blocks -= block != NULL;
    __real_free(block);
}

/* Gives the program a /dev/shm of its own. The engine opens each file of hints there, also those of other
 * programs, and may remove them. */
static bool has_own_hints(void) {
    return mounts_of_its_own("/dev/shm") && mount("tmpfs", "/dev/shm", "tmpfs", 0, NULL) == 0;
}

#define RUN_CALLS(suite, tests)                                                                  \
    int main(int argc, char **argv) {                                                            \
        if (!has_own_hints()) {                                                                  \
            printf("  needs root: a /dev/shm without the files of other programs\n");            \
        }                                                                                        \
        return run_tests(suite, tests, sizeof tests / sizeof *tests, argc > 1 ? argv[1] : NULL); \
    }

#endif
