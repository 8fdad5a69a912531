/* scan_test.c — walks over keys while the index changes under them. */
#include "harness.h"

enum { STAYING = 3000 };

static void walking_meets_all_that_stays(void) {
    static unsigned char seen[STAYING];
    static char buffer[LARDER_MAX_KEY + 4];
    char key[40];
    unsigned long inserted = 0, missed = 0;
    for (int trial = 0; trial < 25; trial++) {
        larder *cache = open_cache(4 << 20);
        uint64_t cursor = 0;
        size_t count, used;
        CHECK(larder_clear(cache) == LARDER_OK);
        memset(seen, 0, sizeof seen);
        for (int i = 0; i < STAYING; i++) {
            snprintf(key, sizeof key, "stays %d", i);
            CHECK(set(cache, key, "") == LARDER_OK);
        }
        do {
            CHECK(larder_scan(cache, &cursor, "stays ", 6, buffer, sizeof buffer, &count, &used, NULL) ==
                  LARDER_OK);
            for (size_t at = 0; at < used;) {
                uint32_t length;
                memcpy(&length, buffer + at, 4);
                memcpy(key, buffer + at + 4, length);
                key[length] = '\0';
                seen[atoi(key + 6)] = 1;
                at += 4 + length;
            }
            for (int i = 0; i < 60 && cursor; i++) { /* splits, and moves between buckets */
                snprintf(key, sizeof key, "comes %lu", inserted++);
                CHECK(set(cache, key, "") == LARDER_OK);
            }
        } while (cursor);
        larder_stats stats;
        CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.evictions == 0);
        for (int i = 0; i < STAYING; i++) {
            missed += !seen[i];
        }
        larder_close(cache);
    }
    CHECK(missed == 0, "%lu", missed);
}

static void progress_grows_to_the_end(void) {
    static char buffer[LARDER_MAX_KEY + 4];
    char key[40];
    larder *cache = open_cache(4 << 20);
    uint64_t cursor = 0;
    size_t count, used;
    uint32_t before = 0, passed = 1, steps = 0;
    CHECK(larder_scan_progress(cache, 0, &passed) == LARDER_OK && passed == 0, "%u of an empty cache", passed);
    for (int i = 0; i < STAYING; i++) {
        snprintf(key, sizeof key, "stays %d", i);
        CHECK(set(cache, key, "") == LARDER_OK);
    }
    CHECK(larder_scan_progress(cache, 0, &passed) == LARDER_OK && passed == 0);
    for (;;) {
        CHECK(larder_scan(cache, &cursor, "", 0, buffer, sizeof buffer, &count, &used, NULL) == LARDER_OK);
        if (!cursor) {
            break;
        }
        CHECK(larder_scan_progress(cache, cursor, &passed) == LARDER_OK);
        CHECK(passed > before && passed <= 1000000, "%u after %u", passed, before);
        before = passed;
        steps++;
    }
    CHECK(steps > 5 && before > 600000, "%u steps, the last at %u", steps, before);
    CHECK(larder_scan_progress(cache, UINT64_MAX, &passed) == LARDER_OK && passed <= 1000000);
    CHECK(larder_scan_progress(cache, cursor, NULL) == LARDER_INVALID);
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(progress_grows_to_the_end, "the progress of a walk grows to its end, and any number is a cursor"),
    TEST(walking_meets_all_that_stays, "a walk meets every key that stays while others are inserted"),
};
RUN("scan", tests)
