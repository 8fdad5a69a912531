/*
 * shard_test.c — checks a shard's lock: waits, timeouts, repairs and resets.
 */
#include "children.h"

#include <pthread.h>

enum { SIZE = 1 << 20 };

static larder *cache;

typedef struct {
    uint32_t stage;
} script;

static lard_view only_shard(void) { return lard_view_of(cache->core->map, 0); }

static void hold_until(script *play, uint32_t stage) {
    lard_map *map = lard_enter(cache->core);
    lard_view view = lard_view_of(map, 0);
    CHILD_CHECK(lard_shard_lock(cache->core, &view, NULL) == LARDER_OK);
    advance(&play->stage);
    CHILD_CHECK(await(&play->stage, stage));
    lard_shard_unlock(&view);
}

static pid_t start_holder(script *play, uint32_t until) {
    pid_t pid = fork_child();
    if (pid == 0) {
        hold_until(play, until);
        _exit(0);
    }
    return pid;
}

static void a_live_owner_is_waited_for_within_bounds(void) {
    script *play = shared_memory(sizeof *play);
    cache = open_cache(SIZE);
    CHECK(set(cache, "k", "old") == LARDER_OK && set(cache, "deleted", "old") == LARDER_OK);
    pid_t holder = start_holder(play, 2);
    CHECK(await(&play->stage, 1));

    larder_call only_try = {.flags = LARDER_CALL_TRY};
    larder_store store = {.key = "k", .key_bytes = 1, .value = "new", .value_bytes = 3};
    cache->core->lock_timeout_ms = 20000;
    int64_t start = now_us();
    CHECK(larder_set(cache, &store, &only_try) == LARDER_BUSY);
    static char large[100000];
    larder_store in_chunks = {.key = "k", .key_bytes = 1, .value = large, .value_bytes = sizeof large};
    CHECK(larder_set(cache, &in_chunks, &only_try) == LARDER_BUSY);
    CHECK(is(cache, "k", "old"), "a call that only tries and is refused changes nothing");
    CHECK(larder_touch(cache, "k", 1, 1000, &only_try) == LARDER_BUSY);
    CHECK(larder_increment(cache, "k", 1, 1, 0, 0, NULL, &only_try) == LARDER_BUSY);
    CHECK(now_us() - start < 5000000, "a call that only tries does not wait");
    CHECK(larder_delete(cache, "deleted", 7, &only_try) == LARDER_OK && is(cache, "deleted", NULL));
    cache->core->lock_timeout_ms = 200;

    start = now_us();
    CHECK(larder_set(cache, &store, NULL) == LARDER_BUSY);
    int64_t waited = now_us() - start;
    CHECK(waited >= 190000 && waited < 5000000, "%d us", (int)waited);
    CHECK(is(cache, "k", NULL), "a patient call that is refused leaves no old value");
    cache->core->lock_timeout_ms = 20000;
    start = now_us();
    CHECK(larder_set(cache, &store, NULL) == LARDER_BUSY);
    CHECK(now_us() - start < 5000000, "the same hold is not waited for twice");
    cache->core->lock_timeout_ms = 200;
    store.mode = LARDER_ADD;
    CHECK(larder_set(cache, &store, NULL) == LARDER_BUSY);
    CHECK(larder_cas(cache, &store, "old", 3, NULL) == LARDER_MISS);
    larder_stats stats;
    CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.refused == 3 && stats.lock_waits >= 3,
          "%d refused, %d waits", (int)stats.refused, (int)stats.lock_waits);
    advance(&play->stage);
    CHECK(exited_well(holder));
    CHECK(set(cache, "k", "new") == LARDER_OK && is(cache, "k", "new") && sound(cache));
    larder_close(cache);
    munmap(play, sizeof *play);
}

/* The lock as the same owner takes it again; with the mark of others that wait, if there are any. */
static lard_view held_again(lard_view view, bool marked) {
    uint32_t word;
    lard_shard_unlock(&view);
    while (!lard_shard_try(&view)) { /* unlike lard_shard_lock it forgets no wait */
    }
    word = lard_load(&view.header->lock);
    if (marked) {
        lard_cas32(&view.header->lock, &word, word | LARD_LOCK_WAITERS);
    }
    return view;
}

static void *store_patiently(void *status) {
    *(larder_status *)status = set(cache, "k", "new");
    return NULL;
}

static bool await_waits(uint64_t least) {
    larder_stats stats;
    for (int64_t until = now_us() + 20000000; now_us() < until; sleep_us(50)) {
        if (larder_get_stats(cache, &stats) == LARDER_OK && stats.lock_waits >= least) {
            return true;
        }
    }
    return false;
}

