/*
 * stack_test.c — runs calls in a thread that has only as much of its stack left as larder.h says they take. Ruby's
 * glue sees to it that so much is left (ext/larder/base/errors.h).
 *
 * Its stack ends with pages without access, so a call that takes more kills the child that it runs in. Frames of
 * sanitizers are longer: there the calls have a whole stack.
 */
#include "children.h"

#include <alloca.h>
#include <pthread.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(memory_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif
#ifndef LITTLE
#define LITTLE 16 /* KiB, as larder.h says */
#define MUCH 64
#endif
#define STACK (1u << 20)
#define BEYOND (1u << 20) /* bytes without access */
#define SIZE (16u << 20)
#define LONG 11000u /* of a value in one record, which is written by pwritev(2) in a file on a disk */

static larder *cache;
static lard_map *map;
static unsigned char value[200000];

static larder_status put(const char *kind, int number, size_t bytes) {
    char key[32];
    snprintf(key, sizeof key, "%s %d", kind, number);
    return set_bytes(cache, key, value, bytes, 0);
}

static bool has(const char *kind, int number) {
    static char found[sizeof value];
    char key[32];
    larder_item item;
    snprintf(key, sizeof key, "%s %d", kind, number);
    return larder_get(cache, key, strlen(key), found, sizeof found, &item, NULL) == LARDER_OK;
}

/* ---- near the end of a stack ---- */

typedef struct {
    void (*calls)(void);
    size_t left;        /* bytes of the stack */
    unsigned char *end; /* its lowest address */
} task;

static __attribute__((noinline)) void *run_near_end(void *with) {
    const task *task = with;
    size_t bytes = (size_t)((unsigned char *)__builtin_frame_address(0) - task->end);
    volatile char *taken = alloca(bytes - task->left);
    taken[0] = 0;
    task->calls();
    return NULL;
}

static void run_in_thread(void *with) {
    pthread_t thread;
    pthread_attr_t attributes;
    task *task = with;
    unsigned char *memory =
        mmap(NULL, BEYOND + STACK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    task->end = memory + BEYOND;
    CHILD_CHECK(memory != MAP_FAILED && mprotect(task->end, STACK, PROT_READ | PROT_WRITE) == 0);
    CHILD_CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstack(&attributes, task->end, STACK) == 0);
    CHILD_CHECK(pthread_create(&thread, &attributes, run_near_end, task) == 0 && pthread_join(thread, NULL) == 0);
    CHILD_CHECK(cache == NULL || sound(cache));
}

static bool fits_into(unsigned kib, void (*calls)(void)) {
    task task = {.calls = calls, .left = (size_t)kib << 10};
#ifdef SANITIZED
    task.left = STACK / 2;
#endif
    return in_child(run_in_thread, &task);
}

static bool fits(void (*calls)(void)) { return fits_into(LITTLE, calls); }

/* ---- files, and calls ---- */

static void begin(void) {
    larder_options options = {.size_bytes = SIZE, .statistics = 1};
    larder_error error;
    CHECK(larder_open(test_path("t.larder"), &options, &cache, &error) == LARDER_OK);
    map = cache->core->map;
    map->is_on_disk = true; /* wherever the tests are run */
}

/* Full of long values that were read, so that eviction moves them. Reads of young ones do not count. */
static void fill(void) {
    int count = 3 * (int)(SIZE / LONG);
    for (int i = 0; i < count; i++) {
        CHECK(put("full", i, LONG) == LARDER_OK);
    }
    for (int i = 0; i < 3 * count; i++) {
        has("full", i % count);
    }
}

/* As a file that takes long to write through: long values are written by pwritev(2). */
static void make_cold(void) {
    for (uint32_t shard = 0; shard < map->super.shard_count; shard++) {
        lard_shard_hints *hints = lard_reads_hints(&map->dircache[shard]);
        hints->is_hot = 0;
        hints->turn_left = map->super.segments_per_shard;
    }
}

static void evict(void) {
    larder_stats before, after;
    CHILD_CHECK(larder_get_stats(cache, &before) == LARDER_OK);
    for (int i = 0; i < 500; i++) {
        make_cold();
        CHILD_CHECK(put("long", i, LONG) == LARDER_OK);
        CHILD_CHECK(put("short", i, 100) == LARDER_OK);
    }
    for (int i = 0; i < 20; i++) {
        make_cold();
        CHILD_CHECK(put("large", i, sizeof value) == LARDER_OK && has("large", i));
    }
    CHILD_CHECK(larder_get_stats(cache, &after) == LARDER_OK && after.promotions > before.promotions + 100);
}

