/*
 * repair_crash.c — kills a process at every store of a repair.
 *
 * A child dies with the lock of its shard at some store of an operation. The next writer dies at each store of the
 * repair and of its own work. A third process must find everything as after a single kill. Then there are chains
 * of random deaths, one after the other, with no other process in between.
 *
 * The first deaths are a sample of each operation's stores; all of them if the operation is short and
 * LARDER_CRASH_STRIDE=1 asks for it.
 */
#include "operations_large.h"
#include "operations_plain.h"
#include "operations_shape.h"

enum { QUICK_SAMPLE = 2, FULL_SAMPLE = 12 };

static unsigned long pairs, first_stores, chains, chained;

static bool lock_is_held(void) {
    for (uint32_t s = 0; s < cache->core->map->super.shard_count; s++) {
        lard_view view = lard_view_of(cache->core->map, s);
        if (lard_load(&view.header->lock)) {
            return true;
        }
    }
    return false;
}

/* What the writer that comes next does: it repairs first. */
static void come_next(larder *c, const char *key) {
    (void)key;
    CHILD_CHECK(set(c, "afterwards", "written by one who dies as well") == LARDER_OK);
}

/* How many stores the operation makes. */
static unsigned long stores_of(void) {
    unsigned long before_it = sum->stores;
    bool hung;
    if (!prepare_round() || !ended(killed_in(op->act, 0), &hung) || !everybody_goes_on(true) || !dispose()) {
        return 0;
    }
    return sum->stores - before_it;
}

/* Where a repair is a reset it zeroes a page: points_crash.c takes each of those stores. */
static unsigned long after_that(unsigned long second) {
    unsigned long step = is_full()      ? (second < 120 ? 1 : 97)
                         : second < 16  ? 1
                         : second < 60  ? 3
                         : second < 400 ? 37
                                        : 997;
    return second + step;
}

/* All stores of those who come after a death at store `first`; *held is false where it left no lock behind. */
static bool each_second(unsigned long first, bool *held) {
    bool done = false, hung;
    for (unsigned long second = 1; !done; second = after_that(second)) {
        if (!prepare_round()) {
            return false;
        }
        bool survived = ended(killed_in(op->act, first), &hung);
        *held = !hung && lock_is_held();
        if (*held) {
            done = ended(killed_in(come_next, second), &hung);
            pairs += !done;
        }
        if (hung || !everybody_goes_on(survived) || !dispose()) {
            return is_wrong("killed at store %lu, then at %lu", first, second);
        }
        if (!*held) {
            return true;
        }
        if (book->round % 64 == 0 && !checkpoint(book->round % 128 == 0)) {
            return is_wrong("after stores %lu, %lu", first, second);
        }
    }
    return true;
}

static bool each_pair(void) {
    unsigned long stores = stores_of(), sample = is_full() ? FULL_SAMPLE : QUICK_SAMPLE;
    if (stores == 0) {
        return is_wrong("it could not be run to its end");
    }
    unsigned long step = stores / sample ? stores / sample : 1;
    unsigned long offset = step > 1 ? (book->round * 7919 + stores) % step : 0;
    for (unsigned long first = 1 + offset; first <= stores; first += step) {
        bool held;
        if (!each_second(first, &held)) {
            return false;
        }
        first_stores += held;
    }
    return true;
}

/* One after the other dies at a random store, of the operation or of the repair that it begins with. */
static bool chain(void) {
    uint64_t random = op->name[0] * 31u + stores_of();
    int length = 6, rounds = is_full() ? 25 : 4;
    for (int i = 0; i < rounds; i++) {
        bool hung = false, survived = false;
        if (!prepare_round()) {
            return false;
        }
        for (int n = 0; n < length && !hung && !survived; n++) {
            unsigned long at = 1 + next_random(&random) % (next_random(&random) % 4 ? 40 : 400);
            survived = ended(killed_in(op->act, at), &hung);
            chained += !survived;
            book->in_a_row += !survived;
        }
        chains++;
        if (hung || !everybody_goes_on(survived) || !dispose()) {
            return is_wrong("in chain %d", i);
        }
        book->in_a_row = 0;
    }
    return true;
}

#define EACH_OF(operations, rounds)                                                                         \
    for (unsigned i = 0; i < sizeof operations / sizeof *operations; i++) {                                 \
        if (rounds != chain || operations[i].after != NEXT) { /* each of a chain would add to the number */ \
            with_operation(&operations[i], i + 1, rounds);                                                  \
        }                                                                                                   \
    }

static void plain(void) { EACH_OF(plain_operations, each_pair) }
static void large(void) { EACH_OF(large_operations, each_pair) }
static void shape(void) { EACH_OF(shape_operations, each_pair) }
static void chains_of_all(void) {
    EACH_OF(plain_operations, chain)
    EACH_OF(large_operations, chain)
    EACH_OF(shape_operations, chain)
}

static void say_counts(void) {
    CHECK(pairs > 100 && sum->repairs > 100 && chained > 100);
    printf("@ %lu stores at which an operation was killed so that it left a lock behind\n", first_stores);
    printf("@ %lu double kills, the second at each store of the one who repaired\n", pairs);
    printf("@ %lu chains of up to six deaths, %lu of them in all\n", chains, chained);
    printf("@note In double kills every %s store of the page that a reset zeroes is taken\n",
           is_full() ? "97th" : "997th");
    printf("@ %lu repairs begun there, those that were killed included\n", sum->repairs);
}

static const test_case tests[] = {
    TEST(begin_tally, "there is a tally"),
    TEST(plain, "a repair after an operation on a short value may be killed at any store"),
    TEST(large, "a repair after an operation on a large value may be killed at any store"),
    TEST(shape, "a repair after eviction, growth, moves, clear, reset or repair may be killed at any store"),
    TEST(chains_of_all, "many deaths in a row cost no more than one"),
    TEST(say_counts, "counts"),
};
RUN("kills of the repairer", tests)
