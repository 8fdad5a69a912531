/*
 * operations_plain.h — the operations of larder.h on short values, as killing.h runs them.
 *
 * They include every way to store, delete, count, touch, read and scan, also if it is refused.
 */
#ifndef LARD_OPERATIONS_PLAIN_H
#define LARD_OPERATIONS_PLAIN_H

#include "killing.h"

#define ACT(name) static void name(larder *c, const char *key)

static inline void store_new(larder *c, const char *key, larder_mode mode, int64_t ttl_ms) {
    set_at(c, key, text_of(after()), ttl_ms, mode, 0);
}

ACT(act_set) { store_new(c, key, LARDER_SET, 0); }
ACT(act_set_for_a_day) { store_new(c, key, LARDER_SET, 86400000); }
ACT(act_set_flags) {
    const char *text = text_of(after());
    larder_store store = {
        .key = key, .key_bytes = strlen(key), .value = text, .value_bytes = strlen(text), .flags = 7};
    larder_set(c, &store, NULL);
}
ACT(act_add) { set_at(c, key, op->after == NEW ? text_of(after()) : "refused", 0, LARDER_ADD, 0); }
ACT(act_replace) { set_at(c, key, op->after == NEW ? text_of(after()) : "refused", 0, LARDER_REPLACE, 0); }
ACT(act_set_expired) { set_at(c, key, "expired", -1, LARDER_SET, 0); }
ACT(act_set_long_key) {
    static char long_key[LARDER_MAX_KEY + 1];
    memset(long_key, 'k', LARDER_MAX_KEY);
    set(c, long_key, "written");
    store_new(c, key, LARDER_SET, 0);
}

/* Bystanders are overwritten with what they hold, the subject in their midst. */
ACT(act_set_multi) {
    enum { COUNT = 24 };
    static char keys[COUNT][32];
    static unsigned char values[COUNT][BYSTANDER_BYTES];
    larder_store stores[COUNT];
    for (int i = 0; i < COUNT; i++) {
        stores[i] = (larder_store){.key = keys[i],
                                   .key_bytes = bystander(i * 7, keys[i], values[i]),
                                   .value = values[i],
                                   .value_bytes = BYSTANDER_BYTES};
    }
    const char *text = text_of(after());
    stores[11] = (larder_store){.key = key, .key_bytes = strlen(key), .value = text, .value_bytes = strlen(text)};
    larder_set_multi(c, stores, COUNT, NULL, NULL);
}

static inline void swap(larder *c, const char *key, const char *expected) {
    const char *text = text_of((content){NEW, book->round});
    larder_store store = {.key = key, .key_bytes = strlen(key), .value = text, .value_bytes = strlen(text)};
    store.expected_expires_at_ms = LARDER_ANY_EXPIRY;
    larder_cas(c, &store, expected, strlen(expected), NULL);
}
ACT(act_cas) { swap(c, key, text_of(before())); }
ACT(act_cas_refused) { swap(c, key, "something else"); }

ACT(act_delete) { larder_delete(c, key, strlen(key), NULL); }
ACT(act_touch) { larder_touch(c, key, strlen(key), 1000000, NULL); }
ACT(act_touch_for_ever) { larder_touch(c, key, strlen(key), 0, NULL); }
ACT(act_touch_expired) { larder_touch(c, key, strlen(key), -1, NULL); }
ACT(prepare_short_life) { larder_touch(c, key, strlen(key), 86400000, NULL); }

ACT(act_increment) { larder_increment(c, key, strlen(key), 1, (int64_t)book->round * 10, 0, NULL, NULL); }
ACT(prepare_digits) { set(c, key, text_of(before())); }
/* A value that is too large is refused, and what it was to replace is dropped. */
ACT(act_set_too_large) {
    size_t bytes = larder_max_value(c) + 1;
    char *value = calloc(1, bytes);
    larder_store store = {.key = key, .key_bytes = strlen(key), .value = value, .value_bytes = bytes};
    larder_set(c, &store, NULL);
    free(value);
}

