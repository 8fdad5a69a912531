/*
 * bytelock_test.c — checks which processes count as alive, whatever they do with descriptors of the lock file.
 *
 * It also covers every call that makes a child.
 */
#include "attached.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

static void look_on(void *unused) { /* another process, attached */
    (void)unused;
    CHILD_CHECK(set(shared_cache, "other", "o") == LARDER_OK);
    CHILD_CHECK(lard_process_alive(shared_cache->core, shared_cache->core->map, note->words[0]));
}

static void ask_about_the_gone(void *unused) {
    (void)unused;
    CHILD_CHECK(set(shared_cache, "other", "o") == LARDER_OK);
    CHILD_CHECK(!lard_process_alive(shared_cache->core, shared_cache->core->map, note->words[1]));
}

static void read_and_close_the_lock_file(void) {
    char bytes[64];
    int fd = open(test_path("t.larder.lock"), O_RDONLY);
    (void)!read(fd, bytes, sizeof bytes);
    close(fd);
}

static void close_all_descriptors(void) {
    for (int fd = 3; fd < 256; fd++) {
        close(fd);
    }
}

static void copied_and_swept(void) {
    begin(1 << 20);
    CHECK(set(shared_cache, "k", "v") == LARDER_OK);
    write_down(0);
    read_and_close_the_lock_file();
    CHECK(in_child(look_on, NULL), "after the lock file was read");
    close_all_descriptors();
    CHECK(in_child(look_on, NULL), "after all descriptors were closed");
    CHECK(set(shared_cache, "k", "w") == LARDER_OK && is(shared_cache, "k", "w") && sound(shared_cache));
    end();
}

static void mark(void *unused) {
    (void)unused;
    CHILD_CHECK(set(shared_cache, "k", "of the child") == LARDER_OK);
    write_down(1);
}

static void children_do_not_hold_it(void) {
    begin(1 << 20);
    CHECK(set(shared_cache, "k", "v") == LARDER_OK);
    pid_t parent = fork_child();
    if (parent == 0) { /* attaches, has a child that outlives it and never attaches */
        mark(NULL);
        if (fork() == 0) {
            advance(&note->stage);
            await(&note->stage, 2);
            _exit(0);
        }
        CHILD_CHECK(await(&note->stage, 1));
        kill(getpid(), SIGKILL);
    }
    wait_for(parent);
    CHECK(in_child(ask_about_the_gone, NULL), "the child of a killed process does not keep it alive");
    advance(&note->stage);
    end();
}

/* A child of which no handler of pthread_atfork was told. */
static pid_t clone_child(void) { return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL); }

static void a_raw_clone_has_a_slot_of_its_own(void) {
    begin(1 << 20);
    CHECK(set(shared_cache, "k", "v") == LARDER_OK);
    write_down(0);
    pid_t pid = clone_child();
    if (pid == 0) {
        bool own =
            set(shared_cache, "k", "of the clone") == LARDER_OK && shared_cache->core->slot != note->slots[0];
        larder_close(shared_cache);
        _exit(own ? 0 : 1);
    }
    CHECK(exited_well(pid) && is(shared_cache, "k", "of the clone"));
    pid = clone_child();
    if (pid == 0) { /* and one that is killed in the lock is not taken for its parent */
        lard_map *map = lard_enter(shared_cache->core);
        lard_view view = lard_view_of(map, 0);
        larder_status status = map ? lard_shard_lock(shared_cache->core, &view, NULL) : LARDER_NO_SLOT;
        kill(getpid(), status == LARDER_OK ? SIGKILL : SIGTERM);
    }
    int status = wait_for(pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK(set(shared_cache, "k", "w") == LARDER_OK && sound(shared_cache));
    end();
}

/* While nothing can be asked, owners are alive: a refusal, not a robbery. */
static void who_cannot_be_asked_about_is_alive(void) {
    begin(1 << 20);
    CHECK(set(shared_cache, "k", "v") == LARDER_OK);
    pid_t pid = fork_child();
    if (pid == 0) {
        mark(NULL);
        kill(getpid(), SIGKILL);
    }
    wait_for(pid);
    lard_lockfile known = shared_cache->core->map->lock;
    close(known.fd);
    int fd = open("/dev/null", O_RDONLY); /* under the number of the lock file's descriptor */
    char lock[400], away[400];
    snprintf(lock, sizeof lock, "%s", test_path("t.larder.lock"));
    snprintf(away, sizeof away, "%s", test_path("away"));
    CHECK(fd == known.fd && rename(lock, away) == 0);
    bool alive = lard_process_alive(shared_cache->core, shared_cache->core->map, note->words[1]);
    CHECK(rename(away, lock) == 0 && close(fd) == 0);
    CHECK(alive, "its lock file is not at the path");
    CHECK(!lard_process_alive(shared_cache->core, shared_cache->core->map, note->words[1]), "now it is");
    end();
}

static void another_ones_word_is_left_alone(void) {
    begin(1 << 20);
    CHECK(set(shared_cache, "k", "v") == LARDER_OK);
    lard_view view = lard_view_of(shared_cache->core->map, 0);
    CHECK(lard_shard_lock(shared_cache->core, &view, NULL) == LARDER_OK);
    uint32_t theirs = lard_process_owner_word(17, 5);
    lard_store(&view.header->lock, theirs); /* somebody took this process for dead */
    lard_shard_unlock(&view);
    CHECK(lard_load(&view.header->lock) == theirs, "the lock is not theirs to lose");
    CHECK(lard_load(&view.map->control->superseded), "and nobody goes on with the file");
    CHECK(set(shared_cache, "k", "w") == LARDER_OK && is(shared_cache, "k", "w") && sound(shared_cache));
    end();
}

/* ---- six processes that count, while their hosts do everything that ever lost a lock ---- */

enum { COUNTERS = 6, ROUND_MS = 1500, ROUNDS = 3 };
typedef struct {
    uint64_t acknowledged[COUNTERS];
    uint32_t stop, started;
} tally;
static tally *sums;

static void copy_the_directory(void) {
    static const char *const names[] = {"t.larder", "t.larder.lock"};
    static __thread char bytes[1 << 16];
    for (int i = 0; i < 2; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", test_directory, names[i]);
        int from = open(path, O_RDONLY | O_CLOEXEC);
        while (from >= 0 && read(from, bytes, sizeof bytes) > 0) {
        }
        close(from);
    }
}

static void *disturb(void *unused) {
    (void)unused;
    while (!__atomic_load_n(&sums->stop, __ATOMIC_RELAXED)) {
        copy_the_directory();
        close_all_descriptors();
        pid_t pid = clone_child();
        if (pid == 0) { /* outlives a parent that is killed */
            struct timespec a_while = {0, 20000000};
            nanosleep(&a_while, NULL);
            syscall(SYS_exit_group, 0);
        }
        pid = vfork();
        if (pid == 0) {
            execl("/bin/true", "true", (char *)NULL);
            _exit(1);
        }
        while (waitpid(-1, NULL, WNOHANG) > 0) {
        }
    }
    return NULL;
}

static void count(int who) {
    pthread_t thread;
    int64_t sum;
    pthread_create(&thread, NULL, disturb, NULL);
    __atomic_fetch_add(&sums->started, 1, __ATOMIC_RELAXED);
    while (!__atomic_load_n(&sums->stop, __ATOMIC_RELAXED)) {
        if (larder_increment(shared_cache, "sum", 3, 1, 0, 0, &sum, NULL) == LARDER_OK) {
            __atomic_fetch_add(&sums->acknowledged[who], 1, __ATOMIC_RELAXED);
        }
    }
    pthread_join(thread, NULL);
    _exit(0);
}

/* In a PID namespace of its own where that may be had. */
static pid_t start_counter(int who) {
    pid_t pid = fork_child();
    if (pid == 0) {
        if (unshare(CLONE_NEWPID) == 0) {
            pid_t inside = fork();
            if (inside == 0) {
                count(who);
            }
            note->slots[who] = (uint32_t)inside;
            int status = wait_for(inside);
            _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 0);
        }
        note->slots[who] = (uint32_t)getpid();
        count(who);
    }
    return pid;
}

