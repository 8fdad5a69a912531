/*
 * stats_test.c — each process counts for itself; the sums are of all that ever were.
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
    CHECK(all.size_bytes == 1 << 20 && all.shards == 1 && all.capacity_bytes == 30 * 32768 && all.used_bytes == 0);
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
    lard_hash hash = lard_hash_key(cache->map, "k", 1, false);
    lard_view view = lard_view_of(cache->map, 0);
    lard_found found = lard_index_find(&view, &hash, "k", 1, false);
    lard_u64 *body = lard_words(&view, LARD_SLOT_OFFSET(found.value) + LARD_RECORD_HEADER + 8);
    lard_store(body, lard_load(body) ^ 1);
    CHECK(is(cache, "k", NULL) && is(cache, "l", "whole"));
    CHECK(stats().damaged == 1 && stats().misses == 1 && stats().hits == 1);
    CHECK(set(cache, "k", "anew") == LARDER_OK && is(cache, "k", "anew") && sound(cache));
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(every_operation_is_counted, "every operation is counted, and counts outlive the process"),
    TEST(counts_of_the_dead_are_kept,
         "counts of processes that closed or died are kept when their slots are reused"),
    TEST(damage_is_counted_and_is_a_miss, "a damaged record is counted, and is a miss"),
};
RUN("stats", tests)
