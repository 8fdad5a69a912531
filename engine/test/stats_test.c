/*
 * stats_test.c — checks that each process counts for itself, and that sums include processes that have ended.
 */
#include "children.h"

static larder *cache;

static larder_stats stats(void) {
    larder_stats all;
    memset(&all, 0xff, sizeof all);
    larder_get_stats(cache, &all);
    return all;
}

static void every_operation_is_counted(void) {
    int64_t n;
    static char large[20000];
    cache = open_cache(1 << 20);
    larder_stats all = stats();
    CHECK(all.hits == 0 && all.misses == 0 && all.sets == 0 && all.items == 0 && all.processes == 1);
    CHECK(all.size_bytes == 1 << 20 && all.shards == 1 && all.capacity_bytes == 29 * 32768 && all.used_bytes == 0);
    set(cache, "a", "1");
    set(cache, "b", "2");
    set_bytes(cache, "c", large, sizeof large, 0);
    get(cache, "a");
    get(cache, "a");
    get(cache, "none");
    larder_exists(cache, "a", 1, NULL, NULL);
    larder_delete(cache, "b", 1, NULL);
    larder_delete(cache, "b", 1, NULL);
    larder_increment(cache, "n", 1, 1, 0, 0, &n, NULL);
    larder_increment(cache, "n", 1, 1, 0, 0, &n, NULL);
    set_bytes(cache, "a", large, larder_max_value(cache) + 1, 0);
    all = stats();
    CHECK(all.hits == 2 && all.misses == 1, "%d, %d", (int)all.hits, (int)all.misses);
    CHECK(all.sets == 3 && all.deletes == 1 && all.increments == 2 && all.refused == 1);
    CHECK(all.used_bytes >= 32768 && all.index_bytes >= 32768 && all.evictions == 0 && all.damaged == 0);
    larder_close(cache);
    cache = open_cache(1 << 20);
    CHECK(stats().hits == 2 && stats().sets == 3, "they are kept when the cache is closed");
    larder_close(cache);
}

typedef struct {
    uint32_t stage;
} script;

static void counts_of_the_dead_are_kept(void) {
    script *play = shared_memory(sizeof *play);
    uint64_t sets = 0;
    cache = open_cache(1 << 20);
    for (int round = 0; round < 5; round++) {
        pid_t pids[4];
        for (int i = 0; i < 4; i++) {
            if ((pids[i] = fork_child()) == 0) {
                for (int j = 0; j < 10 + i; j++) {
                    CHILD_CHECK(set(cache, "k", "v") == LARDER_OK);
                }
                advance(&play->stage);
                i % 2 ? larder_close(cache) : (void)kill(getpid(), SIGKILL);
                _exit(0);
            }
            sets += 10 + (uint64_t)i;
        }
        CHECK(await(&play->stage, (uint32_t)(round + 1) * 4));
        for (int i = 0; i < 4; i++) {
            wait_for(pids[i]);
        }
        CHECK(stats().sets == sets && stats().processes == 1, "round %d: %d sets of %d", round, (int)stats().sets,
              (int)sets);
    }
    larder_close(cache);
    munmap(play, sizeof *play);
}

static void damage_is_counted_and_is_a_miss(void) {
    cache = open_cache(1 << 20);
    CHECK(set(cache, "k", "a value of some length") == LARDER_OK && set(cache, "l", "whole") == LARDER_OK);
    lard_key wanted = lard_key_of(cache->core->map, NULL, "k", 1);
    lard_view view = lard_view_of(cache->core->map, 0);
    lard_found found = lard_index_find(&view, &wanted);
    lard_u64 *body = lard_view_words(&view, LARD_SLOT_OFFSET(found.value) + LARD_RECORD_HEADER + 8);
    lard_store(body, lard_load(body) ^ 1);
    CHECK(is(cache, "k", NULL) && is(cache, "l", "whole"));
    CHECK(stats().damaged == 1 && stats().misses == 1 && stats().hits == 1);
    CHECK(set(cache, "k", "anew") == LARDER_OK && is(cache, "k", "anew") && sound(cache));
    larder_close(cache);
}

enum { LARGE = 200000, ROUNDS = 400 };

