/*
 * world.c — clocks, random numbers, other processes and files that the fuzzers control (world.h).
 *
 * Maps of the engine lie between inaccessible pages, so that an access outside is detected.
 */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GUARD_BYTES (8ull << 30) /* the farthest place that a slot can name */
#define ARENA_BYTES (64ull << 20)
#define ARENAS 8

int64_t world_now_ms = WORLD_START_MS, world_lag_ms;
uint32_t world_stopped;
unsigned long world_kill;
sigjmp_buf world_killed;

static void *held[80]; /* allocated by whoever is about to be killed */
static int64_t monotonic_ms;
static uint64_t random_state;
static char directory[256];
static pid_t owner; /* of the directory: AFL++ forks */

void world_fail(const char *file, int line, const char *format, ...) {
    va_list arguments;
    fprintf(stderr, "%s:%d: ", file, line);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    abort();
}

void world_begin(void) {
    world_now_ms = WORLD_START_MS;
    world_lag_ms = 0;
    world_stopped = 0;
    world_kill = 0;
    monotonic_ms = 1000000;
    random_state = 88172645463325252ull;
}

/* ---- what the platform would answer ---- */

int64_t __wrap_lard_clock_ms(void);
int64_t __wrap_lard_clock_coarse_ms(void);
int64_t __wrap_lard_clock_monotonic_ms(void);
int64_t __wrap_lard_clock_monotonic_coarse_ms(void);
int64_t __wrap_lard_clock_boot_ms(void);
int __wrap_lard_random(void *out, size_t bytes);
int __wrap_lard_boot_id(uint64_t id[2]);
int __wrap_lard_inode(int fd, uint64_t inode[2]);
void __wrap_lard_futex_wait(uint32_t *word, uint32_t value, unsigned timeout_ms);
void __wrap_lard_clock_sleep_ms(unsigned ms);
bool __wrap_lard_process_alive(const larder *cache, const lard_map *map, uint32_t owner_word);
bool __real_lard_process_alive(const larder *cache, const lard_map *map, uint32_t owner_word);
void __wrap_lard_crash_point(const void *at);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__real_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
int __wrap_munmap(void *at, size_t bytes);
int __real_munmap(void *at, size_t bytes);
int __wrap_msync(void *at, size_t bytes, int flags);
void *__wrap_malloc(size_t bytes);
void *__real_malloc(size_t bytes);
void __wrap_free(void *pointer);
void __real_free(void *pointer);

int64_t __wrap_lard_clock_ms(void) { return world_now_ms; }
int64_t __wrap_lard_clock_coarse_ms(void) { return world_now_ms - world_lag_ms; }
int64_t __wrap_lard_clock_monotonic_ms(void) { return ++monotonic_ms; } /* every wait ends */
int64_t __wrap_lard_clock_monotonic_coarse_ms(void) { return monotonic_ms; }
int64_t __wrap_lard_clock_boot_ms(void) { return world_now_ms; }

int __wrap_lard_random(void *out, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        random_state ^= random_state << 13;
        random_state ^= random_state >> 7;
        random_state ^= random_state << 17;
        ((unsigned char *)out)[i] = (unsigned char)(random_state >> 24);
    }
    return 0;
}

int __wrap_lard_boot_id(uint64_t id[2]) {
    id[0] = 0x1122334455667788ull;
    id[1] = 0x99aabbccddeeff00ull;
    return 0;
}

/* Files are put back again and again, which the engine would notice. */
int __wrap_lard_inode(int fd, uint64_t inode[2]) {
    (void)fd;
    inode[0] = inode[1] = 1;
    return 0;
}

void __wrap_lard_futex_wait(uint32_t *word, uint32_t value, unsigned timeout_ms) {
    (void)word, (void)value;
    monotonic_ms += timeout_ms;
}

void __wrap_lard_clock_sleep_ms(unsigned ms) { monotonic_ms += ms; }
int __wrap_msync(void *at, size_t bytes, int flags) { return (void)at, (void)bytes, (void)flags, 0; }

