/*
 * stopped_crash.c — stops a child (SIGSTOP) before a store to shared memory, with or without a lock.
 *
 * Then the others must go on: read all keys, delete, store into other shards, and be refused within the timeout if
 * the child holds the lock. After it continues, its unfinished operation may take effect, but nothing that was
 * deleted or refused meanwhile may appear. Some stores are skipped; with LARDER_CRASH_STRIDE=1 only runs of
 * similar ones.
 */
#include "children.h"

extern unsigned long lard_crash_at, lard_crash_count;
extern int lard_crash_signal;

enum { BYSTANDERS = 180, LARGE = 20000 };

typedef struct {
    const char *name;
    const char *before;                       /* value of the subject, or NULL */
    void (*prepare)(larder *, unsigned long); /* NULL: set to `before` */
    void (*act)(larder *, unsigned long);
    const char *after;     /* NULL: the subject is gone, or not concerned */
    const char *from_gone; /* what it may leave where the subject was deleted under it */
    bool concerned;        /* the operation is on the subject */
    uint64_t size_bytes;
} operation;

static char old_large[LARGE], new_large[LARGE];

static void do_set(larder *cache, unsigned long round) { (void)round, set(cache, "subject", "new"); }
static void do_delete(larder *cache, unsigned long round) {
    (void)round, larder_delete(cache, "subject", 7, NULL);
}
static void do_set_large(larder *cache, unsigned long round) { (void)round, set(cache, "subject", new_large); }
static void do_touch(larder *cache, unsigned long round) {
    (void)round, larder_touch(cache, "subject", 7, 1000000, NULL);
}
static void put_number(larder *cache, unsigned long round) {
    (void)round;
    larder_delete(cache, "subject", 7, NULL);
    larder_increment(cache, "subject", 7, 7, 0, 0, NULL, NULL);
}
static void do_increment(larder *cache, unsigned long round) {
    (void)round, larder_increment(cache, "subject", 7, 1, 0, 0, NULL, NULL);
}
static void do_swap(larder *cache, unsigned long round) {
    larder_store store = {.key = "subject", .key_bytes = 7, .value = "new", .value_bytes = 3};
    (void)round, larder_cas(cache, &store, "old", 3, NULL);
}
static void do_fill(larder *cache, unsigned long round) {
    static char value[3000];
    char key[40];
    memset(value, 'f', sizeof value - 1);
    for (int i = 0; i < 12; i++) {
        snprintf(key, sizeof key, "filler %lu/%d", round, i);
        set(cache, key, value);
        get(cache, key);
    }
}
static void fill_up(larder *cache, unsigned long round) {
    for (unsigned long i = 0; round == 1 && i < 60; i++) {
        do_fill(cache, 1000000 + i);
    }
    set(cache, "subject", "old");
}
static void do_grow(larder *cache, unsigned long round) {
    char key[40];
    for (int i = 0; i < 60; i++) {
        snprintf(key, sizeof key, "%lu.%d", round, i);
        set(cache, key, "");
    }
}

static const operation operations[] = {
    {"set", NULL, NULL, do_set, "new", "new", true, 8 << 20},
    {"overwrite", "old", NULL, do_set, "new", "new", true, 8 << 20},
    {"delete", "old", NULL, do_delete, NULL, NULL, true, 8 << 20},
    {"increment", "7", put_number, do_increment, "8", "1", true, 8 << 20},
    {"increment of text", "7", NULL, do_increment, "8", "1", true, 8 << 20},
    {"touch", "old", NULL, do_touch, "old", NULL, true, 8 << 20},
    {"compare and swap", "old", NULL, do_swap, "new", NULL, true, 8 << 20},
    {"large overwrite", old_large, NULL, do_set_large, new_large, new_large, true, 8 << 20},
    {"evicting sets", "old", fill_up, do_fill, NULL, NULL, false, 1 << 20},
    {"growing index", "old", NULL, do_grow, NULL, NULL, false, 1 << 20},
};

static unsigned long stops, met;

static unsigned long next_point(unsigned long at, bool concerned) {
    const char *told = getenv("LARDER_CRASH_STRIDE");
    unsigned long stride = told ? (at < 200 ? 1 : 23) * strtoul(told, NULL, 10) : 0;
    if (!stride) {
        stride = at < 60 ? (concerned ? 1 : 3) : at < 600 ? 41 : 499;
    }
    return at + stride;
}

