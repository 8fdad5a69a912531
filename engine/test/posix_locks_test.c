/*
 * posix_locks_test.c — opens and closes a cache in threads where its locks are POSIX locks, as on overlayfs: the
 * close of any descriptor of the lock file drops all of them.
 *
 * The linker puts functions in the place of lard_filesystem_is_stacked and lard_page_sync (Makefile).
 */
#include "children.h"

#include <pthread.h>

int __wrap_lard_filesystem_is_stacked(int fd);
int __wrap_lard_filesystem_is_stacked(int fd) { return (void)fd, 1; }

enum { OPENS_MS = 300 }; /* an open takes less time if it does not wait */
static uint32_t stage, opened;
static bool is_slow;

int __real_lard_page_sync(uint8_t *base, size_t from, size_t bytes);
int __wrap_lard_page_sync(uint8_t *base, size_t from, size_t bytes);
int __wrap_lard_page_sync(uint8_t *base, size_t from, size_t bytes) {
    if (is_slow) {
        is_slow = false;
        advance(&stage);
        for (int waited = 0; waited < OPENS_MS && !__atomic_load_n(&opened, __ATOMIC_ACQUIRE); waited++) {
            sleep_us(1000);
        }
        advance(&stage);
    }
    return __real_lard_page_sync(base, from, bytes);
}

static larder *cache;

static void find_slot_lock(void *unused) { /* another process; a process does not see its own POSIX locks */
    (void)unused;
    CHILD_CHECK(cache->core->slot_lock.held && cache->core->slot_lock.page == NULL);
    CHILD_CHECK(
        lard_bytelock_held(&cache->core->lock, test_path("t.larder.lock"), cache->core->slot_lock.byte, 1) == 1);
}

static void *close_it(void *handle) {
    larder_close(handle);
    return NULL;
}

static void keeps_its_slot(void) {
    pthread_t closing;
    cache = open_cache(1 << 20);
    CHECK(cache && set(cache, "k", "v") == LARDER_OK && in_child(find_slot_lock, NULL));
    stage = opened = 0;
    is_slow = true;
    CHECK(pthread_create(&closing, NULL, close_it, cache) == 0 && await(&stage, 1));
    cache = open_cache(1 << 20);
    uint32_t at = __atomic_load_n(&stage, __ATOMIC_ACQUIRE);
    __atomic_store_n(&opened, 1, __ATOMIC_RELEASE);
    CHECK(pthread_join(closing, NULL) == 0 && cache);
    CHECK(in_child(find_slot_lock, NULL), "its process slot is not locked");
    CHECK(at == 2, "it was opened before it was closed");
    CHECK(is(cache, "k", "v") && sound(cache));
    larder_close(cache);
}

static void does_not_wait_for_ever(void) {
    larder_error error = {.status = LARDER_OK};
    larder_options options = {.size_bytes = 1 << 20, .attach_later = 1};
    pthread_t closing;
    cache = open_cache(1 << 20);
    stage = opened = 0;
    is_slow = true;
    CHECK(cache && pthread_create(&closing, NULL, close_it, cache) == 0 && await(&stage, 1));
    CHECK(larder_open(test_path("t.larder"), &options, &cache, &error) == LARDER_OK);
    CHECK(larder_attach(cache, 20, &error) == LARDER_LOCKED && strstr(error.detail, "closing"), "%s",
          error.detail);
    __atomic_store_n(&opened, 1, __ATOMIC_RELEASE);
    CHECK(pthread_join(closing, NULL) == 0);
    CHECK(larder_attach(cache, 5000, &error) == LARDER_OK && set(cache, "k", "v") == LARDER_OK);
    larder_close(cache);
}

static int descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < 1024; fd++) {
        count += fcntl(fd, F_GETFD) != -1;
    }
    return count;
}

static void does_not_keep_all_lock_files(void) {
    int before = descriptors(), some = 0;
    cache = open_cache(1 << 20);
    for (int i = 0; i < 40; i++) {
        CHECK(unlink(test_path("t.larder")) == 0 && unlink(test_path("t.larder.lock")) == 0);
        cache->core->next_look_ms = 0;
        cache->core->store_ms = 0; /* a store at the time of the last one does not look */
        CHECK(set(cache, "k", "v") == LARDER_OK && is(cache, "k", "v"));
        some = i == 20 ? descriptors() : some;
    }
    CHECK(descriptors() == some, "%d open after 20 removals, %d after 40", some, descriptors());
    CHECK(in_child(find_slot_lock, NULL), "its process slot is not locked");
    larder_close(cache);
    CHECK(descriptors() == before, "%d open before, %d after", before, descriptors());
}

static const test_case tests[] = {
    TEST(keeps_its_slot, "a cache that is opened while a thread closes it keeps its process slot"),
    TEST(does_not_wait_for_ever, "an attempt to attach waits for the close as long as for another opener"),
    TEST(does_not_keep_all_lock_files, "lock files that were removed do not stay open"),
};
RUN("POSIX locks", tests)