static void large_values_are_one_item(void) {
    static char large[LARGE];
    char key[24];
    larder_report report;
    cache = open_cache(8 << 20);
    for (int i = 0; i < 3; i++) {
        snprintf(key, sizeof key, "large%d", i);
        CHECK(set_bytes(cache, key, large, sizeof large, 0) == LARDER_OK);
        CHECK(set_bytes(cache, key, large, sizeof large, i == 2 ? 1 : 0) == LARDER_OK, "replaced");
    }
    CHECK(set(cache, "small", "1") == LARDER_OK && stats().items == 4, "%d items", (int)stats().items);
    CHECK(larder_verify(cache, &report) == LARDER_OK && report.items == 4, "%d walked", (int)report.items);
    CHECK(larder_delete(cache, "large0", 6, NULL) == LARDER_OK && stats().items == 3);
    uint64_t dropped;
    usleep(2000);
    CHECK(larder_prune(cache, &dropped, NULL) == LARDER_OK && dropped == 1 && stats().items == 2 &&
          stats().expirations == 1);
    lard_view view = lard_view_of(cache->core->map, 0);
    CHECK(lard_shard_lock(cache->core, &view, NULL) == LARDER_OK);
    uint64_t items = lard_load(&view.header->items), chunks = lard_load(&view.header->chunks);
    lard_index_recount(&view);
    CHECK(lard_load(&view.header->items) == items && lard_load(&view.header->chunks) == chunks && chunks,
          "counted anew there are as many");
    lard_shard_unlock(&view);
    larder_close(cache);
}

static void large_values_are_evicted_once(void) {
    static char large[LARGE];
    char key[16];
    cache = open_cache(8 << 20);
    for (int i = 0; i < ROUNDS; i++) {
        snprintf(key, sizeof key, "k%d", i);
        CHECK(set_bytes(cache, key, large, i % 4 ? 100 : sizeof large, 0) == LARDER_OK);
        if (i % 8 == 0) {
            static char read[LARGE];
            snprintf(key, sizeof key, "k%d", i / 2);
            larder_get(cache, key, strlen(key), read, sizeof read, NULL, NULL);
        }
    }
    larder_stats all = stats();
    CHECK(all.evictions > ROUNDS / 8 && all.items + all.evictions == all.sets, "%d items, %d evicted, %d stored",
          (int)all.items, (int)all.evictions, (int)all.sets);
    larder_close(cache);
}

static void fill(int from, int to) {
    static char value[1000];
    char key[16];
    for (int i = from; i < to; i++) {
        snprintf(key, sizeof key, "f%d", i);
        CHECK(set_bytes(cache, key, value, sizeof value, 0) == LARDER_OK);
        get(cache, "read");
    }
}

static void the_oldest_has_its_age(void) {
    cache = open_cache(1 << 20);
    CHECK(stats().oldest_age_ms == 0, "there is none");
    CHECK(stats().age_ms < 60000);
    int64_t before_ms = lard_clock_of_call(NULL);
    CHECK(set(cache, "read", "again and again") == LARDER_OK);
    usleep(20000);
    CHECK(stats().oldest_age_ms >= 20 && stats().age_ms >= stats().oldest_age_ms);
    fill(0, 5000);
    CHECK(is(cache, "read", "again and again") && stats().evictions > 3000);
    uint64_t age_ms = stats().oldest_age_ms;
    CHECK(age_ms >= 20 && age_ms <= (uint64_t)(lard_clock_of_call(NULL) - before_ms),
          "it was moved on, and is as old");
    CHECK(larder_clear(cache) == LARDER_OK && stats().oldest_age_ms == 0);
    larder_close(cache);
}

static void a_full_cache_is_full(void) {
    for (uint64_t size = 1 << 20; size <= 16 << 20; size <<= 2) {
        cache = open_cache(size);
        for (int i = 0; stats().evictions == 0; i += 50) {
            fill(i, i + 50);
        }
        larder_stats all = stats();
        uint64_t used = all.used_bytes + all.index_bytes;
        CHECK(used * 10 >= all.capacity_bytes * 9, "%d of %d", (int)used, (int)all.capacity_bytes);
        larder_close(cache);
    }
}

static const test_case tests[] = {
    TEST(every_operation_is_counted, "every operation is counted, and counts outlive the process"),
    TEST(counts_of_the_dead_are_kept,
         "counts of processes that closed or died are kept when their slots are reused"),
    TEST(large_values_are_one_item, "a large value is one item, however many parts it has"),
    TEST(large_values_are_evicted_once, "each item is in the cache or was evicted once, large or not"),
    TEST(the_oldest_has_its_age, "the oldest item has its age, also where eviction moved it on"),
    TEST(a_full_cache_is_full, "where something had to leave the cache is full"),
    TEST(damage_is_counted_and_is_a_miss, "a damaged record is counted, and is a miss"),
};
RUN("stats", tests)
