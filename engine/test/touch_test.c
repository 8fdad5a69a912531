/*
 * touch_test.c — checks changes in place at the same time: a touch and a compare-and-swap, a touch and a change of
 * the key's lease, touches of a large value.
 *
 * Threads wait for a lock that the test holds, so that what each has read is older than what the other one does.
 */
#include "children.h"

#include <pthread.h>

#define LIFE_MS 3600000
#define LONGER_MS 7200000
#define SHORTER_MS 1800000
#define ROUNDS 60 /* who gets the lock first is chance */

static larder *cache;
static const char *key;
static int64_t expected_expires_at_ms;
static uint64_t expected_identity; /* 0: the value and the expiry are compared */
static larder_status swapped, touched;

static int64_t expires_at_ms(void) {
    larder_item item = {0};
    return larder_exists(cache, key, strlen(key), &item, NULL) == LARDER_OK ? item.expires_at_ms : -1;
}

static void *swap(void *unused) {
    larder_store store = {.key = key, .key_bytes = strlen(key), .value = "8", .value_bytes = 1};
    store.expected_expires_at_ms = expected_expires_at_ms;
    store.ttl_ms = SHORTER_MS;
    swapped = expected_identity ? larder_swap(cache, &store, expected_identity, NULL)
                                : larder_cas(cache, &store, "7", 1, NULL);
    return unused;
}

static larder_lease lease;
static larder_status leased;

static void *take_lease(void *unused) {
    leased = larder_lease_take(cache, key, strlen(key), LIFE_MS, &lease, NULL);
    return unused;
}

static void *end_lease(void *unused) {
    leased = larder_lease_end(cache, key, strlen(key), &lease, 0, NULL);
    return unused;
}

static void *touch_longer(void *unused) {
    touched = larder_touch(cache, key, strlen(key), LONGER_MS, NULL);
    return unused;
}

static bool await_waits(uint64_t least) {
    larder_stats stats;
    for (int64_t until = now_us() + LONGEST_MS * 1000ll; now_us() < until; sleep_us(50)) {
        if (larder_get_stats(cache, &stats) == LARDER_OK && stats.lock_waits >= least) {
            return true;
        }
    }
    return false;
}

/* A change that has read the key waits for the key's lock. A touch waits too, or comes from this thread, which
 * mostly gets the lock first. */
static bool race(void *(*change)(void *), bool waits) {
    pthread_t changing, touching;
    larder_stats stats;
    lard_hash hash = lard_hash_key(cache->core->map, key, strlen(key), false);
    lard_view view = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &hash));
    if (larder_get_stats(cache, &stats) != LARDER_OK || lard_shard_lock(cache->core, &view, NULL) != LARDER_OK) {
        return false;
    }
    bool began = pthread_create(&changing, NULL, change, NULL) == 0 && await_waits(stats.lock_waits + 1);
    if (waits) {
        began &= pthread_create(&touching, NULL, touch_longer, NULL) == 0 && await_waits(stats.lock_waits + 2);
    }
    lard_shard_unlock(&view);
    if (!waits) {
        touch_longer(NULL);
    }
    return began && pthread_join(changing, NULL) == 0 && (!waits || pthread_join(touching, NULL) == 0);
}

/* Which expiry the swap has read: of any value, of this value, of this record. */
enum swap_of { ANY, NAMED, IDENTIFIED };

static void races(bool (*prepare)(void), enum swap_of which) {
    char out[8];
    bool named = which != ANY;
    cache = open_cache(1 << 20);
    cache->core->lock_timeout_ms = 20000;
    for (int round = 0; round < ROUNDS; round++) {
        CHECK(prepare());
        int64_t before = expires_at_ms();
        expected_expires_at_ms = named ? before : LARDER_ANY_EXPIRY;
        expected_identity = 0;
        CHECK(which != IDENTIFIED || larder_get_to_swap(cache, key, strlen(key), out, sizeof out, NULL, NULL,
                                                        &expected_identity, NULL) == LARDER_OK);
        CHECK(race(swap, round % 2));
        CHECK(touched == LARDER_OK && (swapped == LARDER_OK || (named && swapped == LARDER_NOT_STORED)));
        int64_t after = expires_at_ms();
        bool has_swapped = is(cache, key, "8");
        CHECK(has_swapped == (swapped == LARDER_OK));
        CHECK(after > before || (has_swapped && !named), "round %d: the touch is lost", round);
    }
    CHECK(sound(cache));
    larder_close(cache);
}

