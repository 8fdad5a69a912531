/*
 * bucket.h — computes which two buckets a key may be in, and finds a bucket in memory.
 *
 * No lock is assumed: bucket count and directory are checked before they are used.
 */
#ifndef LARD_BUCKET_H
#define LARD_BUCKET_H

#include "base/hash.h"
#include "segment/directory.h"

static inline uint32_t lard_bucket_of(uint32_t hash, uint32_t count) {
    uint32_t power = 1u << (31 - __builtin_clz(count));
    uint32_t bucket = hash & (2 * power - 1);
    return bucket < count ? bucket : hash & (power - 1);
}

/* The bucket of a number below lard_bucket_count. NULL: the directory is damaged. */
static inline lard_bucket *lard_bucket_below_count(const lard_view *view, uint32_t number) {
    unsigned shift = view->map->index_shift;
    uint32_t page = number >> shift;
    size_t segment = lard_directory_segment(view, page);
    if (LARD_UNLIKELY(segment == LARD_NO_SEGMENT)) {
        return NULL;
    }
    return (lard_bucket *)(view->base + view->map->super.data_offset) + (((segment - page) << shift) + number);
}

/* The bucket of any number. NULL: the directory is damaged, or too short. */
static inline lard_bucket *lard_bucket_at(const lard_view *view, uint32_t number) {
    if (LARD_UNLIKELY(number >> view->map->index_shift >= view->map->super.segments_per_shard)) {
        return NULL;
    }
    return lard_bucket_below_count(view, number);
}

/* 0: there is no index, or the number is damaged: the directory cannot hold as many. */
static inline uint32_t lard_bucket_count(const lard_view *view) {
    uint32_t count = lard_load_acquire(&view->header->bucket_count);
    uint64_t most = (uint64_t)view->map->super.segments_per_shard << view->map->index_shift;
    return LARD_LIKELY(count <= most) ? count : 0;
}

typedef struct { /* the two that a key may be in */
    lard_bucket *at[2];
    uint32_t number[2];
    uint64_t epoch; /* of the shard when there were `count` buckets; 0: the buckets are not known */
    uint32_t count;
} lard_buckets;

/* The buckets of a key in an index of `count`. False: there is no index, or it is damaged. */
static inline bool lard_bucket_pair(const lard_view *view, const lard_hash *hash, uint32_t count,
                                    lard_buckets *pair) {
    pair->epoch = 0;
    if (LARD_UNLIKELY(count == 0)) {
        return false;
    }
    pair->number[0] = lard_bucket_of(hash->first, count);
    pair->number[1] = lard_bucket_of(hash->second, count);
    pair->at[0] = lard_bucket_below_count(view, pair->number[0]);
    pair->at[1] = lard_bucket_below_count(view, pair->number[1]);
    return pair->at[0] && pair->at[1];
}

/* Finds the key's buckets again, unless *pair has them. False: there is no index, or it is damaged. What it found
 * without the lock is not trusted under the lock, but renewed: that is quick if nothing has changed. */
static inline bool lard_bucket_renew(const lard_view *view, const lard_hash *hash, lard_buckets *pair) {
    uint64_t epoch = lard_load_acquire(&view->header->epoch);
    uint32_t count = lard_load_acquire(&view->header->bucket_count);
    if (LARD_LIKELY(pair->epoch == epoch && pair->count == count && epoch)) {
        return true;
    }
    count = lard_bucket_count(view);
    if (!lard_bucket_pair(view, hash, count, pair)) {
        return false;
    }
    pair->epoch = epoch;
    pair->count = count;
    return true;
}

#endif
