/*
 * file_crash.c — kills a process at each store and each system call that changes a file.
 *
 * The process creates, opens, forks from, closes or replaces a cache. The next process must be able to open and
 * use it: with all values if the file was valid, with none if it had to be replaced, together with a process that
 * was attached all the time. Only the cache and its lock file may be left in the directory.
 */
#include "places.h"

#include <dirent.h>

extern unsigned long lard_crash_at, lard_crash_count;

enum { KEYS = 150 };

enum { AT_EACH_END = 45 }; /* stores; those in between zero the first page of an index, as a reset does */

static unsigned long killed, lives, *changes;

static const char *cache_path(void) { return in_directory("life/t.larder"); }
static const char *lock_file(void) { return in_directory("life/t.larder.lock"); }

static larder *open_it(void) {
    larder *c = NULL;
    larder_options options = {.size_bytes = SIZE, .lock_timeout_ms = 10000};
    return larder_open(cache_path(), &options, &c, &failure) == LARDER_OK ? c : NULL;
}

static void key_of(int i, char key[32]) { snprintf(key, 32, "key %d", i); }

static bool store_all(larder *c) {
    char key[32];
    bool all = true;
    for (int i = 0; i < KEYS; i++) {
        key_of(i, key);
        all &= set(c, key, key) == LARDER_OK;
    }
    return all && set(c, "gone", "gone") == LARDER_OK && larder_delete(c, "gone", 4, NULL) == LARDER_OK;
}

/* How many of the keys are there, each with its value; -1 where one has another, or a deleted one is back. */
static int found(larder *c) {
    char key[32];
    int count = 0;
    for (int i = 0; i < KEYS; i++) {
        key_of(i, key);
        const char *have = get(c, key);
        if (have && strcmp(have, key) != 0) {
            return -1;
        }
        count += have != NULL;
    }
    return is(c, "gone", NULL) ? count : -1;
}

/* What the directory of the cache holds beside the cache and its lock file. */
static int orphans(void) {
    int count = 0;
    DIR *directory = opendir(in_directory("life"));
    for (struct dirent *entry = directory ? readdir(directory) : NULL; entry; entry = readdir(directory)) {
        count +=
            entry->d_name[0] != '.' && strcmp(entry->d_name, "t.larder") && strcmp(entry->d_name, "t.larder.lock");
    }
    if (directory) {
        closedir(directory);
    }
    return count;
}

static bool write_at(off_t at, const void *bytes, size_t count) {
    int fd = open(cache_path(), O_RDWR);
    bool done = fd >= 0 && pwrite(fd, bytes, count, at) == (ssize_t)count;
    close(fd);
    return done;
}

static bool spoil(int copy) {
    char junk[100];
    memset(junk, 7, sizeof junk);
    return write_at(copy * (off_t)LARD_PAGE + 8, junk, sizeof junk);
}

/* What was there before the one who dies comes: made by a process of its own, with a handle of its own. */
typedef enum { NO_FILE, CLEAN, LEFT_OPEN, NO_LOCK_FILE } past;

typedef struct {
    const char *name;
    past past;
    bool (*spoil)(void);
    void (*act)(void);
    bool replaced; /* what was stored before must not be there */
    bool witness;  /* one process has been attached all the time */
} life;

static void make_past(void *with) {
    const life *one = with;
    larder *c = open_it();
    CHILD_CHECK(c && store_all(c));
    if (one->past != LEFT_OPEN) {
        larder_close(c);
    }
}

static bool spoil_first(void) { return spoil(0); }
static bool spoil_both(void) { return spoil(0) && spoil(1); }
static bool other_boot(void) { /* the machine crashed since, and the file was not closed */
    uint64_t other[2] = {1, 2};
    uint32_t open_still = 0;
    return write_at(LARD_CONTROL_OFFSET + offsetof(lard_control, boot_id), other, sizeof other) &&
           write_at(LARD_CONTROL_OFFSET + offsetof(lard_control, clean), &open_still, 4);
}
static bool older_format(void) {
    uint32_t older = 1;
    return write_at(offsetof(lard_superblock, format_major), &older, 4) &&
           write_at(LARD_PAGE + offsetof(lard_superblock, format_major), &older, 4);
}
static bool cut_short(void) { return truncate(cache_path(), SIZE / 2) == 0; }
static bool mark_superseded(void) {
    uint32_t one = 1;
    return write_at(LARD_CONTROL_OFFSET, &one, 4);
}

static void act_use(void) {
    larder *c = open_it();
    CHILD_CHECK(c && set(c, "used", "it") == LARDER_OK);
    larder_close(c);
}
static void act_open_only(void) { CHILD_CHECK(open_it()); }
static void act_fork(void) { /* the one who dies is a forked child, at its first calls, or at its end */
    larder *c = open_it();
    CHILD_CHECK(c);
    pid_t pid = fork_child();
    if (pid == 0) {
        CHILD_CHECK(set(c, "forked", "it") == LARDER_OK);
        larder_close(c);
        _exit(0);
    }
    int status = wait_within(pid, LONGEST_MS);
    CHILD_CHECK(status != -1 && set(c, "used", "it") == LARDER_OK);
    if (WIFSIGNALED(status)) {
        kill(getpid(), SIGKILL);
    }
    larder_close(c);
}

