/*
 * evict_test.c — checks what is evicted when room is short, and what stays, also in a cache that is far too small.
 */
#include "harness.h"

static larder *cache;

static size_t key_of(const char *kind, int i, char key[32]) { return (size_t)snprintf(key, 32, "%s %d", kind, i); }

static larder_status put(const char *kind, int i, size_t bytes, int64_t ttl_ms, int64_t now_ms) {
    static unsigned char value[200000];
    char key[32];
    larder_call call = {.now_ms = now_ms};
    describe(value, bytes, (uint64_t)i, 1);
    larder_store store = {
        .key = key, .key_bytes = key_of(kind, i, key), .value = value, .value_bytes = bytes, .ttl_ms = ttl_ms};
    return larder_set(cache, &store, &call);
}

static bool whole(const char *kind, int i, size_t bytes, int64_t now_ms) {
    static unsigned char have[200000], want[200000];
    char key[32];
    larder_item item;
    larder_call call = {.now_ms = now_ms};
    larder_status status = larder_get(cache, key, key_of(kind, i, key), have, sizeof have, &item, &call);
    describe(want, bytes, (uint64_t)i, 1);
    if (status == LARDER_OK && (item.size_bytes != bytes || memcmp(have, want, bytes) != 0)) {
        fprintf(stderr, "  %s: a wrong value\n", key);
        exit(1);
    }
    return status == LARDER_OK;
}

static int how_many(const char *kind, int count, size_t bytes, int64_t now_ms) {
    int found = 0;
    for (int i = 0; i < count; i++) {
        found += whole(kind, i, bytes, now_ms);
    }
    return found;
}

static larder_stats stats(void) {
    larder_stats all;
    larder_get_stats(cache, &all);
    return all;
}

static void what_is_read_outlives_what_is_not(void) {
    enum { HOT = 500, COLD = 30000, BYTES = 300 };
    cache = open_cache(4 << 20);
    for (int i = 0; i < HOT; i++) {
        CHECK(put("hot", i, BYTES, 0, 0) == LARDER_OK);
    }
    for (int i = 0; i < COLD; i++) { /* a scan of ten times the cache, each item read never again */
        CHECK(put("cold", i, BYTES, 0, 0) == LARDER_OK);
        whole("hot", i % HOT, BYTES, 0);
    }
    int hot = how_many("hot", HOT, BYTES, 0), cold = how_many("cold", COLD, BYTES, 0);
    CHECK(hot > HOT * 95 / 100, "%d of %d hot items are left", hot, HOT);
    CHECK(cold < COLD / 2 && stats().evictions > COLD / 2, "%d cold items are left", cold);
    CHECK(sound(cache));
    larder_close(cache);
}

static uint32_t queue_of(const char *kind, int i) {
    char key[32];
    size_t bytes = key_of(kind, i, key);
    lard_key wanted = lard_key_of(cache->core->map, NULL, key, bytes);
    lard_view view = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &wanted.hash));
    lard_found found = lard_index_find(&view, &wanted);
    uint64_t inside = LARD_SLOT_OFFSET(found.value) - cache->core->map->super.data_offset;
    return found.slot ? lard_load(&view.segments[inside >> cache->core->map->segment_shift].state)
                      : LARD_SEGMENT_FREE;
}

static bool has_ghost(const char *kind, int i) {
    char key[32];
    lard_hash hash = lard_hash_key(cache->core->map, key, key_of(kind, i, key), false);
    lard_view view = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &hash));
    return lard_ghost_peek(&view, &hash);
}

static void what_comes_back_soon_goes_to_the_main_queue(void) {
    enum { BYTES = 300, ITEMS = 20000 };
    int ghosts = 0, last_evicted = 0;
    cache = open_cache(2 << 20);
    for (int i = 0; i < ITEMS; i++) {
        CHECK(put("old", i, BYTES, 0, 0) == LARDER_OK);
        CHECK(i > 3000 || queue_of("old", i) == LARD_SEGMENT_SMALL);
    }
    for (int i = 0; i < ITEMS; i++) {
        if (queue_of("old", i) == LARD_SEGMENT_FREE) {
            last_evicted = i;
            ghosts += has_ghost("old", i);
        }
    }
    CHECK(ghosts > 50 && ghosts < ITEMS / 2 && has_ghost("old", last_evicted), "%d ghosts", ghosts);
    CHECK(put("old", last_evicted, BYTES, 0, 0) == LARDER_OK);
    CHECK(queue_of("old", last_evicted) == LARD_SEGMENT_MAIN && whole("old", last_evicted, BYTES, 0));
    int oldest = 0;
    while (has_ghost("old", oldest) || queue_of("old", oldest) != LARD_SEGMENT_FREE) {
        oldest++;
    }
    CHECK(put("old", oldest, BYTES, 0, 0) == LARDER_OK && queue_of("old", oldest) == LARD_SEGMENT_SMALL,
          "what was evicted long ago is new again");
    CHECK(sound(cache));
    larder_close(cache);
}