/* In turn a lease is taken over a fresh value, and ended, which leaves the value. */
static void races_with_leases(bool (*prepare)(void), const char *value) {
    cache = open_cache(1 << 20);
    cache->core->lock_timeout_ms = 20000;
    for (int round = 0; round < ROUNDS; round++) {
        bool ends = round % 2;
        lease = (larder_lease){.token = {0, 0}};
        CHECK(prepare());
        int64_t before = expires_at_ms();
        take_lease(NULL);
        CHECK(leased == LARDER_NOT_STORED && lease.over != 0, "the first call names the value");
        if (ends) {
            take_lease(NULL);
            CHECK(leased == LARDER_OK);
        }
        CHECK(race(ends ? end_lease : take_lease, round % 4 < 2) && touched == LARDER_OK);
        /* A touch of an extended value stores it again, so `over` names another one. */
        CHECK(leased == LARDER_OK || (!ends && leased == LARDER_NOT_STORED), "%s", larder_status_name(leased));
        CHECK(is(cache, key, value) && expires_at_ms() > before, "round %d: the touch is lost", round);
        CHECK(larder_delete(cache, key, strlen(key), NULL) == LARDER_OK);
    }
    CHECK(sound(cache));
    larder_close(cache);
}

static bool plain(void) {
    key = "k";
    return set_bytes(cache, key, "7", 1, LIFE_MS) == LARDER_OK;
}

static bool endless(void) {
    key = "e";
    return set_bytes(cache, key, "7", 1, 0) == LARDER_OK;
}

/* Without expiry, but extended: it has the time that it took to compute. */
static bool extended(void) {
    larder_extra extra = {.compute_ms = 7};
    larder_store store = {.key = "x", .key_bytes = 1, .value = "7", .value_bytes = 1, .extra = &extra};
    key = "x";
    return larder_set(cache, &store, NULL) == LARDER_OK;
}

static bool number(void) {
    int64_t n;
    key = "n";
    larder_delete(cache, key, 1, NULL);
    return larder_increment(cache, key, 1, 7, 0, LIFE_MS, &n, NULL) == LARDER_OK;
}

static void a_touch_beside_a_swap_that_names_the_expiry(void) { races(plain, NAMED); }
static void a_touch_of_a_number_beside_a_swap_that_names_the_expiry(void) { races(number, NAMED); }
static void a_touch_beside_a_swap_that_names_none(void) { races(plain, ANY); }
static void a_touch_beside_a_swap_of_a_value_without_expiry(void) {
    races(endless, NAMED);
    races(extended, NAMED);
    races(endless, ANY);
}
static void a_touch_during_a_swap_by_identity(void) {
    races(plain, IDENTIFIED);
    races(endless, IDENTIFIED);
    races(extended, IDENTIFIED);
    races(number, IDENTIFIED);
}
static void a_touch_beside_a_lease(void) { races_with_leases(plain, "7"); }
static void a_touch_beside_a_lease_over_a_value_without_expiry(void) {
    races_with_leases(endless, "7");
    races_with_leases(extended, "7");
}

