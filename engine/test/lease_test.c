/*
 * lease_test.c — checks leases: who computes a key's value, and what wins over it. Times are those of the calls,
 * but for the times of leases.
 */
#include "children.h"

#include <pthread.h>

#define START_MS 1700000000000ll
#define LEASE_MS 30000

static larder *cache;
static larder_call at = {.now_ms = START_MS};
static larder_extra extra; /* of the store */

static larder_store store_of(const char *value) {
    extra = (larder_extra){0};
    return (larder_store){
        .key = "k", .key_bytes = 1, .value = value, .value_bytes = strlen(value), .extra = &extra};
}

static larder_status put(const char *value) {
    larder_store store = store_of(value);
    return larder_set(cache, &store, &at);
}

/* Fresh for a second, and kept for ten more. */
static larder_status put_stale_soon(const char *value) {
    larder_store store = store_of(value);
    store.ttl_ms = 1000;
    extra.stale_ms = 10000;
    extra.compute_ms = 77;
    store.flags = 9;
    return larder_set(cache, &store, &at);
}

static larder_status put_leased(const char *value, const larder_lease *lease) {
    larder_store store = store_of(value);
    extra.lease = lease;
    return larder_set(cache, &store, &at);
}

static larder_status take(larder_lease *lease) {
    *lease = (larder_lease){{0, 0}, 0, 0, 0, 0};
    return larder_lease_take(cache, "k", 1, LEASE_MS, lease, &at);
}

static bool has(const char *value) {
    char out[64] = "";
    larder_item item = {0};
    return larder_get(cache, "k", 1, out, sizeof out, &item, &at) == LARDER_OK &&
           item.size_bytes == strlen(value) && memcmp(out, value, item.size_bytes) == 0;
}

static bool is_absent(void) {
    char out[64];
    larder_lookup lookup = {.key = "k", .key_bytes = 1, .buffer = out, .buffer_bytes = sizeof out};
    return larder_get(cache, "k", 1, out, sizeof out, NULL, &at) == LARDER_MISS &&
           larder_exists(cache, "k", 1, NULL, &at) == LARDER_MISS &&
           larder_get_multi(cache, &lookup, 1, &at) == LARDER_OK && lookup.status == LARDER_MISS;
}

/* The lease of the key in a walk; false: the walk does not visit it, or visits another key. */
static bool is_visited(larder_leased *leased) {
    static char buffer[LARDER_MAX_KEY + 4 + sizeof *leased];
    uint64_t cursor = 0;
    size_t count, used, found = 0, all = 0;
    do {
        if (larder_scan_leases(cache, &cursor, "", 0, buffer, sizeof buffer, &count, &used, &at) != LARDER_OK) {
            return false;
        }
        all += count;
        if (count && buffer[4 + sizeof *leased] == 'k') {
            memcpy(leased, buffer + 4, sizeof *leased);
            found++;
        }
    } while (cursor);
    return found == 1 && all == 1;
}

static larder_status get_stale(const char *value, larder_item *item) {
    char out[64] = "";
    larder_call call = {.now_ms = at.now_ms, .flags = LARDER_CALL_STALE};
    larder_status status = larder_get(cache, "k", 1, out, sizeof out, item, &call);
    return status == LARDER_OK && (item->size_bytes != strlen(value) || memcmp(out, value, strlen(value)) != 0)
               ? LARDER_DAMAGED
               : status;
}

static bool is_same(const larder_lease *one, const larder_lease *other) {
    return one->token[0] == other->token[0] && one->token[1] == other->token[1] && one->process == other->process;
}

static void begin(void) {
    cache = open_cache(1 << 20);
    larder_clear(cache);
    at.now_ms = START_MS;
}

static void end(void) {
    larder_report report;
    CHECK(larder_verify(cache, &report) == LARDER_OK && report.problems == 0, "%s", report.first);
    larder_close(cache);
}

static void one_caller_has_it_and_the_others_see_whose_it_is(void) {
    larder_lease mine, seen;
    begin();
    CHECK(take(&mine) == LARDER_OK && mine.process == larder_process(cache) && mine.left_ms > 0 &&
          mine.left_ms <= LEASE_MS);
    CHECK(take(&seen) == LARDER_LEASED && is_same(&mine, &seen) && seen.left_ms > 0 && seen.left_ms <= LEASE_MS);
    CHECK(is_absent());
    CHECK(put_leased("computed", &mine) == LARDER_OK && has("computed"));
    CHECK(take(&seen) == LARDER_NOT_STORED && seen.over != 0);
    CHECK(put_leased("again", &mine) == LARDER_NOT_STORED && has("computed"));
    end();
}

