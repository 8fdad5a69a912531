/* trust_test.c — for how long copies in a file are trusted. */
#include "children.h"

static void a_file_is_trusted_for_so_long(void) {
    larder *cache = open_cache(1 << 20);
    CHECK(larder_trusted(cache) == LARDER_MISS, "a new file is not");
    CHECK(larder_trust(cache, 10000, NULL) == LARDER_OK);
    CHECK(larder_trusted(cache) == LARDER_OK);
    CHECK(larder_trust(cache, 0, NULL) == LARDER_OK);
    CHECK(larder_trusted(cache) == LARDER_MISS);
    CHECK(larder_trust(cache, 30, NULL) == LARDER_OK);
    usleep(100000);
    CHECK(larder_trusted(cache) == LARDER_MISS, "the time is over");
    larder_close(cache);
}

static void trust_counts_from_a_moment_before(void) {
    larder *cache = open_cache(1 << 20);
    larder_moment asked = {.monotonic_ms = lard_clock_monotonic_ms(), .wall_ms = lard_clock_ms()};
    larder_moment before = {.monotonic_ms = asked.monotonic_ms - 10000, .wall_ms = asked.wall_ms - 10000};
    CHECK(larder_trust(cache, 20000, &asked) == LARDER_OK && larder_trusted(cache) == LARDER_OK);
    CHECK(larder_trust(cache, 9000, &before) == LARDER_OK);
    CHECK(larder_trusted(cache) == LARDER_MISS, "it is over");
    larder_moment suspended = {.monotonic_ms = asked.monotonic_ms, .wall_ms = before.wall_ms};
    CHECK(larder_trust(cache, 9000, &suspended) == LARDER_OK);
    CHECK(larder_trusted(cache) == LARDER_MISS, "the machine was suspended since");
    CHECK(larder_trust(cache, 20000, &before) == LARDER_OK && larder_trusted(cache) == LARDER_OK);
    larder_close(cache);
}

static void other_processes_see_it(void) {
    larder *cache = open_cache(1 << 20);
    pid_t child = fork_child();
    if (child == 0) {
        _exit(larder_trust(cache, 10000, NULL) == LARDER_OK ? 0 : 1);
    }
    CHECK(wait_for(child) == 0);
    CHECK(larder_trusted(cache) == LARDER_OK);
    larder_close(cache);
}

static void a_time_of_a_boot_before_is_past(void) {
    larder *cache = open_cache(1 << 20);
    uint64_t now_ms = (uint64_t)lard_clock_monotonic_ms();
    CHECK(larder_trust(cache, 60000, NULL) == LARDER_OK && larder_trusted(cache) == LARDER_OK);
    lard_store(&cache->core->map->control->configurations[0].trusted_ms, now_ms + 3600000);
    CHECK(larder_trusted(cache) == LARDER_MISS);
    lard_store(&cache->core->map->control->configurations[0].trusted_ms, UINT64_MAX);
    CHECK(larder_trusted(cache) == LARDER_MISS);
    larder_close(cache);
}

static void what_it_takes_is_checked(void) {
    larder *cache = open_cache(1 << 20);
    CHECK(larder_trust(cache, LARDER_MAX_TRUST_MS, NULL) == LARDER_OK);
    CHECK(larder_trust(cache, LARDER_MAX_TRUST_MS + 1, NULL) == LARDER_INVALID);
    CHECK(larder_trust(NULL, 1, NULL) == LARDER_INVALID);
    CHECK(larder_trusted(NULL) == LARDER_MISS);
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(a_file_is_trusted_for_so_long, "a file is trusted for as long as it was said"),
    TEST(trust_counts_from_a_moment_before, "trust counts from when the other store was asked, not from the call"),
    TEST(other_processes_see_it, "what one process says holds for all"),
    TEST(a_time_of_a_boot_before_is_past, "a time that is too far away is past"),
    TEST(what_it_takes_is_checked, "what cannot be is refused"),
};
RUN("trust", tests)
