/*
 * pin_full_test.c — checks that a cache full of pinned items says so, loses none, and has room for other items.
 */
#include "pinned.h"

static void a_cache_full_of_it_says_so_and_loses_nothing(void) {
    const size_t sizes[] = {8,    40,    300,  3000,
                            8200, 10900, 13000}; /* of 8200, three fill a segment, of 10900 two */
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        cache = open_cache(2 << 20);
        larder_clear(cache);
        fill(0, 5000, 300, true);
        int stored = 0;
        while (pin(stored, sizes[s]) == LARDER_OK) {
            stored++;
            CHECK(stored < 100000);
        }
        uint64_t bytes = stats().pinned_bytes, room = stats().pinned_room_bytes;
        CHECK(bytes > room * 9 / 10 && bytes <= room, "%d of %d", (int)bytes, (int)room);
        CHECK(pin(stored, sizes[s]) == LARDER_PIN_FULL && pin(stored + 1, sizes[s]) == LARDER_PIN_FULL);
        for (int i = 0; i < stored; i++) {
            CHECK(is_there(i, sizes[s]), "%d of %d, %d bytes", i, stored, (int)sizes[s]);
        }
        for (int i = 0; i < 3 * stored; i++) { /* each is changed, in turn, where there is no room for more */
            CHECK(pin(i % stored, sizes[s] - 8) == LARDER_OK, "%d of %d", i, stored);
        }
        fill(10000, 5000, 300, false);
        CHECK(put("other", 1, 300, 0, 0, 0) == LARDER_OK, "others have room all the same");
        for (int i = 0; i < stored; i++) {
            CHECK(is_there(i, sizes[s] - 8), "%d of %d, %d bytes", i, stored, (int)sizes[s]);
        }
        CHECK(counted());
        CHECK(sound(cache));
        larder_close(cache);
    }
}

/* Lengths that follow one another so that much is left over at the ends of segments. */
static size_t uneven(int i, unsigned row) {
    static const unsigned rows[][6] = {
        {16300, 16300, 8300, 8300, 8300, 8300},   {16300, 11000, 16300, 8200, 16300, 6600},
        {11000, 11000, 5500, 11000, 11000, 5500}, {16300, 40, 16300, 40, 16300, 40},
        {16300, 8250, 16300, 8250, 16300, 8250},  {13000, 6600, 12000, 7000, 11000, 9000}};
    return rows[row][i % 6];
}

static void others_have_room_whatever_the_lengths(void) {
    for (unsigned row = 0; row < 6; row++) {
        cache = open_cache(1 << 20);
        larder_clear(cache);
        int stored = 0;
        while (pin(stored, uneven(stored, row)) == LARDER_OK) {
            stored++;
        }
        for (int i = 0; i < 7 * stored; i++) { /* in other orders, so that they lie otherwise */
            int other = (int)((unsigned)i * 7919 % (unsigned)stored);
            CHECK(pin(other, uneven(other, row)) == LARDER_OK, "%d of %d, row %u", other, stored, row);
            for (int n = 0; n < 10; n++) {
                CHECK(put("other", i * 10 + n, 1000, 0, 0, 0) == LARDER_OK, "%d, row %u", i, row);
            }
        }
        for (int i = 0; i < stored; i++) {
            CHECK(is_there(i, uneven(i, row)), "%d of %d, row %u", i, stored, row);
        }
        CHECK(counted() && sound(cache));
        larder_close(cache);
    }
}

/* Others that stand in the main queue, as they were pinned once, and are changed there: a little with each write.
 */
static void what_changes_in_the_main_queue_leaves_room(void) {
    enum { CHANGING = 20, BYTES = 8192 - LARD_RECORD_HEADER - 9 }; /* four fill a segment */
    int stored = 1000;
    cache = open_cache(1 << 20);
    for (int i = 0; i < CHANGING; i++) {
        CHECK(put("changing", i, 100, 1, 0, 0) == LARDER_OK);
    }
    while (pin(stored, BYTES) == LARDER_OK) {
        stored++;
    }
    for (int i = 0; i < 40000; i++) {
        CHECK(put("changing", i % CHANGING, 60 + (size_t)i % 48, 0, 0, 0) == LARDER_OK, "%d", i);
    }
    for (int i = 1000; i < stored; i++) {
        CHECK(is_there(i, BYTES), "%d of %d", i, stored);
    }
    CHECK(stats().damaged == 0 && counted() && sound(cache));
    larder_close(cache);
}