static void a_placeholder_is_no_item(void) {
    larder_lease lease;
    int64_t sum = 0;
    uint64_t cursor = 0;
    size_t count = 1, used;
    char keys[LARDER_MAX_KEY + 4];
    begin();
    CHECK(take(&lease) == LARDER_OK);
    CHECK(larder_scan(cache, &cursor, "", 0, keys, sizeof keys, &count, &used, &at) == LARDER_OK && count == 0);
    CHECK(larder_touch(cache, "k", 1, 1000, &at) == LARDER_MISS);
    larder_store replacing = store_of("no");
    replacing.mode = LARDER_REPLACE;
    CHECK(larder_set(cache, &replacing, &at) == LARDER_NOT_STORED);
    CHECK(larder_increment(cache, "k", 1, 2, 40, 0, &sum, &at) == LARDER_OK && sum == 42 && has("42"));
    CHECK(put_leased("late", &lease) == LARDER_NOT_STORED && has("42"));
    CHECK(larder_delete(cache, "k", 1, &at) == LARDER_OK && take(&lease) == LARDER_OK);
    larder_store adding = store_of("added");
    adding.mode = LARDER_ADD;
    CHECK(larder_set(cache, &adding, &at) == LARDER_OK && has("added"));
    CHECK(put_leased("late", &lease) == LARDER_NOT_STORED && has("added"));
    end();
}

/* Whatever happens to the key while its value is computed wins over that value. */
static void deletes_clears_and_writes_win_over_what_is_computed(void) {
    enum { DELETE, CLEAR, WRITE, EXPIRE, END, WAYS };
    for (int is_stale = 0; is_stale < 2; is_stale++) {
        for (int way = 0; way < WAYS; way++) {
            larder_lease lease, next;
            begin();
            if (is_stale) {
                CHECK(put_stale_soon("old") == LARDER_OK);
                at.now_ms += 2000;
            }
            lease = (larder_lease){{0, 0}, 0, 0, 0, 0};
            CHECK(larder_lease_take(cache, "k", 1, way == EXPIRE ? 1 : LEASE_MS, &lease, &at) == LARDER_OK);
            switch (way) {
            case DELETE:
                CHECK(larder_delete(cache, "k", 1, &at) == LARDER_MISS);
                break;
            case CLEAR:
                CHECK(larder_clear(cache) == LARDER_OK);
                break;
            case WRITE:
                CHECK(put("written") == LARDER_OK);
                break;
            case EXPIRE:
                while (larder_lease_wait(cache, "k", 1, &lease, 1000, &at) == LARDER_LEASED) {
                }
                CHECK(take(&next) == LARDER_OK);
                break;
            default:
                CHECK(larder_lease_end(cache, "k", 1, &lease, 0, &at) == LARDER_OK);
                CHECK(larder_lease_end(cache, "k", 1, &lease, 0, &at) == LARDER_NOT_STORED);
            }
            CHECK(put_leased("computed", &lease) == LARDER_NOT_STORED, "way %d", way);
            CHECK(way == WRITE ? has("written") : is_absent(), "way %d", way);
            if (way == EXPIRE) {
                CHECK(put_leased("by the next", &next) == LARDER_OK && has("by the next"));
            }
            end();
        }
    }
}

static void a_stale_value_stays_beside_the_lease(void) {
    larder_lease lease, seen;
    larder_item item = {0};
    begin();
    CHECK(put_stale_soon("old") == LARDER_OK && has("old"));
    CHECK(get_stale("old", &item) == LARDER_OK && item.staleness == LARDER_FRESH && item.compute_ms == 77 &&
          item.flags == 9 && item.fresh_until_ms == START_MS + 1000 && item.expires_at_ms == START_MS + 11000);
    at.now_ms += 1000;
    CHECK(is_absent() && get_stale("old", &item) == LARDER_OK && item.staleness == LARDER_STALE);
    larder_store adding = store_of("added");
    adding.mode = LARDER_REPLACE;
    CHECK(larder_set(cache, &adding, &at) == LARDER_NOT_STORED);
    CHECK(take(&lease) == LARDER_OK && take(&seen) == LARDER_LEASED && is_same(&lease, &seen));
    CHECK(is_absent() && get_stale("old", &item) == LARDER_OK && item.staleness == LARDER_STALE_LEASED);
    CHECK(item.compute_ms == 77 && item.flags == 9 && item.expires_at_ms == START_MS + 11000);
    at.now_ms += 9999;
    CHECK(get_stale("old", &item) == LARDER_OK);
    at.now_ms += 1;
    CHECK(get_stale("old", &item) == LARDER_MISS && put_leased("new", &lease) == LARDER_OK && has("new"));
    end();
}

