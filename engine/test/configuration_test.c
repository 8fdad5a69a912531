/*
 * configuration_test.c — checks that a handle believes only what its own configuration stored, in each call that
 * believes a value, and that calls which remove something act on all.
 *
 * configuration_rows_test.c has the table of configurations.
 */
#include "configurations.h"

#include "file/view.h"
#include "index/index.h"
#include "segment/record.h"

static larder *one, *two; /* of two configurations */

static bool begin(uint64_t first, uint64_t second) {
    one = open_as(first);
    two = open_as(second);
    return one && two && one != two && one->core == two->core;
}

static void end(void) {
    larder_close(one);
    larder_close(two);
}

static larder_status delete_key(larder *cache, const char *key) {
    return larder_delete(cache, key, strlen(key), NULL);
}

static larder_status store_as(larder *cache, const char *key, const char *value, larder_mode mode,
                              int64_t ttl_ms) {
    larder_store store = {.key = key,
                          .key_bytes = strlen(key),
                          .value = value,
                          .value_bytes = strlen(value),
                          .ttl_ms = ttl_ms,
                          .mode = (uint8_t)mode};
    return larder_set(cache, &store, NULL);
}

static larder_status store_tagged(larder *cache, const char *key, const char *value, int64_t stale_ms) {
    larder_tag tag = {"t", 1};
    larder_extra extra = {.tags = &tag, .tag_count = 1, .stale_ms = stale_ms};
    larder_store store = {.key = key,
                          .key_bytes = strlen(key),
                          .value = value,
                          .value_bytes = strlen(value),
                          .ttl_ms = 60000,
                          .extra = &extra};
    return larder_set(cache, &store, NULL);
}

static int64_t incremented(larder *cache, const char *key, int64_t initial) {
    int64_t result = -1;
    return larder_increment(cache, key, strlen(key), 1, initial, 0, &result, NULL) == LARDER_OK ? result : -1;
}

static bool exists(larder *cache, const char *key) {
    return larder_exists(cache, key, strlen(key), NULL, NULL) == LARDER_OK;
}

/* Reads the key in each way that there is: none is a hit. */
static bool is_absent(larder *cache, const char *key) {
    static char buffer[400000];
    const larder_call stale = {.flags = LARDER_CALL_STALE};
    uint64_t identity;
    larder_item item;
    larder_lookup lookup = {.key = key, .key_bytes = strlen(key), .buffer = buffer, .buffer_bytes = sizeof buffer};
    return is(cache, key, NULL) && !exists(cache, key) &&
           larder_get(cache, key, strlen(key), buffer, sizeof buffer, &item, &stale) == LARDER_MISS &&
           larder_get(cache, key, strlen(key), buffer, 0, &item, NULL) == LARDER_MISS &&
           larder_get_multi(cache, &lookup, 1, &stale) == LARDER_OK && lookup.status == LARDER_MISS &&
           larder_get_to_swap(cache, key, strlen(key), buffer, sizeof buffer, NULL, &item, &identity, NULL) ==
               LARDER_MISS;
}

/* Stores each kind of record. */
static bool keeps_to_itself(larder *mine, larder *other) {
    static char large[300000];
    return set(mine, "plain", "v") == LARDER_OK && is(mine, "plain", "v") && is_absent(other, "plain") &&
           store_tagged(mine, "tagged", "v", 0) == LARDER_OK && is(mine, "tagged", "v") &&
           is_absent(other, "tagged") && store_tagged(mine, "stale", "v", 60000) == LARDER_OK &&
           is(mine, "stale", "v") && is_absent(other, "stale") && incremented(mine, "counter", 41) == 42 &&
           is(mine, "counter", "42") && is_absent(other, "counter") &&
           set_bytes(mine, "large", large, sizeof large, 0) == LARDER_OK && exists(mine, "large") &&
           is_absent(other, "large") && exists(mine, "large") && larder_clear(mine) == LARDER_OK;
}

