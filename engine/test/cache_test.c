/* cache_test.c — the operations of larder.h, one process. */
#include "harness.h"

static void values_come_back(void) {
    larder *cache = open_cache(1 << 20);
    CHECK(set(cache, "a", "1") == LARDER_OK);
    CHECK(set(cache, "", "empty key") == LARDER_OK);
    CHECK(set(cache, "empty value", "") == LARDER_OK);
    CHECK(is(cache, "a", "1"));
    CHECK(is(cache, "", "empty key"));
    CHECK(is(cache, "empty value", ""));
    CHECK(is(cache, "b", NULL));
    CHECK(set(cache, "a", "two, and longer than before") == LARDER_OK);
    CHECK(is(cache, "a", "two, and longer than before"));
    CHECK(sound(cache));
    larder_close(cache);
    cache = open_cache(1 << 20);
    CHECK(is(cache, "a", "two, and longer than before"), "after reopening");
    larder_close(cache);
}

static void keys_of_all_kinds(void) {
    larder *cache = open_cache(4 << 20);
    char key[LARDER_MAX_KEY + 1], out[16];
    for (size_t bytes = 0; bytes <= LARDER_MAX_KEY; bytes += bytes < 40 ? 1 : 811) {
        memset(key, (int)bytes & 1 ? 0 : 0xff, sizeof key); /* NULs and non-UTF-8 */
        larder_store store = {.key = key, .key_bytes = bytes, .value = &bytes, .value_bytes = sizeof bytes};
        CHECK(larder_set(cache, &store, NULL) == LARDER_OK, "%zu", bytes);
    }
    for (size_t bytes = 0; bytes <= LARDER_MAX_KEY; bytes += bytes < 40 ? 1 : 811) {
        larder_item item;
        memset(key, (int)bytes & 1 ? 0 : 0xff, sizeof key);
        CHECK(larder_get(cache, key, bytes, out, sizeof out, &item, NULL) == LARDER_OK, "%zu", bytes);
        CHECK(item.size_bytes == sizeof bytes && memcmp(out, &bytes, sizeof bytes) == 0);
    }
    larder_store store = {.key = key, .key_bytes = LARDER_MAX_KEY + 1, .value = "", .value_bytes = 0};
    CHECK(larder_set(cache, &store, NULL) == LARDER_KEY_TOO_LONG);
    CHECK(larder_get(cache, key, LARDER_MAX_KEY + 1, out, 1, NULL, NULL) == LARDER_KEY_TOO_LONG);
    CHECK(larder_delete(cache, key, LARDER_MAX_KEY + 1, NULL) == LARDER_KEY_TOO_LONG);
    CHECK(sound(cache));
    larder_close(cache);
}

static void every_size_of_value(void) {
    larder *cache = open_cache(16 << 20);
    size_t most = larder_max_value(cache);
    unsigned char *value = malloc(most + 1), *out = malloc(most + 1);
    uint64_t stamp;
    for (size_t bytes = 0; bytes <= most; bytes = bytes < 70 ? bytes + 1 : bytes * 5 / 4 + 3) {
        larder_item item;
        describe(value, bytes, bytes, 77);
        CHECK(set_bytes(cache, "k", value, bytes, 0) == LARDER_OK, "%zu", bytes);
        CHECK(larder_get(cache, "k", 1, out, most, &item, NULL) == LARDER_OK, "%zu", bytes);
        CHECK(item.size_bytes == bytes && memcmp(out, value, bytes) == 0, "%zu", bytes);
        if (bytes) {
            CHECK(larder_get(cache, "k", 1, out, bytes - 1, &item, NULL) == LARDER_BUFFER_TOO_SMALL);
            CHECK(item.size_bytes == bytes);
        }
        (void)stamp;
    }
    describe(value, most, 1, 2);
    CHECK(set_bytes(cache, "k", value, most, 0) == LARDER_OK);
    CHECK(larder_get(cache, "k", 1, out, most, NULL, NULL) == LARDER_OK && memcmp(out, value, most) == 0);
    CHECK(set_bytes(cache, "k", value, most + 1, 0) == LARDER_VALUE_TOO_LARGE);
    CHECK(larder_get(cache, "k", 1, out, most, NULL, NULL) == LARDER_MISS,
          "a refused overwrite leaves no old value");
    CHECK(sound(cache));
    free(value);
    free(out);
    larder_close(cache);
}

