/*
 * swap_test.c — checks larder_get_to_swap and larder_swap: a swap stores only over the record that was read, also
 * if the key has an equal value by now. Every call has the same time, so nothing differs in its expiry.
 */
#include "harness.h"
#include "file/view.h"
#include "index/index.h"

enum { SIZE = 8 << 20, LIFE_MS = 60000, LONG = 5000, LARGE = 300000 };

static const larder_call at = {.now_ms = 2000000000000};
static larder *cache;
static char value[LARGE], found[LARGE];

/* Kinds of values. */
typedef struct {
    const char *name;
    size_t bytes;
    int64_t ttl_ms;
    uint8_t flags, pin;
    larder_extra extra;
} kind;

static const larder_tag tag = {"t", 1};
static const kind kinds[] = {
    {.name = "empty"},
    {.name = "short", .bytes = 2},
    {.name = "of a length that a counter may have", .bytes = 20},
    {.name = "with an expiry", .bytes = 10, .ttl_ms = LIFE_MS},
    {.name = "with flags", .bytes = 10, .flags = 0xa5},
    {.name = "long", .bytes = LONG},
    {.name = "in chunks", .bytes = LARGE},
    {.name = "pinned", .bytes = 10, .pin = 1},
    {.name = "tagged", .bytes = 10, .extra = {.tags = &tag, .tag_count = 1}},
    {.name = "tagged, in chunks", .bytes = LARGE, .extra = {.tags = &tag, .tag_count = 1}},
    {.name = "kept when stale", .bytes = 10, .ttl_ms = LIFE_MS, .extra = {.stale_ms = LIFE_MS}},
};
#define KINDS (sizeof kinds / sizeof *kinds)

static larder_store store_of(const kind *what) {
    return (larder_store){.key = "k",
                          .key_bytes = 1,
                          .value = value,
                          .value_bytes = what->bytes,
                          .ttl_ms = what->ttl_ms,
                          .flags = what->flags,
                          .pin = what->pin,
                          .extra = &what->extra};
}

static larder_status put(const kind *what) {
    larder_store store = store_of(what);
    return larder_set(cache, &store, &at);
}

static larder_status read_value(larder_item *item, uint64_t *identity) {
    return larder_get_to_swap(cache, "k", 1, found, sizeof found, NULL, item, identity, &at);
}

static uint64_t identity_of_value(void) {
    uint64_t identity = 0;
    return read_value(NULL, &identity) == LARDER_OK ? identity : 0;
}

static larder_status swap(uint64_t identity) {
    larder_store store = {.key = "k", .key_bytes = 1, .value = "new", .value_bytes = 3};
    return larder_swap(cache, &store, identity, &at);
}

static bool has(const char *text) {
    larder_item item;
    return larder_get(cache, "k", 1, found, sizeof found, &item, &at) == LARDER_OK &&
           item.size_bytes == strlen(text) && memcmp(found, text, item.size_bytes) == 0;
}

static bool is_unchanged(const kind *what) {
    larder_item item;
    return larder_get(cache, "k", 1, found, sizeof found, &item, &at) == LARDER_OK &&
           item.size_bytes == what->bytes && memcmp(found, value, what->bytes) == 0 && item.flags == what->flags;
}

/* Ways to remove a value before it is stored again. */

static void nothing(void) {}
static void delete (void) { larder_delete(cache, "k", 1, &at); }
static void clear(void) { larder_clear(cache); }
static void resize(void) { larder_resize(cache, SIZE, LARDER_KEEP_NONE, NULL); }
static void delete_by_tag(void) { larder_delete_tagged(cache, &tag, 1, &at); }
static void expire(void) { larder_touch(cache, "k", 1, -1, &at); }

static const struct {
    const char *name;
    void (*remove)(void);
} ways[] = {{"overwritten", nothing},       {"deleted", delete}, {"cleared", clear}, {"resized", resize},
            {"tag deleted", delete_by_tag}, {"expired", expire}};
#define WAYS (sizeof ways / sizeof *ways)

static void an_equal_value_is_another(void) {
    cache = open_cache(SIZE);
    memset(value, '7', sizeof value);
    for (size_t k = 0; k < KINDS; k++) {
        for (size_t way = 0; way < WAYS; way++) {
            const kind *what = &kinds[k];
            larder_item item, again;
            uint64_t first, second;
            CHECK(put(what) == LARDER_OK && read_value(&item, &first) == LARDER_OK && first != 0);
            ways[way].remove();
            CHECK(put(what) == LARDER_OK && read_value(&again, &second) == LARDER_OK);
            CHECK(memcmp(&item, &again, sizeof item) == 0 && first != second, "%s, %s", what->name,
                  ways[way].name);
            CHECK(swap(first) == LARDER_NOT_STORED, "%s, %s", what->name, ways[way].name);
            CHECK(is_unchanged(what) && identity_of_value() == second, "%s, %s", what->name, ways[way].name);
            CHECK(swap(second) == LARDER_OK && has("new"), "%s, %s", what->name, ways[way].name);
            CHECK(swap(second) == LARDER_NOT_STORED, "%s, %s: once", what->name, ways[way].name);
            delete ();
        }
    }
    CHECK(sound(cache));
    larder_close(cache);
}