static void a_read_believes_its_own(void) {
    static const uint64_t pairs[][2] = {{0, 5}, {5, 6}, {UINT64_MAX, 1}, {1ull << 63, 0}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        CHECK(begin(pairs[i][0], pairs[i][1]));
        CHECK(keeps_to_itself(one, two) && keeps_to_itself(two, one), "pair %zu", i);
        CHECK(sound(one));
        end();
    }
}

static void one_bit_makes_another(void) {
    for (unsigned bit = 0; bit < 64; bit++) {
        unlink(test_path("t.larder"));
        CHECK(begin(0x5555555555555555, 0x5555555555555555 ^ 1ull << bit));
        CHECK(set(one, "k", "v") == LARDER_OK && is(one, "k", "v") && is(two, "k", NULL), "bit %u", bit);
        CHECK(set(two, "k", "w") == LARDER_OK && is(two, "k", "w") && is(one, "k", NULL), "bit %u", bit);
        end();
    }
}

static void a_condition_on_absence_holds(void) {
    CHECK(begin(5, 6));
    CHECK(set(one, "k", "v") == LARDER_OK && store_as(two, "k", "w", LARDER_REPLACE, 0) == LARDER_NOT_STORED);
    CHECK(store_as(one, "k", "x", LARDER_ADD, 0) == LARDER_NOT_STORED && is(one, "k", "v"));
    CHECK(store_as(two, "k", "w", LARDER_ADD, 0) == LARDER_OK && is(two, "k", "w") && is(one, "k", NULL));
    CHECK(store_as(one, "k", "v", LARDER_REPLACE, 0) == LARDER_NOT_STORED && is(two, "k", "w"));
    CHECK(store_tagged(one, "t", "v", 60000) == LARDER_OK &&
          store_as(two, "t", "w", LARDER_ADD, -1) == LARDER_OK && is(one, "t", "v"));
    CHECK(store_as(two, "t", "w", LARDER_ADD, 0) == LARDER_OK && is(two, "t", "w") && sound(one));
    end();
}

static void a_swap_takes_it_for_absent(void) {
    char buffer[8];
    uint64_t identity;
    CHECK(begin(5, 6));
    larder_store store = {.key = "k", .key_bytes = 1, .value = "w", .value_bytes = 1};
    store.expected_expires_at_ms = LARDER_ANY_EXPIRY;
    CHECK(set(one, "k", "v") == LARDER_OK && larder_cas(two, &store, "v", 1, NULL) == LARDER_MISS);
    CHECK(larder_get_to_swap(one, "k", 1, buffer, sizeof buffer, NULL, NULL, &identity, NULL) == LARDER_OK);
    CHECK(larder_swap(two, &store, identity, NULL) == LARDER_MISS && is(one, "k", "v"));
    CHECK(larder_cas(one, &store, "v", 1, NULL) == LARDER_OK && is(one, "k", "w") && is(two, "k", NULL));
    end();
}

static void a_counter_starts_again(void) {
    CHECK(begin(5, 0));
    CHECK(incremented(one, "n", 10) == 11 && incremented(two, "n", 100) == 101);
    CHECK(incremented(two, "n", 100) == 102 && incremented(one, "n", 10) == 11 && is(one, "n", "11"));
    CHECK(set(one, "n", "no number") == LARDER_OK && incremented(two, "n", 7) == 8 && sound(one));
    CHECK(store_tagged(one, "n", "5", 0) == LARDER_OK && incremented(two, "n", 0) == 1);
    CHECK(delete_key(one, "n") == LARDER_OK && incremented(two, "n", 0) == 1, "any of them deletes it");
    end();
}

