/*
 * resize_crash.c — kills a process at each store and each system call that changes a file, during a resize.
 *
 * The next process finds the old file with all values or the new one: empty, or with all values if they were to be
 * kept. A process that was attached all the time continues with the same file, and the next resize removes what
 * was left.
 */
#include "places.h"

extern unsigned long lard_crash_at, lard_crash_count;

enum { KEYS = 60, LARGER = 2 * SIZE, AT_EACH_END = 60 };

static unsigned long killed, *changes;
static uint32_t *stage;
static bool keeps;

static larder *open_it(void) {
    larder *c = NULL;
    larder_options options = {.size_bytes = SIZE, .lock_timeout_ms = 10000};
    return larder_open(in_directory("t.larder"), &options, &c, &failure) == LARDER_OK ? c : NULL;
}

static const char *key_of(int i) {
    static char key[16];
    snprintf(key, sizeof key, "key %d", i);
    return key;
}

static int found(larder *c) {
    int count = 0;
    for (int i = 0; i < KEYS; i++) {
        count += is(c, key_of(i), "value");
    }
    return count;
}

static void make_past(void *unused) {
    (void)unused;
    larder *c = open_it();
    for (int i = 0; i < KEYS; i++) {
        CHILD_CHECK(set(c, key_of(i), "value") == LARDER_OK);
    }
    larder_close(c);
}

static void resize_it(void) {
    larder *c = open_it();
    CHILD_CHECK(c && larder_resize(c, LARGER, keeps, &failure) == LARDER_OK);
    larder_close(c);
}

/* Attached before; afterwards it has the same cache as all others, at the latest when it has looked at the path.
 */
static void witness(void) {
    larder *c = open_it();
    CHILD_CHECK(c && found(c) == KEYS);
    advance(stage);
    CHILD_CHECK(await(stage, 2));
    int64_t until = lard_clock_monotonic_ms() + LONGEST_MS;
    while (!is(c, "next", "came") && lard_clock_monotonic_ms() < until) {
        CHILD_CHECK(set(c, "from", "the witness") == LARDER_OK);
        lard_clock_sleep_ms(1);
    }
    CHILD_CHECK(is(c, "next", "came") && sound(c));
    larder_close(c);
    _exit(0);
}

static void come_next(void *with) {
    bool done = *(bool *)with;
    larder *c = open_it();
    CHILD_CHECK(c && sound(c));
    uint64_t size = larder_size(c);
    CHILD_CHECK(size == LARGER || (size == SIZE && !done));
    CHILD_CHECK(found(c) == (keeps || size == SIZE ? KEYS : 0));
    CHILD_CHECK(set(c, "next", "came") == LARDER_OK);
    larder_close(c);
}

static void come_after(void *unused) {
    (void)unused;
    larder *c = open_it();
    CHILD_CHECK(c && is(c, "next", "came") && larder_resize(c, SIZE, keeps, &failure) == LARDER_OK);
    CHILD_CHECK(is(c, "next", keeps ? "came" : NULL) && larder_size(c) == SIZE && sound(c));
    CHILD_CHECK(!is_there(in_directory("t.larder.resize")));
    larder_close(c);
}

static void one_death(unsigned long at, bool *done) {
    pid_t attached = 0;
    unlink(in_directory("t.larder"));
    CHECK(in_child(make_past, NULL));
    *stage = 0;
    if (!keeps && (attached = fork_child()) == 0) {
        witness();
    }
    CHECK(keeps || await(stage, 1));
    pid_t pid = fork_child();
    if (pid == 0) {
        lard_crash_count = 0;
        lard_crash_at = at;
        resize_it();
        *changes = lard_crash_count;
        _exit(0);
    }
    int status = wait_within(pid, LONGEST_MS);
    *done = status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    CHECK(*done || (status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL), "at %lu: %x", at, status);
    killed += !*done;
    CHECK(in_child(come_next, done), "killed at %lu", at);
    if (!keeps) {
        advance(stage);
        CHECK(exited_well(attached), "killed at %lu: the one who was attached", at);
    }
    CHECK(in_child(come_after, NULL), "killed at %lu", at);
}

static void every_death(void) {
    bool done = false;
    int before = test_failures;
    one_death(0, &done);
    unsigned long count = *changes;
    CHECK(done && count > 10, "%lu", count);
    for (unsigned long at = 1; at <= count && test_failures == before; at++) {
        if (at > AT_EACH_END && at + AT_EACH_END < count) {
            at += 97; /* zeroes of an index, and copies of one item after the other */
        }
        one_death(at, &done);
    }
}

static void killed_with_everybody_attached(void) {
    stage = shared_memory(sizeof *stage);
    changes = shared_memory(sizeof *changes);
    every_death();
}

static void killed_while_it_copies(void) {
    keeps = true;
    every_death();
    CHECK(killed > 100);
    printf("@ %lu processes killed while they gave a cache another size\n", killed);
}

static const test_case tests[] = {
    TEST(killed_with_everybody_attached,
         "killed while others have it open, it leaves the old file or the new one"),
    TEST(killed_while_it_copies, "killed while it copies, it leaves all that was to be kept"),
};
RUN("resize at stores", tests)
