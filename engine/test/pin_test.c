/*
 * pin_test.c — checks that pinned items stay, whatever else is stored.
 */
#include "pinned.h"

static void what_is_pinned_outlives_all_others(void) {
    enum { PINNED = 3000, BYTES = 300, OTHERS = 60000 };
    for (int is_read = 0; is_read < 2; is_read++) {
        cache = open_cache(4 << 20);
        for (int i = 0; i < PINNED; i++) { /* a quarter of it, never read */
            CHECK(pin(i, BYTES) == LARDER_OK, "%d", i);
            fill(i * 20, 20, BYTES, is_read);
        }
        fill(OTHERS, OTHERS, BYTES, is_read);
        for (int i = 0; i < PINNED; i++) {
            CHECK(is_there(i, BYTES), "%d of %d is gone", i, PINNED);
        }
        CHECK(stats().evictions > OTHERS && counted());
        CHECK(sound(cache));
        larder_close(cache);
    }
}

static void what_was_read_as_often_and_is_not_pinned_leaves(void) {
    enum { ITEMS = 3000, BYTES = 300 };
    pins = false; /* the same without: this test would see it */
    cache = open_cache(4 << 20);
    for (int i = 0; i < ITEMS; i++) {
        CHECK(pin(i, BYTES) == LARDER_OK);
        fill(i * 20, 20, BYTES, false);
    }
    pins = true;
    int there = 0;
    for (int i = 0; i < ITEMS; i++) {
        there += is_there(i, BYTES);
    }
    CHECK(there == 0 && stats().pinned_bytes == 0, "%d", there);
    larder_close(cache);
}

static void room_is_told_also_of_an_empty_cache(void) {
    cache = open_cache(64 << 20);
    uint64_t room = stats().pinned_room_bytes;
    CHECK(room > 40 << 20 && stats().shards > 1);
    CHECK(pin(1, 10) == LARDER_OK && stats().pinned_room_bytes == room);
    larder_clear(cache);
    CHECK(stats().pinned_room_bytes == room && stats().pinned_bytes == 0);
    larder_close(cache);
}

static void numbers_and_swaps_stay_what_they_were(void) {
    int64_t sum = 0;
    larder_item item = {0};
    cache = open_cache(1 << 20);
    larder_store store = {.key = "n", .key_bytes = 1, .value = "41", .value_bytes = 2, .pin = 1};
    CHECK(larder_set(cache, &store, NULL) == LARDER_OK);
    CHECK(larder_increment(cache, "n", 1, 1, 0, 0, &sum, NULL) == LARDER_OK && sum == 42);
    CHECK(larder_exists(cache, "n", 1, &item, NULL) == LARDER_OK && item.is_pinned && item.is_counter);
    for (int i = 0; i < 1000; i++) {
        CHECK(larder_increment(cache, "n", 1, 1, 0, 0, &sum, NULL) == LARDER_OK);
    }
    CHECK(counted());
    store.value = "0";
    store.value_bytes = 1;
    CHECK(larder_cas(cache, &store, "1042", 4, NULL) == LARDER_OK);
    CHECK(larder_exists(cache, "n", 1, &item, NULL) == LARDER_OK && item.is_pinned && !item.is_counter);
    store.pin = 0;
    CHECK(larder_cas(cache, &store, "0", 1, NULL) == LARDER_OK);
    CHECK(larder_exists(cache, "n", 1, &item, NULL) == LARDER_OK && !item.is_pinned && stats().pinned_bytes == 0);
    larder_close(cache);
}

static void what_is_too_long_to_be_pinned_is_an_error(void) {
    cache = open_cache(2 << 20);
    size_t most = larder_max_pinned(cache);
    CHECK(most >= 16000, "%d", (int)most);
    CHECK(pin(1, most - 6) == LARDER_OK && is_there(1, most - 6));
    CHECK(pin(1, most - 5 + 8) == LARDER_VALUE_TOO_LARGE);
    CHECK(larder_max_pinned(NULL) == 0);
    larder_close(cache);
}

static void it_survives_a_new_attachment(void) {
    cache = open_cache(1 << 20);
    CHECK(pin(1, 100) == LARDER_OK);
    larder_close(cache);
    cache = open_cache(1 << 20);
    fill(0, 20000, 300, true);
    CHECK(is_there(1, 100) && counted());
    larder_close(cache);
}

/* As larder_prune: others have the lock in between, and store and delete what is pinned. */
static void a_prune_in_turns_counts_right(void) {
    enum { ITEMS = 4000, BYTES = 40, BUCKETS = 16 };
    int64_t now_ms = lard_clock_ms();
    uint32_t next = 0, turns = 0;
    uint64_t dropped = 0;
    char key[32];
    cache = open_cache(4 << 20);
    CHECK(cache->core->map->super.shard_count == 1);
    for (int i = 0; i < ITEMS; i++) {
        CHECK(put("item", i, BYTES, 1, i % 4 == 0 ? 1000 : 0, now_ms) == LARDER_OK);
    }
    do {
        lard_view view = lard_view_of(cache->core->map, 0);
        CHECK(lard_shard_lock(cache->core, &view, NULL) == LARDER_OK);
        dropped += lard_expired_drop(cache->core, &view, &next, BUCKETS, now_ms + 1000, NULL);
        lard_shard_end_turn(&view);
        int i = (int)turns++ % ITEMS;
        CHECK(i % 2 ? larder_delete(cache, key, key_of(i, key), NULL) == LARDER_OK
                    : put("new", i, BYTES, 1, 0, now_ms) == LARDER_OK);
    } while (next);
    CHECK(turns >= ITEMS / 6 / BUCKETS);
    lard_view view =
        lard_view_of(cache->core->map, 0); /* a store may have moved a slot to a bucket that was done */
    CHECK(lard_shard_lock(cache->core, &view, NULL) == LARDER_OK);
    dropped += lard_expired_drop(cache->core, &view, &next, ITEMS, now_ms + 1000, NULL);
    lard_shard_end_turn(&view);
    CHECK(dropped == ITEMS / 4 && next == 0, "%u turns, %d", turns, (int)dropped);
    CHECK(counted() && sound(cache));
    for (int i = 0; i < ITEMS; i++) {
        CHECK(is_there(i, BYTES) == (i % 4 != 0 && !(i % 2 && i < (int)turns)), "%d", i);
    }
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(what_is_pinned_outlives_all_others, "what is pinned outlives all others"),
    TEST(what_was_read_as_often_and_is_not_pinned_leaves, "what is not pinned leaves"),
    TEST(room_is_told_also_of_an_empty_cache, "room is told also of an empty cache"),
    TEST(numbers_and_swaps_stay_what_they_were, "numbers and swaps stay what they were"),
    TEST(what_is_too_long_to_be_pinned_is_an_error, "what is too long to be pinned is an error"),
    TEST(it_survives_a_new_attachment, "it survives a new attachment"),
    TEST(a_prune_in_turns_counts_right, "a prune that others come between drops all and leaves the count right"),
};

RUN("pin", tests)