/* True if a wait that begins now is a whole one. It has up to `held_us` to end too early. */
static bool is_waited_for(lard_view *view, unsigned held_us) {
    pthread_t thread;
    larder_status status = LARDER_INVALID;
    larder_stats before;
    cache->core->lock_timeout_ms = 20000;
    if (larder_get_stats(cache, &before) != LARDER_OK ||
        pthread_create(&thread, NULL, store_patiently, &status) != 0 || !await_waits(before.lock_waits + 1)) {
        return false;
    }
    sleep_us(held_us);
    lard_shard_unlock(view);
    pthread_join(thread, NULL);
    return status == LARDER_OK && is(cache, "k", "new");
}

static void an_owner_that_takes_the_lock_again_is_waited_for(void) {
    cache = open_cache(SIZE);
    for (int marked = 0; marked < 2; marked++) {
        lard_view view = only_shard();
        CHECK(lard_shard_lock(cache->core, &view, NULL) == LARDER_OK);
        for (int i = 0; i < 3; i++) { /* the first waits for the whole time, the others not for the same hold */
            cache->core->lock_timeout_ms = i ? 20000 : 30;
            CHECK(set(cache, "k", "old") == LARDER_BUSY);
        }
        view = held_again(view, marked);
        CHECK(is_waited_for(&view, 30000), "%s", marked ? "while others wait" : "");
    }
    larder_close(cache);
}

/* Takes the lock again and again for longer than the waiter waits. False: the waiter got it. */
static bool is_refused_by_a_busy_owner(lard_view *view) {
    pthread_t thread;
    larder_status status = LARDER_INVALID;
    larder_stats before;
    if (larder_get_stats(cache, &before) != LARDER_OK ||
        pthread_create(&thread, NULL, store_patiently, &status) != 0 || !await_waits(before.lock_waits + 1)) {
        return false;
    }
    for (int i = 0; i < 10; i++) {
        sleep_us(5000);
        *view = held_again(*view, false);
    }
    pthread_join(thread, NULL);
    return status == LARDER_BUSY;
}

static void a_wait_through_several_holds_marks_none_of_them(void) {
    int refused = 0;
    cache = open_cache(SIZE);
    for (int i = 0; i < 200 && refused < 3; i++) {
        lard_view view = only_shard();
        cache->core->lock_timeout_ms = 20;
        CHECK(lard_shard_lock(cache->core, &view, NULL) == LARDER_OK);
        if (is_refused_by_a_busy_owner(&view)) {
            refused++;
            CHECK(is_waited_for(&view, 30000));
        } else {
            lard_shard_unlock(&view);
        }
    }
    CHECK(refused == 3);
    larder_close(cache);
}

/* A child is forked while its parent waits: it knows the holds that its parent has waited for. */
static void a_forked_child_waits_for_the_next_hold(void) {
    script *play = shared_memory(sizeof *play);
    cache = open_cache(SIZE);
    cache->core->lock_timeout_ms = 30;
    lard_view view = only_shard();
    CHECK(lard_shard_lock(cache->core, &view, NULL) == LARDER_OK && set(cache, "k", "old") == LARDER_BUSY);
    view = held_again(view, true);
    pid_t child = fork_child();
    if (child == 0) {
        cache->core->lock_timeout_ms = 20000;
        advance(&play->stage);
        CHILD_CHECK(set(cache, "k", "new") == LARDER_OK);
        _exit(0);
    }
    CHECK(await(&play->stage, 1));
    sleep_us(30000);
    lard_shard_unlock(&view);
    CHECK(exited_well(child) && is(cache, "k", "new"));
    larder_close(cache);
    munmap(play, sizeof *play);
}

