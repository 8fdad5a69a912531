/*
 * keep_test.c — checks that larder_resize with LARDER_KEEP_* keeps everything that an item has.
 */
#include "children.h"

enum { SMALL = 1 << 20, LARGE = 4 << 20, LONG = 100000, STALE_MS = 3600000 };

static larder *cache;
static larder_error why;
static larder_call past; /* of a store a minute ago */
static const larder_call with_stale = {.flags = LARDER_CALL_STALE};
static char text[LARGE];

static void begin(void) {
    cache = open_cache(LARGE);
    past.now_ms = lard_clock_ms() - 60000;
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (char)('a' + i % 23);
    }
}

static larder_status put(const char *key, size_t bytes, int64_t ttl_ms, unsigned pin, larder_extra extra) {
    larder_store store = {.key = key,
                          .key_bytes = strlen(key),
                          .value = text,
                          .value_bytes = bytes,
                          .ttl_ms = ttl_ms,
                          .flags = (uint8_t)(bytes % 200 + 1),
                          .pin = (uint8_t)pin,
                          .extra = &extra};
    return larder_set(cache, &store, &past);
}

static larder_status find(const char *key, larder_item *item) {
    static char out[LARGE];
    larder_status status = larder_get(cache, key, strlen(key), out, sizeof out, item, &with_stale);
    return status == LARDER_OK && !item->is_counter && memcmp(out, text, item->size_bytes) != 0 ? LARDER_DAMAGED
                                                                                                : status;
}

static const larder_tag tags[] = {{"red", 3}, {"round", 5}};

/* Items of each kind, as they were before the resize. */
static const char *const kept[] = {"plain",   "expires", "stale",          "stale, pinned",  "stale, tagged",
                                   "touched", "tagged",  "computed",       "large, stale",   "large, tagged",
                                   "pinned",  "number",  "touched, stale", "number, pinned", "longest"};
enum { KEPT = sizeof kept / sizeof *kept };
static larder_item before[KEPT];

static bool fill(void) {
    int64_t number;
    const larder_extra none = {0}, stale = {.stale_ms = STALE_MS, .compute_ms = 250};
    const larder_extra tagged = {.tags = tags, .tag_count = 2}, computed = {.compute_ms = 77};
    const larder_extra both = {.stale_ms = STALE_MS, .compute_ms = 9, .tags = tags, .tag_count = 2};
    larder_store pinned = {
        .key = "number, pinned", .key_bytes = 14, .value = "41", .value_bytes = 2, .pin = 1, .ttl_ms = 900000};
    return put("plain", 10, 0, 0, none) == LARDER_OK && put("expires", 11, 900000, 0, none) == LARDER_OK &&
           put("stale", 12, 1000, 0, stale) == LARDER_OK &&
           put("stale, pinned", 5000, 1000, 1, stale) == LARDER_OK &&
           put("stale, tagged", 14, 1000, 0, both) == LARDER_OK && put("touched", 15, 0, 0, none) == LARDER_OK &&
           larder_touch(cache, "touched", 7, 700000, NULL) == LARDER_OK &&
           put("tagged", 16, 0, 0, tagged) == LARDER_OK && put("computed", 17, 0, 0, computed) == LARDER_OK &&
           put("large, stale", LONG, 1000, 0, stale) == LARDER_OK &&
           put("large, tagged", LONG + 1, 900000, 0, tagged) == LARDER_OK &&
           put("pinned", larder_max_pinned(cache) - 6, 0, 1, none) == LARDER_OK &&
           larder_increment(cache, "number", 6, 1, 41, 900000, &number, NULL) == LARDER_OK &&
           put("touched, stale", 18, 900000, 0, stale) == LARDER_OK &&
           larder_touch(cache, "touched, stale", 14, 800000, &past) == LARDER_OK &&
           larder_set(cache, &pinned, NULL) == LARDER_OK &&
           larder_increment(cache, "number, pinned", 14, 1, 0, 0, &number, NULL) == LARDER_OK &&
           put("longest", larder_max_value(cache), 0, 0, none) == LARDER_OK;
}