bool __wrap_lard_process_alive(const larder *cache, const lard_map *map, uint32_t owner_word) {
    return (world_stopped && owner_word == world_stopped) || __real_lard_process_alive(cache, map, owner_word);
}

void *__wrap_malloc(size_t bytes) {
    void *pointer = __real_malloc(bytes);
    for (unsigned i = 0; world_kill && i < sizeof held / sizeof *held; i++) {
        if (!held[i]) {
            held[i] = pointer;
            break;
        }
    }
    return pointer;
}

void __wrap_free(void *pointer) {
    for (unsigned i = 0; pointer && i < sizeof held / sizeof *held; i++) {
        held[i] = held[i] == pointer ? NULL : held[i];
    }
    __real_free(pointer);
}

/* The memory of the dead is the kernel's to free. */
void __wrap_lard_crash_point(const void *at) {
    (void)at;
    if (world_kill && --world_kill == 0) {
        for (unsigned i = 0; i < sizeof held / sizeof *held; i++) {
            free(held[i]);
        }
        siglongjmp(world_killed, 1);
    }
}

/* ---- maps between forbidden pages ---- */

static struct {
    uint8_t *base;
    size_t bytes; /* 0: free */
} arenas[ARENAS];

static void *forbidden(void *at, size_t bytes, int fixed) {
    return __real_mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
}

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
    if (at || fd < 0 || protection == PROT_NONE || bytes > ARENA_BYTES) {
        return __real_mmap(at, bytes, protection, flags, fd, offset);
    }
    for (int i = 0; i < ARENAS; i++) {
        if (!arenas[i].base) {
            uint8_t *all = forbidden(NULL, 2 * GUARD_BYTES + ARENA_BYTES, 0);
            EXPECT(all != MAP_FAILED, "no address space");
            arenas[i].base = all + GUARD_BYTES;
        }
        if (!arenas[i].bytes) {
            void *map = __real_mmap(arenas[i].base, bytes, protection, flags | MAP_FIXED, fd, offset);
            arenas[i].bytes = map == MAP_FAILED ? 0 : bytes;
            return map;
        }
    }
    FAIL("%d maps are open", ARENAS);
}

int __wrap_munmap(void *at, size_t bytes) {
    for (int i = 0; i < ARENAS; i++) {
        if (arenas[i].base == at && arenas[i].bytes == bytes) {
            arenas[i].bytes = 0;
            return forbidden(at, bytes, MAP_FIXED) == MAP_FAILED ? -1 : 0;
        }
    }
    return __real_munmap(at, bytes);
}

/* ---- files ---- */

static void clean_up(void) {
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    if (getpid() == owner && system(command) != 0) {
        fprintf(stderr, "could not remove %s\n", directory);
    }
}

static void make_directory(void) {
    const char *named = getenv("LARDER_FUZZ_DIRECTORY");
    const char *base = named ? named : access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    if (!*directory) {
        snprintf(directory, sizeof directory, "%.200s/larder-fuzz-XXXXXX", base);
        EXPECT(mkdtemp(directory), "no directory in %s", base);
        owner = getpid();
        atexit(clean_up);
    }
}

static unsigned char *slurp(const char *path, size_t bytes) {
    unsigned char *content = malloc(bytes);
    int fd = open(path, O_RDONLY);
    EXPECT(content && fd >= 0 && read(fd, content, bytes) == (ssize_t)bytes, "%s: %s", path, strerror(errno));
    close(fd);
    return content;
}

static void put(const char *path, const void *content, size_t bytes) {
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    EXPECT(fd >= 0 && write(fd, content, bytes) == (ssize_t)bytes, "%s: %s", path, strerror(errno));
    close(fd);
}

