/*
 * steer_test.c — checks that eviction finds out how long its queues should be, and that nothing depends on the
 * memory in which it does so.
 */
#include "harness.h"

static larder *cache;

static larder_status put(int i, size_t bytes) {
    static unsigned char value[4096];
    char key[32];
    larder_store store = {
        .key = key, .key_bytes = (size_t)snprintf(key, sizeof key, "%d", i), .value = value, .value_bytes = bytes};
    return larder_set(cache, &store, NULL);
}

static bool ask(int i) {
    static unsigned char value[4096];
    char key[32];
    size_t bytes = (size_t)snprintf(key, sizeof key, "%d", i);
    return larder_get(cache, key, bytes, value, sizeof value, NULL, NULL) == LARDER_OK;
}

/* As an application does: what is not there is stored. */
static bool use(int i) { return ask(i) || (put(i, 1000) == LARDER_OK && false); }

static lard_shard_hints *hints(void) { return cache->core->map->dircache[0].hints; }

static lard_view shard(void) { return lard_view_of(cache->core->map, 0); }

static unsigned small_per_cent(void) {
    lard_view view = shard();
    return (lard_steer_small_share(&view) * 100 + 65535) / 65536;
}

static void nothing_is_heard_while_there_is_room(void) {
    cache = open_cache(4 << 20);
    for (int i = 0; i < 2000; i++) {
        use(i);
        ask(i);
    }
    CHECK(hints()->heard_end == 0 && hints()->sampled == 0);
    for (int i = 0; i < 20000; i++) {
        use(i % 8000);
    }
    double items = (double)hints()->sampled / (double)UINT32_MAX * 3500; /* as many as fit */
    CHECK(items > 200 && items < 320, "a sample of %.0f items", items);
    CHECK(hints()->heard_end > 100 && hints()->heard_end < 20000 / 5, "%u gets were heard", hints()->heard_end);
    larder_close(cache);
}

/* Items are asked for again soon, and then never. A short queue has lost them by then. */
static void recency_makes_the_small_queue_longer(void) {
    uint64_t state = 7;
    cache = open_cache(4 << 20);
    for (int i = 0; i < 60000; i++) {
        use(i);
        use(i - (int)(next_random(&state) % 1500));
    }
    CHECK(small_per_cent() >= 30, "%u per cent", small_per_cent());
    CHECK(sound(cache));
    larder_close(cache);
}

/* A working set that fits, and a scan beside it: what is asked for once is of no use. */
static void a_scan_keeps_the_small_queue_short(void) {
    uint64_t state = 7;
    int hits = 0, asked = 0;
    cache = open_cache(4 << 20);
    for (int i = 0; i < 120000; i++) {
        bool hit = use((int)(next_random(&state) % 2500));
        use(1000000 + i);
        hits += i > 60000 && hit;
        asked += i > 60000;
    }
    CHECK(small_per_cent() <= 5, "%u per cent", small_per_cent());
    CHECK(hits > asked * 9 / 10, "%d of %d", hits, asked);
    CHECK(sound(cache));
    larder_close(cache);
}

static void few_large_items_are_all_in_the_sample(void) {
    static unsigned char value[60000];
    char key[32];
    cache = open_cache(4 << 20);
    for (int i = 0; i < 300; i++) {
        larder_store store = {.key = key,
                              .key_bytes = (size_t)snprintf(key, sizeof key, "large %d", i % 100),
                              .value = value,
                              .value_bytes = sizeof value};
        if (larder_get(cache, key, store.key_bytes, value, sizeof value, NULL, NULL) != LARDER_OK) {
            CHECK(larder_set(cache, &store, NULL) == LARDER_OK);
        }
    }
    CHECK(hints()->sampled == UINT32_MAX && hints()->capacity > 20 && hints()->capacity < 100, "%u",
          hints()->capacity);
    larder_close(cache);
}

/* Gets that missed in a new file, in which a few hundred values of several chunks fit: popular keys, which change
 * slowly, and every fifth get one that is not repeated. */
static int misses_of_large_values(int gets) {
    static unsigned char value[20000];
    uint64_t state = 7;
    int misses = 0;
    cache = open_cache(4 << 20);
    for (int i = 0; i < gets; i++) {
        double part = (double)(next_random(&state) >> 11) / (double)(1ull << 53);
        int number = i % 5 ? i / 40 + (int)(2000 * part * part * part) : 1000000 + i;
        char key[32];
        larder_store store = {.key = key,
                              .key_bytes = (size_t)snprintf(key, sizeof key, "%d", number),
                              .value = value,
                              .value_bytes = sizeof value};
        if (larder_get(cache, key, store.key_bytes, value, sizeof value, NULL, NULL) != LARDER_OK) {
            larder_set(cache, &store, NULL);
            misses++;
        }
    }
    larder_close(cache);
    unlink(test_path("t.larder"));
    return misses;
}

