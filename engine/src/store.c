/*
 * store.c — the storing operations of larder.h: set, its multi form, compare and swap.
 *
 * Arguments are checked here, long values cut (large.c), and a store that is
 * refused drops the key's old value. larder.h has the contracts.
 */
#include "internal.h"

#include <stdlib.h>

/* Refused, these drop the old value, for the caller has a newer one. The others would have left a value alone. */
static bool overwrites(lard_condition condition) {
    return condition == LARD_IF_ANY || condition == LARD_IF_PRESENT;
}

/* Stores a record under a condition, in chunks where it is long, and tidies up after it either way. */
larder_status lard_store_in(larder *cache, lard_map *map, const lard_hash *hash, lard_record_spec *spec,
                            lard_condition condition, const lard_expected *expected, const larder_call *call) {
    lard_head head = {{0, 0}, 0, 0}, replaced = {{0, 0}, 0, 0};
    larder_status status = LARDER_OK;
    larder_call blocking = {.now_ms = lard_now(call)};

    if (spec->value_bytes > lard_max_value(map)) {
        status = LARDER_VALUE_TOO_LARGE;
    } else if (spec->pin) { /* whole, so that no part of it can be missing */
        status = lard_write_pinned(cache, map, hash, spec, condition, expected, call, &replaced);
    } else {
        if (lard_record_bytes(spec->type, spec->key_bytes, spec->value_bytes) > map->record_limit) {
            if (call && (call->flags & LARDER_CALL_TRY)) {
                return LARDER_BUSY; /* many locks, one after the other, and a call that only tries waits for none
                                     */
            }
            call = &blocking;
            lard_evict_place_large(map, hash, spec);
            status = lard_large_write(cache, map, spec, &head, call);
            spec->type = LARD_TYPE_HEAD;
            spec->number = head.chunks;
            spec->value = &head;
            spec->value_bytes = sizeof head;
        }
        if (status == LARDER_OK) {
            status = lard_write(cache, map, hash, spec, condition, expected, call, &replaced);
        }
    }
    if (status == LARDER_BUSY && call && (call->flags & LARDER_CALL_TRY)) {
        return status;
    }
    if (status == LARDER_OK) {
        lard_count(cache, LARD_STAT_sets, 1);
        if (replaced.value_bytes) {
            lard_large_drop(cache, map, &replaced);
        }
        return status;
    }
    if (head.value_bytes) {
        lard_large_drop(cache, map, &head);
    }
    if (status != LARDER_NOT_STORED) {
        lard_count(cache, LARD_STAT_refused, 1);
        if (overwrites(condition)) {
            lard_drop(cache, map, hash, spec->key, spec->key_bytes, blocking.now_ms);
            lard_outcome(map, status); /* a fault is told to the others; the refusal is the answer */
        }
    }
    return status;
}

static larder_status begin_store(larder *cache, const larder_store *request, lard_condition condition,
                                 const larder_call *call, lard_record_spec *spec, lard_map **map) {
    larder_status status =
        request ? lard_check_key(cache, request->key, request->key_bytes, call) : LARDER_INVALID;
    if (status != LARDER_OK || (!request->value && request->value_bytes) || !lard_store_known(request)) {
        return status != LARDER_OK ? status : LARDER_INVALID;
    }
    *spec = (lard_record_spec){
        .key = request->key,
        .key_bytes = request->key_bytes,
        .value = request->value ? request->value : "",
        .value_bytes = request->value_bytes,
        .type = LARD_TYPE_PLAIN,
        .flags = request->flags,
        .pin = request->pin ? LARD_PINNED : 0,
    };
    if (request->ttl_ms >= 0 && !lard_expiry_from_ttl(request->ttl_ms, lard_now(call), &spec->expiry_ms)) {
        return LARDER_INVALID;
    }
    *map = lard_enter_to_write(cache, call ? call->now_ms : 0);
    if (*map) {
        return LARDER_OK;
    }
    lard_map *reachable = lard_reachable(cache);
    if (!reachable && overwrites(condition) && !lard_pending_note(cache, request->key, request->key_bytes)) {
        return begin_store(cache, request, condition, call, spec, map); /* attached meanwhile */
    }
    if (reachable && overwrites(condition)) {
        lard_hash hash = lard_hash_key(reachable, request->key, request->key_bytes, false);
        lard_drop(cache, reachable, &hash, request->key, request->key_bytes, lard_now(call));
        lard_outcome(reachable, LARDER_OK);
        lard_file_mark_dirty(reachable);
    }
    return lard_unavailable(cache);
}

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
    if (LARD_LIKELY(request && lard_check_key(cache, request->key, request->key_bytes, NULL) == LARDER_OK)) {
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
        return lard_outcome(map, present == LARDER_OK ? LARDER_NOT_STORED : LARDER_OK);
    }
    bool was_live = lard_drop(cache, map, hash, request->key, request->key_bytes, call->now_ms);
    return lard_outcome(map, was_live || request->mode == LARDER_SET ? LARDER_OK : LARDER_NOT_STORED);
}

