/*
 * resources_process.c — descriptors, address space, process slots, time on the
 * processor: what is missing is said, and all is well once it is back.
 */
#include "places.h"

#include <sched.h>
#include <sys/resource.h>

static const char *place(const char *name) {
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", test_directory, name);
    return path;
}

static bool limit_to(int which, rlim_t most) {
    struct rlimit limit;
    bool known = getrlimit((__rlimit_resource_t)which, &limit) == 0;
    limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
    return known && setrlimit((__rlimit_resource_t)which, &limit) == 0;
}

static void open_without_descriptors(void *unused) {
    larder *cache;
    (void)unused;
    for (rlim_t free_ones = 0; free_ones < 3; free_ones++) {
        int next = dup(0);
        close(next);
        CHILD_CHECK(limit_to(RLIMIT_NOFILE, (rlim_t)next + free_ones));
        cache = open_at(place("t.larder"), SIZE);
        CHILD_CHECK(cache || (failure.status == LARDER_SYSTEM && failure.system_errno == EMFILE &&
                              strstr(failure.detail, "Too many open files")));
        larder_close(cache);
        CHILD_CHECK(limit_to(RLIMIT_NOFILE, 1024));
    }
    cache = open_at(place("t.larder"), SIZE);
    CHILD_CHECK(cache && heals(cache) && set(cache, "deleted", "old") == LARDER_OK);
    CHILD_CHECK(limit_to(RLIMIT_NOFILE, 0));
    pid_t pid = fork_child();
    if (pid == 0) { /* it needs one for a moment, to lock its slot: misses, refusals, but deletes hold */
        CHILD_CHECK(set(cache, "child", "c") != LARDER_OK && is(cache, "child", NULL));
        CHILD_CHECK(larder_delete(cache, "deleted", 7, NULL) == LARDER_OK);
        CHILD_CHECK(limit_to(RLIMIT_NOFILE, 1024) && heals(cache) && set(cache, "child", "c") == LARDER_OK);
        _exit(0);
    }
    CHILD_CHECK(exited_well(pid) && is(cache, "child", "c") && is(cache, "deleted", NULL));
    CHILD_CHECK(unlink(place("t.larder")) == 0);
    sleep_us(250000);
    for (int i = 0; i < 50; i++) {
        CHILD_CHECK(set(cache, "k", "v") == LARDER_SUPERSEDED && is(cache, "child", NULL));
    }
    CHILD_CHECK(limit_to(RLIMIT_NOFILE, 1024) && heals(cache));
    larder_close(cache);
}

static void no_descriptors(void) { CHECK(in_child(open_without_descriptors, NULL)); }

static void open_without_address_space(void *unused) {
    (void)unused;
    CHILD_CHECK(limit_to(RLIMIT_AS, 64 << 20));
    CHILD_CHECK(!open_at(place("t.larder"), 256 << 20) && failure.detail[0]);
    CHILD_CHECK(failure.status == LARDER_SYSTEM || failure.status == LARDER_NO_MEMORY);
    CHILD_CHECK(failure.system_errno == ENOMEM && unlink(place("t.larder")) == 0);
    larder *cache = open_at(place("t.larder"), SIZE);
    CHILD_CHECK(cache && heals(cache));
    larder_close(cache);
}

static void no_address_space(void) { CHECK(in_child(open_without_address_space, NULL)); }

static void sit(larder *cache, int go) {
    char byte;
    _exit(set(cache, "k", "v") == LARDER_OK && read(go, &byte, 1) >= 0 ? 0 : 1);
}

static bool wait_for_processes(larder *cache, uint64_t want) {
    larder_stats stats;
    for (int64_t until = now_us() + LONGEST_MS * 1000ll; now_us() < until; sleep_us(5000)) {
        if (larder_get_stats(cache, &stats) == LARDER_OK && stats.processes == want) {
            return true;
        }
    }
    return false;
}

static void open_one_more(void *unused) {
    (void)unused;
    CHILD_CHECK(!open_at(place("t.larder"), SIZE) && failure.status == LARDER_NO_SLOT);
    CHILD_CHECK(strstr(failure.detail, "t.larder") && strstr(failure.detail, "processes"));
}