static void a_touch_is_a_miss(void) {
    larder_item item;
    CHECK(begin(5, 6));
    CHECK(set(one, "k", "v") == LARDER_OK && store_tagged(one, "t", "v", 0) == LARDER_OK);
    CHECK(larder_touch(two, "k", 1, 1000, NULL) == LARDER_MISS &&
          larder_touch(two, "t", 1, 1, NULL) == LARDER_MISS);
    CHECK(larder_exists(one, "k", 1, &item, NULL) == LARDER_OK && item.expires_at_ms == 0 && is(one, "t", "v"));
    CHECK(larder_touch(two, "k", 1, -1, NULL) == LARDER_OK && is(one, "k", NULL), "that deletes");
    end();
}

/* A deploy of B and its rollback, while processes of A go on. */
static void removals_act_on_all(void) {
    larder_tag tag = {"t", 1};
    uint64_t dropped;
    CHECK(begin(5, 6));
    CHECK(set(one, "k", "old") == LARDER_OK && delete_key(two, "k") == LARDER_OK && is(one, "k", NULL));
    CHECK(set(one, "k", "old") == LARDER_OK && set(two, "k", "new") == LARDER_OK && is(one, "k", NULL));
    CHECK(delete_key(one, "k") == LARDER_OK && is(two, "k", NULL) && delete_key(one, "k") == LARDER_MISS);
    CHECK(set(one, "k", "old") == LARDER_OK && store_as(two, "k", "", LARDER_SET, -1) == LARDER_OK);
    CHECK(is(one, "k", NULL) && set(one, "k", "old") == LARDER_OK);
    CHECK(store_as(two, "k", "", LARDER_REPLACE, -1) == LARDER_OK && is(one, "k", NULL));
    CHECK(store_tagged(one, "k", "v", 0) == LARDER_OK && larder_delete_tagged(two, &tag, 1, NULL) == LARDER_OK);
    CHECK(is(one, "k", NULL) && larder_prune(two, &dropped, NULL) == LARDER_OK && dropped == 1);
    CHECK(set(one, "k", "v") == LARDER_OK && larder_clear(two) == LARDER_OK && is(one, "k", NULL));
    CHECK(set(one, "k", "v") == LARDER_OK && set_bytes(two, "k", "", larder_max_value(two) + 1, 0) != LARDER_OK);
    CHECK(is(one, "k", NULL), "a refused store drops what it would have overwritten");
    end();
}

static void a_scan_lists_all(void) {
    static char buffer[LARDER_MAX_KEY + 4];
    uint64_t cursor = 0;
    size_t count, used;
    CHECK(begin(5, 6));
    CHECK(set(one, "a", "v") == LARDER_OK && set(two, "b", "v") == LARDER_OK);
    CHECK(larder_scan(two, &cursor, "", 0, buffer, sizeof buffer, &count, &used, NULL) == LARDER_OK && count == 2);
    end();
}

static void a_lease_counts_for_all(void) {
    larder_lease mine = {0}, theirs = {0};
    larder_extra extra = {.lease = &mine};
    larder_store store = {.key = "k", .key_bytes = 1, .value = "v", .value_bytes = 1, .extra = &extra};
    CHECK(begin(5, 6));
    CHECK(larder_lease_take(one, "k", 1, 60000, &mine, NULL) == LARDER_OK);
    CHECK(larder_lease_take(two, "k", 1, 60000, &theirs, NULL) == LARDER_LEASED &&
          theirs.token[0] == mine.token[0]);
    CHECK(larder_lease_wait(two, "k", 1, &theirs, 0, NULL) == LARDER_LEASED);
    CHECK(larder_set(one, &store, NULL) == LARDER_OK && is(one, "k", "v") && is(two, "k", NULL));
    CHECK(larder_lease_wait(two, "k", 1, &theirs, 0, NULL) == LARDER_OK);
    theirs = (larder_lease){0};
    CHECK(larder_lease_take(two, "k", 1, 60000, &theirs, NULL) == LARDER_OK, "it finds no value, and computes");
    CHECK(is(one, "k", NULL) && larder_lease_end(two, "k", 1, &theirs, 0, NULL) == LARDER_OK &&
          is(two, "k", NULL));
    end();
}

