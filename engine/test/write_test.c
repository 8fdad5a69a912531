/*
 * write_test.c — the edges of storing: no bytes at all, values at and above the limit,
 * lives at and above the limit, and refusals in each mode.
 */
#include "children.h"

#include <limits.h>

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
    larder_call at = {.now_ms = LARDER_MAX_TTL_MS};
    larder_item item;
    char out[4];
    cache = open_cache(1 << 20);
    larder_store store = {.key = "k", .key_bytes = 1, .value = "v", .value_bytes = 1, .ttl_ms = LARDER_MAX_TTL_MS};
    CHECK(larder_set(cache, &store, &at) == LARDER_OK, "the latest expiry of all");
    CHECK(larder_get(cache, "k", 1, out, 4, &item, &at) == LARDER_OK &&
          item.expires_at_ms == 2 * LARDER_MAX_TTL_MS);
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

/* Two numbered keys of one shard and the whole of one tag, which stand in one bucket while the index is small. */
enum { MOST_TWINS = 300000, TWIN_BUCKETS = 64 };
typedef struct {
    uint64_t word; /* what they have in common */
    uint32_t number;
} twin;
static char one[32], other[32];

static int by_word(const void *a, const void *b) {
    const twin *x = a, *y = b;
    return x->word < y->word ? -1 : x->word > y->word;
}

static bool begin_with_twins(void) {
    static twin twins[MOST_TWINS];
    cache = open_cache(16 << 20); /* one shard */
    for (uint32_t i = 0; cache && i < MOST_TWINS; i++) {
        lard_hash hash = lard_hash_key(cache->map, one, (size_t)snprintf(one, sizeof one, "twin %u", i), false);
        twins[i] = (twin){lard_tag_of(cache->map, &hash) | hash.first % TWIN_BUCKETS, i};
    }
    qsort(twins, MOST_TWINS, sizeof *twins, by_word);
    for (uint32_t i = 1; cache && i < MOST_TWINS; i++) {
        if (twins[i].word == twins[i - 1].word) {
            snprintf(one, sizeof one, "twin %u", twins[i].number);
            snprintf(other, sizeof other, "twin %u", twins[i - 1].number);
            return cache->map->super.shard_count == 1 && cache->map->tag_is_sure;
        }
    }
    return false;
}

static larder_status put(const char *key, const char *value, larder_mode mode) {
    larder_store store = {
        .key = key, .key_bytes = strlen(key), .value = value, .value_bytes = strlen(value), .mode = mode};
    return larder_set(cache, &store, NULL);
}

static uint64_t items(void) {
    larder_stats stats;
    return larder_get_stats(cache, &stats) == LARDER_OK ? stats.items : UINT64_MAX;
}

static void a_store_takes_the_only_item_of_its_tag(void) {
    int64_t n;
    CHECK(begin_with_twins());
    CHECK(set(cache, one, "first") == LARDER_OK && is(cache, other, NULL));
    CHECK(set(cache, other, "second") == LARDER_OK && is(cache, other, "second"));
    CHECK(is(cache, one, NULL) && items() == 1, "it is forgotten, and never another's value");
    CHECK(larder_delete(cache, one, strlen(one), NULL) == LARDER_MISS &&
          larder_touch(cache, one, strlen(one), 0, NULL) == LARDER_MISS && is(cache, other, "second"));
    CHECK(set(cache, one, "third") == LARDER_OK && is(cache, one, "third") && is(cache, other, NULL));
    CHECK(larder_increment(cache, other, strlen(other), 5, 2, 0, &n, NULL) == LARDER_OK && n == 7);
    CHECK(is(cache, other, "7") && is(cache, one, NULL) && items() == 1);
    CHECK(sound(cache));
    larder_close(cache);
}

static void two_items_of_a_tag_are_told_apart(void) {
    CHECK(begin_with_twins());
    CHECK(put(one, "first", LARDER_ADD) == LARDER_OK && put(other, "second", LARDER_REPLACE) == LARDER_NOT_STORED);
    CHECK(put(other, "second", LARDER_ADD) == LARDER_OK && put(one, "no", LARDER_ADD) == LARDER_NOT_STORED);
    CHECK(is(cache, one, "first") && is(cache, other, "second") && items() == 2, "a condition is of a key");
    for (int i = 0; i < 3; i++) {
        CHECK(set(cache, i % 2 ? one : other, "third") == LARDER_OK && set(cache, one, "fourth") == LARDER_OK);
        CHECK(is(cache, one, "fourth") && is(cache, other, "third") && items() == 2);
    }
    CHECK(larder_delete(cache, other, strlen(other), NULL) == LARDER_OK && is(cache, one, "fourth"));
    cache->map->tag_is_sure = false; /* as in a file of large shards */
    CHECK(set(cache, other, "fifth") == LARDER_OK && is(cache, other, "fifth") && is(cache, one, "fourth"));
    CHECK(set(cache, one, "sixth") == LARDER_OK && set(cache, other, "seventh") == LARDER_OK);
    CHECK(is(cache, one, "sixth") && is(cache, other, "seventh") && items() == 2 && sound(cache));
    larder_close(cache);
}

static lard_found found_of(lard_view *view, const char *key, bool *in_main) {
    lard_hash hash = lard_hash_key(cache->map, key, strlen(key), false);
    *view = lard_view_of(cache->map, lard_hash_shard(cache->map, &hash));
    lard_found found = lard_index_find(view, &hash, key, strlen(key), false);
    *in_main = lard_segment_state(view, lard_slot_offset(cache->map, found.value)) == LARD_SEGMENT_MAIN;
    return found;
}

