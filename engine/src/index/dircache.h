/*
 * dircache.h — keeps this process's private copy of where each shard's buckets are.
 *
 * Without the copy a lookup would load the shard's header, then its directory: two loads that depend on each
 * other, from pages of the file that nothing else keeps cached. The copy is private, small and dense. It is valid
 * for one epoch of a shard. Within an epoch pages are only added and the count only grows, so an old copy finds
 * fewer items, but never wrong ones. A reader that compares the epochs before and after its read may trust what it
 * found. What it did not find it must look up again in the file.
 *
 * Read without a lock; one thread at a time renews a shard's copy (dircache.c).
 */
#ifndef LARD_DIRCACHE_H
#define LARD_DIRCACHE_H

#include "base/hash.h"
#include "base/reads.h"
#include "file/view.h"
#include "index/bucket.h"
#include "index/probe.h"
#include "segment/record.h"

void lard_dircache_renew(lard_map *map, const lard_view *view);

static inline uint32_t lard_dircache_count(uint64_t shape) { return (uint32_t)(shape >> 32); }

/* The number of a hash's bucket in an index of that shape. */
static inline uint32_t lard_dircache_number(uint64_t shape, uint32_t hash) {
    uint32_t count = lard_dircache_count(shape);
    uint32_t mask = (uint32_t)shape;
    uint32_t bucket = hash & mask;
    return bucket < count ? bucket : bucket & (mask >> 1);
}

/* The bucket of that number. */
static inline lard_bucket *lard_dircache_bucket(const lard_map *map, const lard_dircache *copy, uint32_t bucket) {
    uintptr_t page = __atomic_load_n(&copy->pages[bucket >> map->index_shift], __ATOMIC_RELAXED);
    return (lard_bucket *)(page + (uintptr_t)bucket * sizeof(lard_bucket));
}

/* The two buckets of a key. If their epoch is 0, they may be no addresses of memory; if it is not the shard's,
 * they may be the wrong ones. A shape is stored after its pages and before its epoch, and loaded in the opposite
 * order. */
LARD_INLINE void lard_dircache_pair(const lard_map *map, const lard_hash *hash, lard_buckets *pair) {
    const lard_dircache *copy = &map->dircache[lard_hash_shard(map, hash)];
    uint64_t epoch = __atomic_load_n(&copy->epoch, __ATOMIC_ACQUIRE);
    uint64_t shape = __atomic_load_n(&copy->shape, __ATOMIC_ACQUIRE);
    pair->number[0] = lard_dircache_number(shape, hash->first);
    pair->number[1] = lard_dircache_number(shape, hash->second);
    pair->at[0] = lard_dircache_bucket(map, copy, pair->number[0]);
    pair->at[1] = lard_dircache_bucket(map, copy, pair->number[1]);
    pair->count = lard_dircache_count(shape);
    pair->epoch = epoch;
}

LARD_INLINE void lard_dircache_prefetch_buckets(const lard_map *map, const lard_hash *hash, lard_buckets *pair) {
    lard_dircache_pair(map, hash, pair);
    __builtin_prefetch(pair->at[0]);
    __builtin_prefetch(pair->at[1]);
}

typedef struct {     /* a slot that seems to name a key's record: a hint, which a lookup checks */
    lard_u64 *slot;  /* NULL: none */
    uint16_t *reads; /* of its bucket */
    uint64_t epoch;  /* of the shard */
} lard_place;

/* Prefetches the record that the buckets seem to name. */
static inline lard_place lard_dircache_prefetch_record(lard_map *map, const lard_hash *hash,
                                                       const lard_buckets *pair) {
    unsigned mask = LARD_LIKELY(pair->epoch != 0) ? lard_probe(pair->at[0], pair->at[1], hash->fingerprint) : 0;
    if (!mask) {
        return (lard_place){NULL, NULL, 0};
    }
    lard_view view = lard_view_of(map, lard_hash_shard(map, hash));
    lard_u64 *slot = lard_probe_slot(pair->at[0], pair->at[1], mask);
    lard_record_prefetch(&view, LARD_SLOT_OFFSET(lard_load(slot)));
    uint32_t bucket = pair->number[!lard_probe_is_first(mask)];
    return (lard_place){slot, lard_reads_at(map, view.number, bucket), pair->epoch};
}

/* Renews a copy that is of another epoch or knows far fewer buckets. Without the lock: it may ask the system for
 * memory (file/hints.h). */
static inline void lard_dircache_keep_up(lard_map *map, const lard_view *view) {
    const lard_dircache *copy = &map->dircache[view->number];
    uint32_t count = lard_load(&view->header->bucket_count);
    uint32_t known = lard_dircache_count(__atomic_load_n(&copy->shape, __ATOMIC_RELAXED));
    if (LARD_UNLIKELY(__atomic_load_n(&copy->epoch, __ATOMIC_RELAXED) != lard_load(&view->header->epoch) ||
                      count - known > known / 16)) {
        lard_dircache_renew(map, view);
    }
}

#endif
