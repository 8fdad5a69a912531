/*
 * operations_shape.h — what the cache does besides operations, as killing.h runs it.
 *
 * That is eviction from each queue, ghosts, expired items and segments, growth of the index and moves in it,
 * clear, reset, and repair after a death.
 */
#ifndef LARD_OPERATIONS_SHAPE_H
#define LARD_OPERATIONS_SHAPE_H

#include "killing.h"
#include "operations_plain.h"

#define SHAPE_ACT(name) static void name(larder *c, const char *key)

static inline lard_view the_shard(larder *c) { return lard_view_of(c->core->map, 0); }

/* Eviction. Fillers are new in each round, so the cache is always full. */

static inline void fill(larder *c, unsigned long round, int count, size_t bytes, int reads) {
    static char value[LARGE + 1];
    char key[40];
    memset(value, 'f', bytes);
    value[bytes] = '\0';
    for (int i = 0; i < count; i++) {
        snprintf(key, sizeof key, "filler %lu/%d", round, i);
        set(c, key, value);
        for (int n = 0; n < reads; n++) {
            get(c, key);
        }
    }
}
SHAPE_ACT(fill_up) {
    if (book->round == 1) {
        for (unsigned long i = 0; i < 60; i++) {
            fill(c, 1000000 + i, 12, 2999, 1);
        }
        put(c, before());
    }
    (void)key;
}
SHAPE_ACT(fill_unread) { (void)key, fill(c, book->round, 8, 2999, 0); }
SHAPE_ACT(fill_read) { (void)key, fill(c, book->round, 8, 2999, 2); }
SHAPE_ACT(fill_large) { (void)key, fill(c, book->round, 2, LARGE, 1); }
SHAPE_ACT(fill_tiny) { (void)key, fill(c, book->round, 60, 8, 0); }

/* Those that were evicted a short while ago come again: their ghosts are taken, the queues learn. */
SHAPE_ACT(fill_again) {
    (void)key;
    fill(c, book->round > 30 ? book->round - 30 : 1000030 + book->round, 4, 2999, 0);
    fill(c, book->round, 4, 2999, 0);
}

/* Segments of which everything has expired go first. */
SHAPE_ACT(fill_expired) {
    static char value[1000];
    char name[40];
    memset(value, 'e', sizeof value - 1);
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "expired %d", i);
        set_at(c, name, value, 1, LARDER_SET, lard_clock_ms() - 1000000);
    }
    fill_up(c, key);
}
SHAPE_ACT(act_prune) { (void)key, larder_prune(c, NULL, NULL); }
SHAPE_ACT(prepare_expired) {
    char name[40];
    (void)key;
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "expired %d", i);
        set_at(c, name, "expired", 1, LARDER_SET, lard_clock_ms() - 1000000);
    }
}

/* The oldest segment that is evicted next has a record that cannot be read. */
SHAPE_ACT(damage_a_segment) {
    fill_up(c, key);
    lard_view view = the_shard(c);
    uint64_t least = UINT64_MAX;
    uint32_t oldest = 0;
    for (uint32_t s = 0; s < c->core->map->super.segments_per_shard; s++) {
        const lard_segment *row = &view.segments[s];
        if (lard_load(&row->state) == LARD_SEGMENT_SMALL && lard_load(&row->sequence) < least) {
            least = lard_load(&row->sequence);
            oldest = s;
        }
    }
    if (least != UINT64_MAX) {
        lard_store(&lard_view_words(&view, lard_view_segment_offset(&view, oldest))[1], 12345);
    }
}

/* The shape of the index. Each round begins with an empty cache, so that the same happens in each. */

static inline void begin_empty(larder *c, int64_t items) {
    larder_clear(c);
    memset(book->subjects, 0, sizeof book->subjects);
    put(c, before());
    if (items) {
        lard_store(&the_shard(c).header->items, (uint64_t)items);
    }
    for (int i = 0; i < BYSTANDERS; i++) {
        put_bystander(c, i);
    }
}
static inline void tiny(larder *c, int from, int to) {
    char key[32];
    for (int i = from; i < to; i++) {
        snprintf(key, sizeof key, "tiny %d", i);
        set(c, key, "");
    }
}
SHAPE_ACT(before_splits) { (void)key, begin_empty(c, 0), tiny(c, 0, 40); }
SHAPE_ACT(act_splits) { (void)key, tiny(c, 40, 52); }

/* Told that it has many items, the index splits with each store, up to the end of its first page. */
SHAPE_ACT(before_a_page) {
    lard_view view = the_shard(c);
    (void)key;
    begin_empty(c, 1000000);
    for (int i = 0; lard_bucket_count(&view) < 512 && i < 400; i++) {
        tiny(c, i, i + 1);
    }
}
SHAPE_ACT(act_page) { (void)key, tiny(c, 1000, 1002); }

/* Told that it has few, it does not grow, and items are moved on: from 440 of 512 slots on, some of them twice. */
SHAPE_ACT(before_moves) { (void)key, begin_empty(c, -100000), tiny(c, 0, 230); }
SHAPE_ACT(act_moves) { (void)key, tiny(c, 230, 262); }
SHAPE_ACT(before_second_moves) { (void)key, begin_empty(c, -100000), tiny(c, 0, 280); }
SHAPE_ACT(act_second_moves) { (void)key, tiny(c, 280, 300); }

/* Clear, reset, repair. */