/* The index is held back from growing, as where no segment can be had for it. */
static void a_full_index_costs_others_their_place(void) {
    int stored = 0;
    cache = open_cache(1 << 20);
    lard_view view = lard_view_of(cache->core->map, 0);
    for (int i = 0; i < 200; i++) {
        CHECK(put("other", i, 10, 0, 0, 0) == LARDER_OK);
    }
    uint32_t buckets = lard_bucket_count(&view);
    larder_status status = LARDER_OK;
    while (status == LARDER_OK) {
        lard_store(&view.header->items, 0);
        status = pin(stored, 10);
        stored += status == LARDER_OK;
        CHECK(stored <= (int)buckets * 8);
    }
    CHECK(status == LARDER_FULL && stored > (int)buckets * 4 && lard_bucket_count(&view) == buckets, "%d", stored);
    for (int i = 0; i < 5000; i++) {
        lard_store(&view.header->items, 0);
        put("other", i, 10, 0, 0, 0);
    }
    for (int i = 0; i < stored; i++) {
        CHECK(is_there(i, 10), "%d of %d", i, stored);
    }
    lard_store(&view.header->items, (uint64_t)stored);
    CHECK(pin(stored, 10) == LARDER_OK || pin(stored + 1, 10) == LARDER_OK, "it grows again");
    larder_close(cache);
}

/* A cache with room for others says so too: who enlarges the file knows what takes it. */
static void the_limit_of_pinned_items_has_a_status_of_its_own(void) {
    int stored = 0;
    cache = open_cache(2 << 20);
    while (pin(stored, 300) == LARDER_OK) {
        stored++;
    }
    larder_stats all = stats();
    CHECK(all.used_bytes < all.capacity_bytes, "%d of %d", (int)all.used_bytes, (int)all.capacity_bytes);
    CHECK(put("changed", 1, 300, 0, 0, 0) == LARDER_OK && put("changed", 1, 300, 1, 0, 0) == LARDER_PIN_FULL);
    char out[400];
    CHECK(larder_get(cache, "changed 1", 9, out, sizeof out, NULL, NULL) == LARDER_MISS, "as any refused store");
    CHECK(strcmp(larder_status_name(LARDER_PIN_FULL), "PIN_FULL") == 0 &&
          strstr(larder_status_text(LARDER_PIN_FULL), "delete some or enlarge the file"));
    larder_close(cache);
}

static void what_leaves_makes_room(void) {
    enum { BYTES = 300 };
    char key[32];
    int stored = 0;
    cache = open_cache(2 << 20);
    while (pin(stored, BYTES) == LARDER_OK) {
        stored++;
    }
    CHECK(pin(stored, BYTES) == LARDER_PIN_FULL);
    larder_delete(cache, key, key_of(7, key), NULL);
    CHECK(pin(stored, BYTES) == LARDER_OK && pin(stored + 1, BYTES) == LARDER_PIN_FULL);
    CHECK(put("item", 8, BYTES, 0, 0, 0) == LARDER_OK && pin(stored + 1, BYTES) == LARDER_OK, "pinned no longer");
    larder_clear(cache);
    CHECK(stats().pinned_bytes == 0 && pin(0, BYTES) == LARDER_OK && counted());
    larder_close(cache);
}

/* It looks at every item, and others wait meanwhile. */
static void who_is_refused_again_costs_no_count(void) {
    enum { BYTES = 300 };
    int64_t now = lard_clock_ms();
    int stored = 0;
    cache = open_cache(2 << 20);
    while (put("item", stored, BYTES, 1, 0, now) == LARDER_OK) {
        stored++;
    }
    lard_view view = lard_view_of(cache->core->map, 0);
    lard_store(&view.header->pinned_bytes, 1ull << 40);
    CHECK(put("item", stored, BYTES, 1, 0, now + 999) == LARDER_PIN_FULL && lard_pin_bytes(&view) == 1ull << 40);
    CHECK(put("item", stored, BYTES, 1, 0, now + 1000) == LARDER_PIN_FULL && lard_pin_bytes(&view) < 2 << 20);
    lard_store(&view.header->pinned_bytes, 1ull << 40);
    CHECK(put("item", stored, BYTES, 1, 0, now) == LARDER_PIN_FULL && lard_pin_bytes(&view) < 2 << 20,
          "clock set back");
    char key[32];
    larder_delete(cache, key, key_of(7, key), NULL);
    CHECK(put("item", stored, BYTES, 1, 0, now) == LARDER_OK, "a delete makes room at once");
    larder_close(cache);
}

/* What the key had was counted twice: as its own, and as dropped by the count. */
static void an_expired_one_is_no_more_room_than_it_was(void) {
    int64_t now = lard_clock_ms();
    int stored = 0;
    cache = open_cache(2 << 20);
    CHECK(put("short", 1, 8000, 1, 1000, now) == LARDER_OK);
    while (put("item", stored, 300, 1, 0, now) == LARDER_OK) {
        stored++;
    }
    CHECK(put("short", 1, 15000, 1, 0, now + 2000) == LARDER_PIN_FULL);
    CHECK(stats().pinned_bytes <= stats().pinned_room_bytes &&
          put("short", 1, 8000, 1, 0, now + 2000) == LARDER_OK);
    larder_close(cache);
}

