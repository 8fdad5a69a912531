/*
 * cache.c — the operations of larder.h: arguments are checked here, the rest is
 * the other files' work. larder.h has the contracts.
 */
#include "internal.h"

size_t lard_max_value(const lard_map *map) {
    uint64_t capacity =
        (uint64_t)map->super.shard_count * map->super.segments_per_shard * map->super.segment_bytes;
    return capacity / 8 < LARDER_MAX_VALUE ? capacity / 8 : LARDER_MAX_VALUE;
}

size_t larder_max_value(const larder *cache) {
    lard_map *map = __atomic_load_n(&cache->map, __ATOMIC_ACQUIRE);
    return map ? lard_max_value(map) : 0;
}

/* Why this process could not attach. */
larder_status lard_unavailable(const larder *cache) {
    lard_map *map = __atomic_load_n(&cache->map, __ATOMIC_ACQUIRE);
    larder_status failure = cache->failure.status;
    if (map && map->poisoned) {
        return LARDER_DAMAGED;
    }
    if (map && lard_load(&map->control->superseded)) {
        return LARDER_SUPERSEDED;
    }
    return failure ? failure : LARDER_LOCKED; /* none: another thread is at it */
}

#define STORES_PER_LOOK 64 /* under a clock that stands still */

/* Whether another store has just seen the clock show the same. */
static bool shown_before(larder *cache, int64_t now_ms) {
    uint32_t count = __atomic_load_n(&cache->store_count, __ATOMIC_RELAXED);
    bool same = now_ms && now_ms == __atomic_load_n(&cache->store_ms, __ATOMIC_RELAXED) && count < STORES_PER_LOOK;
    __atomic_store_n(&cache->store_count, same ? count + 1 : 0, __ATOMIC_RELAXED);
    if (!same) {
        __atomic_store_n(&cache->store_ms, now_ms, __ATOMIC_RELAXED);
    }
    return same;
}

static inline lard_map *look_and_enter(larder *cache) {
    lard_map *map = lard_enter(cache);
    if (LARD_LIKELY(map != NULL)) {
        lard_look_at_path(cache, map);
        return lard_enter(cache);
    }
    return NULL;
}

lard_map *lard_enter_to_write(larder *cache, int64_t now_ms) {
    return shown_before(cache, now_ms) ? lard_enter(cache) : look_and_enter(cache);
}

static inline larder_status delete_in(larder *cache, lard_map *map, const void *key, size_t key_bytes,
                                      const larder_call *call) {
    lard_hash hash = lard_hash_key(map, key, key_bytes, false);
    bool was_live = lard_drop(cache, map, &hash, key, key_bytes, lard_now(call));
    lard_count(cache, LARD_STAT_deletes, was_live);
    return lard_outcome(map, was_live ? LARDER_OK : LARDER_MISS);
}

/* Emptying a slot of the index needs no process slot. */
static __attribute__((noinline)) larder_status delete_unattached(larder *cache, const void *key, size_t key_bytes,
                                                                 const larder_call *call) {
    lard_map *map = lard_reachable(cache);
    if (!map) {
        return lard_pending_note(cache, key, key_bytes) ? lard_unavailable(cache)
                                                        : larder_delete(cache, key, key_bytes, call);
    }
    larder_status status = delete_in(cache, map, key, key_bytes, call);
    return lard_file_mark_dirty(map) == LARDER_OK ? status : LARDER_DAMAGED;
}

larder_status larder_delete(larder *cache, const void *key, size_t key_bytes, const larder_call *call) {
    larder_status status = lard_check_key(cache, key, key_bytes, call);
    if (status != LARDER_OK) {
        return status;
    }
    lard_map *map = look_and_enter(cache);
    if (LARD_UNLIKELY(!map)) {
        return delete_unattached(cache, key, key_bytes, call);
    }
    return delete_in(cache, map, key, key_bytes, call);
}

