/*
 * shut_crash.c — proves that every store to shared memory is numbered.
 *
 * Every operation of the table, a sample of repairs, and a file's life from creation to replacement run on memory
 * that allows announced stores only (shut.h).
 */
#include "shut.h"

#ifdef SHUT_WORKS
#include "operations_large.h"
#include "operations_plain.h"
#include "operations_shape.h"

static unsigned long operations_run, repairs_run, lives_run;

static void act_shut(larder *c, const char *key) {
    shut_memory(c);
    unsigned long before = shut->stores;
    op->act(c, key);
    shut->numbered += op->has_images ? shut->stores - before : lard_crash_count;
}

static void repair_shut(larder *c, const char *key) {
    (void)key;
    shut_memory(c);
    set(c, "afterwards", "written");
    shut->numbered += lard_crash_count;
}

static bool ran_well(void (*body)(larder *, const char *)) {
    bool hung;
    if (ended(killed_in(body, 0), &hung) && !hung) {
        return true;
    }
    return is_wrong("a store at byte %llu of the file was not announced", (unsigned long long)shut->first_offset);
}

/* The operation as a whole, some times (the cache changes with each), then repairs after deaths in its midst. */
static bool on_shut_memory(void) {
    bool hung;
    int runs = is_full() ? 5 : op->is_long ? 1 : 3;
    for (int i = 0; i < runs; i++) {
        if (!prepare_round() || !ran_well(act_shut) || !everybody_goes_on(true) || !dispose()) {
            return false;
        }
        operations_run++;
    }
    for (unsigned long at = 5; at < 40; at += is_full() ? 4 : 11) {
        if (!prepare_round()) {
            return false;
        }
        bool survived = ended(killed_in(op->act, at), &hung);
        if (hung || !ran_well(repair_shut) || !everybody_goes_on(survived)) {
            return false;
        }
        repairs_run++;
    }
    return true;
}

#define EACH_OF(operations)                                                 \
    for (unsigned i = 0; i < sizeof operations / sizeof *operations; i++) { \
        with_operation(&operations[i], i + 1, on_shut_memory);              \
    }
static void plain(void) { EACH_OF(plain_operations) }
static void large(void) { EACH_OF(large_operations) }
static void shape(void) { EACH_OF(shape_operations) }

static bool damage_superblocks(void) {
    char wrong[8] = "LARDER\r\n", junk[64];
    memset(junk, 7, sizeof junk);
    int fd = open(test_path("t.larder"), O_RDWR);
    bool done = fd >= 0 && pwrite(fd, wrong, 8, 0) == 8 && pwrite(fd, junk, sizeof junk, 8) == sizeof junk &&
                pwrite(fd, junk, sizeof junk, LARD_PAGE + 8) == sizeof junk;
    close(fd);
    return done;
}

/* Made, used, closed, opened, forked, replaced under the one who has it open, opened again. */
static void a_life(void *with) {
    (void)with;
    shut_memory(NULL);
    larder *c = open_cache(1 << 20);
    CHILD_CHECK(c && set(c, "k", "v") == LARDER_OK && is(c, "k", "v"));
    larder_close(c);
    c = open_cache(1 << 20);
    CHILD_CHECK(c && is(c, "k", "v"));
    pid_t child = fork_child();
    if (child == 0) {
        CHILD_CHECK(set(c, "forked", "v") == LARDER_OK && is(c, "k", "v"));
        shut->numbered += lard_crash_count;
        larder_close(c);
        _exit(0);
    }
    CHILD_CHECK(exited_well(child) && is(c, "forked", "v"));
    lard_map_supersede(c->core->map);
    CHILD_CHECK(set(c, "k", "in the new one") == LARDER_OK && is(c, "forked", NULL));
    larder_close(c);
    CHILD_CHECK(damage_superblocks());
    c = open_cache(1 << 20);
    CHILD_CHECK(c && is(c, "k", NULL) && set(c, "k", "v") == LARDER_OK);
    larder_close(c);
    shut->numbered += lard_crash_count;
}
static void lives(void) {
    CHECK(in_child(a_life, NULL), "byte %llu of the file", (unsigned long long)shut->first_offset);
    lives_run++;
}

