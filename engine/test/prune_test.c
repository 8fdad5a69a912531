/*
 * prune_test.c — checks that larder_prune drops all that has ended, large values with their chunks, and nothing
 * else.
 */
#include "children.h"
#include "file/view.h"
#include "index/index.h"
#include "segment/record.h"

#include <sys/resource.h>

enum { LARGE = 100000, SIZE = 16 << 20 };

static larder *cache;
static larder_call at = {.now_ms = 1700000000000ll};
static const larder_tag red = {"red", 3}, both[] = {{"red", 3}, {"round", 5}};

static larder_status put(const char *key, size_t bytes, unsigned pin, larder_extra extra) {
    static char value[SIZE / 8];
    larder_store store = {.key = key,
                          .key_bytes = strlen(key),
                          .value = value,
                          .value_bytes = bytes,
                          .ttl_ms = extra.stale_ms ? 1000 : 0,
                          .pin = (uint8_t)pin,
                          .extra = &extra};
    return larder_set(cache, &store, &at);
}

static larder_status find(const char *key) {
    const larder_call stale = {.now_ms = at.now_ms, .flags = LARDER_CALL_STALE};
    return larder_exists(cache, key, strlen(key), NULL, &stale);
}

static larder_stats counts(void) {
    larder_stats stats;
    larder_get_stats(cache, &stats);
    return stats;
}

/* All chunks in the index, also those that no head names. */
static int64_t chunks(void) {
    int64_t sum = 0;
    for (uint32_t s = 0; s < cache->core->map->super.shard_count; s++) {
        sum += (int64_t)lard_load(&lard_view_of(cache->core->map, s).header->chunks);
    }
    return sum;
}

static uint64_t prune(void) {
    uint64_t dropped = 0;
    larder_prune(cache, &dropped, &at);
    return dropped;
}

static void a_large_value_goes_with_its_tag(void) {
    char key[16];
    cache = open_cache(SIZE);
    for (int i = 0; i < 5; i++) {
        snprintf(key, sizeof key, "k%d", i);
        CHECK(put(key, i < 4 ? 1000000 : 100, 0, (larder_extra){.tags = &red, .tag_count = 1}) == LARDER_OK);
    }
    CHECK(put("other", LARGE, 0, (larder_extra){.tags = &both[1], .tag_count = 1}) == LARDER_OK);
    CHECK(prune() == 0 && larder_delete_tagged(cache, &red, 1, &at) == LARDER_OK && prune() == 5);
    CHECK(counts().items == 1 && counts().expirations == 5 && find("other") == LARDER_OK && sound(cache));
    CHECK(larder_delete(cache, "other", 5, &at) == LARDER_OK && chunks() == 0, "%d chunks are left",
          (int)chunks());
    larder_close(cache);
}

/* More than one turn drops. */
static void so_do_many(void) {
    char key[16];
    cache = open_cache(64 << 20);
    for (int i = 0; i < 300; i++) {
        snprintf(key, sizeof key, "k%d", i);
        CHECK(put(key, 40000, 0, (larder_extra){.tags = i % 3 ? &red : &both[1], .tag_count = 1}) == LARDER_OK);
    }
    int64_t before = chunks();
    CHECK(before >= 600 && larder_delete_tagged(cache, &red, 1, &at) == LARDER_OK && prune() == 200);
    CHECK(counts().items == 100 && chunks() < before / 2 && prune() == 0 && sound(cache));
    for (int i = 0; i < 300; i++) {
        snprintf(key, sizeof key, "k%d", i);
        CHECK(find(key) == (i % 3 ? LARDER_MISS : LARDER_OK), "%s", key);
    }
    larder_close(cache);
}

static void one_of_two_tags_is_enough(void) {
    const larder_extra two = {.tags = both, .tag_count = 2};
    cache = open_cache(SIZE);
    CHECK(put("small", 100, 0, two) == LARDER_OK && put("large", LARGE, 0, two) == LARDER_OK);
    CHECK(put("stays", LARGE, 0, (larder_extra){.tags = &red, .tag_count = 1}) == LARDER_OK);
    CHECK(larder_delete_tagged(cache, &both[1], 1, &at) == LARDER_OK && prune() == 2);
    CHECK(counts().items == 1 && find("stays") == LARDER_OK && sound(cache));
    larder_close(cache);
}

static void a_pinned_value_goes_with_its_tag(void) {
    cache = open_cache(SIZE);
    size_t longest = larder_max_pinned(cache) - 300;
    CHECK(put("pinned", longest, 1, (larder_extra){.tags = &red, .tag_count = 1}) == LARDER_OK);
    CHECK(put("other", longest, 1, (larder_extra){.tags = &both[1], .tag_count = 1}) == LARDER_OK);
    uint64_t before = counts().pinned_bytes;
    CHECK(larder_delete_tagged(cache, &red, 1, &at) == LARDER_OK && prune() == 1);
    CHECK(find("other") == LARDER_OK && counts().pinned_bytes == before / 2 && sound(cache));
    CHECK(larder_delete_tagged(cache, &both[1], 1, &at) == LARDER_OK && prune() == 1);
    CHECK(counts().pinned_bytes == 0 && counts().items == 0 && sound(cache));
    larder_close(cache);
}