static void what_is_stored_again_and_again_pushes_nothing_out(void) {
    enum { QUIET = 5000, BYTES = 300, TIMES = 60000 };
    for (int is_read = 0; is_read < 2; is_read++) {
        cache = open_cache(4 << 20);
        for (int i = 0; i < QUIET; i++) { /* two fifths of the cache, never read */
            CHECK(put("quiet", i, BYTES, 0, 0) == LARDER_OK);
        }
        for (int i = 0; i < TIMES; i++) { /* fifteen times the cache */
            CHECK(put("busy", i % 7, 1000, 0, 0) == LARDER_OK);
            CHECK(!is_read || whole("busy", i % 7, 1000, 0));
        }
        CHECK(stats().evictions == 0, "%d were evicted", (int)stats().evictions);
        CHECK(how_many("quiet", QUIET, BYTES, 0) == QUIET && how_many("busy", 7, 1000, 0) == 7);
        CHECK(sound(cache));
        larder_close(cache);
    }
}

static void what_is_incremented_or_touched_stays(void) {
    enum { COLD = 2000, LARGE = 100000 };
    int64_t count = 0;
    int missed = 0;
    cache = open_cache(8 << 20);
    CHECK(put("touched", 1, 300, 60000, 0) == LARDER_OK);
    for (int i = 1; i <= COLD; i++) {
        CHECK(put("cold", i, LARGE, 0, 0) == LARDER_OK);
        CHECK(larder_increment(cache, "count", 5, 1, 0, 0, &count, NULL) == LARDER_OK);
        missed += larder_touch(cache, "touched 1", 9, 60000, NULL) != LARDER_OK;
    }
    CHECK(count == COLD, "%d of %d increments are counted", (int)count, COLD);
    CHECK(missed == 0, "%d touches found nothing", missed);
    larder_close(cache);
}

/* 31 bits. */
static uint32_t next(uint64_t *random) { return (uint32_t)(next_random(random) >> 33); }

/* Half of the bytes that are stored are large values that nobody reads again. LRU keeps 38 % of the small items.
 */
static void large_values_push_out_no_items_that_are_read(void) {
    enum { LARGE = 300000, EVERY = 536, KEYS = 8300, ROUNDS = 120000 };
    static unsigned char large[LARGE];
    uint64_t random = 1;
    int hits = 0, gone = 0;
    cache = open_cache(4 << 20);
    for (int i = 0; i < ROUNDS; i++) {
        int key = (int)(next(&random) % KEYS);
        bool found = whole("small", key, 520, 0);
        hits += found && i >= ROUNDS / 2;
        CHECK(found || put("small", key, 520, 0, 0) == LARDER_OK);
        if (i % EVERY == 0) {
            larder_store store = {
                .key = &i, .key_bytes = sizeof i, .value = large, .value_bytes = sizeof large, .ttl_ms = 0};
            CHECK(larder_set(cache, &store, NULL) == LARDER_OK);
            gone += larder_get(cache, &i, sizeof i, large, sizeof large, NULL, NULL) != LARDER_OK;
        }
    }
    CHECK(hits > ROUNDS / 2 * 45 / 100, "%d of %d reads are hits", hits, ROUNDS / 2);
    CHECK(gone == 0, "%d large values were gone at once", gone);
    CHECK(sound(cache));
    larder_close(cache);
}

/* Values of which each is an eighth of the cache, three of them, beside items that take a third of it. */
static void overwritten_large_values_push_out_no_live_items(void) {
    enum { SMALL = 500, ROUNDS = 2000, READS = 45 };
    static unsigned char large[200000];
    static bool was_stored[SMALL];
    uint64_t random = 1;
    int missed = 0;
    cache = open_cache(1 << 20);
    for (int i = 0; i < ROUNDS; i++) {
        int key = (int)(next(&random) % 3);
        larder_store store = {
            .key = &key, .key_bytes = sizeof key, .value = large, .value_bytes = larder_max_value(cache)};
        CHECK(larder_set(cache, &store, NULL) == LARDER_OK);
        for (int n = 0; n < READS; n++) {
            double part = (double)next(&random) / 0x80000000u;
            int item = (int)(part * part * SMALL);
            bool found = whole("small", item, 500, 0);
            missed += was_stored[item] && !found;
            was_stored[item] = true;
            CHECK(found || put("small", item, 500, 0, 0) == LARDER_OK);
        }
    }
    CHECK(missed < ROUNDS * READS / 50, "%d of %d reads missed", missed, ROUNDS * READS);
    CHECK(sound(cache));
    larder_close(cache);
}

static void the_newest_are_always_there(void) {
    cache = open_cache(1 << 20);
    for (int i = 0; i < 20000; i++) {
        size_t bytes = (size_t)(i * 7919 % 6000);
        CHECK(put("item", i, bytes, 0, 0) == LARDER_OK);
        CHECK(whole("item", i, bytes, 0), "item %d was stored and is gone", i);
    }
    CHECK(sound(cache));
    larder_close(cache);
}

