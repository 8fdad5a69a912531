/*
 * hints.c — maps the memory of what is only advice: /dev/shm/larder-<file id>, or anonymous memory.
 *
 * The file in /dev/shm belongs to one user, and its space is reserved, so that no store to it can fail. Where it
 * cannot be had (no /dev/shm, or not enough room; another user's; not Linux), the memory is shared only between a
 * process and the children that it forks.
 *
 * A process that has the file mapped holds a lock on it (flock), which the kernel drops with the last map. So the
 * process that unmaps it last can tell, and removes it. If that was killed, the file stays for the next process
 * that opens the cache, or until another cache's is created: then those that nobody has mapped are removed, and
 * with them what the killed process had not yet copied of its counts. It is harmless to remove one in use.
 *
 * The caller holds the opener's lock, so no other process creates the same file at that time.
 */
#define _GNU_SOURCE
#include "file/hints.h"
#include "base/descriptor.h"
#include "base/fail.h"
#include "base/io.h"
#include "base/space.h"
#include "file/sigbus.h"
#include "proc/fork.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAGIC \
    { 'L', 'A', 'R', 'D', 'H', 'I', 'N', 'T' }
#define VERSION 4u
#define DIRECTORY "/dev/shm"
#define PREFIX "larder-"
#define ID_DIGITS 32
#define NAME_BYTES 64
#define ATTEMPTS 4
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux; elsewhere there is no file to reserve */
#endif
/* The index may take this part of a shard before its buckets share words: more than that of records of a hundred
 * bytes takes. */
#define INDEX_PART 8

typedef struct {
    char magic[8];
    uint32_t version;
    uint32_t reserved0;
    uint8_t file_id[16];
    uint64_t reserved[4];
} hints_header;

_Static_assert(sizeof(hints_header) == 64 && sizeof(lard_hints_row) == 256 && sizeof(lard_shard_hints) % 64 == 0,
               "hints layout");

static void name_of(const lard_map *map, char name[NAME_BYTES]) {
    int used = snprintf(name, NAME_BYTES, DIRECTORY "/" PREFIX);
    for (unsigned i = 0; i < sizeof map->super.file_id; i++) {
        used += snprintf(name + used, NAME_BYTES - (size_t)used, "%02x", map->super.file_id[i]);
    }
}

/* Bytes of a shard's hints. */
static uint64_t shard_bytes(const lard_map *map) {
    uint64_t words = (uint64_t)map->reads_mask + 1, young = (map->super.segments_per_shard + 7) / 8;
    uint64_t dead = (uint64_t)map->super.segments_per_shard * sizeof(uint32_t) + sizeof(uint32_t);
    return (sizeof(lard_shard_hints) + words * sizeof(uint16_t) + young + dead + 63) / 64 * 64;
}

/* Computes where the parts are, and how long all are. */
static void plan(lard_map *map) {
    uint64_t buckets =
        (uint64_t)map->super.segments_per_shard * map->super.segment_bytes / sizeof(lard_bucket) / INDEX_PART;
    uint64_t words = 32; /* a cache line */
    while (words < buckets) {
        words *= 2;
    }
    map->reads_mask = (uint32_t)words - 1;
    map->hints_bytes = sizeof(hints_header) + map->super.process_slots * sizeof(lard_hints_row) +
                       map->super.shard_count * shard_bytes(map);
}

static hints_header header_of(const lard_map *map) {
    hints_header header = {.magic = MAGIC, .version = VERSION};
    memcpy(header.file_id, map->super.file_id, sizeof header.file_id);
    return header;
}

/* Is it a whole one of these hints, which only the cache's owner can write to, and still at its name? Locks it. */
static bool is_fit(int fd, const struct stat *info, const lard_map *map, uid_t owner) {
    hints_header wanted = header_of(map), found;
    size_t got = 0;
    return flock(fd, LOCK_SH | LOCK_NB) == 0 && S_ISREG(info->st_mode) && info->st_uid == owner &&
           info->st_nlink == 1 && (info->st_mode & 0777) == 0600 && (uint64_t)info->st_size == map->hints_bytes &&
           lard_io_read(fd, &found, sizeof found, 0, &got) == 0 && got == sizeof found &&
           memcmp(&found, &wanted, sizeof found) == 0;
}

/* Removes a file of hints that no process has mapped. False: it cannot be told whose a descriptor is, and the one
 * that was opened stays open.
 */
static bool remove_unused(const char *name) {
    struct stat info;
    int fd = lard_descriptor_open(name, O_RDWR | O_NONBLOCK, &info);
    if (fd < 0) { /* it is gone, or is another user's or no file */
        return errno == ENOENT || errno == ESTALE || errno == EACCES || errno == ELOOP || errno == ENXIO;
    }
    if (S_ISREG(info.st_mode) && info.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        lard_descriptor_check(fd, &info) == 0) {
        LARD_CHANGE(unlink(name));
    }
    lard_descriptor_close(fd, &info);
    return true;
}

/* Is it the name of a file of hints? */
static bool is_of_hints(const char *name) {
    const char *id = name + strlen(PREFIX);
    return strncmp(name, PREFIX, strlen(PREFIX)) == 0 && strlen(id) == ID_DIGITS &&
           strspn(id, "0123456789abcdef") == ID_DIGITS;
}

/* Removes what killed processes have left. By the system call, because a stream of readdir can only be freed
 * together with its descriptor, which may be the host's by then. */