static void a_lease_that_is_ended_leaves_the_stale_value_and_may_make_it_fresh(void) {
    larder_lease lease;
    larder_item item = {0};
    begin();
    CHECK(put_stale_soon("old") == LARDER_OK);
    at.now_ms += 2000;
    CHECK(take(&lease) == LARDER_OK && larder_lease_end(cache, "k", 1, &lease, 0, &at) == LARDER_OK);
    CHECK(is_absent() && get_stale("old", &item) == LARDER_OK && item.staleness == LARDER_STALE);
    CHECK(take(&lease) == LARDER_OK && larder_lease_end(cache, "k", 1, &lease, 500, &at) == LARDER_OK);
    CHECK(has("old"));
    at.now_ms += 499;
    CHECK(has("old"));
    at.now_ms += 1;
    CHECK(is_absent() && get_stale("old", &item) == LARDER_OK && item.expires_at_ms == START_MS + 11000);
    end();
}

static void a_lease_over_a_value_that_is_no_use_keeps_it(void) {
    larder_lease lease, other;
    begin();
    CHECK(put("of another version") == LARDER_OK && take(&lease) == LARDER_NOT_STORED);
    other = lease;
    CHECK(larder_lease_take(cache, "k", 1, LEASE_MS, &lease, &at) == LARDER_OK && has("of another version"));
    CHECK(larder_lease_take(cache, "k", 1, LEASE_MS, &other, &at) == LARDER_LEASED && is_same(&lease, &other));
    CHECK(put_leased("of this one", &lease) == LARDER_OK && has("of this one"));
    CHECK(larder_lease_take(cache, "k", 1, LEASE_MS, &other, &at) == LARDER_NOT_STORED);
    CHECK(put("1") == LARDER_OK && larder_lease_take(cache, "k", 1, LEASE_MS, &other, &at) == LARDER_NOT_STORED);
    int64_t sum;
    CHECK(larder_increment(cache, "k", 1, 1, 0, 0, &sum, &at) == LARDER_OK); /* another record: a counter */
    CHECK(larder_lease_take(cache, "k", 1, LEASE_MS, &other, &at) == LARDER_NOT_STORED);
    CHECK(larder_lease_take(cache, "k", 1, LEASE_MS, &other, &at) == LARDER_OK && is_absent());
    end();
}

static void a_touch_moves_the_time_until_which_a_value_is_fresh(void) {
    larder_item item = {0};
    begin();
    CHECK(put_stale_soon("old") == LARDER_OK && larder_touch(cache, "k", 1, 5000, &at) == LARDER_OK);
    CHECK(get_stale("old", &item) == LARDER_OK && item.fresh_until_ms == START_MS + 5000 &&
          item.expires_at_ms == START_MS + 15000 && item.compute_ms == 77);
    at.now_ms += 6000;
    CHECK(larder_touch(cache, "k", 1, 5000, &at) == LARDER_MISS);
    CHECK(put_stale_soon("old") == LARDER_OK && larder_touch(cache, "k", 1, 0, &at) == LARDER_OK);
    at.now_ms += 1000000;
    CHECK(has("old") && get_stale("old", &item) == LARDER_OK && item.expires_at_ms == 0);
    end();
}

static void a_swap_and_an_increment_take_a_stale_value_for_absent(void) {
    int64_t sum = 0;
    larder_store swapping = store_of("8");
    begin();
    larder_lease none = {0};
    extra.lease = &none;
    CHECK(larder_cas(cache, &swapping, "7", 1, &at) == LARDER_INVALID);
    swapping.extra = NULL;
    swapping.expected_flags = 9;
    swapping.expected_expires_at_ms = LARDER_ANY_EXPIRY;
    CHECK(put_stale_soon("7") == LARDER_OK && larder_cas(cache, &swapping, "7", 1, &at) == LARDER_OK && has("8"));
    CHECK(put_stale_soon("7") == LARDER_OK);
    at.now_ms += 1000;
    CHECK(larder_cas(cache, &swapping, "7", 1, &at) == LARDER_MISS);
    CHECK(larder_increment(cache, "k", 1, 1, 100, 0, &sum, &at) == LARDER_OK && sum == 101);
    larder_store number = store_of("7");
    number.ttl_ms = 1000;
    extra.stale_ms = 1000;
    CHECK(larder_set(cache, &number, &at) == LARDER_OK);
    CHECK(larder_increment(cache, "k", 1, 1, 100, 0, &sum, &at) == LARDER_OK && sum == 8 && has("8"));
    CHECK(put_stale_soon("7") == LARDER_OK); /* it has flags */
    CHECK(larder_increment(cache, "k", 1, 1, 100, 0, &sum, &at) == LARDER_NOT_A_NUMBER && has("7"));
    end();
}

