/*
 * write_test.c — checks the limits of stores: empty values, values and TTLs at and above the limit, refusals.
 */
#include "children.h"

static larder *cache;

static void null_stands_for_no_bytes(void) {
    static char buffer[8192];
    larder_item item;
    uint64_t cursor = 0;
    size_t count, used;
    int64_t n;
    cache = open_cache(1 << 20);
    larder_store store = {.key = NULL, .key_bytes = 0, .value = NULL, .value_bytes = 0};
    CHECK(larder_get(cache, NULL, 0, buffer, sizeof buffer, &item, NULL) == LARDER_MISS);
    CHECK(larder_set(cache, &store, NULL) == LARDER_OK);
    CHECK(larder_get(cache, NULL, 0, NULL, 0, &item, NULL) == LARDER_OK && item.size_bytes == 0);
    CHECK(larder_get(cache, "", 0, buffer, sizeof buffer, NULL, NULL) == LARDER_OK);
    CHECK(larder_scan(cache, &cursor, NULL, 0, buffer, sizeof buffer, &count, &used, NULL) == LARDER_OK &&
          count == 1);
    CHECK(larder_touch(cache, NULL, 0, 1000, NULL) == LARDER_OK &&
          larder_exists(cache, NULL, 0, NULL, NULL) == LARDER_OK);
    store.value = "7";
    store.value_bytes = 1;
    store.expected_expires_at_ms = LARDER_ANY_EXPIRY;
    CHECK(larder_cas(cache, &store, NULL, 0, NULL) == LARDER_OK);
    CHECK(larder_get(cache, NULL, 0, NULL, 0, &item, NULL) == LARDER_BUFFER_TOO_SMALL && item.size_bytes == 1);
    CHECK(larder_increment(cache, NULL, 0, 1, 0, 0, &n, NULL) == LARDER_OK && n == 8);
    CHECK(larder_increment(cache, NULL, 0, 1, 0, 0, NULL, NULL) == LARDER_OK);
    CHECK(larder_delete(cache, NULL, 0, NULL) == LARDER_OK && larder_delete(cache, NULL, 0, NULL) == LARDER_MISS);
    CHECK(larder_increment(cache, NULL, 0, 1, 5, 0, &n, NULL) == LARDER_OK && n == 6);
    CHECK(larder_set(cache, &(larder_store){.key = "k", .key_bytes = 1, .value_bytes = 1}, NULL) ==
          LARDER_INVALID);
    CHECK(larder_set_multi(cache, NULL, 0, NULL, NULL) == LARDER_OK);
    CHECK(larder_get_multi(cache, NULL, 0, NULL) == LARDER_OK);
    CHECK(sound(cache));
    larder_close(cache);
}

static void values_have_a_limit(void) {
    static const uint64_t sizes[] = {1 << 20, 3 << 20, 20 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        larder_item item;
        cache = open_cache(sizes[i]);
        size_t most = larder_max_value(cache);
        unsigned char *value = malloc(most + 1), *have = malloc(most);
        CHECK(most >= sizes[i] / 10 && most <= sizes[i] / 8);
        describe(value, most + 1, 1, 1);
        CHECK(set_bytes(cache, "k", value, most, 0) == LARDER_OK);
        CHECK(larder_get(cache, "k", 1, have, most, &item, NULL) == LARDER_OK && item.size_bytes == most &&
              memcmp(have, value, most) == 0);
        CHECK(set_bytes(cache, "k", value, most + 1, 0) == LARDER_VALUE_TOO_LARGE);
        CHECK(larder_get(cache, "k", 1, have, most, &item, NULL) == LARDER_MISS, "the old value is gone");
        CHECK(set_bytes(cache, "k", value, SIZE_MAX / 2, 0) == LARDER_VALUE_TOO_LARGE, "not a byte of it is read");
        CHECK(sound(cache));
        free(value);
        free(have);
        larder_close(cache);
        CHECK(unlink(test_path("t.larder")) == 0);
    }
}

