/*
 * abi_test.c — pins what programs compiled against larder.h rely on.
 *
 * These are the sizes of its structs, the offsets of their fields, the numbers of the status codes, and the rules
 * for reserved fields: the engine refuses other values than zero and returns zero. A change here raises the soname
 * (Makefile).
 */
#include "harness.h"

#define AT(type, field, offset) \
    CHECK(offsetof(type, field) == (offset), #type "." #field " is at %d", (int)offsetof(type, field))
#define BYTES(type, bytes) CHECK(sizeof(type) == (bytes), #type " has %d bytes", (int)sizeof(type))

static void what_is_given_has_its_places(void) {
    AT(larder_options, size_bytes, 0);
    AT(larder_options, lock_timeout_ms, 8);
    AT(larder_options, existing, 12);
    AT(larder_options, keep_newer, 20);
    AT(larder_options, configuration, 24);
    AT(larder_options, statistics, 32);
    AT(larder_options, reserved, 36);
    BYTES(larder_options, 64);
    AT(larder_call, now_ms, 0);
    AT(larder_call, flags, 8);
    AT(larder_call, reserved, 12);
    BYTES(larder_call, 16);
    AT(larder_lookup, key, 0);
    AT(larder_lookup, key_bytes, 8);
    AT(larder_lookup, buffer, 16);
    AT(larder_lookup, buffer_bytes, 24);
    AT(larder_lookup, more, 32);
    AT(larder_lookup, item, 40);
    AT(larder_lookup, status, 72);
    AT(larder_lookup, reserved, 76);
    BYTES(larder_lookup, 80);
    AT(larder_store, key, 0);
    AT(larder_store, key_bytes, 8);
    AT(larder_store, value, 16);
    AT(larder_store, value_bytes, 24);
    AT(larder_store, ttl_ms, 32);
    AT(larder_store, expected_expires_at_ms, 40);
    AT(larder_store, expected_flags, 48);
    AT(larder_store, flags, 49);
    AT(larder_store, mode, 50);
    AT(larder_store, pin, 51);
    AT(larder_store, status, 52);
    AT(larder_store, extra, 56);
    AT(larder_store, reserved, 64);
    BYTES(larder_store, 72);
    AT(larder_extra, stale_ms, 0);
    AT(larder_extra, lease, 8);
    AT(larder_extra, compute_ms, 16);
    AT(larder_extra, tag_count, 20);
    AT(larder_extra, tags, 24);
    AT(larder_extra, stamp, 32);
    AT(larder_extra, reserved, 48);
    BYTES(larder_extra, 64);
    AT(larder_lease, token, 0);
    AT(larder_lease, left_ms, 16);
    AT(larder_lease, process, 24);
    AT(larder_lease, over, 32);
    BYTES(larder_lease, 40);
}

static void what_is_answered_has_its_places(void) {
    AT(larder_error, status, 0);
    AT(larder_error, system_errno, 4);
    AT(larder_error, detail, 80);
    BYTES(larder_error, 320);
    AT(larder_item, size_bytes, 0);
    AT(larder_item, expires_at_ms, 8);
    AT(larder_item, flags, 16);
    AT(larder_item, is_counter, 17);
    AT(larder_item, is_pinned, 18);
    AT(larder_item, staleness, 19);
    AT(larder_item, compute_ms, 20);
    AT(larder_item, fresh_until_ms, 24);
    BYTES(larder_item, 32);
    AT(larder_details, item, 0);
    AT(larder_details, stored_after_ms, 32);
    AT(larder_details, reads, 40);
    AT(larder_details, tag_count, 44);
    AT(larder_details, reserved, 48);
    BYTES(larder_details, 64);
    AT(larder_leased, age_ms, 0);
    AT(larder_leased, left_ms, 8);
    AT(larder_leased, pid, 16);
    AT(larder_leased, has_value, 20);
    AT(larder_leased, reserved, 24);
    BYTES(larder_leased, 32);
    AT(larder_stats, hits, 0);
    AT(larder_stats, lock_waits, 96);
    AT(larder_stats, items, 192);
    AT(larder_stats, processes, 256);
    AT(larder_stats, oldest_age_ms, 264);
    BYTES(larder_stats, 384);
    AT(larder_usage_counts, failures, 104);
    AT(larder_usage_counts, reserved, 112);
    BYTES(larder_usage_counts, 128);
    AT(larder_keyspace, counts, 80);
    BYTES(larder_keyspace, 208);
    AT(larder_bucket, whole, 8);
    BYTES(larder_bucket, 2312);
    AT(larder_used_key, key, 36);
    BYTES(larder_used_key, 160);
    AT(larder_keyspace_rules, text, 8);
    BYTES(larder_keyspace_rules, 2568);
    AT(larder_usage, keyspaces, 16);
    AT(larder_usage, rules, 1088288);
    BYTES(larder_usage, 1090856);
    AT(larder_other_size, per_cent, 0);
    AT(larder_other_size, is_known, 4);
    AT(larder_other_size, hits_ppm, 8);
    AT(larder_other_size, error_ppm, 12);
    AT(larder_other_size, reads, 16);
    AT(larder_other_size, reserved, 24);
    BYTES(larder_other_size, 32);
    AT(larder_other_sizes, size_bytes, 0);
    AT(larder_other_sizes, reads, 8);
    AT(larder_other_sizes, hits, 16);
    AT(larder_other_sizes, needed_bytes, 24);
    AT(larder_other_sizes, evicts, 32);
    AT(larder_other_sizes, reserved_word, 36);
    AT(larder_other_sizes, sizes, 40);
    AT(larder_other_sizes, reserved, 136);
    BYTES(larder_other_sizes, 200);
    AT(larder_report, items, 0);
    AT(larder_report, records, 8);
    AT(larder_report, problems, 16);
    AT(larder_report, first, 80);
    BYTES(larder_report, 320);
}

static void results_have_their_numbers(void) {
    CHECK(LARDER_OK == 0 && LARDER_MISS == 1 && LARDER_NOT_STORED == 2 && LARDER_BUFFER_TOO_SMALL == 3);
    CHECK(LARDER_FULL == 10 && LARDER_SYSTEM == 30 && LARDER_PIN_FULL == 31 && LARDER_FILE_LIMIT == 32 &&
          LARDER_LEASED == 33 && LARDER_NO_CONFIGURATION == 34);
    CHECK(LARDER_SET == 0 && LARDER_ADD == 1 && LARDER_REPLACE == 2 && LARDER_CALL_TRY == 1 &&
          LARDER_CALL_STALE == 2 && LARDER_STALE == 1 && LARDER_STALE_LEASED == 2);
}

static bool refuses_options(larder_options options) {
    larder *cache = NULL;
    larder_error error;
    return larder_open(test_path("other.larder"), &options, &cache, &error) == LARDER_INVALID && !cache &&
           strstr(error.detail, "larder_options") && access(test_path("other.larder"), F_OK) != 0;
}

static void options_of_a_later_version(void) {
    for (size_t i = 0; i < sizeof((larder_options *)0)->reserved / sizeof(uint32_t); i++) {
        larder_options options = {.size_bytes = 1 << 20};
        options.reserved[i] = 1;
        CHECK(refuses_options(options), "word %d", (int)i);
    }
    CHECK(refuses_options((larder_options){.size_bytes = 1 << 20, .existing = 2}));
}

/* Every operation that takes one. */
static void calls_of_a_later_version(void) {
    static const larder_call calls[] = {{.flags = 4}, {.flags = 1u << 31 | LARDER_CALL_TRY}, {.reserved = 1}};
    static char buffer[LARDER_MAX_KEY + 4 + sizeof(larder_details)];
    larder *cache = open_cache(1 << 20);
    uint64_t identity;
    larder_details details;
    CHECK(set(cache, "k", "v") == LARDER_OK);
    CHECK(larder_get_to_swap(cache, "k", 1, buffer, 1, NULL, NULL, &identity, NULL) == LARDER_OK);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const larder_call *call = &calls[i];
        larder_store stores[] = {{.key = "k", .key_bytes = 1, .value = "w", .value_bytes = 1}};
        larder_lookup lookups[] = {{.key = "k", .key_bytes = 1, .buffer = buffer, .buffer_bytes = sizeof buffer}};
        int64_t number;
        uint64_t cursor = 0;
        size_t count, used;
        const larder_tag tag = {"t", 1};
        CHECK(larder_get(cache, "k", 1, buffer, sizeof buffer, NULL, call) == LARDER_INVALID);
        CHECK(larder_get_multi(cache, lookups, 1, call) == LARDER_INVALID);
        CHECK(larder_exists(cache, "k", 1, NULL, call) == LARDER_INVALID);
        CHECK(larder_set(cache, stores, call) == LARDER_INVALID);
        CHECK(larder_set_multi(cache, stores, 1, &count, call) == LARDER_INVALID && count == 0);
        CHECK(stores[0].status == LARDER_INVALID);
        CHECK(larder_cas(cache, stores, "v", 1, call) == LARDER_INVALID);
        CHECK(larder_get_to_swap(cache, "k", 1, buffer, sizeof buffer, NULL, NULL, &identity, call) ==
              LARDER_INVALID);
        CHECK(larder_swap(cache, stores, identity, call) == LARDER_INVALID);
        CHECK(larder_delete(cache, "k", 1, call) == LARDER_INVALID);
        CHECK(larder_delete_tagged(cache, &tag, 1, call) == LARDER_INVALID);
        CHECK(larder_increment(cache, "n", 1, 1, 0, 0, &number, call) == LARDER_INVALID);
        CHECK(larder_touch(cache, "k", 1, 1000, call) == LARDER_INVALID);
        CHECK(larder_touch(cache, "k", 1, -1, call) == LARDER_INVALID);
        CHECK(larder_scan(cache, &cursor, NULL, 0, buffer, sizeof buffer, &count, &used, call) == LARDER_INVALID);
        CHECK(larder_scan_details(cache, &cursor, NULL, 0, buffer, sizeof buffer, &count, &used, call) ==
              LARDER_INVALID);
        CHECK(larder_scan_leases(cache, &cursor, NULL, 0, buffer, sizeof buffer, &count, &used, call) ==
              LARDER_INVALID);
        CHECK(larder_inspect(cache, "k", 1, NULL, 0, NULL, &details, call) == LARDER_INVALID);
        CHECK(larder_prune(cache, NULL, call) == LARDER_INVALID);
    }
    CHECK(is(cache, "k", "v") && is(cache, "n", NULL), "nothing of it was done");
    larder_close(cache);
}