static void the_largest_value_fits_a_full_cache(void) {
    larder *cache = open_cache(8 << 20);
    size_t most = larder_max_value(cache);
    unsigned char *value = malloc(most), *out = malloc(most);
    char key[32], filler[1000];
    memset(filler, 'f', sizeof filler);
    for (int i = 0; i < 20000; i++) {
        snprintf(key, sizeof key, "filler %d", i);
        CHECK(set_bytes(cache, key, filler, sizeof filler, 0) == LARDER_OK);
        CHECK(larder_exists(cache, key, strlen(key), NULL, NULL) == LARDER_OK);
    }
    for (uint64_t round = 0; round < 20; round++) {
        describe(value, most, round, round);
        CHECK(set_bytes(cache, "large", value, most, 0) == LARDER_OK);
        CHECK(larder_get(cache, "large", 5, out, most, NULL, NULL) == LARDER_OK && !memcmp(out, value, most));
    }
    CHECK(larder_delete(cache, "large", 5, NULL) == LARDER_OK);
    CHECK(larder_get(cache, "large", 5, out, most, NULL, NULL) == LARDER_MISS);
    CHECK(sound(cache));
    free(value);
    free(out);
    larder_close(cache);
}

static void conditions_hold(void) {
    larder *cache = open_cache(1 << 20);
    larder_store store = {.key = "k", .key_bytes = 1, .value = "1", .value_bytes = 1, .mode = LARDER_REPLACE};
    CHECK(larder_set(cache, &store, NULL) == LARDER_NOT_STORED);
    store.mode = LARDER_ADD;
    CHECK(larder_set(cache, &store, NULL) == LARDER_OK);
    store.value = "2";
    CHECK(larder_set(cache, &store, NULL) == LARDER_NOT_STORED);
    CHECK(is(cache, "k", "1"));
    store.mode = LARDER_REPLACE;
    CHECK(larder_set(cache, &store, NULL) == LARDER_OK);
    CHECK(is(cache, "k", "2"));
    store.mode = LARDER_SET;
    store.value = "3";
    CHECK(larder_cas(cache, &store, "1", 1, NULL) == LARDER_NOT_STORED);
    CHECK(larder_cas(cache, &store, "2", 1, NULL) == LARDER_OK);
    CHECK(is(cache, "k", "3"));
    store.key = "absent";
    store.key_bytes = 6;
    CHECK(larder_cas(cache, &store, "3", 1, NULL) == LARDER_MISS);
    store.mode = 9;
    CHECK(larder_set(cache, &store, NULL) == LARDER_INVALID);
    larder_close(cache);
}

static void a_swap_knows_counters_and_large_values(void) {
    larder *cache = open_cache(8 << 20);
    int64_t number;
    CHECK(larder_increment(cache, "n", 1, 5, 0, 0, &number, NULL) == LARDER_OK);
    larder_store store = {.key = "n", .key_bytes = 1, .value = "nine", .value_bytes = 4};
    CHECK(larder_cas(cache, &store, "4", 1, NULL) == LARDER_NOT_STORED);
    CHECK(larder_cas(cache, &store, "5", 1, NULL) == LARDER_OK);
    CHECK(is(cache, "n", "nine"));
    size_t bytes = 300000;
    unsigned char *one = malloc(bytes), *two = malloc(bytes), *out = malloc(bytes);
    describe(one, bytes, 1, 1);
    describe(two, bytes, 2, 2);
    CHECK(set_bytes(cache, "l", one, bytes, 0) == LARDER_OK);
    larder_store large = {.key = "l", .key_bytes = 1, .value = two, .value_bytes = bytes};
    CHECK(larder_cas(cache, &large, two, bytes, NULL) == LARDER_NOT_STORED);
    CHECK(larder_cas(cache, &large, one, bytes, NULL) == LARDER_OK);
    CHECK(larder_get(cache, "l", 1, out, bytes, NULL, NULL) == LARDER_OK && memcmp(out, two, bytes) == 0);
    free(one);
    free(two);
    free(out);
    CHECK(sound(cache));
    larder_close(cache);
}

