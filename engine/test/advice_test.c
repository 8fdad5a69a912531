/*
 * advice_test.c — checks the advice about a map's pages that the kernel gets, and what it reads from disk then.
 */
#include "children.h"
#include "../bench/memory_group.h"

#include <sys/vfs.h>

#define FILE_BYTES (64u << 20)
#define VALUE_BYTES 1000u
#define KEYS (FILE_BYTES / 2 / VALUE_BYTES)
#define GETS 200
/* AddressSanitizer's own memory is charged to the group, too. */
#ifdef __SANITIZE_ADDRESS__
#define EXTRA_BYTES (16u << 20)
#else
#define EXTRA_BYTES 0u
#endif

static larder_error failure;
static char path[400];

static larder *open_file(void) {
    larder *cache = NULL;
    larder_options options = {.size_bytes = FILE_BYTES};
    snprintf(path, sizeof path, "%s", test_path("t.larder"));
    return larder_open(path, &options, &cache, &failure) == LARDER_OK ? cache : NULL;
}

static bool fill(larder *cache, uint32_t from, uint32_t to) {
    static unsigned char value[VALUE_BYTES];
    for (uint32_t i = from; i < to; i++) {
        larder_store store = {.key = &i, .key_bytes = sizeof i, .value = value, .value_bytes = sizeof value};
        if (larder_set(cache, &store, NULL) != LARDER_OK) {
            return false;
        }
    }
    return true;
}

static uint64_t read_from_disk(void) {
    unsigned long long bytes = 0;
    char line[128];
    FILE *file = fopen("/proc/self/io", "re");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "read_bytes: %llu", &bytes) != 1) {
    }
    if (file) {
        fclose(file);
    }
    return bytes;
}

/* Has its pages taken out of memory; false, and says why, where they are not on a disk. */
static bool forget(void) {
    int fd = open(path, O_RDWR | O_CLOEXEC);
    char byte;
    bool on_disk = fd >= 0 && fsync(fd) == 0 && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0;
    uint64_t before = read_from_disk();
    on_disk = on_disk && pread(fd, &byte, 1, 0) == 1 && read_from_disk() > before;
    on_disk = on_disk && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0;
    if (fd >= 0) {
        close(fd);
    }
    if (!on_disk) {
        printf("  skipped: %s: what is read from disk cannot be told here\n", test_name);
    }
    return on_disk;
}

static void cold_gets(void *unused) {
    static unsigned char value[VALUE_BYTES];
    uint64_t before = read_from_disk();
    larder *cache = open_file();
    (void)unused;
    CHILD_CHECK(cache != NULL);
    for (uint32_t i = 0; i < GETS; i++) {
        uint32_t key = KEYS / GETS * i;
        CHILD_CHECK(larder_get(cache, &key, sizeof key, value, sizeof value, NULL, NULL) == LARDER_OK);
    }
    uint64_t got = read_from_disk() - before;
    if (got >= FILE_BYTES / 8) {
        fprintf(stderr, "  %llu bytes were read\n", (unsigned long long)got);
    }
    CHILD_CHECK(got < FILE_BYTES / 8);
    larder_close(cache);
}

static void a_cold_get_reads_little(void) {
    larder *cache = open_file();
    CHECK(cache && fill(cache, 0, KEYS));
    larder_close(cache);
    if (forget()) {
        CHECK(in_child(cold_gets, NULL));
    }
}

/* How many shards are hot after stores that evict, of those that were before. */
static uint32_t hot_after_stores(larder *cache, uint32_t first_key) {
    uint32_t hot = 0, count = 0;
    CHILD_CHECK(fill(cache, first_key, first_key + 1)); /* attaches */
    lard_map *map = cache->core->map;
    map->unadvised = 0;
    for (; count < map->super.shard_count; count++) {
        map->dircache[count].hints->is_hot = 1;
        map->dircache[count].hints->turn_began_s = (uint32_t)(lard_clock_ms() / 1000);
        map->dircache[count].hints->turn_left = map->super.segments_per_shard;
    }
    CHILD_CHECK(fill(cache, first_key, first_key + 2000)); /* some segments of each shard */
    for (uint32_t s = 0; s < count; s++) {
        hot += map->dircache[s].hints->is_hot;
    }
    return hot;
}

