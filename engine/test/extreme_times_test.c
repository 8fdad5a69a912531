/*
 * extreme_times_test.c — calls every operation with times that no clock shows. Under UBSan (make asan-test) an
 * addition that overflows ends the program.
 */
#include "harness.h"

#include <inttypes.h>

static larder *cache;

static const int64_t times[] = {1,
                                -1,
                                -86400000,
                                LARDER_MAX_TTL_MS,
                                LARDER_MAX_EXPIRY_MS - 2000,
                                LARDER_MAX_EXPIRY_MS,
                                LARDER_MAX_EXPIRY_MS + 5000,
                                INT64_MAX / 2,
                                INT64_MAX - 1000,
                                INT64_MAX,
                                INT64_MIN + 1000,
                                INT64_MIN};
static const int64_t lengths[] = {1, 5000, LARDER_MAX_TTL_MS};
enum { TIMES = sizeof times / sizeof *times, LENGTHS = sizeof lengths / sizeof *lengths };

/* No time after which an item can expire. */
static bool is_late(int64_t now_ms) { return now_ms >= LARDER_MAX_EXPIRY_MS; }

static larder_status get_at(const char *key, larder_item *item, uint32_t flags, const larder_call *at) {
    char out[64];
    larder_call call = {.now_ms = at->now_ms, .flags = flags};
    return larder_get(cache, key, strlen(key), out, sizeof out, item, &call);
}

static void an_item(const larder_call *at, int64_t length_ms) {
    larder_item item = {0};
    larder_extra extra = {.stale_ms = length_ms, .compute_ms = 1};
    larder_store store = {.key = "k", .key_bytes = 1, .value = "v", .value_bytes = 1, .ttl_ms = length_ms};
    bool is_refused = at->now_ms < 0; /* a TTL needs a Unix time */
    for (int i = 0; i < 2; i++, store.extra = &extra) {
        larder_status status = larder_set(cache, &store, at);
        CHECK(status == (is_refused ? LARDER_INVALID : LARDER_OK), "%" PRId64 ": %s", at->now_ms,
              larder_status_name(status));
        status = get_at("k", &item, 0, at);
        CHECK(status == (is_refused || is_late(at->now_ms) ? LARDER_MISS : LARDER_OK), "%" PRId64 ": %s",
              at->now_ms, larder_status_name(status));
        CHECK(status != LARDER_OK ||
              (item.expires_at_ms > at->now_ms && item.expires_at_ms <= LARDER_MAX_EXPIRY_MS));
        status = larder_touch(cache, "k", 1, length_ms, at);
        CHECK(status == (is_refused ? LARDER_INVALID : is_late(at->now_ms) ? LARDER_MISS : LARDER_OK));
        larder_delete(cache, "k", 1, at);
    }
    store.ttl_ms = 0;
    store.extra = NULL;
    CHECK(larder_set(cache, &store, at) == LARDER_OK && get_at("k", &item, 0, at) == LARDER_OK);
    CHECK(item.expires_at_ms == 0 && larder_cas(cache, &store, "v", 1, at) == LARDER_OK);
    CHECK(larder_prune(cache, NULL, at) == LARDER_OK && get_at("k", &item, 0, at) == LARDER_OK);
}

static void a_number(const larder_call *at, int64_t length_ms) {
    int64_t sum = 0;
    larder_status wanted = at->now_ms < 0 ? LARDER_INVALID : LARDER_OK;
    CHECK(larder_increment(cache, "n", 1, 1, 0, length_ms, &sum, at) == wanted);
    larder_delete(cache, "n", 1, at);
    CHECK(larder_increment(cache, "n", 1, 1, 0, 0, &sum, at) == LARDER_OK && sum == 1);
    larder_delete(cache, "n", 1, at);
}