static const life all_lives[] = {
    {"a new file", NO_FILE, NULL, act_use, false, false},
    {"a file that was closed", CLEAN, NULL, act_use, false, false},
    {"a file that was left open", LEFT_OPEN, NULL, act_use, false, false},
    {"a file that is open elsewhere", CLEAN, NULL, act_use, false, true},
    {"an end without a close", CLEAN, NULL, act_open_only, false, false},
    {"a forked process", CLEAN, NULL, act_fork, false, false},
    {"a forked process, and another attached", CLEAN, NULL, act_fork, false, true},
    {"a file with a damaged first superblock", CLEAN, spoil_first, act_use, false, false},
    {"a file without superblocks", CLEAN, spoil_both, act_use, true, false},
    {"a file without superblocks, open elsewhere", CLEAN, spoil_both, act_use, true, true},
    {"a file that was open when the machine crashed", CLEAN, other_boot, act_use, true, false},
    {"a file of an older format", CLEAN, older_format, act_use, true, false},
    {"a file that was superseded", CLEAN, mark_superseded, act_use, true, false},
    {"a file that was superseded, open elsewhere", CLEAN, mark_superseded, act_use, true, true},
    {"a file that was cut short", CLEAN, cut_short, act_use, true, false},
    {"a file whose lock file was removed", NO_LOCK_FILE, NULL, act_use, true, false},
};

/* The one who dies; `with` says at which store or call. */
static const life *now;
static int die_at(unsigned long at) {
    pid_t pid = fork_child();
    if (pid == 0) {
        lard_crash_count = 0;
        lard_crash_at = at;
        now->act();
        *changes = lard_crash_count;
        _exit(0);
    }
    return wait_within(pid, LONGEST_MS);
}

static void come_next(void *with) {
    larder *c = open_it();
    bool *done = with;
    CHILD_CHECK(c);
    int count = found(c);
    CHILD_CHECK(count >= 0);
    CHILD_CHECK(now->past == NO_FILE || count == (now->replaced ? 0 : KEYS));
    const char *used = get(c, "used");
    CHILD_CHECK(used ? strcmp(used, "it") == 0 : !*done || now->act == act_open_only);
    CHILD_CHECK(set(c, "next", "came") == LARDER_OK && sound(c) && orphans() == 0);
    larder_close(c);
}
static void
come_after(void *with) { /* what the next one left is there: it closed the file, or it is open elsewhere */
    (void)with;
    larder *c = open_it();
    CHILD_CHECK(c && is(c, "next", "came") && sound(c));
    larder_close(c);
}

typedef struct {
    uint32_t stage;
} play;
static play *stage;

/* Attached before; afterwards it and all others must have one and the same cache. */
static void witness(void) {
    larder *c = open_it();
    CHILD_CHECK(c && found(c) == KEYS);
    advance(&stage->stage);
    CHILD_CHECK(await(&stage->stage, 2));
    CHILD_CHECK(found(c) >= 0 && set(c, "from", "the witness") == LARDER_OK);
    CHILD_CHECK(found(c) == (now->replaced ? 0 : KEYS) && is(c, "next", "came"));
    larder_close(c);
    _exit(0);
}

static void one_death(unsigned long at, bool *done) {
    pid_t attached = 0;
    unlink(cache_path());
    unlink(lock_file());
    rmdir(in_directory("life"));
    if (now->past != NO_FILE) {
        CHECK(in_child(make_past, (void *)now), "%s", now->name);
    }
    CHECK(now->past != NO_LOCK_FILE || unlink(lock_file()) == 0);
    if (now->witness) {
        stage->stage = 0;
        attached = fork_child();
        if (attached == 0) {
            witness();
        }
        CHECK(await(&stage->stage, 1), "%s", now->name);
    }
    CHECK(!now->spoil || now->spoil(), "%s", now->name);
    int status = die_at(at);
    *done = status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    CHECK(*done || (status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL), "%s, at %lu: status %x",
          now->name, at, status);
    killed += !*done;
    CHECK(in_child(come_next, done), "%s, killed at %lu", now->name, at);
    if (now->witness) {
        advance(&stage->stage);
        CHECK(exited_well(attached), "%s, killed at %lu: the one who was attached", now->name, at);
    }
    CHECK(in_child(come_after, NULL), "%s, killed at %lu", now->name, at);
}

static void every_death(unsigned long step) {
    bool done = false;
    int before = test_failures;
    *changes = 0;
    one_death(0, &done); /* nobody dies: how many there are */
    CHECK(done && *changes > 4, "%s: %lu", now->name, *changes);
    unsigned long count = *changes;
    for (unsigned long at = 1; at <= count && test_failures == before; at++) {
        if (at > AT_EACH_END && at + AT_EACH_END < count) {
            at += step;
        }
        one_death(at, &done);
    }
}

static void every_life(void) {
    stage = shared_memory(sizeof *stage);
    changes = shared_memory(sizeof *changes);
    for (unsigned i = 0; i < sizeof all_lives / sizeof *all_lives; i++) {
        now = &all_lives[i];
        every_death(getenv("LARDER_CRASH_STRIDE") ? 61 : 601);
        lives++;
    }
}

static void say_counts(void) {
    CHECK(killed > 100);
    printf("@ %lu processes killed while they made, opened, forked from, closed or replaced a file\n", killed);
    printf("@note Of the stores that zero the first page of a new file's index every %s is taken\n",
           getenv("LARDER_CRASH_STRIDE") ? "61st" : "601st");
    printf("@ %lu ways in which that was begun: new, closed, open elsewhere, damaged, superseded, …\n", lives);
}

static const test_case tests[] = {
    TEST(every_life,
         "a process killed while it makes, opens, closes or replaces a file leaves one that can be used"),
    TEST(say_counts, "counts"),
};
RUN("life of a file", tests)
