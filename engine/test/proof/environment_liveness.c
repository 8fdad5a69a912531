/*
 * environment_liveness.c — owners of a lock that end, or seem to, in unusual ways: their address space outlives
 * them, they are replaced by another program, are zombies, have no first thread, or their descriptors are
 * exchanged under them. A living one is never robbed, and a dead one not waited for.
 */
#include "environment.h"

#include <pthread.h>

enum { ROOM = 64 << 20, COUNTERS_HERE = 4 };

typedef struct {
    uint32_t step, let_go;
} signals;
static signals *common;
static larder *cache;
static unsigned long cases;

static void begin(void) {
    cache = open_at(in_directory("t.larder"), SIZE);
    common = shared_memory(sizeof *common);
}

static void end(void) {
    larder_close(cache);
    munmap(common, sizeof *common);
    cases++;
}

static void take_the_lock(void) {
    lard_map *map = lard_enter(cache->core);
    CHILD_CHECK(map != NULL);
    lard_view view = lard_view_of(map, 0);
    CHILD_CHECK(lard_shard_lock(cache->core, &view, NULL) == LARDER_OK);
    advance(&common->step);
}

/* The shard of a dead owner is taken over long before the timeout, which is hours. */
static bool is_repaired(void) { return set(cache, "k", "w") == LARDER_OK && is(cache, "k", "w") && sound(cache); }

static int wait_in_its_memory(void *unused) {
    (void)unused;
    while (!READ(common->let_go)) {
        struct timespec a_moment = {0, 1000000};
        nanosleep(&a_moment, NULL);
    }
    syscall(SYS_exit, 0);
    return 0;
}

/* A child of vfork or posix_spawn that has not come to exec has its parent's memory, and with it the lock. */
static void memory_that_outlives(void) {
    static char stack[65536];
    begin();
    CHECK(cache && set(cache, "k", "v") == LARDER_OK);
    pid_t pid = fork_child();
    if (pid == 0) {
        CHILD_CHECK(clone(wait_in_its_memory, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL) > 0);
        take_the_lock();
        kill(getpid(), SIGKILL);
    }
    wait_for(pid);
    for (int i = 0; i < 5; i++) { /* nobody can tell: refused, with nothing left of what was there */
        larder_status status = set(cache, "k", "w");
        CHECK((status == LARDER_OK && is(cache, "k", "w")) || (status == LARDER_BUSY && is(cache, "k", NULL)));
    }
    NOTE(common->let_go, 1);
    for (int64_t until = now_us() + LONGEST_MS * 1000ll; now_us() < until && set(cache, "k", "w") != LARDER_OK;) {
        sleep_us(1000);
    }
    CHECK(is_repaired());
    end();
}

static void not_waited_for(void) {
    begin();
    CHECK(cache && set(cache, "k", "v") == LARDER_OK);
    pid_t pid = fork_child();
    if (pid == 0) {
        take_the_lock();
        kill(getpid(), SIGKILL);
    }
    CHECK(await(&common->step, 1));
    siginfo_t info;
    CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0 && is_repaired(), "a zombie");
    wait_for(pid);
    end();
}

static void another_program(void) {
    begin();
    CHECK(cache && set(cache, "k", "v") == LARDER_OK);
    pid_t pid = fork_child();
    if (pid == 0) {
        take_the_lock();
        execl("/bin/sleep", "sleep", "60", (char *)NULL);
        _exit(1);
    }
    CHECK(await(&common->step, 1));
    for (int64_t until = now_us() + LONGEST_MS * 1000ll; now_us() < until && set(cache, "k", "w") != LARDER_OK;) {
        sleep_us(1000); /* until exec has come to pass */
    }
    CHECK(is_repaired() && kill(pid, SIGKILL) == 0);
    wait_for(pid);
    end();
}

static void *hold_for_a_while(void *unused) {
    lard_map *map = lard_enter(cache->core);
    lard_view view = lard_view_of(map, 0);
    larder_status status = lard_shard_lock(cache->core, &view, NULL);
    advance(&common->step);
    (void)unused;
    await(&common->let_go, 1);
    if (status == LARDER_OK) {
        lard_shard_unlock(&view);
    }
    _exit(status == LARDER_OK && set(cache, "by thread", "t") == LARDER_OK ? 0 : 1);
}