static void large_values_stay_beside_a_lease_and_leave_no_chunks(void) {
    enum { BYTES = 100000 };
    static char value[BYTES], out[BYTES];
    larder_lease lease;
    larder_item item = {0};
    larder_call stale = {.flags = LARDER_CALL_STALE};
    larder_extra own = {.stale_ms = 10000};
    begin();
    memset(value, 'v', sizeof value);
    larder_store store = {
        .key = "k", .key_bytes = 1, .value = value, .value_bytes = BYTES, .ttl_ms = 1000, .extra = &own};
    for (int way = 0; way < 3; way++) {
        CHECK(larder_set(cache, &store, &at) == LARDER_OK);
        CHECK(larder_touch(cache, "k", 1, 20000, &at) == LARDER_OK);
        at.now_ms += 29999;
        stale.now_ms = at.now_ms;
        CHECK(take(&lease) == LARDER_OK);
        CHECK(larder_get(cache, "k", 1, out, sizeof out, &item, &stale) == LARDER_OK && item.size_bytes == BYTES &&
              memcmp(out, value, BYTES) == 0 && item.staleness == LARDER_STALE_LEASED);
        CHECK(way == 0 ? put_leased("short", &lease) == LARDER_OK && has("short")
              : way == 1
                  ? larder_delete(cache, "k", 1, &at) == LARDER_MISS
                  : larder_lease_end(cache, "k", 1, &lease, 0, &at) == LARDER_OK && put("short") == LARDER_OK);
        uint64_t chunks = 0;
        for (uint32_t s = 0; s < cache->core->map->super.shard_count; s++) {
            chunks += lard_load(&lard_view_of(cache->core->map, s).header->chunks);
        }
        CHECK(chunks == 0, "way %d leaves %d chunks", way, (int)chunks);
    }
    CHECK(take(&lease) == LARDER_NOT_STORED && larder_delete(cache, "k", 1, &at) == LARDER_OK);
    CHECK(take(&lease) == LARDER_OK);
    own.lease = &lease;
    CHECK(larder_set(cache, &store, &at) == LARDER_OK);
    CHECK(larder_get(cache, "k", 1, out, sizeof out, &item, &stale) == LARDER_OK && item.size_bytes == BYTES);
    end();
}

static void a_value_that_fills_a_record_gives_way_to_the_lease(void) {
    larder_lease lease;
    begin();
    size_t most = cache->core->map->record_limit - LARD_RECORD_HEADER - 8;
    char *value = calloc(1, most);
    larder_store store = {.key = "k", .key_bytes = 1, .value = value, .value_bytes = most};
    CHECK(larder_set(cache, &store, &at) == LARDER_OK && take(&lease) == LARDER_NOT_STORED);
    CHECK(larder_lease_take(cache, "k", 1, LEASE_MS, &lease, &at) == LARDER_OK);
    CHECK(put_leased("new", &lease) == LARDER_OK && has("new"));
    free(value);
    end();
}

static void a_pinned_value_stays_pinned_beside_a_lease(void) {
    larder_lease lease;
    larder_item item = {0};
    begin();
    larder_store store = store_of("old");
    store.pin = 1;
    CHECK(larder_set(cache, &store, &at) == LARDER_OK && take(&lease) == LARDER_NOT_STORED);
    CHECK(larder_lease_take(cache, "k", 1, LEASE_MS, &lease, &at) == LARDER_OK);
    CHECK(larder_exists(cache, "k", 1, &item, &at) == LARDER_OK && item.is_pinned);
    CHECK(put_leased("new", &lease) == LARDER_OK && larder_exists(cache, "k", 1, &item, &at) == LARDER_OK);
    larder_stats stats;
    larder_get_stats(cache, &stats);
    CHECK(!item.is_pinned && stats.pinned_bytes == 0, "%d", (int)stats.pinned_bytes);
    end();
}