static void what_has_expired_is_pinned_no_longer(void) {
    enum { BYTES = 300 };
    int64_t now = lard_clock_ms();
    int stored = 0;
    cache = open_cache(2 << 20);
    while (put("item", stored, BYTES, 1, 1000, now) == LARDER_OK) {
        stored++;
    }
    CHECK(put("item", stored, BYTES, 1, 0, now + 999) == LARDER_PIN_FULL);
    CHECK(put("item", stored, BYTES, 1, 0, now + 1999) == LARDER_OK);
    CHECK(stats().pinned_bytes < 1000 && counted());
    CHECK(sound(cache));
    larder_close(cache);
}

static void a_wrong_count_refuses_nobody(void) {
    enum { BYTES = 300 };
    cache = open_cache(2 << 20);
    CHECK(pin(0, BYTES) == LARDER_OK);
    lard_view view = lard_view_of(cache->core->map, 0);
    lard_store(&view.header->pinned_bytes, 1ull << 40); /* as crashes might leave it, one after the other */
    CHECK(pin(1, BYTES) == LARDER_OK && stats().pinned_bytes < 1000);
    lard_store(&view.header->pinned_bytes, (uint64_t)-5000);
    CHECK(pin(2, BYTES) == LARDER_OK && stats().pinned_bytes == 0);
    larder_prune(cache, NULL, NULL);
    CHECK(stats().pinned_bytes > 900 && stats().pinned_bytes < 1100);
    larder_close(cache);
}

static uint32_t segment_of(const lard_view *view, const char *key) {
    lard_key wanted = lard_key_of(view->map, NULL, key, strlen(key));
    uint64_t offset = LARD_SLOT_OFFSET(lard_index_find(view, &wanted).value);
    return (uint32_t)((offset - view->map->super.data_offset) >> view->map->segment_shift);
}

/* No segment is free where one was to be: what cannot be moved is lost then, and others have room. */
static void a_damaged_shard_goes_on(void) {
    enum { BYTES = 300 };
    int stored = 0, lost = 0;
    cache = open_cache(1 << 20);
    while (pin(stored, BYTES) == LARDER_OK) {
        stored++;
    }
    lard_view view = lard_view_of(cache->core->map, 0);
    lard_store(&view.header->free_segments, 0); /* alone that costs nothing: it is counted anew */
    fill(0, 3000, BYTES, true);
    for (int i = 0; i < stored; i++) {
        CHECK(pin(i, BYTES) == LARDER_OK && is_there(i, BYTES), "%d of %d", i, stored);
    }
    CHECK(stats().damaged == 0);
    larder_clear(cache);
    for (stored = 0; pin(stored, BYTES) == LARDER_OK; stored++) { /* so that segments are full of the living */
    }
    fill(0, 3000, BYTES, false);
    for (uint32_t s = 0; s < cache->core->map->super.segments_per_shard; s++) {
        if (lard_load(&view.segments[s].state) == LARD_SEGMENT_FREE) {
            lard_store(&view.segments[s].state, LARD_SEGMENT_INDEX);
        }
    }
    lard_segment_recount(&view);
    lard_store(&view.header->victim, segment_of(&view, "item 0") + 1);
    lard_store(&view.header->victim_offset, 0);
    for (int i = 0; i < 3000; i++) {
        CHECK(put("other", i, BYTES, 0, 0, 0) == LARDER_OK, "%d", i);
    }
    for (int i = 0; i < stored; i++) {
        lost += !is_there(i, BYTES);
    }
    CHECK(lost > 0 && lost < 200 && stats().damaged == (uint64_t)lost, "%d of %d", lost, stored);
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(a_cache_full_of_it_says_so_and_loses_nothing, "a cache full of it says so and loses nothing"),
    TEST(others_have_room_whatever_the_lengths, "others have room, whatever the lengths of what is pinned"),
    TEST(what_changes_in_the_main_queue_leaves_room,
         "what changes in the main queue leaves room for what is pinned"),
    TEST(a_full_index_costs_others_their_place, "a full index costs others their place, and none that is pinned"),
    TEST(the_limit_of_pinned_items_has_a_status_of_its_own, "the limit of pinned items has a status of its own"),
    TEST(what_leaves_makes_room, "what leaves makes room"),
    TEST(what_has_expired_is_pinned_no_longer, "what has expired is pinned no longer"),
    TEST(a_wrong_count_refuses_nobody, "a wrong count refuses nobody"),
    TEST(who_is_refused_again_costs_no_count, "who is refused again costs no count"),
    TEST(an_expired_one_is_no_more_room_than_it_was, "an expired one is no more room than it was"),
    TEST(a_damaged_shard_goes_on, "a shard that is damaged so that nothing can be moved goes on"),
};

RUN("pin, full", tests)