larder_status larder_increment(larder *cache, const void *key, size_t key_bytes, int64_t delta, int64_t initial,
                               int64_t ttl_ms, int64_t *result, const larder_call *call) {
    larder_status status = lard_check_key(cache, key, key_bytes, call);
    lard_record_spec spec = {.key = key, .key_bytes = key_bytes, .type = LARD_TYPE_COUNTER};
    if (status != LARDER_OK) {
        return status;
    }
    if (!lard_expiry_from_ttl(ttl_ms, lard_now(call), &spec.expiry_ms)) {
        return LARDER_INVALID;
    }
    lard_map *map = look_and_enter(cache);
    if (!map) {
        return lard_unavailable(cache);
    }
    lard_hash hash = lard_hash_key(map, key, key_bytes, false);
    status = lard_increment(cache, map, &hash, &spec, delta, initial, call);
    if (status == LARDER_OK) {
        lard_count(cache, LARD_STAT_increments, 1);
        if (result) {
            *result = spec.number;
        }
    }
    return status;
}

larder_status larder_touch(larder *cache, const void *key, size_t key_bytes, int64_t ttl_ms,
                           const larder_call *call) {
    uint64_t expiry_ms;
    larder_status status = lard_check_key(cache, key, key_bytes, call);
    if (status != LARDER_OK) {
        return status;
    }
    if (ttl_ms < 0) {
        return larder_delete(cache, key, key_bytes, call);
    }
    if (!lard_expiry_from_ttl(ttl_ms, lard_now(call), &expiry_ms)) {
        return LARDER_INVALID;
    }
    lard_map *map = look_and_enter(cache);
    if (!map) {
        return lard_unavailable(cache);
    }
    lard_hash hash = lard_hash_key(map, key, key_bytes, false);
    lard_head head = {{0, 0}, 0, 0};
    status = lard_touch(cache, map, &hash, key, key_bytes, false, expiry_ms, &head, call);
    if (status == LARDER_OK && head.value_bytes) {
        status = lard_large_touch(cache, map, &head, expiry_ms);
    }
    return status;
}

void lard_clear(lard_map *map) {
    uint32_t epoch = lard_load(&map->control->clear_epoch);
    uint32_t next;
    do {
        next = epoch + 1 ? epoch + 1 : 1; /* 0 is no epoch */
    } while (!lard_cas32(&map->control->clear_epoch, &epoch, next));
}

larder_status larder_clear(larder *cache) {
    if (!cache) {
        return LARDER_INVALID;
    }
    lard_map *map = look_and_enter(cache);
    if (!map) {
        return lard_pending_note(cache, NULL, 0) ? lard_unavailable(cache) : larder_clear(cache);
    }
    lard_clear(map);
    return lard_outcome(map, LARDER_OK);
}

#define BUCKETS_A_TURN                                                                                    \
    256u              /* looked at before others may have the lock: some 2,000 records, not a millisecond \
                       */
#define MOST_PASSES 4 /* through a shard, while items move to where the pass has been */

/* Drops what has expired in a shard, in turns; again where items moved to buckets it had been to. */
static larder_status prune_shard(larder *cache, lard_view *view, uint64_t *dropped, const larder_call *call) {
    uint32_t next = 0, moves_down = 0;
    for (unsigned pass = 0; pass < MOST_PASSES;) {
        larder_status status = lard_shard_lock(cache, view, call);
        if (status != LARDER_OK) {
            return status;
        }
        moves_down = next ? moves_down : lard_load(&view->head->moves_down);
        *dropped += lard_pin_prune(cache, view, &next, BUCKETS_A_TURN, lard_now(call));
        pass += next == 0;
        bool done = next == 0 && lard_load(&view->head->moves_down) == moves_down;
        lard_shard_end_turn(view);
        if (done) {
            break;
        }
    }
    return LARDER_OK;
}

larder_status larder_prune(larder *cache, uint64_t *dropped, const larder_call *call) {
    uint64_t sum = 0;
    larder_status result = LARDER_OK;
    if (!cache || !lard_call_known(call)) {
        return LARDER_INVALID;
    }
    lard_map *map = lard_enter(cache);
    if (!map) {
        return lard_unavailable(cache);
    }
    for (uint32_t s = 0; s < map->super.shard_count; s++) {
        lard_view view = lard_view_of(map, s);
        larder_status status = prune_shard(cache, &view, &sum, call);
        result = status == LARDER_OK ? result : status;
    }
    if (dropped) {
        *dropped = sum;
    }
    return lard_outcome(map, result);
}
