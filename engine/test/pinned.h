/*
 * pinned.h — stores pinned and other items, and checks that they are there.
 */
#ifndef LARD_PINNED_H
#define LARD_PINNED_H

#include "harness.h"

static larder *cache;
static bool pins = true;

static inline size_t key_of(int i, char key[32]) { return (size_t)snprintf(key, 32, "item %d", i); }

static inline larder_status put(const char *name, int i, size_t bytes, unsigned pin, int64_t ttl_ms,
                                int64_t now_ms) {
    static unsigned char value[600000];
    char key[32];
    larder_call call = {.now_ms = now_ms};
    describe(value, bytes, (uint64_t)i, 1);
    larder_store store = {.key = key,
                          .key_bytes = (size_t)snprintf(key, sizeof key, "%s %d", name, i),
                          .value = value,
                          .value_bytes = bytes,
                          .ttl_ms = ttl_ms,
                          .pin = (uint8_t)pin};
    return larder_set(cache, &store, &call);
}

static inline larder_status pin(int i, size_t bytes) { return put("item", i, bytes, pins, 0, 0); }

static inline bool is_there(int i, size_t bytes) {
    static unsigned char have[600000], want[600000];
    char key[32];
    larder_item item;
    describe(want, bytes, (uint64_t)i, 1);
    return larder_get(cache, key, key_of(i, key), have, sizeof have, &item, NULL) == LARDER_OK &&
           item.size_bytes == bytes && memcmp(have, want, bytes) == 0 && item.is_pinned;
}

static inline void fill(int from, int count, size_t bytes, bool is_read) {
    char key[32], out[10000];
    for (int i = from; i < from + count; i++) {
        put("other", i, bytes, 0, 0, 0);
        if (is_read) {
            larder_get(cache, key, (size_t)snprintf(key, sizeof key, "other %d", i), out, sizeof out, NULL, NULL);
        }
    }
}

static inline larder_stats stats(void) {
    larder_stats all;
    larder_get_stats(cache, &all);
    return all;
}

/* What the shards believe, and what a count says. */
static inline bool counted(void) {
    uint64_t before = stats().pinned_bytes;
    larder_prune(cache, NULL, NULL);
    if (stats().pinned_bytes != before) {
        fprintf(stderr, "  believed to be %d, counted %d\n", (int)before, (int)stats().pinned_bytes);
    }
    return stats().pinned_bytes == before;
}

#endif
