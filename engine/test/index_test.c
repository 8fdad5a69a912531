/*
 * index_test.c — checks that slots are found, that the index grows, and that deletes hold while it grows.
 */
#include "children.h"

enum { SIZE = 1 << 20 };

static larder *cache;

static size_t key_of(uint64_t i, char key[32]) {
    return (size_t)snprintf(key, 32, "key %llu", (unsigned long long)i);
}

static larder_status put(uint64_t i, const void *value, size_t bytes) {
    char key[32];
    larder_store store = {.key = key, .key_bytes = key_of(i, key), .value = value, .value_bytes = bytes};
    return larder_set(cache, &store, NULL);
}

static bool present(uint64_t i) {
    char key[32];
    return larder_exists(cache, key, key_of(i, key), NULL, NULL) == LARDER_OK;
}

static larder_status delete (uint64_t i) {
    char key[32];
    return larder_delete(cache, key, key_of(i, key), NULL);
}

static void buckets_split_in_order(void) {
    for (uint32_t count = 1; count < 2000; count++) {
        for (uint32_t hash = 0; hash < 5000; hash += 37) {
            uint32_t before = lard_bucket_of(hash, count), after = lard_bucket_of(hash, count + 1);
            CHECK(before < count && (after == before || after == count), "hash %u of %u", hash, count);
            uint32_t source = count - (1u << (31 - __builtin_clz(count)));
            CHECK(after == before || before == source, "hash %u moves from %u, not %u", hash, before, source);
        }
    }
}

static void the_index_grows_with_its_items(void) {
    enum { ITEMS = 12000 };
    cache = open_cache(4 << 20);
    lard_view view = lard_view_of(cache->core->map, 0);
    uint32_t buckets = 0, at_first = 0;
    for (uint64_t i = 0; i < ITEMS; i++) {
        CHECK(put(i, &i, sizeof i) == LARDER_OK);
        uint32_t now = lard_bucket_count(&view);
        at_first = at_first ? at_first : now;
        CHECK(now >= buckets, "it never shrinks");
        buckets = now;
    }
    CHECK(cache->core->map->super.shard_count == 1 && buckets >= ITEMS / 8 && buckets > at_first, "%u buckets",
          buckets);
    for (uint64_t i = 0; i < ITEMS; i++) {
        char key[32];
        uint64_t have;
        CHECK(larder_get(cache, key, key_of(i, key), &have, sizeof have, NULL, NULL) == LARDER_OK && have == i,
              "%d", (int)i);
    }
    larder_stats stats;
    CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.items == ITEMS && stats.evictions == 0);
    CHECK(stats.index_bytes <= 64ull * ITEMS, "%llu bytes of index", (unsigned long long)stats.index_bytes);
    CHECK(sound(cache));
    larder_close(cache);
}

static bool are_same(const lard_buckets *a, const lard_buckets *b) {
    return a->at[0] == b->at[0] && a->at[1] == b->at[1] && a->number[0] == b->number[0] &&
           a->number[1] == b->number[1];
}

/* Are they of the shard as it is now? */
static bool are_current(const lard_view *view, const lard_buckets *pair) {
    return pair->epoch == lard_load(&view->header->epoch) && pair->count == lard_bucket_count(view);
}

static void buckets_are_found_again_when_the_index_has_changed(void) {
    enum { KEYS = 200, STEPS = 40, MORE = 400 };
    cache = open_cache(4 << 20);
    lard_view view = lard_view_of(cache->core->map, 0);
    lard_buckets known[KEYS] = {0};
    uint64_t next = 0;
    int renewed = 0, kept = 0;
    for (int step = 0; step < STEPS; step++) {
        if (step % 10 == 0) { /* another epoch, in which the index begins small again */
            CHECK(larder_clear(cache) == LARDER_OK);
            next = 0;
        }
        for (int more = 0; step % 2 == 0 && more < MORE; more++) {
            CHECK(put(next++, "v", 1) == LARDER_OK);
        }
        for (uint64_t k = 0; k < KEYS; k++) {
            char key[32];
            lard_hash hash = lard_hash_key(cache->core->map, key, key_of(k, key), false);
            lard_buckets before = known[k], truth, copied;
            CHECK(lard_bucket_pair(&view, &hash, lard_bucket_count(&view), &truth));
            CHECK(lard_bucket_renew(&view, &hash, &known[k]) && are_same(&known[k], &truth), "%d", step);
            CHECK(!are_current(&view, &before) || are_same(&before, &truth), "%d", step);
            lard_dircache_prefetch_buckets(cache->core->map, &hash, &copied);
            CHECK(!are_current(&view, &copied) || are_same(&copied, &truth), "%d", step);
            renewed += !are_current(&view, &before);
            kept += are_current(&view, &before);
        }
    }
    CHECK(renewed >= KEYS * STEPS / 4 && kept >= KEYS * STEPS / 4, "%d renewed, %d kept", renewed, kept);
    larder_close(cache);
}