static void flags_belong_to_the_value(void) {
    larder *cache = open_cache(1 << 20);
    int64_t number;
    larder_item item;
    char out[8];
    larder_store store = {.key = "k", .key_bytes = 1, .value = "5", .value_bytes = 1, .flags = 0xa5};
    CHECK(larder_set(cache, &store, NULL) == LARDER_OK);
    CHECK(larder_get(cache, "k", 1, out, sizeof out, &item, NULL) == LARDER_OK && item.flags == 0xa5);
    CHECK(larder_increment(cache, "k", 1, 1, 0, 0, &number, NULL) == LARDER_NOT_A_NUMBER, "an encoded value");
    store.flags = 1;
    CHECK(larder_cas(cache, &store, "5", 1, NULL) == LARDER_NOT_STORED, "same bytes, other flags");
    store.expected_flags = 0xa5;
    CHECK(larder_cas(cache, &store, "5", 1, NULL) == LARDER_OK);
    CHECK(larder_get(cache, "k", 1, out, sizeof out, &item, NULL) == LARDER_OK && item.flags == 1);
    store.expected_flags = 1;
    store.expected_expires_at_ms = 12345;
    CHECK(larder_cas(cache, &store, "5", 1, NULL) == LARDER_NOT_STORED, "same bytes, other expiry");
    larder_close(cache);
}

static void a_swap_compares_the_expiry_that_it_names(void) {
    larder *cache = open_cache(1 << 20);
    larder_item item = {0};
    larder_store store = {.key = "k", .key_bytes = 1, .value = "1", .value_bytes = 1, .ttl_ms = 60000};
    CHECK(larder_set(cache, &store, NULL) == LARDER_OK);
    CHECK(larder_exists(cache, "k", 1, &item, NULL) == LARDER_OK && item.expires_at_ms > 0);
    CHECK(larder_cas(cache, &store, "1", 1, NULL) == LARDER_NOT_STORED, "0: only if it never expires");
    store.expected_expires_at_ms = item.expires_at_ms;
    store.ttl_ms = 0;
    CHECK(larder_cas(cache, &store, "1", 1, NULL) == LARDER_OK);
    CHECK(larder_cas(cache, &store, "1", 1, NULL) == LARDER_NOT_STORED, "it never expires now");
    store.expected_expires_at_ms = 0;
    CHECK(larder_cas(cache, &store, "1", 1, NULL) == LARDER_OK);
    CHECK(larder_touch(cache, "k", 1, 60000, NULL) == LARDER_OK);
    CHECK(larder_cas(cache, &store, "1", 1, NULL) == LARDER_NOT_STORED, "it was touched");
    store.expected_expires_at_ms = LARDER_ANY_EXPIRY;
    CHECK(larder_cas(cache, &store, "1", 1, NULL) == LARDER_OK);
    CHECK(larder_exists(cache, "k", 1, &item, NULL) == LARDER_OK && item.expires_at_ms == 0);
    CHECK(larder_cas(cache, &store, "1", 1, NULL) == LARDER_OK, "any, also none");
    store.expected_expires_at_ms = LARDER_ANY_EXPIRY - 1;
    CHECK(larder_cas(cache, &store, "1", 1, NULL) == LARDER_INVALID);
    CHECK(larder_set(cache, &store, NULL) == LARDER_OK, "a set compares nothing");
    larder_close(cache);
}

