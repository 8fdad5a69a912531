/*
 * environment_pages.c — files whose ends lie anywhere in a page, on pages of this machine and, by
 * page_size_shim.c, of larger ones: kept at a clean close, cut short, forked from, made smaller and larger.
 */
#include "environment.h"

static const uint64_t sizes[] = {(1 << 20),        (1 << 20) + 1,
                                 (1 << 20) + 4096, (1 << 20) + 13 * 4096,
                                 (3 << 20) - 4096, (2 << 20) + 65536 + 4096,
                                 (5 << 20) + 123};
enum { SIZES = sizeof sizes / sizeof *sizes };
static unsigned long cases;

static const char *path(void) { return in_directory("t.larder"); }

static void kept_at_a_close(void) {
    for (int i = 0; i < SIZES; i++) {
        larder *cache = open_at(path(), sizes[i]);
        CHECK(cache && use_hard(cache, (uint64_t)i, 3000) > 0 && set(cache, "k", "v") == LARDER_OK);
        uint64_t inode = inode_of(path()), size = larder_size(cache);
        for (int again = 0; again < 3; again++) {
            larder_close(cache);
            cache = open_at(path(), sizes[i]);
            CHECK(cache && inode_of(path()) == inode && larder_size(cache) == size, "%llu bytes",
                  (unsigned long long)sizes[i]);
            CHECK(is(cache, "k", "v") && use_hard(cache, (uint64_t)again, 500) > 0 && sound(cache));
            CHECK(set(cache, "k", "v") == LARDER_OK);
        }
        larder_close(cache);
        CHECK(unlink(path()) == 0);
        cases++;
    }
}

static void read_everything(larder *cache, uint64_t size) {
    CHILD_CHECK(use_hard(cache, size, 300) >= 0);
    CHILD_CHECK(heals(cache) && sound(cache));
}

/* Cut anywhere, between the pages of one machine and within those of another. */
static void cut_short(void) {
    static const off_t at[] = {0, 100, 4096, 12288, 20480, 65536, 69632, 300000, (1 << 20) - 4096, (1 << 20) - 1};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        larder *cache = open_at(path(), (2 << 20) + 4096);
        CHECK(cache && use_hard(cache, i, 1500) > 0 && truncate(path(), at[i]) == 0);
        pid_t pid = fork_child();
        if (pid == 0) {
            read_everything(cache, (uint64_t)at[i]);
            _exit(0);
        }
        CHECK(exited_well(pid), "a child after a cut at %d", (int)at[i]);
        CHECK(use_hard(cache, i, 300) >= 0 && heals(cache) && sound(cache), "cut at %d", (int)at[i]);
        larder_close(cache);
        CHECK(unlink(path()) == 0);
        cases++;
    }
}

/* More after the end than the cache knows of, as from a copy by blocks. */
static void longer_than_it_says(void) {
    for (int i = 0; i < SIZES; i++) {
        larder *cache = open_at(path(), sizes[i]);
        CHECK(cache && use_hard(cache, (uint64_t)i, 500) > 0 && set(cache, "k", "v") == LARDER_OK);
        uint64_t size = larder_size(cache);
        larder_close(cache);
        CHECK(truncate(path(), (off_t)size + 40000) == 0);
        cache = open_at(path(), sizes[i]);
        CHECK(cache && larder_size(cache) == size && use_hard(cache, 3, 500) > 0 && sound(cache));
        larder_close(cache);
        CHECK(unlink(path()) == 0);
        cases++;
    }
}

static void say_count(void) { count_of(cases, "files that end, or are cut, anywhere in a page"); }

static const test_case tests[] = {
    TEST(kept_at_a_close, "a file of any size is kept at a clean close"),
    TEST(cut_short, "a file that is cut anywhere in a page costs misses"),
    TEST(longer_than_it_says, "a file that is longer than its cache is used as it is"),
    TEST(say_count, "count"),
};
RUN("environment: pages", tests)