static void only_what_overwrites_drops_the_old_value(void) {
    script *play = shared_memory(sizeof *play);
    int64_t n;
    cache = open_cache(SIZE);
    CHECK(set(cache, "add", "theirs") == LARDER_OK && set(cache, "cas", "theirs") == LARDER_OK);
    CHECK(set(cache, "replace", "old") == LARDER_OK && set(cache, "long", "old") == LARDER_OK);
    CHECK(larder_increment(cache, "count", 5, 5, 0, 0, &n, NULL) == LARDER_OK);
    pid_t holder = start_holder(play, 2);
    CHECK(await(&play->stage, 1));
    larder_store store = {.key = "add", .key_bytes = 3, .value = "mine", .value_bytes = 4, .mode = LARDER_ADD};
    CHECK(larder_set(cache, &store, NULL) == LARDER_BUSY && is(cache, "add", "theirs"));
    store.mode = LARDER_SET;
    store.key = "cas";
    CHECK(larder_cas(cache, &store, "theirs", 6, NULL) == LARDER_BUSY && is(cache, "cas", "theirs"));
    store.key = "count";
    store.key_bytes = 5;
    CHECK(larder_cas(cache, &store, "5", 1, NULL) == LARDER_BUSY && is(cache, "count", "5"));
    CHECK(larder_increment(cache, "count", 5, 1, 0, 0, &n, NULL) == LARDER_BUSY && is(cache, "count", "5"));
    store.key = "replace";
    store.key_bytes = 7;
    store.mode = LARDER_REPLACE;
    CHECK(larder_set(cache, &store, NULL) == LARDER_BUSY && is(cache, "replace", NULL));
    static char value[100000];
    CHECK(set_bytes(cache, "long", value, sizeof value, 0) == LARDER_BUSY && is(cache, "long", NULL));
    advance(&play->stage);
    CHECK(exited_well(holder));
    CHECK(sound(cache));
    larder_close(cache);
    munmap(play, sizeof *play);
}

static void everything_else_goes_on_beside_a_held_lock(void) {
    script *play = shared_memory(sizeof *play);
    static char buffer[8192];
    uint64_t cursor = 0;
    size_t count, used;
    cache = open_cache(SIZE);
    cache->core->lock_timeout_ms = 20;
    CHECK(set(cache, "k", "v") == LARDER_OK && set(cache, "l", "v") == LARDER_OK);
    pid_t holder = start_holder(play, 2);
    CHECK(await(&play->stage, 1));
    CHECK(is(cache, "k", "v") && larder_exists(cache, "l", 1, NULL, NULL) == LARDER_OK);
    CHECK(larder_scan(cache, &cursor, NULL, 0, buffer, sizeof buffer, &count, &used, NULL) == LARDER_OK &&
          count == 2);
    CHECK(larder_delete(cache, "l", 1, NULL) == LARDER_OK && is(cache, "l", NULL));
    larder_stats stats;
    CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.items == 1);
    larder_report report;
    CHECK(larder_verify(cache, &report) == LARDER_BUSY && report.problems == 0);
    CHECK(larder_prune(cache, NULL, NULL) == LARDER_BUSY);
    CHECK(larder_clear(cache) == LARDER_OK && is(cache, "k", NULL), "clear takes no lock");
    advance(&play->stage);
    CHECK(exited_well(holder));
    CHECK(set(cache, "k", "w") == LARDER_OK && is(cache, "k", "w") && sound(cache));
    larder_close(cache);
    munmap(play, sizeof *play);
}

static void *let_go_soon(void *unused) {
    lard_view view = only_shard();
    (void)unused;
    view.owner = cache->core->map->owner_word;
    sleep_us(30000);
    lard_shard_unlock(&view);
    return NULL;
}

static void a_waiter_is_woken(void) {
    pthread_t thread;
    cache = open_cache(SIZE);
    cache->core->lock_timeout_ms = 20000;
    CHECK(set(cache, "k", "v") == LARDER_OK);
    for (int i = 0; i < 5; i++) {
        lard_view view = only_shard();
        CHECK(lard_shard_lock(cache->core, &view, NULL) == LARDER_OK);
        int64_t start = now_us();
        CHECK(pthread_create(&thread, NULL, let_go_soon, NULL) == 0);
        CHECK(set(cache, "k", "w") == LARDER_OK);
        int64_t took = now_us() - start;
        CHECK(took >= 30000 && took < 5000000, "%d us", (int)took);
        pthread_join(thread, NULL);
    }
    CHECK(lard_load(&only_shard().header->lock) == 0);
    larder_close(cache);
}

static void fill(int items) {
    char key[32];
    for (int i = 0; i < items; i++) {
        snprintf(key, sizeof key, "item %d", i);
        set(cache, key, key);
    }
}

static int found(int items) {
    char key[32];
    int found = 0;
    for (int i = 0; i < items; i++) {
        snprintf(key, sizeof key, "item %d", i);
        found += is(cache, key, key);
    }
    return found;
}

static void die_with_the_lock(void) { /* as it is left by a kill */
    lard_store(&only_shard().header->lock, lard_process_owner_word(17, 5));
}