static void lives_have_a_limit(void) {
    larder_call at = {.now_ms = LARDER_MAX_EXPIRY_MS - LARDER_MAX_TTL_MS};
    larder_item item;
    char out[4];
    cache = open_cache(1 << 20);
    larder_store store = {.key = "k", .key_bytes = 1, .value = "v", .value_bytes = 1, .ttl_ms = LARDER_MAX_TTL_MS};
    CHECK(larder_set(cache, &store, &at) == LARDER_OK, "the latest expiry of all");
    CHECK(larder_get(cache, "k", 1, out, 4, &item, &at) == LARDER_OK &&
          item.expires_at_ms == LARDER_MAX_EXPIRY_MS);
    at.now_ms++;
    CHECK(larder_set(cache, &store, &at) == LARDER_OK && larder_exists(cache, "k", 1, &item, &at) == LARDER_OK &&
              item.expires_at_ms == LARDER_MAX_EXPIRY_MS,
          "a later one is the latest");
    at.now_ms = INT64_MAX;
    CHECK(larder_set(cache, &store, &at) == LARDER_OK &&
              larder_get(cache, "k", 1, out, 4, &item, &at) == LARDER_MISS,
          "by a clock that is far ahead, all with a life is over");
    at.now_ms = 1;
    store.ttl_ms++;
    CHECK(larder_set(cache, &store, &at) == LARDER_INVALID);
    CHECK(larder_touch(cache, "k", 1, LARDER_MAX_TTL_MS + 1, &at) == LARDER_INVALID);
    CHECK(larder_increment(cache, "n", 1, 1, 0, INT64_MAX, NULL, &at) == LARDER_INVALID);
    store.ttl_ms = 1;
    CHECK(larder_set(cache, &store, NULL) == LARDER_OK, "a millisecond by the engine's clock");
    sleep_us(20000);
    CHECK(is(cache, "k", NULL));
    store.ttl_ms = INT64_MIN;
    CHECK(larder_set(cache, &store, NULL) == LARDER_OK && is(cache, "k", NULL));
    at.now_ms = -5;
    store.ttl_ms = 1;
    CHECK(larder_set(cache, &store, &at) == LARDER_INVALID);
    CHECK(sound(cache));
    larder_close(cache);
}

static void a_life_of_less_than_nothing_keeps_the_mode(void) {
    cache = open_cache(1 << 20);
    larder_store store = {.key = "k", .key_bytes = 1, .value = "w", .value_bytes = 1, .ttl_ms = -1};
    CHECK(set(cache, "k", "v") == LARDER_OK);
    store.mode = LARDER_ADD;
    CHECK(larder_set(cache, &store, NULL) == LARDER_NOT_STORED && is(cache, "k", "v"));
    store.mode = LARDER_REPLACE;
    CHECK(larder_set(cache, &store, NULL) == LARDER_OK && is(cache, "k", NULL));
    CHECK(larder_set(cache, &store, NULL) == LARDER_NOT_STORED);
    store.mode = LARDER_ADD;
    CHECK(larder_set(cache, &store, NULL) == LARDER_OK && is(cache, "k", NULL));
    CHECK(set(cache, "k", "v") == LARDER_OK && larder_touch(cache, "k", 1, -1, NULL) == LARDER_OK);
    CHECK(is(cache, "k", NULL));
    larder_close(cache);
}

/* A record that a process of a later version has stored under the key. */
static void store_extended(const char *name) {
    lard_key key = lard_key_of(cache->core->map, NULL, name, strlen(name));
    lard_extension extension = {.kind = LARD_TYPE_PLAIN, .fields = 0x80};
    lard_write_op op = {.key = &key,
                        .spec = {.value = "more, then a value",
                                 .value_bytes = 18,
                                 .type = LARD_TYPE_EXTENDED,
                                 .extension = &extension},
                        .condition = LARD_IF_ANY};
    CHECK(lard_put(cache->core, cache->core->map, &op, NULL) == LARDER_OK);
}

static void a_record_of_a_later_version_is_a_miss(void) {
    static unsigned char value[2000];
    char listed[LARDER_MAX_KEY + 4];
    larder_store store = {.key = "k", .key_bytes = 1, .value = "v", .value_bytes = 1, .mode = LARDER_REPLACE};
    uint64_t cursor = 0;
    size_t count, used;
    int64_t number;
    cache = open_cache(1 << 20);
    store_extended("k");
    CHECK(is(cache, "k", NULL) && larder_exists(cache, "k", 1, NULL, NULL) == LARDER_MISS);
    CHECK(larder_set(cache, &store, NULL) == LARDER_NOT_STORED &&
          larder_cas(cache, &store, "", 0, NULL) == LARDER_MISS);
    CHECK(larder_scan(cache, &cursor, NULL, 0, listed, sizeof listed, &count, &used, NULL) == LARDER_OK &&
          count == 0);
    lard_key key = lard_key_of(cache->core->map, NULL, "k", 1);
    lard_view view = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &key.hash));
    CHECK(lard_index_find(&view, &key).slot && larder_delete(cache, "k", 1, NULL) == LARDER_MISS &&
              !lard_index_find(&view, &key).slot,
          "a delete removes it");
    store_extended("k");
    store.mode = LARDER_ADD;
    CHECK(larder_set(cache, &store, NULL) == LARDER_OK && is(cache, "k", "v"), "it is absent for an add");
    store_extended("k");
    CHECK(set(cache, "k", "w") == LARDER_OK && is(cache, "k", "w") &&
          larder_delete(cache, "k", 1, NULL) == LARDER_OK && is(cache, "k", NULL));
    store_extended("n");
    CHECK(larder_increment(cache, "n", 1, 2, 5, 0, &number, NULL) == LARDER_OK && number == 7);
    for (int i = 0; i < 2000; i++) { /* eviction walks over them */
        char name[20];
        snprintf(name, sizeof name, "%d", i);
        if (i % 3 == 0) {
            store_extended(name);
        } else {
            CHECK(set_bytes(cache, name, value, sizeof value, 0) == LARDER_OK);
        }
    }
    larder_stats stats;
    CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.damaged == 0 && stats.resets == 0 && sound(cache));
    larder_close(cache);
}