SHAPE_ACT(act_clear) {
    larder_clear(c);
    set(c, key, text_of(after()));
}
SHAPE_ACT(act_store) { set(c, key, text_of(after())); }
SHAPE_ACT(lose_the_index) { (void)key, lard_store(&the_shard(c).header->bucket_count, 0); }

/* A process that is not alive holds the lock, and waiters were announced. */
SHAPE_ACT(die_holding) {
    (void)key;
    lard_store(&the_shard(c).header->lock,
               lard_process_owner_word(c->core->map->super.process_slots - 1, 77) | 0x80000000u);
}
SHAPE_ACT(die_in_damage) {
    lard_store(&the_shard(c).header->index_pages, 0);
    die_holding(c, key);
}
SHAPE_ACT(die_in_reset) {
    lard_store(&the_shard(c).header->epoch, 0);
    die_holding(c, key);
}
SHAPE_ACT(die_in_counts) { /* all that a repair puts right, at once */
    lard_view view = the_shard(c);
    lard_store(&view.header->active[0], 12345);
    lard_store(&view.header->victim, 7777);
    lard_store(&view.header->free_segments, 1);
    lard_store(&view.header->moves, lard_load(&view.header->moves) | 1u);
    lard_store(&view.header->items, 3);
    for (uint32_t s = 0; s < c->core->map->super.segments_per_shard; s++) {
        if (lard_load(&view.segments[s].state) == LARD_SEGMENT_FREE) {
            lard_store(&view.segments[s].state, LARD_SEGMENT_INDEX); /* a page that the directory does not name */
            break;
        }
    }
    die_holding(c, key);
}

#define EVICTS .may_leave = true, .is_long = true, .before = OLD, .after = OLD
#define RESHAPES .before = OLD, .after = OLD

/* A clear ends the table. */
SHAPE_ACT(clear_and_set_tagged) {
    larder_clear(c);
    prepare_tagged(c, key);
}
SHAPE_ACT(damage_the_table) {
    lard_view view = the_shard(c);
    act_delete_tag(c, "another");
    set_tagged(c, key, text_of(before()));
    uint32_t segment = lard_directory_segment(&view, c->core->map->super.segments_per_shard - 1);
    for (uint32_t i = 0; i < c->core->map->super.segment_bytes / 8; i++) {
        lard_store(&lard_view_words(&view, lard_view_segment_offset(&view, segment))[i], 7);
    }
}

static const operation shape_operations[] = {
    {.name = "eviction from the small queue", .act = fill_unread, .prepare = fill_up, EVICTS},
    {.name = "eviction from the main queue", .act = fill_read, .prepare = fill_up, EVICTS},
    {.name = "eviction of large values", .act = fill_large, .prepare = fill_up, EVICTS},
    {.name = "eviction by many tiny ones", .act = fill_tiny, .prepare = fill_up, EVICTS},
    {.name = "return of what was evicted", .act = fill_again, .prepare = fill_up, EVICTS},
    {.name = "drop of expired segments", .act = fill_unread, .prepare = fill_expired, EVICTS},
    {.name = "eviction of a damaged segment",
     .act = fill_unread,
     .prepare = damage_a_segment,
     .unsound = true,
     EVICTS},
    {.name = "prune", .act = act_prune, .prepare = prepare_expired, RESHAPES},
    {.name = "splits of buckets", .act = act_splits, .prepare = before_splits, RESHAPES},
    {.name = "another page of the index",
     .act = act_page,
     .prepare = before_a_page,
     .is_long = true,
     .miscounts = true,
     RESHAPES},
    {.name = "moves between buckets", .act = act_moves, .prepare = before_moves, .miscounts = true, RESHAPES},
    {.name = "moves of those in the way",
     .act = act_second_moves,
     .prepare = before_second_moves,
     .miscounts = true,
     RESHAPES},
    {.name = "clear",
     .before = OLD,
     .after = NEW,
     .act = act_clear,
     .may_leave = true,
     .all_or_none = true,
     .is_long = true},
    {.name = "first deletion of a tag",
     .before = OLD,
     .after = NOTHING,
     .act = act_delete_tag,
     .prepare = clear_and_set_tagged,
     .may_leave = true,
     .all_or_none = true,
     .is_long = true},
    {.name = "deletion of a tag of a damaged line",
     .before = OLD,
     .after = NOTHING,
     .act = act_delete_tag,
     .prepare = damage_the_table,
     .unsound = true,
     .may_leave = true},
    {.name = "reset of a shard that lost its index",
     .before = OLD,
     .after = NEW,
     .act = act_store,
     .prepare = lose_the_index,
     .may_leave = true,
     .all_or_none = true,
     .is_long = true},
    {.name = "reset by repair",
     .before = OLD,
     .after = NEW,
     .act = act_store,
     .prepare = die_in_damage,
     .may_leave = true,
     .all_or_none = true,
     .is_long = true},
    {.name = "repair of an unfinished reset",
     .before = OLD,
     .after = NEW,
     .act = act_store,
     .prepare = die_in_reset,
     .may_leave = true,
     .all_or_none = true,
     .is_long = true},
    {.name = "repair", .before = OLD, .after = NEW, .act = act_store, .prepare = die_holding},
    {.name = "repair of all that can be repaired",
     .before = OLD,
     .after = NEW,
     .act = act_store,
     .prepare = die_in_counts},
};

#endif