static void without_its_first_thread(void) {
    begin();
    CHECK(cache && set(cache, "k", "v") == LARDER_OK);
    pid_t pid = fork_child();
    if (pid == 0) {
        pthread_t thread;
        CHILD_CHECK(pthread_create(&thread, NULL, hold_for_a_while, NULL) == 0);
        pthread_exit(NULL);
    }
    CHECK(await(&common->step, 1));
    sleep_us(20000);
    for (int i = 0; i < 3; i++) {
        CHECK(set(cache, "k", "w") == LARDER_BUSY && is(cache, "k", NULL), "the process is alive");
    }
    NOTE(common->let_go, 1);
    CHECK(exited_well(pid) && is(cache, "by thread", "t") && is_repaired());
    end();
}

/* ---- descriptors exchanged under it ---- */

static void *exchange(void *unused) {
    (void)unused;
    while (!READ(common->let_go)) {
        int own = open(in_directory("t.larder.lock"), O_RDWR | O_CLOEXEC);
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 5000, .l_len = 1};
        (void)fcntl(own, F_SETLK, &lock); /* as a program that locks what it backs up, elsewhere in the file */
        for (int fd = 3; fd < 64; fd++) {
            if (fd != own && fd != null) {
                dup2(null, fd);
            }
        }
        for (int fd = 3; fd < 64; fd++) {
            close(fd);
        }
        sleep_us(300);
    }
    return NULL;
}

static void count_with_exchange(int who) {
    pthread_t thread;
    uint64_t state = (uint64_t)who;
    CHILD_CHECK(pthread_create(&thread, NULL, exchange, NULL) == 0);
    inherit(cache, who);
    while (!READ(common->let_go)) {
        act_often(cache, who, &state, 20);
    }
    pthread_join(thread, NULL);
    _exit(0);
}

static void exchanged(void) {
    pid_t pids[COUNTERS_HERE];
    uint64_t state = 4, kills = 0;
    open_book();
    common = shared_memory(sizeof *common);
    cache = open_at(in_directory("t.larder"), ROOM);
    CHECK(cache != NULL);
    uint64_t inode = inode_of(in_directory("t.larder"));
    for (int i = 0; i < COUNTERS_HERE; i++) {
        if ((pids[i] = fork_child()) == 0) {
            count_with_exchange(i);
        }
    }
    for (int64_t until = now_us() + (is_full_run() ? 20000000 : 2000000); now_us() < until; kills++) {
        sleep_us(10000 + (unsigned)(next_random(&state) % 20000));
        int who = (int)(next_random(&state) % COUNTERS_HERE);
        kill(pids[who], SIGKILL);
        wait_for(pids[who]);
        if ((pids[who] = fork_child()) == 0) {
            count_with_exchange(who);
        }
    }
    NOTE(common->let_go, 1);
    for (int i = 0; i < COUNTERS_HERE; i++) {
        CHECK(exited_well(pids[i]), "%s", book->first);
    }
    CHECK(inode_of(in_directory("t.larder")) == inode, "the file was replaced");
    CHECK(book_holds(cache) && counters_are_exact(cache) && sound(cache) && increments_acknowledged() > 1000);
    count_of(increments_acknowledged(), "increments of processes whose descriptors were exchanged, all counted");
    count_of(kills, "of them killed");
    end();
    close_book();
}

static void say_count(void) { count_of(cases, "unusual ways for an owner to end or to seem to"); }

static const test_case tests[] = {
    TEST(memory_that_outlives, "an owner whose memory outlives it costs refusals until that is gone"),
    TEST(not_waited_for, "an owner that is a zombie is dead"),
    TEST(another_program, "an owner that has become another program is dead"),
    TEST(without_its_first_thread, "an owner whose first thread has ended is alive"),
    TEST(exchanged, "counters are exact while hosts put other files under the engine's descriptors"),
    TEST(say_count, "count"),
};
RUN("environment: liveness", tests)
