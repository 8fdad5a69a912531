/*
 * threads_test.c — uses one handle in many threads of one process, and opens and closes it concurrently.
 *
 * Runs under ThreadSanitizer too (make tsan-test).
 */
#include "children.h"

#include <pthread.h>

enum { THREADS = 6, KEYS = 64, LARGEST = 12000 };

static larder *cache;
static uint32_t failures; /* of threads: CHECK returns from the function it is in */

#define THREAD_CHECK(condition)                                                                                   \
    do {                                                                                                          \
        if (!(condition)) {                                                                                       \
            fprintf(stderr, "  %s:%d: a thread of %s: %s not true\n", __FILE__, __LINE__, test_name, #condition); \
            advance(&failures);                                                                                   \
            return NULL;                                                                                          \
        }                                                                                                         \
    } while (0)

static int rounds(int usual) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    return usual / 10;
#else
    return usual;
#endif
}

static bool all_threads(void *(*body)(void *)) {
    pthread_t threads[THREADS];
    failures = 0;
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, body, (void *)(uintptr_t)i) != 0) {
            return false;
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    return failures == 0;
}

/* Values that prove themselves; harness.h's `describes` is for single threads. */
static bool is_of_key(const unsigned char *value, size_t bytes, int key) {
    unsigned char want[LARGEST];
    uint64_t stamp;
    memcpy(&stamp, value, sizeof stamp);
    describe(want, bytes, (uint64_t)key, stamp);
    return memcmp(want, value, bytes) == 0;
}

static void *use_all_of_it(void *number) {
    unsigned char value[LARGEST];
    char key[32], counter[32];
    uint64_t state = (uint64_t)(uintptr_t)number + 100;
    int64_t n;
    for (int i = 0; i < rounds(60000); i++) {
        uint64_t random = next_random(&state);
        int k = (int)(random % KEYS);
        size_t key_bytes = (size_t)snprintf(key, sizeof key, "key %d", k);
        size_t counter_bytes = (size_t)snprintf(counter, sizeof counter, "counter %d", k % 4);
        larder_item item;
        larder_status status;
        size_t bytes = random >> 56 == 9 ? 8 + random % (LARGEST - 8) : 8 + random % 500;
        larder_store store = {.key = key, .key_bytes = key_bytes, .value = value, .value_bytes = bytes};
        switch ((random >> 32) % 8) {
        case 0:
        case 1:
            describe(value, bytes, (uint64_t)k, random);
            status = larder_set(cache, &store, NULL);
            THREAD_CHECK(status == LARDER_OK);
            break;
        case 2:
            status = larder_delete(cache, key, key_bytes, NULL);
            THREAD_CHECK(status == LARDER_OK || status == LARDER_MISS);
            break;
        case 3:
            THREAD_CHECK(larder_increment(cache, counter, counter_bytes, 1, 0, 0, &n, NULL) == LARDER_OK);
            break;
        case 4:
            status = larder_touch(cache, key, key_bytes, 3600000, NULL);
            THREAD_CHECK(status == LARDER_OK || status == LARDER_MISS);
            break;
        default:
            status = larder_get(cache, key, key_bytes, value, sizeof value, &item, NULL);
            THREAD_CHECK(status == LARDER_MISS ||
                         (status == LARDER_OK && item.size_bytes >= 8 && is_of_key(value, item.size_bytes, k)));
        }
    }
    return NULL;
}

static void threads_share_a_handle(void) {
    cache = open_cache(32 << 20);
    cache->core->lock_timeout_ms = 20000; /* threads are slow under a sanitizer */
    CHECK(all_threads(use_all_of_it));
    larder_stats stats;
    CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.resets == 0 && stats.repairs == 0 &&
          stats.damaged == 0);
    CHECK(sound(cache));
    larder_close(cache);
}

static void *add_one_again_and_again(void *number) {
    int64_t n;
    (void)number;
    for (int i = 0; i < rounds(30000); i++) {
        THREAD_CHECK(larder_increment(cache, "sum", 3, 1, 0, 0, &n, NULL) == LARDER_OK);
        if (i % 4 == 0) {
            THREAD_CHECK(larder_increment(cache, "zero", 4, i % 8 ? 1 : -1, 0, 0, &n, NULL) == LARDER_OK);
        }
    }
    return NULL;
}

static void increments_are_not_lost(void) {
    char want[32];
    cache = open_cache(4 << 20);
    cache->core->lock_timeout_ms = 20000;
    CHECK(all_threads(add_one_again_and_again));
    snprintf(want, sizeof want, "%d", THREADS * rounds(30000));
    CHECK(is(cache, "sum", want), "%s, not %s", get(cache, "sum"), want);
    int odd = THREADS * (rounds(30000) / 4 % 2); /* each pair of -1 and 1 is 0 */
    snprintf(want, sizeof want, "%d", -odd);
    CHECK(is(cache, "zero", want), "%s, not %s", get(cache, "zero"), want);
    larder_close(cache);
}

static uint32_t winners;