static void stores_and_lookups_of_a_later_version(void) {
    char buffer[8];
    larder *cache = open_cache(1 << 20);
    static const larder_extra extras[] = {{.reserved = {1}}, {.reserved = {0, 1}}};
    larder_store stores[5] = {
        {.reserved = 1}, {.extra = &extras[0]}, {.extra = &extras[1]}, {.pin = 2}, {.mode = 3}};
    for (int i = 0; i < 5; i++) {
        stores[i].key = stores[i].value = "k";
        stores[i].key_bytes = stores[i].value_bytes = 1;
        CHECK(larder_set(cache, &stores[i], NULL) == LARDER_INVALID);
        CHECK(larder_cas(cache, &stores[i], "v", 1, NULL) == LARDER_INVALID);
        CHECK(larder_swap(cache, &stores[i], 1, NULL) == LARDER_INVALID);
    }
    size_t stored = 9;
    CHECK(larder_set_multi(cache, stores, 5, &stored, NULL) == LARDER_INVALID && stored == 0);
    CHECK(is(cache, "k", NULL) && set(cache, "k", "v") == LARDER_OK);
    larder_lookup lookups[] = {{.key = "k", .key_bytes = 1, .buffer = buffer, .buffer_bytes = 8, .reserved = 1},
                               {.key = "k", .key_bytes = 1, .buffer = buffer, .buffer_bytes = 8}};
    CHECK(larder_get_multi(cache, lookups, 2, NULL) == LARDER_OK);
    CHECK(lookups[0].status == LARDER_INVALID && lookups[1].status == LARDER_OK);
    larder_close(cache);
}

