/*
 * unattached_test.c — checks deletes, overwrites and clears of a process that has a map of the file but no process
 * slot.
 */
#include "unattached.h"

#include <pthread.h>

enum { ITEMS = 150000, SAMPLE = 200, FILE_BYTES = 16 << 20, HELD_SLOTS = 4095, THREADS = 4 };

static const char *key_of(int i) {
    static char key[16];
    snprintf(key, sizeof key, "k%d", i);
    return key;
}

/* Every way to take an old value away, each with keys of its own, which are spread over the index. */
enum { WAYS = 5 };
static larder_status take_away(int way, const char *key) {
    switch (way) {
    case 0:
        return delete_key(key);
    case 1:
        return put(key, "new", 0, NULL);
    case 2:
        return put(key, "", -1, NULL);
    case 3:
        return larder_touch(shared_cache, key, strlen(key), -1, NULL);
    default:
        return larder_delete_tagged(shared_cache, tags, 1, NULL);
    }
}

static void fill(void) {
    for (int i = 0; i < ITEMS; i++) {
        put(key_of(i), "old", 0, i % WAYS == WAYS - 1 ? tags : NULL);
    }
    put("stays", "old", 0, NULL);
}

static int old_ones(void) {
    int count = 0;
    for (int i = 0; i < SAMPLE; i++) {
        count += is(shared_cache, key_of(ITEMS - 1 - i), "old");
    }
    return count;
}

/* While another process resizes the file, and is stopped. */
static void take_all_away(bool clears) {
    CHILD_CHECK(await(&note->stage, 1));
    if (clears) {
        CHILD_CHECK(is_refusal(larder_clear(shared_cache)));
    }
    for (int i = 0; i < SAMPLE && !clears; i++) {
        larder_status status = take_away((ITEMS - 1 - i) % WAYS, key_of(ITEMS - 1 - i));
        CHILD_CHECK(is_refusal(status));
    }
    advance(&note->stage);
    /* It waits for the lock in the old file, and must end in the new one. */
    CHILD_CHECK(larder_attach(shared_cache, 60000, NULL) == LARDER_OK);
    CHILD_CHECK(larder_size(shared_cache) == 2 * FILE_BYTES && old_ones() == 0);
    CHILD_CHECK(is(shared_cache, "stays", clears ? NULL : "old"));
    larder_close(shared_cache);
}

static void in_the_child(bool clears) { take_all_away(clears); }

static void in_the_second_generation(bool clears) {
    pid_t pid = fork_child();
    if (pid == 0) {
        take_all_away(clears);
        _exit(0);
    }
    CHILD_CHECK(exited_well(pid));
}

/* As a daemonizer does it. */
static void without_descriptors(bool clears) {
    setsid();
    CHILD_CHECK(chdir("/") == 0);
    for (int fd = 3; fd < 256; fd++) {
        close(fd);
    }
    take_all_away(clears);
}

/* The child has a map and no slot, so the process that resizes believes that it is alone. */
static void beside_a_resize(void (*child)(bool), bool clears, uint32_t keep) {
    begin_explicitly(FILE_BYTES);
    fill();
    CHECK(old_ones() == SAMPLE);
    pid_t without_slot = fork_child();
    if (without_slot == 0) {
        child(clears);
        _exit(0);
    }
    pid_t resizes = fork_child();
    if (resizes == 0) {
        CHILD_CHECK(await(&note->answer, 1));
        resize_it(2 * FILE_BYTES, keep);
        _exit(0);
    }
    larder_close(shared_cache);
    advance(&note->answer);
    CHECK(has_stopped(resizes), "the resize has ended: it needs more items");
    advance(&note->stage);
    CHECK(await(&note->stage, 2), "the calls of the child");
    kill(resizes, SIGCONT);
    CHECK(exited_well(resizes) && exited_well(without_slot));
    shared_cache = open_cache(FILE_BYTES);
    CHECK(larder_size(shared_cache) == 2 * FILE_BYTES && old_ones() == 0 && sound(shared_cache));
    CHECK(is(shared_cache, "stays", clears ? NULL : "old"));
    end();
}

static void a_child_takes_away(void) { beside_a_resize(in_the_child, false, LARDER_KEEP_SOME); }
static void a_child_clears(void) { beside_a_resize(in_the_child, true, LARDER_KEEP_ALL); }
static void a_grandchild_takes_away(void) { beside_a_resize(in_the_second_generation, false, LARDER_KEEP_ALL); }
static void a_daemon_takes_away(void) { beside_a_resize(without_descriptors, false, LARDER_KEEP_SOME); }
static void a_daemon_clears(void) { beside_a_resize(without_descriptors, true, LARDER_KEEP_SOME); }

/* All slots are taken, also those that the file does not have. */
static void hold_all_slots(void) {
    char lock[LARD_LOCK_PATH_MAX];
    static lard_bytelock held[HELD_SLOTS];
    lard_lockfile_path(test_path("t.larder"), lock);
    CHILD_CHECK(lard_lockfile_open(lock, &lockfile, NULL) == LARDER_OK);
    for (uint32_t slot = 0; slot < shared_cache->core->map->super.process_slots; slot++) {
        lard_bytelock_take(&lockfile, lock, 1 + slot, &held[slot]);
    }
    advance(&note->stage);
    CHILD_CHECK(await(&note->stage, 6));
}