static size_t bystander(int i, char key[32]) { return (size_t)snprintf(key, 32, "bystander %d", i); }

static bool holds(larder *cache, int i, uint64_t stamp, bool or_miss) {
    char key[32];
    unsigned char want[40], have[40];
    describe(want, sizeof want, (uint64_t)i, stamp);
    larder_status status = larder_get(cache, key, bystander(i, key), have, sizeof have, NULL, NULL);
    return status == LARDER_OK ? stamp && memcmp(want, have, sizeof want) == 0
                               : status == LARDER_MISS && (or_miss || !stamp);
}

static larder_status store_bystander(larder *cache, int i, uint64_t stamp) {
    char key[32];
    unsigned char value[40];
    describe(value, sizeof value, (uint64_t)i, stamp);
    larder_store store = {.key = key, .key_bytes = bystander(i, key), .value = value, .value_bytes = sizeof value};
    return larder_set(cache, &store, NULL);
}

static bool is_held(larder *cache, const char *key) {
    lard_hash hash = lard_hash_key(cache->core->map, key, strlen(key), false);
    lard_view view = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &hash));
    return lard_load(&view.header->lock) != 0;
}

/* How the subject was dealt with while the child stood still. */
enum dealing { LEFT_ALONE, DELETED, STORED, DEALINGS };

typedef struct {
    uint64_t stamps[BYSTANDERS]; /* what each must hold now; 0: nothing */
    enum dealing dealing;
    bool refused;
    unsigned long stopped, held;
} state;

static bool subject_is_one_of(larder *cache, const char *a, const char *b) {
    const char *have = get(cache, "subject");
    return !have || (a && strcmp(have, a) == 0) || (b && strcmp(have, b) == 0);
}

static void while_it_stands_still(larder *cache, const operation *op, state *s, unsigned long at) {
    bool evicts = !op->concerned;
    char key[32];
    int64_t start = now_us();
    for (int i = 0; i < BYSTANDERS; i++) {
        CHECK(holds(cache, i, s->stamps[i], evicts), "%s, stopped at %lu: bystander %d", op->name, at, i);
    }
    CHECK(subject_is_one_of(cache, op->before, op->after), "%s, stopped at %lu", op->name, at);
    for (int i = 0; i < BYSTANDERS; i += 3) {
        larder_status status = larder_delete(cache, key, bystander(i, key), NULL);
        CHECK(status == LARDER_OK || (status == LARDER_MISS && evicts), "%s, at %lu", op->name, at);
        s->stamps[i] = 0;
        CHECK(holds(cache, i, 0, false), "%s, stopped at %lu: deleted %d", op->name, at, i);
    }
    for (int i = 1; i < BYSTANDERS; i += 45) { /* a few that were left, a few that are deleted already */
        bystander(i, key);
        bool held = is_held(cache, key);
        s->held += held;
        larder_status status = store_bystander(cache, i, 1000 + at);
        CHECK(status == (held ? LARDER_BUSY : LARDER_OK), "%s, stopped at %lu: %s", op->name, at,
              larder_status_name(status));
        s->stamps[i] = held ? 0 : 1000 + at;
        CHECK(holds(cache, i, s->stamps[i], evicts), "%s, stopped at %lu: stored %d", op->name, at, i);
    }
    s->refused = false;
    if (s->dealing == DELETED) {
        larder_status status = larder_delete(cache, "subject", 7, NULL);
        CHECK(status == LARDER_OK || status == LARDER_MISS);
        CHECK(is(cache, "subject", NULL), "%s, stopped at %lu", op->name, at);
    } else if (s->dealing == STORED) {
        larder_status status = set(cache, "subject", "third");
        s->refused = status == LARDER_BUSY;
        CHECK(s->refused ? is_held(cache, "subject") : status == LARDER_OK, "%s, at %lu", op->name, at);
        CHECK(is(cache, "subject", s->refused ? NULL : "third"), "%s, stopped at %lu", op->name, at);
    }
    CHECK(now_us() - start < 10000000, "%s, stopped at %lu", op->name, at);
}

