/*
 * fork_test.c — children, grandchildren and daemons of processes that have a cache open.
 */
#include "attached.h"

#include <pthread.h>

static void use_and_fork_on(void *generations) {
    int left = *(int *)generations;
    char key[16];
    snprintf(key, sizeof key, "of %d", left);
    CHILD_CHECK(is(shared_cache, "of the first", "first"));
    CHILD_CHECK(set(shared_cache, key, "mine") == LARDER_OK);
    write_down(left);
    if (left-- > 0) {
        CHILD_CHECK(in_child(use_and_fork_on, &left));
    }
    CHILD_CHECK(is(shared_cache, key, "mine") && is(shared_cache, "of 0", "mine"));
}

static void each_generation_has_a_slot(void) {
    int generations = 3;
    begin(1 << 20);
    CHECK(set(shared_cache, "of the first", "first") == LARDER_OK);
    write_down(4);
    CHECK(in_child(use_and_fork_on, &generations));
    for (int a = 0; a <= 4; a++) {
        for (int b = 0; b < a; b++) {
            CHECK(note->slots[a] != note->slots[b], "generations %d and %d share slot %u", a, b, note->slots[a]);
        }
    }
    CHECK(shared_cache->core->slot == note->slots[4] && process_count_is(shared_cache, 1));
    CHECK(is(shared_cache, "of 3", "mine") && is(shared_cache, "of 0", "mine") && sound(shared_cache));
    end();
}

/* Ends in each of the ways that run none, some or all of the cleaning up. */
static void end_somehow(void *how) {
    CHILD_CHECK(set(shared_cache, "child", "was here") == LARDER_OK);
    switch (*(int *)how) {
    case 0:
        _exit(0);
    case 1:
        exit(0);
    case 2:
        larder_close(shared_cache);
        exit(0);
    default: /* never used after the fork by this one */
        break;
    }
}

static void close_unused(void *unused) {
    (void)unused;
    larder_close(shared_cache);
}

static void look_from_outside(void *unused) {
    (void)unused;
    CHILD_CHECK(set(shared_cache, "outside", "looks") == LARDER_OK);
    CHILD_CHECK(shared_cache->core->slot != note->slots[0]);
    CHILD_CHECK(lard_process_alive(shared_cache->core, shared_cache->core->map, note->words[0]));
}

static void a_parent_stays_attached(void) {
    begin(1 << 20);
    CHECK(set(shared_cache, "parent", "stays") == LARDER_OK);
    write_down(0);
    for (int how = 0; how < 3; how++) {
        CHECK(in_child(end_somehow, &how), "way %d", how);
        CHECK(in_child(look_from_outside, NULL), "after a child that ended in way %d", how);
        CHECK(shared_cache->core->slot == note->slots[0] && is(shared_cache, "child", "was here"));
    }
    CHECK(in_child(close_unused, NULL));
    CHECK(in_child(look_from_outside, NULL), "after a child that only closed");
    CHECK(process_count_is(shared_cache, 1));
    end();
}

/* fork, setsid, fork, another directory: as daemon(3) does it. */
static void a_daemon_goes_on(void) {
    char here[256];
    larder_error error;
    larder_options options = {.size_bytes = 1 << 20};
    note = shared_memory(sizeof *note);
    CHECK(getcwd(here, sizeof here) && chdir(test_directory) == 0);
    CHECK(larder_open("relative.larder", &options, &shared_cache, &error) == LARDER_OK, "%s", error.detail);
    CHECK(set(shared_cache, "parent", "was here") == LARDER_OK);
    pid_t child = fork_child();
    if (child == 0) {
        setsid();
        if (fork()) {
            _exit(0);
        }
        CHILD_CHECK(chdir("/") == 0);
        note->pid = getpid();
        CHILD_CHECK(is(shared_cache, "parent", "was here"));
        CHILD_CHECK(set(shared_cache, "daemon", "is here") == LARDER_OK);
        advance(&note->stage);
        CHILD_CHECK(await(&note->stage, 2));
        CHILD_CHECK(is(shared_cache, "daemon", NULL)); /* the file was replaced */
        CHILD_CHECK(set(shared_cache, "daemon", "found the new file") == LARDER_OK);
        advance(&note->stage);
        CHILD_CHECK(await(&note->stage, 4));
        larder_close(shared_cache);
        _exit(0);
    }
    CHECK(exited_well(child));
    CHECK(chdir(here) == 0);
    CHECK(await(&note->stage, 1) && is(shared_cache, "daemon", "is here"));
    CHECK(process_count_is(shared_cache, 2));
    lard_map_supersede(shared_cache->core->map);
    CHECK(set(shared_cache, "parent", "is back") == LARDER_OK);
    advance(&note->stage);
    CHECK(await(&note->stage, 3) && is(shared_cache, "daemon", "found the new file"));
    CHECK(process_count_is(shared_cache, 2));
    advance(&note->stage);
    end();
}

