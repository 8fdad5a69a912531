/*
 * points_crash.c — a child is killed at each store to shared memory of each operation;
 * then the parent must write, read, verify, and find every other value intact.
 * Where an operation has thousands of like stores (zeroing a page), some are skipped;
 * LARDER_CRASH_STRIDE=1 takes them all.
 */
#include "harness.h"

extern unsigned long lard_crash_at, lard_crash_count;

enum { BYSTANDERS = 200, VALUE = 40 };
static unsigned long killed;

static void bystander(int i, char *key, unsigned char *value) {
    snprintf(key, 32, "bystander %d", i);
    describe(value, VALUE, (uint64_t)i, 9);
}

static bool bystanders_stand(larder *cache, bool may_be_evicted) {
    char key[32];
    unsigned char want[VALUE], have[VALUE];
    for (int i = 0; i < BYSTANDERS; i++) {
        bystander(i, key, want);
        larder_status status = larder_get(cache, key, strlen(key), have, VALUE, NULL, NULL);
        if (status == LARDER_MISS && may_be_evicted) {
            larder_store store = {.key = key, .key_bytes = strlen(key), .value = want, .value_bytes = VALUE};
            if (larder_set(cache, &store, NULL) != LARDER_OK) {
                return false;
            }
            continue;
        }
        if (status != LARDER_OK || memcmp(want, have, VALUE) != 0) {
            fprintf(stderr, "  %s: %s\n", key, larder_status_name(status));
            return false;
        }
    }
    return true;
}

typedef struct {
    const char *name;
    void (*prepare)(larder *cache, unsigned long round);
    larder_status (*act)(larder *cache, unsigned long round);
    const char *key;
    const char *before, *after; /* the only values allowed, beside a miss where `may_miss` */
    bool may_miss, evicts;
} operation;

static void put_old(larder *cache, unsigned long round) {
    (void)round;
    set(cache, "subject", "old");
}
static void remove_subject(larder *cache, unsigned long round) {
    (void)round;
    larder_delete(cache, "subject", 7, NULL);
}
static void put_number(larder *cache, unsigned long round) {
    int64_t n;
    (void)round;
    larder_delete(cache, "subject", 7, NULL);
    larder_increment(cache, "subject", 7, 7, 0, 0, &n, NULL);
}
static void put_text_number(larder *cache, unsigned long round) {
    (void)round;
    set(cache, "subject", "7");
}
static larder_status do_set(larder *cache, unsigned long round) {
    (void)round;
    return set(cache, "subject", "new");
}
static larder_status do_delete(larder *cache, unsigned long round) {
    (void)round;
    return larder_delete(cache, "subject", 7, NULL);
}
static larder_status do_increment(larder *cache, unsigned long round) {
    int64_t n;
    (void)round;
    return larder_increment(cache, "subject", 7, 1, 0, 0, &n, NULL);
}
static larder_status do_touch(larder *cache, unsigned long round) {
    (void)round;
    return larder_touch(cache, "subject", 7, 1000000, NULL);
}
static larder_status do_cas(larder *cache, unsigned long round) {
    larder_store store = {.key = "subject", .key_bytes = 7, .value = "new", .value_bytes = 3};
    (void)round;
    return larder_cas(cache, &store, "old", 3, NULL);
}
static larder_status do_clear_and_set(larder *cache, unsigned long round) {
    (void)round;
    larder_clear(cache);
    return set(cache, "subject", "new");
}
static char old_large[20000], new_large[20000];
static void put_large(larder *cache, unsigned long round) {
    (void)round;
    memset(old_large, 'o', sizeof old_large - 1);
    memset(new_large, 'n', sizeof new_large - 1);
    set(cache, "subject", old_large);
}
static larder_status do_set_large(larder *cache, unsigned long round) {
    (void)round;
    return set(cache, "subject", new_large);
}
static larder_status do_fill(larder *cache, unsigned long round) { /* evicts: the cache is full of these */
    char key[40];
    static char filler[3000];
    memset(filler, 'f', sizeof filler - 1);
    for (int i = 0; i < 12; i++) {
        snprintf(key, sizeof key, "filler %lu/%d", round, i);
        set(cache, key, filler);
        get(cache, key);
    }
    return LARDER_OK;
}
static void fill_up(larder *cache, unsigned long round) {
    if (round == 1) {
        for (unsigned long i = 0; i < 60; i++) {
            do_fill(cache, 1000000 + i);
        }
    }
    set(cache, "subject", "old");
}
static larder_status do_grow(larder *cache, unsigned long round) { /* splits and moves */
    char key[40];
    for (int i = 0; i < 40; i++) {
        snprintf(key, sizeof key, "%lu.%d", round, i);
        set(cache, key, "");
    }
    return LARDER_OK;
}