static void store_without_its_pages(void *unused) {
    larder *cache = open_file();
    (void)unused;
    CHILD_CHECK(cache != NULL);
    CHILD_CHECK(hot_after_stores(cache, 10 * KEYS) == 0);
    larder_close(cache);
}

static void is_not_hot_without_memory(void) {
    larder *cache = open_file();
    CHECK(cache && fill(cache, 0, 3 * KEYS));
    lard_map *map = cache->core->map;
    CHECK(hot_after_stores(cache, 3 * KEYS) == map->super.shard_count);
    larder_close(cache);
    if (forget()) {
        CHECK(in_child(store_without_its_pages, NULL));
    }
}

static void store_in_little_memory(void *context) {
    const memory_group *group = context;
    uint32_t count = FILE_BYTES / VALUE_BYTES;
    CHILD_CHECK(memory_group_enter(group) == 0);
    larder *cache = open_file();
    CHILD_CHECK(cache && fill(cache, 0, count));
    uint64_t before = read_from_disk();
    CHILD_CHECK(fill(cache, count, count * 3 / 2));
    uint64_t got = read_from_disk() - before, stored = (uint64_t)count / 2 * VALUE_BYTES;
    if (got >= 4 * stored) {
        fprintf(stderr, "  %llu bytes were read to store %llu\n", (unsigned long long)got,
                (unsigned long long)stored);
    }
    CHILD_CHECK(got < 4 * stored);
    unlink(path);
    larder_close(cache);
}

static void stores_read_little(void) {
    memory_group group;
    const char *reason = memory_group_make(&group);
    int code = reason ? 0 : memory_group_limit(&group, FILE_BYTES / 2 + EXTRA_BYTES);
    if (code) {
        memory_group_remove(&group);
    }
    if (reason || code) {
        printf("  skipped: %s: %s\n", test_name, reason ? reason : strerror(code));
        return;
    }
    struct statfs info;
    bool in_memory = statfs(test_path("."), &info) != 0 || info.f_type == 0x01021994;
    bool held = in_memory || in_child(store_in_little_memory, &group);
    memory_group_remove(&group);
    CHECK(held);
}

/* Whether the page at `address` may be put out of memory however often it is used; -1: not told. */
static int is_random(const void *address) {
    char line[512];
    unsigned long from, to;
    bool inside = false;
    int random = -1;
    FILE *file = fopen("/proc/self/smaps", "re");
    while (file && random < 0 && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
            inside = (uintptr_t)address >= from && (uintptr_t)address < to;
        } else if (inside && !strncmp(line, "VmFlags:", 8)) {
            random = strstr(line, " rr") != NULL;
        }
    }
    if (file) {
        fclose(file);
    }
    return random;
}

static void pages_are_advised(larder *cache) {
    for (uint32_t s = 0; s < cache->core->map->super.shard_count; s++) {
        lard_view view = lard_view_of(cache->core->map, s);
        CHECK(is_random(view.header) == 0 && is_random(view.segments) == 0, "header and segment table, shard %u",
              s);
        CHECK(is_random(lard_bucket_at(&view, 0)) == 0, "index, shard %u", s);
        bool records = false;
        for (uint32_t i = 0; i < cache->core->map->super.segments_per_shard; i++) {
            const uint8_t *middle =
                view.base + lard_view_segment_offset(&view, i) + cache->core->map->super.segment_bytes / 2;
            records =
                records || (lard_load(&view.segments[i].state) == LARD_SEGMENT_SMALL && is_random(middle) == 1);
        }
        CHECK(records, "records, shard %u", s);
    }
}

static void the_index_is_kept(void) {
    larder *cache = open_file();
    CHECK(cache && fill(cache, 0, KEYS));
    if (is_random(cache->core->map->base) < 0) {
        printf("  skipped: %s: /proc/self/smaps does not tell\n", test_name);
    } else {
        pages_are_advised(cache);
        larder_clear(cache);
        CHECK(fill(cache, 0, KEYS));
        pages_are_advised(cache);
    }
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(a_cold_get_reads_little, "a get of what is not in memory reads its record, not what is around it"),
    TEST(stores_read_little, "with memory for half of the file a store reads no more than a few times its bytes"),
    TEST(is_not_hot_without_memory, "a shard whose pages leave memory before they are stored to again is not hot"),
    TEST(the_index_is_kept, "records are advised as random, heads and index are not, also after a clear"),
};
RUN("advice", tests)
