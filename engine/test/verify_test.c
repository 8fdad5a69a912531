/*
 * verify_test.c — checks that larder_verify finds each violated invariant, and nothing in a valid file.
 */
#include "children.h"

static larder *cache;

static bool begin(void) {
    char key[32];
    int64_t n;
    cache = open_cache(1 << 20);
    for (int i = 0; cache && i < 300; i++) {
        snprintf(key, sizeof key, "item %d", i);
        if (set_bytes(cache, key, key, strlen(key), i % 2 ? 0 : 3600000) != LARDER_OK) {
            return false;
        }
    }
    return cache && larder_increment(cache, "counter", 7, 1, 0, 0, &n, NULL) == LARDER_OK && sound(cache);
}

static bool finds(const char *words) {
    larder_report report;
    larder_status status = larder_verify(cache, &report);
    if (status == LARDER_OK && report.problems && strstr(report.first, words)) {
        return true;
    }
    fprintf(stderr, "  %s, %d problems, the first: '%s'\n", larder_status_name(status), (int)report.problems,
            report.first);
    return false;
}

static lard_view shard(void) { return lard_view_of(cache->core->map, 0); }

static lard_found slot_of(const char *key) {
    lard_view view = shard();
    lard_key wanted = lard_key_of(cache->core->map, NULL, key, strlen(key));
    return lard_index_find(&view, &wanted);
}

static lard_u64 *record_of(const char *key) {
    lard_view view = shard();
    return lard_view_words(&view, LARD_SLOT_OFFSET(slot_of(key).value));
}

static lard_segment *segment_of(const char *key) {
    lard_view view = shard();
    uint64_t inside = LARD_SLOT_OFFSET(slot_of(key).value) - cache->core->map->super.data_offset;
    return &view.segments[inside >> cache->core->map->segment_shift];
}

static void a_sound_file_is_counted(void) {
    larder_report report;
    CHECK(begin());
    CHECK(larder_verify(cache, &report) == LARDER_OK && report.problems == 0 && report.first[0] == '\0');
    CHECK(report.items == 301 && report.records == 301);
    CHECK(set(cache, "item 1", "again") == LARDER_OK && larder_delete(cache, "item 2", 6, NULL) == LARDER_OK);
    CHECK(larder_verify(cache, &report) == LARDER_OK && report.items == 300 && report.records == 302);
    CHECK(larder_verify(NULL, &report) == LARDER_INVALID && larder_verify(cache, NULL) == LARDER_INVALID);
    larder_close(cache);
}

static void the_index_is_walked(void) {
    CHECK(begin());
    lard_view view = shard();
    uint32_t count = lard_load(&view.header->bucket_count), pages = lard_load(&view.header->index_pages);
    lard_store(&view.header->index_pages, 0);
    CHECK(finds("index pages"));
    lard_store(&view.header->index_pages, pages);
    lard_store(&view.header->bucket_count, pages * 512 + 1);
    CHECK(finds("buckets do not fit"));
    lard_store(&view.header->bucket_count, count);
    uint32_t page = lard_load(&view.directory[0]);
    lard_store(&view.directory[0], page + 1);
    CHECK(finds("page"));
    lard_store(&view.directory[0], page);
    lard_store(&view.header->splitting, 3);
    CHECK(finds("split"));
    lard_store(&view.header->splitting, 0);
    CHECK(sound(cache));
    larder_close(cache);
}

static void slots_are_walked(void) {
    CHECK(begin());
    lard_view view = shard();
    lard_found found = slot_of("item 5");
    lard_found other = slot_of("item 6");
    lard_store(found.slot, found.value | LARD_SLOT_PENDING);
    CHECK(finds("move"));
    lard_store(found.slot, found.value + (1ull << 48));
    CHECK(finds("generation"));
    lard_store(found.slot, found.value ^ (1ull << 35));
    CHECK(finds("cannot be found"), "a wrong fingerprint");
    lard_store(found.slot, lard_slot_make(LARD_SLOT_OFFSET(found.value) + 8, LARD_SLOT_FINGERPRINT(found.value),
                                          LARD_SLOT_GENERATION(found.value)));
    CHECK(finds("no record"));
    lard_store(found.slot, found.value);
    lard_segment *row = segment_of("item 5");
    uint32_t end = lard_load(&row->write_offset);
    lard_store(&row->write_offset, 0);
    CHECK(finds("beyond what segment"));
    lard_store(&row->write_offset, end);
    uint64_t bucket_of_other = (uint64_t)((uint8_t *)other.slot - view.base) / 64;
    for (lard_u64 *slot = (lard_u64 *)(view.base + bucket_of_other * 64), *past = slot + 8; slot < past; slot++) {
        if (!LARD_SLOT_OFFSET(lard_load(slot))) { /* a second slot of one key */
            lard_store(slot, other.value);
            CHECK(finds("two slots"));
            lard_store(slot, 0);
            break;
        }
    }
    CHECK(sound(cache));
    larder_close(cache);
}