/* The old value stays in the record of a lease for its own configuration, and is absent for another. */
static void a_stale_value_is_its_own(void) {
    static char buffer[8];
    larder_item item;
    larder_lease lease = {0};
    int64_t later_ms = lard_clock_ms() + 90000;
    const larder_call later = {.now_ms = later_ms, .flags = LARDER_CALL_STALE};
    CHECK(begin(5, 6));
    CHECK(store_tagged(one, "k", "v", 600000) == LARDER_OK);
    CHECK(larder_get(one, "k", 1, buffer, 8, &item, &later) == LARDER_OK && item.staleness == LARDER_STALE);
    CHECK(larder_get(two, "k", 1, buffer, 8, &item, &later) == LARDER_MISS);
    CHECK(larder_lease_take(one, "k", 1, 60000, &lease, &later) == LARDER_OK);
    CHECK(larder_get(one, "k", 1, buffer, 8, &item, &later) == LARDER_OK && item.staleness == LARDER_STALE_LEASED);
    CHECK(larder_get(two, "k", 1, buffer, 8, &item, &later) == LARDER_MISS);
    CHECK(larder_lease_end(one, "k", 1, &lease, 0, &later) == LARDER_OK);
    lease = (larder_lease){0};
    CHECK(larder_lease_take(two, "k", 1, 60000, &lease, &later) == LARDER_OK, "it needs no value of the other");
    CHECK(larder_get(one, "k", 1, buffer, 8, &item, &later) == LARDER_MISS && sound(one));
    end();
}

static void trust_is_its_own(void) {
    CHECK(begin(5, 6));
    CHECK(larder_trust(one, 10000, NULL) == LARDER_OK && larder_trusted(one) == LARDER_OK);
    CHECK(larder_trusted(two) == LARDER_MISS);
    larder *none = open_as(0), *again = open_as(5);
    CHECK(larder_trusted(none) == LARDER_MISS && larder_trusted(again) == LARDER_OK && again == one);
    CHECK(larder_trust(two, 10000, NULL) == LARDER_OK && larder_trust(one, 0, NULL) == LARDER_OK);
    CHECK(larder_trusted(two) == LARDER_OK && larder_trusted(again) == LARDER_MISS);
    larder_close(none);
    larder_close(again);
    end();
}

/* ---- what copies a record keeps its configuration ---- */

static void a_touch_keeps_it(void) {
    static char large[300000];
    CHECK(begin(5, 6));
    CHECK(set(one, "k", "v") == LARDER_OK && larder_touch(one, "k", 1, 60000, NULL) == LARDER_OK);
    CHECK(store_tagged(one, "t", "v", 0) == LARDER_OK && larder_touch(one, "t", 1, 60000, NULL) == LARDER_OK);
    CHECK(set_bytes(one, "large", large, sizeof large, 0) == LARDER_OK);
    CHECK(larder_touch(one, "large", 5, 60000, NULL) == LARDER_OK);
    CHECK(is(one, "k", "v") && is(one, "t", "v") && exists(one, "large") && is_absent(two, "k"));
    CHECK(is_absent(two, "t") && is_absent(two, "large") && sound(one));
    end();
}

static void eviction_keeps_it(void) {
    char key[32];
    static char value[4000];
    CHECK(begin(5, 6));
    CHECK(set(one, "k", "v") == LARDER_OK);
    lard_key wanted = lard_key_of(one->core->map, NULL, "k", 1);
    lard_view view = lard_view_of(one->core->map, lard_hash_shard(one->core->map, &wanted.hash));
    uint64_t before = lard_index_find(&view, &wanted).value;
    for (int i = 0; i < 6000; i++) {
        snprintf(key, sizeof key, "other %d", i);
        CHECK(set_bytes(two, key, value, sizeof value, 0) == LARDER_OK && is(one, "k", "v"));
    }
    CHECK(lard_index_find(&view, &wanted).value != before && is(one, "k", "v"), "it was moved");
    CHECK(is_absent(two, "k"));
    end();
}