/* The swap fails, and has made a plain record of the number meanwhile: of the expiry that it has by then. */
static void a_touch_of_a_number_beside_a_swap_that_fails(void) {
    cache = open_cache(1 << 20);
    CHECK(number());
    lard_key wanted = lard_key_of(cache->core->map, NULL, key, 1);
    CHECK(larder_touch(cache, key, 1, LONGER_MS, NULL) == LARDER_OK);
    int64_t longer = expires_at_ms();
    lard_view view = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &wanted.hash));
    uint64_t slot = lard_index_find(&view, &wanted).value, before = slot;
    CHECK(lard_increment_to_plain(cache, cache->core->map, &wanted, "7", 1, &slot, NULL) == LARDER_OK);
    CHECK(slot != before && lard_index_find(&view, &wanted).value == slot && is(cache, key, "7"));
    CHECK(lard_increment_to_plain(cache, cache->core->map, &wanted, "7", 1, &slot, NULL) == LARDER_NOT_STORED);
    CHECK(expires_at_ms() == longer, "%lld, not %lld", (long long)expires_at_ms(), (long long)longer);
    larder_close(cache);
}

/* The chunks of one that came first, and was overtaken on its way to them. */
static void touches_of_a_large_value_that_pass_each_other(void) {
    enum { BYTES = 100000 };
    static unsigned char value[BYTES], have[BYTES];
    larder_call later = {.now_ms = lard_clock_ms() + LIFE_MS};
    lard_record_info info;
    lard_head head;
    cache = open_cache(4 << 20);
    key = "large";
    describe(value, BYTES, 1, 1);
    CHECK(set_bytes(cache, key, value, BYTES, LIFE_MS) == LARDER_OK);
    lard_key wanted = lard_key_of(cache->core->map, NULL, key, strlen(key));
    lard_view view = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &wanted.hash));
    lard_found found = lard_index_find(&view, &wanted);
    CHECK(found.slot && lard_record_of_slot(&view, found.value, &info));
    lard_record_head(&view, LARD_SLOT_OFFSET(found.value), &info, &head);
    CHECK(larder_touch(cache, key, strlen(key), LONGER_MS, NULL) == LARDER_OK);
    CHECK(lard_large_touch(cache->core, cache->core->map, &head, (uint64_t)lard_clock_ms() + SHORTER_MS) ==
          LARDER_OK);
    cache->core->lock_timeout_ms = 5;
    CHECK(lard_shard_lock(cache->core, &view, NULL) == LARDER_OK);
    CHECK(lard_large_touch(cache->core, cache->core->map, &head, 0) == LARDER_BUSY,
          "and says where it cannot reach them");
    lard_shard_unlock(&view);
    CHECK(larder_prune(cache, NULL, &later) == LARDER_OK);
    CHECK(larder_get(cache, key, strlen(key), have, BYTES, NULL, &later) == LARDER_OK &&
          memcmp(have, value, BYTES) == 0);
    CHECK(larder_touch(cache, key, strlen(key), 0, NULL) == LARDER_OK);
    CHECK(larder_touch(cache, key, strlen(key), SHORTER_MS, NULL) == LARDER_OK);
    CHECK(larder_get(cache, key, strlen(key), have, BYTES, NULL, &later) == LARDER_MISS, "the head decides");
    larder_close(cache);
}

/* Pinned records may be longer than others. */
static void a_touch_of_a_long_pinned_value_with_tags(void) {
    static char value[40000];
    larder_tag tag = {"t", 1};
    larder_extra extras[] = {{.tag_count = 1, .tags = &tag}, {.compute_ms = 7}, {.stale_ms = 1000}};
    cache = open_cache(64 << 20);
    size_t most = larder_max_pinned(cache) - 64;
    CHECK(most > cache->core->map->record_limit && most <= sizeof value);
    for (int i = 0; i < 3; i++) {
        larder_store store = {.key = key = "p",
                              .key_bytes = 1,
                              .value = value,
                              .value_bytes = most,
                              .pin = 1,
                              .ttl_ms = LIFE_MS,
                              .extra = &extras[i]};
        larder_item item;
        CHECK(larder_set(cache, &store, NULL) == LARDER_OK, "extra %d", i);
        int64_t before = expires_at_ms();
        CHECK(larder_touch(cache, "p", 1, LONGER_MS, NULL) == LARDER_OK, "extra %d", i);
        CHECK(larder_exists(cache, "p", 1, &item, NULL) == LARDER_OK && item.is_pinned && item.size_bytes == most);
        CHECK(item.expires_at_ms > before, "extra %d: it expires as before", i);
    }
    CHECK(sound(cache));
    larder_close(cache);
}