static void what_an_owner_left_half_done_is_repaired(void) {
    enum { ITEMS = 1000 };
    cache = open_cache(SIZE);
    fill(ITEMS);
    lard_view view = only_shard();
    for (int damage = 0; damage < 8; damage++) {
        uint32_t any_free = 0;
        while (lard_load(&view.segments[any_free].state) != LARD_SEGMENT_FREE) {
            any_free++;
        }
        switch (damage) {
        case 0: /* counts not yet brought in line */
            lard_store(&view.header->free_segments, 1);
            lard_store(&view.header->main_segments, 20);
            break;
        case 1:
            lard_store(&view.header->items, 5);
            break;
        case 2: /* a page of the index that the directory does not name */
            lard_store(&view.segments[any_free].state, LARD_SEGMENT_INDEX);
            break;
        case 3: /* a split announced, its bucket not published */
            lard_store(&view.header->splitting, 1);
            break;
        case 4:
            lard_store(&view.header->moves, lard_load(&view.header->moves) | 1);
            break;
        case 5: /* the open segment was given back */
            lard_store(&view.header->active[1], any_free + 1);
            break;
        case 6: /* a victim half emptied */
            lard_store(&view.header->victim, lard_load(&view.header->active[0]));
            lard_store(&view.header->victim_offset, 8000);
            break;
        default: /* a segment of no known state */
            lard_store(&view.segments[any_free].state, 77);
        }
        die_with_the_lock();
        CHECK(set(cache, "written", "after") == LARDER_OK && is(cache, "written", "after"), "damage %d", damage);
        CHECK(sound(cache) && found(ITEMS) == ITEMS, "damage %d: %d of %d", damage, found(ITEMS), ITEMS);
        larder_stats stats;
        CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.items == ITEMS + 1 && stats.resets == 0,
              "damage %d: %d items", damage, (int)stats.items);
    }
    larder_close(cache);
}

/* Other processes wait during a repair, so in a large shard a repair does not read every item. */
static void what_is_counted_in_a_large_shard_stays_as_it_is(void) {
    enum { ITEMS = 60000, OFF = 3 };
    larder_stats stats;
    cache = open_cache(20 << 20);
    CHECK(cache->core->map->super.shard_count == 1);
    fill(ITEMS);
    lard_view view = only_shard();
    lard_store(&view.header->items, ITEMS + OFF);
    lard_store(&view.header->splitting, 1);
    lard_store(&view.header->free_segments, 1);
    die_with_the_lock();
    CHECK(set(cache, "written", "after") == LARDER_OK && is(cache, "written", "after"));
    CHECK(sound(cache) && found(ITEMS) == ITEMS);
    CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.items == ITEMS + OFF + 1 && stats.repairs == 1);
    larder_close(cache);
}

/* As one who was not run between the first look at the clock and the second. */
static void whose_time_is_up_looks_for_the_dead_all_the_same(void) {
    cache = open_cache(SIZE);
    fill(100);
    cache->core->lock_timeout_ms = 0;
    die_with_the_lock();
    CHECK(set(cache, "written", "after") == LARDER_OK && found(100) == 100 && sound(cache));
    larder_close(cache);
}

static void what_cannot_be_repaired_is_emptied(void) {
    cache = open_cache(SIZE);
    for (int damage = 0; damage < 5; damage++) {
        fill(100);
        lard_view view = only_shard();
        larder_stats before, after;
        CHECK(found(100) == 100 && larder_get_stats(cache, &before) == LARDER_OK);
        switch (damage) {
        case 0:
            lard_store(&view.directory[0], 1000000);
            break;
        case 1:
            lard_store(&view.header->bucket_count, 1 << 30);
            break;
        case 2:
            lard_store(&view.header->index_pages, 0);
            break;
        case 3:
            lard_store(&view.segments[lard_directory_segment(&view, 0)].state, LARD_SEGMENT_FREE);
            break;
        default: /* died in a reset */
            lard_store(&view.header->epoch, 0);
        }
        die_with_the_lock();
        CHECK(set(cache, "written", "after") == LARDER_OK && is(cache, "written", "after"), "damage %d", damage);
        CHECK(sound(cache) && found(100) == 0, "damage %d", damage);
        CHECK(larder_get_stats(cache, &after) == LARDER_OK && after.repairs == before.repairs + 1 &&
              after.items == 1);
        CHECK(after.resets == before.resets + (damage < 4), "damage %d", damage);
    }
    larder_close(cache);
}

