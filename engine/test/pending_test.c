/*
 * pending_test.c — checks a handle that is not attached: misses, refusals, and deletes applied when it attaches.
 */
#include "attached.h"

#include <limits.h>

static larder *opened_for_later(const char *path) {
    larder *cache = NULL;
    larder_error error;
    larder_options options = {.size_bytes = 1 << 20, .attach_later = 1};
    return larder_open(path, &options, &cache, &error) == LARDER_OK ? cache : NULL;
}

/* Beside the handle of another path: what the file has is put there by another process. */
static void fill(void *unused) {
    (void)unused;
    larder *cache = open_cache(1 << 20);
    for (int i = 0; i < 2000; i++) {
        char key[32];
        snprintf(key, sizeof key, "key %d", i);
        CHILD_CHECK(set(cache, key, "old") == LARDER_OK);
    }
    larder_close(cache);
}

static int old_ones(larder *cache) {
    int count = 0;
    for (int i = 0; i < 2000; i++) {
        char key[32];
        snprintf(key, sizeof key, "key %d", i);
        count += is(cache, key, "old");
    }
    return count;
}

static void nothing_is_made_before_it_attaches(void) {
    struct stat info;
    larder_error error;
    CHECK(larder_attached(NULL) == -1 && larder_attach(NULL, 0, &error) == LARDER_INVALID);
    larder *cache = opened_for_later(test_path("deep/er/t.larder"));
    CHECK(cache && larder_attached(cache) == 0 && larder_size(cache) == 0);
    CHECK(is(cache, "k", NULL) && set(cache, "k", "v") == LARDER_LOCKED &&
          larder_delete(cache, "k", 1, NULL) != LARDER_OK);
    larder_stats stats;
    CHECK(larder_get_stats(cache, &stats) != LARDER_OK && larder_prune(cache, NULL, NULL) != LARDER_OK);
    CHECK(stat(test_path("deep"), &info) != 0 && errno == ENOENT);
    CHECK(larder_attach(cache, 0, &error) == LARDER_OK && larder_attached(cache) == 1);
    CHECK(set(cache, "k", "v") == LARDER_OK && is(cache, "k", "v") && larder_size(cache) == 1 << 20);
    larder_close(cache);
    cache = opened_for_later(test_path("never/t.larder"));
    larder_close(cache);
    CHECK(stat(test_path("never"), &info) != 0 && errno == ENOENT);
}

static void deletes_are_applied_first(void) {
    larder_error error;
    CHECK(in_child(fill, NULL));
    larder *cache = opened_for_later(test_path("t.larder"));
    CHECK(larder_delete(cache, "key 1", 5, NULL) == LARDER_LOCKED &&
          larder_delete(cache, "key 1", 5, NULL) != LARDER_OK);
    CHECK(set(cache, "key 2", "new") == LARDER_LOCKED, "an overwrite");
    CHECK(set_bytes(cache, "key 3", "", 0, -1) == LARDER_LOCKED, "one that has expired");
    larder_store add = {.key = "key 4", .key_bytes = 5, .value = "x", .value_bytes = 1, .mode = LARDER_ADD};
    CHECK(larder_set(cache, &add, NULL) == LARDER_LOCKED, "which leaves what is there");
    CHECK(larder_pending(cache) == 3 && larder_pending(NULL) == 0);
    CHECK(larder_attach(cache, 1000, &error) == LARDER_OK && larder_pending(cache) == 0);
    CHECK(is(cache, "key 1", NULL) && is(cache, "key 2", NULL) && is(cache, "key 3", NULL) &&
          is(cache, "key 4", "old"));
    CHECK(old_ones(cache) == 1997 && sound(cache));
    larder_close(cache);
}

static void many_deletes_become_all(void) {
    larder_error error;
    CHECK(in_child(fill, NULL));
    larder *cache = opened_for_later(test_path("t.larder"));
    for (int i = 0; i < 1024; i++) {
        char key[32];
        CHECK(larder_delete(cache, key, (size_t)snprintf(key, sizeof key, "key %d", i), NULL) != LARDER_OK);
    }
    CHECK(larder_attach(cache, 1000, &error) == LARDER_OK && old_ones(cache) == 2000 - 1024);
    larder_close(cache);
    cache = opened_for_later(test_path("t.larder"));
    for (int i = 0; i < 1025; i++) {
        char key[32];
        CHECK(larder_delete(cache, key, (size_t)snprintf(key, sizeof key, "other %d", i), NULL) != LARDER_OK);
    }
    CHECK(larder_attach(cache, 1000, &error) == LARDER_OK && old_ones(cache) == 0);
    larder_close(cache);
}