/* Over a value without expiry, and over one that is stale a little later. */
static void a_lease(const larder_call *at, int64_t length_ms) {
    larder_lease lease, other = {.token = {0, 0}};
    larder_extra extra = {0};
    larder_store store = {.key = "k", .key_bytes = 1, .value = "v", .value_bytes = 1, .extra = &extra};
    for (int i = 0; i < 3; i++) {
        extra.lease = NULL;
        extra.stale_ms = i == 2 ? LARDER_MAX_TTL_MS : 0;
        store.ttl_ms = i == 2 && at->now_ms > 0 ? 1 : 0;
        CHECK(i == 0 || larder_set(cache, &store, at) == LARDER_OK);
        lease = (larder_lease){.token = {0, 0}};
        larder_status status = larder_lease_take(cache, "k", 1, length_ms, &lease, at);
        status = status == LARDER_NOT_STORED ? larder_lease_take(cache, "k", 1, length_ms, &lease, at) : status;
        CHECK(status == LARDER_OK, "%" PRId64 ": %s", at->now_ms, larder_status_name(status));
        if (length_ms > 1) {
            CHECK(larder_lease_take(cache, "k", 1, length_ms, &other, at) == LARDER_LEASED, "%" PRId64,
                  at->now_ms);
            CHECK(larder_lease_wait(cache, "k", 1, &lease, 0, at) == LARDER_LEASED);
        }
        larder_item item;
        get_at("k", &item, LARDER_CALL_STALE, at);
        if (i == 1) {
            extra = (larder_extra){.lease = &lease, .stale_ms = length_ms};
            CHECK(larder_set(cache, &store, at) == LARDER_OK && get_at("k", &item, 0, at) == LARDER_OK);
        } else {
            CHECK(larder_lease_end(cache, "k", 1, &lease, length_ms, at) == LARDER_OK);
        }
        CHECK(larder_lease_end(cache, "k", 1, &lease, length_ms, at) == LARDER_NOT_STORED);
        larder_touch(cache, "k", 1, at->now_ms > 0 ? length_ms : 0, at);
        larder_delete(cache, "k", 1, at);
    }
}

static void the_rest(const larder_call *at) {
    static char buffer[LARDER_MAX_KEY + 4];
    uint64_t cursor = 0;
    size_t count, used;
    larder_stats stats;
    const larder_tag tag = {"t", 1};
    CHECK(larder_scan(cache, &cursor, NULL, 0, buffer, sizeof buffer, &count, &used, at) == LARDER_OK);
    CHECK(larder_delete_tagged(cache, &tag, 1, at) == LARDER_OK);
    CHECK(larder_get_stats(cache, &stats) == LARDER_OK && sound(cache));
}

static void all(void) {
    cache = open_cache(1 << 20);
    for (int from = 0; from < TIMES; from++) { /* and from each time to the next */
        for (int n = 0; n < LENGTHS; n++) {
            const larder_call at = {.now_ms = times[from]};
            int before = test_failures;
            an_item(&at, lengths[n]);
            a_number(&at, lengths[n]);
            a_lease(&at, lengths[n]);
            the_rest(&at);
            CHECK(test_failures == before, "at %" PRId64 ", %" PRId64 " ms", at.now_ms, lengths[n]);
        }
    }
    larder_close(cache);
}

/* As a process that may write to the file can leave it. */
static void times_of_an_extension(void) {
    static const uint64_t wrong[] = {0, LARDER_MAX_EXPIRY_MS + 1, INT64_MAX, 1ull << 63, UINT64_MAX};
    uint64_t words[LARD_EXTENSION_WORDS];
    lard_extension extension, again;
    lard_extension_init(&extension, LARD_TYPE_PLAIN, 0);
    extension.fields = LARD_FIELD_FRESH;
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        extension.fresh_until_ms = (int64_t)wrong[i];
        lard_extension_pack(&extension, words);
        CHECK(!lard_extension_unpack(words, &again), "%" PRIu64, wrong[i]);
    }
    extension.fresh_until_ms = LARDER_MAX_EXPIRY_MS;
    lard_extension_pack(&extension, words);
    CHECK(lard_extension_unpack(words, &again) && again.fresh_until_ms == LARDER_MAX_EXPIRY_MS);
}

static void the_time_since(void) {
    CHECK(lard_clock_since(5, 3) == 2 && lard_clock_since(3, 5) == 0 && lard_clock_since(3, 3) == 0);
    CHECK(lard_clock_since(INT64_MAX, INT64_MIN) == INT64_MAX && lard_clock_since(INT64_MIN, INT64_MAX) == 0);
    CHECK(lard_clock_since(1, INT64_MIN) == INT64_MAX && lard_clock_since(-1, INT64_MIN) == INT64_MAX);
}

static const test_case tests[] = {
    TEST(all, "calls at times that no clock shows"),
    TEST(times_of_an_extension, "an extension has only times that an item can have"),
    TEST(the_time_since, "the time since another one does not overflow"),
};
RUN("extreme times", tests)
