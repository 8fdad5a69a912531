/*
 * dirty_test.c — checks that no call stores to a clean page while it holds a lock.
 *
 * The first store to a page after it was written back may wait for the file system. Here all pages are made
 * read-only before each call. The handler of the fault tells whether the lock is held, and makes the page
 * writable.
 */
#include "harness.h"

#include <signal.h>
#include <sys/mman.h>

static larder *cache;
static int faults, under_the_lock;

static void on_fault(int signal, siginfo_t *info, void *context) {
    uintptr_t page = (uintptr_t)info->si_addr / LARD_PAGE * LARD_PAGE;
    (void)signal;
    (void)context;
    if (page - (uintptr_t)cache->core->map->base >= cache->core->map->bytes ||
        mprotect((void *)page, LARD_PAGE, PROT_READ | PROT_WRITE) != 0) {
        abort();
    }
    faults++;
    for (uint32_t shard = 0; shard < cache->core->map->super.shard_count; shard++) {
        lard_view view = lard_view_of(cache->core->map, shard);
        under_the_lock += lard_load(&view.header->lock) != 0;
    }
}

static void begin(uint64_t bytes) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    cache = open_cache(bytes);
    cache->core->map->is_on_disk = true; /* wherever the tests are run */
    sigaction(SIGSEGV, &action, NULL);
}

static void end(void) {
    mprotect(cache->core->map->base, cache->core->map->bytes, PROT_READ | PROT_WRITE);
    signal(SIGSEGV, SIG_DFL);
    CHECK(sound(cache));
    larder_close(cache);
}

static larder_status put(const char *kind, int i, size_t bytes) {
    static unsigned char value[200000];
    char key[32];
    larder_store store = {.key = key,
                          .key_bytes = (size_t)snprintf(key, sizeof key, "%s %d", kind, i),
                          .value = value,
                          .value_bytes = bytes};
    return larder_set(cache, &store, NULL);
}

static void protect(void) {
    faults = under_the_lock = 0;
    CHECK(mprotect(cache->core->map->base, cache->core->map->bytes, PROT_READ) == 0);
}

/* Some calls open a segment or split a bucket, whose pages nobody knows before. */
static void few_calls_may_wait(const char *kind, size_t bytes, int count, int few) {
    int waited = 0, seen = 0;
    for (int i = 0; i < count; i++) {
        protect();
        CHECK(put(kind, i, bytes) == LARDER_OK);
        seen += faults;
        waited += under_the_lock > 0;
    }
    CHECK(seen > 2 * count, "%d faults of %d calls", seen, count);
    CHECK(waited <= few, "%d of %d sets of %d bytes waited with a lock", waited, count, (int)bytes);
}

static void sets_wait_before_the_lock(void) {
    begin(4 << 20);
    for (int i = 0; i < 1500; i++) { /* buckets, so that few are split */
        CHECK(put("item", i, 100) == LARDER_OK);
    }
    few_calls_may_wait("item", 100, 500, 5); /* present */
    few_calls_may_wait("new", 100, 100, 30); /* each may split a bucket */
    few_calls_may_wait("item", 3000, 100, 12);
    few_calls_may_wait("item", 30000, 10, 9); /* in chunks, most of which open a segment */
    end();
}

static void changes_in_place_wait_before_the_lock(void) {
    int64_t number;
    begin(4 << 20);
    CHECK(put("item", 1, 5000) == LARDER_OK);
    CHECK(larder_increment(cache, "counter", 7, 1, 0, 0, &number, NULL) == LARDER_OK);
    for (int i = 0; i < 20; i++) {
        protect();
        CHECK(larder_increment(cache, "counter", 7, 1, 0, 0, &number, NULL) == LARDER_OK && number == i + 2);
        CHECK(faults > 0 && under_the_lock == 0, "increment: %d of %d", under_the_lock, faults);
        protect();
        CHECK(larder_touch(cache, "item 1", 6, 100000 + i, NULL) == LARDER_OK);
        CHECK(faults > 0 && under_the_lock == 0, "touch: %d of %d", under_the_lock, faults);
    }
    end();
}

static const test_case tests[] = {
    TEST(sets_wait_before_the_lock, "sets make pages dirty before they take the lock"),
    TEST(changes_in_place_wait_before_the_lock, "changes in place make pages dirty before they take the lock"),
};
RUN("dirty", tests)
