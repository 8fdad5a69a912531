/*
 * segment_test.c — takes, fills, closes and frees segments, whose generations never repeat.
 */
#include "children.h"

static larder *cache;
static lard_view view;

static bool begin(void) {
    cache = open_cache(1 << 20);
    view = lard_view_of(cache->core->map, 0);
    return lard_shard_lock(cache->core, &view, NULL) == LARDER_OK;
}

static void end(void) {
    lard_shard_unlock(&view);
    larder_close(cache);
}

static uint32_t number_of(uint64_t offset) {
    return (uint32_t)((offset - cache->core->map->super.data_offset) >> cache->core->map->segment_shift);
}

static void a_freed_segment_is_another_one(void) {
    uint32_t segment, free_segments;
    CHECK(begin());
    for (int round = 0; round < 10; round++) {
        free_segments = lard_load(&view.header->free_segments);
        CHECK(lard_segment_take(&view, &segment) && lard_load(&view.header->free_segments) == free_segments - 1);
        lard_segment *row = &view.segments[segment];
        uint64_t generation = lard_load(&row->generation);
        lard_store(&row->state, LARD_SEGMENT_INDEX);
        lard_store(&row->write_offset, 800);
        lard_segment_free(&view, segment);
        CHECK(lard_load(&row->generation) == generation + 1, "a slot into its former life must not fit");
        CHECK(lard_load(&row->state) == LARD_SEGMENT_FREE && lard_load(&row->write_offset) == 0 &&
              lard_load(&row->max_expiry_ms) == 0 && lard_load(&view.header->free_segments) == free_segments);
    }
    end();
}

static void there_are_as_many_as_there_are(void) {
    uint32_t segment, taken = 0;
    CHECK(begin());
    uint32_t want = lard_load(&view.header->free_segments);
    while (lard_segment_take(&view, &segment)) {
        lard_store(&view.segments[segment].state, LARD_SEGMENT_INDEX);
        taken++;
    }
    CHECK(taken == want && lard_load(&view.header->free_segments) == 0);
    lard_store(&view.header->free_segments, 5); /* damaged: there is none */
    CHECK(!lard_segment_take(&view, &segment) && lard_load(&view.header->free_segments) == 0);
    lard_segment_recount(&view);
    CHECK(lard_load(&view.header->free_segments) == 0 && lard_load(&view.header->small_segments) == 0);
    end();
}

static void queues_append_to_their_own_segments(void) {
    CHECK(begin());
    uint64_t small = lard_reserve(cache->core, &view, LARD_SEGMENT_SMALL, 100 * 8, 0);
    CHECK(small && small == lard_reserve(cache->core, &view, LARD_SEGMENT_SMALL, 8, 0), "reserving takes nothing");
    lard_segment_commit(&view, small, 100 * 8, 5000);
    CHECK(lard_reserve(cache->core, &view, LARD_SEGMENT_SMALL, 8, 0) == small + 100 * 8);
    uint64_t main = lard_reserve(cache->core, &view, LARD_SEGMENT_MAIN, 8, 0);
    CHECK(main && number_of(main) != number_of(small));
    lard_segment *row = &view.segments[number_of(small)];
    CHECK(lard_load(&row->state) == LARD_SEGMENT_SMALL &&
          lard_load(&view.segments[number_of(main)].state) == LARD_SEGMENT_MAIN);
    CHECK(lard_load(&row->max_expiry_ms) == 5000);
    lard_segment_widen_expiry(&view, small, 4000);
    CHECK(lard_load(&row->max_expiry_ms) == 5000, "it never shrinks");
    lard_segment_widen_expiry(&view, small, 0);
    CHECK(lard_load(&row->max_expiry_ms) == UINT64_MAX, "0 is for ever");

    uint64_t rest = cache->core->map->super.segment_bytes - 100 * 8;
    CHECK(lard_reserve(cache->core, &view, LARD_SEGMENT_SMALL, rest, 0) == small + 100 * 8, "to the last byte");
    uint64_t next = lard_reserve(cache->core, &view, LARD_SEGMENT_SMALL, rest + 8, 0);
    CHECK(next && number_of(next) != number_of(small), "no further");
    CHECK(lard_load(&view.segments[number_of(next)].sequence) > lard_load(&row->sequence));
    end();
}

/* A segment that was closed for something long, with room for something short: its number, locked. */
static uint32_t close_early(uint32_t queue, uint64_t left) {
    uint64_t first = lard_reserve(cache->core, &view, queue, 8, 0);
    uint64_t bytes = cache->core->map->super.segment_bytes - left;
    lard_segment_commit(&view, first, bytes, 0);
    uint64_t next = lard_reserve(cache->core, &view, queue, left + 8, 0);
    lard_segment_commit(&view, next, left + 8, 0);
    return number_of(first) == number_of(next) ? UINT32_MAX : number_of(first);
}

