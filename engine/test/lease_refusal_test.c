/*
 * lease_refusal_test.c — checks what a refusal leaves of a lease and of the value that it was taken over.
 *
 * The test itself holds the lock of the only shard, so each call that needs the lock is refused.
 */
#include "harness.h"

enum { LONG_BYTES = 100000 };

static larder *cache;
static larder_call tries = {.flags = LARDER_CALL_TRY};
static char long_value[LONG_BYTES];

typedef struct {
    const char *name;
    const char *value; /* that the lease is taken over; NULL: there is none */
    size_t bytes;
    int64_t ttl_ms;
    bool pinned, tagged, is_stale;
} ground;

static const ground grounds[] = {
    {.name = "a placeholder"},
    {.name = "a fresh value", .value = "old", .bytes = 3, .ttl_ms = 60000},
    {.name = "a value without expiry", .value = "old", .bytes = 3},
    {.name = "a stale value", .value = "old", .bytes = 3, .ttl_ms = 1, .is_stale = true},
    {.name = "a pinned value", .value = "old", .bytes = 3, .pinned = true},
    {.name = "a tagged value", .value = "old", .bytes = 3, .tagged = true},
    {.name = "a large value", .value = long_value, .bytes = LONG_BYTES},
    {.name = "a large stale value", .value = long_value, .bytes = LONG_BYTES, .ttl_ms = 1, .is_stale = true},
};
#define GROUNDS (sizeof grounds / sizeof *grounds)

static lard_view only_shard(void) { return lard_view_of(cache->core->map, 0); }

static bool lock(void) {
    lard_view view = only_shard();
    return lard_shard_lock(cache->core, &view, NULL) == LARDER_OK;
}

static void unlock(void) {
    lard_view view = only_shard();
    view.owner = cache->core->map->owner_word;
    lard_shard_unlock(&view);
}

static larder_stats stats(void) {
    larder_stats now = {0};
    larder_get_stats(cache, &now);
    return now;
}

static larder_status take(larder_lease *lease) {
    *lease = (larder_lease){.token = {0, 0}};
    larder_status status = larder_lease_take(cache, "k", 1, 60000, lease, NULL);
    return status == LARDER_NOT_STORED ? larder_lease_take(cache, "k", 1, 60000, lease, NULL) : status;
}

/* Stores the value, and takes the lease over it. The waiters' word then has the bit of a waiter. */
static bool prepare(const ground *at, larder_lease *lease) {
    larder_extra extra = {.stale_ms = at->is_stale ? 60000 : 0, .tags = &(larder_tag){"t", 1}};
    extra.tag_count = at->tagged;
    larder_store store = {.key = "k",
                          .key_bytes = 1,
                          .value = at->value,
                          .value_bytes = at->bytes,
                          .ttl_ms = at->ttl_ms,
                          .pin = at->pinned,
                          .extra = &extra};
    larder_call before = {.now_ms = lard_clock_ms() - 1000};
    if (at->value && larder_set(cache, &store, at->is_stale ? &before : NULL) != LARDER_OK) {
        return false;
    }
    return take(lease) == LARDER_OK && stats().items == 1 && (stats().pinned_bytes != 0) == at->pinned;
}

static uint32_t *awaited(void) {
    lard_key key = lard_key_of(cache->core->map, NULL, "k", 1);
    return &cache->core->map->dircache[0].hints->leases_ended[key.hash.fingerprint % LARD_LEASE_WORDS];
}

static void somebody_waits(larder_lease *lease) { larder_lease_wait(cache, "k", 1, lease, 0, NULL); }
static bool was_woken(void) { return !(*awaited() & 1); }

static larder_status look(larder_item *item) {
    static char out[LONG_BYTES];
    larder_call stale = {.flags = LARDER_CALL_STALE};
    return larder_get(cache, "k", 1, out, sizeof out, item, &stale);
}

static larder_status put_leased(const larder_lease *lease, bool large, const larder_call *call) {
    larder_extra extra = {.lease = lease};
    larder_store store = {.key = "k", .key_bytes = 1, .value = "new", .value_bytes = 3, .extra = &extra};
    if (large) {
        store.value = long_value;
        store.value_bytes = LONG_BYTES - 1;
    }
    return larder_set(cache, &store, call);
}

static bool is_gone(void) {
    larder_lease next;
    larder_stats now = stats();
    return look(NULL) == LARDER_MISS && now.items == 0 && now.pinned_bytes == 0 && take(&next) == LARDER_OK &&
           larder_lease_end(cache, "k", 1, &next, 0, NULL) == LARDER_OK && sound(cache);
}

static bool is_as_it_was(const ground *at, larder_lease *lease) {
    larder_item item = {0};
    larder_lease other;
    larder_status status = look(&item);
    return status == (at->value ? LARDER_OK : LARDER_MISS) &&
           (!at->value || (item.size_bytes == at->bytes && item.is_pinned == at->pinned)) &&
           take(&other) == LARDER_LEASED && other.token[0] == lease->token[0] && other.token[1] == lease->token[1];
}

static void begin(void) {
    cache = open_cache(1 << 20);
    cache->core->lock_timeout_ms = 2;
}

static void a_refused_store_drops_lease_and_old_value(void) {
    begin();
    for (unsigned i = 0; i < 2 * GROUNDS; i++) {
        const ground *at = &grounds[i / 2];
        larder_lease lease;
        CHECK(prepare(at, &lease), "%s", at->name);
        somebody_waits(&lease);
        CHECK(!was_woken() && lock());
        CHECK(put_leased(&lease, i % 2, NULL) == LARDER_BUSY, "%s", at->name);
        CHECK(look(NULL) == LARDER_MISS && was_woken(), "%s, while the lock is held", at->name);
        unlock();
        CHECK(is_gone(), "%s", at->name);
    }
    larder_close(cache);
}