static void counters_count(void) {
    larder *cache = open_cache(1 << 20);
    int64_t n = 0;
    CHECK(larder_increment(cache, "c", 1, 1, 10, 0, &n, NULL) == LARDER_OK && n == 11);
    CHECK(larder_increment(cache, "c", 1, 5, 10, 0, &n, NULL) == LARDER_OK && n == 16);
    CHECK(larder_increment(cache, "c", 1, -20, 0, 0, &n, NULL) == LARDER_OK && n == -4);
    CHECK(is(cache, "c", "-4"));
    CHECK(set(cache, "t", "41") == LARDER_OK);
    CHECK(larder_increment(cache, "t", 1, 1, 0, 0, &n, NULL) == LARDER_OK && n == 42);
    CHECK(is(cache, "t", "42"));
    CHECK(set(cache, "w", "word") == LARDER_OK);
    CHECK(larder_increment(cache, "w", 1, 1, 0, 0, &n, NULL) == LARDER_NOT_A_NUMBER);
    CHECK(is(cache, "w", "word"));
    CHECK(set(cache, "max", "9223372036854775807") == LARDER_OK);
    CHECK(larder_increment(cache, "max", 3, 1, 0, 0, &n, NULL) == LARDER_OVERFLOW);
    CHECK(is(cache, "max", "9223372036854775807"));
    CHECK(set(cache, "over", "9223372036854775808") == LARDER_OK);
    CHECK(larder_increment(cache, "over", 4, 1, 0, 0, &n, NULL) == LARDER_NOT_A_NUMBER);
    CHECK(set(cache, "min", "-9223372036854775808") == LARDER_OK);
    CHECK(larder_increment(cache, "min", 3, 0, 0, 0, &n, NULL) == LARDER_OK && n == INT64_MIN);
    CHECK(is(cache, "min", "-9223372036854775808"));
    for (int i = 0; i < 200000; i++) { /* the 16-bit sequence of the cells goes round */
        CHECK(larder_increment(cache, "many", 4, 1, 0, 0, &n, NULL) == LARDER_OK && n == i + 1);
    }
    CHECK(is(cache, "many", "200000"));
    CHECK(sound(cache));
    larder_close(cache);
}

static void time_passes(void) {
    larder *cache = open_cache(1 << 20);
    larder_call at = {.now_ms = 1000000};
    larder_store store = {.key = "k", .key_bytes = 1, .value = "v", .value_bytes = 1, .ttl_ms = 500};
    larder_item item;
    int64_t n;
    char out[8];
    CHECK(larder_set(cache, &store, &at) == LARDER_OK);
    at.now_ms += 499;
    CHECK(larder_get(cache, "k", 1, out, 8, &item, &at) == LARDER_OK && item.expires_at_ms == 1000500);
    at.now_ms += 1;
    CHECK(larder_get(cache, "k", 1, out, 8, &item, &at) == LARDER_MISS);
    CHECK(larder_touch(cache, "k", 1, 1000, &at) == LARDER_MISS);
    store.mode = LARDER_ADD;
    CHECK(larder_set(cache, &store, &at) == LARDER_OK, "an expired item is absent");
    CHECK(larder_touch(cache, "k", 1, 0, &at) == LARDER_OK);
    at.now_ms += 1000000;
    CHECK(larder_get(cache, "k", 1, out, 8, &item, &at) == LARDER_OK && item.expires_at_ms == 0);
    CHECK(larder_touch(cache, "k", 1, -1, &at) == LARDER_OK);
    CHECK(larder_get(cache, "k", 1, out, 8, &item, &at) == LARDER_MISS);

    CHECK(larder_increment(cache, "c", 1, 1, 0, 100, &n, &at) == LARDER_OK && n == 1);
    at.now_ms += 60;
    CHECK(larder_increment(cache, "c", 1, 1, 0, 100, &n, &at) == LARDER_OK && n == 2);
    at.now_ms += 60;
    CHECK(larder_increment(cache, "c", 1, 1, 0, 100, &n, &at) == LARDER_OK && n == 1,
          "a second one did not extend it");

    store.mode = LARDER_SET;
    store.ttl_ms = -1;
    CHECK(set(cache, "k", "old") == LARDER_OK);
    CHECK(larder_set(cache, &store, NULL) == LARDER_OK);
    CHECK(is(cache, "k", NULL), "a negative life drops the key");
    store.ttl_ms = LARDER_MAX_TTL_MS + 1;
    CHECK(larder_set(cache, &store, NULL) == LARDER_INVALID);
    at.now_ms = 1; /* a clock set far back: everything lives on, nothing breaks */
    CHECK(larder_get(cache, "c", 1, out, 8, &item, &at) == LARDER_OK);
    uint64_t dropped;
    at.now_ms = 1ll << 45;
    CHECK(larder_prune(cache, &dropped, &at) == LARDER_OK && dropped == 1);
    CHECK(sound(cache));
    larder_close(cache);
}

