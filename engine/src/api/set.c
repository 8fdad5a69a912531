/*
 * set.c — larder_set and larder_set_multi.
 *
 * A key's buckets are prefetched as soon as its hash is known. A batch overlaps the cache misses of its stores.
 */
#include "api/request.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/key.h"
#include "file/map.h"
#include "handle/enter.h"
#include "index/dircache.h"
#include "item/drop.h"
#include "item/lease.h"
#include "item/put.h"
#include "item/tagged.h"
#include "item/write.h"
#include "usage/fold.h"
#include "usage/sampler.h"

#define TRY_LATE_MS 4000 /* after which a try call adds statistics, too */

/* A store whose arguments were checked. */
typedef struct {
    larder_status status; /* of its arguments */
    lard_map *map;        /* NULL: none is attached */
    lard_key key;
    lard_buckets buckets;
} prepared;

/* Checks the arguments and prefetches the key's buckets. */
LARD_INLINE void prepare(larder *cache, const larder_store *store, const larder_call *call, prepared *ahead) {
    ahead->map = NULL;
    ahead->status = lard_request_check_store(cache, store, call);
    if (LARD_LIKELY(ahead->status == LARDER_OK)) {
        ahead->map = lard_enter(cache->core);
    }
    if (LARD_LIKELY(ahead->map != NULL)) {
        uint64_t tail = lard_word_tail(store->key, store->key_bytes);
        ahead->key =
            (lard_key){.data = store->key,
                       .bytes = store->key_bytes,
                       .hash = lard_hash_inline(ahead->map->super.seed, store->key, store->key_bytes, tail, false),
                       .belief = cache->belief};
        lard_dircache_prefetch_buckets(ahead->map, &ahead->key.hash, &ahead->buckets);
    }
}

/* The call with its time filled in, so that a store reads the clock once. Reads the cheap clock if neither a TTL
 * nor a condition depends on the time. */
LARD_INLINE larder_call timed(const larder_store *store, const larder_call *call) {
    larder_call known = call ? *call : (larder_call){0};
    if (known.now_ms == 0) {
        known.now_ms = store->ttl_ms || store->mode ? lard_clock_ms() : lard_clock_coarse_ms();
    }
    return known;
}

/* A store whose TTL is negative: the item has expired already. A set and a replace leave the key absent. An add
 * changes nothing: a value that is present, or is stored meanwhile, belongs to another writer. */
static larder_status store_expired(larder *cache, lard_map *map, const lard_key *key, const larder_store *store,
                                   const larder_call *call) {
    if (store->mode == LARDER_ADD) {
        larder_status present = larder_exists(cache, store->key, store->key_bytes, NULL, call);
        return lard_map_outcome(map, present == LARDER_OK ? LARDER_NOT_STORED : LARDER_OK);
    }
    bool was_live = lard_drop(map, key, call->now_ms);
    return lard_map_outcome(map, was_live || store->mode == LARDER_SET ? LARDER_OK : LARDER_NOT_STORED);
}

/* The store of a value of now, with tags: was the cache cleared after its stamp was taken? */
static bool was_overtaken(lard_map *map, const larder_extra *extra, const lard_write_op *op) {
    return op->origin && !extra->stamp.origin && !extra->lease && op->origin != lard_tagged_now(map).origin;
}

/* Stores it again for each clear that comes between. */
static larder_status store_extended(larder *cache, lard_map *map, const lard_write_op *op,
                                    const larder_extra *extra, const larder_call *call) {
    larder_status status;
    lard_write_op one;
    do {
        lard_extension extension;
        one = *op;
        lard_request_extend(cache, map, extra, &one, &extension, call);
        status = extra->lease ? lard_lease_store(cache->core, map, &one, extra->lease->token, call)
                              : lard_put(cache->core, map, &one, call);
    } while (status == LARDER_NOT_STORED && was_overtaken(map, extra, &one));
    return status;
}

/* A store that has expired, or with store->extra: of a value that is kept when it is stale, has tags, or is
 * stored under a lease. */
static __attribute__((noinline)) larder_status store_specially(larder *cache, lard_map *map, lard_write_op *op,
                                                               const larder_store *store,
                                                               const larder_call *call) {
    const larder_extra *extra = store->extra;
    if (store->ttl_ms < 0) {
        return extra && extra->lease
                   ? lard_lease_end(cache->core, map, op->key, extra->lease->token, false, 0, call)
                   : store_expired(cache, map, op->key, store, call);
    }
    return store_extended(cache, map, op, extra, call);
}

/* A store that the sampler counts. It may wait for the disk, as stores do. A try call leaves that to others for
 * some seconds: its caller may hold a lock of its own, and calls larder_keep_usage without it. */
static __attribute__((noinline)) void sampled(lard_core *cache, const lard_key *key, size_t value_bytes,
                                              const larder_call *call) {
    lard_sampler_store(cache, key, value_bytes);
    if (lard_fold_is_due(cache, call->flags & LARDER_CALL_TRY ? TRY_LATE_MS : 0)) {
        lard_fold_unreported(cache);
    }
}

LARD_INLINE larder_status set_prepared(larder *cache, const larder_store *store, const larder_call *call,
                                       prepared *ahead) {
    lard_write_op op;
    if (LARD_UNLIKELY(ahead->status != LARDER_OK)) {
        return ahead->status;
    }
    larder_call known = timed(store, call);
    larder_status status = lard_request_op(store, known.now_ms, &op);
    if (LARD_UNLIKELY(status != LARDER_OK)) {
        return status;
    }
    lard_map *map = lard_request_enter(cache, store, op.condition, known.now_ms, &status);
    if (LARD_UNLIKELY(!map)) {
        return status;
    }
    if (LARD_UNLIKELY(map != ahead->map)) { /* the handle has attached to another file, which has another seed */
        ahead->key = lard_key_of(map, cache->belief, store->key, store->key_bytes);
        ahead->buckets.epoch = 0;
    }
    op.key = &ahead->key;
    op.buckets = ahead->buckets;
    status = LARD_UNLIKELY(store->extra || store->ttl_ms < 0) ? store_specially(cache, map, &op, store, &known)
                                                              : lard_put(cache->core, map, &op, &known);
    if (status == LARDER_OK && lard_sampler_is_store_due(cache->core, &ahead->key.hash)) {
        sampled(cache->core, &ahead->key, store->value_bytes, &known);
    }
    return status;
}

larder_status larder_set(larder *cache, const larder_store *store, const larder_call *call) {
    prepared ahead;
    prepare(cache, store, call, &ahead);
    return set_prepared(cache, store, call, &ahead);
}

#define BATCH 16 /* stores whose cache misses overlap */

larder_status larder_set_multi(larder *cache, larder_store *stores, size_t count, size_t *stored,
                               const larder_call *call) {
    prepared ahead[BATCH];
    larder_status first = LARDER_OK;
    size_t done = 0;
    if (!stores && count) {
        return LARDER_INVALID;
    }
    for (size_t from = 0; from < count; from += BATCH) {
        size_t batch = count - from < BATCH ? count - from : BATCH;
        for (size_t i = 0; i < batch; i++) {
            prepare(cache, &stores[from + i], call, &ahead[i]);
        }
        for (size_t i = 0; i < batch; i++) {
            if (ahead[i].map) {
                lard_dircache_prefetch_record(ahead[i].map, &ahead[i].key.hash, &ahead[i].buckets);
            }
        }
        for (size_t i = 0; i < batch; i++) {
            larder_status status = set_prepared(cache, &stores[from + i], call, &ahead[i]);
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