static void all_slots(void) {
    pid_t pids[64];
    int go[2], spare[2], refused[2];
    char byte;
    larder *cache = open_at(place("t.larder"), SIZE);
    CHECK(cache && pipe(go) == 0 && pipe(spare) == 0);
    int slots = (int)lard_process_room(cache->core->map) - 1;
    CHECK(slots < 64 && slots > 8);
    for (int i = 0; i < slots; i++) {
        if ((pids[i] = fork_child()) == 0) {
            close(go[1]);
            sit(cache, go[0]);
        }
    }
    CHECK(wait_for_processes(cache, (uint64_t)slots + 1));
    CHECK(pipe(refused) == 0); /* only now, so that a read ends with the child that writes */
    pid_t late = fork_child();
    if (late == 0) {
        close(go[1]);
        CHILD_CHECK(is(cache, "k", NULL) && set(cache, "k", "w") == LARDER_NO_SLOT);
        CHILD_CHECK(larder_delete(cache, "gone", 4, NULL) == LARDER_MISS && write(refused[1], "x", 1) == 1);
        CHILD_CHECK(read(spare[0], &byte, 1) == 1);
        CHILD_CHECK(heals(cache));
        _exit(0);
    }
    pid_t stranger = fork();
    if (stranger == 0) {
        larder_close(cache);
        open_one_more(NULL);
        _exit(0);
    }
    close(refused[1]);
    CHECK(exited_well(stranger) && read(refused[0], &byte, 1) == 1, "before there is a slot for it");
    kill(pids[0], SIGKILL);
    wait_for(pids[0]);
    CHECK(write(spare[1], "x", 1) == 1 && exited_well(late), "the slot of one that was killed");
    close(go[1]);
    for (int i = 1; i < slots; i++) {
        CHECK(exited_well(pids[i]));
    }
    CHECK(wait_for_processes(cache, 1) && heals(cache) && sound(cache));
    larder_close(cache);
}

/* Slots that other processes hold, whatever they use them for. */
static int slots_held(const larder *cache) {
    int held = 0;
    for (uint32_t slot = 0; slot < cache->core->map->super.process_slots; slot++) {
        held += slot != cache->core->slot && lard_bytelock_held(&cache->core->lock, "", 1 + slot, 1) == 1;
    }
    return held;
}

/* Each time the file is replaced, processes take slots of the new one: they keep none of the old. */
static void replaced_again_and_again(void) {
    enum { CHILDREN = 8, TIMES = 12 };
    uint32_t *round = shared_memory(4096);
    pid_t pids[CHILDREN];
    larder *cache = open_at(place("t.larder"), SIZE);
    CHECK(cache && heals(cache));
    for (int i = 0; i < CHILDREN; i++) {
        if ((pids[i] = fork_child()) == 0) {
            for (uint64_t state = (uint64_t)i; __atomic_load_n(round, __ATOMIC_ACQUIRE) < TIMES;) {
                set(cache, "child", "c");
                sleep_us((unsigned)(next_random(&state) % 20000));
            }
            _exit(heals(cache) && sound(cache) ? 0 : 1);
        }
    }
    int first = 0; /* that lives: the slots of the dead are free for those who move */
    for (; *round < TIMES; advance(round)) {
        CHECK(unlink(place("t.larder")) == 0);
        if (*round % 3 == 1) {
            kill(pids[first], SIGKILL);
            wait_for(pids[first++]);
        }
        sleep_us(260000);
        CHECK(heals(cache) && wait_for_processes(cache, (uint64_t)(CHILDREN + 1 - first)), "replacement %u",
              *round);
        CHECK(slots_held(cache) == CHILDREN - first, "%d slots held by %d", slots_held(cache), CHILDREN - first);
    }
    for (int i = first; i < CHILDREN; i++) {
        CHECK(exited_well(pids[i]));
    }
    CHECK(wait_for_processes(cache, 1));
    larder_close(cache);
}

static unsigned long lives;

/* Half of them are killed, at any moment; the others' statistics are all kept. */
static void many_short_lives(void) {
    unsigned long most = getenv("LARDER_PROOF_FULL") ? 20000 : 1500;
    uint64_t state = 11, stored = 0;
    larder_stats before, after;
    larder *cache = open_at(place("t.larder"), SIZE);
    CHECK(cache && larder_get_stats(cache, &before) == LARDER_OK);
    for (; lives < most; lives++) {
        bool dies = next_random(&state) & 1;
        unsigned when = (unsigned)(next_random(&state) % 400);
        pid_t pid = fork_child();
        if (pid == 0) {
            for (int i = 0; i < 4 || dies; i++) {
                if (set(cache, i % 2 ? "even" : "odd", "value") != LARDER_OK ||
                    (!get(cache, "even") && i && !dies)) {
                    _exit(1);
                }
            }
            _exit(0);
        }
        if (dies) {
            sleep_us(when);
            kill(pid, SIGKILL);
            wait_for(pid);
        } else {
            stored += 4;
            CHECK(exited_well(pid), "life %lu", lives);
        }
    }
    CHECK(larder_get_stats(cache, &after) == LARDER_OK && after.processes == 1);
    CHECK(after.sets - before.sets >= stored, "%llu of %llu sets", (unsigned long long)(after.sets - before.sets),
          (unsigned long long)stored);
    CHECK(heals(cache) && sound(cache));
    larder_close(cache);
}

