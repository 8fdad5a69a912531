/*
 * bytelock.c — locks one byte of the lock file for as long as this process lives.
 *
 * An open-file-description lock (fcntl(2), F_OFD_SETLK) belongs to the open file description, and is dropped with
 * the last reference to that. Here the last reference is a map of one page, which nobody reads. The descriptor is
 * closed at once: so a host that closes all descriptors, copies the directory or closes the lock file does not end
 * the lock. MADV_DONTFORK keeps the page out of children. The kernel drops the lock with the address space: at
 * exit, exec and kill -9.
 *
 * Some systems have no such locks (macOS, gVisor), and a map may not keep the open file (overlayfs maps the file
 * below). There a POSIX lock on the lock file's descriptor is used, which any close of that file in this process
 * drops. Locks of both kinds exclude each other.
 *
 * If a question about a lock gets no answer, the caller is told so, and takes that for "held".
 */
#define _GNU_SOURCE
#include "proc/bytelock.h"
#include "base/page.h"
#include "proc/fork.h"
#include "proc/lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ATTEMPTS 4 /* enough: none of these calls waits, so a signal interrupts it once at most */

static bool posix_only; /* once known, for the life of the process */

bool lard_bytelock_is_posix(const lard_lockfile *file) { return posix_only || file->is_posix; }

static int lock_bytes(int fd, int command, short type, off_t first, off_t bytes, struct flock *result) {
    struct flock lock;
    int failed = -1;
    errno = EINTR;
    for (int attempt = 0; failed && errno == EINTR && attempt < ATTEMPTS; attempt++) {
        memset(&lock, 0, sizeof lock); /* l_pid has to be 0 */
        lock.l_type = type;
        lock.l_whence = SEEK_SET;
        lock.l_start = first;
        lock.l_len = bytes;
        failed = fcntl(fd, command, &lock);
    }
    if (result) {
        *result = lock;
    }
    return failed ? errno : 0;
}

/* Closes the descriptor, unless it is known to be the host's: the host may have closed ours, and opened another
 * file under its number. */
static void close_own(int fd, const lard_lockfile *file) {
    struct stat info;
    if (fstat(fd, &info) != 0 || lard_lockfile_is(file, &info)) {
        close(fd);
    }
}

/* Is one of the bytes locked? 1, 0, or -1 and errno: unknown. The descriptor must be the lock file's before and
 * after the call. */
static int ask(int fd, const lard_lockfile *file, off_t first, off_t bytes) {
    struct flock found = {0};
    int code = lard_lockfile_check(file, fd);
    if (code) {
        errno = code;
        return -1;
    }
    code = EINVAL;
#ifdef F_OFD_GETLK
    code = lock_bytes(fd, F_OFD_GETLK, F_WRLCK, first, bytes, &found);
#endif
    if (code == EINVAL) {
        code = lock_bytes(fd, F_GETLK, F_WRLCK, first, bytes, &found);
    }
    code = code ? code : lard_lockfile_check(file, fd);
    errno = code;
    return code ? -1 : found.l_type != F_UNLCK;
}

#if defined(F_OFD_SETLK) && defined(MADV_DONTFORK)

/* 0; EAGAIN: another lock is on the byte; EINVAL: the system cannot do this; or errno. */
static int take_mapped(const lard_lockfile *file, const char *path, off_t byte, lard_bytelock *held) {
    size_t bytes = lard_page_bytes();
    int fd = lard_lockfile_reopen(file, path);
    if (fd < 0) {
        return errno;
    }
    int code = 0;
    void *page = mmap(NULL, bytes, PROT_NONE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) {
        code = errno == EINVAL || errno == EACCES ? ENOMEM : errno; /* not an answer about locks */
    } else if (madvise(page, bytes, MADV_DONTFORK) != 0) {
        code = errno;
    } else {
        code = lock_bytes(fd, F_OFD_SETLK, F_WRLCK, byte, 1, NULL);
        code = code ? code : lard_lockfile_check(file, fd); /* if it was lost, it is unknown what is locked */
    }
    code = code == EBADF ? ESTALE : code;
    close_own(fd, file);
    if (!code && ask(__atomic_load_n(&file->fd, __ATOMIC_RELAXED), file, byte, 1) == 0) {
        code = EINVAL; /* the close dropped the lock: the map is of another file, as on overlayfs */
    }
    if (code && page != MAP_FAILED) {
        munmap(page, bytes);
    }
    held->page = code ? NULL : page;
    return code == EACCES ? EAGAIN : code;
}

#else
static int take_mapped(const lard_lockfile *file, const char *path, off_t byte, lard_bytelock *held) {
    (void)file, (void)path, (void)byte, (void)held;
    return EINVAL;
}
#endif

static int take_posix(const lard_lockfile *file, off_t byte) {
    if (!lard_lockfile_is_open(file)) {
        return EBADF;
    }
    int code = lock_bytes(file->fd, F_SETLK, F_WRLCK, byte, 1, NULL);
    return code == EACCES ? EAGAIN : code;
}

int lard_bytelock_take(const lard_lockfile *file, const char *path, uint32_t byte, lard_bytelock *held) {
    int code = EINVAL;
    *held = (lard_bytelock){.byte = byte, .fd = -1};
    lard_fork_lock(); /* no fork while the descriptor is open: a child would inherit it, and hold the lock too */
    held->fork_number = lard_fork_number();
    if (!lard_bytelock_is_posix(file)) {
        code = take_mapped(file, path, byte, held);
    }
    lard_fork_unlock();
    if (code == EINVAL) {
        code = take_posix(file, byte);
        held->fd = code ? -1 : file->fd;
        posix_only = posix_only || (!code && !file->is_posix);
    }
    held->held = !code;
    return code;
}

/* munmap can fail if it would split a mapping and there are too many. Then mapping over the page drops the last
 * reference too. */
static void drop_page(void *page) {
    size_t bytes = lard_page_bytes();
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (munmap(page, bytes) == 0) {
            return;
        }
    }
    (void)!mmap(page, bytes, PROT_NONE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void lard_bytelock_drop(lard_bytelock *held, const lard_lockfile *file) {
    if (held->held &&
        held->fork_number == lard_fork_number()) { /* otherwise it is the parent's, and is not shared */
        if (held->page) {
            drop_page(held->page);
        } else if (lard_lockfile_has(file, held->fd)) {
            for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
                if (lock_bytes(held->fd, F_SETLK, F_UNLCK, held->byte, 1, NULL) == 0) {
                    break;
                }
            }
        }
    }
    *held = (lard_bytelock){.fd = -1};
}

bool lard_bytelock_is_ours(const lard_bytelock *held) {
    return held->held && held->fork_number == lard_fork_number();
}

int lard_bytelock_held(const lard_lockfile *file, const char *path, uint32_t first, uint32_t bytes) {
    int answer = bytes ? ask(__atomic_load_n(&file->fd, __ATOMIC_RELAXED), file, first, bytes) : 0;
    if (answer >= 0 || lard_bytelock_is_posix(file)) { /* closing another descriptor would drop POSIX locks */
        return answer;
    }
    lard_fork_lock();
    int fd = lard_lockfile_reopen(file, path);
    lard_fork_unlock();
    if (fd >= 0) {
        answer = ask(fd, file, first, bytes);
        int code = errno;
        close_own(fd, file);
        errno = code;
    }
    return answer;
}