ACT(act_lease) { take_lease(c, key); }
ACT(act_lease_and_fill) { fill_under_lease(c, key); }
ACT(act_lease_and_end) { end_lease(c, key); }
ACT(act_set_stale_later) {
    const char *text = text_of(after());
    larder_store store = {
        .key = key, .key_bytes = strlen(key), .value = text, .value_bytes = strlen(text), .ttl_ms = 86400000};
    larder_extra extra = {.stale_ms = 86400000};
    store.extra = &extra;
    larder_set(c, &store, NULL);
    larder_touch(c, key, strlen(key), 86400000, NULL);
}

static inline void set_tagged(larder *c, const char *key, const char *text) {
    const larder_tag tags[] = {{"colour", 6}, {key, strlen(key)}};
    larder_extra extra = {.tags = tags, .tag_count = 2};
    larder_store store = {
        .key = key, .key_bytes = strlen(key), .value = text, .value_bytes = strlen(text), .extra = &extra};
    larder_set(c, &store, NULL);
}
static inline void delete_tag(larder *c, const char *text) {
    larder_delete_tagged(c, &(larder_tag){text, strlen(text)}, 1, NULL);
}
ACT(prepare_tagged) { set_tagged(c, key, text_of(before())); }
/* In the first round the table gets full. */
ACT(prepare_tagged_and_full) {
    char text[32];
    for (int i = 0; book->round == 1 && i < 8000; i++) {
        snprintf(text, sizeof text, "tag %d", i);
        delete_tag(c, text);
    }
    prepare_tagged(c, key);
}
ACT(act_set_tagged) { set_tagged(c, key, text_of(after())); }
ACT(act_delete_tag) { delete_tag(c, key); }

ACT(act_get) { get(c, key); }
ACT(act_exists) { larder_exists(c, key, strlen(key), NULL, NULL); }
ACT(act_get_multi) {
    enum { COUNT = 40 };
    char keys[COUNT][32];
    unsigned char values[COUNT][64];
    larder_lookup lookups[COUNT];
    for (int i = 0; i < COUNT; i++) {
        size_t bytes = i ? bystander(i, keys[i], values[i]) : (size_t)snprintf(keys[0], 32, "%s", key);
        lookups[i] = (larder_lookup){
            .key = keys[i], .key_bytes = bytes, .buffer = values[i], .buffer_bytes = sizeof values[i]};
    }
    larder_get_multi(c, lookups, COUNT, NULL);
}
/* As if nobody had read anything: then each read leaves its trace. */
ACT(prepare_unread) {
    unsigned char value[BYSTANDER_BYTES];
    for (int i = 0; i < 40; i++) {
        char name[32];
        larder_delete(c, name, bystander(i, name, value), NULL);
        put_bystander(c, i);
    }
    put(c, before());
    (void)key;
}
ACT(act_scan) {
    static char keys[LARDER_MAX_KEY + 4];
    uint64_t cursor = 0;
    size_t count, used;
    (void)key;
    do {
        larder_scan(c, &cursor, "by", 2, keys, sizeof keys, &count, &used, NULL);
    } while (cursor);
}
ACT(act_verify) {
    larder_report report;
    (void)key;
    larder_verify(c, &report);
}
ACT(act_stats) {
    larder_stats stats;
    (void)key;
    larder_get_stats(c, &stats);
}