static void each_item_stays_as_it_was(void) {
    for (uint32_t keep = LARDER_KEEP_SOME; keep <= LARDER_KEEP_ALL; keep++) {
        begin();
        CHECK(fill());
        for (int i = 0; i < KEPT; i++) {
            CHECK(find(kept[i], &before[i]) == LARDER_OK, "%s", kept[i]);
        }
        CHECK(larder_resize(cache, LARGE, LARDER_KEEP_TRIAL, &why) == LARDER_OK, "%s", why.detail);
        CHECK(larder_resize(cache, keep == LARDER_KEEP_ALL ? LARGE : 2 * LARGE, keep, &why) == LARDER_OK, "%s",
              why.detail);
        for (int i = 0; i < KEPT; i++) {
            larder_item item;
            CHECK(find(kept[i], &item) == LARDER_OK, "%s", kept[i]);
            CHECK(memcmp(&item, &before[i], sizeof item) == 0, "%s", kept[i]);
        }
        CHECK(before[2].staleness == LARDER_STALE && before[2].compute_ms == 250 && before[3].is_pinned &&
              before[5].expires_at_ms && before[11].is_counter && before[13].is_counter && before[13].is_pinned);
        CHECK(larder_get(cache, "stale", 5, NULL, 0, NULL, NULL) == LARDER_MISS, "for a caller that takes none");
        CHECK(sound(cache));
        larder_close(cache);
        remove(test_path("t.larder"));
    }
}

static void an_item_that_has_ended_is_left_out(void) {
    larder_stats stats;
    begin();
    CHECK(put("over", 10, 1000, 0, (larder_extra){.stale_ms = 1000}) == LARDER_OK);
    CHECK(put("large, over", LONG, 1000, 0, (larder_extra){.stale_ms = 1000}) == LARDER_OK);
    CHECK(put("whole", LONG, 1000, 0, (larder_extra){.stale_ms = STALE_MS}) == LARDER_OK);
    CHECK(larder_resize(cache, LARGE, LARDER_KEEP_ALL, &why) == LARDER_OK, "%s", why.detail);
    CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.items == 1, "%d", (int)stats.items);
    larder_close(cache);
}

static void stale_items_must_fit_too(void) {
    char key[16];
    begin();
    for (int i = 0; i < 2000; i++) {
        snprintf(key, sizeof key, "k%d", i);
        CHECK(put(key, 700, 1000, 0, (larder_extra){.stale_ms = STALE_MS}) == LARDER_OK);
    }
    CHECK(larder_resize(cache, SMALL, LARDER_KEEP_ALL, &why) == LARDER_FULL && larder_size(cache) == LARGE);
    CHECK(larder_resize(cache, SMALL, LARDER_KEEP_SOME, &why) == LARDER_OK && sound(cache));
    larder_close(cache);
}

static larder_status put_tagged(const char *key, const larder_tag *tag, const larder_stamp *stamp) {
    return put(key, 20, 0, 0,
               (larder_extra){.tags = tag, .tag_count = 1, .stamp = stamp ? *stamp : (larder_stamp){0, 0}});
}

static void a_deleted_tag_stays_deleted(void) {
    larder_item item;
    larder_stamp stamp;
    begin();
    CHECK(put_tagged("a", &tags[0], NULL) == LARDER_OK && put_tagged("b", &tags[1], NULL) == LARDER_OK);
    CHECK(put("large", LONG, 0, 0, (larder_extra){.tags = tags, .tag_count = 2}) == LARDER_OK);
    CHECK(put("large, round", LONG, 0, 0, (larder_extra){.tags = &tags[1], .tag_count = 1}) == LARDER_OK);
    CHECK(put("stale", 20, 1000, 0, (larder_extra){.stale_ms = STALE_MS, .tags = &tags[1], .tag_count = 1}) ==
          LARDER_OK);
    CHECK(larder_stamp_now(cache, &stamp) == LARDER_OK && larder_delete_tagged(cache, tags, 1, NULL) == LARDER_OK);
    CHECK(larder_resize(cache, LARGE, LARDER_KEEP_ALL, &why) == LARDER_OK, "%s", why.detail);
    CHECK(find("a", &item) == LARDER_MISS && find("large", &item) == LARDER_MISS &&
          find("b", &item) == LARDER_OK && find("large, round", &item) == LARDER_OK &&
          find("stale", &item) == LARDER_OK);
    CHECK(put_tagged("a", &tags[0], &stamp) == LARDER_NOT_STORED && find("a", &item) == LARDER_MISS,
          "its value was computed before its tag was deleted");
    CHECK(put_tagged("b", &tags[1], &stamp) == LARDER_NOT_STORED && find("b", &item) == LARDER_OK);
    CHECK(put_tagged("c", &tags[0], NULL) == LARDER_OK && find("c", &item) == LARDER_OK);
    CHECK(larder_delete_tagged(cache, tags, 2, NULL) == LARDER_OK && find("b", &item) == LARDER_MISS &&
              find("c", &item) == LARDER_MISS && find("large, round", &item) == LARDER_MISS &&
              find("stale", &item) == LARDER_MISS,
          "kept items keep their tags");
    CHECK(sound(cache));
    larder_close(cache);
}

