/*
 * cache.c — the operations of larder.h: arguments are checked here, the rest is
 * the other files' work. larder.h has the contracts.
 */
#include "internal.h"

#define READS_PER_LOOK 1024 /* a power of two */

larder_status lard_check_key(larder *cache, const void *key, size_t key_bytes) {
    if (!cache || (!key && key_bytes)) {
        return LARDER_INVALID;
    }
    return key_bytes > LARDER_MAX_KEY ? LARDER_KEY_TOO_LONG : LARDER_OK;
}

size_t larder_max_value(const larder *cache) {
    lard_map *map = __atomic_load_n(&cache->map, __ATOMIC_ACQUIRE);
    if (!map) {
        return 0;
    }
    uint64_t capacity =
        (uint64_t)map->super.shard_count * map->super.segments_per_shard * map->super.segment_bytes;
    return capacity / 8 < LARDER_MAX_VALUE ? capacity / 8 : LARDER_MAX_VALUE;
}

static larder_status counted(larder *cache, lard_map *map, larder_status status) {
    uint64_t count = lard_count(cache, status == LARDER_MISS ? LARD_STAT_misses : LARD_STAT_hits, 1);
    if (LARD_UNLIKELY((count & (READS_PER_LOOK - 1)) == 0)) {
        lard_look_at_path(cache, map);
    }
    return status;
}

larder_status larder_get(larder *cache, const void *key, size_t key_bytes, void *buffer, size_t buffer_bytes,
                         larder_item *item, const larder_call *call) {
    char none;
    larder_status status = lard_check_key(cache, key, key_bytes);
    if (LARD_UNLIKELY(status != LARDER_OK)) {
        return status;
    }
    lard_map *map = lard_enter(cache);
    if (LARD_UNLIKELY(!map)) {
        return LARDER_MISS;
    }
    lard_hash hash = lard_hash_key(map, key, key_bytes, false);
    status = lard_read(cache, map, &hash, key, key_bytes, false, buffer ? buffer : &none,
                       buffer ? buffer_bytes : 0, item, NULL, call ? call->now_ms : 0);
    return status == LARDER_BUFFER_TOO_SMALL ? status : counted(cache, map, status);
}

#define BATCH 32

larder_status larder_get_multi(larder *cache, larder_lookup *lookups, size_t count, const larder_call *call) {
    lard_hash hashes[BATCH];
    if (!cache || (!lookups && count)) {
        return LARDER_INVALID;
    }
    lard_map *map = lard_enter(cache);
    for (size_t from = 0; from < count; from += BATCH) {
        size_t batch = count - from < BATCH ? count - from : BATCH;
        for (size_t i = 0; map && i < batch; i++) { /* first touch all buckets, so that their misses overlap */
            larder_lookup *lookup = &lookups[from + i];
            lookup->status = lard_check_key(cache, lookup->key, lookup->key_bytes);
            if (lookup->status != LARDER_OK) {
                continue;
            }
            hashes[i] = lard_hash_key(map, lookup->key, lookup->key_bytes, false);
            lard_view view = lard_view_of(map, lard_hash_shard(map, &hashes[i]));
            lard_index_prefetch(&view, &hashes[i]);
        }
        for (size_t i = 0; i < batch; i++) {
            larder_lookup *lookup = &lookups[from + i];
            char none;
            if (!map) {
                lookup->status = LARDER_MISS;
            } else if (lookup->status == LARDER_OK) {
                lookup->status =
                    lard_read(cache, map, &hashes[i], lookup->key, lookup->key_bytes, false,
                              lookup->buffer ? lookup->buffer : &none, lookup->buffer ? lookup->buffer_bytes : 0,
                              &lookup->item, NULL, call ? call->now_ms : 0);
                if (lookup->status != LARDER_BUFFER_TOO_SMALL) {
                    counted(cache, map, lookup->status);
                }
            }
        }
    }
    return LARDER_OK;
}

larder_status larder_exists(larder *cache, const void *key, size_t key_bytes, larder_item *item,
                            const larder_call *call) {
    larder_status status = lard_check_key(cache, key, key_bytes);
    lard_map *map = status == LARDER_OK ? lard_enter(cache) : NULL;
    if (!map) {
        return status == LARDER_OK ? LARDER_MISS : status;
    }
    lard_hash hash = lard_hash_key(map, key, key_bytes, false);
    return lard_read(cache, map, &hash, key, key_bytes, false, NULL, 0, item, NULL, call ? call->now_ms : 0);
}

/* Why this process could not attach. */
larder_status lard_unavailable(const larder *cache) {
    lard_map *map = __atomic_load_n(&cache->map, __ATOMIC_ACQUIRE);
    if (!map || map->poisoned) {
        return LARDER_DAMAGED;
    }
    return lard_load(&map->control->superseded) ? LARDER_SUPERSEDED : LARDER_NO_SLOT;
}