static void sweep(void) {
#ifdef __linux__
    _Alignas(struct dirent) char entries[4096] = "";
    struct stat info;
    int fd = lard_descriptor_open(DIRECTORY "/.", O_RDONLY | O_DIRECTORY, &info);
    if (fd < 0) {
        return;
    }
    bool goes_on = true;
    for (long got; goes_on && (got = syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0;) {
        for (long at = 0, next; goes_on && at < got; at = next) {
            char name[NAME_BYTES];
            const struct dirent *entry = (const struct dirent *)(entries + at);
            next = at + entry->d_reclen;
            if (is_of_hints(entry->d_name)) {
                snprintf(name, sizeof name, DIRECTORY "/%.*s", (int)strlen(PREFIX) + ID_DIGITS, entry->d_name);
                goes_on = remove_unused(name);
            }
        }
    }
    lard_descriptor_close(fd, &info);
#endif
}

/* The descriptor of a new file of zeros, or -1. What changes it is done by its name. */
static int create(const char *name, const lard_map *map) {
    sweep();
    if (!lard_space_may_reach(map->hints_bytes)) {
        return -1;
    }
    /* Another process may sweep the file before it is locked. */
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        struct stat info;
        int fd = LARD_CHANGE(lard_descriptor_open(name, O_RDWR | O_CREAT | O_EXCL, &info));
        if (fd < 0 && errno != ESTALE) {
            return -1;
        }
        if (fd < 0) {
            continue;
        }
        if (flock(fd, LOCK_SH | LOCK_NB) == 0 && lard_descriptor_stat(fd, name, &info) == 0 &&
            chmod(name, 0600) == 0 && LARD_CHANGE(truncate(name, (off_t)map->hints_bytes)) == 0) {
            return fd;
        }
        LARD_CHANGE(unlink(name));
        lard_descriptor_close(fd, &info);
    }
    return -1;
}

/* The hints belong to the owner of the cache: root, which may use the cache of another user, uses that one's
 * hints, but makes and removes none. What is there and does not fit was left half-made, or belongs to somebody
 * else: then it cannot be removed, and the second attempt fails as the first. */
static int open_shared(const char *name, const lard_map *map, uid_t owner, bool *is_new) {
#ifdef __linux__
    struct stat info;
    int fd = lard_descriptor_open(name, O_RDWR | O_NONBLOCK, &info);
    if (fd >= 0) {
        if (is_fit(fd, &info, map, owner)) {
            return fd;
        }
        lard_descriptor_close(fd, &info);
    }
    if (owner != geteuid()) {
        return -1;
    }
    LARD_CHANGE(unlink(name));
    *is_new = true;
    return create(name, map);
#else
    (void)name, (void)map, (void)owner, (void)is_new;
    return -1;
#endif
}

/* Reserves the memory of a mapped file, so that no store to it can fail. An emulator may answer 0 and do nothing
 * (qemu-user), and Linux before 5.14 answers EINVAL. */
static bool reserve(const char *name, void *base, int fd, uint64_t bytes) {
    struct stat named;
    int failed = madvise(base, bytes, MADV_POPULATE_WRITE) == 0 ? 0 : errno;
    if ((failed != 0 && failed != EINVAL) || stat(name, &named) != 0) {
        return false;
    }
    return (failed == 0 && (uint64_t)named.st_blocks * 512 >= bytes) ||
           (lard_descriptor_check(fd, &named) == 0 && LARD_CHANGE(lard_space_reserve(fd, bytes)) == 0);
}

/* Maps the file. MAP_FAILED: it cannot be had. */
static void *map_shared(const lard_map *map, uid_t owner) {
    char name[NAME_BYTES];
    struct stat info;
    bool is_new = false;
    name_of(map, name);
    int fd = open_shared(name, map, owner, &is_new);
    if (fd < 0) {
        return MAP_FAILED;
    }
    void *base = mmap(NULL, map->hints_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    bool is_ours = lard_descriptor_stat(fd, name, &info) == 0; /* if so, it is what was mapped */
    if (base != MAP_FAILED && (!is_ours || (is_new && !reserve(name, base, fd, map->hints_bytes)))) {
        munmap(base, map->hints_bytes);
        base = MAP_FAILED;
    }
    if (is_new && base != MAP_FAILED) {
        *(hints_header *)base = header_of(map);
    } else if (is_new) {
        LARD_CHANGE(unlink(name));
    }
    if (is_ours) {
        lard_descriptor_close(fd, &info);
    }
    return base;
}

larder_status lard_hints_open(lard_map *map, uid_t owner, const char *path, larder_error *error) {
    plan(map);
    lard_fork_lock(); /* no child has half of it */
    void *base = map_shared(map, owner);
    map->has_shared_hints = base != MAP_FAILED;
    if (!map->has_shared_hints) {
        base = mmap(NULL, map->hints_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    }
    if (base != MAP_FAILED) {
        map->hints = base;
        map->rows = (lard_hints_row *)(map->hints + sizeof(hints_header));
        uint8_t *of_shard = (uint8_t *)(map->rows + map->super.process_slots);
        for (size_t shard = 0; shard < map->super.shard_count; shard++, of_shard += shard_bytes(map)) {
            map->dircache[shard].hints = (lard_shard_hints *)of_shard;
        }
    }
    larder_status status = base == MAP_FAILED ? lard_fail(error, LARDER_NO_MEMORY, errno, "%s", path)
                           : map->has_shared_hints
                               ? lard_sigbus_guard(map, map->hints, map->hints_bytes, path, error)
                               : LARDER_OK;
    lard_fork_unlock();
    return status;
}

void lard_hints_close(lard_map *map) {
    char name[NAME_BYTES];
    if (!map->hints) {
        return;
    }
    munmap(map->hints, map->hints_bytes);
    if (map->has_shared_hints) {
        name_of(map, name);
        remove_unused(name);
    }
}