static void go_on_without_a_slot(void) {
    larder_error error;
    CHILD_CHECK(await(&note->stage, 1));
    CHILD_CHECK(larder_attach(shared_cache, 0, &error) == LARDER_NO_SLOT);
    CHILD_CHECK(put("a", "new", 0, NULL) == LARDER_NO_SLOT && delete_key("b") == LARDER_OK &&
                delete_key("never") == LARDER_MISS);
    CHILD_CHECK(larder_delete_tagged(shared_cache, tags, 1, NULL) == LARDER_OK);
    CHILD_CHECK(shared_cache->core->map->owner_word == 0);
    advance(&note->stage); /* 2: the parent looks, and holds the opener's lock */
    CHILD_CHECK(await(&note->stage, 3));
    CHILD_CHECK(delete_key("d") == LARDER_LOCKED && delete_key("d") == LARDER_LOCKED &&
                put("e", "new", 0, NULL) != LARDER_OK &&
                larder_delete_tagged(shared_cache, &tags[1], 1, NULL) == LARDER_LOCKED);
    advance(&note->stage); /* 4: the parent releases it */
    CHILD_CHECK(await(&note->stage, 5));
    CHILD_CHECK(delete_key("f") == LARDER_OK);
    advance(&note->stage); /* 6: also what was noted before is gone */
}

/* Its removals are applied for all, one by one or with the next that can be. */
static void a_child_that_finds_no_slot(void) {
    begin_explicitly(1 << 20);
    for (char key[2] = "a"; *key <= 'h'; ++*key) {
        CHECK(put(key, "old", 0, *key == 'c' ? tags : NULL) == LARDER_OK);
    }
    pid_t holder = fork_child();
    if (holder == 0) {
        hold_all_slots();
        _exit(0);
    }
    pid_t without_slot = fork_child();
    if (without_slot == 0) {
        go_on_without_a_slot();
        _exit(0);
    }
    CHECK(await(&note->stage, 2));
    CHECK(is(shared_cache, "a", NULL) && is(shared_cache, "b", NULL) && is(shared_cache, "c", NULL));
    CHECK(is(shared_cache, "d", "old") && put("g", "old", 0, &tags[1]) == LARDER_OK && hold_the_opener());
    advance(&note->stage);
    CHECK(await(&note->stage, 4) && is(shared_cache, "d", "old") && is(shared_cache, "g", "old"));
    release_the_opener();
    advance(&note->stage);
    CHECK(await(&note->stage, 6));
    CHECK(is(shared_cache, "d", NULL) && is(shared_cache, "e", NULL) && is(shared_cache, "f", NULL) &&
          is(shared_cache, "g", NULL) && is(shared_cache, "h", "old"));
    CHECK(exited_well(without_slot) && exited_well(holder) && sound(shared_cache));
    end();
}

static void *delete_a_part(void *number) {
    uintptr_t refused = 0;
    for (int i = (int)(uintptr_t)number; i < SAMPLE; i += THREADS) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        larder_status status = delete_key(key);
        refused += status == LARDER_OK ? 0 : is_refusal(status) ? 1 : SAMPLE;
    }
    return (void *)refused;
}