static void everything_acknowledged_is_counted(void) {
    pid_t pids[COUNTERS];
    uint64_t state = 20260101, kills = 0, stops = 0, acknowledged = 0;
    begin(1 << 20);
    sums = shared_memory(sizeof *sums);
    int64_t sum = 0;
    CHECK(larder_increment(shared_cache, "sum", 3, 0, 0, 0, &sum, NULL) == LARDER_OK);
    uint64_t inode = shared_cache->core->map->inode;
    for (int i = 0; i < COUNTERS; i++) {
        pids[i] = start_counter(i);
    }
    for (int64_t until = now_us() + ROUNDS * ROUND_MS * 1000; now_us() < until;) {
        sleep_us(10000 + (unsigned)(next_random(&state) % 30000));
        int who = (int)(next_random(&state) % COUNTERS);
        pid_t inside = (pid_t)__atomic_load_n(&note->slots[who], __ATOMIC_RELAXED);
        if (inside <= 0) {
            continue;
        }
        if (next_random(&state) % 3 == 0) {
            kill(inside, SIGKILL);
            wait_for(pids[who]);
            kills++;
            note->slots[who] = 0;
            pids[who] = start_counter(who);
        } else {
            kill(inside, SIGSTOP);
            sleep_us(5000);
            kill(inside, SIGCONT);
            stops++;
        }
    }
    __atomic_store_n(&sums->stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < COUNTERS; i++) {
        wait_for(pids[i]);
        acknowledged += sums->acknowledged[i];
    }
    CHECK(larder_increment(shared_cache, "sum", 3, 0, 0, 0, &sum, NULL) == LARDER_OK);
    printf("@ %llu increments acknowledged\n@ %llu processes killed\n@ %llu processes stopped\n",
           (unsigned long long)acknowledged, (unsigned long long)kills, (unsigned long long)stops);
    /* One that was killed after its store and before it noted it is counted and not acknowledged. */
    CHECK((uint64_t)sum >= acknowledged && (uint64_t)sum <= acknowledged + kills,
          "counter %lld, acknowledged %llu", (long long)sum, (unsigned long long)acknowledged);
    CHECK(shared_cache->core->map->inode == inode, "no lock was found in another's hands");
    CHECK(acknowledged > 1000 && kills > 3 && sound(shared_cache));
    munmap(sums, sizeof *sums);
    end();
}

static const test_case tests[] = {
    TEST(copied_and_swept, "closing descriptors of the lock file, one or all, does not make a process look dead"),
    TEST(children_do_not_hold_it, "a child does not hold the lock of its dead parent"),
    TEST(a_raw_clone_has_a_slot_of_its_own, "a child made by clone without the C library has a slot of its own"),
    TEST(who_cannot_be_asked_about_is_alive, "an owner that cannot be asked about is alive"),
    TEST(another_ones_word_is_left_alone, "who finds another's word in its lock leaves it and the file"),
    TEST(everything_acknowledged_is_counted,
         "counters are exact beside copies, sweeps of descriptors, clones, kills and stops"),
};
RUN("bytelock", tests)