static bool zero(const void *at, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        if (((const unsigned char *)at)[i]) {
            return false;
        }
    }
    return true;
}

static void what_is_reserved_is_answered_as_zero(void) {
    static char large[20000];
    char buffer[8];
    larder *cache = open_cache(1 << 20);
    larder_item item;
    larder_stats stats;
    larder_report report;
    larder_error error;
    int64_t n;
    const char *keys[] = {"plain", "number", "large"};
    CHECK(set(cache, "plain", "v") == LARDER_OK && set_bytes(cache, "large", large, sizeof large, 0) == LARDER_OK);
    CHECK(larder_increment(cache, "number", 6, 1, 0, 0, &n, NULL) == LARDER_OK);
    for (int i = 0; i < 3; i++) {
        memset(&item, 0xff, sizeof item);
        CHECK(larder_exists(cache, keys[i], strlen(keys[i]), &item, NULL) == LARDER_OK);
        CHECK(zero(&item.staleness, sizeof item - offsetof(larder_item, staleness)), "exists %s", keys[i]);
        memset(&item, 0xff, sizeof item);
        larder_get(cache, keys[i], strlen(keys[i]), buffer, sizeof buffer, &item, NULL);
        CHECK(zero(&item.staleness, sizeof item - offsetof(larder_item, staleness)), "get %s", keys[i]);
    }
    memset(&stats, 0xff, sizeof stats);
    CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.sets == 2 && stats.processes == 1);
    CHECK(zero(stats.reserved_counts, sizeof stats.reserved_counts));
    CHECK(zero(stats.reserved_gauges, sizeof stats.reserved_gauges));
    memset(&report, 0xff, sizeof report);
    CHECK(larder_verify(cache, &report) == LARDER_OK && zero(report.reserved, sizeof report.reserved));
    memset(&error, 0xff, sizeof error);
    CHECK(larder_open("", NULL, &cache, &error) == LARDER_INVALID);
    CHECK(zero(error.reserved, sizeof error.reserved));
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(what_is_given_has_its_places, "the fields of what callers give have their places"),
    TEST(what_is_answered_has_its_places, "the fields of what callers get have their places"),
    TEST(results_have_their_numbers, "results, modes and flags have their numbers"),
    TEST(options_of_a_later_version, "options of a later version are refused, and no file is made"),
    TEST(calls_of_a_later_version, "calls with flags or words of a later version are refused"),
    TEST(stores_and_lookups_of_a_later_version, "stores and lookups of a later version are refused"),
    TEST(what_is_reserved_is_answered_as_zero, "what is reserved is zero in every answer"),
};
RUN("abi", tests)
