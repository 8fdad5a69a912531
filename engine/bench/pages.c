/*
 * pages.c — counts exactly which pages of the file and which system calls a set takes, for each MB that is stored.
 *
 *   build/bench-pages [--directory DIR] [--json]
 *
 * A process takes a page fault for the first load or store of each page, and one for the first store to a page
 * that was written back. Real counts depend on the kernel. So this program takes all access away from the map
 * (mprotect) and counts, for each page, the first access and the first store: a kernel cannot need more faults
 * than both together. System calls are counted by wrappers (--wrap), but for those of file/advice.c, which depend
 * on what is in memory. Clock and random numbers are fixed, so each run on each machine with pages of 4 KiB gives
 * the same figures. test/guards compares them with those on record.
 *
 * "new": a file that was just made is filled to a quarter. "written back": the same is stored when it is full. The
 * program says that the file is on a disk, and by hints that no shard is hot (segment/image.h).
 */
#include "bench.h"
#include "fixed.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define FILE_BYTES (64u << 20)
#define PART (FILE_BYTES / 4) /* bytes of values that a state is measured with */

static const size_t sizes[] = {2000, 10000, 20000, 60000};
enum { NEW, BACK, STATES };
static const char *const states[] = {"new", "written back"};

/* ---- system calls ---- */

static unsigned long calls;

#define COUNTED(type, name, parameters, arguments) \
    type __real_##name parameters;                 \
    type __wrap_##name parameters;                 \
    type __wrap_##name parameters {                \
        calls++;                                   \
        return __real_##name arguments;            \
    }

/* The kernel reads the parts, also from the map, and would answer EFAULT for a page that was taken away. */
static const struct iovec *access_all(const struct iovec *parts, int count) {
    for (int i = 0; i < count; i++) {
        const volatile unsigned char *bytes = parts[i].iov_base;
        for (size_t at = 0; at < parts[i].iov_len; at += LARD_PAGE - ((uintptr_t)(bytes + at) & (LARD_PAGE - 1))) {
            (void)bytes[at];
        }
    }
    return parts;
}

COUNTED(ssize_t, pwrite, (int fd, const void *data, size_t bytes, off_t at), (fd, data, bytes, at))
COUNTED(ssize_t, pwritev, (int fd, const struct iovec *parts, int count, off_t at),
        (fd, access_all(parts, count), count, at))
COUNTED(int, fstat, (int fd, struct stat *info), (fd, info))
COUNTED(int, statx, (int at, const char *path, int flags, unsigned mask, struct statx *info),
        (at, path, flags, mask, info))
COUNTED(int, stat, (const char *path, struct stat *info), (path, info))
COUNTED(int, lstat, (const char *path, struct stat *info), (path, info))
COUNTED(int, getrlimit, (int resource, struct rlimit *limit), (resource, limit))
COUNTED(int, fallocate, (int fd, int mode, off_t at, off_t bytes), (fd, mode, at, bytes))
COUNTED(int, sync_file_range, (int fd, off64_t at, off64_t bytes, unsigned flags), (fd, at, bytes, flags))
COUNTED(int, msync, (void *at, size_t bytes, int flags), (at, bytes, flags))

/* ---- pages ---- */

enum { TABLES, RECORDS, PLACES };
static const char *const places[] = {"tables and index", "records"};
static lard_map *map;
static bool is_index[64][1024]; /* segments of a shard, before access is taken away */
static unsigned long touched[PLACES], stored[PLACES];
static unsigned char seen[FILE_BYTES / LARD_PAGE + 1]; /* accesses of a page so far: 0, 1, or a store, too: 2 */

/* The contents of a page, by its first byte. */
static int place_of(uint64_t at) {
    const lard_superblock *super = &map->super;
    if (at < super->shard_offset) {
        return TABLES;
    }
    lard_view view = lard_view_of(map, (uint32_t)((at - super->shard_offset) / super->shard_bytes));
    uint64_t inside = (at - super->shard_offset) % super->shard_bytes;
    if (view.number >= super->shard_count || inside < super->data_offset) {
        return TABLES;
    }
    uint64_t segment = (inside - super->data_offset) >> map->segment_shift;
    return segment < super->segments_per_shard && !is_index[view.number][segment] ? RECORDS : TABLES;
}