void world_file_look(world_file *file) {
    struct stat info;
    if (stat(file->path, &info) != 0 || (uint64_t)info.st_size < file->bytes ||
        (file->mirror && info.st_ino == file->inode)) {
        return;
    }
    int fd = open(file->path, O_RDWR);
    EXPECT(fd >= 0, "%s: %s", file->path, strerror(errno));
    if (file->mirror) {
        __real_munmap(file->mirror, file->bytes);
    }
    file->mirror = __real_mmap(NULL, file->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    EXPECT(file->mirror != MAP_FAILED, "%s: %s", file->path, strerror(errno));
    file->inode = info.st_ino;
    close(fd);
}

larder *world_open(const world_file *file, uint64_t configuration) {
    larder *cache = NULL;
    larder_error error;
    larder_options options = {.size_bytes = file->bytes, .lock_timeout_ms = 5, .configuration = configuration};
    larder_status status = larder_open(file->path, &options, &cache, &error);
    EXPECT(status == LARDER_OK, "%s: %s", larder_status_name(status), error.detail);
    return cache;
}

void world_file_make(world_file *file, const char *name, uint64_t bytes, void (*fill)(larder *cache)) {
    struct stat info;
    make_directory();
    *file = (world_file){.bytes = bytes};
    snprintf(file->path, sizeof file->path, "%s/%s", directory, name);
    snprintf(file->lock, sizeof file->lock, "%s.lock", file->path);
    world_begin();
    larder *cache = world_open(file, 0);
    if (fill) {
        fill(cache);
    }
    larder_close(cache);
    file->pristine = slurp(file->path, bytes);
    EXPECT(stat(file->lock, &info) == 0 && (size_t)info.st_size <= sizeof file->identity, "no lock file");
    file->identity_bytes = (size_t)info.st_size;
    unsigned char *identity = slurp(file->lock, file->identity_bytes);
    memcpy(file->identity, identity, file->identity_bytes);
    free(identity);
    world_file_look(file);
}

static void restore_range(world_file *file, uint64_t from, uint64_t to) {
    for (uint64_t at = from; at < to; at += LARD_PAGE) {
        uint64_t bytes = to - at < LARD_PAGE ? to - at : LARD_PAGE;
        if (memcmp(file->mirror + at, file->pristine + at, bytes) != 0) {
            memcpy(file->mirror + at, file->pristine + at, bytes);
        }
    }
}

/* Of a segment whose row of the table did not change no byte has. */
static void restore_used(world_file *file) {
    lard_superblock super;
    memcpy(&super, file->pristine, sizeof super);
    for (uint32_t n = 0; n < super.shard_count; n++) {
        uint64_t shard = super.shard_offset + n * super.shard_bytes;
        for (uint32_t s = 0; s < super.segments_per_shard; s++) {
            uint64_t row = shard + super.segment_table_offset + s * sizeof(lard_segment);
            uint64_t data = shard + super.data_offset + (uint64_t)s * super.segment_bytes;
            if (memcmp(file->mirror + row, file->pristine + row, sizeof(lard_segment)) != 0 ||
                ((lard_segment *)(void *)(file->pristine + row))->state.raw_ != LARD_SEGMENT_FREE) {
                restore_range(file, data, data + super.segment_bytes);
            }
        }
        restore_range(file, shard, shard + super.data_offset);
    }
    restore_range(file, 0, super.shard_offset);
}

void world_file_restore(world_file *file, bool careful) {
    struct stat info;
    int lock = open(file->lock, O_WRONLY); /* of the use that the file is of */
    EXPECT(lock >= 0 && pwrite(lock, file->identity, file->identity_bytes, 0) == (ssize_t)file->identity_bytes,
           "%s: %s", file->lock, strerror(errno));
    close(lock);
    if (stat(file->path, &info) != 0 || info.st_ino != file->inode || (uint64_t)info.st_size != file->bytes) {
        put(file->path, file->pristine, file->bytes);
        file->inode = 0;
        world_file_look(file);
    } else if (careful) {
        restore_range(file, 0, file->bytes);
    } else {
        restore_used(file);
    }
}
