/*
 * process.c — who is attached, and who is alive.
 *
 * Each process holds a POSIX lock (fcntl(2)) on one byte of the lock file: byte 0
 * for the moment of opening or closing, byte 1 + slot as long as it is attached.
 * The kernel drops the lock with the process, whatever kills it; fork does not
 * inherit it. A process cannot see its own locks and closing any descriptor of
 * the file drops them all, hence one handle a process and lock file, and a
 * descriptor that stays open.
 *
 * A claim raises the slot's incarnation, so that a lock word left by a dead process
 * is not taken for one of the living process that has its slot now.
 */
#define _GNU_SOURCE
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCKFILE_MAGIC "LARDLOCK"
#define INCARNATION_MASK 0x7ffffu

volatile unsigned lard_fork_epoch;
static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before_fork(void) { pthread_mutex_lock(&registry); }
static void in_parent(void) { pthread_mutex_unlock(&registry); }
static void in_child(void) {
    lard_fork_epoch++;
    pthread_mutex_unlock(&registry);
}
static bool forks_watched;
static void install(void) {
    lard_crc_init();
    forks_watched = pthread_atfork(before_fork, in_parent, in_child) == 0;
}

void lard_registry_lock(void) {
    pthread_once(&once, install);
    pthread_mutex_lock(&registry);
}

/* Without this a child would take its parent's slot for its own. */
bool lard_watch_forks(void) {
    forks_watched = forks_watched || pthread_atfork(before_fork, in_parent, in_child) == 0;
    return forks_watched;
}

void lard_registry_unlock(void) { pthread_mutex_unlock(&registry); }

#define LOCK_ATTEMPTS 4 /* none of these calls waits, so a signal interrupts them once at most */

static int lock_byte(int fd, int command, short type, off_t start, off_t bytes, struct flock *result) {
    struct flock lock;
    int failed = -1;
    errno = EINTR;
    for (int attempt = 0; failed && errno == EINTR && attempt < LOCK_ATTEMPTS; attempt++) {
        memset(&lock, 0, sizeof lock);
        lock.l_type = type;
        lock.l_whence = SEEK_SET;
        lock.l_start = start;
        lock.l_len = bytes;
        failed = fcntl(fd, command, &lock);
    }
    if (result) {
        *result = lock;
    }
    return failed;
}

typedef struct {
    char magic[8];
    uint64_t version;
    uint8_t id[16];
} lockfile_content;

/* Its creator was killed half-way, or the power failed: a length may reach the disk without the bytes. */
static bool is_unfinished(const lockfile_content *content, size_t bytes, uint64_t file_bytes) {
    static const lockfile_content zeros;
    return memcmp(content->magic, LOCKFILE_MAGIC, bytes < 8 ? bytes : 8) == 0 ||
           (file_bytes <= sizeof *content && memcmp(content, &zeros, bytes) == 0);
}

/* A new identity, on disk before it is used: lost in a crash of the machine, it would cost a cache closed cleanly.
 */
static int make_identity(int fd, lockfile_content *content) {
    memset(content, 0, sizeof *content);
    memcpy(content->magic, LOCKFILE_MAGIC, 8);
    content->version = 1;
    int code = lard_random(content->id, sizeof content->id);
    code = code ? code : lard_file_write(fd, content, sizeof *content, 0);
    return code ? code : fsync(fd) == 0 ? 0 : errno;
}

/* The identity of a lock file that is locked; one whose maker did not finish it gets another. */
static larder_status identify(int fd, const char *path, uint64_t file_bytes, uint8_t id[16], larder_error *error) {
    lockfile_content content;
    size_t got;
    int code = lard_file_read(fd, &content, sizeof content, 0, &got);
    if (code) {
        return lard_fail_call(error, "read", path, code);
    }
    if (!is_unfinished(&content, got, file_bytes)) {
        return lard_fail(error, LARDER_NOT_LARDER, 0, "%s", path);
    }
    bool finished = got == sizeof content && memcmp(content.magic, LOCKFILE_MAGIC, 8) == 0;
    if (!finished && (code = make_identity(fd, &content)) != 0) {
        return lard_fail_call(error, "write", path, code);
    }
    memcpy(id, content.id, 16);
    return LARDER_OK;
}

int lard_lockfile_look(const char *path, char *lock, struct stat *info) {
    snprintf(lock, LARD_LOCK_PATH_MAX, "%.*s.lock", PATH_MAX - 1, path);
    return stat(lock, info) == 0 ? 1 : errno == ENOENT ? 0 : -1;
}

