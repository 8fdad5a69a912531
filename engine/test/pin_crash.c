/*
 * pin_crash.c — kills writers at their stores in a cache that is full of pinned items.
 *
 * Compaction moves the items all the time. All of them must stay, each with the value that was acknowledged last
 * or the one being written.
 */
#include "children.h"

extern unsigned long lard_crash_at, lard_crash_count;

enum {
    ITEMS = 4000,
    BYTES = 260,
    LONG_ONES = 10,
    LONG_BYTES = 12000,
    ROUNDS_QUICK = 1200,
    ROUNDS_FULL = 4000,
    WRITES = 60
};

typedef struct {
    int stored;
    uint64_t asked[ITEMS], had[ITEMS]; /* stamps: of a write that began, and of one that ended */
} ledger;

static larder *cache;
static ledger *book;

static size_t key_of(int i, char key[32]) { return (size_t)snprintf(key, 32, "item %d", i); }

/* A few are so long that one of them takes a third of a segment. */
static bool is_long(int i) { return i < LONG_ONES; }

static size_t bytes_of(int i, uint64_t stamp) {
    return (is_long(i) ? LONG_BYTES : BYTES) - (size_t)(i * 7 + stamp * 8) % 64;
}

static larder_status pin(int i, uint64_t stamp) {
    static unsigned char value[LONG_BYTES], before[LONG_BYTES];
    char key[32];
    describe(value, bytes_of(i, stamp), (uint64_t)i, stamp);
    larder_store store = {.key = key,
                          .key_bytes = key_of(i, key),
                          .value = value,
                          .value_bytes = bytes_of(i, stamp),
                          .mode = LARDER_ADD,
                          .pin = 1};
    book->asked[i] = stamp;
    larder_status status;
    do { /* a refused swap leaves what was there, so it may be tried again */
        describe(before, bytes_of(i, stamp - 1), (uint64_t)i, stamp - 1);
        status = stamp == 1 ? larder_set(cache, &store, NULL)
                            : larder_cas(cache, &store, before, bytes_of(i, stamp - 1), NULL);
    } while (status == LARDER_BUSY);
    if (status == LARDER_OK) {
        book->had[i] = stamp;
    }
    return status;
}

static bool stands(int i) {
    static unsigned char value[LONG_BYTES];
    char key[32];
    larder_item item;
    uint64_t stamp;
    larder_status status = larder_get(cache, key, key_of(i, key), value, sizeof value, &item, NULL);
    if (status != LARDER_OK || !describes(value, item.size_bytes, (uint64_t)i, &stamp) || !item.is_pinned) {
        fprintf(stderr, "  item %d is gone or torn: %s\n", i, larder_status_name(status));
        return false;
    }
    if (stamp != book->had[i] && stamp != book->asked[i]) {
        fprintf(stderr, "  item %d has stamp %d, not %d or %d\n", i, (int)stamp, (int)book->had[i],
                (int)book->asked[i]);
        return false;
    }
    book->had[i] = book->asked[i] = stamp; /* settled for all time */
    return true;
}

static bool all_stand(void) {
    for (int i = 0; i < book->stored; i++) {
        if (!stands(i)) {
            return false;
        }
    }
    return true;
}

/* Changes what is pinned, in any order, and stores others between. */
static void work(uint64_t *random) {
    char name[32];
    for (int n = 0; n < WRITES; n++) {
        int i = (int)(next_random(random) % (uint64_t)(n % 4 ? book->stored : LONG_ONES));
        CHILD_CHECK(pin(i, book->had[i] + 1) == LARDER_OK);
        snprintf(name, sizeof name, "other %d", (int)(next_random(random) % 100000));
        set(cache, name,
            "others come and go, and have to leave for those that are pinned, which is as it should be");
    }
}

static void nobody_who_dies_loses_what_is_pinned(void) {
    uint64_t random = 8;
    int rounds = getenv("LARDER_CRASH_STRIDE") ? ROUNDS_FULL : ROUNDS_QUICK, killed = 0;
    book = shared_memory(sizeof *book);
    cache = open_cache(1 << 20);
    larder_status status;
    larder_stats last = {0};
    while ((status = pin(book->stored, 1)) == LARDER_OK) {
        book->stored++;
        CHECK(book->stored < ITEMS);
    }
    CHECK(status == LARDER_PIN_FULL && book->stored > 1000, "%d", book->stored);
    book->stored = book->stored * 19 / 20; /* where all is taken, a longer value may be refused */
    for (int i = book->stored; i <= book->stored * 20 / 19; i++) {
        char key[32];
        larder_delete(cache, key, key_of(i, key), NULL);
    }
    for (int round = 0; round < rounds; round++) {
        unsigned long at = 1 + next_random(&random) % (round % 4 ? 12000 : 400);
        pid_t child = fork_child();
        if (child == 0) {
            lard_crash_count = 0;
            lard_crash_at = at;
            work(&random);
            _exit(0);
        }
        int ended = wait_within(child, LONGEST_MS);
        CHECK(ended != -1 && (WIFEXITED(ended) ? WEXITSTATUS(ended) == 0 : WTERMSIG(ended) == SIGKILL), "round %d",
              round);
        killed += WIFSIGNALED(ended);
        next_random(&random);
        larder_stats now;
        larder_get_stats(cache, &now);
        CHECK(all_stand(), "round %d, killed at store %lu: %d damaged, %d evictions, %d expirations, %d resets",
              round, at, (int)(now.damaged - last.damaged), (int)(now.evictions - last.evictions),
              (int)(now.expirations - last.expirations), (int)(now.resets - last.resets));
        last = now;
        CHECK(round % 20 || sound(cache), "round %d", round);
    }
    work(&random);
    CHECK(all_stand() && sound(cache));
    larder_stats before, after;
    larder_get_stats(cache, &before);
    larder_prune(cache, NULL, NULL);
    larder_get_stats(cache, &after);
    CHECK(killed > rounds / 2 && before.repairs > 0, "%d killed", killed);
    CHECK(after.pinned_bytes <= after.pinned_room_bytes);
    printf("  %d deaths, %d repairs, %d items pinned\n", killed, (int)before.repairs, book->stored);
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(nobody_who_dies_loses_what_is_pinned, "nobody who dies loses what is pinned"),
};

RUN("pin, killed", tests)