static void a_far_too_small_cache_works(void) {
    enum { ITEMS = 100000 };
    cache = open_cache(LARDER_MIN_SIZE);
    for (int i = 0; i < ITEMS; i++) {
        CHECK(put("item", i, 100, i % 5 ? 0 : 1000, 0) == LARDER_OK, "%d", i);
    }
    int left = how_many("item", ITEMS, 100, 0);
    CHECK(left > 1000, "%d of %d are left in 1 MiB", left, ITEMS);
    for (int i = 0; i < 300; i++) { /* large ones, each an eighth of it */
        CHECK(put("large", i, larder_max_value(cache), 0, 0) == LARDER_OK);
        CHECK(whole("large", i, larder_max_value(cache), 0), "%d", i);
    }
    CHECK(sound(cache));
    larder_close(cache);
}

static void expired_segments_go_before_live_items(void) {
    enum { LIVE = 2000, SHORT = 40000, BYTES = 300 };
    int64_t now = 1000000000;
    cache = open_cache(4 << 20);
    for (int i = 0; i < LIVE; i++) {
        CHECK(put("live", i, BYTES, 0, now) == LARDER_OK);
        whole("live", i, BYTES, now);
    }
    for (int i = 0; i < SHORT; i++) {
        now += 10;
        CHECK(put("short", i, BYTES, 1000, now) == LARDER_OK);
    }
    larder_stats all = stats();
    CHECK(how_many("live", LIVE, BYTES, now) == LIVE, "%d of %d", how_many("live", LIVE, BYTES, now), LIVE);
    CHECK(all.expirations > SHORT / 2 && all.evictions < SHORT / 20, "%d expired, %d evicted",
          (int)all.expirations, (int)all.evictions);
    CHECK(sound(cache));
    larder_close(cache);
}

static void prune_drops_what_has_expired(void) {
    uint64_t dropped;
    int64_t now = 1000000000;
    larder_call call = {.now_ms = now};
    cache = open_cache(4 << 20);
    for (int i = 0; i < 1000; i++) {
        CHECK(put("item", i, 50, i % 2 ? 1000 : 5000, now) == LARDER_OK);
    }
    CHECK(put("large", 1, 30000, 1000, now) == LARDER_OK);
    CHECK(larder_prune(cache, &dropped, &call) == LARDER_OK && dropped == 0);
    call.now_ms = now + 1000;
    CHECK(larder_prune(cache, &dropped, &call) == LARDER_OK && dropped == 501, "%d", (int)dropped);
    CHECK(stats().items == 500, "%d", (int)stats().items);
    call.now_ms = now + 999; /* a clock set back does not bring them back */
    char out[50];
    CHECK(larder_get(cache, "item 1", 6, out, sizeof out, NULL, &call) == LARDER_MISS);
    CHECK(larder_get(cache, "item 2", 6, out, sizeof out, NULL, &call) == LARDER_OK);
    CHECK(sound(cache));
    larder_close(cache);
}

static void overwriting_costs_no_other_item(void) {
    enum { STAY = 300, BYTES = 200 };
    cache = open_cache(2 << 20);
    for (int i = 0; i < STAY; i++) {
        CHECK(put("stay", i, BYTES, 0, 0) == LARDER_OK);
    }
    for (int i = 0; i < 100000; i++) { /* ten times the cache in dead records */
        CHECK(put("same", i % 10, BYTES, 0, 0) == LARDER_OK);
        whole("stay", i % STAY, BYTES, 0);
    }
    int left = how_many("stay", STAY, BYTES, 0);
    CHECK(left == STAY, "%d of %d", left, STAY);
    CHECK(sound(cache));
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(what_is_read_outlives_what_is_not, "what is read outlives what is not"),
    TEST(what_comes_back_soon_goes_to_the_main_queue,
         "what comes back soon after it was evicted goes to the main queue"),
    TEST(what_is_stored_again_and_again_pushes_nothing_out,
         "keys that are stored again and again push no others out of a cache with room"),
    TEST(what_is_incremented_or_touched_stays, "what is only incremented, or touched, is in use"),
    TEST(large_values_push_out_no_items_that_are_read,
         "large values that are not read again push out no items that are read"),
    TEST(overwritten_large_values_push_out_no_live_items,
         "large values that are overwritten push out no live items"),
    TEST(the_newest_are_always_there, "what was just stored is there"),
    TEST(a_far_too_small_cache_works, "a cache far too small for its load works"),
    TEST(expired_segments_go_before_live_items, "expired segments go before live items"),
    TEST(prune_drops_what_has_expired, "prune drops what has expired, for good"),
    TEST(overwriting_costs_no_other_item, "overwriting one item again and again costs no other"),
};
RUN("evict", tests)
