/* inspect_test.c — items as people look at them: larder_inspect and larder_scan_details. */
#include "harness.h"

enum { ENTRY = 4 + sizeof(larder_details) };

static char buffer[LARDER_MAX_KEY + ENTRY];

/* The details of a key in a listing; false: it is not listed, or not once. */
static bool listed(larder *cache, const char *key, larder_details *details) {
    uint64_t cursor = 0;
    size_t count, used, found = 0;
    do {
        if (larder_scan_details(cache, &cursor, key, strlen(key), buffer, sizeof buffer, &count, &used, NULL) !=
            LARDER_OK) {
            return false;
        }
        for (size_t at = 0; at < used;) {
            uint32_t length;
            memcpy(&length, buffer + at, 4);
            if (length == strlen(key) && memcmp(buffer + at + ENTRY, key, length) == 0) {
                memcpy(details, buffer + at + 4, sizeof *details);
                found++;
            }
            at += ENTRY + length;
        }
    } while (cursor);
    return found == 1;
}

static larder_status inspect(larder *cache, const char *key, larder_details *details) {
    return larder_inspect(cache, key, strlen(key), buffer, sizeof buffer, NULL, details, NULL);
}

static larder_status store_with(larder *cache, const char *key, int64_t ttl_ms, const larder_extra *extra) {
    larder_store store = {.key = key,
                          .key_bytes = strlen(key),
                          .value = "value",
                          .value_bytes = 5,
                          .ttl_ms = ttl_ms,
                          .flags = 7,
                          .extra = extra};
    return larder_set(cache, &store, NULL);
}

static void details_are_those_of_the_item(void) {
    static char large[60000];
    larder *cache = open_cache(4 << 20);
    int64_t sum, before_ms = lard_clock_ms();
    larder_details found, walked;
    const larder_tag tags[] = {{"a", 1}, {"b", 1}};
    CHECK(set(cache, "plain", "value") == LARDER_OK &&
          set_bytes(cache, "large", large, sizeof large, 0) == LARDER_OK);
    CHECK(larder_increment(cache, "number", 6, 1, 99, 5000, &sum, NULL) == LARDER_OK);
    CHECK(store_with(cache, "tagged", 9000, &(larder_extra){.tags = tags, .tag_count = 2, .compute_ms = 40}) ==
          LARDER_OK);
    const char *keys[] = {"plain", "large", "number", "tagged"};
    const size_t sizes[] = {5, sizeof large, 3, 5};
    for (int i = 0; i < 4; i++) {
        larder_status status = inspect(cache, keys[i], &found);
        CHECK(status == (i == 1 ? LARDER_BUFFER_TOO_SMALL : LARDER_OK), "%s: %d", keys[i], (int)status);
        CHECK(listed(cache, keys[i], &walked) && memcmp(&walked, &found, sizeof found) == 0, "%s", keys[i]);
        CHECK(found.item.size_bytes == sizes[i] && found.reads == 0, "%s", keys[i]);
        CHECK(found.tag_count == (i == 3 ? 2u : 0u) && found.item.is_counter == (i == 2));
        CHECK((found.item.expires_at_ms != 0) == (i > 1));
        CHECK(found.stored_after_ms >= before_ms - 1000 && found.stored_after_ms <= lard_clock_ms());
    }
    CHECK(found.item.compute_ms == 40 && found.item.flags == 7);
    CHECK(larder_inspect(cache, "large", 5, NULL, 0, NULL, &found, NULL) == LARDER_OK);
    CHECK(found.item.size_bytes == sizeof large);
    CHECK(inspect(cache, "absent", &found) == LARDER_MISS && !listed(cache, "absent", &found));
    larder_close(cache);
}