static void on_fault(int number, siginfo_t *info, void *context) {
    uint64_t at = (uint64_t)((uint8_t *)info->si_addr - map->base), page = at / LARD_PAGE;
    (void)number, (void)context;
    if (at >= map->bytes) {
        abort();
    }
    int place = place_of(page * LARD_PAGE);
    bool stores = seen[page] == 1;
    touched[place] += !stores;
    stored[place] += stores;
    seen[page]++;
    mprotect(map->base + page * LARD_PAGE, LARD_PAGE, stores ? PROT_READ | PROT_WRITE : PROT_READ);
}

static void note_index(void) {
    for (uint32_t shard = 0; shard < map->super.shard_count; shard++) {
        lard_view view = lard_view_of(map, shard);
        for (uint32_t s = 0; s < map->super.segments_per_shard; s++) {
            is_index[shard][s] = lard_load(&view.segments[s].state) == LARD_SEGMENT_INDEX;
        }
    }
}

static void take_away(void) {
    note_index();
    memset(seen, 0, sizeof seen);
    memset(touched, 0, sizeof touched);
    memset(stored, 0, sizeof stored);
    calls = 0;
    if (mprotect(map->base, map->bytes, PROT_NONE) != 0) {
        bench_die("mprotect: %s", strerror(errno));
    }
}

static void give_back(void) { mprotect(map->base, map->bytes, PROT_READ | PROT_WRITE); }

/* ---- states ---- */

static void make_cold(void) {
    map->is_on_disk = true;
    for (uint32_t shard = 0; shard < map->super.shard_count; shard++) {
        lard_shard_hints *hints = map->dircache[shard].hints;
        hints->is_hot = 0;
        hints->turn_left = map->super.segments_per_shard;
    }
}

static void report(const char *state, size_t bytes, uint64_t count) {
    double megabytes = (double)(count * bytes) / 1e6;
    char name[120];
    for (int place = 0; place < PLACES; place++) {
        snprintf(name, sizeof name, "%zu bytes, %s: pages of %s, accessed", bytes, state, places[place]);
        bench_number(name, "a MB", (double)touched[place] / megabytes);
        snprintf(name, sizeof name, "%zu bytes, %s: pages of %s, stored to", bytes, state, places[place]);
        bench_number(name, "a MB", (double)stored[place] / megabytes);
    }
    snprintf(name, sizeof name, "%zu bytes, %s: system calls", bytes, state);
    bench_number(name, "a MB", (double)calls / megabytes);
}

static void measure(size_t bytes) {
    uint64_t next = 0, count = PART / bytes;
    larder *cache = bench_open(bench_path("pages.larder"), FILE_BYTES);
    bench_fill(cache, 9999999, 10000000, 10); /* attaches */
    map = cache->core->map;
    for (int state = 0; state < STATES; state++) {
        if (state == BACK) {
            bench_fill(cache, next, next + 2 * FILE_BYTES / bytes, bytes);
            next += 2 * FILE_BYTES / bytes;
        }
        make_cold();
        take_away();
        bench_fill(cache, next, next + count, bytes);
        give_back();
        next += count;
        report(states[state], bytes, count);
    }
    larder_close(cache);
    unlink(bench_path("pages.larder"));
    unlink(bench_path("pages.larder.lock"));
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    bench_read_options(argc, argv, 1, 1, "Pages of the file and system calls for each MB that is stored.");
    if (lard_page_bytes() != LARD_PAGE) {
        bench_die("pages have %zu bytes here, and not %u", lard_page_bytes(), LARD_PAGE);
    }
    bench_make_directory();
    sigaction(SIGSEGV, &action, NULL);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        measure(sizes[s]);
    }
    return 0;
}
