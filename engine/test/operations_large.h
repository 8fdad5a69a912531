/*
 * operations_large.h — the operations of larder.h on values in chunks, as killing.h runs them.
 */
#ifndef LARD_OPERATIONS_LARGE_H
#define LARD_OPERATIONS_LARGE_H

#include "killing.h"

#define LARGE_ACT(name) static void name(larder *c, const char *key)
/* Room for what killed writers leave: reads soon after a store do not count, so that in 4 MiB one of some thousand
 * values leaves. */
#define ON_LARGE .is_long = true, .ring = 8, .size_bytes = 8 << 20

LARGE_ACT(large_set) { set(c, key, text_of(after())); }
/* As on a disk: chunks are written by pwrite(2). */
LARGE_ACT(large_set_by_images) {
    c->core->map->is_on_disk = true;
    set(c, key, text_of(after()));
    c->core->map->is_on_disk = false;
}
LARGE_ACT(large_add) { set_at(c, key, text_of(after()), 0, LARDER_ADD, 0); }
LARGE_ACT(large_add_refused) { set_at(c, key, text_of((content){NEW_LARGE, book->round}), 0, LARDER_ADD, 0); }
LARGE_ACT(large_replace) { set_at(c, key, text_of(after()), 0, LARDER_REPLACE, 0); }
LARGE_ACT(large_delete) { larder_delete(c, key, strlen(key), NULL); }
LARGE_ACT(large_touch) { larder_touch(c, key, strlen(key), 1000000, NULL); }
LARGE_ACT(large_touch_expired) { larder_touch(c, key, strlen(key), -1, NULL); }
LARGE_ACT(large_get) { get(c, key); }
LARGE_ACT(large_increment) { larder_increment(c, key, strlen(key), 1, 0, 0, NULL, NULL); }
LARGE_ACT(large_cas) {
    const char *expected = text_of(before()), *text = text_of(after());
    larder_store store = {.key = key, .key_bytes = strlen(key), .value = text, .value_bytes = strlen(text)};
    store.expected_expires_at_ms = LARDER_ANY_EXPIRY;
    larder_cas(c, &store, expected, strlen(expected), NULL);
}

LARGE_ACT(large_lease) { take_lease(c, key); }
LARGE_ACT(large_lease_and_fill) { fill_under_lease(c, key); }
LARGE_ACT(large_lease_and_end) { end_lease(c, key); }

/* Drops one chunk but not the head, as eviction does: the next reader of the value then drops the rest. */
LARGE_ACT(lose_a_chunk) {
    lard_record_info info;
    lard_head head;
    lard_key large = lard_key_of(c->core->map, NULL, key, strlen(key));
    lard_view view = lard_view_of(c->core->map, lard_hash_shard(c->core->map, &large.hash));
    set(c, key, text_of((content){OLD_LARGE, book->round}));
    lard_found found = lard_index_find(&view, &large);
    if (found.slot && lard_record_of_slot(&view, found.value, &info)) {
        lard_record_head(&view, LARD_SLOT_OFFSET(found.value), &info, &head);
        lard_chunk_key data = {{head.id[0], head.id[1]}, 1};
        lard_key chunk = lard_key_of_chunk(c->core->map, &data);
        lard_index_delete(&view, &chunk, 0, NULL);
    }
}

LARGE_ACT(delete_the_tag_of_a_large_value) {
    const larder_tag tag = {key, strlen(key)};
    const larder_extra extra = {.tags = &tag, .tag_count = 1};
    const char *text = text_of((content){OLD_LARGE, book->round});
    larder_store store = {
        .key = key, .key_bytes = strlen(key), .value = text, .value_bytes = strlen(text), .extra = &extra};
    larder_set(c, &store, NULL);
    larder_delete_tagged(c, &tag, 1, NULL);
}
LARGE_ACT(prune) { (void)key, larder_prune(c, NULL, NULL); }

static const operation large_operations[] = {
    {.name = "large set", .before = NOTHING, .after = NEW_LARGE, .act = large_set, ON_LARGE},
    {.name = "large overwrite", .before = OLD_LARGE, .after = NEW_LARGE, .act = large_set, ON_LARGE},
    {.name = "large set by pwrite(2)",
     .before = NOTHING,
     .after = NEW_LARGE,
     .act = large_set_by_images,
     .has_images = true,
     ON_LARGE},
    {.name = "large overwrite by pwrite(2)",
     .before = OLD_LARGE,
     .after = NEW_LARGE,
     .act = large_set_by_images,
     .has_images = true,
     ON_LARGE},
    {.name = "large over small", .before = OLD, .after = NEW_LARGE, .act = large_set, ON_LARGE},
    {.name = "small over large", .before = OLD_LARGE, .after = NEW, .act = large_set, ON_LARGE},
    {.name = "large over a counter", .before = NUMBER, .after = NEW_LARGE, .act = large_set, ON_LARGE},
    {.name = "large add", .before = NOTHING, .after = NEW_LARGE, .act = large_add, ON_LARGE},
    {.name = "large add that is refused", .before = OLD, .after = OLD, .act = large_add_refused, ON_LARGE},
    {.name = "large replace", .before = OLD_LARGE, .after = NEW_LARGE, .act = large_replace, ON_LARGE},
    {.name = "large compare and swap", .before = OLD_LARGE, .after = NEW_LARGE, .act = large_cas, ON_LARGE},
    {.name = "large delete", .before = OLD_LARGE, .after = NOTHING, .act = large_delete, ON_LARGE},
    {.name = "large touch", .before = OLD_LARGE, .after = OLD_LARGE, .act = large_touch, ON_LARGE},
    {.name = "large touch that ends it",
     .before = OLD_LARGE,
     .after = NOTHING,
     .act = large_touch_expired,
     ON_LARGE},
    {.name = "large get", .before = OLD_LARGE, .after = OLD_LARGE, .act = large_get, ON_LARGE},
    {.name = "get of a large value that lost a chunk",
     .before = NOTHING,
     .after = NOTHING,
     .act = large_get,
     .prepare = lose_a_chunk,
     ON_LARGE},
    {.name = "prune of a large value whose tag was deleted",
     .before = NOTHING,
     .after = NOTHING,
     .act = prune,
     .prepare = delete_the_tag_of_a_large_value,
     ON_LARGE},
    {.name = "lease over a large value", .before = OLD_LARGE, .after = OLD_LARGE, .act = large_lease, ON_LARGE},
    {.name = "large store under a lease",
     .before = NOTHING,
     .after = NEW_LARGE,
     .act = large_lease_and_fill,
     ON_LARGE},
    {.name = "large store under a lease over a large value",
     .before = OLD_LARGE,
     .after = NEW_LARGE,
     .act = large_lease_and_fill,
     ON_LARGE},
    {.name = "lease over a large value that is ended",
     .before = OLD_LARGE,
     .after = OLD_LARGE,
     .act = large_lease_and_end,
     ON_LARGE},
    {.name = "increment of a large value",
     .before = OLD_LARGE,
     .after = OLD_LARGE,
     .act = large_increment,
     ON_LARGE},
    {.name = "value of a large part of the cache", /* makes room at once, and begins as if it had been read */
     .before = OLD,
     .after = HUGE_ONE,
     .act = large_set,
     .may_leave = true,
     .is_long = true,
     .ring = 4},
};

#endif