static void touching_a_large_value_keeps_its_chunks(void) {
    larder *cache = open_cache(8 << 20);
    size_t bytes = 200000;
    unsigned char *value = malloc(bytes), *out = malloc(bytes);
    larder_call at = {.now_ms = 1000000};
    describe(value, bytes, 1, 1);
    larder_store store = {.key = "l", .key_bytes = 1, .value = value, .value_bytes = bytes, .ttl_ms = 1000};
    CHECK(larder_set(cache, &store, &at) == LARDER_OK);
    CHECK(larder_touch(cache, "l", 1, 1000000, &at) == LARDER_OK);
    at.now_ms += 5000;
    uint64_t dropped;
    CHECK(larder_prune(cache, &dropped, &at) == LARDER_OK && dropped == 0);
    CHECK(larder_get(cache, "l", 1, out, bytes, NULL, &at) == LARDER_OK && memcmp(out, value, bytes) == 0);
    free(value);
    free(out);
    larder_close(cache);
}

static void clear_empties_at_once(void) {
    larder *cache = open_cache(4 << 20);
    char key[32];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 5000; i++) {
            snprintf(key, sizeof key, "k%d", i);
            CHECK(set(cache, key, "v") == LARDER_OK);
        }
        CHECK(larder_clear(cache) == LARDER_OK);
        for (int i = 0; i < 5000; i++) {
            snprintf(key, sizeof key, "k%d", i);
            CHECK(is(cache, key, NULL));
            CHECK(larder_delete(cache, key, strlen(key), NULL) == LARDER_MISS);
        }
        larder_stats stats;
        CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.items == 0);
    }
    CHECK(set(cache, "k1", "again") == LARDER_OK);
    CHECK(is(cache, "k1", "again") && is(cache, "k2", NULL));
    CHECK(sound(cache));
    larder_close(cache);
}

static void a_walk_meets_every_key(void) {
    larder *cache = open_cache(16 << 20);
    enum { COUNT = 30000 };
    static unsigned char seen[COUNT];
    static char buffer[20000];
    char key[32];
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < COUNT; i++) {
        snprintf(key, sizeof key, "%s/%d", i % 2 ? "odd" : "even", i);
        CHECK(set(cache, key, "v") == LARDER_OK);
    }
    uint64_t cursor = 0;
    size_t count, used, total = 0;
    do {
        CHECK(larder_scan(cache, &cursor, "odd/", 4, buffer, sizeof buffer, &count, &used, NULL) == LARDER_OK);
        for (size_t at = 0; at < used;) {
            uint32_t length;
            memcpy(&length, buffer + at, 4);
            memcpy(key, buffer + at + 4, length);
            key[length] = '\0';
            CHECK(strncmp(key, "odd/", 4) == 0);
            seen[atoi(key + 4)]++;
            at += 4 + length;
            total++;
        }
    } while (cursor);
    CHECK(total == COUNT / 2, "%zu", total);
    for (int i = 0; i < COUNT; i++) {
        CHECK(seen[i] == i % 2);
    }
    larder_close(cache);
}

static void many_are_read_at_once(void) {
    larder *cache = open_cache(8 << 20);
    enum { COUNT = 100 };
    char keys[COUNT][16], out[COUNT][16];
    larder_lookup lookups[COUNT];
    larder_store stores[COUNT];
    size_t stored;
    for (int i = 0; i < COUNT; i++) {
        snprintf(keys[i], 16, "key %d", i);
        stores[i] =
            (larder_store){.key = keys[i], .key_bytes = strlen(keys[i]), .value = keys[i], .value_bytes = 5};
        lookups[i] = (larder_lookup){
            .key = keys[i], .key_bytes = strlen(keys[i]), .buffer = out[i], .buffer_bytes = i == 50 ? 2 : 16};
    }
    CHECK(larder_set_multi(cache, stores, COUNT, &stored, NULL) == LARDER_OK && stored == COUNT);
    CHECK(larder_delete(cache, keys[7], strlen(keys[7]), NULL) == LARDER_OK);
    CHECK(larder_get_multi(cache, lookups, COUNT, NULL) == LARDER_OK);
    for (int i = 0; i < COUNT; i++) {
        larder_status want = i == 7 ? LARDER_MISS : i == 50 ? LARDER_BUFFER_TOO_SMALL : LARDER_OK;
        CHECK(lookups[i].status == want, "%d: %s", i, larder_status_name(lookups[i].status));
        CHECK(want != LARDER_OK || memcmp(out[i], keys[i], 5) == 0);
    }
    larder_close(cache);
}