static void a_store_that_is_tried_keeps_both(void) {
    begin();
    for (unsigned i = 0; i < 2 * GROUNDS; i++) {
        const ground *at = &grounds[i / 2];
        larder_item item;
        larder_lease lease;
        CHECK(prepare(at, &lease), "%s", at->name);
        somebody_waits(&lease);
        CHECK(lock() && put_leased(&lease, i % 2, &tries) == LARDER_BUSY, "%s", at->name);
        CHECK(is_as_it_was(at, &lease) && !was_woken(), "%s", at->name);
        unlock();
        CHECK(put_leased(&lease, i % 2, NULL) == LARDER_OK && was_woken(), "%s", at->name);
        CHECK(look(&item) == LARDER_OK && item.size_bytes == (i % 2 ? LONG_BYTES - 1 : 3), "%s", at->name);
        CHECK(larder_delete(cache, "k", 1, NULL) == LARDER_OK && stats().items == 0 && sound(cache));
    }
    larder_close(cache);
}

static void a_lease_is_ended_beside_a_held_lock(void) {
    begin();
    for (unsigned i = 0; i < GROUNDS; i++) {
        const ground *at = &grounds[i];
        larder_lease lease;
        CHECK(prepare(at, &lease), "%s", at->name);
        somebody_waits(&lease);
        CHECK(lock());
        if (at->value) {
            CHECK(larder_lease_end(cache, "k", 1, &lease, 0, &tries) == LARDER_BUSY, "%s", at->name);
            CHECK(is_as_it_was(at, &lease) && !was_woken(), "%s", at->name);
        }
        larder_status status = larder_lease_end(cache, "k", 1, &lease, 0, NULL);
        CHECK(status == (at->value ? LARDER_BUSY : LARDER_OK), "%s: %s", at->name, larder_status_name(status));
        CHECK(look(NULL) == LARDER_MISS && was_woken(), "%s", at->name);
        CHECK(larder_lease_end(cache, "k", 1, &lease, 0, NULL) == LARDER_NOT_STORED, "%s", at->name);
        unlock();
        CHECK(is_gone(), "%s", at->name);
    }
    larder_close(cache);
}

/* A store that has expired at once ends the lease. */
static void a_store_of_what_has_expired_needs_no_lock(void) {
    begin();
    for (unsigned i = 0; i < GROUNDS; i++) {
        const ground *at = &grounds[i];
        larder_lease lease;
        CHECK(prepare(at, &lease) && lock(), "%s", at->name);
        larder_extra extra = {.lease = &lease};
        larder_store store = {
            .key = "k", .key_bytes = 1, .value = "new", .value_bytes = 3, .ttl_ms = -1, .extra = &extra};
        CHECK(larder_set(cache, &store, NULL) == LARDER_OK, "%s", at->name);
        unlock();
        CHECK(is_gone(), "%s", at->name);
    }
    larder_close(cache);
}

static void a_refused_store_leaves_what_came_after_its_lease(void) {
    larder_lease lease;
    begin();
    for (unsigned i = 0; i < GROUNDS; i++) {
        CHECK(prepare(&grounds[i], &lease) && larder_delete(cache, "k", 1, NULL) != LARDER_BUSY);
        CHECK(set(cache, "k", "newer") == LARDER_OK && lock());
        CHECK(put_leased(&lease, false, NULL) == LARDER_NOT_STORED && is(cache, "k", "newer"));
        CHECK(larder_lease_end(cache, "k", 1, &lease, 0, NULL) == LARDER_NOT_STORED && is(cache, "k", "newer"));
        unlock();
        CHECK(larder_delete(cache, "k", 1, NULL) == LARDER_OK && stats().items == 0);
    }
    larder_close(cache);
}

/* The record that was found is dropped, and no later one of the key. */
static void only_the_record_that_was_found_is_dropped(void) {
    begin();
    lard_key key = lard_key_of(cache->core->map, NULL, "k", 1);
    lard_view view = only_shard();
    CHECK(set(cache, "k", "old") == LARDER_OK);
    uint64_t found = lard_index_find(&view, &key).value;
    CHECK(set(cache, "k", "new") == LARDER_OK && !lard_drop_record(cache->core->map, &key, found) &&
          is(cache, "k", "new"));
    found = lard_index_find(&view, &key).value;
    CHECK(lard_drop_record(cache->core->map, &key, found | LARD_SLOT_PENDING) && is(cache, "k", NULL),
          "as it moved");
    CHECK(!lard_drop_record(cache->core->map, &key, found) && stats().items == 0 && sound(cache));
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(a_refused_store_drops_lease_and_old_value, "a refused store drops its lease and the old value"),
    TEST(a_store_that_is_tried_keeps_both, "a store that is only tried keeps its lease and the old value"),
    TEST(a_lease_is_ended_beside_a_held_lock, "a lease can be ended while the lock is held"),
    TEST(a_store_of_what_has_expired_needs_no_lock, "a leased store of an expired value needs no lock"),
    TEST(a_refused_store_leaves_what_came_after_its_lease, "a refused store leaves what came after its lease"),
    TEST(only_the_record_that_was_found_is_dropped, "only the record that was found is dropped"),
};
RUN("refusals under a lease", tests)