static void overwriting_leaves_nothing_of_a_large_value(void) {
    enum { BYTES = 50000 };
    static unsigned char value[BYTES], have[BYTES];
    larder_stats before, after;
    cache = open_cache(4 << 20);
    describe(value, BYTES, 1, 1);
    CHECK(set(cache, "k", "small") == LARDER_OK && larder_get_stats(cache, &before) == LARDER_OK);
    for (int i = 0; i < 20; i++) {
        CHECK(set_bytes(cache, "k", value, BYTES, 0) == LARDER_OK);
        CHECK(larder_get(cache, "k", 1, have, BYTES, NULL, NULL) == LARDER_OK && !memcmp(have, value, BYTES));
        CHECK(set_bytes(cache, "k", value, BYTES - 9000, 0) == LARDER_OK);
        switch (i % 4) {
        case 0:
            CHECK(set(cache, "k", "small") == LARDER_OK);
            break;
        case 1:
            CHECK(larder_delete(cache, "k", 1, NULL) == LARDER_OK && set(cache, "k", "small") == LARDER_OK);
            break;
        case 2: {
            larder_store store = {.key = "k", .key_bytes = 1, .value = "small", .value_bytes = 5};
            CHECK(larder_cas(cache, &store, value, BYTES - 9000, NULL) == LARDER_OK);
            break;
        }
        default:
            CHECK(set_bytes(cache, "k", value, larder_max_value(cache) + 1, 0) == LARDER_VALUE_TOO_LARGE);
            CHECK(set(cache, "k", "small") == LARDER_OK);
        }
        CHECK(larder_get_stats(cache, &after) == LARDER_OK && after.items == before.items, "round %d: %d items", i,
              (int)after.items);
    }
    CHECK(sound(cache));
    larder_close(cache);
}

/* Under a clock of its caller's that stands still, too, stores see that their file is no longer at its path. */
static void a_clock_that_stands_still(void) {
    larder_call call = {.now_ms = 1700000000000};
    larder_store store = {.key = "k", .key_bytes = 1, .value = "v", .value_bytes = 1};
    cache = open_cache(1 << 20);
    CHECK(larder_set(cache, &store, &call) == LARDER_OK);
    CHECK(unlink(test_path("t.larder")) == 0 && usleep(300000) == 0);
    for (int i = 0; i < 70; i++) {
        CHECK(larder_set(cache, &store, &call) == LARDER_OK);
    }
    CHECK(access(test_path("t.larder"), F_OK) == 0, "it was made anew");
    CHECK(unlink(test_path("t.larder")) == 0 && usleep(300000) == 0);
    CHECK(larder_set(cache, &store, &call) == LARDER_OK && access(test_path("t.larder"), F_OK) != 0);
    call.now_ms++;
    CHECK(larder_set(cache, &store, &call) == LARDER_OK && access(test_path("t.larder"), F_OK) == 0,
          "at once where the clock goes on");
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(null_stands_for_no_bytes, "NULL stands for no bytes: as a key, a value, a prefix, a buffer"),
    TEST(values_have_a_limit, "values have a limit, and one above it leaves no old value"),
    TEST(lives_have_a_limit, "lives have a limit, and end"),
    TEST(a_life_of_less_than_nothing_keeps_the_mode, "a negative life drops the key where the mode holds"),
    TEST(a_record_of_a_later_version_is_a_miss,
         "a record of a later version is a miss, and is deleted and replaced"),
    TEST(overwriting_leaves_nothing_of_a_large_value, "overwriting a large value leaves none of its chunks"),
    TEST(a_clock_that_stands_still, "stores see that their file was removed, whatever their clock shows"),
};
RUN("write", tests)
