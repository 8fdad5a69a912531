/*
 * calls_test.c — opens, creates and replaces caches while system and library calls fail.
 */
#include "attempts.h"

#include <sys/file.h>

enum { MANY = 40 }; /* more descriptors than may be left where it cannot be told whose they are */

static bool write_at(const char *path, const void *data, size_t bytes, off_t at) {
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    bool done = fd >= 0 && pwrite(fd, data, bytes, at) == (ssize_t)bytes;
    close(fd);
    return done;
}

static void open_it(void) { open_at(cache_path); }

static bool names_the_offender(void) {
    return failure.status == status &&
           (strstr(failure.detail, "t.larder") || strncmp(failure.detail, "mkdir /", 7) == 0 ||
            strncmp(failure.detail, "set owner and mode of /", 23) == 0);
}

/* A refusal says why and leaves no handle; a handle is good. */
static void look_at_answer(void) {
    MUST((status == LARDER_OK) == (cache != NULL));
    if (status == LARDER_OK) {
        MUST(!failed_at(CALL_sigaction) || plan->way != ONCE); /* else a file that is cut would kill the process */
        MUST(set(cache, "at once", "works") == LARDER_OK && is(cache, "at once", "works"));
        return;
    }
    MUST(plan->failed > 0 && names_the_offender());
    MUST(failure.system_errno == 0 || status == LARDER_NO_MEMORY ||
         strstr(failure.detail, strerror(failure.system_errno)));
    MUST(failure.system_errno != 0 || status == LARDER_LOCKED || status == LARDER_NO_SLOT);
}

static void opens(const char *name, void (*files)(void), int values) {
    begin_attempts("t.larder");
    scenario scene = {.name = name, .files = files, .act = open_it, .after = look_at_answer, .values = values};
    play_all(&scene);
}

static void a_new_file(void) { opens("a new file", NULL, MAY_FORGET); }

static void a_new_directory(void) {
    begin_attempts("new/directory/t.larder");
    scenario scene = {.name = "new directories", .act = open_it, .after = look_at_answer, .values = MAY_FORGET};
    play_all(&scene);
}

static void a_clean_file(void) { opens("a file closed cleanly", clean_file, SURVIVE_ALL); }

static void an_unclean_file(void) { opens("a file whose users were killed", file_of_killed_users, SURVIVE_ALL); }

static void damage_first_superblock(void) {
    clean_file();
    MUST(write_at(cache_path, "DAMAGED", 7, 100));
}

static void a_file_with_one_superblock(void) {
    opens("a file with one superblock", damage_first_superblock, SURVIVE_ALL);
}

static void damage_both_superblocks(void) {
    damage_first_superblock();
    MUST(write_at(cache_path, "DAMAGED", 7, LARD_PAGE + 100));
}

static void a_damaged_file(void) { opens("a damaged file", damage_both_superblocks, MUST_FORGET); }

/* Each is locked, as by processes that have the cache open. */
static int hold_hints(int held[MANY], char names[MANY][64]) {
    int count = 0;
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], 64, "/dev/shm/larder-%016x%016x", (unsigned)getpid(), (unsigned)i);
        held[i] = open(names[i], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        count += held[i] >= 0 && flock(held[i], LOCK_SH) == 0;
    }
    return count;
}

static void a_damaged_file_beside_many_caches(void) {
    static char names[MANY][64];
    int held[MANY];
    begin_attempts("t.larder");
    scenario scene = {.name = "a damaged file, beside many caches",
                      .files = damage_both_superblocks,
                      .act = open_it,
                      .after = look_at_answer,
                      .values = MUST_FORGET,
                      .for_good = true};
    if (hold_hints(held, names) == MANY) { /* else there is no /dev/shm */
        play_all(&scene);
    }
    for (int i = 0; i < MANY; i++) {
        unlink(names[i]);
        close(held[i]);
    }
}

static void use_before_another_boot(void) {
    uint64_t another_boot[2] = {1, 2};
    file_of_killed_users();
    MUST(write_at(cache_path, another_boot, 16, LARD_CONTROL_OFFSET + offsetof(lard_control, boot_id)));
}

static void a_file_from_before_a_machine_crash(void) {
    opens("a file from before a machine crash", use_before_another_boot, MUST_FORGET);
}

static void supersede(void) {
    uint32_t one = 1;
    clean_file();
    MUST(write_at(cache_path, &one, sizeof one, LARD_CONTROL_OFFSET));
}

static void a_superseded_file(void) { opens("a superseded file", supersede, MUST_FORGET); }

static void leave_a_hole(void) {
    int fd = open(cache_path, O_RDWR | O_CREAT, 0600);
    MUST(fd >= 0 && ftruncate(fd, SIZE) == 0 && pwrite(fd, "", 1, SIZE / 2) == 1);
    close(fd);
}