/* The share after the next choice, before which new hints have counted fewer misses for the share of 30 per cent.
 */
static unsigned next_choice(int stored) {
    unsigned chosen;
    int i = 0;
    cache = open_cache(4 << 20);
    for (; i < stored; i++) {
        use(i);
    }
    for (unsigned c = 0; c < LARD_SHADOWS; c++) {
        hints()->shadows[c].score = 0;
        hints()->shadows[c].misses = c == 2 ? 95 : 100;
    }
    for (hints()->requests = 1 << 20; hints()->requests >= 1 << 20; i++) {
        use(i);
    }
    chosen = small_per_cent();
    larder_close(cache);
    unlink(test_path("t.larder"));
    return chosen;
}

/* The hints are gone when the last process closes the file. */
static void new_hints_of_a_file_in_use_decide_nothing_by_a_few_misses(void) {
    unsigned of_new = next_choice(6000), in_use = next_choice(60000);
    CHECK(of_new == 30 && in_use == 5, "%u and %u per cent", of_new, in_use);
}

/* Each file hashes its keys with another seed. */
static void the_seed_decides_little_with_few_large_values(void) {
    enum { GETS = 20000, FILES = 6 };
    int least = GETS, most = 0;
    for (int file = 0; file < FILES; file++) {
        int misses = misses_of_large_values(GETS);
        least = misses < least ? misses : least;
        most = misses > most ? misses : most;
    }
    CHECK(least > GETS / 5 && most < GETS, "%d to %d misses", least, most);
    CHECK(most - least < GETS / 100, "%d to %d misses", least, most);
}

static lard_found find(int i) {
    char key[32];
    lard_key wanted = lard_key_of(cache->core->map, NULL, key, (size_t)snprintf(key, sizeof key, "%d", i));
    lard_view view = shard();
    return lard_index_find(&view, &wanted);
}

static unsigned reads_of(int i) {
    lard_found found = find(i);
    return found.slot ? lard_reads_of(found.reads, found.slot) : 9;
}

static bool is_in_small(int i) {
    lard_view view = shard();
    lard_found found = find(i);
    return found.slot && lard_segment_state(&view, LARD_SLOT_OFFSET(found.value)) == LARD_SEGMENT_SMALL;
}

static void hits_on_young_items_do_not_count(void) {
    int i = 0, last = 0;
    cache = open_cache(8 << 20);
    for (; i < 30000; i++) {
        use(i);
    }
    CHECK(hints()->young_segments > 1);
    do { /* another key's ghost may look like its own: then it is in the main queue */
        last = ++i;
        use(last);
    } while (!is_in_small(last));
    CHECK(ask(last) && reads_of(last) == 0, "just stored");
    while (reads_of(last) == 0 && i < 60000) {
        ask(last);
        use(++i);
    }
    CHECK(reads_of(last) == 2 && i - last > 50 && i - last < 400, "after %d others", i - last);
    CHECK(ask(last) && ask(last) && reads_of(last) == 3);
    larder_close(cache);
}

/* Another process of the same user could write there. */
static void any_bytes_are_hints(void) {
    uint64_t state = 5;
    cache = open_cache(2 << 20);
    CHECK(put(0, 500) == LARDER_OK); /* takes the hints */
    for (int round = 0; round < 60; round++) {
        uint64_t *words = (uint64_t *)hints();
        size_t bytes = (size_t)(cache->core->map->hints + cache->core->map->hints_bytes - (uint8_t *)hints());
        for (size_t w = 0; w < bytes / sizeof *words; w++) {
            words[w] = round % 3 == 0 ? next_random(&state) : round % 3 == 1 ? UINT64_MAX : 0x0101010101010101;
        }
        for (int i = 0; i < 3000; i++) {
            int key = (int)(next_random(&state) % 4000);
            CHECK(ask(key) || put(key, 500) == LARDER_OK);
        }
        CHECK(put(-1, 500) == LARDER_OK && ask(-1));
    }
    CHECK(sound(cache));
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(nothing_is_heard_while_there_is_room, "nothing is heard while there is room, and a sample later"),
    TEST(recency_makes_the_small_queue_longer, "items that are asked for again soon make the small queue longer"),
    TEST(a_scan_keeps_the_small_queue_short, "a scan keeps the small queue short"),
    TEST(few_large_items_are_all_in_the_sample, "few large items are all in the sample"),
    TEST(new_hints_of_a_file_in_use_decide_nothing_by_a_few_misses,
         "new hints of a file in use decide nothing by a few misses, those of a new file do"),
    TEST(the_seed_decides_little_with_few_large_values,
         "the seed of the hashes decides little with few large values"),
    TEST(hits_on_young_items_do_not_count, "hits on items that were just stored do not count"),
    TEST(any_bytes_are_hints, "any bytes in the hints are harmless"),
};
RUN("steer", tests)