static void a_clear_is_remembered(void) {
    larder_error error;
    CHECK(in_child(fill, NULL));
    larder *cache = opened_for_later(test_path("t.larder"));
    CHECK(larder_clear(cache) == LARDER_LOCKED && larder_pending(cache) == LARDER_ALL_PENDING);
    CHECK(larder_attach(cache, 1000, &error) == LARDER_OK && old_ones(cache) == 0);
    larder_close(cache);
}

static void hold_the_opener(void *unused) {
    char lock[LARD_LOCK_PATH_MAX];
    lard_lockfile file;
    lard_bytelock opener;
    (void)unused;
    lard_lockfile_path(test_path("t.larder"), lock);
    CHILD_CHECK(lard_lockfile_open(lock, &file, NULL) == LARDER_OK);
    CHILD_CHECK(lard_opener_lock(&file, lock, 1000, &opener, NULL) == LARDER_OK);
    advance(&note->stage);
    CHILD_CHECK(await(&note->stage, 2));
}

/* Another process makes a large file: nobody waits, and what is deleted meanwhile is gone later. */
static void another_opener_is_not_waited_for(void) {
    larder_error error;
    note = shared_memory(sizeof *note);
    CHECK(in_child(fill, NULL));
    pid_t pid = fork_child();
    if (pid == 0) {
        hold_the_opener(NULL);
        _exit(0);
    }
    CHECK(await(&note->stage, 1));
    larder *cache = opened_for_later(test_path("t.larder"));
    CHECK(larder_attach(cache, 0, &error) == LARDER_LOCKED && strstr(error.detail, "t.larder"));
    CHECK(larder_attached(cache) == -1 && larder_delete(cache, "key 5", 5, NULL) == LARDER_LOCKED);
    advance(&note->stage);
    CHECK(exited_well(pid));
    CHECK(larder_attach(cache, 5000, &error) == LARDER_OK && is(cache, "key 5", NULL) &&
          is(cache, "key 6", "old"));
    larder_close(cache);
    munmap(note, sizeof *note);
}

static void a_child_inherits_what_is_pending(void) {
    larder_error error;
    CHECK(in_child(fill, NULL));
    larder *cache = opened_for_later(test_path("t.larder"));
    CHECK(larder_delete(cache, "key 7", 5, NULL) == LARDER_LOCKED);
    pid_t pid = fork_child();
    if (pid == 0) {
        CHILD_CHECK(larder_attach(cache, 1000, &error) == LARDER_OK && is(cache, "key 7", NULL));
        larder_close(cache);
        _exit(0);
    }
    CHECK(exited_well(pid));
    larder_close(cache);
}

static void it_goes_on_when_the_file_is_lost(void) {
    larder_error error;
    larder *cache = opened_for_later(test_path("t.larder"));
    CHECK(larder_attach(cache, 0, &error) == LARDER_OK && set(cache, "k", "v") == LARDER_OK);
    lard_map_supersede(cache->core->map);
    CHECK(larder_attached(cache) == 0 && is(cache, "k", NULL));
    CHECK(larder_delete(cache, "gone", 4, NULL) == LARDER_SUPERSEDED, "reported, and remembered");
    CHECK(larder_attach(cache, 0, &error) == LARDER_OK && set(cache, "k", "w") == LARDER_OK &&
          is(cache, "k", "w"));
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(nothing_is_made_before_it_attaches, "a handle that attaches later makes no file before"),
    TEST(deletes_are_applied_first, "deletes and overwrites that could not be applied are, when it attaches"),
    TEST(many_deletes_become_all, "1,024 deletes are remembered one by one, more as all"),
    TEST(a_clear_is_remembered, "a clear that could not be applied is, when it attaches"),
    TEST(another_opener_is_not_waited_for,
         "another opener is not waited for, and deletes are remembered meanwhile"),
    TEST(a_child_inherits_what_is_pending, "a forked child applies what was pending"),
    TEST(it_goes_on_when_the_file_is_lost, "a handle whose file is lost attaches when it is told to"),
};
RUN("pending", tests)
