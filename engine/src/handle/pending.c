/*
 * pending.c — notes deletes that this process cannot apply because it is not attached.
 *
 * A key that was deleted or overwritten must not return its old value after the handle attaches. So the key is
 * noted here, and deleted in the file that the handle attaches to before the handle reads there. Above MAX_KEYS
 * keys, or without memory, the whole file is cleared instead. So it is with a tag: then all items that have a tag
 * of its shard are taken for deleted. Pending deletes are lost when the process ends.
 *
 * Under the fork lock (fork.c), but for lard_pending_note, which takes it. A forked child has its own copy.
 */
#include "handle/pending.h"
#include "base/clock.h"
#include "base/key.h"
#include "file/map.h"
#include "handle/current.h"
#include "item/drop.h"
#include "item/tagged.h"
#include "proc/fork.h"

#include <stdlib.h>
#include <string.h>

#define MAX_KEYS 1024u

typedef struct lard_pending {
    uint32_t count;
    struct {
        void *key;
        size_t bytes;
        bool is_tag;
    } keys[MAX_KEYS];
} lard_pending;

static bool is_noted(const lard_pending *pending, const void *key, size_t bytes, bool is_tag) {
    for (uint32_t i = 0; i < pending->count; i++) {
        if (pending->keys[i].bytes == bytes && pending->keys[i].is_tag == is_tag &&
            memcmp(pending->keys[i].key, key, bytes) == 0) {
            return true;
        }
    }
    return false;
}

static bool note_key(lard_pending *pending, const void *key, size_t bytes, bool is_tag) {
    if (is_noted(pending, key, bytes, is_tag)) {
        return true;
    }
    void *copy = pending->count < MAX_KEYS ? malloc(bytes + 1) : NULL;
    if (copy) {
        memcpy(copy, key, bytes);
        pending->keys[pending->count].key = copy;
        pending->keys[pending->count].is_tag = is_tag;
        pending->keys[pending->count++].bytes = bytes;
    }
    return copy != NULL;
}

/* `key` NULL: all keys. */
static void note(larder *cache, const void *key, size_t bytes, bool is_tag) {
    if (cache->all_pending) {
        return;
    }
    if (key && !cache->pending) {
        cache->pending = calloc(1, sizeof *cache->pending);
    }
    if (!key || !cache->pending || !note_key(cache->pending, key, bytes, is_tag)) {
        lard_pending_free(cache);
        cache->all_pending = true;
    }
}

static bool note_unattached(larder *cache, const void *key, size_t bytes, bool is_tag) {
    lard_fork_lock();
    bool unattached = !lard_current_map(cache);
    if (unattached) {
        note(cache, key, bytes, is_tag);
    }
    lard_fork_unlock();
    return unattached;
}

bool lard_pending_note(larder *cache, const void *key, size_t key_bytes) {
    return note_unattached(cache, key, key_bytes, false);
}

bool lard_pending_note_tag(larder *cache, const void *tag, size_t bytes) {
    return note_unattached(cache, tag ? tag : "", bytes, true);
}

void lard_pending_apply(larder *cache, lard_map *map) {
    lard_pending *pending = cache->pending;
    if (cache->all_pending) {
        lard_map_clear(map);
    }
    for (uint32_t i = 0; pending && i < pending->count; i++) {
        const void *text = pending->keys[i].key;
        size_t bytes = pending->keys[i].bytes;
        if (pending->keys[i].is_tag) {
            lard_tagged_forget(map, lard_deletions_hash(map, text, bytes));
        } else {
            lard_key key = lard_key_of(map, text, bytes);
            lard_drop(map, &key, lard_clock_ms());
        }
    }
    lard_pending_free(cache);
}

void lard_pending_free(larder *cache) {
    for (uint32_t i = 0; cache->pending && i < cache->pending->count; i++) {
        free(cache->pending->keys[i].key);
    }
    free(cache->pending);
    cache->pending = NULL;
    cache->all_pending = false;
}
