/*
 * calls_use_test.c — reads, writes, forks, waits and closes while system and library calls fail.
 */
#include "attempts.h"

#include <sys/prctl.h>

enum { ANSWERS = 16 };
static larder_status answers[ANSWERS];
static int64_t sum;

static void open_and_store(void) {
    MUST(open_at(cache_path) == LARDER_OK);
    store_survivors();
}

static void scene_of(const char *name, void (*before)(void), void (*act)(void), void (*after)(void), int values) {
    begin_attempts("t.larder");
    scenario scene = {.name = name, .before = before, .act = act, .after = after, .values = values};
    play_all(&scene);
}

/* Everything that needs no other process */

static void store_expired(void) {
    larder_call earlier = {.now_ms = lard_clock_ms() - 60000};
    larder_store store = {.key = "expired", .key_bytes = 7, .value = "old", .value_bytes = 3, .ttl_ms = 1000};
    open_and_store();
    MUST(larder_set(cache, &store, &earlier) == LARDER_OK && set(cache, "text", "one") == LARDER_OK);
}

static void use_everything(void) {
    static unsigned char large[LARGE], keys[8192];
    larder_store swap = {.key = "text", .key_bytes = 4, .value = "two", .value_bytes = 3};
    larder_stats stats;
    larder_report report;
    uint64_t cursor = 0;
    size_t count, used;
    larder_status *answer = answers;
    describe(large, LARGE, 77, 7);
    hurry();
    *answer++ = set(cache, "small", "value");
    hurry();
    *answer++ = set_bytes(cache, "large", large, LARGE, 60000);
    hurry();
    *answer++ = larder_cas(cache, &swap, "one", 3, NULL);
    *answer++ = larder_increment(cache, "sum", 3, 5, 0, 60000, &sum, NULL);
    *answer++ = larder_touch(cache, "small", 5, 60000, NULL);
    *answer++ = larder_exists(cache, "small", 5, NULL, NULL);
    *answer++ = larder_get(cache, "expired", 7, keys, sizeof keys, NULL, NULL);
    *answer++ = larder_scan(cache, &cursor, "", 0, keys, sizeof keys, &count, &used, NULL);
    *answer++ = larder_get_stats(cache, &stats);
    *answer++ = larder_verify(cache, &report);
    hurry();
    *answer++ = larder_prune(cache, NULL, NULL);
    *answer++ = larder_delete(cache, "small", 5, NULL);
}

static void look_at_everything(void) {
    static unsigned char want[LARGE], have[LARGE];
    larder_item item;
    for (int i = 0; i < 12; i++) {
        bool may_lack_memory = i == 2 && answers[i] == LARDER_NO_MEMORY && failed_at(CALL_malloc);
        MUST(answers[i] == (i == 6 ? LARDER_MISS : LARDER_OK) || may_lack_memory);
    }
    describe(want, LARGE, 77, 7);
    MUST(larder_get(cache, "large", 5, have, LARGE, &item, NULL) == LARDER_OK && item.size_bytes == LARGE &&
         memcmp(want, have, LARGE) == 0);
    MUST(is(cache, "small", NULL) && is(cache, "sum", "5") && sum == 5);
    MUST(is(cache, "text", answers[2] == LARDER_OK ? "two" : "one"));
}

static void everything(void) {
    scene_of("all operations", store_expired, use_everything, look_at_everything, SURVIVE_ALL);
}

/* As in a file on a disk: the chunks are written by pwritev(2), or by stores where that cannot be used. */
static void store_by_pwritev(void) {
    static unsigned char large[LARGE];
    describe(large, LARGE, 78, 8);
    cache->core->map->is_on_disk = true;
    hurry();
    answers[0] = set_bytes(cache, "large", large, LARGE, 60000);
}

static bool called(int kind) {
    bool found = false;
    for (unsigned long i = 1; i <= plan->calls.count; i++) {
        found |= plan->calls.kind[i] == kind;
    }
    return found;
}

static void look_at_long_record(void) {
    static unsigned char want[LARGE], have[LARGE];
    larder_item item;
    describe(want, LARGE, 78, 8);
    MUST(answers[0] == LARDER_OK && (plan->at || (called(CALL_statx) && called(CALL_pwritev))));
    MUST(larder_get(cache, "large", 5, have, LARGE, &item, NULL) == LARDER_OK && item.size_bytes == LARGE &&
         memcmp(want, have, LARGE) == 0);
}

static void long_records(void) {
    scene_of("long records by pwritev", open_and_store, store_by_pwritev, look_at_long_record, SURVIVE_ALL);
}