static larder_status set_prefetched(larder *cache, const larder_store *request, const larder_call *call,
                                    prefetched *ahead) {
    static const lard_condition conditions[] = {LARD_IF_ANY, LARD_IF_ABSENT, LARD_IF_PRESENT};
    lard_record_spec spec;
    lard_map *map;
    larder_call known = timed(request, call);
    lard_condition condition =
        request && request->mode <= LARDER_REPLACE ? conditions[request->mode] : LARD_IF_ANY;
    larder_status status = begin_store(cache, request, condition, &known, &spec, &map);
    if (status != LARDER_OK) {
        return status;
    }
    if (LARD_UNLIKELY(map != ahead->map)) { /* attached anew meanwhile, to a file of another seed */
        ahead->hash = lard_hash_key(map, spec.key, spec.key_bytes, false);
    }
    return request->ttl_ms < 0 ? store_expired(cache, map, &ahead->hash, request, &known)
                               : lard_store_in(cache, map, &ahead->hash, &spec, condition, NULL, &known);
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

#define CAS_ATTEMPTS 64

static bool is_expected(const larder_store *request, const larder_item *item) {
    return item->flags == request->expected_flags &&
           (!request->expected_expires_at_ms || item->expires_at_ms == request->expected_expires_at_ms);
}

larder_status larder_cas(larder *cache, const larder_store *request, const void *expected, size_t expected_bytes,
                         const larder_call *call) {
    lard_record_spec spec;
    lard_map *map;
    larder_status status = begin_store(cache, request, LARD_IF_SLOT, call, &spec, &map);
    if (status != LARDER_OK || (!expected && expected_bytes) || request->ttl_ms < 0) {
        return status != LARDER_OK ? status : LARDER_INVALID;
    }
    char *current = malloc(expected_bytes + 1);
    if (!current) {
        return LARDER_NO_MEMORY;
    }
    lard_hash hash = lard_hash_key(map, spec.key, spec.key_bytes, false);
    for (int attempt = 0; attempt < CAS_ATTEMPTS; attempt++) {
        /* Compared without the lock; the swap then insists on the very slot that was compared, and on the expiry.
         */
        larder_item item;
        lard_hit hit;
        status = lard_read(cache, map, &hash, spec.key, spec.key_bytes, false, current, expected_bytes, &item,
                           &hit, call ? call->now_ms : 0);
        if (status == LARDER_MISS) {
            break;
        }
        if (status != LARDER_OK || item.size_bytes != expected_bytes || !is_expected(request, &item) ||
            (expected_bytes && __builtin_memcmp(current, expected, expected_bytes) != 0)) {
            status = LARDER_NOT_STORED;
            break;
        }
        if (item.is_counter) { /* changes in place, so its slot proves nothing: give it a slot of its own first */
            status = LARDER_NOT_STORED;
            lard_record_spec copy = {.key = spec.key,
                                     .key_bytes = spec.key_bytes,
                                     .value = current,
                                     .value_bytes = expected_bytes,
                                     .type = LARD_TYPE_PLAIN};
            larder_status pinned = lard_pin_counter(cache, map, &hash, &copy, call);
            if (pinned != LARDER_OK) {
                status = pinned;
                break;
            }
            continue;
        }
        lard_record_spec attempt_spec = spec;
        lard_expected found = {hit.slot_value, (uint64_t)request->expected_expires_at_ms};
        status = lard_store_in(cache, map, &hash, &attempt_spec, LARD_IF_SLOT, &found, call);
        if (status != LARDER_NOT_STORED) {
            break;
        }
    }
    free(current);
    return status;
}