static void eviction(void) {
    begin();
    fill();
    CHECK(fits(evict));
    larder_close(cache);
}

static void long_keys(void) {
    static char key[LARDER_MAX_KEY];
    for (int i = 0; i < 20000; i++) {
        memcpy(key, &i, sizeof i);
        larder_store store = {.key = key, .key_bytes = sizeof key, .value = value, .value_bytes = 10};
        CHILD_CHECK(larder_set(cache, &store, NULL) == LARDER_OK);
    }
}

static void eviction_of_long_keys(void) {
    begin();
    CHECK(fits(long_keys));
    larder_close(cache);
}

/* The process has used no shard yet, and asks the control groups for memory. */
static void use_shards(void) {
    for (int i = 0; i < 200; i++) {
        map->hints_checked_ms = 0;
        CHILD_CHECK(put("first", i, 100) == LARDER_OK);
    }
    for (uint32_t shard = 0; shard < map->super.shard_count; shard++) {
        CHILD_CHECK(lard_reads_hints(&map->dircache[shard]) != map->spare);
    }
}

static void first_use(void) {
    begin();
    CHECK(map->super.shard_count < 20);
    CHECK(fits(use_shards));
    larder_close(cache);
}

static void grow(void) {
    uint32_t before = map->reads_mask;
    for (int i = 0; map->reads_mask == before && i < 400000; i++) {
        __atomic_store_n(&cache->core->next_look_ms, 0, __ATOMIC_RELAXED);
        CHILD_CHECK(put("small", i, 8) == LARDER_OK);
    }
    CHILD_CHECK(map->reads_mask > before);
}

static void growth_of_the_hints(void) {
    begin();
    CHECK(fits(grow));
    larder_close(cache);
}

static void lock_and_die(void *with) {
    (void)with;
    for (uint32_t shard = 0; shard < map->super.shard_count; shard++) {
        CHILD_CHECK(put("child", (int)shard, 10) == LARDER_OK);
        lard_view view = lard_view_of(map, shard);
        CHILD_CHECK(lard_shard_lock(cache->core, &view, NULL) == LARDER_OK);
    }
}

static void take_over(void) {
    for (int i = 0; i < 100; i++) {
        CHILD_CHECK(put("after", i, 100) == LARDER_OK);
    }
    larder_stats stats;
    CHILD_CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.repairs >= map->super.shard_count);
}

static void repair(void) {
    begin();
    fill();
    larder_store pinned = {.key = "pinned", .key_bytes = 6, .value = value, .value_bytes = LONG, .pin = 1};
    CHECK(larder_set(cache, &pinned, NULL) == LARDER_OK);
    CHECK(in_child(lock_and_die, NULL));
    CHECK(fits(take_over));
    larder_close(cache);
}

static void *no_memory(void *context, size_t bytes, uint8_t flags) {
    return (void)context, (void)bytes, (void)flags, NULL;
}

