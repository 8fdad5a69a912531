/*
 * process_test.c — checks process slots: which process is attached, which is alive, whose lock may be taken over.
 */
#include "attached.h"

static void die_in_the_lock(void *shard) {
    lard_map *map = lard_enter(shared_cache->core);
    lard_view view = lard_view_of(map, *(uint32_t *)shard);
    CHILD_CHECK(lard_shard_lock(shared_cache->core, &view, NULL) == LARDER_OK);
    write_down(1);
    lard_store(&view.header->moves, 1); /* in the middle of something */
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
    CHILD_CHECK(shared_cache->core->slot == *(uint32_t *)dead_slot);
    CHILD_CHECK(shared_cache->core->map->owner_word != note->words[1]);
}

static void sit_there(void *dead_slot) { /* attached by reading; writes nothing */
    CHILD_CHECK(is(shared_cache, "k", "v"));
    CHILD_CHECK(shared_cache->core->slot == *(uint32_t *)dead_slot);
    advance(&note->stage);
    CHILD_CHECK(await(&note->stage, 2));
}

/* A lock left by the dead is not held by the living one that has its slot now, nor taken for its own by it. */
static void a_new_process_in_a_dead_ones_slot(void) {
    begin(1 << 20);
    CHECK(set(shared_cache, "k", "v") == LARDER_OK);
    killed_in_the_lock(0);
    uint32_t dead = note->slots[1];
    CHECK(dead != shared_cache->core->slot);
    lard_store(&shared_cache->core->map->processes[dead].pid, 0); /* so that it is the next one to be given away */
    CHECK(in_child(take_over, &dead), "in the dead one's slot");
    CHECK(is(shared_cache, "by", "the new one"));

    killed_in_the_lock(0);
    dead = note->slots[1];
    lard_store(&shared_cache->core->map->processes[dead].pid, 0);
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
    lard_shard *header = lard_view_of(shared_cache->core->map, 0).header;
    uint32_t words[] = {
        lard_process_owner_word(shared_cache->core->slot,
                                shared_cache->core->incarnation - 1), /* this slot's last owner */
        lard_process_owner_word(shared_cache->core->slot, shared_cache->core->incarnation + 1), /* one to come */
        lard_process_owner_word(17, 1),   /* a slot never claimed */
        lard_process_owner_word(4000, 1), /* a slot that is not there */
        0x80000000u,                      /* waiters, no owner */
        0x00000fffu,
        0xffffffffu,
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        uint64_t before = repairs(shared_cache);
        lard_store(&header->lock, words[i]);
        CHECK(set(shared_cache, "k", "v") == LARDER_OK, "lock word %08x", words[i]);
        CHECK(lard_load(&header->lock) == 0 && repairs(shared_cache) == before + 1, "lock word %08x", words[i]);
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
    CHILD_CHECK(strstr(error.detail, "t.larder") && strstr(error.detail, "2 MiB have room for more than its 60"));
    CHILD_CHECK(strstr(larder_status_text(error.status), "larder resize"));
}

/* As a command of an operator does. */
static void use_what_is_there(void *unused) {
    larder *mine = NULL;
    larder_stats stats;
    larder_options options = {.existing = 1};
    (void)unused;
    larder_close(shared_cache);
    CHILD_CHECK(larder_open(test_path("t.larder"), &options, &mine, NULL) == LARDER_OK);
    CHILD_CHECK(set(mine, "k", "v") == LARDER_OK && is(mine, "k", "v"));
    CHILD_CHECK(larder_delete(mine, "k", 1, NULL) == LARDER_OK && larder_get_stats(mine, &stats) == LARDER_OK);
    CHILD_CHECK(stats.processes == 61 && stats.process_room == 60);
    larder_close(mine);
}

static void find_one(void *unused) {
    (void)unused;
    CHILD_CHECK(set(shared_cache, "k", "w") == LARDER_OK);
}

static void slots_may_all_be_taken(void) {
    enum { SLOTS = 60 };
    pid_t pids[SLOTS];
    begin(1 << 20);
    CHECK(shared_cache->core->map->super.process_slots == SLOTS + 4 && set(shared_cache, "k", "v") == LARDER_OK);
    for (int i = 1; i < SLOTS; i++) {
        if ((pids[i] = fork_child()) == 0) {
            hold_a_slot(NULL);
            _exit(0);
        }
    }
    bool all = await(&note->stage, SLOTS - 1) && process_count_is(shared_cache, SLOTS);
    bool refused = all && in_child(find_none, NULL);
    bool used = all && in_child(use_what_is_there, NULL);
    kill(pids[30], SIGKILL);
    wait_for(pids[30]);
    bool again = in_child(find_one, NULL);
    __atomic_store_n(&note->stage, 1000, __ATOMIC_RELEASE);
    for (int i = 1; i < SLOTS; i++) {
        CHECK(i == 30 || exited_well(pids[i]));
    }
    CHECK(all && refused && used && again && is(shared_cache, "k", "w"));
    CHECK(process_count_is(shared_cache, 1) && sound(shared_cache));
    end();
}

static const test_case tests[] = {
    TEST(a_dead_owners_shard_is_taken_over, "a dead owner's shard is written again within 20 ms"),
    TEST(a_new_process_in_a_dead_ones_slot, "a new process in a dead one's slot does not keep its locks"),
    TEST(forged_locks_are_repaired, "a lock word of no living process is repaired"),
    TEST(slots_may_all_be_taken,
         "where all slots are taken the next process fails, gets one that is left, and may use the file as it is"),
};
RUN("process", tests)