/* So far no system call has changed a file: each number must have been a store that came, and none twice. */
static void all_came(void) {
    CHECK(shut->stores == shut->numbered, "%lu stores, %lu numbered", shut->stores, shut->numbered);
}

/* That the check can fail: each of these must be noticed. */
static void plain_store(void *with) {
    larder *c = with;
    shut_memory(c);
    *(volatile uint32_t *)&c->core->map->control->clear_epoch = 5;
}
static void copied_store(void *with) {
    larder *c = with;
    shut_memory(c);
    memset(the_shard(c).header, 0, 8);
}
static void store_elsewhere(void *with) { /* announced for one word, made to its neighbour */
    larder *c = with;
    shut_memory(c);
    lard_crash_store = &the_shard(c).header->items;
    *(volatile uint32_t *)&the_shard(c).header->free_segments = 5;
}
static void second_store(void *with) { /* announced once, made twice */
    larder *c = with;
    shut_memory(c);
    lard_store(&the_shard(c).header->items, 5);
    *(volatile uint64_t *)&the_shard(c).header->items = 5;
}
static void swapped_word(void *with) {
    larder *c = with;
    shut_memory(c);
    uint64_t *word = (uint64_t *)&the_shard(c).header->items, found = *word;
    __atomic_compare_exchange_n(word, &found, found + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
enum { WRONG_ONES = 5 };
static void noticed(void) {
    void (*const wrong_ones[WRONG_ONES])(void *) = {plain_store, copied_store, store_elsewhere, second_store,
                                                    swapped_word};
    unsigned long announced = shut->stores, advice = shut->advice;
    larder *c = open_cache(1 << 20);
    CHECK(c);
    for (unsigned i = 0; i < WRONG_ONES; i++) {
        pid_t child = fork_child();
        if (child == 0) {
            if (!freopen("/dev/null", "w", stderr)) {
                _exit(1);
            }
            wrong_ones[i](c);
            _exit(0);
        }
        int status = wait_within(child, LONGEST_MS);
        CHECK(status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 99, "store %u: status %x", i, status);
    }
    CHECK(shut->unannounced == WRONG_ONES);
    larder_close(c);
    shut->stores = announced;
    shut->advice = advice;
    printf("@ %d stores made on purpose outside the macro, all noticed\n", WRONG_ONES);
}

static void say_counts(void) {
    CHECK(operations_run > 100 && repairs_run > 100 && lives_run && shut->stores > 10000);
    CHECK(shut->stores < shut->numbered, "no system call was numbered");
    printf("@ %lu stores to memory that was shut, each announced for its very word\n", shut->stores);
    printf("@ 0 stores that were not announced, but for %lu of advice and %lu that change nothing\n", shut->advice,
           shut->unchanged);
    printf("@ %lu runs of operations and %lu of writers after a death with the memory shut\n", operations_run,
           repairs_run);
}

static void begin(void) {
    begin_tally();
    shut = shared_memory(sizeof *shut);
}

static const test_case tests[] = {
    TEST(begin, "there is a tally"),
    TEST(plain, "operations on short values store nothing outside the macro"),
    TEST(large, "operations on large values store nothing outside the macro"),
    TEST(shape, "eviction, growth, moves, clear, reset and repair store nothing outside the macro"),
    TEST(all_came, "as many stores came as were announced"),
    TEST(lives, "opening, closing, forking and replacing store nothing outside the macro"),
    TEST(say_counts, "counts"),
    TEST(noticed, "a store outside the macro is noticed"),
};
#else
static void not_here(void) { printf("@note Stores outside the macro are looked for on Linux and x86-64 only\n"); }
static const test_case tests[] = {TEST(not_here, "not here")};
#endif
RUN_IN_MEMORY("memory that is shut", tests)