/* A thread may find another one at it for too long. The next delete then applies what was noted. */
static void delete_in_threads(void) {
    pthread_t threads[THREADS];
    uintptr_t refused = 0;
    void *result;
    CHILD_CHECK(await(&note->stage, 1));
    for (uintptr_t i = 0; i < THREADS; i++) {
        CHILD_CHECK(pthread_create(&threads[i], NULL, delete_a_part, (void *)i) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHILD_CHECK(pthread_join(threads[i], &result) == 0);
        refused += (uintptr_t)result;
    }
    CHILD_CHECK(refused < SAMPLE && delete_key("last") == LARDER_OK);
    note->stage = 6;
}

static void threads_without_a_slot(void) {
    begin_explicitly(1 << 20);
    for (int i = 0; i < SAMPLE; i++) {
        CHECK(put(key_of(i), "old", 0, NULL) == LARDER_OK);
    }
    CHECK(put("last", "old", 0, NULL) == LARDER_OK);
    pid_t holder = fork_child(), deletes = holder ? fork_child() : -1;
    if (holder == 0 || deletes == 0) {
        (holder == 0 ? hold_all_slots : delete_in_threads)();
        _exit(0);
    }
    CHECK(exited_well(deletes) && exited_well(holder));
    for (int i = 0; i < SAMPLE; i++) {
        CHECK(is(shared_cache, key_of(i), NULL), "%s", key_of(i));
    }
    CHECK(is(shared_cache, "last", NULL) && sound(shared_cache));
    end();
}

static void without_a_slot_after_a_replacement(void) {
    CHILD_CHECK(await(&note->stage, 1));
    CHILD_CHECK(delete_key("k") == LARDER_SUPERSEDED && larder_clear(shared_cache) == LARDER_SUPERSEDED);
    CHILD_CHECK(put("k", "new", 0, NULL) == LARDER_SUPERSEDED);
    CHILD_CHECK(larder_attach(shared_cache, 1000, NULL) == LARDER_OK && is(shared_cache, "k", NULL));
    larder_close(shared_cache);
}

/* The child's map is of the file that was there before. `replace` leaves a file with other items. */
static void beside_a_replacement(void (*replace)(void)) {
    begin_explicitly(1 << 20);
    CHECK(put("k", "old", 0, NULL) == LARDER_OK);
    pid_t without_slot = fork_child();
    if (without_slot == 0) {
        without_a_slot_after_a_replacement();
        _exit(0);
    }
    larder_close(shared_cache);
    replace();
    shared_cache = open_cache(1 << 20);
    CHECK(put("k", "of the new file", 0, NULL) == LARDER_OK);
    advance(&note->stage);
    CHECK(exited_well(without_slot) && is(shared_cache, "k", NULL) && sound(shared_cache));
    end();
}

static void damage_it(void) {
    int fd = open(test_path("t.larder"), O_WRONLY);
    CHECK(pwrite(fd, "damaged", 7, 16) == 7 && pwrite(fd, "damaged", 7, LARD_PAGE + 16) == 7);
    close(fd);
}
static void remove_it(void) { CHECK(unlink(test_path("t.larder")) == 0); }
static void remove_both(void) {
    remove_it();
    CHECK(unlink(in_directory("t.larder.lock")) == 0);
}
static void a_damaged_file_is_replaced(void) { beside_a_replacement(damage_it); }
static void a_removed_file_is_replaced(void) { beside_a_replacement(remove_it); }
static void a_lost_lock_file_is_replaced(void) { beside_a_replacement(remove_both); }

/* As a process of a newer version of the format has made it, for one that is not attached. */
static bool become_newer(void) {
    uint32_t major = LARD_FORMAT_MAJOR + 1;
    int fd = open(test_path("t.larder"), O_WRONLY);
    bool done =
        pwrite(fd, &major, sizeof major, offsetof(lard_superblock, format_major)) == sizeof major &&
        pwrite(fd, &major, sizeof major, LARD_PAGE + offsetof(lard_superblock, format_major)) == sizeof major;
    close(fd);
    return done;
}

static void delete_from_a_newer_file(void *unused) {
    larder_error error;
    larder_options options = {.size_bytes = 1 << 20, .lock_timeout_ms = 20, .attach_later = 1};
    (void)unused;
    CHILD_CHECK(await(&note->stage, 1));
    CHILD_CHECK(larder_open(test_path("t.larder"), &options, &shared_cache, &error) == LARDER_OK);
    CHILD_CHECK(delete_key("k") == LARDER_LOCKED && larder_clear(shared_cache) == LARDER_LOCKED &&
                larder_delete_tagged(shared_cache, tags, 1, NULL) == LARDER_LOCKED);
    advance(&note->stage);
    CHILD_CHECK(await(&note->stage, 3));
    CHILD_CHECK(larder_attach(shared_cache, 0, &error) == LARDER_NEWER_VERSION);
    CHILD_CHECK(delete_key("k") == LARDER_MISS);
    larder_close(shared_cache);
}

/* Else a process of the newer version, which copies the items to another file, would miss the clear. */
static void a_newer_file_is_cleared_under_the_lock(void) {
    note = shared_memory(sizeof *note);
    pid_t older = fork_child();
    if (older == 0) {
        delete_from_a_newer_file(NULL);
        _exit(0);
    }
    shared_cache = open_cache(1 << 20);
    CHECK(set(shared_cache, "k", "old") == LARDER_OK && become_newer() && hold_the_opener());
    advance(&note->stage);
    CHECK(await(&note->stage, 2) && is(shared_cache, "k", "old"));
    release_the_opener();
    advance(&note->stage);
    CHECK(exited_well(older) && is(shared_cache, "k", NULL));
    end();
}

static const test_case all_tests[] = {
    TEST(a_child_takes_away, "an item that a child without a slot takes away during a resize stays away"),
    TEST(a_child_clears, "so do all that it clears"),
    TEST(a_grandchild_takes_away, "so does one that a grandchild takes away"),
    TEST(a_daemon_takes_away, "so does one that a daemon without descriptors takes away"),
    TEST(a_daemon_clears, "so do all that such a daemon clears"),
    TEST(a_child_that_finds_no_slot, "a child that finds no slot deletes for all, or later with the next delete"),
    TEST(threads_without_a_slot, "so do threads of such a child"),
    TEST(a_damaged_file_is_replaced, "a delete in the map of a damaged file that was replaced is refused"),
    TEST(a_removed_file_is_replaced, "so is one in the map of a file that was removed"),
    TEST(a_lost_lock_file_is_replaced, "so is one in the map of a file whose lock file was removed with it"),
    TEST(a_newer_file_is_cleared_under_the_lock, "a file of a newer version is cleared under the opener's lock"),
};
RUN("unattached", all_tests)