static const operation operations[] = {
    {"set", remove_subject, do_set, "subject", NULL, "new", true, false},
    {"overwrite", put_old, do_set, "subject", "old", "new", false, false},
    {"delete", put_old, do_delete, "subject", "old", NULL, true, false},
    {"increment", put_number, do_increment, "subject", "7", "8", false, false},
    {"first increment", remove_subject, do_increment, "subject", NULL, "1", true, false},
    {"increment of text", put_text_number, do_increment, "subject", "7", "8", false, false},
    {"touch", put_old, do_touch, "subject", "old", "old", false, false},
    {"compare and swap", put_old, do_cas, "subject", "old", "new", false, false},
    {"large set", put_large, do_set_large, "subject", old_large, new_large, false, false},
    {"clear", put_old, do_clear_and_set, "subject", "old", "new", true, true},
    {"evicting sets", fill_up, do_fill, "subject", "old", "old", true, true},
    {"growing index", put_old, do_grow, "subject", "old", "old", true, true},
};

static unsigned long stride(unsigned long at) {
    const char *told = getenv("LARDER_CRASH_STRIDE");
    if (told) {
        return strtoul(told, NULL, 10);
    }
    return at < 250 ? 1 : at < 2000 ? 23 : 331;
}

static void one_operation(const operation *op) {
    larder *cache = open_cache(1 << 20);
    CHECK(cache && bystanders_stand(cache, true));
    for (unsigned long at = 1, round = 1;; at += stride(at), round++) {
        op->prepare(cache, round);
        if (op->before) {
            CHECK(op->evicts || is(cache, op->key, op->before), "%s, before point %lu", op->name, at);
        }
        pid_t child = fork();
        if (child == 0) {
            lard_crash_count = 0;
            lard_crash_at = at;
            op->act(cache, round);
            _exit(0);
        }
        int status = wait_for(child);
        bool done = WIFEXITED(status);
        killed += !done;
        CHECK(done || WTERMSIG(status) == SIGKILL);
        /* The first write after it meets every shard and repairs what was left behind. */
        CHECK(bystanders_stand(cache, op->evicts), "%s, killed at point %lu", op->name, at);
        CHECK(set(cache, "afterwards", "written") == LARDER_OK && is(cache, "afterwards", "written"));
        CHECK(sound(cache), "%s, killed at point %lu", op->name, at);
        const char *have = get(cache, op->key);
        bool allowed =
            !have ? op->may_miss || !op->before
                  : (op->before && strcmp(have, op->before) == 0) || (op->after && strcmp(have, op->after) == 0);
        CHECK(allowed, "%s, killed at point %lu: '%.20s'", op->name, at, have ? have : "(miss)");
        if (done) {
            CHECK(op->evicts || (op->after ? have && strcmp(have, op->after) == 0 : !have), "%s done", op->name);
            break;
        }
    }
    larder_close(cache);
}

/* clang-format off */
#define ONE(i) static void operation_##i(void) { one_operation(&operations[i]); }
ONE(0) ONE(1) ONE(2) ONE(3) ONE(4) ONE(5) ONE(6) ONE(7) ONE(8) ONE(9) ONE(10) ONE(11)
    /* clang-format on */

    static void say_count(void) {
    printf("@ %lu children killed, each at another store of an operation\n", killed);
}

static const test_case tests[] = {
    TEST(operation_0, "a set killed at any store"),
    TEST(operation_1, "an overwrite killed at any store leaves old or new"),
    TEST(operation_2, "a delete killed at any store"),
    TEST(operation_3, "an increment killed at any store leaves old or new"),
    TEST(operation_4, "a first increment killed at any store"),
    TEST(operation_5, "an increment of text killed at any store"),
    TEST(operation_6, "a touch killed at any store"),
    TEST(operation_7, "a compare-and-swap killed at any store"),
    TEST(operation_8, "a large set killed at any store leaves old or new"),
    TEST(operation_9, "a clear killed at any store"),
    TEST(operation_10, "evicting sets killed at any store"),
    TEST(operation_11, "a growing index killed at any store"),
    TEST(say_count, "count"),
};
RUN("crash points", tests)