static void an_unfinished_file(void) { opens("a file that its maker did not finish", leave_a_hole, MAY_FORGET); }

static void cut_lock_file(void) {
    char lock[600];
    clean_file();
    snprintf(lock, sizeof lock, "%s.lock", cache_path);
    MUST(truncate(lock, 12) == 0);
}

static void an_unfinished_lock_file(void) { opens("an unfinished lock file", cut_lock_file, MUST_FORGET); }

static void put_foreign_file(void) { MUST(write_at(cache_path, "Dear diary,\n", 12, 0)); }

static void look_at_foreign_file(void) {
    char have[20];
    int fd = open(cache_path, O_RDONLY);
    MUST(read(fd, have, sizeof have) == 12 && memcmp(have, "Dear diary,\n", 12) == 0);
    close(fd);
    MUST(status != LARDER_OK && !cache && names_the_offender());
}

static void a_foreign_file(void) {
    begin_attempts("t.larder");
    scenario scene = {.name = "a foreign file",
                      .files = put_foreign_file,
                      .act = open_it,
                      .after = look_at_foreign_file,
                      .values = MAY_FORGET,
                      .foreign = true};
    play_all(&scene);
}

static void go_there(void) { MUST(chdir(test_directory) == 0); }
static void open_relative(void) { open_at("t.larder"); }

static void a_relative_path(void) {
    begin_attempts("t.larder");
    scenario scene = {.name = "a relative path",
                      .files = clean_file,
                      .before = go_there,
                      .act = open_relative,
                      .after = look_at_answer};
    play_all(&scene);
}

static larder *first;

static void open_first(void) {
    go_there();
    open_relative();
    first = cache;
    store_survivors();
}

static void look_at_both(void) {
    MUST(cache == first || (!cache && status != LARDER_OK && names_the_offender()));
    if (cache) {
        larder_close(first);
    }
    cache = first;
}

static void a_second_handle(void) {
    begin_attempts("t.larder");
    scenario scene = {
        .name = "a second handle", .before = open_first, .act = open_relative, .after = look_at_both};
    play_all(&scene);
}

/* A process that has the cache open all the while, and must see what the others do. */
static void use_it_meanwhile(void) {
    uint32_t *stage = meanwhile;
    MUST(open_at(cache_path) == LARDER_OK);
    store_survivors();
    advance(stage);
    MUST(await(stage, 2));
    larder_delete(cache, "nothing", 7, NULL);
    MUST(is(cache, "of the neighbour", "neighbour") && set(cache, "of the user", "user") == LARDER_OK);
    larder_close(cache);
}

static void begin_use(void) { begin_meanwhile(use_it_meanwhile); }

static void begin_use_and_unlock(void) {
    char lock[600];
    begin_use();
    snprintf(lock, sizeof lock, "%s.lock", cache_path);
    MUST(unlink(lock) == 0);
}

static void a_file_in_use(void) {
    begin_attempts("t.larder");
    scenario scene = {.name = "a file in use", .before = begin_use, .act = open_it, .after = look_at_answer};
    play_all(&scene);
}

static void a_file_in_use_is_replaced(void) {
    begin_attempts("t.larder");
    scenario scene = {.name = "a file in use whose lock file was removed",
                      .before = begin_use_and_unlock,
                      .act = open_it,
                      .after = look_at_answer,
                      .values = MUST_FORGET};
    play_all(&scene);
}

static const test_case tests[] = {
    TEST(a_new_file, "a file is made whole or not at all"),
    TEST(a_new_directory, "directories are made or the reason told"),
    TEST(a_clean_file, "one failing call does not cost a file that was closed cleanly"),
    TEST(an_unclean_file, "one failing call does not cost a file whose users were killed"),
    TEST(a_file_with_one_superblock, "one failing call does not cost a file with one superblock"),
    TEST(a_damaged_file, "a damaged file is replaced or the reason told"),
    TEST(a_damaged_file_beside_many_caches, "the hints of many caches leave no descriptor each"),
    TEST(a_file_from_before_a_machine_crash, "no failing call brings values from before a machine crash back"),
    TEST(a_superseded_file, "no failing call brings values of a superseded file back"),
    TEST(an_unfinished_file, "an unfinished file is replaced or the reason told"),
    TEST(an_unfinished_lock_file, "an unfinished lock file is finished or the reason told"),
    TEST(a_foreign_file, "no failing call makes a foreign file the engine's"),
    TEST(a_relative_path, "a relative path is made absolute or the reason told"),
    TEST(a_second_handle, "no failing call gives a process two handles of one file"),
    TEST(a_file_in_use, "a file in use is joined or the reason told"),
    TEST(a_file_in_use_is_replaced, "who replaces a file in use takes its users along, or leaves it"),
    TEST(say_counts, "counts"),
};
RUN_CALLS("failing calls", tests)
