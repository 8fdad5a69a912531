/*
 * recount_test.c — checks larder_recount: the counts of the cache, and those of the key's keyspace.
 */
#include "children.h"

static larder *cache;

static void begin(void) {
    larder_options options = {.size_bytes = 1 << 20, .statistics = 1};
    larder_open(test_path("t.larder"), &options, &cache, NULL);
}

static bool counted(uint64_t hits, uint64_t misses, uint64_t stale_hits) {
    larder_stats stats = {0};
    larder_get_stats(cache, &stats);
    bool same = stats.hits == hits && stats.misses == misses && stats.stale_hits == stale_hits;
    if (!same) {
        fprintf(stderr, "  %d hits, %d misses, %d stale\n", (int)stats.hits, (int)stats.misses,
                (int)stats.stale_hits);
    }
    return same;
}

static void change(larder_read from, larder_read to) { larder_recount(cache, "pages/1", 7, from, to); }

static void a_read_moves_from_one_count_to_another(void) {
    begin();
    set(cache, "pages/1", "v");
    get(cache, "pages/1");
    CHECK(counted(1, 0, 0));
    change(LARDER_READ_HIT, LARDER_READ_MISS);
    CHECK(counted(0, 1, 0));
    change(LARDER_READ_MISS, LARDER_READ_STALE);
    CHECK(counted(1, 0, 1));
    change(LARDER_READ_STALE, LARDER_READ_UNCOUNTED);
    CHECK(counted(0, 0, 0));
    change(LARDER_READ_UNCOUNTED, LARDER_READ_HIT);
    CHECK(counted(1, 0, 0));
    larder_close(cache);
}

static void a_count_does_not_fall_below_zero(void) {
    begin();
    change(LARDER_READ_MISS, LARDER_READ_UNCOUNTED);
    change(LARDER_READ_STALE, LARDER_READ_UNCOUNTED);
    change(LARDER_READ_HIT, LARDER_READ_UNCOUNTED);
    CHECK(counted(0, 0, 0));
    larder_close(cache);
}

static void without_a_cache_or_a_key_nothing_changes(void) {
    begin();
    get(cache, "pages/1");
    larder_recount(NULL, "pages/1", 7, LARDER_READ_MISS, LARDER_READ_HIT);
    larder_recount(cache, NULL, 0, LARDER_READ_MISS, LARDER_READ_HIT);
    larder_recount(cache, "pages/1", LARDER_MAX_KEY + 1, LARDER_READ_MISS, LARDER_READ_HIT);
    CHECK(counted(0, 1, 0));
    larder_close(cache);
}

static void the_keyspace_counts_the_same(void) {
    static larder_usage usage;
    begin();
    set(cache, "pages/1", "v");
    get(cache, "pages/1");
    get(cache, "pages/1");
    change(LARDER_READ_HIT, LARDER_READ_MISS);
    larder_close(cache);
    CHECK(larder_get_usage(test_path("t.larder"), &usage, NULL) == LARDER_OK);
    const larder_usage_counts *pages = &usage.keyspaces[0].counts;
    CHECK(pages->hits == 1 && pages->misses == 1, "%d hits, %d misses", (int)pages->hits, (int)pages->misses);
}

static const test_case tests[] = {
    TEST(a_read_moves_from_one_count_to_another, "a read moves from one count to another"),
    TEST(a_count_does_not_fall_below_zero, "a count does not fall below zero"),
    TEST(without_a_cache_or_a_key_nothing_changes, "without a cache or a key nothing changes"),
    TEST(the_keyspace_counts_the_same, "the keyspace of the key counts the same"),
};
RUN("recount", tests)