static void a_stale_value_goes_after_its_window(void) {
    const larder_extra stale = {.stale_ms = 5000}, tagged = {.stale_ms = 5000, .tags = &red, .tag_count = 1};
    cache = open_cache(SIZE);
    CHECK(put("small", 100, 0, stale) == LARDER_OK && put("large", LARGE, 0, stale) == LARDER_OK);
    CHECK(put("tagged", LARGE, 0, tagged) == LARDER_OK);
    at.now_ms += 5999;
    CHECK(prune() == 0 && find("large") == LARDER_OK && find("tagged") == LARDER_OK, "all may be served stale");
    CHECK(larder_delete_tagged(cache, &red, 1, &at) == LARDER_OK && prune() == 1 && find("tagged") == LARDER_MISS);
    at.now_ms += 1;
    CHECK(prune() == 2 && counts().items == 0 && chunks() == 0 && sound(cache));
    larder_close(cache);
}

/* A chunk lives as long as any touch of its value asked for. */
static void no_chunk_outlives_its_value(void) {
    cache = open_cache(SIZE);
    CHECK(put("k", LARGE, 0, (larder_extra){0}) == LARDER_OK);
    CHECK(larder_touch(cache, "k", 1, 1000, &at) == LARDER_OK && prune() == 0);
    at.now_ms += 1000;
    CHECK(prune() == 1 && counts().items == 0 && chunks() == 0, "%d chunks are left", (int)chunks());
    CHECK(sound(cache));
    larder_close(cache);
}

static bool drop_a_chunk(const char *key) {
    lard_record_info info;
    lard_head head;
    lard_key large = lard_key_of(cache->core->map, NULL, key, strlen(key));
    lard_view view = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &large.hash));
    lard_found found = lard_index_find(&view, &large);
    if (!found.slot || !lard_record_of_slot(&view, found.value, &info)) {
        return false;
    }
    lard_record_head(&view, LARD_SLOT_OFFSET(found.value), &info, &head);
    lard_chunk_key data = {{head.id[0], head.id[1]}, head.chunks - 1};
    lard_key chunk = lard_key_of_chunk(cache->core->map, &data);
    lard_view there = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &chunk.hash));
    return lard_index_delete(&there, &chunk, 0, NULL);
}

static void so_does_one_that_lost_a_chunk(void) {
    cache = open_cache(SIZE);
    CHECK(put("k", LARGE, 0, (larder_extra){.tags = &red, .tag_count = 1}) == LARDER_OK);
    int64_t before = chunks();
    CHECK(drop_a_chunk("k") && chunks() == before - 1);
    CHECK(larder_delete_tagged(cache, &red, 1, &at) == LARDER_OK && prune() == 1);
    CHECK(counts().items == 0 && chunks() == 0 && sound(cache));
    larder_close(cache);
}

#ifdef __linux__
static long pages_read(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_majflt;
}

/* False: the file's pages cannot be dropped from memory, as on tmpfs. */
static bool forget_pages(void) {
    lard_map *map = cache->core->map;
    unsigned char page = 1;
    bool done = msync(map->base, map->bytes, MS_SYNC) == 0 && madvise(map->base, map->bytes, MADV_DONTNEED) == 0 &&
                posix_fadvise(map->fd, 0, 0, POSIX_FADV_DONTNEED) == 0 &&
                mincore(map->base + map->bytes / 2 / LARD_PAGE * LARD_PAGE, LARD_PAGE, &page) == 0;
    return done && !(page & 1);
}

/* A record is on each page, nearly. */
static void cold_pages_are_read_before(void) {
    enum { ITEMS = 5000, VALUE = 3000 };
    static char value[VALUE];
    char key[32];
    larder_report report;
    cache = open_cache(32 << 20);
    for (int i = 0; i < ITEMS; i++) {
        snprintf(key, sizeof key, "item %d", i);
        CHECK(set_bytes(cache, key, value, sizeof value, 0) == LARDER_OK);
    }
    for (int verifies = 0; verifies < 2; verifies++) {
        if (!forget_pages()) {
            printf("  skipped, the pages stay in memory: %s\n", test_name);
            break;
        }
        long before = pages_read();
        if (verifies) {
            CHECK(larder_verify(cache, &report) == LARDER_OK && report.problems == 0 && report.items == ITEMS);
        } else {
            CHECK(prune() == 0);
        }
        CHECK(pages_read() - before < ITEMS / 10, "%ld pages were waited for one by one", pages_read() - before);
    }
    larder_close(cache);
}
#endif

static const test_case tests[] = {
    TEST(a_large_value_goes_with_its_tag, "a large value whose tag was deleted goes with its chunks"),
    TEST(so_do_many, "so do more than a turn drops"),
    TEST(one_of_two_tags_is_enough, "one deleted tag of two is enough"),
    TEST(a_pinned_value_goes_with_its_tag, "a pinned value whose tag was deleted makes its room free"),
    TEST(a_stale_value_goes_after_its_window, "a stale value goes when its window has passed, not before"),
    TEST(no_chunk_outlives_its_value, "the chunks of an expired value go, also those that would live longer"),
#ifdef __linux__
    TEST(cold_pages_are_read_before, "pages that are not in memory are read before prune and verify take a lock"),
#endif
    TEST(so_does_one_that_lost_a_chunk, "a large value that has lost a chunk goes with the others"),
};
RUN("prune", tests)