static void what_is_gone_is_a_miss(void) {
    cache = open_cache(SIZE);
    for (size_t k = 0; k < KINDS; k++) {
        for (size_t way = 1; way < WAYS; way++) {
            const kind *what = &kinds[k];
            uint64_t identity;
            CHECK(put(what) == LARDER_OK && read_value(NULL, &identity) == LARDER_OK);
            ways[way].remove();
            bool stays = ways[way].remove == delete_by_tag && !what->extra.tag_count;
            CHECK(swap(identity) == (stays ? LARDER_OK : LARDER_MISS), "%s, %s", what->name, ways[way].name);
            CHECK(stays || read_value(NULL, &identity) == LARDER_MISS, "%s, %s", what->name, ways[way].name);
            delete ();
        }
    }
    larder_close(cache);
}

/* A plain value is touched in place, so its slot stays. */
static void a_touch_makes_it_another(void) {
    cache = open_cache(SIZE);
    for (size_t k = 0; k < KINDS; k++) {
        uint64_t first, second;
        CHECK(put(&kinds[k]) == LARDER_OK && read_value(NULL, &first) == LARDER_OK);
        CHECK(larder_touch(cache, "k", 1, 2 * LIFE_MS, &at) == LARDER_OK);
        CHECK(read_value(NULL, &second) == LARDER_OK && first != second, "%s", kinds[k].name);
        CHECK(swap(first) == LARDER_NOT_STORED && is_unchanged(&kinds[k]), "%s", kinds[k].name);
        CHECK(swap(second) == LARDER_OK && has("new"), "%s", kinds[k].name);
    }
    larder_close(cache);
}

static larder_status count(int64_t delta) {
    int64_t n;
    return larder_increment(cache, "k", 1, delta, 0, 0, &n, &at);
}

/* A counter changes in place. */
static void counters_have_identities(void) {
    uint64_t first, second;
    cache = open_cache(SIZE);
    CHECK(count(5) == LARDER_OK && read_value(NULL, &first) == LARDER_OK && count(1) == LARDER_OK);
    CHECK(read_value(NULL, &second) == LARDER_OK && second != first);
    CHECK(swap(first) == LARDER_NOT_STORED && has("6"));
    CHECK(swap(second) == LARDER_OK && has("new") && swap(second) == LARDER_NOT_STORED);
    delete ();
    CHECK(count(5) == LARDER_OK && read_value(NULL, &first) == LARDER_OK);
    delete ();
    CHECK(count(5) == LARDER_OK && swap(first) == LARDER_NOT_STORED && has("5"), "counted again");
    CHECK(read_value(NULL, &first) == LARDER_OK && larder_touch(cache, "k", 1, LIFE_MS, &at) == LARDER_OK);
    CHECK(swap(first) == LARDER_NOT_STORED && has("5"), "touched");
    CHECK(read_value(NULL, &first) == LARDER_OK && count(1) == LARDER_OK && count(-1) == LARDER_OK);
    CHECK(swap(first) == LARDER_OK && has("new"), "the same counter with the same number");
    larder_close(cache);
}

/* Other values are stored until eviction has moved or dropped the value. It is read in between, so it is moved. */
static void a_value_that_eviction_moved_is_not_swapped(void) {
    uint64_t identity, now;
    char key[32];
    cache = open_cache(LARDER_MIN_SIZE);
    CHECK(set_bytes(cache, "k", "old", 3, 0) == LARDER_OK && (identity = identity_of_value()) != 0);
    now = identity;
    for (int i = 0; i < 100000 && now == identity; i++) {
        snprintf(key, sizeof key, "other %d", i);
        CHECK(set_bytes(cache, key, value, 700, 0) == LARDER_OK);
        now = identity_of_value();
    }
    CHECK(now != 0 && now != identity && has("old"));
    CHECK(swap(identity) == LARDER_NOT_STORED && has("old") && swap(now) == LARDER_OK);
    larder_close(cache);
}