static void looking_is_not_reading(void) {
    larder *cache = open_cache(4 << 20);
    larder_details found;
    larder_stats before, after;
    char key[32];
    CHECK(set(cache, "k", "v") == LARDER_OK);
    CHECK(store_with(cache, "tagged", 0, &(larder_extra){.tags = &(larder_tag){"t", 1}, .tag_count = 1}) ==
          LARDER_OK);
    CHECK(larder_delete_tagged(cache, &(larder_tag){"t", 1}, 1, NULL) == LARDER_OK);
    for (int i = 0; i < 20000; i++) { /* until the segment of k is old enough for its reads to count */
        snprintf(key, sizeof key, "filler %d", i);
        CHECK(set_bytes(cache, key, key, sizeof key, 0) == LARDER_OK);
    }
    CHECK(larder_get_stats(cache, &before) == LARDER_OK);
    for (int i = 0; i < 3; i++) {
        CHECK(inspect(cache, "k", &found) == LARDER_OK && found.reads == 0 && listed(cache, "k", &found));
        CHECK(inspect(cache, "tagged", &found) == LARDER_MISS && !listed(cache, "tagged", &found));
    }
    CHECK(larder_get_stats(cache, &after) == LARDER_OK);
    CHECK(after.hits == before.hits && after.misses == before.misses && after.tag_misses == before.tag_misses);
    CHECK(is(cache, "k", "v") && inspect(cache, "k", &found) == LARDER_OK && found.reads == 2, "%d",
          (int)found.reads);
    CHECK(is(cache, "k", "v") && listed(cache, "k", &found) && found.reads == 3, "%d", (int)found.reads);
    larder_close(cache);
}

static void stale_items_are_shown_and_placeholders_are_not(void) {
    larder *cache = open_cache(1 << 20);
    larder_details found;
    larder_lease lease = {.left_ms = 0};
    CHECK(store_with(cache, "stale", 1, &(larder_extra){.stale_ms = 100000}) == LARDER_OK);
    CHECK(larder_lease_take(cache, "computing", 9, 10000, &lease, NULL) == LARDER_OK);
    while (larder_exists(cache, "stale", 5, NULL, NULL) == LARDER_OK) {
        usleep(1000);
    }
    CHECK(inspect(cache, "stale", &found) == LARDER_OK && found.item.staleness == LARDER_STALE);
    CHECK(listed(cache, "stale", &found) && found.item.fresh_until_ms < found.item.expires_at_ms);
    CHECK(inspect(cache, "computing", &found) == LARDER_MISS && !listed(cache, "computing", &found));
    larder_close(cache);
}

static void items_of_each_configuration_are_shown(void) {
    larder *cache = open_cache(1 << 20), *other = NULL;
    larder_options options = {.configuration = 77};
    larder_details found;
    CHECK(larder_open(test_path("t.larder"), &options, &other, NULL) == LARDER_OK);
    CHECK(set(other, "its", "v") == LARDER_OK && is(cache, "its", NULL));
    CHECK(inspect(cache, "its", &found) == LARDER_OK && buffer[0] == 'v' && listed(cache, "its", &found));
    larder_close(other);
    larder_close(cache);
}

static void what_is_not_possible_is_refused(void) {
    larder *cache = open_cache(1 << 20);
    larder_details found;
    uint64_t cursor = 0;
    size_t count, used;
    static char key[LARDER_MAX_KEY + 1];
    CHECK(larder_inspect(cache, "k", 1, buffer, sizeof buffer, NULL, NULL, NULL) == LARDER_INVALID);
    CHECK(larder_inspect(NULL, "k", 1, buffer, sizeof buffer, NULL, &found, NULL) == LARDER_INVALID);
    CHECK(larder_inspect(cache, key, sizeof key, NULL, 0, NULL, &found, NULL) == LARDER_KEY_TOO_LONG);
    CHECK(larder_scan_details(cache, &cursor, NULL, 0, buffer, sizeof buffer - 1, &count, &used, NULL) ==
          LARDER_INVALID);
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(details_are_those_of_the_item, "size, expiry, age and tags are those of the item, by key and in a walk"),
    TEST(looking_is_not_reading, "looking at an item is not counted as a read of it"),
    TEST(stale_items_are_shown_and_placeholders_are_not,
         "stale items are shown, and values being computed are not"),
    TEST(items_of_each_configuration_are_shown, "items of another configuration are shown"),
    TEST(what_is_not_possible_is_refused, "wrong arguments are refused"),
};
RUN("inspect", tests)