static void once_it_went_on(larder *cache, const operation *op, const state *s, unsigned long at) {
    bool evicts = !op->concerned;
    for (int i = 0; i < BYSTANDERS; i++) {
        CHECK(holds(cache, i, s->stamps[i], evicts), "%s, stopped at %lu: bystander %d afterwards", op->name, at,
              i);
    }
    if (s->dealing == LEFT_ALONE) {
        CHECK(is(cache, "subject", op->concerned ? op->after : op->before) ||
                  (evicts && is(cache, "subject", NULL)),
              "%s, stopped at %lu: '%.20s' afterwards", op->name, at, get(cache, "subject"));
    } else {
        const char *third = s->dealing == STORED && !s->refused ? "third" : NULL;
        CHECK(subject_is_one_of(cache, op->from_gone, third), "%s, stopped at %lu, subject %s: '%.20s' afterwards",
              op->name, at, s->dealing == DELETED ? "deleted" : "stored", get(cache, "subject"));
    }
    CHECK(sound(cache), "%s, stopped at %lu", op->name, at);
    CHECK(set(cache, "subject", "fourth") == LARDER_OK && is(cache, "subject", "fourth"));
}

static void one_operation(const operation *op) {
    larder *cache = open_cache(op->size_bytes);
    state s = {.dealing = LEFT_ALONE};
    CHECK(cache);
    cache->core->lock_timeout_ms = 3;
    memset(old_large, 'o', LARGE - 1);
    memset(new_large, 'n', LARGE - 1);
    for (unsigned long at = 1, round = 1;; at = next_point(at, op->concerned), round++) {
        s.dealing = (enum dealing)(round % DEALINGS);
        larder_delete(cache, "subject", 7, NULL);
        if (op->prepare) {
            op->prepare(cache, round);
        } else if (op->before) {
            CHECK(set(cache, "subject", op->before) == LARDER_OK);
        }
        for (int i = 0; i < BYSTANDERS; i++) {
            if (!s.stamps[i] || !op->concerned) {
                s.stamps[i] = round;
                CHECK(store_bystander(cache, i, round) == LARDER_OK);
            }
        }
        pid_t child = fork_child();
        if (child == 0) {
            lard_crash_signal = SIGSTOP;
            lard_crash_count = 0;
            lard_crash_at = at;
            op->act(cache, round);
            _exit(0);
        }
        int status = wait_within(child, LONGEST_MS);
        if (status != -1 && WIFSTOPPED(status)) {
            s.stopped++;
            int before = test_failures;
            while_it_stands_still(cache, op, &s, at);
            kill(child, SIGCONT);
            CHECK(exited_well(child));
            if (test_failures == before) {
                once_it_went_on(cache, op, &s, at);
            }
            if (test_failures != before) {
                return;
            }
        } else {
            CHECK(status == 0, "%s: status %x", op->name, status);
            break;
        }
    }
    CHECK(s.stopped > 0);
    printf("  %s: stopped at %lu stores, %lu stores met the lock held\n", op->name, s.stopped, s.held);
    stops += s.stopped;
    met += s.held;
    larder_close(cache);
}

/* clang-format off */
#define ONE(i) static void operation_##i(void) { one_operation(&operations[i]); }
ONE(0) ONE(1) ONE(2) ONE(3) ONE(4) ONE(5) ONE(6) ONE(7) ONE(8) ONE(9)
    /* clang-format on */

    static void say_counts(void) {
    CHECK(stops > 100 && met > 100);
    printf("@ %lu processes stopped at a store while everybody else went on\n", stops);
    printf("@note Stops take every store up to the 200th in a full run, then every 23rd; fewer in a quick one\n");
    printf("@ %lu writers refused in time, for the stopped one held the lock\n", met);
}

static const test_case tests[] = {
    TEST(operation_0, "a process stopped in a set keeps no one from anything else"),
    TEST(operation_1, "a process stopped in an overwrite brings no old value back"),
    TEST(operation_2, "a process stopped in a delete brings nothing back"),
    TEST(operation_3, "a process stopped in an increment brings no deleted counter back"),
    TEST(operation_4, "a process stopped while it makes text a counter brings no deleted number back"),
    TEST(operation_5, "a process stopped in a touch brings no deleted value back"),
    TEST(operation_6, "a process stopped in a compare-and-swap brings no old value back"),
    TEST(operation_7, "a process stopped in a large set keeps no one from anything else"),
    TEST(operation_8, "a process stopped while it evicts brings nothing back"),
    TEST(operation_9, "a process stopped while the index grows brings nothing back"),
    TEST(say_counts, "counts"),
};
RUN("stopped at stores", tests)