static void clear_it(void) { answers[0] = larder_clear(cache); }
static void look_at_cleared(void) { MUST(answers[0] == LARDER_OK && count_survivors() == 0); }
static void a_clear(void) { scene_of("a clear", open_and_store, clear_it, look_at_cleared, MUST_FORGET); }

/* Attaching anew */

static void read_and_write(void) {
    answers[0] = larder_exists(cache, "survivor 1", 10, NULL, NULL);
    answers[1] = set(cache, "gone", "new");
    answers[2] = larder_delete(cache, "survivor 2", 10, NULL);
}

static bool is_refusal(larder_status answer) {
    return answer == LARDER_SYSTEM || answer == LARDER_NO_MEMORY || answer == LARDER_NO_SPACE ||
           answer == LARDER_LOCKED || answer == LARDER_SUPERSEDED || answer == LARDER_DAMAGED ||
           answer == LARDER_NO_SLOT;
}

/* What was acknowledged is so for all, and what was refused leaves no old value. */
static void look_at_writes(void) {
    hurry();
    MUST(answers[0] == LARDER_OK || answers[0] == LARDER_MISS);
    MUST(answers[1] == LARDER_OK || is_refusal(answers[1]));
    MUST(is(cache, "gone", answers[1] == LARDER_OK ? "new" : NULL));
    MUST(answers[2] == LARDER_OK || answers[2] == LARDER_MISS || is_refusal(answers[2]));
    MUST(is(cache, "survivor 2", NULL)); /* what was refused is applied when it attaches */
    hurry();
    larder_delete(cache, "gone", 4, NULL);
    MUST(is(cache, "gone", NULL));
}

/* The process that goes on is the child; its parent ends as the child does. */
static void become_a_child(bool parent_closes) {
    uint32_t *stage = shared_memory(sizeof *stage);
    open_and_store();
    fflush(NULL);
    pid_t pid = fork();
    MUST(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        MUST(await(stage, 1));
        munmap(stage, sizeof *stage);
        return;
    }
    if (parent_closes) {
        larder_close(cache);
    }
    advance(stage);
    int end = wait_within(pid, 2 * LONGEST_MS);
    _exit(end != -1 && WIFEXITED(end) ? WEXITSTATUS(end) : 1);
}

static void become_a_child_of_a_user(void) { become_a_child(false); }
static void become_a_child_of_one_who_left(void) { become_a_child(true); }

static void a_forked_child(void) {
    scene_of("a forked child", become_a_child_of_a_user, read_and_write, look_at_writes, MAY_FORGET);
}

/* Who writes to a file that is marked clean could bring values back by a crash of the machine. */
static void look_at_clean_mark(void) {
    MUST(answers[1] != LARDER_OK || !lard_load(&cache->core->map->control->clean));
    look_at_writes();
}

static void a_child_whose_parent_left(void) {
    scene_of("a child whose parent closed the cache", become_a_child_of_one_who_left, read_and_write,
             look_at_clean_mark, MAY_FORGET);
}

static void mark_it(void) {
    open_and_store();
    lard_map_supersede(cache->core->map);
}

static void a_superseded_file(void) {
    scene_of("a file superseded while it is used", mark_it, read_and_write, look_at_writes, MUST_FORGET);
}

static void move_on(void) {
    uint32_t *stage = meanwhile;
    char lock[600];
    snprintf(lock, sizeof lock, "%s.lock", cache_path);
    MUST(unlink(lock) == 0 && open_at(cache_path) == LARDER_OK);
    advance(stage);
    MUST(await(stage, 2));
    MUST(is(cache, "of the neighbour", "neighbour"));
    larder_close(cache);
}

static void stay_behind(void) {
    open_and_store();
    larder *mine = cache;
    fflush(NULL);
    companion = fork_child();
    if (companion == 0) {
        larder_close(cache);
        move_on();
        _exit(0);
    }
    MUST(await(meanwhile, 1));
    cache = mine;
}

static void a_new_lock_file(void) {
    scene_of("another process moved on to a new lock file", stay_behind, read_and_write, look_at_writes,
             MUST_FORGET);
}

static void remove_it(void) {
    open_and_store();
    MUST(unlink(cache_path) == 0);
}

static void remove_it_before_the_next_look(void) {
    remove_it();
    hurry();
}

static void read_and_write_before_the_next_look(void) {
    read_and_write();
    hurry();
}

