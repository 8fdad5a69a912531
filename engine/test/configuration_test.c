/* configuration_test.c — checks that whatever copies a record keeps the configuration that wrote it. */
#include "harness.h"
#include "file/map.h"
#include "file/view.h"
#include "index/index.h"
#include "item/put.h"
#include "segment/record.h"

enum { SIZE = 4 << 20 };

static larder *cache;

/* Stores a value as a process of that configuration will. */
static larder_status store_by(unsigned configuration, const char *key, const void *value, size_t bytes) {
    lard_key wanted = lard_key_of(cache->map, key, strlen(key));
    lard_write_op op = {.key = &wanted,
                        .spec = {.value = value,
                                 .value_bytes = bytes,
                                 .type = LARD_TYPE_PLAIN,
                                 .flags = 9,
                                 .configuration = configuration},
                        .condition = LARD_IF_ANY,
                        .now_ms = lard_clock_ms()};
    return lard_put(cache, cache->map, &op, NULL);
}

/* The configuration of the key's record, which is sound; -1: there is none. */
static int configuration_of(const char *key) {
    lard_key wanted = lard_key_of(cache->map, key, strlen(key));
    lard_view view = lard_view_of(cache->map, lard_hash_shard(cache->map, &wanted.hash));
    lard_found found = lard_index_find(&view, &wanted);
    lard_record_info info;
    bool is_sound = found.slot && lard_record_of_slot(&view, found.value, &info) &&
                    lard_record_sound(&view, LARD_SLOT_OFFSET(found.value), &info);
    return is_sound && LARD_WORD1_FLAGS(info.word1) == 9 ? (int)LARD_WORD1_CONFIGURATION(info.word1) : -1;
}

static void a_store_has_none(void) {
    cache = open_cache(SIZE);
    larder_store store = {.key = "k", .key_bytes = 1, .value = "v", .value_bytes = 1, .flags = 9};
    CHECK(larder_set(cache, &store, NULL) == LARDER_OK && configuration_of("k") == 0);
    larder_close(cache);
}

static void a_touch_keeps_it(void) {
    static char large[300000];
    cache = open_cache(SIZE);
    for (unsigned i = 0; i < LARD_CONFIGURATIONS; i++) {
        CHECK(store_by(i, "k", "v", 1) == LARDER_OK && configuration_of("k") == (int)i && is(cache, "k", "v"));
        CHECK(larder_touch(cache, "k", 1, 60000, NULL) == LARDER_OK && configuration_of("k") == (int)i);
        CHECK(store_by(i, "large", large, sizeof large) == LARDER_OK && configuration_of("large") == (int)i);
        CHECK(larder_touch(cache, "large", 5, 60000, NULL) == LARDER_OK && configuration_of("large") == (int)i);
    }
    CHECK(sound(cache));
    larder_close(cache);
}

/* A lease keeps the old value, which stays when the lease is given up. */
static void a_lease_keeps_it(void) {
    cache = open_cache(SIZE);
    larder_lease lease = {0};
    CHECK(store_by(5, "k", "v", 1) == LARDER_OK);
    CHECK(larder_lease_take(cache, "k", 1, 60000, &lease, NULL) == LARDER_NOT_STORED);
    CHECK(larder_lease_take(cache, "k", 1, 60000, &lease, NULL) == LARDER_OK && configuration_of("k") == 5);
    CHECK(larder_lease_end(cache, "k", 1, &lease, 1000, NULL) == LARDER_OK && configuration_of("k") == 5);
    CHECK(is(cache, "k", "v") && sound(cache));
    larder_close(cache);
}

static void eviction_keeps_it(void) {
    char key[32];
    static char value[4000];
    cache = open_cache(1 << 20);
    CHECK(store_by(6, "k", "v", 1) == LARDER_OK);
    lard_key wanted = lard_key_of(cache->map, "k", 1);
    lard_view view = lard_view_of(cache->map, 0);
    uint64_t before = lard_index_find(&view, &wanted).value;
    for (int i = 0; i < 2000; i++) {
        snprintf(key, sizeof key, "other %d", i);
        CHECK(set_bytes(cache, key, value, sizeof value, 0) == LARDER_OK && is(cache, "k", "v"));
    }
    CHECK(lard_index_find(&view, &wanted).value != before && configuration_of("k") == 6, "it was moved");
    larder_close(cache);
}

/* With the table that the number refers to. */
static void resize_keeps_it(void) {
    static char large[300000];
    larder_error why;
    cache = open_cache(SIZE);
    lard_configuration *row = &cache->map->control->configurations[3];
    lard_store(&row->digest, 0x1234567890abcdef);
    lard_store(&row->trusted_ms, UINT64_MAX);
    CHECK(store_by(3, "k", "v", 1) == LARDER_OK && store_by(3, "large", large, sizeof large) == LARDER_OK);
    larder_tag tag = {"t", 1};
    larder_extra extra = {.tags = &tag, .tag_count = 1};
    larder_store tagged = {
        .key = "t", .key_bytes = 1, .value = "v", .value_bytes = 1, .flags = 9, .extra = &extra};
    CHECK(larder_set(cache, &tagged, NULL) == LARDER_OK);
    CHECK(larder_resize(cache, 2 * SIZE, LARDER_KEEP_ALL, &why) == LARDER_OK, "%s", why.detail);
    CHECK(is(cache, "k", "v") && configuration_of("k") == 3 && configuration_of("large") == 3);
    CHECK(configuration_of("t") == 0);
    row = &cache->map->control->configurations[3];
    CHECK(lard_load(&row->digest) == 0x1234567890abcdef && lard_load(&row->trusted_ms) == 0);
    CHECK(larder_resize(cache, SIZE, LARDER_KEEP_NONE, &why) == LARDER_OK && is(cache, "k", NULL));
    CHECK(lard_load(&cache->map->control->configurations[3].digest) == 0, "an empty file has none");
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(a_store_has_none, "a store has no configuration yet"),
    TEST(a_touch_keeps_it, "a touch keeps the configuration"),
    TEST(a_lease_keeps_it, "a lease keeps the configuration of its old value"),
    TEST(eviction_keeps_it, "eviction keeps the configuration of what it moves"),
    TEST(resize_keeps_it, "resize with keep keeps the configurations and what they were"),
};
RUN("configuration", tests)