/* Everyone swaps n for n + 1 until it worked: as many swaps as sums. */
static void *swap_again_and_again(void *number) {
    (void)number;
    for (int i = 0; i < rounds(3000); i++) {
        for (;;) {
            char have[32], next[32];
            larder_item item;
            THREAD_CHECK(larder_get(cache, "swapped", 7, have, sizeof have - 1, &item, NULL) == LARDER_OK);
            have[item.size_bytes] = '\0';
            larder_store store = {.key = "swapped", .key_bytes = 7, .value = next};
            store.value_bytes = (size_t)snprintf(next, sizeof next, "%d", atoi(have) + 1);
            larder_status status = larder_cas(cache, &store, have, item.size_bytes, NULL);
            THREAD_CHECK(status == LARDER_OK || status == LARDER_NOT_STORED);
            if (status == LARDER_OK) {
                break;
            }
        }
    }
    return NULL;
}

static void *add_what_only_one_can_add(void *number) {
    char key[32];
    (void)number;
    for (int i = 0; i < rounds(5000); i++) {
        larder_store store = {.key = key, .value = "v", .value_bytes = 1, .mode = LARDER_ADD};
        store.key_bytes = (size_t)snprintf(key, sizeof key, "only %d", i);
        larder_status status = larder_set(cache, &store, NULL);
        THREAD_CHECK(status == LARDER_OK || status == LARDER_NOT_STORED);
        if (status == LARDER_OK) {
            advance(&winners);
        }
    }
    return NULL;
}

static void conditions_hold_between_threads(void) {
    char want[32];
    cache = open_cache(16 << 20);
    cache->core->lock_timeout_ms = 20000;
    CHECK(set(cache, "swapped", "0") == LARDER_OK);
    CHECK(all_threads(swap_again_and_again));
    snprintf(want, sizeof want, "%d", THREADS * rounds(3000));
    CHECK(is(cache, "swapped", want), "%s, not %s", get(cache, "swapped"), want);
    winners = 0;
    CHECK(all_threads(add_what_only_one_can_add));
    CHECK(winners == (uint32_t)rounds(5000), "%u", winners);
    larder_close(cache);
}

/* Half add and delete under a key of their own, half add what has expired already under each of these keys. No two
 * delete the same key: a delete may drop what is added while it runs. */
static void *add_beside_what_has_expired(void *number) {
    char key[32], have[32];
    uintptr_t own = (uintptr_t)number;
    bool expired = own % 2;
    larder_store store = {.key = key, .value = key, .mode = LARDER_ADD, .ttl_ms = expired ? -1 : 0};
    for (int i = 0; i < rounds(60000); i++) {
        larder_item item;
        int of = expired ? i * 2 % THREADS : (int)own;
        store.key_bytes = store.value_bytes = (size_t)snprintf(key, sizeof key, "of %d", of);
        larder_status status = larder_set(cache, &store, NULL);
        THREAD_CHECK(status == LARDER_OK || status == LARDER_NOT_STORED);
        if (!expired) {
            THREAD_CHECK(status == LARDER_OK);
            THREAD_CHECK(larder_get(cache, key, store.key_bytes, have, sizeof have, &item, NULL) == LARDER_OK &&
                         item.size_bytes == store.value_bytes && memcmp(have, key, item.size_bytes) == 0);
            THREAD_CHECK(larder_delete(cache, key, store.key_bytes, NULL) == LARDER_OK);
        }
    }
    return NULL;
}

static void an_add_that_has_expired_takes_nothing_away(void) {
    cache = open_cache(1 << 20);
    cache->core->lock_timeout_ms = 20000;
    CHECK(all_threads(add_beside_what_has_expired));
    larder_close(cache);
}

static void *fill_and_read(void *number) {
    char key[32];
    unsigned char value[2000];
    uint64_t state = (uint64_t)(uintptr_t)number;
    for (int i = 0; i < rounds(40000); i++) {
        uint64_t random = next_random(&state);
        int k = (int)(random % 5000);
        larder_item item;
        size_t key_bytes = (size_t)snprintf(key, sizeof key, "many %d", k);
        if (random >> 63) {
            size_t bytes = 8 + (random >> 32) % 1900;
            describe(value, bytes, (uint64_t)k, random);
            larder_store store = {.key = key, .key_bytes = key_bytes, .value = value, .value_bytes = bytes};
            THREAD_CHECK(larder_set(cache, &store, NULL) == LARDER_OK);
        } else if (larder_get(cache, key, key_bytes, value, sizeof value, &item, NULL) == LARDER_OK) {
            THREAD_CHECK(is_of_key(value, item.size_bytes, k));
        }
        if (i % 2000 == 0) {
            THREAD_CHECK(larder_clear(cache) == LARDER_OK);
        }
        if (i % 2500 == 0) {
            static __thread char buffer[8192];
            uint64_t cursor = 0;
            size_t count, used;
            do {
                THREAD_CHECK(larder_scan(cache, &cursor, "many", 4, buffer, sizeof buffer, &count, &used, NULL) ==
                             LARDER_OK);
            } while (cursor);
            larder_report report;
            THREAD_CHECK(larder_verify(cache, &report) == LARDER_OK && report.problems == 0);
        }
    }
    return NULL;
}

