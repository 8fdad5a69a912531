/*
 * index_resize_crash.c — stops a process before each store of a split and of a move between buckets.
 *
 * Then every item is deleted, the process continues for a few stores, is checked after each, and is killed. A
 * deleted item must never be there, nor after the repair; other items must be there.
 */
#include "children.h"

extern unsigned long lard_crash_at, lard_crash_count, lard_crash_step;
extern int lard_crash_signal;

enum { SIZE = 1 << 20, MOST = 4096 };

static larder *cache;
static unsigned long windows;
static uint64_t shape_before; /* of the index, as this process saw it when the scene was set */

static size_t key_of(const char *kind, int i, char key[32]) { return (size_t)snprintf(key, 32, "%s %d", kind, i); }

static larder_status put(const char *kind, int i) {
    char key[32];
    larder_store store = {.key = key, .key_bytes = key_of(kind, i, key), .value = key, .value_bytes = 4};
    return larder_set(cache, &store, NULL);
}

static lard_view shard(void) { return lard_view_of(cache->core->map, 0); }

/* In the file, or by what a process knows of it that has not looked since the scene was set: gets try that first.
 */
static int how_many(int count) {
    char key[32], value[8];
    int found = 0;
    for (int i = 0; i < count; i++) {
        size_t bytes = key_of("item", i, key);
        cache->core->map->dircache[0].shape = shape_before;
        found += larder_get(cache, key, bytes, value, sizeof value, NULL, NULL) == LARDER_OK ||
                 larder_exists(cache, key, bytes, NULL, NULL) == LARDER_OK;
    }
    return found;
}

/* Of the same items, by a walk over all keys, in which some may come twice. */
static int how_many_in_a_walk(int items) {
    char keys[1 << 16], next[32];
    size_t count, used, next_bytes = key_of("item", items, next); /* what is being stored is not one of them */
    uint64_t cursor = 0;
    int found = 0;
    do {
        if (larder_scan(cache, &cursor, "item ", 5, keys, sizeof keys, &count, &used, NULL) != LARDER_OK) {
            return -1;
        }
        uint32_t bytes;
        for (size_t at = 0; at < used; at += 4 + bytes) {
            memcpy(&bytes, keys + at, 4);
            found += bytes != next_bytes || memcmp(keys + at + 4, next, bytes) != 0;
        }
    } while (cursor);
    return found;
}

typedef struct {
    const char *name;
    int items;      /* the set of one more does it */
    bool no_growth; /* the shard is told that it has few items, so that its buckets fill up */
    bool delete;    /* all that is there, at the first stop */
    int steps;      /* stores from there to the kill */
} scene;

/* Fresh each time: the same keys under the same seed come to the same slots. */
static bool set_the_scene(const scene *s, int items) {
    if (larder_clear(cache) != LARDER_OK || put("item", 0) != LARDER_OK) {
        return false;
    }
    if (s->no_growth) {
        lard_store(&shard().header->items, (uint64_t)-100000);
    }
    for (int i = 1; i < items; i++) {
        if (put("item", i) != LARDER_OK) {
            return false;
        }
    }
    lard_view view = shard();
    lard_dircache_renew(cache->core->map, &view);
    shape_before = cache->core->map->dircache[0].shape;
    return true;
}

/* How many items are stored when the set of one more splits a bucket for the `nth` time, or moves an item. */
static int items_before(const scene *s, int nth) {
    lard_view view = shard();
    if (!set_the_scene(s, 1)) {
        return 0;
    }
    for (int i = 1; i < MOST; i++) {
        uint32_t buckets = lard_bucket_count(&view), moves = lard_load(&view.header->moves);
        if (put("item", i) != LARDER_OK) {
            return 0;
        }
        bool did = s->no_growth ? lard_load(&view.header->moves) != moves : lard_bucket_count(&view) != buckets;
        if (did && --nth == 0) {
            return i;
        }
    }
    return 0;
}

