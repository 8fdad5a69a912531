/*
 * environment_waits.c — a disk that takes as long as it is told to: nobody but who writes a file back, or makes
 * it, waits for that. The calls that wait for a disk are wrapped: they begin, and end when they are let.
 */
#include "environment.h"

#include <pthread.h>

enum { OPENERS = 6 };

typedef struct {
    uint32_t slow, inside, let_go, stay;
    uint64_t done;
} disk;
static disk *slow;
static bool mine; /* only the process under attack has a slow disk */

static void wait_for_the_disk(void) {
    if (mine && READ(slow->slow)) {
        advance(&slow->inside);
        for (int64_t until = now_us() + 60000000; !READ(slow->let_go) && now_us() < until;) {
            sleep_us(500);
        }
    }
}

int __real_msync(void *at, size_t bytes, int flags);
int __wrap_msync(void *at, size_t bytes, int flags);
int __wrap_msync(void *at, size_t bytes, int flags) {
    wait_for_the_disk();
    return __real_msync(at, bytes, flags);
}

int __real_posix_fallocate(int fd, off_t from, off_t bytes);
int __wrap_posix_fallocate(int fd, off_t from, off_t bytes);
int __wrap_posix_fallocate(int fd, off_t from, off_t bytes) {
    wait_for_the_disk();
    return __real_posix_fallocate(fd, from, bytes);
}

static const char *path(void) { return in_directory("t.larder"); }

static void begin_slow(void) {
    slow = shared_memory(sizeof *slow);
    NOTE(slow->slow, 1);
}

static bool all_exited_well(const pid_t *pids, int count) {
    bool good = true;
    for (int i = 0; i < count; i++) {
        good = exited_well(pids[i]) && good;
    }
    return good;
}

static void open_and_use(int who) {
    char key[16];
    snprintf(key, sizeof key, "k%d", who);
    larder *cache = open_at(path(), SIZE);
    if (!cache) {
        fprintf(stderr, "  opener %d: %s: %s\n", who, larder_status_name(failure.status), failure.detail);
    }
    CHILD_CHECK(cache && set(cache, key, "v") == LARDER_OK && is(cache, key, "v"));
    ADD(slow->done, 1);
    CHILD_CHECK(await(&slow->let_go, 1)); /* it has the file while the other one comes back from the disk */
    CHILD_CHECK(set(cache, key, "w") == LARDER_OK && is(cache, key, "w") && is(cache, "left", "behind"));
    while (READ(slow->stay)) {
        sleep_us(500);
    }
    _exit(0); /* as one that is killed: the file is not closed */
}

static bool done_is(uint64_t want) {
    for (int64_t until = now_us() + LONGEST_MS * 1000ll; now_us() < until; sleep_us(500)) {
        if (READ(slow->done) >= want) {
            return true;
        }
    }
    fprintf(stderr, "  %llu of %llu were let in\n", (unsigned long long)READ(slow->done),
            (unsigned long long)want);
    return false;
}

static pid_t leave_slowly(void) {
    pid_t pid = fork_child();
    if (pid == 0) {
        larder *cache = open_at(path(), SIZE);
        CHILD_CHECK(cache && set(cache, "left", "behind") == LARDER_OK);
        mine = true;
        larder_close(cache);
        _exit(0);
    }
    return pid;
}

static void openers_do_not_wait(void) {
    pid_t pids[OPENERS];
    begin_slow();
    pid_t leaving = leave_slowly();
    CHECK(await(&slow->inside, 1), "it writes back");
    for (int i = 0; i < OPENERS; i++) {
        if ((pids[i] = fork_child()) == 0) {
            open_and_use(i);
        }
    }
    bool let_in = done_is(OPENERS);
    NOTE(slow->let_go, 1);
    CHECK(exited_well(leaving) && all_exited_well(pids, OPENERS) && let_in, "while another wrote back");
    larder *cache = open_at(path(), SIZE);
    CHECK(cache && is(cache, "k1", "w") && is(cache, "left", "behind") && sound(cache));
    larder_close(cache);
    count_of(OPENERS, "openers of a file that another process was writing back");
    munmap(slow, sizeof *slow);
}

static void find_nothing_old(int unused) {
    larder *cache = open_at(path(), SIZE);
    (void)unused;
    CHILD_CHECK(cache && is(cache, "doomed", NULL) && is(cache, "k0", NULL) && sound(cache));
    larder_close(cache);
}

/* And what they changed meanwhile is not called clean. */
static void not_clean_behind_an_opener(void) {
    const container after = {.boot_id = new_boot_id(1)};
    if (!may_contain("a boot after a slow close")) {
        return;
    }
    begin_slow();
    larder *cache = open_at(path(), SIZE);
    CHECK(cache && set(cache, "doomed", "d") == LARDER_OK);
    larder_close(cache);
    NOTE(slow->stay, 1);
    pid_t leaving = leave_slowly();
    CHECK(await(&slow->inside, 1));
    pid_t pid = fork_child();
    if (pid == 0) {
        open_and_use(0);
    }
    bool let_in = done_is(1);
    NOTE(slow->let_go, 1);
    bool left = exited_well(leaving);
    NOTE(slow->stay, 0);
    CHECK(exited_well(pid) && let_in && left);
    CHECK(in_container(&after, find_nothing_old, 0), "in another boot");
    count_of(1, "file changed while another process wrote it back, found empty in another boot");
    munmap(slow, sizeof *slow);
}

