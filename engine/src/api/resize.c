/*
 * resize.c — larder_resize: replaces a cache's file by one of another size, empty or with the old items.
 *
 * The new file is completed beside the old one, under the opener's lock (opener.c), and moved to the path by one
 * rename: if there is no room for it, nothing changes. Then the old file is marked superseded, and processes that
 * have it mapped attach to the new one at their next call (attach.c).
 */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/fail.h"
#include "base/key.h"
#include "base/place.h"
#include "file/belief.h"
#include "file/format.h"
#include "file/map.h"
#include "file/view.h"
#include "handle/beside.h"
#include "handle/enter.h"
#include "item/put.h"
#include "item/read.h"
#include "proc/bytelock.h"
#include "proc/lockfile.h"
#include "proc/opener.h"
#include "proc/process.h"

#include <stdlib.h>
#include <string.h>

#define WAIT_MS 5000 /* for another opener */
#define KEYS_BYTES ((size_t)65536)

typedef struct {
    larder *cache;
    lard_map *to;
    char *value;      /* buffer for the longest value */
    bool all;         /* no item may be left out */
    uint64_t records; /* written so far, including chunks */
    larder_call call;
} copying;

/* Copies one item, also a stale one that is kept. If the new file has no room for it, it is left out; that is an
 * error if it is pinned or `all`. */
static larder_status copy_item(copying *copy, const char *key, size_t key_bytes) {
    lard_map *from = copy->cache->core->map;
    lard_key wanted = lard_key_of(from, &lard_belief_any, key, key_bytes);
    lard_room room = {.bytes = copy->value, .capacity = larder_max_value(copy->cache)};
    larder_item item;
    lard_hit hit;
    larder_status status =
        lard_read(copy->cache->core, from, &wanted, NULL, &room, &item, &hit, copy->call.now_ms);
    if (status != LARDER_OK) {
        return LARDER_OK; /* it has expired, its tag was deleted, or it is a placeholder, whose lease ends here */
    }
    status = lard_put_item(copy->cache->core, copy->to, key, key_bytes, copy->value, &item, &hit, &copy->call,
                           &copy->records);
    if (status == LARDER_VALUE_TOO_LARGE) {
        status = LARDER_FULL; /* a larger file would have room for it */
    }
    return item.is_pinned || copy->all ? status : LARDER_OK;
}

/* Are all records still in the new file? Writing others may have evicted them, or overwritten their slots. */
static bool has_all(const copying *copy) {
    uint64_t records = 0;
    for (uint32_t s = 0; s < copy->to->super.shard_count; s++) {
        lard_view view = lard_view_of(copy->to, s);
        records += lard_load(&view.header->items);
    }
    return records == copy->records;
}

static larder_status copy_all(copying *copy, char *keys) {
    uint64_t cursor = 0;
    larder_status status = LARDER_OK;
    do {
        size_t count, used;
        const char *at = keys;
        status = larder_scan(copy->cache, &cursor, "", 0, keys, KEYS_BYTES, &count, &used, &copy->call);
        for (size_t i = 0; i < count && status == LARDER_OK; i++) {
            uint32_t bytes;
            memcpy(&bytes, at, sizeof bytes);
            status = copy_item(copy, at + sizeof bytes, bytes);
            at += sizeof bytes + bytes;
        }
    } while (cursor && status == LARDER_OK);
    return status;
}

/* Under the opener's lock, with no other process attached. So no process changes the items that are copied: one
 * without a slot needs that lock for it (handle/unattached.c). */