static const operation plain_operations[] = {
    {.name = "set", .before = NOTHING, .after = NEW, .act = act_set},
    {.name = "set for a day", .before = NOTHING, .after = NEW, .act = act_set_for_a_day},
    {.name = "overwrite", .before = OLD, .after = NEW, .act = act_set},
    {.name = "set over an expired value", .before = EXPIRED, .after = NEW, .act = act_set},
    {.name = "set with flags", .before = OLD, .after = NEW, .act = act_set_flags},
    {.name = "set of the longest key", .before = OLD, .after = NEW, .act = act_set_long_key, .is_long = true},
    {.name = "set that has expired already", .before = OLD, .after = NOTHING, .act = act_set_expired},
    {.name = "set of too large a value", .before = OLD, .after = NOTHING, .act = act_set_too_large},
    {.name = "add", .before = NOTHING, .after = NEW, .act = act_add},
    {.name = "add over an expired value", .before = EXPIRED, .after = NEW, .act = act_add},
    {.name = "add that is refused", .before = OLD, .after = OLD, .act = act_add},
    {.name = "replace", .before = OLD, .after = NEW, .act = act_replace},
    {.name = "replace that is refused", .before = NOTHING, .after = NOTHING, .act = act_replace},
    {.name = "set of many", .before = OLD, .after = NEW, .act = act_set_multi, .is_long = true},
    {.name = "compare and swap", .before = OLD, .after = NEW, .act = act_cas},
    {.name = "compare and swap of a counter", .before = NUMBER, .after = NEW, .act = act_cas},
    {.name = "compare and swap that is refused", .before = OLD, .after = OLD, .act = act_cas_refused},
    {.name = "lease", .before = NOTHING, .after = NOTHING, .act = act_lease},
    {.name = "lease over a value", .before = OLD, .after = OLD, .act = act_lease},
    {.name = "lease over an expired value", .before = EXPIRED, .after = NOTHING, .act = act_lease},
    {.name = "lease over a counter", .before = NUMBER, .after = NOTHING, .act = act_lease},
    {.name = "store under a lease", .before = NOTHING, .after = NEW, .act = act_lease_and_fill},
    {.name = "store under a lease over a value", .before = OLD, .after = NEW, .act = act_lease_and_fill},
    {.name = "lease that is ended", .before = NOTHING, .after = NOTHING, .act = act_lease_and_end},
    {.name = "lease over a value that is ended", .before = OLD, .after = OLD, .act = act_lease_and_end},
    {.name = "store of what stays when it is stale", .before = OLD, .after = NEW, .act = act_set_stale_later},
    {.name = "set with tags", .before = OLD, .after = NEW, .act = act_set_tagged},
    {.name = "deletion of a tag",
     .before = OLD,
     .after = NOTHING,
     .act = act_delete_tag,
     .prepare = prepare_tagged},
    {.name = "deletion of a tag for which another is forgotten",
     .before = OLD,
     .after = NOTHING,
     .act = act_delete_tag,
     .prepare = prepare_tagged_and_full},
    {.name = "delete", .before = OLD, .after = NOTHING, .act = act_delete},
    {.name = "delete of a counter", .before = NUMBER, .after = NOTHING, .act = act_delete},
    {.name = "delete of nothing", .before = NOTHING, .after = NOTHING, .act = act_delete},
    {.name = "touch", .before = OLD, .after = OLD, .act = act_touch},
    {.name = "touch for ever",
     .before = OLD,
     .after = OLD,
     .act = act_touch_for_ever,
     .prepare = prepare_short_life},
    {.name = "touch that ends it", .before = OLD, .after = NOTHING, .act = act_touch_expired},
    {.name = "touch of a counter", .before = NUMBER, .after = NUMBER, .act = act_touch},
    {.name = "increment", .before = NUMBER, .after = NEXT, .act = act_increment},
    {.name = "first increment", .before = NOTHING, .after = NEXT, .act = act_increment},
    {.name = "increment of an expired counter", .before = EXPIRED, .after = NEXT, .act = act_increment},
    {.name = "increment of text",
     .before = NUMBER,
     .after = NEXT,
     .act = act_increment,
     .prepare = prepare_digits},
    {.name = "increment that is refused", .before = OLD, .after = OLD, .act = act_increment},
    {.name = "plain value over a counter", .before = NUMBER, .after = NEW, .act = act_set},
    {.name = "get", .before = OLD, .after = OLD, .act = act_get, .prepare = prepare_unread},
    {.name = "get of a counter", .before = NUMBER, .after = NUMBER, .act = act_get},
    {.name = "existence", .before = OLD, .after = OLD, .act = act_exists, .prepare = prepare_unread},
    {.name = "get of many", .before = OLD, .after = OLD, .act = act_get_multi, .prepare = prepare_unread},
    {.name = "walk over all keys", .before = OLD, .after = OLD, .act = act_scan},
    {.name = "verify", .before = OLD, .after = OLD, .act = act_verify},
    {.name = "statistics", .before = OLD, .after = OLD, .act = act_stats},
};

#endif
