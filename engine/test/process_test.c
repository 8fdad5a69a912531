/*
 * process_test.c — forks, slots and deaths: who is attached, who is alive, and whose
 * lock may be taken over.
 */
#include "children.h"

#include <pthread.h>

static bool process_count_is(larder *cache, uint64_t want) {
    larder_stats stats;
    larder_status status = larder_get_stats(cache, &stats);
    if (status != LARDER_OK || stats.processes != want) {
        fprintf(stderr, "  %llu processes attached\n", (unsigned long long)stats.processes);
        return false;
    }
    return true;
}

typedef struct {
    uint32_t stage;
    uint32_t slots[8];
    uint32_t words[8];
    pid_t pid;
    uint32_t answer;
} notes;

static larder *shared_cache;
static notes *note;

static void begin(uint64_t size_bytes) {
    shared_cache = open_cache(size_bytes);
    note = shared_memory(sizeof *note);
}

static void end(void) {
    larder_close(shared_cache);
    munmap(note, sizeof *note);
}

static void write_down(int who) {
    note->slots[who] = shared_cache->slot;
    note->words[who] = shared_cache->owner_word;
}

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
    CHECK(shared_cache->slot == note->slots[4] && process_count_is(shared_cache, 1));
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
    CHILD_CHECK(shared_cache->slot != note->slots[0]);
    CHILD_CHECK(lard_process_alive(shared_cache, shared_cache->map, note->words[0]));
}