static void items_are_counted_as_they_come_and_go(void) {
    larder_stats stats;
    cache = open_cache(4 << 20);
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < 5000; i++) {
            CHECK(put(i, "v", 1) == LARDER_OK);
        }
        CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.items == 5000, "%d", (int)stats.items);
        for (uint64_t i = 0; i < 5000; i++) {
            CHECK(delete (i) == LARDER_OK && delete (i) == LARDER_MISS && !present(i));
        }
        CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.items == 0, "%d", (int)stats.items);
    }
    CHECK(sound(cache));
    larder_close(cache);
}

typedef struct {
    uint64_t written; /* keys below it exist, or did */
    uint32_t stop;
    uint64_t deleted, found;
} race;

static void write_on(race *r) { /* splits and moves all the time; starts anew when the index is large */
    while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
        CHILD_CHECK(put(r->written, "v", 1) == LARDER_OK);
        __atomic_add_fetch(&r->written, 1, __ATOMIC_SEQ_CST);
        if (r->written % 9000 == 0) {
            CHILD_CHECK(larder_clear(cache) == LARDER_OK);
        }
    }
}

static void delete_behind(race *r, uint64_t part) { /* every third key, soon after it was written */
    for (uint64_t i = part; !__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE); i += 3) {
        while (__atomic_load_n(&r->written, __ATOMIC_SEQ_CST) <= i) {
            if (__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
                return;
            }
            lard_pause();
        }
        r->deleted += delete (i) == LARDER_OK;
        CHILD_CHECK(!present(i));
        if (i > 300) {
            CHILD_CHECK(!present(i - 300)); /* still, after splits and moves have gone over it */
        }
    }
}

static void what_is_deleted_while_it_grows_stays_deleted(void) {
    race *r = shared_memory(sizeof *r);
    pid_t pids[3];
    cache = open_cache(SIZE);
    for (uint64_t i = 0; i < 3; i++) {
        if ((pids[i] = fork_child()) == 0) {
            i ? delete_behind(r, i - 1) : write_on(r);
            _exit(0);
        }
    }
    sleep_us(500000);
    advance(&r->stop);
    for (int i = 0; i < 3; i++) {
        CHECK(exited_well(pids[i]), "%s", i ? "a deleter" : "the writer");
    }
    CHECK(r->deleted > 1000, "%llu of %llu", (unsigned long long)r->deleted, (unsigned long long)r->written);
    CHECK(sound(cache));
    larder_close(cache);
    munmap(r, sizeof *r);
}

/* Keys that are never deleted are never missed, however much the index changes around them. */
static void read_all_along(race *r) {
    while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
        for (uint64_t i = 1000000; i < 1000300; i++) {
            CHILD_CHECK(present(i));
            __atomic_add_fetch(&r->found, 1, __ATOMIC_RELAXED);
        }
    }
}

static void write_and_delete(race *r) { /* as many items as split and move, too few bytes to evict */
    for (uint64_t i = 0; !__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE); i++) {
        CHILD_CHECK(put(i % 60000, NULL, 0) == LARDER_OK);
        r->written++;
        if (i % 60000 > 30000) {
            delete (i % 60000 - 30000);
        }
        if (i > 250000) {
            break; /* the log would come round and evict */
        }
    }
}

static void what_stays_is_found_while_it_grows(void) {
    race *r = shared_memory(sizeof *r);
    pid_t pids[2];
    larder_stats stats;
    cache = open_cache(64 << 20);
    for (uint64_t i = 1000000; i < 1000300; i++) {
        CHECK(put(i, "stays", 5) == LARDER_OK);
    }
    for (int i = 0; i < 2; i++) {
        if ((pids[i] = fork_child()) == 0) {
            i ? write_and_delete(r) : read_all_along(r);
            _exit(0);
        }
    }
    sleep_us(400000);
    advance(&r->stop);
    CHECK(exited_well(pids[0]) && exited_well(pids[1]));
    CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.evictions == 0 && r->written > 1000 &&
          r->found > 1000);
    CHECK(sound(cache));
    larder_close(cache);
    munmap(r, sizeof *r);
}

