/*
 * image_crash.c — kills a writer before, among and after the pages of each pwrite(2).
 *
 * A pwrite(2) of several pages may be interrupted between two of them. In this build each page is a call of its
 * own (base/io.c). The child is killed before each such call, and before the first store after it: so the record
 * in the file is absent, torn or complete, and not yet published. The operations store values of one record and of
 * several, and evict items that were read, which are moved by pwrite(2).
 */
#include "killing.h"

#include <limits.h>

extern bool lard_crash_near_calls;

/* As in a file on a disk, which takes long to write through. */
static void make_cold(larder *c) {
    lard_shard_hints *hints = c->core->map->dircache[0].hints;
    c->core->map->is_on_disk = true;
    hints->is_hot = 0;
    hints->turn_left = c->core->map->super.segments_per_shard;
    lard_crash_near_calls = true;
}

#define ACT(name) static void name(larder *c, const char *key)
#define ON_IMAGES .has_images = true, .ring = 8, .size_bytes = 16 << 20

ACT(act_set) { make_cold(c), set(c, key, text_of(after())); }
ACT(act_add) { make_cold(c), set_at(c, key, text_of(after()), 0, LARDER_ADD, 0); }
ACT(act_lease_and_fill) { make_cold(c), fill_under_lease(c, key); }
ACT(act_swap) {
    const char *expected = text_of(before()), *text = text_of(after());
    larder_store store = {.key = key, .key_bytes = strlen(key), .value = text, .value_bytes = strlen(text)};
    store.expected_expires_at_ms = LARDER_ANY_EXPIRY;
    make_cold(c);
    larder_cas(c, &store, expected, strlen(expected), NULL);
}

static void fill(larder *c, unsigned long round, int count) {
    static char value[LONG + 1];
    char key[40];
    memset(value, 'f', LONG);
    for (int i = 0; i < count; i++) {
        snprintf(key, sizeof key, "filler %lu/%d", round, i);
        set(c, key, value);
        get(c, key); /* so that it stays when its segment is emptied */
        get(c, key);
    }
}
ACT(fill_up) {
    (void)key;
    if (book->round == 1) {
        fill(c, 1000000, 3 * (16 << 20) / LONG);
        put(c, before());
    }
}
ACT(act_evict) { (void)key, make_cold(c), fill(c, book->round, 10); }

static const operation operations[] = {
    {.name = "set", .before = NOTHING, .after = NEW_LONG, .act = act_set, ON_IMAGES},
    {.name = "overwrite", .before = OLD_LONG, .after = NEW_LONG, .act = act_set, ON_IMAGES},
    {.name = "set over a short value", .before = OLD, .after = NEW_LONG, .act = act_set, ON_IMAGES},
    {.name = "set over a counter", .before = NUMBER, .after = NEW_LONG, .act = act_set, ON_IMAGES},
    {.name = "add", .before = NOTHING, .after = NEW_LONG, .act = act_add, ON_IMAGES},
    {.name = "compare and swap", .before = OLD_LONG, .after = NEW_LONG, .act = act_swap, ON_IMAGES},
    {.name = "store under a lease", .before = NOTHING, .after = NEW_LONG, .act = act_lease_and_fill, ON_IMAGES},
    {.name = "overwrite in chunks", .before = OLD_LARGE, .after = NEW_LARGE, .act = act_set, ON_IMAGES},
    {.name = "eviction that moves",
     .before = OLD,
     .after = OLD,
     .act = act_evict,
     .prepare = fill_up,
     .may_leave = true,
     ON_IMAGES},
};

static unsigned long op_points, least_points = ULONG_MAX; /* of the operation; of all */

/* In each pass records lie differently. */
static bool each_page(void) {
    bool hung, done = false;
    unsigned long at = 1;
    for (; !done; at++) {
        if (!prepare_round()) {
            return false;
        }
        done = ended(killed_in(op->act, at), &hung);
        if (hung || !everybody_goes_on(done) || !dispose()) {
            return is_wrong("killed at point %lu%s", at, hung ? ": it hangs, or fails" : "");
        }
        if (book->round % 16 == 0 && !checkpoint(book->round % 32 == 0)) {
            return is_wrong("after point %lu", at);
        }
    }
    op_points += at - 2;
    return true;
}

static bool passes(void) {
    bool well = true;
    op_points = 0;
    for (int pass = 0; well && pass < (is_full() ? 25 : 5); pass++) {
        well = each_page();
    }
    least_points = op_points < least_points ? op_points : least_points;
    return well;
}

static void pages(void) {
    for (unsigned i = 0; i < sizeof operations / sizeof *operations; i++) {
        with_operation(&operations[i], i + 1, passes);
    }
}

/* A value of LONG bytes that does not fit the rest of a segment is two records, and they may be short. */
static void say_counts(void) {
    CHECK(least_points >= 12, "an operation was killed at %lu points", least_points);
    printf("@ %lu operations killed before, among and after the pages of each pwrite(2)\n", sum->operations);
    printf("@ %lu processes killed there\n", sum->killed);
    printf("@ %lu repairs begun by those who came next\n", sum->repairs);
}

static const test_case tests[] = {
    TEST(begin_tally, "there is a tally"),
    TEST(pages, "a writer that is killed among the pages of a pwrite(2) costs nothing but its own value"),
    TEST(say_counts, "counts"),
};
RUN("pages of a pwrite(2)", tests)
