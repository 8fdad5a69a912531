/*
 * points_crash.c — kills a child at each store to shared memory of each operation.
 *
 * Then readers must find correct values at once, writers must succeed, the file must be valid, every other value
 * intact, and nothing that was deleted or overwritten may ever come back. Of runs of similar stores (zeroing a
 * page, copying a value) only some are tested, unless LARDER_CRASH_STRIDE=1 asks for all.
 */
#include "operations_large.h"
#include "operations_plain.h"
#include "operations_shape.h"

static bool each_store(void) {
    bool hung, done = false;
    for (unsigned long at = 1; !done; at = next_point(at)) {
        if (!prepare_round()) {
            return false;
        }
        done = ended(killed_in(op->act, at), &hung);
        if (hung || !everybody_goes_on(done) || !dispose()) {
            return is_wrong("killed at store %lu%s", at, hung ? ": it hangs, or fails" : "");
        }
        if (book->round % 64 == 0 && !checkpoint(book->round % 128 == 0)) {
            return is_wrong("after store %lu", at);
        }
    }
    return true;
}

#define EACH_OF(operations)                                                 \
    for (unsigned i = 0; i < sizeof operations / sizeof *operations; i++) { \
        with_operation(&operations[i], i + 1, each_store);                  \
    }

static void plain(void) { EACH_OF(plain_operations) }
static void large(void) { EACH_OF(large_operations) }
static void shape(void) { EACH_OF(shape_operations) }

static void say_counts(void) {
    CHECK(sum->killed > 1000 && sum->repairs > 100);
    printf("@ %lu operations killed at each of their stores\n", sum->operations);
    printf("@ %lu stores and file changes numbered, each operation run to its end once\n", sum->stores);
    printf("@ %lu processes killed there\n", sum->killed);
    printf("@ %lu repairs begun, by those who came next or died of it\n", sum->repairs);
    printf("@ %lu times everything was looked at by a process that attached afresh\n", sum->checkpoints);
    if (!is_full()) {
        printf("@note The quick run leaves out most of the like stores of a run, as in zeroing a page\n");
    }
}

static const test_case tests[] = {
    TEST(begin_tally, "there is a tally"),
    TEST(plain, "an operation on a short value, killed at any store, costs nothing but its own value"),
    TEST(large, "an operation on a large value, killed at any store, costs nothing but its own value"),
    TEST(shape, "eviction, growth, moves, clear, reset and repair, killed at any store, bring nothing back"),
    TEST(say_counts, "counts"),
};
RUN("crash points", tests)