static void a_full_cache_is_shared(void) {
    larder_stats stats;
    cache = open_cache(1 << 20);
    cache->core->lock_timeout_ms = 20000;
    CHECK(all_threads(fill_and_read));
    CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.evictions > 0 && stats.damaged == 0);
    CHECK(sound(cache));
    larder_close(cache);
}

/* One prunes and one verifies, in turns; the others write, and would be refused where they had to wait for all. */
static void *write_beside_upkeep(void *number) {
    char key[32], value[64] = {0};
    larder_report report;
    for (int i = 0; i < rounds(20000); i++) {
        larder_store store = {.key = key, .value = value, .value_bytes = sizeof value, .pin = i % 2, .ttl_ms = 5};
        store.key_bytes = (size_t)snprintf(key, sizeof key, "of %d %d", (int)(uintptr_t)number, i % 5000);
        if ((uintptr_t)number < 2 && i % 1000) {
            continue;
        }
        if ((uintptr_t)number == 0) {
            THREAD_CHECK(larder_prune(cache, NULL, NULL) == LARDER_OK);
        } else if ((uintptr_t)number == 1) {
            THREAD_CHECK(larder_verify(cache, &report) == LARDER_OK && report.problems == 0);
        } else {
            THREAD_CHECK(larder_set(cache, &store, NULL) == LARDER_OK);
        }
        if (i % 7 == 0) {
            larder_delete(cache, key, store.key_bytes, NULL);
        }
    }
    return NULL;
}

static void upkeep_takes_turns_with_writers(void) {
    cache = open_cache(20 << 20);
    cache->core->lock_timeout_ms = 20000;
    char key[32];
    for (int i = 0; i < rounds(50000); i++) {
        snprintf(key, sizeof key, "item %d", i);
        CHECK(set(cache, key, key) == LARDER_OK);
    }
    CHECK(all_threads(write_beside_upkeep));
    CHECK(sound(cache));
    larder_close(cache);
}

static void *open_and_close(void *number) {
    char key[32], path[2][400];
    snprintf(path[0], sizeof path[0], "%s/one.larder", test_directory);
    snprintf(path[1], sizeof path[1], "%s/two.larder", test_directory);
    snprintf(key, sizeof key, "of %d", (int)(uintptr_t)number);
    for (int i = 0; i < rounds(300); i++) {
        larder *mine = NULL;
        larder_error error;
        larder_options options = {.size_bytes = 1 << 20, .lock_timeout_ms = 20000};
        char have[32];
        larder_item item;
        THREAD_CHECK(larder_open(path[i % 2], &options, &mine, &error) == LARDER_OK);
        THREAD_CHECK(set(mine, key, key) == LARDER_OK);
        THREAD_CHECK(larder_get(mine, key, strlen(key), have, sizeof have, &item, NULL) == LARDER_OK &&
                     memcmp(have, key, strlen(key)) == 0);
        larder_close(mine);
    }
    return NULL;
}

static void opening_and_closing_beside_one_another(void) { CHECK(all_threads(open_and_close)); }

/* The file is replaced under threads that are inside calls. */
static void *use_whatever_is_there(void *number) {
    char key[32], have[32];
    snprintf(key, sizeof key, "of %d", (int)(uintptr_t)number);
    for (int i = 0; i < rounds(20000); i++) {
        larder_item item;
        if (number == NULL && i % 2000 == 1000) {
            lard_map_supersede(__atomic_load_n(&cache->core->map, __ATOMIC_ACQUIRE));
        }
        set_bytes(cache, key, key, strlen(key), 0);
        if (larder_get(cache, key, strlen(key), have, sizeof have, &item, NULL) == LARDER_OK) {
            THREAD_CHECK(item.size_bytes == strlen(key) && memcmp(have, key, item.size_bytes) == 0);
        }
    }
    return NULL;
}

static void the_file_is_replaced_under_threads(void) {
    cache = open_cache(1 << 20);
    CHECK(all_threads(use_whatever_is_there));
    CHECK(set(cache, "k", "v") == LARDER_OK && is(cache, "k", "v") && sound(cache));
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(threads_share_a_handle, "threads share a handle for every operation"),
    TEST(increments_are_not_lost, "increments of many threads are not lost"),
    TEST(conditions_hold_between_threads, "compare-and-swap and add have one winner"),
    TEST(an_add_that_has_expired_takes_nothing_away, "an add of what has expired takes nothing of another's away"),
    TEST(a_full_cache_is_shared, "threads share a cache that evicts, is cleared, walked and verified"),
    TEST(upkeep_takes_turns_with_writers, "prune and verify take turns with writers"),
    TEST(opening_and_closing_beside_one_another, "threads open and close the same files beside one another"),
    TEST(the_file_is_replaced_under_threads, "the file is replaced under threads that are inside calls"),
};
RUN("threads", tests)