static uint32_t read_word(off_t at) {
    uint32_t word = 0xffffffffu;
    int fd = open(test_path("t.larder"), O_RDONLY);
    if (pread(fd, &word, sizeof word, at) != sizeof word) {
        word = 0xffffffffu;
    }
    close(fd);
    return word;
}

static void write_after_the_parent_left(void *unused) {
    (void)unused;
    CHILD_CHECK(await(&note->stage, 1));
    CHILD_CHECK(is(shared_cache, "k", "v"));
    CHILD_CHECK(set(shared_cache, "k", "w") == LARDER_OK);
    note->answer = read_word(LARD_CONTROL_OFFSET + offsetof(lard_control, clean));
}

/* Else a crash of the machine would bring back what the child had deleted. */
static void a_child_that_stays_takes_the_clean_mark_off(void) {
    begin(1 << 20);
    CHECK(set(shared_cache, "k", "v") == LARDER_OK);
    pid_t pid = fork_child();
    if (pid == 0) {
        write_after_the_parent_left(NULL);
        _exit(0);
    }
    larder_close(shared_cache);
    CHECK(read_word(LARD_CONTROL_OFFSET + offsetof(lard_control, clean)) == LARD_CLEAN);
    advance(&note->stage);
    CHECK(exited_well(pid));
    CHECK(note->answer == 0, "the file is marked clean while a child writes to it");
    munmap(note, sizeof *note);
}

static void store_at_once(void *unused) {
    (void)unused;
    CHILD_CHECK(set(shared_cache, "k", "of the child") == LARDER_OK);
}

static void a_child_of_a_process_that_waits(void) {
    begin(4 << 20);
    CHECK(set(shared_cache, "k", "v") == LARDER_OK && truncate(test_path("t.larder"), 0) == 0);
    for (int i = 0; i < 2000 && shared_cache->core->faults == 0; i++) {
        set(shared_cache, "it is noticed", "by a call");
    }
    CHECK(set(shared_cache, "k", "of the parent") == LARDER_OK);
    shared_cache->core->retry_attach_ms = lard_clock_monotonic_ms() + 600000; /* as after forty faults */
    CHECK(in_child(store_at_once, NULL));
    CHECK(is(shared_cache, "k", "of the child"));
    end();
}

static bool stop_threads;

static void *hammer(void *number) {
    char key[32], value[200];
    uint64_t state = (uint64_t)(uintptr_t)number;
    memset(value, 'x', sizeof value);
    while (!__atomic_load_n(&stop_threads, __ATOMIC_RELAXED)) {
        uint64_t random = next_random(&state);
        snprintf(key, sizeof key, "key %d", (int)(random % 500));
        if (random >> 63) {
            set_bytes(shared_cache, key, value, random % sizeof value, 0);
        } else {
            char out[200];
            larder_get(shared_cache, key, strlen(key), out, sizeof out, NULL, NULL);
        }
    }
    return NULL;
}

/* On a busy machine the parent's threads may have a lock for longer than a store waits, once or twice; for ever
 * they have only one that was left locked. */
static larder_status set_in_the_end(larder *cache, const char *key, const char *value) {
    larder_status status = LARDER_BUSY;
    for (int attempt = 0; attempt < 50 && status == LARDER_BUSY; attempt++) {
        status = set(cache, key, value);
    }
    return status;
}

static void use_it_in_a_child(void *number) {
    char key[32];
    snprintf(key, sizeof key, "child %d", *(int *)number);
    bool seen = false;
    for (int attempt = 0; attempt < 20 && !seen; attempt++) { /* the parent's threads may evict it at once */
        CHILD_CHECK(set_in_the_end(shared_cache, key, key) == LARDER_OK);
        seen = is(shared_cache, key, key);
    }
    CHILD_CHECK(seen);
    larder_delete(shared_cache, key, strlen(key), NULL);
    CHILD_CHECK(is(shared_cache, key, NULL));
    larder_close(shared_cache);
}

static void forks_while_threads_are_inside(void) {
    enum { THREADS = 3, FORKS = 60 };
    pthread_t threads[THREADS];
    begin(4 << 20);
    stop_threads = false;
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, hammer, (void *)(uintptr_t)(i + 1)) == 0);
    }
    int failed = 0;
    for (int i = 0; i < FORKS; i++) {
        failed += !in_child(use_it_in_a_child, &i);
    }
    __atomic_store_n(&stop_threads, true, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK(failed == 0, "%d of %d children", failed, FORKS);
    CHECK(process_count_is(shared_cache, 1) && sound(shared_cache));
    end();
}

static const test_case tests[] = {
    TEST(each_generation_has_a_slot, "children and grandchildren have slots of their own"),
    TEST(a_parent_stays_attached, "a parent stays attached however its children end"),
    TEST(a_daemon_goes_on, "a daemon in another directory goes on, also to a new file"),
    TEST(a_child_that_stays_takes_the_clean_mark_off,
         "a child that outlives the closing parent takes the clean mark off"),
    TEST(a_child_of_a_process_that_waits, "a child does not wait for its parent's next attempt to attach"),
    TEST(forks_while_threads_are_inside, "children forked while threads are inside the engine can use it"),
};
RUN("fork", tests)