static void as_it_should_be(const scene *s, unsigned long at, int step) {
    int found = how_many(s->items), walked = how_many_in_a_walk(s->items);
    CHECK(s->delete ? found == 0 && walked == 0 : found == s->items && walked >= s->items,
          "%s, stopped at %lu, then %d times: %d and %d in a walk of %d are there", s->name, at, step, found,
          walked, s->items);
}

static void one_window(const scene *s, unsigned long at, bool *in_the_midst, bool *done) {
    int before = test_failures, status;
    char key[32];
    CHECK(set_the_scene(s, s->items) && how_many(s->items) == s->items, "%s: %d of %d", s->name,
          how_many(s->items), s->items);
    pid_t pid = fork_child();
    if (pid == 0) {
        lard_crash_signal = SIGSTOP;
        lard_crash_count = 0;
        lard_crash_at = at;
        lard_crash_step = 1;
        put("item", s->items);
        _exit(0);
    }
    status = wait_within(pid, LONGEST_MS);
    CHECK(status != -1, "it hangs");
    windows += WIFSTOPPED(status);
    *done = WIFEXITED(status);
    for (int i = 0; s->delete &&i < s->items; i++) {
        CHECK(larder_delete(cache, key, key_of("item", i, key), NULL) == LARDER_OK, "%s, stopped at %lu: item %d",
              s->name, at, i);
    }
    for (int step = 0; WIFSTOPPED(status) && step <= s->steps && test_failures == before; step++) {
        lard_view view = shard();
        *in_the_midst |=
            s->no_growth ? lard_load(&view.header->moves) & 1 : lard_load(&view.header->splitting) != 0;
        as_it_should_be(s, at, step);
        kill(pid, step == s->steps ? SIGKILL : SIGCONT);
        status = wait_within(pid, LONGEST_MS);
    }
    if (WIFSTOPPED(status)) {
        kill(pid, SIGKILL);
        wait_for(pid);
    }
    CHECK(test_failures == before);
    as_it_should_be(s, at, s->steps + 1);
    CHECK(put("afterwards", 0) == LARDER_OK && sound(cache), "%s, killed after %lu", s->name, at);
    as_it_should_be(s, at, s->steps + 2);
}

static void every_window(bool no_growth, int nth, bool delete, int steps) {
    scene s = {no_growth ? "move" : "split", 0, no_growth, delete, steps};
    bool in_the_midst = false, done = false;
    int before = test_failures;
    cache = open_cache(SIZE);
    CHECK(cache && (s.items = items_before(&s, nth)) > 0, "no %s within %d items", s.name, MOST);
    for (unsigned long at = 1; !done && test_failures == before; at++) {
        one_window(&s, at, &in_the_midst, &done);
    }
    CHECK(in_the_midst, "no %s was ever stopped half-way", s.name);
    larder_close(cache);
}

static void deleted_during_a_split(void) {
    for (int nth = 1; nth <= 3; nth++) {
        every_window(false, nth, true, 2);
        every_window(false, nth, true, 8);
        every_window(false, nth, true, 25);
    }
}
static void deleted_during_a_move(void) {
    for (int nth = 1; nth <= 4; nth++) {
        every_window(true, nth, true, 1);
        every_window(true, nth, true, 4);
    }
}
static void kept_during_a_split(void) { every_window(false, 1, false, 3); }
static void kept_during_a_move(void) { every_window(true, 1, false, 3); }

static void say_counts(void) {
    CHECK(windows > 100);
    printf("@ %lu windows in a split or a move, in which all was deleted or looked for, and the mover killed\n",
           windows);
}

static const test_case tests[] = {
    TEST(deleted_during_a_split,
         "what is deleted at any store of a split stays deleted, also if the splitter dies"),
    TEST(deleted_during_a_move, "what is deleted at any store of a move stays deleted, also if the mover dies"),
    TEST(kept_during_a_split, "every item is found at every store of a split"),
    TEST(kept_during_a_move, "every item is found at every store of a move, also by a walk over keys"),
    TEST(say_counts, "counts"),
};
RUN("growth at stores", tests)