static void records_are_walked(void) {
    CHECK(begin());
    lard_u64 *words = record_of("item 5"), *counter = record_of("counter");
    uint64_t body = lard_load(&words[3]), first = lard_load(&words[0]);
    lard_store(&words[3], body ^ 1ull << 60);
    CHECK(finds("checksum") || finds("cannot be found"));
    lard_store(&words[3], body);
    lard_store(&words[0], first + (1ull << 32));
    CHECK(finds("no record at"), "a wrong generation");
    lard_store(&words[0], first);
    uint64_t expiry = lard_load(&words[1]);
    lard_store(&words[1], expiry ^ 2);
    CHECK(finds("no record at"), "a seal that does not fit");
    lard_store(&words[1], expiry);
    uint64_t cell = lard_load(&counter[4]);
    lard_store(&counter[4], cell + 1);
    CHECK(finds("checksum"), "a counter's cell");
    lard_store(&counter[4], cell);
    CHECK(sound(cache));
    larder_close(cache);
}

static void segments_are_walked(void) {
    CHECK(begin());
    lard_view view = shard();
    lard_segment *row = segment_of("item 5");
    uint32_t state = lard_load(&row->state), end = lard_load(&row->write_offset);
    lard_store(&row->state, 9);
    CHECK(finds("unknown state"));
    lard_store(&row->state, state == LARD_SEGMENT_SMALL ? LARD_SEGMENT_MAIN : LARD_SEGMENT_SMALL);
    CHECK(finds("counted otherwise"));
    lard_store(&row->state, state);
    lard_store(&row->write_offset, cache->core->map->super.segment_bytes + 8);
    CHECK(finds("is written to"));
    lard_store(&row->write_offset, end + 8);
    CHECK(finds("no record at"));
    lard_store(&row->write_offset, end);
    uint32_t active = lard_load(&view.header->active[0]);
    lard_store(&view.header->active[0], active + 1);
    CHECK(finds("open segment"));
    lard_store(&view.header->active[0], active);
    uint64_t greatest = lard_load(&row->max_expiry_ms);
    lard_store(&row->max_expiry_ms, 1000);
    CHECK(finds("outlives"));
    lard_store(&row->max_expiry_ms, greatest);
    lard_store(&row->reserved[1], 1);
    CHECK(finds("a reserved word is not 0"));
    lard_store(&row->reserved[1], 0);
    lard_store(&row->dead_bytes, 8);
    CHECK(finds("a reserved word is not 0"));
    lard_store(&row->dead_bytes, 0);
    uint64_t epoch = lard_load(&view.header->epoch);
    lard_store(&view.header->epoch_check, lard_load(&view.header->epoch_check) ^ 1);
    CHECK(finds("epoch is damaged"));
    lard_store(&view.header->epoch_check, lard_view_epoch_check(epoch));
    lard_store(&view.header->third[1], 1);
    CHECK(finds("a reserved word is not 0"));
    CHECK(larder_clear(cache) == LARDER_OK && set(cache, "k", "v") == LARDER_OK && sound(cache),
          "a clear ends it");
    larder_close(cache);
}

static void what_is_pinned_is_looked_for(void) {
    CHECK(begin());
    lard_view view = shard();
    larder_store store = {.key = "item", .key_bytes = 4, .value = "value", .value_bytes = 5, .pin = 1};
    CHECK(larder_set(cache, &store, NULL) == LARDER_OK && sound(cache));
    lard_store(&view.header->has_pins, 0);
    CHECK(finds("is pinned"));
    lard_store(&view.header->has_pins, 1);
    CHECK(sound(cache));
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(a_sound_file_is_counted, "a sound file has no problems, and its items and records are counted"),
    TEST(the_index_is_walked, "verify finds what is wrong with the index"),
    TEST(slots_are_walked, "verify finds what is wrong with slots"),
    TEST(records_are_walked, "verify finds what is wrong with records"),
    TEST(segments_are_walked, "verify finds what is wrong with segments"),
    TEST(what_is_pinned_is_looked_for, "verify finds a pinned item where the shard knows of none"),
};
RUN("verify", tests)
