/*
 * hints_file.c — the file in /dev/shm that has the hints of a cache: /dev/shm/larder-<file id>.
 *
 * It belongs to one user. Its length is that of the mapping. A process reserves each part before it uses that
 * part, so that no store to it can fail. Where it cannot be had (no /dev/shm, or not enough memory; another
 * user's; not Linux), the caller maps memory of its own.
 *
 * A process that has the file mapped holds a lock on it (flock), which the kernel drops with the last map. So the
 * process that unmaps it last can tell, and removes it. If that was killed, the file stays for the next process
 * that opens the cache, or until another cache's is created: then those that no process has mapped are removed,
 * and with them the counts that the killed process had not yet copied. It is harmless to remove one in use.
 *
 * The caller holds the opener's lock, so no other process creates the same file at that time;
 * lard_hints_file_reserve needs none.
 */
#define _GNU_SOURCE
#include "file/hints_file.h"
#include "base/descriptor.h"
#include "base/io.h"
#include "base/page.h"
#include "base/space.h"
#include "file/memory_limit.h"

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
#define VERSION 8u
#define DIRECTORY "/dev/shm"
#define PREFIX "larder-"
#define ID_DIGITS 32
#define NAME_BYTES 64
#define ATTEMPTS 4
#define SPARED 4 /* hints grow to this part of the memory that is left without them */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux; elsewhere there is no file to reserve */
#endif

uint64_t lard_hints_file_others(const lard_map *map, uint32_t shard) {
    return shard < map->other_shards ? sizeof(lard_other_sizes) : 0;
}

uint64_t lard_hints_file_shard_bytes(const lard_map *map, uint32_t words, uint32_t shard) {
    return lard_hints_file_others(map, shard) + map->segment_hints + sizeof(lard_shard_hints) +
           words * sizeof(uint16_t);
}

static uint64_t whole_pages(uint64_t bytes) {
    uint64_t page = lard_page_bytes();
    return (bytes + page - 1) / page * page;
}

/* The header and the rows. */
static uint64_t first_bytes(const lard_map *map) {
    return whole_pages(sizeof(lard_hints_header) + map->super.process_slots * sizeof(lard_hints_row));
}

uint64_t lard_hints_file_shard(const lard_map *map, uint32_t shard) {
    uint32_t with_others = shard < map->other_shards ? shard : map->other_shards;
    return first_bytes(map) + with_others * whole_pages(lard_hints_file_shard_bytes(map, map->reads_most, 0)) +
           (shard - with_others) *
               whole_pages(lard_hints_file_shard_bytes(map, map->reads_most, map->other_shards));
}

uint64_t lard_hints_file_bytes(const lard_map *map, uint32_t words) {
    return first_bytes(map) + map->other_shards * sizeof(lard_other_sizes) +
           map->super.shard_count * lard_hints_file_shard_bytes(map, words, map->other_shards);
}

static void name_of(const lard_map *map, char name[NAME_BYTES]) {
    int used = snprintf(name, NAME_BYTES, DIRECTORY "/" PREFIX);
    for (unsigned i = 0; i < sizeof map->super.file_id; i++) {
        used += snprintf(name + used, NAME_BYTES - (size_t)used, "%02x", map->super.file_id[i]);
    }
}

uint64_t lard_hints_file_rows(const lard_map *map, uint32_t slot) {
    uint64_t rows =
        whole_pages(sizeof(lard_hints_header) + (slot + 1ull) * sizeof(lard_hints_row)) / sizeof(lard_hints_row) -
        1;
    return rows < map->super.process_slots ? rows : map->super.process_slots;
}

lard_hints_header lard_hints_file_header(const lard_map *map, uint32_t words, uint64_t rows) {
    lard_hints_header header = {
        .magic = MAGIC, .version = VERSION, .words = lard_hints_file_sealed(words), .rows = rows};
    memcpy(header.file_id, map->super.file_id, sizeof header.file_id);
    return header;
}

