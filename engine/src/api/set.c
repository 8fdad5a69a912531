/*
 * set.c — larder_set and larder_set_multi.
 *
 * The buckets of a key are prefetched while its arguments are looked at. A batch overlaps the cache misses
 * of its stores.
 */
#include "api/request.h"
#include "base/hash.h"
#include "file/map.h"
#include "handle/enter.h"
#include "index/dircache.h"
#include "item/drop.h"
#include "item/put.h"
#include "item/write.h"
#include "segment/record.h"

/* The call with its time filled in, so that one store asks the clock once; the cheap one where nothing depends on
 * it. */
static larder_call timed(const larder_store *request, const larder_call *call) {
    larder_call known = call ? *call : (larder_call){0};
    if (known.now_ms == 0) {
        known.now_ms = request && (request->ttl_ms || request->mode) ? lard_clock_ms() : lard_clock_coarse_ms();
    }
    return known;
}

/* A key's hash in a map, taken before its store is looked at more closely. */
typedef struct {
    lard_map *map; /* NULL: not taken */
    lard_hash hash;
    lard_bucket *buckets[2];
} prefetched;

/* Has the buckets fetched that a store will want. */
LARD_INLINE void prefetch(larder *cache, const larder_store *request, prefetched *ahead) {
    ahead->map = NULL;
    if (LARD_LIKELY(request &&
                    lard_request_check_key(cache, request->key, request->key_bytes, NULL) == LARDER_OK)) {
        ahead->map = lard_enter(cache);
    }
    if (LARD_LIKELY(ahead->map != NULL)) {
        ahead->hash = lard_hash_inline(ahead->map->super.seed, request->key, request->key_bytes,
                                       lard_tail(request->key, request->key_bytes), false);
        lard_dircache_prefetch_buckets(ahead->map, &ahead->hash, ahead->buckets);
    }
}

/* A store of what has expired already. A set and a replace leave nothing under the key. An add has nothing to do:
 * a value that is there, or comes meanwhile, is another's. */
static __attribute__((noinline)) larder_status store_expired(larder *cache, lard_map *map, const lard_hash *hash,
                                                             const larder_store *request,
                                                             const larder_call *call) {
    if (request->mode == LARDER_ADD) {
        larder_status present = larder_exists(cache, request->key, request->key_bytes, NULL, call);
        return lard_map_outcome(map, present == LARDER_OK ? LARDER_NOT_STORED : LARDER_OK);
    }
    bool was_live = lard_drop(map, hash, request->key, request->key_bytes, call->now_ms);
    return lard_map_outcome(map, was_live || request->mode == LARDER_SET ? LARDER_OK : LARDER_NOT_STORED);
}

static larder_status set_prefetched(larder *cache, const larder_store *request, const larder_call *call,
                                    prefetched *ahead) {
    static const lard_condition conditions[] = {LARD_IF_ANY, LARD_IF_ABSENT, LARD_IF_PRESENT};
    lard_record_spec spec;
    lard_map *map;
    larder_call known = timed(request, call);
    lard_condition condition =
        request && request->mode <= LARDER_REPLACE ? conditions[request->mode] : LARD_IF_ANY;
    larder_status status = lard_request_begin_store(cache, request, condition, &known, &spec, &map);
    if (status != LARDER_OK) {
        return status;
    }
    if (LARD_UNLIKELY(map != ahead->map)) { /* attached anew meanwhile, to a file of another seed */
        ahead->hash = lard_hash_key(map, spec.key, spec.key_bytes, false);
    }
    return request->ttl_ms < 0 ? store_expired(cache, map, &ahead->hash, request, &known)
                               : lard_put(cache, map, &ahead->hash, &spec, condition, NULL, &known);
}

larder_status larder_set(larder *cache, const larder_store *request, const larder_call *call) {
    prefetched ahead;
    prefetch(cache, request, &ahead);
    return set_prefetched(cache, request, call, &ahead);
}

#define BATCH 16 /* stores whose cache misses overlap */

larder_status larder_set_multi(larder *cache, larder_store *stores, size_t count, size_t *stored,
                               const larder_call *call) {
    prefetched ahead[BATCH];
    larder_status first = LARDER_OK;
    size_t done = 0;
    if (!stores && count) {
        return LARDER_INVALID;
    }
    for (size_t from = 0; from < count; from += BATCH) {
        size_t batch = count - from < BATCH ? count - from : BATCH;
        for (size_t i = 0; i < batch; i++) {
            prefetch(cache, &stores[from + i], &ahead[i]);
        }
        for (size_t i = 0; i < batch; i++) {
            if (ahead[i].map) {
                lard_dircache_prefetch_record(ahead[i].map, &ahead[i].hash, ahead[i].buckets);
            }
        }
        for (size_t i = 0; i < batch; i++) {
            larder_status status = set_prefetched(cache, &stores[from + i], call, &ahead[i]);
            stores[from + i].status = status;
            done += status == LARDER_OK;
            first = first == LARDER_OK ? status : first;
        }
    }
    if (stored) {
        *stored = done;
    }
    return first;
}