/* Writes a word into the map, as a bad disk or another process may. Every item is then read, deleted and read
 * again. */
static bool delete_holds(lard_u32 *word, uint32_t other, uint32_t items) {
    char key[32], value[32];
    bool hides = true;
    *LARD_RAW(word) = other;
    for (uint64_t i = 0; i < items; i++) {
        size_t bytes = key_of(i, key);
        larder_get(cache, key, bytes, value, sizeof value, NULL, NULL);
        larder_delete(cache, key, bytes, NULL);
        hides =
            hides && larder_get(cache, key, bytes, value, sizeof value, NULL, NULL) == LARDER_MISS && !present(i);
    }
    return hides;
}

static void damage_brings_no_deleted_item_back(void) {
    for (unsigned bit = 0; bit < 64; bit++) {
        for (uint32_t items = 20; items <= 400; items += 380) {
            char key[32], value[32];
            cache = open_cache(SIZE);
            for (uint64_t i = 0; i < items; i++) {
                CHECK(put(i, "value", 5) == LARDER_OK);
                CHECK(larder_get(cache, key, key_of(i, key), value, sizeof value, NULL, NULL) == LARDER_OK);
            }
            lard_view view = lard_view_of(cache->core->map, 0);
            lard_u32 *word = bit < 32 ? &view.header->bucket_count : &view.directory[0];
            CHECK(delete_holds(word, lard_load(word) ^ 1u << (bit & 31), items), "bit %u of %s, %u items",
                  bit & 31, bit < 32 ? "the number of buckets" : "the directory", items);
            CHECK(put(1, "new", 3) == LARDER_OK && present(1), "bit %u", bit);
            larder_close(cache);
            unlink(test_path("t.larder"));
        }
    }
}

static void no_item_is_pushed_out_of_a_full_bucket(void) {
    enum { MANY = 60000, CACHES = 60 };
    for (int c = 0; c < CACHES; c++) { /* each of another seed; one in 25 lost an item once */
        larder *cache = open_cache(32 << 20);
        larder_stats stats;
        for (int i = 0; i < MANY; i++) {
            char key[32];
            snprintf(key, sizeof key, "key %d", i);
            CHECK(set(cache, key, "value") == LARDER_OK);
        }
        CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.items == MANY && stats.evictions == 0);
        larder_close(cache);
        unlink(test_path("t.larder"));
    }
}

/* An old value must not be read after a new index was started beside the old one. */
static void pages_that_were_forgotten(void) {
    for (uint32_t pages = 0; pages < 2; pages++) {
        larder *cache = open_cache(4 << 20);
        larder_stats stats;
        for (int i = 0; i < 6000; i++) {
            char key[32];
            snprintf(key, sizeof key, "key %d", i);
            CHECK(set(cache, key, "before") == LARDER_OK);
        }
        CHECK(is(cache, "key 0", "before"));
        lard_shard *header = lard_view_of(cache->core->map, 0).header;
        CHECK(lard_load(&header->index_pages) > 1);
        lard_store(&header->index_pages, pages);
        lard_store(&header->items, 1 << 30); /* so that it grows */
        for (int i = 0; i < 6000; i++) {
            char key[32];
            snprintf(key, sizeof key, "key %d", i);
            CHECK(set(cache, key, "after") == LARDER_OK);
            CHECK(is(cache, key, "after") || is(cache, key, NULL), "%s", key);
        }
        CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.resets == 1 && sound(cache));
        larder_close(cache);
        unlink(test_path("t.larder"));
    }
}

static const test_case tests[] = {
    TEST(buckets_split_in_order, "one more bucket takes items of one other only"),
    TEST(the_index_grows_with_its_items, "the index grows with its items and finds all of them"),
    TEST(buckets_are_found_again_when_the_index_has_changed, "buckets are found again when the index has changed"),
    TEST(items_are_counted_as_they_come_and_go, "items are counted as they come and go"),
    TEST(what_is_deleted_while_it_grows_stays_deleted, "what is deleted while the index grows stays deleted"),
    TEST(what_stays_is_found_while_it_grows, "what stays is found at every moment while the index grows"),
    TEST(pages_that_were_forgotten, "an index that lost its pages by damage is begun anew, and hides nothing"),
    TEST(damage_brings_no_deleted_item_back, "a damaged index brings no deleted item back"),
    TEST(no_item_is_pushed_out_of_a_full_bucket, "no item is pushed out of a full bucket while there is room"),
};
RUN("index", tests)