static void a_damaged_value_is_absent_for_all(void) {
    larder *cache = open_cache(1 << 20);
    larder_store add = {.key = "lock", .key_bytes = 4, .value = "mine", .value_bytes = 4, .mode = LARDER_ADD};
    CHECK(set(cache, "lock", "theirs") == LARDER_OK);
    for (size_t i = 0; i + 6 < cache->core->map->bytes; i++) {
        if (memcmp(cache->core->map->base + i, "theirs", 6) == 0) {
            cache->core->map->base[i] ^= 4;
        }
    }
    CHECK(is(cache, "lock", NULL));
    add.mode = LARDER_REPLACE;
    CHECK(larder_set(cache, &add, NULL) == LARDER_NOT_STORED);
    add.mode = LARDER_ADD;
    CHECK(larder_set(cache, &add, NULL) == LARDER_OK, "else a lock made with it would never be free");
    CHECK(is(cache, "lock", "mine"));
    larder_close(cache);
}

static void bad_arguments_are_refused(void) {
    larder *cache = open_cache(1 << 20);
    larder *none = NULL;
    larder_error error;
    larder_options tiny = {.size_bytes = 1000}, huge = {.size_bytes = 1ull << 50};
    CHECK(larder_open(NULL, NULL, &none, &error) == LARDER_INVALID);
    CHECK(larder_open(test_path("x"), &tiny, &none, &error) == LARDER_SIZE_TOO_SMALL &&
          strstr(error.detail, "1000"));
    CHECK(larder_open(test_path("x"), &huge, &none, &error) == LARDER_SIZE_TOO_LARGE);
    CHECK(larder_get(cache, NULL, 3, NULL, 0, NULL, NULL) == LARDER_INVALID);
    CHECK(larder_get(NULL, "k", 1, NULL, 0, NULL, NULL) == LARDER_INVALID);
    CHECK(larder_set(cache, NULL, NULL) == LARDER_INVALID);
    larder_close(NULL);
    for (int status = 0; status < LARDER_STATUS_COUNT; status++) {
        CHECK(strlen(larder_status_text(status)) > 3 && strlen(larder_status_name(status)) > 1);
    }
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(values_come_back, "values come back, also after reopening"),
    TEST(keys_of_all_kinds, "keys of every length and byte are kept apart"),
    TEST(every_size_of_value, "values of every size come back whole"),
    TEST(the_largest_value_fits_a_full_cache, "the largest value fits a cache full of hot items"),
    TEST(conditions_hold, "add, replace and compare-and-swap keep their conditions"),
    TEST(a_swap_knows_counters_and_large_values, "compare-and-swap works on counters and large values"),
    TEST(flags_belong_to_the_value, "flags tell values of the same bytes apart, and keep them from counting"),
    TEST(a_swap_compares_the_expiry_that_it_names, "a swap compares the expiry that it names: one, none or any"),
    TEST(counters_count, "counters count, convert text, and refuse overflow"),
    TEST(time_passes, "items expire, are touched, and a clock set back breaks nothing"),
    TEST(touching_a_large_value_keeps_its_chunks, "touching a large value keeps all of it"),
    TEST(clear_empties_at_once, "clear empties everything and leaves the cache usable"),
    TEST(a_walk_meets_every_key, "a walk over keys meets each one that starts with the prefix"),
    TEST(many_are_read_at_once, "many keys are stored and read in one call"),
    TEST(a_damaged_value_is_absent_for_all, "a damaged value is absent for get, add and replace alike"),
    TEST(bad_arguments_are_refused, "bad arguments are refused by name"),
};
RUN("cache", tests)