static void a_clear_is_met_by_the_next_lock(void) {
    cache = open_cache(SIZE);
    fill(500);
    uint32_t emptied = lard_load(&only_shard().header->emptied);
    CHECK(larder_clear(cache) == LARDER_OK && found(500) == 0);
    CHECK(lard_load(&only_shard().header->emptied) == emptied, "nothing was touched");
    CHECK(set(cache, "item 3", "again") == LARDER_OK);
    CHECK(lard_load(&only_shard().header->emptied) == emptied + 1 && is(cache, "item 3", "again") &&
          found(500) == 0);
    CHECK(sound(cache));
    larder_close(cache);
}

/* A flipped bit of the epoch would have the shards of the other epoch read again. */
static void no_flipped_bit_leads_back_to_a_cleared_epoch(void) {
    cache = open_cache(SIZE);
    lard_u32 *epoch = &cache->core->map->control->clear_epoch;
    for (int round = 0; round < 300; round++) {
        CHECK(set(cache, "k", "cleared") == LARDER_OK);
        uint32_t before = lard_load(epoch);
        CHECK(larder_clear(cache) == LARDER_OK);
        uint32_t after = lard_load(epoch);
        CHECK(after && after != before);
        for (unsigned bit = 0; bit < 32; bit++) {
            lard_store(epoch, after ^ 1u << bit);
            CHECK(is(cache, "k", NULL), "epoch %x, bit %u", after, bit);
        }
        lard_store(epoch, after);
    }
    larder_close(cache);
}

/* All numbers but 0 are epochs: another version of Larder stores what it likes there. */
static void any_other_number_ends_an_epoch(void) {
    static const uint32_t epochs[] = {UINT32_MAX, 1, 2, 1u << 31, 1};
    cache = open_cache(SIZE);
    CHECK(set(cache, "k", "v") == LARDER_OK);
    for (size_t i = 0; i < sizeof epochs / sizeof *epochs; i++) {
        lard_store(&cache->core->map->control->clear_epoch, epochs[i]);
        CHECK(is(cache, "k", NULL), "%x", epochs[i]);
        CHECK(set(cache, "k", "v") == LARDER_OK && is(cache, "k", "v") && sound(cache), "%x", epochs[i]);
    }
    larder_close(cache);
}

static void no_flipped_bit_revives_a_superseded_file(void) {
    cache = open_cache(SIZE);
    lard_map *old = cache->core->map;
    lard_u32 *mark = &old->control->superseded;
    CHECK(set(cache, "k", "old") == LARDER_OK && larder_resize(cache, SIZE, LARDER_KEEP_NONE, NULL) == LARDER_OK);
    for (unsigned bit = 0; bit < 32; bit++) {
        uint32_t before = lard_load(mark);
        CHECK(before && !lard_map_is_fit(old));
        lard_store(mark, before ^ 1u << bit);
        CHECK(!lard_map_is_fit(old), "bit %u", bit);
        lard_store(mark, before);
    }
    CHECK(is(cache, "k", NULL));
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(a_live_owner_is_waited_for_within_bounds, "a live owner is waited for within bounds, once"),
    TEST(an_owner_that_takes_the_lock_again_is_waited_for,
         "an owner that takes the lock again is waited for again"),
    TEST(a_wait_through_several_holds_marks_none_of_them,
         "a wait that was refused by several holds in turn shortens no later wait"),
    TEST(a_forked_child_waits_for_the_next_hold, "a forked child waits for a hold that its parent did not see"),
    TEST(only_what_overwrites_drops_the_old_value,
         "a refused set or replace drops the old value, a refused add or swap keeps it"),
    TEST(everything_else_goes_on_beside_a_held_lock, "reads, deletes, walks and clear need no lock"),
    TEST(a_waiter_is_woken, "a waiter is woken when the lock is free"),
    TEST(what_an_owner_left_half_done_is_repaired,
         "what a dead owner left half done is repaired at no one's cost"),
    TEST(what_is_counted_in_a_large_shard_stays_as_it_is, "a repair of a large shard does not count its items"),
    TEST(whose_time_is_up_looks_for_the_dead_all_the_same,
         "who has waited long enough looks whether the owner is dead all the same"),
    TEST(what_cannot_be_repaired_is_emptied, "a shard that cannot be repaired is emptied"),
    TEST(a_clear_is_met_by_the_next_lock, "a clear is met by the next lock"),
    TEST(no_flipped_bit_leads_back_to_a_cleared_epoch, "no flipped bit leads back to an epoch that was cleared"),
    TEST(any_other_number_ends_an_epoch, "any other number than 0 ends the clear epoch"),
    TEST(no_flipped_bit_revives_a_superseded_file, "no flipped bit revives a file that was superseded"),
};
RUN("shard", tests)