/* Its chunks are under other locks, which it does not wait for. */
static void a_try_call_of_a_large_value(void) {
    enum { BYTES = 400000 };
    static unsigned char value[BYTES];
    larder_extra with = {.compute_ms = 7};
    larder_call tries = {.flags = LARDER_CALL_TRY};
    larder_stats stats;
    cache = open_cache(64 << 20);
    for (int extended = 0; extended < 2; extended++) {
        larder_store store = {.key = key = "large",
                              .key_bytes = 5,
                              .value = value,
                              .value_bytes = BYTES,
                              .ttl_ms = LIFE_MS,
                              .extra = extended ? &with : NULL};
        CHECK(larder_set(cache, &store, NULL) == LARDER_OK);
        int64_t before = expires_at_ms();
        CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.lock_waits == 0);
        lard_key wanted = lard_key_of(cache->core->map, NULL, key, 5);
        uint32_t own = lard_hash_shard(cache->core->map, &wanted.hash);
        for (uint32_t shard = 0; shard < cache->core->map->super.shard_count; shard++) {
            lard_view view = lard_view_of(cache->core->map, shard);
            CHECK(shard == own || lard_shard_lock(cache->core, &view, NULL) == LARDER_OK);
        }
        larder_status status = larder_touch(cache, key, 5, LONGER_MS, &tries);
        for (uint32_t shard = 0; shard < cache->core->map->super.shard_count; shard++) {
            lard_view view = lard_view_of(cache->core->map, shard);
            view.owner = cache->core->map->owner_word;
            if (shard != own) {
                lard_shard_unlock(&view);
            }
        }
        CHECK(status == LARDER_BUSY && expires_at_ms() == before, "extended %d: it has changed", extended);
        CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.lock_waits == 0, "extended %d: it waited",
              extended);
        CHECK(larder_touch(cache, key, 5, LONGER_MS, NULL) == LARDER_OK && expires_at_ms() > before);
        CHECK(larder_touch(cache, key, 5, LIFE_MS, NULL) == LARDER_OK);
    }
    CHECK(sound(cache));
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(a_touch_beside_a_swap_that_names_the_expiry, "a touch is not lost beside a swap that names the expiry"),
    TEST(a_touch_of_a_number_beside_a_swap_that_names_the_expiry,
         "a touch of a number is not lost in a swap that names the expiry"),
    TEST(a_touch_beside_a_swap_that_names_none, "a swap that names no expiry wins over a touch"),
    TEST(a_touch_beside_a_swap_of_a_value_without_expiry,
         "a touch is not lost in a swap that names a value without expiry"),
    TEST(a_touch_during_a_swap_by_identity, "a touch that comes during a swap by identity is kept"),
    TEST(a_touch_beside_a_lease, "a touch is not lost in a lease that is taken or ended"),
    TEST(a_touch_beside_a_lease_over_a_value_without_expiry,
         "a touch is not lost in a lease over a value without expiry"),
    TEST(a_touch_of_a_number_beside_a_swap_that_fails, "a number that a swap makes plain keeps the expiry it has"),
    TEST(touches_of_a_large_value_that_pass_each_other,
         "a touch takes no life of the chunks that another gave them"),
    TEST(a_touch_of_a_long_pinned_value_with_tags, "a pinned value with tags can be touched, whatever its length"),
    TEST(a_try_call_of_a_large_value,
         "a try call of a touch waits for no lock and changes nothing of a large value"),
};
RUN("touch", tests)
