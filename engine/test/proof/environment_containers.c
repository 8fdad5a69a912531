/*
 * environment_containers.c — containers that share the cache's directory and nothing else, each with a boot id,
 * PIDs and mounts of its own: they come, go and are killed, and nobody's file is taken away.
 */
#include "environment.h"

enum { ROOM = 64 << 20, CONTAINERS = 4, KEEPER = CONTAINERS };

typedef struct {
    uint32_t stop, ready;
    uint64_t seed, opened, locked;
} scene;
static scene *stage;

static const char *path(void) { return in_directory("shared/t.larder"); }

static larder *open_shared(void) {
    for (int64_t until = now_us() + LONGEST_MS * 1000ll; now_us() < until; sleep_us(2000)) {
        larder *cache = open_at(path(), ROOM);
        if (cache || failure.status != LARDER_LOCKED) {
            return cache;
        }
        ADD(stage->locked, 1);
    }
    return NULL;
}

static void keep_it_open(int who) {
    uint64_t state = 5;
    larder *cache = open_shared();
    CHILD_CHECK(cache != NULL);
    advance(&stage->ready);
    while (!READ(stage->stop)) {
        look_up(cache, (int)(next_random(&state) % OWNERS), (int)(next_random(&state) % KEYS));
        sleep_us(200);
    }
    (void)who;
    larder_close(cache);
}

static void come_and_go(int who) {
    uint64_t state = ADD(stage->seed, 1);
    while (!READ(stage->stop)) {
        larder *cache = open_shared();
        if (!cache) {
            wrong("container %d cannot open: %s", who, failure.detail);
            _exit(1);
        }
        ADD(stage->opened, 1);
        inherit(cache, who);
        act_often(cache, who, &state, 20 + (int)(next_random(&state) % 300));
        larder_close(cache);
        sleep_us((unsigned)(next_random(&state) % 3000));
    }
}

static pid_t start(int who) {
    const container own = {.boot_id = new_boot_id(ADD(stage->seed, 1)), .own_memory = true};
    return start_container(&own, who == KEEPER ? keep_it_open : come_and_go, who);
}

static void begin_scene(void) {
    open_book();
    stage = shared_memory(sizeof *stage);
}

static void end_scene(void) {
    close_book();
    munmap(stage, sizeof *stage);
}

/* With a keeper the file is in use all the time: it must stay the same one, and count exactly. */
static void boot_ids_of_their_own(void) {
    pid_t pids[CONTAINERS + 1];
    uint64_t state = 77, kills = 0;
    int64_t lasts = is_full_run() ? 60000000 : 2000000;
    if (!may_contain("containers that share one file")) {
        return;
    }
    begin_scene();
    pids[KEEPER] = start(KEEPER);
    CHECK(pids[KEEPER] > 0 && await(&stage->ready, 1));
    uint64_t inode = inode_of(path());
    for (int i = 0; i < CONTAINERS; i++) {
        pids[i] = start(i);
    }
    for (int64_t until = now_us() + lasts; now_us() < until;) {
        sleep_us(5000 + (unsigned)(next_random(&state) % 30000));
        int who = (int)(next_random(&state) % CONTAINERS);
        kill(pids[who], SIGKILL);
        wait_for(pids[who]);
        kills++;
        pids[who] = start(who);
        CHECK(inode_of(path()) == inode, "the file was replaced, %llu killed", (unsigned long long)kills);
    }
    stage->stop = 1;
    for (int i = 0; i <= CONTAINERS; i++) {
        CHECK(exited_well(pids[i]), "container %d; %s", i, book->first);
    }
    larder *cache = open_at(path(), ROOM);
    larder_stats stats = {0};
    CHECK(cache && larder_get_stats(cache, &stats) == LARDER_OK && stats.evictions == 0);
    CHECK(inode_of(path()) == inode && book_holds(cache) && counters_are_exact(cache) && sound(cache));
    CHECK(stage->opened > 20 && increments_acknowledged() > 1000 && book->found > 100);
    count_of(stage->opened, "openings of one file by containers with boot ids of their own");
    count_of(kills, "containers killed in it");
    count_of(increments_acknowledged(), "increments acknowledged in containers, all counted");
    larder_close(cache);
    end_scene();
}

