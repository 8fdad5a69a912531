/*
 * pending.c — notes removals that this process cannot apply, because it is not attached.
 *
 * A key that was deleted or overwritten must not return its old value after the handle attaches. So the key is
 * noted here, and deleted before the handle reads in the file that it attaches to. A lease is noted with its
 * token, so a newer value of its key stays. Tags are noted in the same way: all items that have a tag of its shard
 * count as deleted then. Above MAX_NOTES notes, or without memory, the whole file is cleared instead. The notes
 * are memory of this process: they are lost if it ends before it has applied them.
 *
 * Under the fork lock (fork.c), but for lard_pending_note, which takes it. A forked child has its own copy.
 */
#include "handle/pending.h"
#include "base/key.h"
#include "file/belief.h"
#include "file/map.h"
#include "handle/current.h"
#include "item/drop.h"
#include "item/lease.h"
#include "item/tagged.h"
#include "proc/fork.h"

#include <stdlib.h>
#include <string.h>

#define MAX_NOTES 1024u

typedef struct lard_pending {
    uint32_t count;
    lard_removal *notes[MAX_NOTES]; /* of keys and tags, each with a copy of its text behind it */
} lard_pending;

static bool is_noted(const lard_pending *pending, const lard_removal *removal) {
    for (uint32_t i = 0; i < pending->count; i++) {
        const lard_removal *note = pending->notes[i];
        if (note->bytes == removal->bytes && note->kind == removal->kind && note->token[0] == removal->token[0] &&
            note->token[1] == removal->token[1] &&
            (!note->bytes || memcmp(note->text, removal->text, note->bytes) == 0)) {
            return true;
        }
    }
    return false;
}

/* False: there is no room, or no memory. */
static bool add(lard_pending *pending, const lard_removal *removal) {
    if (is_noted(pending, removal)) {
        return true;
    }
    lard_removal *note = pending->count < MAX_NOTES ? malloc(sizeof *note + removal->bytes) : NULL;
    if (!note) {
        return false;
    }
    void *copy = note + 1;
    if (removal->bytes) {
        memcpy(copy, removal->text, removal->bytes);
    }
    *note = *removal;
    note->text = copy;
    pending->notes[pending->count++] = note;
    return true;
}

static void note(lard_core *cache, const lard_removal *removal) {
    if (cache->all_pending) {
        return;
    }
    bool all = removal->kind == LARD_REMOVE_ALL;
    if (!all && !cache->pending) {
        cache->pending = calloc(1, sizeof *cache->pending);
    }
    if (all || !cache->pending || !add(cache->pending, removal)) {
        lard_pending_free(cache);
        cache->all_pending = true;
    }
}

bool lard_pending_note(lard_core *cache, const lard_removal *removal) {
    lard_fork_lock();
    bool unattached = !lard_current_map(cache);
    if (unattached) {
        note(cache, removal);
    }
    lard_fork_unlock();
    return unattached;
}

bool lard_pending_remove(lard_core *cache, lard_map *map, const lard_removal *removal, int64_t now_ms) {
    if (removal->kind == LARD_REMOVE_ALL) {
        lard_map_clear(map);
        return false;
    }
    if (removal->kind == LARD_REMOVE_TAG) {
        lard_tagged_forget(map, lard_deletions_hash(map, removal->text, removal->bytes));
        return false;
    }
    lard_key key = lard_key_of(map, &lard_belief_any, removal->text, removal->bytes);
    if (removal->kind == LARD_REMOVE_LEASE) {
        return lard_lease_end(cache, map, &key, removal->token, false, 0, NULL) == LARDER_OK;
    }
    return lard_drop(map, &key, now_ms);
}

void lard_pending_apply(lard_core *cache, lard_map *map) {
    const lard_removal all = {.kind = LARD_REMOVE_ALL};
    if (cache->all_pending) {
        lard_pending_remove(cache, map, &all, 0);
    }
    for (uint32_t i = 0; cache->pending && i < cache->pending->count; i++) {
        lard_pending_remove(cache, map, cache->pending->notes[i], 0);
    }
    if (!map->poisoned) {
        lard_pending_free(cache);
    }
}

uint32_t lard_pending_count(const lard_core *cache) {
    return cache->all_pending ? LARDER_ALL_PENDING : cache->pending ? cache->pending->count : 0;
}

void lard_pending_free(lard_core *cache) {
    for (uint32_t i = 0; cache->pending && i < cache->pending->count; i++) {
        free(cache->pending->notes[i]);
    }
    free(cache->pending);
    cache->pending = NULL;
    cache->all_pending = false;
}