/* The number of words, or 0: these are not the cache's hints. */
static uint32_t words_of(const lard_map *map, const lard_hints_header *found) {
    uint32_t words = lard_hints_file_words(map, found->words);
    lard_hints_header wanted = lard_hints_file_header(map, words, found->rows);
    return words && memcmp(found, &wanted, sizeof wanted) == 0 ? words : 0;
}

/* True if the file is whole, only the cache's owner can write to it, and it is still at its name. Locks it, and
 * looks at the name only then: before, another process may sweep the file. Hints that killed processes left are
 * not used where memory is short by now. */
static bool is_fit(int fd, const char *name, struct stat *info, const lard_map *map, uid_t owner) {
    lard_hints_header found;
    size_t got = 0;
    uint32_t words = 0;
    bool is_left = flock(fd, LOCK_EX | LOCK_NB) == 0; /* no other process has it mapped */
    return flock(fd, LOCK_SH | LOCK_NB) == 0 && lard_descriptor_stat(fd, name, info) == 0 &&
           S_ISREG(info->st_mode) && info->st_uid == owner && info->st_nlink == 1 &&
           (info->st_mode & 0777) == 0600 && (uint64_t)info->st_size == map->hints_bytes &&
           lard_io_read(fd, &found, sizeof found, 0, &got) == 0 && got == sizeof found &&
           (words = words_of(map, &found)) != 0 &&
           (!is_left || lard_hints_file_affordable(map, words, (uint64_t)info->st_blocks * 512) == words);
}

/* Removes a file of hints that no process has mapped. False: no more files can be opened, or this one's descriptor
 * stays open. */