static void a_head_that_is_taken_drops_its_chunks(void) {
    enum { BYTES = 60000 };
    static unsigned char value[BYTES];
    CHECK(begin_with_twins());
    describe(value, BYTES, 1, 1);
    CHECK(set(cache, one, "in the bucket they have in common") == LARDER_OK);
    CHECK(set_bytes(cache, one, value, BYTES, 0) == LARDER_OK && items() > 4);
    CHECK(set(cache, other, "second") == LARDER_OK && items() == 1, "of another key");
    CHECK(set_bytes(cache, other, value, BYTES, 0) == LARDER_OK && items() > 4);
    CHECK(set_bytes(cache, one, value, BYTES, 0) == LARDER_OK && is(cache, other, NULL));
    CHECK(set(cache, one, "second") == LARDER_OK && items() == 1);
    CHECK(sound(cache));
    larder_close(cache);
}

/* In the main queue, where eviction has copied it, a head is still known for one. */
static void a_head_that_was_moved_drops_its_chunks(void) {
    enum { BYTES = 17000 };
    static unsigned char value[BYTES], have[BYTES];
    char key[32];
    lard_view view;
    lard_record_info info;
    lard_head head;
    bool in_main = false;
    cache = open_cache(1 << 20);
    describe(value, BYTES, 1, 1);
    CHECK(set_bytes(cache, "k", value, BYTES, 0) == LARDER_OK);
    lard_found found = found_of(&view, "k", &in_main);
    CHECK(!in_main);
    for (int i = 0; i < 100000 && !in_main; i++) {
        snprintf(key, sizeof key, "other %d", i);
        CHECK(set_bytes(cache, key, have, 300, 0) == LARDER_OK);
        CHECK(larder_get(cache, "k", 1, have, BYTES, NULL, NULL) == LARDER_OK, "at %d", i);
        found = found_of(&view, "k", &in_main);
    }
    uint64_t offset = lard_slot_offset(cache->map, found.value);
    CHECK(in_main && lard_slot_record(&view, found.value, &info) && lard_may_be_head(&view, offset));
    lard_record_head(&view, offset, &info, &head);
    CHECK(set(cache, "k", "small") == LARDER_OK && is(cache, "k", "small"));
    for (uint64_t i = 0; i < head.chunks; i++) {
        lard_chunk_key chunk = {{head.id[0], head.id[1]}, i};
        lard_hash hash = lard_hash_key(cache->map, &chunk, sizeof chunk, true);
        view = lard_view_of(cache->map, lard_hash_shard(cache->map, &hash));
        CHECK(!lard_index_find(&view, &hash, &chunk, sizeof chunk, true).slot, "chunk %d", (int)i);
    }
    CHECK(head.chunks > 1 && sound(cache));
    larder_close(cache);
}

/* How many of a thousand small items are taken for heads. */
static unsigned marked(void) {
    static unsigned char value[100];
    unsigned count = 0;
    for (int i = 0; i < 1000; i++) {
        char key[32];
        lard_view view;
        bool in_main;
        snprintf(key, sizeof key, "small %d", i);
        if (set_bytes(cache, key, value, sizeof value, 0) != LARDER_OK) {
            return UINT_MAX;
        }
        lard_found found = found_of(&view, key, &in_main);
        count += lard_may_be_head(&view, lard_slot_offset(cache->map, found.value));
    }
    return count;
}

/* Those that share a small part of a segment with one, as long as it has not begun anew. */
static void few_records_are_taken_for_heads(void) {
    lard_view view;
    bool in_main;
    static unsigned char value[100000];
    cache = open_cache(16 << 20);
    CHECK(set_bytes(cache, "k", value, sizeof value, 0) == LARDER_OK);
    unsigned at_first = marked();
    lard_found found = found_of(&view, "k", &in_main);
    CHECK(lard_may_be_head(&view, lard_slot_offset(cache->map, found.value)));
    CHECK(at_first && at_first <= cache->map->super.segment_bytes / LARD_HEAD_PARTS / 128 + 1, "%u of 1000",
          at_first);
    CHECK(!lard_may_be_head(&view, 0) && !lard_may_be_head(&view, 1ull << 32));
    CHECK(larder_clear(cache) == LARDER_OK && marked() == 0, "segments begin anew");
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(null_stands_for_no_bytes, "NULL stands for no bytes: as a key, a value, a prefix, a buffer"),
    TEST(values_have_a_limit, "values have a limit, and one above it leaves no old value"),
    TEST(lives_have_a_limit, "lives have a limit, and end"),
    TEST(a_life_of_less_than_nothing_keeps_the_mode, "a negative life drops the key where the mode holds"),
    TEST(overwriting_leaves_nothing_of_a_large_value, "overwriting a large value leaves none of its chunks"),
    TEST(a_store_takes_the_only_item_of_its_tag, "a store takes the only item of its key's tag for the key's own"),
    TEST(two_items_of_a_tag_are_told_apart,
         "two items of a tag are told apart, and so are keys under a condition"),
    TEST(a_head_that_is_taken_drops_its_chunks, "a large value's head that a store takes drops its chunks"),
    TEST(a_head_that_was_moved_drops_its_chunks, "so does one that eviction has moved"),
    TEST(few_records_are_taken_for_heads, "few records are looked at because they might be heads"),
    TEST(a_clock_that_stands_still, "stores see that their file was removed, whatever their clock shows"),
};
RUN("write", tests)