static void *close_it(void *cache) {
    mine = true;
    larder_close(cache);
    return NULL;
}

static void *open_another(void *at) {
    larder *cache = open_at(at, SIZE);
    bool good = cache && heals(cache);
    larder_close(cache);
    return good ? at : NULL;
}

/* In one process: one thread closes, others fork and open other files. */
static void forks_do_not_wait(void) {
    pthread_t closing;
    begin_slow();
    larder *cache = open_at(path(), SIZE), *other = open_at(in_directory("other.larder"), SIZE);
    CHECK(cache && other && set(cache, "left", "behind") == LARDER_OK);
    CHECK(pthread_create(&closing, NULL, close_it, cache) == 0 && await(&slow->inside, 1));
    mine = false; /* the thread that closes is inside */
    int forks = 0;
    bool good = true;
    for (; forks < 20 && good; forks++) {
        pid_t pid = fork_child();
        if (pid == 0) {
            CHILD_CHECK(set(other, "child", "c") == LARDER_OK &&
                        open_another((void *)in_directory("third.larder")));
            _exit(0);
        }
        good = exited_well(pid) && set(other, "k", "v") == LARDER_OK && is(other, "child", "c");
    }
    good = good && open_another((void *)in_directory("fourth.larder"));
    NOTE(slow->let_go, 1);
    pthread_join(closing, NULL);
    CHECK(good, "fork %d", forks);
    cache = open_at(path(), SIZE);
    CHECK(cache && is(cache, "left", "behind") && sound(cache) && sound(other));
    larder_close(cache);
    larder_close(other);
    count_of((unsigned long)forks, "forks of a process that was writing a file back");
    munmap(slow, sizeof *slow);
}

/* The same path again, in the process that is closing it. */
static void opened_again_while_it_closes(void) {
    pthread_t closing;
    begin_slow();
    larder *cache = open_at(path(), SIZE);
    CHECK(cache && set(cache, "left", "behind") == LARDER_OK);
    CHECK(pthread_create(&closing, NULL, close_it, cache) == 0 && await(&slow->inside, 1));
    mine = false;
    larder *again = open_at(path(), SIZE);
    bool good = again && is(again, "left", "behind") && set(again, "k", "v") == LARDER_OK;
    NOTE(slow->let_go, 1);
    pthread_join(closing, NULL);
    CHECK(good, "%s", failure.detail);
    CHECK(is(again, "k", "v") && heals(again) && sound(again));
    larder_close(again);
    count_of(1, "path opened again by the process that was closing it");
    munmap(slow, sizeof *slow);
}

/* If a process dies while it writes the file back, the next one can use it. */
static void killed_while_it_closes(void) {
    for (int round = 0; round < 5; round++) {
        begin_slow();
        pid_t leaving = leave_slowly();
        CHECK(await(&slow->inside, 1));
        kill(leaving, SIGKILL);
        wait_for(leaving);
        larder *cache = open_at(path(), SIZE);
        CHECK(cache && is(cache, "left", "behind") && heals(cache) && sound(cache));
        larder_close(cache);
        munmap(slow, sizeof *slow);
    }
    count_of(5, "processes killed while they wrote back");
}

static void makes_it_slowly(void) {
    pid_t pids[OPENERS];
    begin_slow();
    pid_t maker = fork_child();
    if (maker == 0) {
        mine = true;
        larder *cache = open_at(path(), SIZE);
        CHILD_CHECK(cache && heals(cache));
        larder_close(cache);
        _exit(0);
    }
    CHECK(await(&slow->inside, 1));
    for (int i = 0; i < OPENERS; i++) {
        if ((pids[i] = fork_child()) == 0) {
            larder *cache = open_at(path(), SIZE);
            CHILD_CHECK(cache || failure.status == LARDER_LOCKED);
            ADD(slow->done, 1);
            CHILD_CHECK(await(&slow->let_go, 1));
            cache = cache ? cache : open_at(path(), SIZE);
            CHILD_CHECK(cache && heals(cache));
            larder_close(cache);
            _exit(0);
        }
    }
    bool answered = done_is(OPENERS);
    NOTE(slow->let_go, 1);
    CHECK(exited_well(maker) && all_exited_well(pids, OPENERS) && answered, "while another made it");
    larder *cache = open_at(path(), SIZE);
    CHECK(cache && is(cache, "healed", get(cache, "healed")) && sound(cache));
    larder_close(cache);
    count_of(OPENERS, "openers of a file that another process was making");
    munmap(slow, sizeof *slow);
}

static const test_case tests[] = {
    TEST(openers_do_not_wait, "who opens a file that another writes back does not wait for the disk"),
    TEST(not_clean_behind_an_opener, "a file that was changed while it was written back is not clean"),
    TEST(forks_do_not_wait, "neither forks nor other files wait for one that is written back"),
    TEST(opened_again_while_it_closes, "a path can be opened again while this process writes it back"),
    TEST(killed_while_it_closes, "who dies while it writes a file back loses nothing"),
    TEST(makes_it_slowly, "who opens a file that another is making is answered, and can use it after"),
};
RUN("environment: waits", tests)
