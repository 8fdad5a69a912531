/*
 * opening_test.c — checks the opener's lock of a child that cannot open the lock file again: its deletes are
 * applied, exclude a resize of another process, and are refused and noted where it cannot tell which file is at
 * the path.
 */
#include "unattached.h"

#include "handle/opening.h"

#include <sys/resource.h>

enum { NOBODY = 65534, ITEMS = 150000, FILE_BYTES = 16 << 20 };

static void drop_rights(void) { CHILD_CHECK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0); }

static void use_up_descriptors(void) {
    const struct rlimit none = {.rlim_cur = 3, .rlim_max = 3};
    CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
}

static void drop_rights_in_a_grandchild(void) {
    pid_t pid = fork_child();
    if (pid) {
        _exit(exited_well(pid) ? 0 : 1);
    }
    drop_rights();
}

static bool needs_root(const char *what) {
    if (geteuid() != 0) {
        printf("  skipped, needs root: %s\n", what);
    }
    return geteuid() == 0;
}

/* The directory may be searched, so a user without rights can tell which file is at the path. */
static bool begin_with_items(void) {
    begin_explicitly(1 << 20);
    bool done = chmod(test_directory, 0755) == 0;
    for (char key[2] = "a"; *key <= 'h'; ++*key) {
        done = set(shared_cache, key, "old") == LARDER_OK && done;
    }
    return done;
}

static void take_away_in_turns(void) {
    larder_error error;
    CHILD_CHECK(larder_attach(shared_cache, 0, &error) == LARDER_SYSTEM);
    CHILD_CHECK(delete_key("a") == LARDER_OK && delete_key("never") == LARDER_MISS);
    CHILD_CHECK(set(shared_cache, "b", "new") == LARDER_SYSTEM);
    advance(&note->stage); /* 1: the parent looks, and holds the opener's lock */
    CHILD_CHECK(await(&note->stage, 2));
    CHILD_CHECK(delete_key("c") == LARDER_LOCKED && delete_key("c") == LARDER_LOCKED);
    advance(&note->stage); /* 3: the parent releases it */
    CHILD_CHECK(await(&note->stage, 4));
    CHILD_CHECK(delete_key("d") == LARDER_OK && larder_pending(shared_cache) == 0);
    CHILD_CHECK(larder_clear(shared_cache) == LARDER_OK);
}

static void a_child_takes_away(void (*become_poor)(void)) {
    CHECK(begin_with_items());
    pid_t child = fork_child();
    if (child == 0) {
        become_poor();
        take_away_in_turns();
        _exit(0);
    }
    CHECK(await(&note->stage, 1) && is(shared_cache, "a", NULL) && is(shared_cache, "b", NULL));
    CHECK(is(shared_cache, "c", "old") && is(shared_cache, "d", "old") && hold_the_opener());
    advance(&note->stage);
    CHECK(await(&note->stage, 3) && is(shared_cache, "c", "old"));
    release_the_opener();
    advance(&note->stage);
    CHECK(exited_well(child) && is(shared_cache, "c", NULL) && is(shared_cache, "d", NULL));
    CHECK(is(shared_cache, "h", NULL) && sound(shared_cache), "cleared");
    end();
}

static void a_child_without_rights(void) {
    if (needs_root("a child that drops its rights")) {
        a_child_takes_away(drop_rights);
    }
}

static void a_grandchild_without_rights(void) {
    if (needs_root("a grandchild that drops its rights")) {
        a_child_takes_away(drop_rights_in_a_grandchild);
    }
}

static void a_child_without_descriptors(void) { a_child_takes_away(use_up_descriptors); }

/* Its lock is its own: the parent, from which it has the descriptor, waits for it as all others do. */
static void hold_the_lock(void) {
    lard_opening opening;
    larder_error error;
    drop_rights();
    CHILD_CHECK(lard_opening_begin(shared_cache->core, LARD_TO_ATTACH, 0, &opening, &error) == LARDER_SYSTEM);
    CHILD_CHECK(error.system_errno == EACCES);
    CHILD_CHECK(lard_opening_begin(shared_cache->core, LARD_TO_REMOVE, 0, &opening, &error) == LARDER_OK);
    advance(&note->stage);
    CHILD_CHECK(await(&note->stage, 2));
    lard_opening_end(shared_cache->core, &opening);
    advance(&note->stage);
    CHILD_CHECK(await(&note->stage, 4));
}