/* Over a fresh value that the caller cannot use. */
static larder_status take_over_fresh(larder_lease *lease) {
    *lease = (larder_lease){.token = {0, 0}};
    larder_status status = larder_lease_take(cache, "k", 1, 60000, lease, NULL);
    return status == LARDER_NOT_STORED ? larder_lease_take(cache, "k", 1, 60000, lease, NULL) : status;
}

static void a_pinned_value_without_room_for_a_lease_stays(void) {
    static char value[40000], found[sizeof value];
    larder_lease lease;
    larder_item item;
    int64_t sum;
    cache = open_cache(64 << 20);
    size_t limit = larder_max_pinned(cache) - 1, records = cache->core->map->record_limit;
    CHECK(limit <= sizeof value && records + 1000 < limit);
    larder_store store = {.key = "k", .key_bytes = 1, .value = value, .pin = 1};
    for (size_t bytes = records - 100; bytes <= limit;
         bytes = bytes < limit && bytes + 999 > limit ? limit : bytes + 999) {
        store.value_bytes = bytes;
        CHECK(larder_set(cache, &store, NULL) == LARDER_OK, "%zu bytes", bytes);
        larder_status status = take_over_fresh(&lease);
        CHECK(status == (bytes == limit ? LARDER_VALUE_TOO_LARGE : LARDER_OK), "%zu bytes: %s", bytes,
              larder_status_name(status));
        CHECK(larder_get(cache, "k", 1, found, sizeof found, &item, NULL) == LARDER_OK && item.is_pinned &&
                  item.size_bytes == bytes,
              "%zu bytes", bytes);
        CHECK(bytes == limit || larder_lease_end(cache, "k", 1, &lease, 0, NULL) == LARDER_OK, "%zu bytes", bytes);
        CHECK(larder_exists(cache, "k", 1, &item, NULL) == LARDER_OK && item.is_pinned, "%zu bytes", bytes);
    }
    store.value = "41";
    store.value_bytes = 2;
    CHECK(larder_set(cache, &store, NULL) == LARDER_OK);
    CHECK(larder_increment(cache, "k", 1, 1, 0, 0, &sum, NULL) == LARDER_OK && sum == 42);
    CHECK(take_over_fresh(&lease) == LARDER_VALUE_TOO_LARGE && is(cache, "k", "42"));
    CHECK(sound(cache));
    larder_close(cache);
}

static void a_placeholder_outlives_as_much_writing_as_an_item_that_was_read(void) {
    larder_lease lease;
    char key[32], value[1000] = "";
    begin();
    CHECK(take(&lease) == LARDER_OK);
    uint64_t moved = 0;
    lard_key wanted = lard_key_of(cache->core->map, NULL, "k", 1);
    lard_view view = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &wanted.hash));
    uint64_t slot = lard_index_find(&view, &wanted).value;
    for (int i = 0; i < 1500; i++) { /* one and a half times the cache */
        larder_store other = {.key = key, .value = value, .value_bytes = sizeof value};
        other.key_bytes = (size_t)snprintf(key, sizeof key, "other %d", i);
        larder_set(cache, &other, &at);
        moved += lard_index_find(&view, &wanted).value != slot;
    }
    CHECK(moved > 0 && put_leased("computed", &lease) == LARDER_OK && has("computed"));
    end();
}

static void a_stale_value_is_evicted_before_one_that_is_fresh(void) {
    char key[32], value[1000] = "", out[1000];
    larder_extra kept = {.stale_ms = 3600000};
    unsigned there[2] = {0, 0};
    begin();
    for (int round = 0; round < 5; round++) { /* so often that they are not young any more */
        for (int i = 0; i < 100; i++) {
            larder_store one = {.key = key, .value = value, .value_bytes = sizeof value, .extra = &kept};
            one.key_bytes = (size_t)snprintf(key, sizeof key, "%s %d", i & 1 ? "fresh" : "stale", i);
            one.ttl_ms = i & 1 ? 3600000 : 1000;
            if (round == 0) {
                CHECK(larder_set(cache, &one, &at) == LARDER_OK);
            }
            larder_get(cache, key, one.key_bytes, out, sizeof out, NULL, &at);
        }
        for (int i = 0; i < 60; i++) {
            larder_store other = {.key = key, .value = value, .value_bytes = sizeof value};
            other.key_bytes = (size_t)snprintf(key, sizeof key, "other %d %d", round, i);
            larder_set(cache, &other, &at);
        }
    }
    at.now_ms += 2000;
    for (int i = 0; i < 1200; i++) {
        larder_store other = {.key = key, .value = value, .value_bytes = sizeof value};
        other.key_bytes = (size_t)snprintf(key, sizeof key, "more %d", i);
        larder_set(cache, &other, &at);
    }
    larder_call stale = {.now_ms = at.now_ms, .flags = LARDER_CALL_STALE};
    for (int i = 0; i < 100; i++) {
        size_t bytes = (size_t)snprintf(key, sizeof key, "%s %d", i & 1 ? "fresh" : "stale", i);
        there[i & 1] += larder_get(cache, key, bytes, out, sizeof out, NULL, &stale) == LARDER_OK;
    }
    CHECK(there[1] > 40 && there[0] < 10, "%u fresh, %u stale", there[1], there[0]);
    end();
}