/* So many tags that deletions are forgotten for newer ones, and items count as deleted that may not be. */
static void what_was_forgotten_does_not_come_back(void) {
    char word[16], key[16];
    larder_item item;
    larder_tag tag = {word, 0};
    cache = open_cache(SMALL);
    past.now_ms = 0;
    for (int i = 0; i < 20; i++) {
        snprintf(key, sizeof key, "k%d", i);
        tag.bytes = (size_t)snprintf(word, sizeof word, "kept %d", i);
        CHECK(put_tagged(key, &tag, NULL) == LARDER_OK);
    }
    for (int i = 0; i < 5000; i++) {
        tag.bytes = (size_t)snprintf(word, sizeof word, "tag %d", i);
        CHECK(larder_delete_tagged(cache, &tag, 1, NULL) == LARDER_OK);
    }
    bool was_there[20];
    int missing = 0;
    for (int i = 0; i < 20; i++) {
        snprintf(key, sizeof key, "k%d", i);
        missing += !(was_there[i] = find(key, &item) == LARDER_OK);
    }
    CHECK(missing > 0, "nothing was forgotten");
    CHECK(larder_resize(cache, LARGE, LARDER_KEEP_ALL, &why) == LARDER_OK, "%s", why.detail);
    for (int i = 0; i < 20; i++) {
        snprintf(key, sizeof key, "k%d", i);
        CHECK((find(key, &item) == LARDER_OK) == was_there[i], "%s", key);
    }
    larder_close(cache);
}

static void leases_end(void) {
    larder_item item;
    larder_lease absent = {0}, beside = {0}, other = {0};
    begin();
    CHECK(put("beside", 20, 1000, 0, (larder_extra){.stale_ms = STALE_MS}) == LARDER_OK);
    CHECK(larder_lease_take(cache, "absent", 6, 60000, &absent, NULL) == LARDER_OK &&
          larder_lease_take(cache, "beside", 6, 60000, &beside, NULL) == LARDER_OK);
    CHECK(find("beside", &item) == LARDER_OK && item.staleness == LARDER_STALE_LEASED);
    CHECK(larder_resize(cache, LARGE, LARDER_KEEP_ALL, &why) == LARDER_OK, "%s", why.detail);
    CHECK(find("absent", &item) == LARDER_MISS);
    CHECK(find("beside", &item) == LARDER_OK && item.staleness == LARDER_STALE, "the old value stays");
    CHECK(put("absent", 20, 0, 0, (larder_extra){.lease = &absent}) == LARDER_NOT_STORED);
    CHECK(put("beside", 20, 0, 0, (larder_extra){.lease = &beside}) == LARDER_NOT_STORED);
    CHECK(larder_lease_wait(cache, "beside", 6, &beside, 0, NULL) == LARDER_OK, "a waiter reads again");
    CHECK(larder_lease_take(cache, "absent", 6, 60000, &other, NULL) == LARDER_OK &&
          larder_lease_take(cache, "beside", 6, 60000, &other, NULL) == LARDER_OK);
    CHECK(put("beside", 30, 0, 0, (larder_extra){.lease = &other}) == LARDER_OK);
    CHECK(find("beside", &item) == LARDER_OK && item.size_bytes == 30 && sound(cache));
    larder_close(cache);
}

static const test_case tests_of_keep[] = {
    TEST(each_item_stays_as_it_was, "each item keeps its value, life, stale window, flags, tags and pin"),
    TEST(an_item_that_has_ended_is_left_out, "an item whose stale window has passed is left out"),
    TEST(stale_items_must_fit_too, "stale items count where all items must fit"),
    TEST(a_deleted_tag_stays_deleted, "a deleted tag stays deleted, also for a value computed before"),
    TEST(what_was_forgotten_does_not_come_back, "values deleted by a forgotten deletion stay deleted"),
    TEST(leases_end, "leases end, and old values stay"),
};
RUN("keep", tests_of_keep)