static void its_lock_is_its_own(void) {
    lard_opening opening;
    larder_error error;
    if (!needs_root("a child that drops its rights")) {
        return;
    }
    CHECK(begin_with_items());
    pid_t child = fork_child();
    if (child == 0) {
        hold_the_lock();
        _exit(0);
    }
    CHECK(await(&note->stage, 1));
    CHECK(lard_opening_begin(shared_cache->core, LARD_TO_ATTACH, 0, &opening, &error) == LARDER_LOCKED);
    advance(&note->stage);
    CHECK(await(&note->stage, 3));
    CHECK(lard_opening_begin(shared_cache->core, LARD_TO_ATTACH, 0, &opening, &error) == LARDER_OK);
    lard_opening_end(shared_cache->core, &opening);
    advance(&note->stage);
    CHECK(exited_well(child));
    end();
}

/* The child that resizes is stopped while it copies. Were the delete applied to the old file, it would be lost. */
static void a_resize_excludes_it(void) {
    char key[16];
    if (!needs_root("a child that drops its rights")) {
        return;
    }
    begin_explicitly(FILE_BYTES);
    CHECK(chmod(test_directory, 0755) == 0);
    for (int i = 0; i < ITEMS; i++) {
        snprintf(key, sizeof key, "k%d", i);
        set(shared_cache, key, "old");
    }
    pid_t poor = fork_child();
    if (poor == 0) {
        drop_rights();
        CHILD_CHECK(await(&note->stage, 1) && is_refusal(delete_key(key)) && larder_pending(shared_cache) == 1);
        _exit(0);
    }
    pid_t resizes = fork_child();
    if (resizes == 0) {
        CHILD_CHECK(await(&note->answer, 1));
        resize_it(2 * FILE_BYTES, LARDER_KEEP_ALL);
        _exit(0);
    }
    larder_close(shared_cache);
    advance(&note->answer);
    CHECK(has_stopped(resizes), "the resize has ended: it needs more items");
    advance(&note->stage);
    CHECK(exited_well(poor));
    kill(resizes, SIGCONT);
    CHECK(exited_well(resizes));
    shared_cache = open_cache(FILE_BYTES);
    CHECK(larder_size(shared_cache) == 2 * FILE_BYTES && is(shared_cache, key, "old") && sound(shared_cache));
    end();
}

static void delete_where_nothing_can_be_told(void) {
    drop_rights();
    CHILD_CHECK(await(&note->stage, 1));
    larder_status status = delete_key("a");
    CHILD_CHECK(status != LARDER_OK && status != LARDER_MISS && larder_pending(shared_cache) == 1);
    advance(&note->stage); /* 2: the directory may be searched again */
    CHILD_CHECK(await(&note->stage, 3));
    CHILD_CHECK(delete_key("b") == LARDER_OK && larder_pending(shared_cache) == 0);
    lard_lockfile_close(&shared_cache->core->lock);
    CHILD_CHECK(delete_key("c") == LARDER_SYSTEM || delete_key("c") == LARDER_LOCKED);
    CHILD_CHECK(larder_pending(shared_cache) == 1);
}

/* Another file may be at the path, or its lock file may be another one by now. */
static void it_is_refused_where_nothing_can_be_told(void) {
    if (!needs_root("a child that drops its rights")) {
        return;
    }
    CHECK(begin_with_items());
    pid_t child = fork_child();
    if (child == 0) {
        delete_where_nothing_can_be_told();
        _exit(0);
    }
    CHECK(chmod(test_directory, 0700) == 0);
    advance(&note->stage);
    CHECK(await(&note->stage, 2) && is(shared_cache, "a", "old") && chmod(test_directory, 0755) == 0);
    advance(&note->stage);
    CHECK(exited_well(child) && is(shared_cache, "a", NULL) && is(shared_cache, "b", NULL));
    CHECK(is(shared_cache, "c", "old") && sound(shared_cache));
    end();
}

static const test_case all_tests[] = {
    TEST(a_child_without_rights, "a child that dropped its rights deletes, overwrites and clears for all"),
    TEST(a_grandchild_without_rights, "so does a grandchild"),
    TEST(a_child_without_descriptors, "so does a child that has no free descriptor"),
    TEST(its_lock_is_its_own, "the lock of such a child excludes its parent"),
    TEST(a_resize_excludes_it, "a resize excludes such a child"),
    TEST(it_is_refused_where_nothing_can_be_told,
         "without the path or the lock file its deletes are refused and noted"),
};
RUN("opening", all_tests)