static void reads_of_the_placeholder_do_not_count_for_the_value(void) {
    larder_lease lease;
    begin();
    CHECK(take(&lease) == LARDER_OK && put_leased("computed", &lease) == LARDER_OK);
    lard_key wanted = lard_key_of(cache->core->map, NULL, "k", 1);
    lard_view view = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &wanted.hash));
    lard_found found = lard_index_find(&view, &wanted);
    CHECK(found.slot && lard_reads_of(found.reads, found.slot) == 0);
    end();
}

static void the_lease_of_a_process_that_was_killed_is_free_at_once(void) {
    larder_lease lease;
    begin();
    pid_t child = fork();
    if (child == 0) {
        CHILD_CHECK(take(&lease) == LARDER_OK);
        raise(SIGKILL);
    }
    CHECK(waitpid(child, NULL, 0) == child);
    CHECK(!is_visited(&(larder_leased){0}), "a walk leaves it out");
    CHECK(take(&lease) == LARDER_OK && lease.process == larder_process(cache));
    CHECK(put_leased("computed", &lease) == LARDER_OK && has("computed"));
    end();
}

static void a_stale_value_is_no_longer_leased_when_its_owner_has_died(void) {
    larder_item item = {0};
    larder_lease lease;
    begin();
    CHECK(put_stale_soon("old") == LARDER_OK);
    at.now_ms += 2000;
    pid_t child = fork();
    if (child == 0) {
        CHILD_CHECK(take(&lease) == LARDER_OK);
        CHILD_CHECK(get_stale("old", &item) == LARDER_OK && item.staleness == LARDER_STALE_LEASED);
        raise(SIGKILL);
    }
    CHECK(waitpid(child, NULL, 0) == child);
    CHECK(get_stale("old", &item) == LARDER_OK && item.staleness == LARDER_STALE && take(&lease) == LARDER_OK);
    end();
}

static larder_lease held;

static void *wait_for_it(void *result) {
    larder_status status;
    do {
        status = larder_lease_wait(cache, "k", 1, &held, 60000, &at);
    } while (status == LARDER_LEASED);
    *(larder_status *)result = status;
    return NULL;
}

static void who_waits_wakes_when_it_is_stored_ended_deleted_or_its_owner_dies(void) {
    enum { STORE, END, DELETE, DEATH, WAYS };
    for (int way = 0; way < WAYS; way++) {
        pthread_t threads[4];
        larder_status results[4];
        pid_t child = 0;
        int pipes[2];
        begin();
        CHECK(pipe(pipes) == 0);
        if (way == DEATH && (child = fork()) == 0) {
            CHILD_CHECK(take(&held) == LARDER_OK && write(pipes[1], &held, sizeof held) == sizeof held);
            pause();
        }
        CHECK(way == DEATH ? read(pipes[0], &held, sizeof held) == sizeof held : take(&held) == LARDER_OK);
        CHECK(larder_lease_wait(cache, "k", 1, &held, 1, &at) == LARDER_LEASED);
        for (int i = 0; i < 4; i++) {
            results[i] = LARDER_INVALID;
            pthread_create(&threads[i], NULL, wait_for_it, &results[i]);
        }
        sleep_us(5000);
        switch (way) {
        case STORE:
            CHECK(put_leased("computed", &held) == LARDER_OK);
            break;
        case END:
            CHECK(larder_lease_end(cache, "k", 1, &held, 0, &at) == LARDER_OK);
            break;
        case DELETE:
            CHECK(larder_delete(cache, "k", 1, &at) == LARDER_MISS);
            break;
        default:
            kill(child, SIGKILL);
            waitpid(child, NULL, 0);
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(threads[i], NULL);
            CHECK(results[i] == LARDER_OK, "way %d", way);
        }
        close(pipes[0]);
        close(pipes[1]);
        end();
    }
}