/* A writer that is stopped, wherever it is, delays others by a bound at most. */
static void a_stopped_owner(void) {
    uint64_t state = 3;
    larder *cache = open_at(place("t.larder"), SIZE);
    CHECK(cache && heals(cache));
    for (int round = 0; round < 12; round++) {
        pid_t pid = fork_child();
        if (pid == 0) {
            for (;;) {
                use_hard(cache, 1, 1000);
            }
        }
        sleep_us(3000 + (unsigned)(next_random(&state) % 9000));
        kill(pid, SIGSTOP);
        int64_t start = now_us();
        for (int i = 0; i < 20; i++) {
            char key[16];
            snprintf(key, sizeof key, "k%d", i);
            larder_status status = set(cache, key, "v");
            CHECK(status == LARDER_OK || status == LARDER_BUSY, "%s", larder_status_name(status));
            CHECK(is(cache, key, status == LARDER_OK ? "v" : NULL), "a refused store leaves nothing");
        }
        CHECK(now_us() - start < 20000000);
        kill(pid, SIGCONT);
        sleep_us(2000);
        kill(pid, SIGKILL);
        wait_for(pid);
        CHECK(heals(cache));
    }
    CHECK(sound(cache));
    larder_close(cache);
}

/* A writer that gets next to no time while others keep the processors busy. */
static void a_starved_writer(void) {
    pid_t pids[6];
    larder *cache = open_at(place("t.larder"), SIZE);
    CHECK(cache != NULL);
    for (int i = 0; i < 6; i++) {
        if ((pids[i] = fork_child()) == 0) {
            struct sched_param none = {0};
            for (sched_setscheduler(0, i ? SCHED_OTHER : SCHED_IDLE, &none);;) {
                i < 2 ? use_hard(cache, (uint64_t)i, 100) : (void)0;
            }
        }
    }
    int refused = 0;
    for (int64_t until = now_us() + 1500000; now_us() < until;) {
        larder_status status = set(cache, "k", "v");
        CHECK(status == LARDER_OK || status == LARDER_BUSY);
        refused += status == LARDER_BUSY;
        CHECK(status != LARDER_BUSY || is(cache, "k", NULL));
    }
    for (int i = 0; i < 6; i++) {
        kill(pids[i], SIGKILL);
        wait_for(pids[i]);
    }
    CHECK(heals(cache) && sound(cache), "%d refused", refused);
    larder_close(cache);
}

static void say_count(void) {
    printf("@ %d ways to run out of descriptors, address space, slots and processor time\n", test_count - 1);
    printf("@ %lu processes that came and went, half of them killed, in one file\n", lives);
    if (!getenv("LARDER_PROOF_CGROUP")) {
        note("a writer killed for want of memory: LARDER_PROOF_CGROUP names no memory control group to make one "
             "in");
    }
}

static bool write_file(const char *directory, const char *name, const char *text) {
    char path[700];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_WRONLY);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return done;
}

static void eat(larder *cache, const char *group) {
    char pid[24];
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    CHILD_CHECK(write_file(group, "cgroup.procs", pid));
    for (size_t eaten = 0;; eaten += 1 << 20) {
        use_hard(cache, eaten, 50);
        char *more = malloc(1 << 20);
        CHILD_CHECK(more != NULL);
        memset(more, 1, 1 << 20);
    }
}

static void killed_for_memory(void) {
    char group[500];
    const char *parent = getenv("LARDER_PROOF_CGROUP");
    if (!parent) {
        return;
    }
    snprintf(group, sizeof group, "%.300s/larder-proof-%d", parent, (int)getpid());
    larder *cache = open_at(place("t.larder"), SIZE);
    CHECK(cache && mkdir(group, 0700) == 0 && write_file(group, "memory.limit_in_bytes", "24M"));
    for (int round = 0; round < 5; round++) {
        pid_t pid = fork_child();
        if (pid == 0) {
            eat(cache, group);
        }
        int status = wait_within(pid, LONGEST_MS);
        CHECK(status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status %x", status);
        CHECK(heals(cache) && use_hard(cache, 7, 500) == 500 && sound(cache));
    }
    larder_close(cache);
    CHECK(rmdir(group) == 0);
}

static const test_case tests[] = {
    TEST(no_descriptors, "without descriptors opening is an error, and children and a replacement wait"),
    TEST(no_address_space, "without address space opening is an error"),
    TEST(all_slots, "with all slots taken one more is an error, and a freed one works"),
    TEST(replaced_again_and_again, "a file that is replaced again and again keeps no slots"),
    TEST(many_short_lives, "thousands of short lives leave no slot and lose no statistics"),
    TEST(a_stopped_owner, "a writer that is stopped costs others a refusal"),
    TEST(a_starved_writer, "a writer without time on the processor costs others a refusal"),
    TEST(killed_for_memory, "a writer killed for want of memory costs its own value"),
    TEST(say_count, "count"),
};
RUN("resources: processes", tests)