static void a_parent_stays_attached(void) {
    begin(1 << 20);
    CHECK(set(shared_cache, "parent", "stays") == LARDER_OK);
    write_down(0);
    for (int how = 0; how < 3; how++) {
        CHECK(in_child(end_somehow, &how), "way %d", how);
        CHECK(in_child(look_from_outside, NULL), "after a child that ended in way %d", how);
        CHECK(shared_cache->slot == note->slots[0] && is(shared_cache, "child", "was here"));
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
    lard_file_mark_superseded(shared_cache->map);
    CHECK(set(shared_cache, "parent", "is back") == LARDER_OK);
    advance(&note->stage);
    CHECK(await(&note->stage, 3) && is(shared_cache, "daemon", "found the new file"));
    CHECK(process_count_is(shared_cache, 2));
    advance(&note->stage);
    end();
}

static void die_in_the_lock(void *shard) {
    lard_map *map = lard_enter(shared_cache);
    lard_view view = lard_view_of(map, *(uint32_t *)shard);
    CHILD_CHECK(lard_shard_lock(shared_cache, &view, NULL) == LARDER_OK);
    write_down(1);
    lard_store(&view.head->moves, 1); /* in the middle of something */
    kill(getpid(), SIGKILL);
}

static void killed_in_the_lock(uint32_t shard) {
    pid_t pid = fork_child();
    if (pid == 0) {
        die_in_the_lock(&shard);
    }
    wait_for(pid);
}

static uint64_t repairs(larder *cache) {
    larder_stats stats;
    return larder_get_stats(cache, &stats) == LARDER_OK ? stats.repairs : 0;
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void a_dead_owners_shard_is_taken_over(void) {
    enum { ROUNDS = 31 };
    int64_t times[ROUNDS];
    begin(1 << 20);
    CHECK(set(shared_cache, "k", "v") == LARDER_OK);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t before = repairs(shared_cache);
        killed_in_the_lock(0);
        int64_t start = now_us();
        CHECK(set(shared_cache, "k", "again") == LARDER_OK);
        times[i] = now_us() - start;
        CHECK(repairs(shared_cache) == before + 1);
    }
    qsort(times, ROUNDS, sizeof *times, by_size);
    printf("  a killed owner's shard was written after %.2f ms (median), %.2f (longest of %d)\n",
           (double)times[ROUNDS / 2] / 1000, (double)times[ROUNDS - 1] / 1000, ROUNDS);
    CHECK(times[ROUNDS / 2] < 20000);
    CHECK(is(shared_cache, "k", "again") && sound(shared_cache));
    end();
}

static void take_over(void *dead_slot) {
    CHILD_CHECK(set(shared_cache, "by", "the new one") == LARDER_OK);
    CHILD_CHECK(shared_cache->slot == *(uint32_t *)dead_slot);
    CHILD_CHECK(shared_cache->owner_word != note->words[1]);
}

static void sit_there(void *dead_slot) { /* attached by reading; writes nothing */
    CHILD_CHECK(is(shared_cache, "k", "v"));
    CHILD_CHECK(shared_cache->slot == *(uint32_t *)dead_slot);
    advance(&note->stage);
    CHILD_CHECK(await(&note->stage, 2));
}

/* A lock left by the dead is not held by the living one that has its slot now, nor taken for its own by it. */
static void a_new_process_in_a_dead_ones_slot(void) {
    begin(1 << 20);
    CHECK(set(shared_cache, "k", "v") == LARDER_OK);
    killed_in_the_lock(0);
    uint32_t dead = note->slots[1];
    CHECK(dead != shared_cache->slot);
    lard_store(&shared_cache->map->processes[dead].pid, 0); /* so that it is the next one to be given away */
    CHECK(in_child(take_over, &dead), "in the dead one's slot");
    CHECK(is(shared_cache, "by", "the new one"));

    killed_in_the_lock(0);
    dead = note->slots[1];
    lard_store(&shared_cache->map->processes[dead].pid, 0);
    pid_t pid = fork_child();
    if (pid == 0) {
        sit_there(&dead);
        _exit(0);
    }
    CHECK(await(&note->stage, 1));
    CHECK(set(shared_cache, "by", "a third one") == LARDER_OK, "while the slot is taken again");
    CHECK(repairs(shared_cache) == 2);
    advance(&note->stage);
    CHECK(exited_well(pid) && sound(shared_cache));
    end();
}

static void forged_locks_are_repaired(void) {
    begin(1 << 20);
    lard_shard *head = lard_view_of(shared_cache->map, 0).head;
    uint32_t words[] = {
        lard_owner_word(shared_cache->slot, shared_cache->incarnation - 1), /* this slot's last owner */
        lard_owner_word(shared_cache->slot, shared_cache->incarnation + 1), /* one to come */
        lard_owner_word(17, 1),                                             /* a slot never claimed */
        lard_owner_word(4000, 1),                                           /* a slot that is not there */
        0x80000000u,                                                        /* waiters, no owner */
        0x00000fffu,
        0xffffffffu,
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        uint64_t before = repairs(shared_cache);
        lard_store(&head->lock, words[i]);
        CHECK(set(shared_cache, "k", "v") == LARDER_OK, "lock word %08x", words[i]);
        CHECK(lard_load(&head->lock) == 0 && repairs(shared_cache) == before + 1, "lock word %08x", words[i]);
    }
    CHECK(sound(shared_cache));
    end();
}

static void hold_a_slot(void *unused) {
    (void)unused;
    CHILD_CHECK(is(shared_cache, "k", "v"));
    advance(&note->stage);
    CHILD_CHECK(await(&note->stage, 1000));
}

static void find_none(void *unused) {
    larder *mine = NULL;
    larder_error error;
    (void)unused;
    CHILD_CHECK(is(shared_cache, "k", NULL)); /* the inherited handle serves misses and refusals */
    CHILD_CHECK(set(shared_cache, "k", "w") != LARDER_OK);
    CHILD_CHECK(larder_delete(shared_cache, "k", 1, NULL) != LARDER_OK);
    larder_close(shared_cache);
    CHILD_CHECK(larder_open(test_path("t.larder"), NULL, &mine, &error) == LARDER_NO_SLOT);
    CHILD_CHECK(strstr(error.detail, "t.larder") && strstr(error.detail, "64"));
}

static void find_one(void *unused) {
    (void)unused;
    CHILD_CHECK(set(shared_cache, "k", "w") == LARDER_OK);
}

static void slots_may_all_be_taken(void) {
    enum { SLOTS = 64 };
    pid_t pids[SLOTS];
    begin(1 << 20);
    CHECK(shared_cache->map->super.process_slots == SLOTS && set(shared_cache, "k", "v") == LARDER_OK);
    for (int i = 1; i < SLOTS; i++) {
        if ((pids[i] = fork_child()) == 0) {
            hold_a_slot(NULL);
            _exit(0);
        }
    }
    bool all = await(&note->stage, SLOTS - 1) && process_count_is(shared_cache, SLOTS);
    bool refused = all && in_child(find_none, NULL);
    kill(pids[30], SIGKILL);
    wait_for(pids[30]);
    bool again = in_child(find_one, NULL);
    __atomic_store_n(&note->stage, 1000, __ATOMIC_RELEASE);
    for (int i = 1; i < SLOTS; i++) {
        CHECK(i == 30 || exited_well(pids[i]));
    }
    CHECK(all && refused && again && is(shared_cache, "k", "w"));
    CHECK(process_count_is(shared_cache, 1) && sound(shared_cache));
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
    CHECK(read_word(LARD_CONTROL_OFFSET + offsetof(lard_control, clean)) == 1);
    advance(&note->stage);
    CHECK(exited_well(pid));
    CHECK(note->answer == 0, "the file is marked clean while a child writes to it");
    munmap(note, sizeof *note);
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

static void use_it_in_a_child(void *number) {
    char key[32];
    snprintf(key, sizeof key, "child %d", *(int *)number);
    bool seen = false;
    for (int attempt = 0; attempt < 20 && !seen; attempt++) { /* the parent's threads may evict it at once */
        CHILD_CHECK(set(shared_cache, key, key) == LARDER_OK);
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
    TEST(a_dead_owners_shard_is_taken_over, "a dead owner's shard is written again within 20 ms"),
    TEST(a_new_process_in_a_dead_ones_slot, "a new process in a dead one's slot does not keep its locks"),
    TEST(forged_locks_are_repaired, "a lock word of no living process is repaired"),
    TEST(slots_may_all_be_taken,
         "where all slots are taken the next process is told so, and gets one that is left"),
    TEST(a_child_that_stays_takes_the_clean_mark_off,
         "a child that outlives the closing parent takes the clean mark off"),
    TEST(forks_while_threads_are_inside, "children forked while threads are inside the engine can use it"),
};
RUN("process", tests)