static void call_each(void) {
    static char buffer[64 << 10];
    larder_allocator allocator = {.allocate = no_memory};
    larder_item item;
    larder_stamp stamp;
    larder_lease lease = {{0, 0}, 0, 0, 0, 0};
    larder_details details;
    larder_stats stats;
    larder_tag tag = {"tag", 3};
    larder_extra extra = {.stale_ms = 1000, .tag_count = 1, .tags = &tag};
    larder_store store = {
        .key = "k", .key_bytes = 1, .value = value, .value_bytes = 100, .ttl_ms = 60000, .extra = &extra};
    larder_lookup lookup = {.key = "k", .key_bytes = 1, .buffer = buffer, .buffer_bytes = sizeof buffer};
    int64_t sum;
    uint64_t cursor = 0, dropped, identity;
    size_t count, used;
    uint32_t pids[8];
    CHILD_CHECK(larder_set(cache, &store, NULL) == LARDER_OK);
    CHILD_CHECK(larder_touch(cache, "k", 1, 1000, NULL) == LARDER_OK);
    CHILD_CHECK(larder_get_multi(cache, &lookup, 1, NULL) == LARDER_OK && lookup.status == LARDER_OK);
    CHILD_CHECK(larder_inspect(cache, "k", 1, buffer, sizeof buffer, NULL, &details, NULL) == LARDER_OK);
    CHILD_CHECK(larder_exists(cache, "k", 1, &item, NULL) == LARDER_OK);
    CHILD_CHECK(larder_get_to_swap(cache, "k", 1, buffer, sizeof buffer, NULL, &item, &identity, NULL) ==
                LARDER_OK);
    CHILD_CHECK(larder_swap(cache, &store, identity, NULL) == LARDER_OK);
    CHILD_CHECK(larder_stamp_now(cache, &stamp) == LARDER_OK);
    CHILD_CHECK(larder_delete_tagged(cache, &tag, 1, NULL) == LARDER_OK);
    CHILD_CHECK(larder_get(cache, "k", 1, buffer, sizeof buffer, &item, NULL) == LARDER_MISS);
    CHILD_CHECK(larder_lease_take(cache, "k", 1, 1000, &lease, NULL) == LARDER_OK);
    CHILD_CHECK(larder_lease_wait(cache, "k", 1, &lease, 1, NULL) == LARDER_LEASED);
    CHILD_CHECK(larder_lease_end(cache, "k", 1, &lease, 0, NULL) == LARDER_OK);
    store.extra = NULL;
    store.value_bytes = sizeof value;
    CHILD_CHECK(larder_set_multi(cache, &store, 1, &count, NULL) == LARDER_OK && count == 1);
    larder_get_allocated(cache, "k", 1, buffer, 10, &allocator, &item, NULL);
    CHILD_CHECK(larder_touch(cache, "k", 1, 1000, NULL) == LARDER_OK);
    CHILD_CHECK(larder_cas(cache, &store, "other", 5, NULL) == LARDER_NOT_STORED);
    CHILD_CHECK(larder_increment(cache, "n", 1, 1, 1, 0, &sum, NULL) == LARDER_OK);
    CHILD_CHECK(larder_increment_tagged(cache, "m", 1, 1, 1, 0, &tag, 1, &sum, NULL) == LARDER_OK);
    CHILD_CHECK(larder_scan(cache, &cursor, "", 0, buffer, sizeof buffer, &count, &used, NULL) == LARDER_OK);
    cursor = 0;
    CHILD_CHECK(larder_scan_leases(cache, &cursor, "", 0, buffer, sizeof buffer, &count, &used, NULL) ==
                LARDER_OK);
    CHILD_CHECK(larder_get_stats(cache, &stats) == LARDER_OK);
    CHILD_CHECK(larder_get_pids(cache, pids, 8) > 0);
    CHILD_CHECK(larder_trust(cache, 1000, NULL) == LARDER_OK);
    CHILD_CHECK(larder_prune(cache, &dropped, NULL) == LARDER_OK);
    CHILD_CHECK(larder_delete(cache, "k", 1, NULL) == LARDER_OK);
    CHILD_CHECK(larder_clear(cache) == LARDER_OK);
    CHILD_CHECK(put("after", 1, LONG) == LARDER_OK);
}

static void other_calls(void) {
    begin();
    fill();
    CHECK(fits(call_each));
    larder_close(cache);
}

static void open_and_close(void) {
    larder_options options = {.size_bytes = SIZE, .statistics = 1};
    larder_error error;
    for (int i = 0; i < 2; i++) { /* a new file, and one that is there */
        CHILD_CHECK(larder_open(test_path("t.larder"), &options, &cache, &error) == LARDER_OK);
        CHILD_CHECK(put("k", i, LONG) == LARDER_OK);
        CHILD_CHECK(larder_resize(cache, 2 * SIZE, LARDER_KEEP_ALL, &error) == LARDER_OK && has("k", i));
        CHILD_CHECK(larder_resize(cache, SIZE, LARDER_KEEP_NONE, &error) == LARDER_OK && !has("k", i));
        CHILD_CHECK(larder_keep_usage(cache, 1000, &error) == LARDER_OK);
        larder_close(cache);
        cache = NULL;
    }
}

static void opening(void) {
    cache = NULL;
    CHECK(fits_into(MUCH, open_and_close));
}

static const test_case tests[] = {
    TEST(eviction, "a store in a full file on a disk takes little stack, also of long values"),
    TEST(eviction_of_long_keys, "so does one that evicts items with long keys"),
    TEST(first_use, "so does the first store to a shard, which asks for memory"),
    TEST(growth_of_the_hints, "so does a store after which the hints grow"),
    TEST(repair, "so does one that repairs a shard after its owner's death"),
    TEST(other_calls, "and so does each other call"),
    TEST(opening, "calls that open, attach, resize or close a file take more, as larder.h says"),
};
RUN("stack", tests)