static bool remove_unused(const char *name) {
    struct stat info;
    int fd = lard_descriptor_open(name, O_RDWR | O_NONBLOCK, &info);
    if (fd < 0) { /* it is gone, or is another user's or no file */
        return fd != LARD_DESCRIPTOR_LEFT &&
               (errno == ENOENT || errno == ESTALE || errno == EACCES || errno == ELOOP || errno == ENXIO);
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

/* The descriptor of a new file of zeros, or -1. What changes it is done by its name. Makes *words as many as there
 * is memory for. */
static int create(const char *name, const lard_map *map, uint32_t *words, struct stat *info) {
    sweep();
    *words = lard_hints_file_affordable(map, *words, 0);
    if (*words == 0 || !lard_space_may_reach(map->hints_bytes)) {
        return -1;
    }
    /* Another process may sweep the file before it is locked. */
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int fd = LARD_CHANGE(lard_descriptor_open(name, O_RDWR | O_CREAT | O_EXCL, info));
        if (fd < 0 && errno != ESTALE) {
            return -1;
        }
        if (fd < 0) {
            continue;
        }
        if (flock(fd, LOCK_SH | LOCK_NB) == 0 && lard_descriptor_stat(fd, name, info) == 0 &&
            chmod(name, 0600) == 0 && LARD_CHANGE(truncate(name, (off_t)map->hints_bytes)) == 0) {
            return fd;
        }
        LARD_CHANGE(unlink(name));
        lard_descriptor_close(fd, info);
    }
    return -1;
}

/* The hints belong to the owner of the cache: root, which may use the cache of another user, uses that one's
 * hints, but makes and removes none. What is there and does not fit was left half-made, or belongs to somebody
 * else: then it cannot be removed, and the second attempt fails as the first. */
static int open_shared(const char *name, const lard_map *map, uid_t owner, uint32_t *words, bool *is_new,
                       struct stat *info) {
#ifdef __linux__
    int fd = lard_descriptor_open(name, O_RDWR | O_NONBLOCK, info);
    if (fd >= 0) {
        if (is_fit(fd, name, info, map, owner)) {
            return fd;
        }
        lard_descriptor_close(fd, info);
    }
    if (owner != geteuid()) {
        return -1;
    }
    LARD_CHANGE(unlink(name));
    *is_new = true;
    return create(name, map, words, info);
#else
    (void)name, (void)map, (void)owner, (void)words, (void)is_new, (void)info;
    return -1;
#endif
}

uint32_t lard_hints_file_affordable(const lard_map *map, uint32_t wanted, uint64_t has) {
    uint64_t room = map->has_shared_hints ? lard_space_left(DIRECTORY) : UINT64_MAX;
    uint64_t memory = lard_memory_limit_left(has) / SPARED;
    for (uint32_t words = wanted; words >= map->reads_least; words /= 2) {
        uint64_t bytes = lard_hints_file_bytes(map, words), part = words > map->reads_least ? SPARED : 1;
        if (bytes <= memory && (room == UINT64_MAX || bytes <= (room + has) / part)) {
            return words;
        }
    }
    return 0;
}

bool lard_hints_file_has_memory(const lard_map *map, uint64_t bytes) {
    return bytes <= (map->has_shared_hints ? lard_space_left(DIRECTORY) : UINT64_MAX) &&
           bytes <= lard_memory_limit_left(0) / SPARED;
}

/* Opens the file by its name and reserves there: for kernels older than MADV_POPULATE_WRITE (Linux 5.14), and
 * emulators (qemu-user) that answer 0 and do nothing. */
static bool reserve_by_name(const lard_map *map, uint64_t from, uint64_t bytes) {
    char name[NAME_BYTES];
    struct stat info;
    name_of(map, name);
    int fd = lard_descriptor_open(name, O_RDWR | O_NONBLOCK, &info);
    if (fd < 0) {
        return false;
    }
    bool is_mapped = (uint64_t)info.st_ino == map->hints_inode && (uint64_t)info.st_dev == map->hints_device;
    bool done = is_mapped && LARD_CHANGE(lard_space_reserve(fd, &info, from, bytes)) == 0;
    lard_descriptor_close(fd, &info);
    return done;
}

bool lard_hints_file_reserve(const lard_map *map, uint8_t *base, uint64_t from, uint64_t bytes) {
    uint64_t start = from & ~(uint64_t)(lard_page_bytes() - 1), whole = from + bytes - start;
    if (lard_page_is_in_memory(base + start, whole)) {
        return true;
    }
    if (map->has_shared_hints && lard_space_left(DIRECTORY) < whole) {
        return false;
    }
    int failed = madvise(base + start, whole, MADV_POPULATE_WRITE) == 0 ? 0 : errno;
    if (failed != 0 && failed != EINVAL) {
        return false;
    }
    return !map->has_shared_hints || (failed == 0 && lard_page_is_in_memory(base + start, whole)) ||
           reserve_by_name(map, start, whole);
}

void *lard_hints_file_map(lard_map *map, uid_t owner, uint32_t wanted) {
    char name[NAME_BYTES];
    struct stat info;
    bool is_new = false;
    name_of(map, name);
    int fd = open_shared(name, map, owner, &wanted, &is_new, &info);
    if (fd < 0) {
        return MAP_FAILED;
    }
    uint8_t *base = mmap(NULL, map->hints_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    bool is_ours = lard_descriptor_stat(fd, name, &info) == 0; /* if so, it is what was mapped */
    map->hints_device = (uint64_t)info.st_dev;
    map->hints_inode = (uint64_t)info.st_ino;
    if (base != MAP_FAILED && (!is_ours || (is_new && !lard_hints_file_reserve(map, base, 0, 1)))) {
        munmap(base, map->hints_bytes);
        base = MAP_FAILED;
    }
    if (is_new && base != MAP_FAILED) {
        *(lard_hints_header *)base = lard_hints_file_header(map, wanted, lard_hints_file_rows(map, 0));
    } else if (is_new) {
        LARD_CHANGE(unlink(name));
    }
    lard_descriptor_close(fd, &info);
    return base;
}

void lard_hints_file_remove_unused(const lard_map *map) {
    char name[NAME_BYTES];
    name_of(map, name);
    remove_unused(name);
}
