/*
 * ghost_test.c — checks that evicted keys are remembered for a while, in slots that hold no item.
 *
 * Any bytes in such a slot are valid ghosts.
 */
#include "harness.h"

static larder *cache;
static lard_view view;

static lard_hash hash_of(uint64_t i) { return lard_hash_key(cache->core->map, &i, sizeof i, false); }

static bool begin(void) {
    cache = open_cache(4 << 20);
    view = lard_view_of(cache->core->map, 0);
    return cache->core->map->super.shard_count == 1 && lard_shard_lock(cache->core, &view, NULL) == LARDER_OK;
}

static void end(void) {
    lard_shard_unlock(&view);
    larder_close(cache);
}

static lard_bucket *bucket_of(uint64_t i) {
    lard_hash hash = hash_of(i);
    return lard_bucket_at(&view, lard_bucket_of(hash.first, lard_bucket_count(&view)));
}

/* Leaves a ghost as eviction does: in the place of the item, whose segment was opened just now. */
static void leave(uint64_t i, unsigned slot) {
    lard_hash hash = hash_of(i);
    lard_store(&view.segments[0].sequence, lard_load(&view.header->next_sequence));
    lard_store(&bucket_of(i)->slots[slot], lard_ghost_word(&view, hash.fingerprint, view.map->super.data_offset));
}

static bool seen(uint64_t i) {
    lard_hash hash = hash_of(i);
    return lard_ghost_peek(&view, &hash);
}

static bool taken(uint64_t i) {
    lard_hash hash = hash_of(i);
    lard_buckets buckets = {.epoch = 0};
    return lard_ghost_take(&view, &hash, &buckets);
}

/* As if that many sixteenths of the shard's segments had been opened, or more at a greater scale. */
static void pass(uint32_t units) {
    uint32_t segments = view.map->super.segments_per_shard * units << lard_load(&view.header->ghost_scale);
    for (uint32_t i = 0; i * 16 < segments; i++) {
        lard_store(&view.header->next_sequence, lard_load(&view.header->next_sequence) + 1);
        lard_ghost_sweep(&view);
    }
}

static void a_ghost_is_found_once(void) {
    CHECK(begin());
    CHECK(!seen(1));
    leave(1, 3);
    CHECK(seen(1) && seen(1) && !seen(2), "looking changes nothing");
    CHECK(taken(1) && !taken(1) && !seen(1));
    CHECK(lard_load(&bucket_of(1)->slots[3]) == 0, "and leaves the slot empty");
    end();
}

static void a_ghost_fades(void) {
    for (uint32_t scale = 0; scale < 4; scale++) {
        CHECK(begin());
        lard_store(&view.header->ghost_scale, scale);
        leave(1, 0);
        pass(LARD_GHOST_WINDOW - 1);
        CHECK(seen(1));
        pass(3);
        CHECK(!seen(1) && !taken(1), "older than the window");
        pass(16 + 3); /* until the first sweep that finds it older than 44, which comes within 16 */
        CHECK(lard_load(&bucket_of(1)->slots[0]) == 0, "it is forgotten before times begin again");
        end();
    }
}

/* Had it been in the main queue, it would be there no more. */
static void a_ghost_older_than_the_main_queue_tells_nothing(void) {
    CHECK(begin());
    leave(1, 0);
    pass(4);
    leave(2, 0);
    lard_store(&view.header->oldest_main, (uint32_t)lard_load(&view.header->next_sequence));
    CHECK(!seen(1) && !seen(2), "both older, or of the same time");
    pass(1);
    leave(3, 1);
    CHECK(!seen(1) && seen(3));
    lard_store(&view.header->oldest_main, 0); /* the main queue is empty */
    CHECK(seen(2) && seen(3));
    end();
}

static void small_caches_remember_more(void) {
    CHECK(begin());
    lard_ghost_scale(&view, 100000);
    CHECK(lard_load(&view.header->ghost_scale) == 0 && lard_ghost_remembered(&view, 100000) == 250000);
    for (uint64_t items = 1; items < 5000; items += 7) {
        lard_ghost_scale(&view, items);
        uint64_t remembered = lard_ghost_remembered(&view, items);
        CHECK(remembered >= 2048 || items < 26, "%d of %d", (int)remembered, (int)items);
        CHECK(remembered < 5200 || remembered == items * 5 / 2, "%d of %d", (int)remembered, (int)items);
    }
    end();
}

static void an_item_takes_the_slot_and_the_ghosts_move(void) {
    CHECK(begin());
    lard_bucket *bucket = bucket_of(1);
    leave(1, 0);
    uint64_t ghosts = lard_load(&bucket->slots[0]);
    for (unsigned i = 1; i < LARD_BUCKET_SLOTS; i++) { /* full of items, but for one slot */
        lard_store(&bucket->slots[i], i == 5 ? 0 : lard_slot_make(view.map->super.data_offset, 7, 1));
    }
    lard_store(&bucket->slots[0], lard_slot_make(view.map->super.data_offset, 7, 1));
    lard_ghost_rescue(bucket, &view, ghosts);
    CHECK(seen(1) && LARD_SLOT_OFFSET(lard_load(&bucket->slots[5])) == 0, "in the slot that is left");
    pass(4);
    leave(2, 5); /* no room for an older one beside two younger ones */
    uint64_t word = lard_load(&bucket->slots[5]);
    lard_store(&bucket->slots[5], word | (word >> 30 << 47));
    word = lard_load(&bucket->slots[5]);
    lard_ghost_rescue(bucket, &view, ghosts);
    CHECK(lard_load(&bucket->slots[5]) == word, "younger ghosts stay");
    for (unsigned i = 0; i < LARD_BUCKET_SLOTS; i++) {
        lard_store(&bucket->slots[i], 0);
    }
    end();
}

static void any_bytes_are_ghosts(void) {
    uint64_t state = 5;
    CHECK(begin());
    for (int round = 0; round < 200; round++) {
        for (uint32_t b = 0; b < lard_bucket_count(&view); b++) {
            for (unsigned i = 0; i < LARD_BUCKET_SLOTS; i++) {
                lard_store(&lard_bucket_at(&view, b)->slots[i], next_random(&state) >> 30 << 30);
            }
        }
        for (uint64_t i = 0; i < 100; i++) {
            while (taken(i)) {
            }
            CHECK(!seen(i));
            lard_ghost_rescue(bucket_of(i), &view, next_random(&state) >> 30 << 30);
        }
        lard_store(&view.header->evicted_segments, (uint32_t)next_random(&state));
        lard_store(&view.header->oldest_main, (uint32_t)next_random(&state));
        lard_store(&view.header->ghost_scale, (uint32_t)next_random(&state));
        lard_store(&view.header->next_sequence, next_random(&state));
        lard_ghost_sweep(&view);
    }
    lard_shard_unlock(&view);
    CHECK(set(cache, "key", "value") == LARDER_OK && is(cache, "key", "value") && sound(cache));
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(a_ghost_is_found_once, "a ghost is found until it is taken"),
    TEST(a_ghost_fades, "a ghost fades when as much as the window was opened after it"),
    TEST(a_ghost_older_than_the_main_queue_tells_nothing, "a ghost older than the main queue tells nothing"),
    TEST(small_caches_remember_more, "small caches remember more of what came before"),
    TEST(an_item_takes_the_slot_and_the_ghosts_move, "ghosts whose slot an item takes push out older ones"),
    TEST(any_bytes_are_ghosts, "whatever bytes an empty slot holds, it is ghosts at worst"),
};
RUN("ghost", tests)