larder_status lard_lockfile_open(const char *path, int64_t wait_ms, int *fd_out, struct stat *info, uint8_t id[16],
                                 larder_error *error) {
    struct stat named;

    for (int attempt = 0; attempt < 8; attempt++) {
        int fd = LARD_CHANGE(open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
        if (fd < 0) {
            return lard_fail_call(error, "open", path, errno);
        }
        larder_status status = lard_file_trusted(fd, path, info, error);
        status = status == LARDER_OK ? lard_lockfile_enter(fd, wait_ms, error, path) : status;
        if (status != LARDER_OK) {
            close(fd);
            return status;
        }
        int code = stat(path, &named) == 0 ? 0 : errno;
        if (code == 0 && named.st_ino == info->st_ino && named.st_dev == info->st_dev) {
            status = identify(fd, path, (uint64_t)info->st_size, id, error);
        } else if (code == 0 || code == ENOENT) {
            close(fd); /* removed between open and lock */
            continue;
        } else {
            status = lard_fail_call(error, "stat", path, code);
        }
        if (status != LARDER_OK) {
            close(fd);
            return status;
        }
        *fd_out = fd;
        return LARDER_OK;
    }
    return lard_fail(error, LARDER_LOCKED, 0, "%s is removed again and again", path);
}

/* Locks the lock file again that this process has open, and reads its identity. */
larder_status lard_lockfile_reenter(int fd, int64_t wait_ms, uint8_t id[16], larder_error *error,
                                    const char *path) {
    larder_status status = lard_lockfile_enter(fd, wait_ms, error, path);
    if (status != LARDER_OK) {
        return status;
    }
    status = identify(fd, path, UINT64_MAX, id, error);
    if (status != LARDER_OK) {
        lard_lockfile_leave(fd);
    }
    return status;
}

larder_status lard_lockfile_enter(int fd, int64_t wait_ms, larder_error *error, const char *path) {
    int64_t start = lard_monotonic_ms();
    while (lock_byte(fd, F_SETLK, F_WRLCK, 0, 1, NULL) != 0) {
        if (errno != EACCES && errno != EAGAIN && errno != EINTR) {
            return lard_fail_call(error, "lock", path, errno);
        }
        int64_t waited = lard_monotonic_ms() - start;
        if (waited < 0 || waited > wait_ms) { /* less than nothing: the clock failed */
            return lard_fail(error, LARDER_LOCKED, 0, "%s", path);
        }
        lard_sleep_ms(2);
    }
    return LARDER_OK;
}

/* Nobody could open the cache any more while this process lives. */
void lard_lockfile_leave(int fd) {
    for (int attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
        if (lock_byte(fd, F_SETLK, F_UNLCK, 0, 1, NULL) == 0) {
            return;
        }
    }
}

int lard_lockfile_alone(int fd) {
    struct flock found;
    return lock_byte(fd, F_GETLK, F_WRLCK, 1, 4096, &found) != 0 ? -1 : found.l_type == F_UNLCK;
}

/* Whether the descriptor is still the lock file's: daemonizers close descriptors that are not theirs, its locks go
 * with it, and another file may have its number by now. */
bool lard_lockfile_kept(const larder *cache, int fd) {
    struct stat info;
    return fd >= 0 && fstat(fd, &info) == 0 && (uint64_t)info.st_ino == cache->lock_inode &&
           (uint64_t)info.st_dev == cache->lock_device;
}

uint32_t lard_owner_word(uint32_t slot, uint32_t incarnation) {
    return (slot + 1) | (incarnation & INCARNATION_MASK) << 12;
}

static bool claim(larder *cache, lard_map *map, uint32_t slot) {
    lard_process *row = &map->processes[slot];
    if (lock_byte(cache->lock_fd, F_SETLK, F_WRLCK, 1 + (off_t)slot, 1, NULL) != 0) {
        return false;
    }
    uint32_t incarnation = lard_load(&row->incarnation) + 1;
    lard_store_release(&row->incarnation, incarnation);
    lard_store(&row->pid, (uint32_t)getpid());
    for (int i = 0; i < LARD_COUNTERS; i++) {
        uint64_t count = lard_load(&row->counters[i]);
        if (count) {
            lard_store(&row->counters[i], 0);
            lard_add(&map->control->retired[i], count);
        }
    }
    /* Other threads may be inside calls on the map this process leaves. */
    __atomic_store_n(&cache->slot, slot, __ATOMIC_RELAXED);
    __atomic_store_n(&cache->incarnation, incarnation, __ATOMIC_RELAXED);
    __atomic_store_n(&cache->owner_word, lard_owner_word(slot, incarnation), __ATOMIC_RELAXED);
    __atomic_store_n(&cache->counters, row->counters, __ATOMIC_RELAXED);
    __atomic_store_n(&cache->next_value_id, 0, __ATOMIC_RELAXED);
    return true;
}

/* In another file the slot that this process has, which it would hold beside a new one; then those whose last
 * owner left properly; then those whose owner died. SYSTEM and errno where locks fail. */
larder_status lard_process_claim(larder *cache, lard_map *map) {
    bool moves = cache->map && cache->map != map && cache->fork_epoch == lard_fork_epoch;
    if (moves && cache->slot < map->super.process_slots && claim(cache, map, cache->slot)) {
        return LARDER_OK;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t slot = 0; slot < map->super.process_slots; slot++) {
            if ((lard_load(&map->processes[slot].pid) == 0) != (pass == 0)) {
                continue;
            }
            if (claim(cache, map, slot)) {
                return LARDER_OK;
            }
            if (errno != EACCES && errno != EAGAIN) {
                return LARDER_SYSTEM;
            }
        }
    }
    return LARDER_NO_SLOT;
}

void lard_process_release(larder *cache) {
    lard_map *map = cache->map;
    if (map && !map->poisoned) {
        lard_store(&map->processes[cache->slot].pid, 0);
    }
    lock_byte(cache->lock_fd, F_SETLK, F_UNLCK, 1 + (off_t)cache->slot, 1, NULL);
}

bool lard_process_alive(const larder *cache, const lard_map *map, uint32_t owner_word) {
    uint32_t slot = (owner_word & 0xfff) - 1;
    uint32_t incarnation = owner_word >> 12 & INCARNATION_MASK;
    struct flock found;
    if (slot >= map->super.process_slots ||
        (lard_load_acquire(&map->processes[slot].incarnation) & INCARNATION_MASK) != incarnation) {
        return false;
    }
    if (slot == __atomic_load_n(&cache->slot, __ATOMIC_RELAXED)) {
        return true;
    }
    int fd = __atomic_load_n(&cache->lock_fd, __ATOMIC_RELAXED);
    if (!lard_lockfile_kept(cache, fd)) {
        return true;
    }
    return lock_byte(fd, F_GETLK, F_WRLCK, 1 + (off_t)slot, 1, &found) != 0 || found.l_type != F_UNLCK;
}
