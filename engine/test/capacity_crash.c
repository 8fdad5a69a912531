/*
 * capacity_crash.c — checks that thousands of deaths in one file take no capacity from it.
 *
 * Afterwards as many items and large values fit as before, all process slots can be claimed, and the file has the
 * same size. The cache is not cleared in between, because that would hide a loss.
 */
#include "operations_large.h"
#include "operations_plain.h"
#include "operations_shape.h"

enum { ITEM = 300, SIZE_BYTES = 2 << 20, DEATHS_QUICK = 1500, DEATHS_FULL = 15000 };

static const operation empties = {.name = "none", .may_leave = true};

static const operation *any_operation(uint64_t random) {
    unsigned plain = sizeof plain_operations / sizeof *plain_operations;
    unsigned large = sizeof large_operations / sizeof *large_operations;
    unsigned pick = (unsigned)(random % (plain + large + 6));
    return pick < plain           ? &plain_operations[pick]
           : pick < plain + large ? &large_operations[pick - plain]
                                  : &shape_operations[pick - plain - large]; /* the evicting ones */
}

/* Sets a small queue of 1 %, in which every read counts, and clears the shadow caches, so that they do not change
 * it: the test measures room, not which items stay. */
static void set_eviction(void) {
    lard_shard_hints *hints = cache->core->map->dircache[0].hints;
    memset(hints->shadows, 0, sizeof hints->shadows);
    lard_store(&lard_view_of(cache->core->map, 0).header->small_share, 65536 / 100);
}

/* Stores new items, three times as many as there are bytes for: how many of them are there then. */
static int that_fit(size_t bytes) {
    static char value[LARGE + 1];
    static int filling;
    char key[32];
    int count = (int)(SIZE_BYTES / bytes * 3), fit = 0;
    set_eviction();
    memset(value, 'c', bytes);
    value[bytes] = '\0';
    filling++;
    for (int i = 0; i < count; i++) {
        snprintf(key, sizeof key, "item %d/%d", filling, i);
        set(cache, key, value);
        get(cache, key); /* so that none of what was there before is kept in its place */
        get(cache, key);
    }
    for (int i = 0; i < count; i++) {
        snprintf(key, sizeof key, "item %d/%d", filling, i);
        fit += larder_exists(cache, key, strlen(key), NULL, NULL) == LARDER_OK;
    }
    return fit;
}

static bool die_once(uint64_t *random) {
    bool hung;
    unsigned long bound = next_random(random) % 3 ? 50 : 1500;
    op = any_operation(next_random(random));
    book->round++;
    if (next_random(random) % 8 == 0) { /* what was read does not leave at once */
        char key[32];
        snprintf(key, sizeof key, "item 3/%d", (int)(next_random(random) % 1000));
        get(cache, key);
    }
    put(cache, before());
    ended(killed_in(op->act, 1 + next_random(random) % bound), &hung);
    return !hung || is_wrong("%s: it hangs, or fails", op->name);
}

/* All process slots of applications are claimed at the same time. */
static bool all_slots_can_be_had(void) {
    enum { SLOTS = 124 };
    pid_t pids[SLOTS];
    int pipes[2], had = 0;
    char byte;
    if (pipe(pipes) != 0 || lard_process_room(cache->core->map) != SLOTS) {
        return false;
    }
    for (int i = 0; i < SLOTS - 1; i++) {
        pids[i] = fork_child();
        if (pids[i] == 0) {
            byte = set(cache, "slot", "had") == LARDER_OK ? 'y' : 'n';
            (void)!write(pipes[1], &byte, 1);
            pause();
        }
    }
    for (int i = 0; i < SLOTS - 1; i++) {
        had += read(pipes[0], &byte, 1) == 1 && byte == 'y';
    }
    for (int i = 0; i < SLOTS - 1; i++) {
        kill(pids[i], SIGKILL);
        wait_for(pids[i]);
    }
    close(pipes[0]);
    close(pipes[1]);
    return had == SLOTS - 1 || is_wrong("%d of %d slots", had, SLOTS - 1);
}

static void nothing_is_lost(void) {
    struct stat file_before, file_after;
    uint64_t random = 42;
    begin_tally();
    book->ring = RING;
    book->may_leave = true;
    op = &empties;
    cache = open_seeded(SIZE_BYTES, 99);
    CHECK(cache && stat(test_path("t.larder"), &file_before) == 0);
    cache->core->lock_timeout_ms = 10000;
    that_fit(ITEM); /* the index grows to what it needs */
    int large_before = that_fit(LARGE), before_it = that_fit(ITEM);
    unsigned long deaths = is_full() ? DEATHS_FULL : DEATHS_QUICK;
    for (int i = 0; sum->killed < deaths; i++) {
        CHECK(die_once(&random), "%s", book->wrong);
        CHECK(i % 100 != 0 || sound(cache), "after %lu deaths", sum->killed);
    }
    CHECK(set(cache, "afterwards", "written") == LARDER_OK && sound(cache));
    int large_after = that_fit(LARGE), after_it = that_fit(ITEM);
    CHECK(large_after >= large_before * 90 / 100, "%d large values fit, %d before", large_after, large_before);
    CHECK(after_it >= before_it * 97 / 100, "%d items fit, %d before", after_it, before_it);
    CHECK(all_slots_can_be_had(), "%s", book->wrong);
    CHECK(stat(test_path("t.larder"), &file_after) == 0 && file_after.st_size == file_before.st_size &&
          file_after.st_blocks == file_before.st_blocks);
    larder_close(cache);
    printf("@ %lu deaths in one file, at random stores of all operations\n", sum->killed);
    printf("@note Before them %d items of %d bytes fit, and %d of %d; after them %d and %d\n", before_it, ITEM,
           large_before, LARGE, after_it, large_after);
}

static const test_case tests[] = {
    TEST(nothing_is_lost, "thousands of deaths leave room for as many items, and as many processes, as before"),
};
RUN("room after deaths", tests)