/* A store may come before the removal is noticed. The first call that looks at the path notices it. */
static void look_at_late_writes(void) {
    hurry();
    larder_delete(cache, "nothing", 7, NULL);
    MUST(lard_map_is_at(cache->core->map, cache_path));
    if (answers[1] == LARDER_OK && is(cache, "gone", NULL)) {
        answers[1] = LARDER_SUPERSEDED;
    }
    look_at_writes();
}

static void a_removed_file(void) {
    scene_of("a file removed while it is used", remove_it_before_the_next_look, read_and_write,
             look_at_late_writes, MUST_FORGET);
}

static void a_file_removed_after_a_look(void) {
    scene_of("a file removed right after a look at it", remove_it, read_and_write_before_the_next_look,
             look_at_late_writes, MUST_FORGET);
}

static void cut_it(void) {
    open_and_store();
    MUST(truncate(cache_path, 0) == 0);
}

static void a_cut_file(void) {
    begin_attempts("t.larder");
    scenario scene = {.name = "a file cut while it is used",
                      .before = cut_it,
                      .act = read_and_write,
                      .after = look_at_writes,
                      .values = MUST_FORGET,
                      .may_die = true};
    play_all(&scene);
}

/* Waiting */

static void hold_the_lock(void) {
    lard_view view = lard_view_of(lard_enter(cache->core), 0);
    MUST(lard_shard_lock(cache->core, &view, NULL) == LARDER_OK);
    advance(meanwhile);
    for (;;) {
        sleep_us(1000000);
    }
}

static void let_a_child_hold_the_lock(void) {
    open_and_store();
    companion = fork_child();
    if (companion == 0) {
        hold_the_lock();
    }
    MUST(await(meanwhile, 1));
}

static void let_a_dead_child_hold_the_lock(void) {
    let_a_child_hold_the_lock();
    kill(companion, SIGKILL);
    wait_for(companion);
    companion = 0;
}

static void write_and_read(void) {
    answers[0] = set(cache, "small", "value");
    answers[1] = larder_exists(cache, "survivor 1", 10, NULL, NULL);
}

static void look_at_refusal(void) {
    kill(companion, SIGKILL);
    wait_for(companion);
    companion = 0;
    MUST(answers[0] == LARDER_BUSY && answers[1] == LARDER_OK && is(cache, "small", NULL));
}

static void a_lock_of_the_living(void) {
    scene_of("a lock whose owner lives", let_a_child_hold_the_lock, write_and_read, look_at_refusal, SURVIVE_ALL);
}

static void look_at_repair(void) {
    MUST(answers[1] == LARDER_OK && (answers[0] == LARDER_OK || (answers[0] == LARDER_BUSY && plan->failed)));
    MUST(is(cache, "small", answers[0] == LARDER_OK ? "value" : NULL));
}

static void a_lock_of_the_dead(void) {
    scene_of("a lock whose owner is dead", let_a_dead_child_hold_the_lock, write_and_read, look_at_repair,
             SURVIVE_ALL);
}

/* Closing */

static void close_it(void) {
    larder_close(cache);
    cache = NULL;
}

static void closing(void) { scene_of("closing", open_and_store, close_it, NULL, SURVIVE_ALL); }

static void close_in_a_child(void) {
    scene_of("closing in a forked child", become_a_child_of_a_user, close_it, NULL, SURVIVE_ALL);
}

static const test_case tests[] = {
    TEST(everything, "every operation is done or the reason told"),
    TEST(long_records, "a long record is written, whichever call fails"),
    TEST(a_clear, "a clear is done"),
    TEST(a_forked_child, "a forked child attaches or is refused"),
    TEST(a_child_whose_parent_left, "a child never writes to a file that is marked clean"),
    TEST(a_superseded_file, "who uses a superseded file attaches anew or is refused"),
    TEST(a_new_lock_file, "who is left behind with an old lock file follows or is refused"),
    TEST(a_removed_file, "who uses a removed file attaches anew sooner or later"),
    TEST(a_file_removed_after_a_look, "a file removed right after a look at it is left at the next look"),
    TEST(a_cut_file, "who uses a cut file attaches anew or is refused"),
    TEST(a_lock_of_the_living, "a wait for the living ends"),
    TEST(a_lock_of_the_dead, "a lock of the dead is taken over or waited for in vain"),
    TEST(closing, "closing leaves nothing behind"),
    TEST(close_in_a_child, "closing in a child leaves its parent attached"),
    TEST(say_counts, "counts"),
};
RUN_CALLS("failing calls in use", tests)