/* Nobody keeps it open: it may be replaced where it was not closed, but no deleted value comes back. */
static void nobody_stays(void) {
    pid_t pids[2];
    uint64_t state = 78;
    int rounds = is_full_run() ? 400 : 16;
    if (!may_contain("containers that leave a file alone")) {
        return;
    }
    begin_scene();
    for (int round = 0; round < rounds; round++) {
        pids[0] = start(0), pids[1] = start(1);
        sleep_us(20000 + (unsigned)(next_random(&state) % 30000));
        kill(pids[0], SIGKILL);
        wait_for(pids[0]);
        if (round % 2) {
            kill(pids[1], SIGKILL);
            wait_for(pids[1]);
        } else {
            stage->stop = 1;
            CHECK(exited_well(pids[1]), "%s", book->first);
            stage->stop = 0;
        }
        larder *cache = open_shared();
        CHECK(cache && book_holds(cache) && sound(cache));
        larder_close(cache);
    }
    count_of((unsigned long)rounds, "times that all containers of a file were gone, half of them killed");
    end_scene();
}

/* ---- who is alone judges a crash ---- */

static void store_and_die(int clean) {
    larder *cache = open_at(path(), SIZE);
    CHILD_CHECK(cache && set(cache, "k", "v") == LARDER_OK && set(cache, "gone", "v") == LARDER_OK);
    CHILD_CHECK(larder_delete(cache, "gone", 4, NULL) == LARDER_OK);
    if (!clean) {
        _exit(0);
    }
    larder_close(cache);
}

static void find_nothing(int unused) {
    larder *cache = open_at(path(), SIZE);
    (void)unused;
    CHILD_CHECK(cache && is(cache, "k", NULL) && is(cache, "gone", NULL) && sound(cache));
    larder_close(cache);
}

static void find_it(int unused) {
    larder *cache = open_at(path(), SIZE);
    (void)unused;
    CHILD_CHECK(cache && is(cache, "k", "v") && is(cache, "gone", NULL) && sound(cache));
    larder_close(cache);
}

static void another_boot(void) {
    if (!may_contain("a boot id that changes")) {
        return;
    }
    const container first = {.boot_id = new_boot_id(1)}, second = {.boot_id = new_boot_id(2)};
    for (int clean = 0; clean < 2; clean++) {
        CHECK(in_container(&first, store_and_die, clean));
        CHECK(in_container(&first, find_it, 0), "the boot is the same");
        CHECK(in_container(&first, store_and_die, clean));
        CHECK(in_container(&second, clean ? find_it : find_nothing, 0), "%s", clean ? "closed" : "not closed");
    }
    count_of(4, "ways to leave a file to this boot or to another");
}

/* ---- boot ids that are none ---- */

static void use_it(int unused) {
    larder *cache = open_at(path(), SIZE);
    (void)unused;
    if (!cache) {
        fprintf(stderr, "  %s\n", failure.detail);
    }
    CHILD_CHECK(cache && heals(cache) && sound(cache));
    larder_close(cache);
}

static void no_boot_id(void) {
    static const char *const texts[] = {"00000000-0000-0000-0000-000000000000\n",
                                        "B4B56012-867B-4085-89BA-4C80615A9BE6\n",
                                        "b4b56012867b408589ba4c80615a9be6\n", ""};
    if (!may_contain("boot ids that are none")) {
        return;
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const container own = {.boot_id = texts[i]};
        CHECK(in_container(&own, use_it, 0), "%s", texts[i]);
        CHECK(in_container(&own, store_and_die, 1) && in_container(&own, find_it, 0), "%s", texts[i]);
    }
    const container none = {.no_proc = true};
    CHECK(in_container(&none, use_it, 0), "no /proc");
    count_of(sizeof texts / sizeof *texts + 1, "places without a boot id that says anything");
}

static const test_case tests[] = {
    TEST(boot_ids_of_their_own,
         "containers with boot ids of their own share a file that stays the same and counts exactly"),
    TEST(nobody_stays, "a file that all containers have left brings no deleted value back"),
    TEST(another_boot, "a file that was not closed in another boot is empty, one that was is kept"),
    TEST(no_boot_id, "where no boot id is to be had a file can be used"),
};
RUN("environment: containers", tests)