static void a_resize_keeps_how_long_values_are_fresh_and_stale(void) {
    larder_item item = {0};
    larder_error error;
    begin();
    at.now_ms = lard_clock_ms();
    larder_store store = store_of("old");
    store.ttl_ms = 3600000;
    extra.stale_ms = 1000;
    extra.compute_ms = 77;
    CHECK(larder_set(cache, &store, &at) == LARDER_OK);
    CHECK(larder_resize(cache, 2 << 20, LARDER_KEEP_ALL, &error) == LARDER_OK, "%s", error.detail);
    CHECK(get_stale("old", &item) == LARDER_OK && item.staleness == LARDER_FRESH && item.compute_ms == 77);
    CHECK(item.fresh_until_ms == at.now_ms + 3600000 && item.expires_at_ms == at.now_ms + 3601000);
    end();
}

static void a_store_that_is_refused_ends_the_lease_and_drops_the_old_value(void) {
    larder_lease lease;
    larder_item item = {0};
    begin();
    CHECK(put_stale_soon("old") == LARDER_OK);
    at.now_ms += 2000;
    CHECK(take(&lease) == LARDER_OK);
    size_t bytes = larder_max_value(cache) + 1;
    char *value = calloc(1, bytes);
    larder_store store = {.key = "k", .key_bytes = 1, .value = value, .value_bytes = bytes, .extra = &extra};
    extra = (larder_extra){.lease = &lease};
    CHECK(larder_set(cache, &store, &at) == LARDER_VALUE_TOO_LARGE);
    free(value);
    CHECK(get_stale("old", &item) == LARDER_MISS && take(&lease) == LARDER_OK);
    store = store_of("has expired");
    extra.lease = &lease;
    store.ttl_ms = -1;
    CHECK(larder_set(cache, &store, &at) == LARDER_OK && is_absent() && take(&lease) == LARDER_OK);
    end();
}

static void what_is_stale_and_leased_is_counted(void) {
    larder_lease lease;
    larder_item item;
    larder_stats before, after;
    begin();
    larder_get_stats(cache, &before);
    CHECK(put_stale_soon("old") == LARDER_OK && get_stale("old", &item) == LARDER_OK);
    at.now_ms += 2000;
    CHECK(get_stale("old", &item) == LARDER_OK && is_absent() && take(&lease) == LARDER_OK);
    CHECK(larder_delete(cache, "k", 1, &at) == LARDER_MISS && put_leased("late", &lease) == LARDER_NOT_STORED);
    larder_get_stats(cache, &after);
    CHECK(after.stale_hits - before.stale_hits == 1 && after.leases - before.leases == 1 &&
          after.lost_leases - before.lost_leases == 1 && after.hits - before.hits == 2);
    end();
}

static void bad_arguments_are_errors(void) {
    larder_lease lease = {{0, 0}, 0, 0, 0, 0};
    larder_store store = store_of("v");
    begin();
    CHECK(larder_lease_take(NULL, "k", 1, 1, &lease, NULL) == LARDER_INVALID);
    CHECK(larder_lease_take(cache, "k", 1, 0, &lease, NULL) == LARDER_INVALID);
    CHECK(larder_lease_take(cache, "k", 1, LARDER_MAX_TTL_MS + 1, &lease, NULL) == LARDER_INVALID);
    CHECK(larder_lease_take(cache, "k", 1, 1, NULL, NULL) == LARDER_INVALID);
    CHECK(larder_lease_take(cache, "k", LARDER_MAX_KEY + 1, 1, &lease, NULL) == LARDER_KEY_TOO_LONG);
    CHECK(larder_lease_end(cache, "k", 1, &lease, -1, NULL) == LARDER_INVALID);
    CHECK(larder_lease_end(cache, "k", 1, NULL, 0, NULL) == LARDER_INVALID);
    CHECK(larder_lease_end(cache, "k", 1, &lease, 0, NULL) == LARDER_NOT_STORED);
    CHECK(larder_lease_wait(cache, "k", 1, NULL, 0, NULL) == LARDER_INVALID);
    CHECK(larder_lease_wait(cache, "k", 1, &lease, 60000, NULL) == LARDER_OK);
    lease.reserved = 1;
    CHECK(larder_lease_take(cache, "k", 1, 1, &lease, NULL) == LARDER_INVALID);
    extra.lease = &lease;
    CHECK(larder_set(cache, &store, NULL) == LARDER_INVALID);
    lease.reserved = 0;
    store.mode = LARDER_ADD;
    CHECK(larder_set(cache, &store, NULL) == LARDER_INVALID);
    extra.lease = NULL;
    extra.stale_ms = -1;
    CHECK(larder_set(cache, &store, NULL) == LARDER_INVALID);
    end();
}

