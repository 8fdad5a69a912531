/*
 * unattached_crash.c — kills a process without a slot at each store and each change of a file while it deletes.
 *
 * The next process can take the opener's lock, every delete that was answered stays, other items are intact, and
 * the file is not marked clean any more.
 */
#include "places.h"

extern unsigned long lard_crash_at, lard_crash_count;

enum { STEPS = 4 };
static const larder_tag tag = {"red", 3};
static larder *cache;
static unsigned long *changes, killed;
static uint32_t *answered;

static larder *open_it(void) {
    larder *opened = NULL;
    larder_options options = {.size_bytes = SIZE, .attach_later = 1};
    return larder_open(in_directory("t.larder"), &options, &opened, &failure) == LARDER_OK &&
                   larder_attach(opened, 10000, &failure) == LARDER_OK
               ? opened
               : NULL;
}

static larder_status put_tagged(const char *key) {
    const larder_extra extra = {.tags = &tag, .tag_count = 1};
    larder_store store = {.key = key, .key_bytes = strlen(key), .value = "old", .value_bytes = 3, .extra = &extra};
    return larder_set(cache, &store, NULL);
}

/* The handle does not attach by itself, so all of this is without a slot. */
static void remove_all(bool clears) {
    CHILD_CHECK(larder_delete(cache, "deleted", 7, NULL) == LARDER_OK);
    advance(answered);
    CHILD_CHECK(set(cache, "overwritten", "new") != LARDER_OK);
    advance(answered);
    CHILD_CHECK(larder_delete_tagged(cache, &tag, 1, NULL) == LARDER_OK);
    advance(answered);
    CHILD_CHECK(!clears || larder_clear(cache) == LARDER_OK);
    advance(answered);
}

static void come_next(void *clears) {
    cache = open_it();
    CHILD_CHECK(cache && sound(cache));
    CHILD_CHECK(*answered < 1 || is(cache, "deleted", NULL));
    CHILD_CHECK(*answered < 2 || is(cache, "overwritten", NULL));
    CHILD_CHECK(*answered < 3 || is(cache, "tagged", NULL));
    bool may_be_cleared = *(bool *)clears && *answered >= 3, is_cleared = is(cache, "other", NULL);
    CHILD_CHECK(may_be_cleared || !is_cleared);
    CHILD_CHECK(!*(bool *)clears || *answered < STEPS || is_cleared);
    CHILD_CHECK(set(cache, "next", "came") == LARDER_OK && is(cache, "next", "came"));
    larder_close(cache);
}

static bool is_marked_clean(void) {
    uint32_t word = LARD_CLEAN;
    int fd = open(in_directory("t.larder"), O_RDONLY);
    bool read = pread(fd, &word, sizeof word, LARD_CONTROL_OFFSET + offsetof(lard_control, clean)) == sizeof word;
    close(fd);
    return read && word == LARD_CLEAN;
}

/* With `alone` the parent has closed the file, which is marked clean. */
static void one_death(unsigned long at, bool alone, bool clears, bool *done) {
    unlink(in_directory("t.larder"));
    *answered = 0;
    cache = open_it();
    CHECK(cache && set(cache, "deleted", "old") == LARDER_OK && set(cache, "overwritten", "old") == LARDER_OK &&
          put_tagged("tagged") == LARDER_OK && set(cache, "other", "old") == LARDER_OK);
    uint32_t *stage = shared_memory(sizeof *stage);
    pid_t pid = fork_child();
    if (pid == 0) {
        CHILD_CHECK(await(stage, 1));
        lard_crash_count = 0;
        lard_crash_at = at;
        remove_all(clears);
        *changes = lard_crash_count;
        _exit(0);
    }
    if (alone) {
        larder_close(cache);
        CHECK(is_marked_clean());
    }
    advance(stage);
    int status = wait_within(pid, 60000);
    *done = status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    CHECK(*done || (status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL), "at %lu: %x", at, status);
    killed += !*done;
    CHECK(!alone || !*answered || !is_marked_clean(), "killed at %lu", at);
    CHECK(in_child(come_next, &clears), "killed at %lu, after %u answers", at, *answered);
    if (!alone) {
        larder_close(cache);
    }
    munmap(stage, sizeof *stage);
}

static void every_death(void) {
    changes = shared_memory(sizeof *changes);
    answered = shared_memory(sizeof *answered);
    int before = test_failures;
    for (unsigned way = 0; way < 4; way++) {
        bool done = false;
        one_death(0, way & 1, way & 2, &done);
        unsigned long count = *changes;
        CHECK(done && count > 3, "%lu", count);
        for (unsigned long at = 1; at <= count && test_failures == before; at++) {
            one_death(at, way & 1, way & 2, &done);
        }
    }
    CHECK(killed > 12);
    printf("@ %lu processes without a slot killed while they deleted\n", killed);
}

static const test_case tests[] = {
    TEST(every_death, "a process without a slot, killed while it deletes, leaves what it answered and no lock"),
};
RUN("deletes without a slot at stores", tests)
