/*
 * ghost_test.c — checks that evicted keys are remembered for a while, in slots that hold no item.
 *
 * Any bytes in such a slot are valid ghosts.
 */
#include "harness.h"

static larder *cache;
static lard_view view;

static lard_hash hash_of(uint64_t i) { return lard_hash_key(cache->map, &i, sizeof i, false); }

static bool begin(void) {
    cache = open_cache(4 << 20);
    view = lard_view_of(cache->map, 0);
    return cache->map->super.shard_count == 1 && lard_shard_lock(cache, &view, NULL) == LARDER_OK;
}

static void end(void) {
    lard_shard_unlock(&view);
    larder_close(cache);
}

static lard_bucket *bucket_of(uint64_t i) {
    lard_hash hash = hash_of(i);
    return lard_bucket_at(&view, lard_bucket_of(hash.first, lard_bucket_count(&view)));
}

/* Leaves a ghost as eviction does: in the place of the item. */
static void leave_of(uint64_t i, unsigned slot, bool from_main) {
    lard_hash hash = hash_of(i);
    lard_store(&bucket_of(i)->slots[slot], lard_ghost_word(&view, hash.fingerprint, from_main));
}

static void leave(uint64_t i, unsigned slot) { leave_of(i, slot, false); }

static bool seen(uint64_t i) {
    lard_hash hash = hash_of(i);
    return lard_ghost_peek(&view, &hash);
}

static bool taken(uint64_t i) {
    lard_hash hash = hash_of(i);
    return lard_ghost_take(&view, &hash) != LARD_GHOST_NONE;
}

/* A ghost of the main queue may tell nothing and hide another: each look takes one. */
static bool taken_or_gone(uint64_t i) {
    bool done = false;
    for (unsigned cell = 0; cell < 4 * LARD_BUCKET_SLOTS && !done; cell++) {
        done = taken(i) || !seen(i);
    }
    return done;
}

static uint32_t share(void) { return lard_load(&view.header->small_share); }

static uint32_t queue_for(uint64_t i) {
    lard_hash hash = hash_of(i);
    return lard_queue_for(&view, &hash, 40000);
}

/* As if the queue had emptied so many eighths of the shard. */
static void pass_in(uint32_t eighths, bool main_queue) {
    for (uint32_t i = 0; i * 8 < view.map->super.segments_per_shard * eighths; i++) {
        lard_ghost_tick(&view, main_queue);
    }
}

static void pass(uint32_t eighths) { pass_in(eighths, false); }

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
    CHECK(begin());
    leave(1, 0);
    pass(LARD_GHOST_WINDOW - 1);
    CHECK(seen(1));
    pass(3);
    CHECK(!seen(1) && !taken(1), "older than the window");
    pass(12);
    CHECK(lard_load(&bucket_of(1)->slots[0]) == 0, "it is forgotten before stamps begin again");
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

static void the_queues_learn_from_what_comes_back(void) {
    CHECK(begin());
    CHECK(queue_for(1) == LARD_SEGMENT_SMALL && share() == 0, "what was never there tells nothing");
    leave(1, 0);
    CHECK(queue_for(1) == LARD_SEGMENT_MAIN && share() > 65536 / 50, "a longer small queue would have had it");
    uint32_t more = share();
    leave(2, 0);
    pass(4);
    CHECK(queue_for(2) == LARD_SEGMENT_MAIN && share() == more, "a much longer one: no");
    leave_of(3, 0, true);
    CHECK(!seen(3) && queue_for(3) == LARD_SEGMENT_SMALL && share() < more,
          "a longer main queue would have had it");
    uint32_t less = share();
    leave_of(4, 0, true);
    pass_in(4, true);
    CHECK(queue_for(4) == LARD_SEGMENT_SMALL && share() == less);
    for (uint64_t i = 0; i < 5000; i++) {
        leave_of(i, 0, i < 2500);
        queue_for(i);
        CHECK(share() < 65536 / 2 && share() >= 65536 / 50, "within bounds");
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
            CHECK(taken_or_gone(i));
            lard_ghost_rescue(bucket_of(i), &view, next_random(&state) >> 30 << 30);
        }
        lard_store(&view.header->small_clock, (uint32_t)next_random(&state));
        lard_store(&view.header->main_clock, (uint32_t)next_random(&state));
        lard_store(&view.header->small_share, (uint32_t)next_random(&state));
        lard_store(&view.header->ghost_clocks, (uint32_t)next_random(&state));
        lard_ghost_tick(&view, round % 2);
        uint32_t queue = queue_for((uint64_t)round);
        CHECK(queue == LARD_SEGMENT_SMALL || queue == LARD_SEGMENT_MAIN);
    }
    lard_shard_unlock(&view);
    CHECK(set(cache, "key", "value") == LARDER_OK && is(cache, "key", "value") && sound(cache));
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(a_ghost_is_found_once, "a ghost is found until it is taken"),
    TEST(a_ghost_fades, "a ghost fades when as much as the window was dropped after it"),
    TEST(an_item_takes_the_slot_and_the_ghosts_move, "ghosts whose slot an item takes push out older ones"),
    TEST(the_queues_learn_from_what_comes_back, "what comes back soon makes the queue longer that had dropped it"),
    TEST(any_bytes_are_ghosts, "whatever bytes an empty slot holds, it is ghosts at worst"),
};
RUN("ghost", tests)