static void leases_are_visited(void) {
    larder_lease lease;
    larder_leased leased = {0};
    cache = open_cache(1 << 20);
    at.now_ms = START_MS;
    CHECK(set(cache, "other", "v") == LARDER_OK && !is_visited(&leased));
    CHECK(take(&lease) == LARDER_OK && is_visited(&leased));
    CHECK(leased.pid == (uint32_t)getpid() && !leased.has_value && leased.reserved == 0);
    CHECK(leased.left_ms > 0 && leased.age_ms >= 0 && leased.age_ms + leased.left_ms == LEASE_MS, "%ld + %ld",
          (long)leased.age_ms, (long)leased.left_ms);
    CHECK(put_leased("v", &lease) == LARDER_OK && !is_visited(&leased));
    CHECK(put_stale_soon("old") == LARDER_OK && !is_visited(&leased));
    at.now_ms += 1500;
    CHECK(take(&lease) == LARDER_OK && is_visited(&leased) && leased.has_value);
    CHECK(larder_lease_end(cache, "k", 1, &lease, 0, &at) == LARDER_OK && !is_visited(&leased));
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(leases_are_visited, "a walk of leases visits keys that have one, with a value or without"),
    TEST(one_caller_has_it_and_the_others_see_whose_it_is, "one caller has it and the others see whose it is"),
    TEST(a_placeholder_is_no_item, "a placeholder is no item"),
    TEST(deletes_clears_and_writes_win_over_what_is_computed,
         "deletes, clears and writes win over what is computed"),
    TEST(a_stale_value_stays_beside_the_lease, "a stale value stays beside the lease"),
    TEST(a_lease_that_is_ended_leaves_the_stale_value_and_may_make_it_fresh,
         "a lease that is ended leaves the stale value, and may make it fresh"),
    TEST(a_lease_over_a_value_that_is_no_use_keeps_it, "a lease over a value that is no use keeps it"),
    TEST(a_touch_moves_the_time_until_which_a_value_is_fresh,
         "a touch moves the time until which a value is fresh"),
    TEST(a_swap_and_an_increment_take_a_stale_value_for_absent,
         "a swap and an increment take a stale value for absent"),
    TEST(large_values_stay_beside_a_lease_and_leave_no_chunks,
         "large values stay beside a lease, and leave no chunks"),
    TEST(a_value_that_fills_a_record_gives_way_to_the_lease, "a value that fills a record gives way to the lease"),
    TEST(a_pinned_value_stays_pinned_beside_a_lease, "a pinned value stays pinned beside a lease"),
    TEST(a_pinned_value_without_room_for_a_lease_stays, "a pinned value that has no room for a lease stays"),
    TEST(a_placeholder_outlives_as_much_writing_as_an_item_that_was_read,
         "a placeholder outlives as much writing as an item that was read"),
    TEST(a_stale_value_is_evicted_before_one_that_is_fresh, "a stale value is evicted before one that is fresh"),
    TEST(reads_of_the_placeholder_do_not_count_for_the_value,
         "reads of the placeholder do not count for the value"),
    TEST(the_lease_of_a_process_that_was_killed_is_free_at_once,
         "the lease of a process that was killed is free at once"),
    TEST(a_stale_value_is_no_longer_leased_when_its_owner_has_died,
         "a stale value is no longer leased when its owner has died"),
    TEST(who_waits_wakes_when_it_is_stored_ended_deleted_or_its_owner_dies,
         "who waits wakes when it is stored, ended, deleted or its owner dies"),
    TEST(a_resize_keeps_how_long_values_are_fresh_and_stale, "a resize keeps how long values are fresh and stale"),
    TEST(a_store_that_is_refused_ends_the_lease_and_drops_the_old_value,
         "a store that is refused ends the lease and drops the old value"),
    TEST(what_is_stale_and_leased_is_counted, "what is stale and leased is counted"),
    TEST(bad_arguments_are_errors, "bad arguments are errors"),
};

RUN("leases", tests)