/* The map to change, or NULL. */
lard_map *lard_enter_to_write(larder *cache) {
    lard_map *map = lard_enter(cache);
    if (LARD_LIKELY(map != NULL)) {
        lard_look_at_path(cache, map);
        return lard_enter(cache);
    }
    return NULL;
}

larder_status larder_delete(larder *cache, const void *key, size_t key_bytes, const larder_call *call) {
    larder_status status = lard_check_key(cache, key, key_bytes);
    if (status != LARDER_OK) {
        return status;
    }
    lard_map *map = lard_enter_to_write(cache);
    if (!map) {
        map = lard_reachable(cache); /* emptying a slot needs no process slot */
    }
    if (!map) {
        return lard_unavailable(cache);
    }
    uint64_t epoch;
    lard_hash hash = lard_hash_key(map, key, key_bytes, false);
    lard_view view = lard_view_of(map, lard_hash_shard(map, &hash));
    if (!lard_shard_current(&view, &epoch)) {
        return LARDER_MISS;
    }
    lard_head head = {{0, 0}, 0};
    bool was_live = lard_index_delete(&view, &hash, key, key_bytes, false, lard_now(call), &head);
    if (head.value_bytes) {
        lard_large_drop(cache, map, &head);
    }
    lard_count(cache, LARD_STAT_deletes, was_live);
    return lard_outcome(map, was_live ? LARDER_OK : LARDER_MISS);
}

larder_status larder_increment(larder *cache, const void *key, size_t key_bytes, int64_t delta, int64_t initial,
                               int64_t ttl_ms, int64_t *result, const larder_call *call) {
    larder_status status = lard_check_key(cache, key, key_bytes);
    lard_draft draft = {.key = key, .key_bytes = key_bytes, .type = LARD_TYPE_COUNTER};
    if (status != LARDER_OK) {
        return status;
    }
    if (!lard_expiry_from_ttl(ttl_ms, lard_now(call), &draft.expiry_ms)) {
        return LARDER_INVALID;
    }
    lard_map *map = lard_enter_to_write(cache);
    if (!map) {
        return lard_unavailable(cache);
    }
    lard_hash hash = lard_hash_key(map, key, key_bytes, false);
    status = lard_increment(cache, map, &hash, &draft, delta, initial, call);
    if (status == LARDER_OK) {
        lard_count(cache, LARD_STAT_increments, 1);
        if (result) {
            *result = draft.number;
        }
    }
    return status;
}

larder_status larder_touch(larder *cache, const void *key, size_t key_bytes, int64_t ttl_ms,
                           const larder_call *call) {
    uint64_t expiry_ms;
    larder_status status = lard_check_key(cache, key, key_bytes);
    if (status != LARDER_OK) {
        return status;
    }
    if (ttl_ms < 0) {
        return larder_delete(cache, key, key_bytes, call);
    }
    if (!lard_expiry_from_ttl(ttl_ms, lard_now(call), &expiry_ms)) {
        return LARDER_INVALID;
    }
    lard_map *map = lard_enter_to_write(cache);
    if (!map) {
        return lard_unavailable(cache);
    }
    lard_hash hash = lard_hash_key(map, key, key_bytes, false);
    lard_head head = {{0, 0}, 0};
    status = lard_touch(cache, map, &hash, key, key_bytes, false, expiry_ms, &head, call);
    if (status == LARDER_OK && head.value_bytes) {
        lard_large_touch(cache, map, &head, expiry_ms);
    }
    return status;
}

larder_status larder_clear(larder *cache) {
    if (!cache) {
        return LARDER_INVALID;
    }
    lard_map *map = lard_enter_to_write(cache);
    if (!map) {
        return lard_unavailable(cache);
    }
    uint32_t epoch = lard_load(&map->control->clear_epoch);
    uint32_t next;
    do {
        next = epoch + 1 ? epoch + 1 : 1; /* 0 is no epoch */
    } while (!lard_cas32(&map->control->clear_epoch, &epoch, next));
    return lard_outcome(map, LARDER_OK);
}

larder_status larder_prune(larder *cache, uint64_t *dropped, const larder_call *call) {
    uint64_t sum = 0;
    larder_status result = LARDER_OK;
    if (!cache) {
        return LARDER_INVALID;
    }
    lard_map *map = lard_enter(cache);
    if (!map) {
        return lard_unavailable(cache);
    }
    for (uint32_t s = 0; s < map->super.shard_count; s++) {
        lard_view view = lard_view_of(map, s);
        larder_status status = lard_shard_lock(cache, &view, call);
        if (status != LARDER_OK) {
            result = status;
            continue;
        }
        sum += lard_evict_prune(cache, &view, lard_now(call));
        lard_shard_unlock(&view);
    }
    if (dropped) {
        *dropped = sum;
    }
    return result;
}