static larder_status keep_items(larder *cache, lard_map *from, lard_map *to, bool all, larder_error *error) {
    copying copy = {.cache = cache,
                    .to = to,
                    .value = malloc(larder_max_value(cache)),
                    .all = all,
                    .call = {.now_ms = lard_clock_of_call(NULL), .flags = LARDER_CALL_STALE}};
    char *keys = malloc(KEYS_BYTES);
    larder_status status = LARDER_NO_MEMORY;
    /* Ids of large values contain slot and incarnation: so no later process uses an id again. */
    if (copy.value && keys) {
        lard_store(&to->processes[from->slot].incarnation, cache->core->incarnation);
        to->slot = from->slot;
        to->owner_word = from->owner_word;
        to->lock = from->lock;
        for (unsigned i = 0; i < LARD_CONFIGURATIONS; i++) { /* the records name them; a new file is not trusted */
            lard_store(&to->control->configurations[i].digest,
                       lard_load(&from->control->configurations[i].digest));
        }
        status = copy_all(&copy, keys);
        if (status == LARDER_OK && all && !has_all(&copy)) {
            status = LARDER_FULL;
        }
    }
    free(copy.value);
    free(keys);
    if (status == LARDER_OK && !lard_map_is_fit(from)) {
        status = LARDER_DAMAGED;
    }
    if (status == LARDER_FULL || status == LARDER_PIN_FULL) {
        return lard_fail(error, status, 0, "%s: a file of %llu bytes has no room for the items to keep",
                         cache->core->path, (unsigned long long)to->super.file_bytes);
    }
    return status == LARDER_OK ? status : lard_fail(error, status, 0, "%s: copying its items", cache->core->path);
}

/* The opener's lock is held. */
static larder_status take_place(larder *cache, const char *lock, uint64_t size_bytes, uint32_t keep,
                                const lard_lockfile_content *content, larder_error *error) {
    lard_beside beside;
    lard_map *old = cache->core->map;
    if (!lard_map_is_fit(old)) { /* it has changed since lard_enter */
        return lard_fail(error, LARDER_SUPERSEDED, 0, "%s", cache->core->path);
    }
    if (keep && lard_process_is_alone(cache->core, &cache->core->lock, lock) != 1) {
        return lard_fail(error, LARDER_IN_USE, 0, "%s", cache->core->path);
    }
    larder_status status =
        lard_beside_make(cache->core->path, size_bytes, old->super.seed, content, &beside, error);
    if (status != LARDER_OK) {
        return status;
    }
    if (keep) {
        status = old->slot < beside.map->super.process_slots
                     ? keep_items(cache, old, beside.map, keep >= LARDER_KEEP_ALL, error)
                     : lard_fail(error, LARDER_NO_SLOT, 0, "%s (room for %u processes)", cache->core->path,
                                 lard_process_room(beside.map));
    }
    if (keep == LARDER_KEEP_TRIAL) {
        lard_beside_remove(&beside);
        return status;
    }
    return lard_beside_end(status, &beside, cache->core->path, old, error);
}

larder_status larder_resize(larder *cache, uint64_t size_bytes, uint32_t keep, larder_error *error) {
    char lock[LARD_LOCK_PATH_MAX];
    lard_lockfile_content content;
    lard_bytelock opener;
    lard_superblock plan;
    if (error) {
        memset(error, 0, sizeof *error);
    }
    if (!cache || keep > LARDER_KEEP_TRIAL) {
        return lard_fail(error, LARDER_INVALID, 0, "larder_resize needs a handle, and one of LARDER_KEEP_*");
    }
    larder_status status = lard_format_plan(size_bytes, &plan);
    if (status != LARDER_OK) {
        return lard_fail(error, status, 0, "%s: size %llu bytes", cache->core->path,
                         (unsigned long long)size_bytes);
    }
    if (!lard_enter(cache->core)) {
        return lard_fail(error, lard_enter_failure(cache->core), 0, "%s", cache->core->path);
    }
    lard_lockfile_path(cache->core->path, lock);
    status = lard_opener_lock(&cache->core->lock, lock, WAIT_MS, &opener, error);
    if (status != LARDER_OK) {
        return status;
    }
    status = lard_lockfile_is_at(&cache->core->lock, lock) == 1
                 ? lard_lockfile_read(&cache->core->lock, lock, &content, error)
                 : lard_fail(error, LARDER_SUPERSEDED, 0,
                             "%s: its lock file was removed or replaced; open the cache again", cache->core->path);
    if (status == LARDER_OK) {
        status = take_place(cache, lock, size_bytes, keep, &content, error);
    }
    lard_bytelock_drop(&opener, &cache->core->lock);
    return status;
}