/* The slot has the low 16 bits of the generation. */
static void a_segment_that_was_emptied_65536_times_has_other_values(void) {
    uint64_t identity;
    cache = open_cache(SIZE);
    CHECK(set(cache, "k", "old") == LARDER_OK && read_value(NULL, &identity) == LARDER_OK);
    lard_key key = lard_key_of(cache->core->map, NULL, "k", 1);
    lard_view view = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &key.hash));
    uint64_t slot = lard_index_find(&view, &key).value;
    lard_segment *row = &view.segments[lard_segment_at(&view, LARD_SLOT_OFFSET(slot))];
    lard_add(&row->generation, 65536);
    CHECK(has("old") && lard_index_find(&view, &key).value == slot);
    CHECK(swap(identity) == LARDER_NOT_STORED && has("old"));
    larder_close(cache);
}

static void a_swap_keeps_tags_and_takes_options(void) {
    larder_item item;
    uint64_t identity;
    cache = open_cache(SIZE);
    CHECK(put(&kinds[8]) == LARDER_OK && swap(identity_of_value()) == LARDER_OK && has("new"));
    delete_by_tag();
    CHECK(read_value(NULL, &identity) == LARDER_MISS, "it kept its tag");
    CHECK(put(&kinds[1]) == LARDER_OK && read_value(NULL, &identity) == LARDER_OK);
    larder_store store = store_of(&kinds[6]);
    store.ttl_ms = LIFE_MS;
    store.flags = 9;
    store.extra = &kinds[8].extra;
    CHECK(larder_swap(cache, &store, identity, &at) == LARDER_OK && read_value(&item, &identity) == LARDER_OK);
    CHECK(item.size_bytes == LARGE && item.flags == 9 && item.expires_at_ms == at.now_ms + LIFE_MS);
    delete_by_tag();
    CHECK(read_value(NULL, &identity) == LARDER_MISS, "it got a tag");
    larder_close(cache);
}

static void wrong_arguments_change_nothing(void) {
    larder_lease lease = {0};
    larder_extra leased = {.lease = &lease};
    larder_store good = {.key = "k", .key_bytes = 1, .value = "new", .value_bytes = 3}, bad;
    larder_item item;
    uint64_t identity = 0;
    cache = open_cache(SIZE);
    CHECK(set(cache, "k", "old") == LARDER_OK && read_value(NULL, &identity) == LARDER_OK);
    CHECK(larder_get_to_swap(cache, "k", 1, found, 8, NULL, NULL, NULL, &at) == LARDER_INVALID);
    CHECK(larder_get_to_swap(NULL, "k", 1, found, 8, NULL, NULL, &identity, &at) == LARDER_INVALID);
    CHECK(larder_get_to_swap(cache, found, LARDER_MAX_KEY + 1, found, 8, NULL, NULL, &identity, &at) ==
          LARDER_KEY_TOO_LONG);
    CHECK(larder_get_to_swap(cache, "k", 1, found, 2, NULL, &item, &identity, &at) == LARDER_BUFFER_TOO_SMALL &&
          item.size_bytes == 3);
    CHECK(larder_get_to_swap(cache, "none", 4, found, 8, NULL, NULL, &identity, &at) == LARDER_MISS);
    CHECK(larder_swap(cache, &good, 0, &at) == LARDER_INVALID);
    CHECK(larder_swap(cache, NULL, identity, &at) == LARDER_INVALID);
    CHECK(larder_swap(NULL, &good, identity, &at) == LARDER_INVALID);
    bad = good, bad.ttl_ms = -1;
    CHECK(larder_swap(cache, &bad, identity, &at) == LARDER_INVALID);
    bad = good, bad.extra = &leased;
    CHECK(larder_swap(cache, &bad, identity, &at) == LARDER_INVALID);
    bad = good, bad.value = value, bad.value_bytes = larder_max_value(cache) + 1;
    CHECK(larder_swap(cache, &bad, identity, &at) == LARDER_VALUE_TOO_LARGE);
    bad = good, bad.key = found, bad.key_bytes = LARDER_MAX_KEY + 1;
    CHECK(larder_swap(cache, &bad, identity, &at) == LARDER_KEY_TOO_LONG);
    CHECK(has("old") && swap(identity) == LARDER_OK);
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(an_equal_value_is_another, "an equal value that was stored later is another, so it is not swapped"),
    TEST(what_is_gone_is_a_miss, "a swap of what is gone is a miss"),
    TEST(a_touch_makes_it_another, "a value that was touched is another"),
    TEST(counters_have_identities, "a counter that was counted, touched, or made again is another"),
    TEST(a_value_that_eviction_moved_is_not_swapped, "a value that eviction moved is not swapped, and stays"),
    TEST(a_segment_that_was_emptied_65536_times_has_other_values,
         "an identity does not come back when the generation in the slot does"),
    TEST(a_swap_keeps_tags_and_takes_options, "a swap keeps the tags, and takes what the store says"),
    TEST(wrong_arguments_change_nothing, "wrong arguments are refused, and change nothing"),
};
RUN("swap", tests)