static void what_is_short_fills_the_segment_before(void) {
    for (uint32_t queue = LARD_SEGMENT_SMALL; queue <= LARD_SEGMENT_MAIN; queue++) {
        CHECK(begin());
        uint32_t closed = close_early(queue, 800);
        uint64_t offset = lard_reserve(cache->core, &view, queue, 600, 0);
        CHECK(number_of(offset) == closed, "it fits there");
        lard_segment_commit(&view, offset, 600, 7000);
        CHECK(number_of(lard_reserve(cache->core, &view, queue, 208, 0)) != closed, "200 bytes are left");
        offset = lard_reserve(cache->core, &view, queue, 200, 0);
        CHECK(number_of(offset) == closed, "to the last byte");
        lard_segment_commit(&view, offset, 200, 0);
        CHECK(number_of(lard_reserve(cache->core, &view, queue, 8, 0)) != closed);
        CHECK(lard_load(&view.segments[closed].write_offset) == cache->core->map->super.segment_bytes);
        end();
    }
}

static void nothing_joins_what_is_being_emptied(void) {
    CHECK(begin());
    uint32_t closed = close_early(LARD_SEGMENT_MAIN, 800);
    lard_store(&view.header->victim, closed + 1);
    CHECK(number_of(lard_reserve(cache->core, &view, LARD_SEGMENT_MAIN, 600, 0)) != closed);
    lard_store(&view.header->victim, 0);
    lard_segment_free(&view, closed);
    lard_store(&view.header->gap[1], 800);
    CHECK(number_of(lard_reserve(cache->core, &view, LARD_SEGMENT_MAIN, 600, 0)) != closed, "nor what is free");
    uint32_t damaged[] = {0, cache->core->map->super.segments_per_shard + 1, UINT32_MAX};
    for (unsigned i = 0; i < 3; i++) {
        lard_store(&view.header->closed[1], damaged[i]);
        lard_store(&view.header->gap[1], UINT32_MAX);
        CHECK(lard_reserve(cache->core, &view, LARD_SEGMENT_MAIN, 600, 0) != 0 &&
                  lard_load(&view.header->gap[1]) == 0,
              "a damaged word is seen once");
    }
    end();
}

/* Empty records of no key, as long as there is a record to walk: room is made for ever. */
static void room_is_made_for_ever(void) {
    static unsigned char value[4000];
    const lard_key key = {.data = "", .bytes = 0};
    lard_record_spec spec = {.value = value, .value_bytes = sizeof value, .type = LARD_TYPE_PLAIN};
    uint64_t bytes = lard_record_bytes(LARD_TYPE_PLAIN, 0, sizeof value);
    CHECK(begin());
    for (int i = 0; i < 5000; i++) {
        uint64_t offset =
            lard_reserve(cache->core, &view, i % 3 ? LARD_SEGMENT_SMALL : LARD_SEGMENT_MAIN, bytes, 0);
        CHECK(offset, "record %d", i);
        lard_record_write(&view, offset, lard_load(&view.segments[number_of(offset)].generation), &key, &spec);
        lard_segment_commit(&view, offset, bytes, 0);
        CHECK(lard_load(&view.header->free_segments) >= 1, "one is left for what eviction copies");
    }
    lard_shard_unlock(&view);
    CHECK(sound(cache));
    larder_close(cache);
}

static void a_table_is_left_alone(void) {
    uint32_t orphan;
    CHECK(begin());
    CHECK(lard_tag_table_begin(&view, 1, 0) && lard_segment_take(&view, &orphan));
    lard_store(&view.segments[orphan].state, LARD_SEGMENT_TABLE); /* of an owner that died while it made a table */
    lard_segment *row =
        &view.segments[lard_directory_segment(&view, cache->core->map->super.segments_per_shard - 1)];
    uint64_t generation = lard_load(&row->generation);
    CHECK(lard_load(&row->state) == LARD_SEGMENT_TABLE);
    lard_repair_shard(cache->core, &view);
    CHECK(lard_load(&view.segments[orphan].state) == LARD_SEGMENT_FREE);
    lard_shard_unlock(&view);
    for (int i = 0; i < 3000; i++) {
        char key[20];
        static unsigned char value[2000];
        snprintf(key, sizeof key, "%d", i);
        CHECK(set_bytes(cache, key, value, sizeof value, 0) == LARDER_OK);
    }
    CHECK(sound(cache));
    CHECK(lard_load(&row->state) == LARD_SEGMENT_TABLE && lard_load(&row->generation) == generation,
          "by eviction and by a repair");
    CHECK(larder_clear(cache) == LARDER_OK && set(cache, "k", "v") == LARDER_OK &&
              lard_load(&row->state) != LARD_SEGMENT_TABLE,
          "it goes with the shard");
    CHECK(sound(cache));
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(a_freed_segment_is_another_one, "a freed segment has another generation"),
    TEST(there_are_as_many_as_there_are, "no segment is taken that is not free, whatever the count says"),
    TEST(queues_append_to_their_own_segments, "each queue appends to a segment of its own, up to its last byte"),
    TEST(what_is_short_fills_the_segment_before, "what is short fills the segment before to its end"),
    TEST(nothing_joins_what_is_being_emptied, "no segment is appended to that is being emptied, free or none"),
    TEST(room_is_made_for_ever, "room is made for ever"),
    TEST(a_table_is_left_alone, "a table of deleted tags is left alone, but for one that nothing names"),
};
RUN("segment", tests)