static void a_pinned_item_can_be_replaced(void) {
    larder_store store = {.key = "k", .key_bytes = 1, .value = "v", .value_bytes = 1, .pin = 1};
    larder_stats stats;
    CHECK(begin(5, 6));
    CHECK(larder_set(one, &store, NULL) == LARDER_OK && is_absent(two, "k"));
    CHECK(larder_get_stats(one, &stats) == LARDER_OK && stats.pinned_bytes > 0);
    CHECK(store_as(two, "k", "w", LARDER_ADD, 0) == LARDER_OK && is(two, "k", "w") && is_absent(one, "k"));
    CHECK(larder_get_stats(one, &stats) == LARDER_OK && stats.pinned_bytes == 0 && sound(one));
    end();
}

static void resize_keeps_it(void) {
    static char large[300000];
    larder_error why;
    CHECK(begin(5, 6));
    larder *none = open_as(0), *three = open_as(7);
    larder *all[] = {one, two, none, three};
    char key[16];
    for (int i = 0; i < 4; i++) {
        snprintf(key, sizeof key, "k%d", i);
        CHECK(set(all[i], key, key) == LARDER_OK && store_tagged(all[i], key + 1, key, 0) == LARDER_OK);
    }
    CHECK(set_bytes(two, "large", large, sizeof large, 0) == LARDER_OK);
    CHECK(larder_trust(two, 10000, NULL) == LARDER_OK);
    CHECK(larder_resize(none, 2 * SIZE, LARDER_KEEP_ALL, &why) == LARDER_OK, "%s", why.detail);
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 4; k++) {
            snprintf(key, sizeof key, "k%d", k);
            CHECK(is(all[i], key, i == k ? key : NULL) && exists(all[i], key + 1) == (i == k), "%d %d", i, k);
        }
        CHECK(exists(all[i], "large") == (i == 1) && larder_trusted(all[i]) == LARDER_MISS);
    }
    CHECK(larder_resize(one, SIZE, LARDER_KEEP_NONE, &why) == LARDER_OK);
    CHECK(is(one, "k0", NULL) && set(two, "k", "v") == LARDER_OK && is(two, "k", "v") && is(one, "k", NULL));
    CHECK(set(one, "k", "w") == LARDER_OK && is(one, "k", "w") && is(two, "k", NULL), "also in an empty file");
    CHECK(set(three, "k", "x") == LARDER_OK && is(three, "k", "x") && is(one, "k", NULL) && is(two, "k", NULL));
    larder_close(none);
    larder_close(three);
    end();
}

static const test_case tests[] = {
    TEST(a_read_believes_its_own, "each kind of read believes only its own configuration"),
    TEST(one_bit_makes_another, "digests that differ in one bit are two configurations"),
    TEST(a_condition_on_absence_holds, "add replaces an item of another configuration, replace does not"),
    TEST(a_swap_takes_it_for_absent, "a swap takes an item of another configuration for absent"),
    TEST(a_counter_starts_again, "a counter starts again in another configuration"),
    TEST(a_touch_is_a_miss, "a touch of an item of another configuration is a miss"),
    TEST(removals_act_on_all, "deletes, overwrites and clears act on the items of all configurations"),
    TEST(a_scan_lists_all, "a scan lists the keys of all configurations"),
    TEST(a_lease_counts_for_all, "a lease holds for all configurations, its value for one"),
    TEST(a_stale_value_is_its_own, "a stale value is served to its own configuration"),
    TEST(trust_is_its_own, "a configuration is trusted by itself"),
    TEST(a_touch_keeps_it, "a touch keeps the configuration"),
    TEST(eviction_keeps_it, "eviction keeps the configuration of what it moves"),
    TEST(a_pinned_item_can_be_replaced, "a pinned item of another configuration is replaced"),
    TEST(resize_keeps_it, "resize with keep keeps three configurations and items of none apart"),
};
RUN("configuration", tests)
