/*
 * hash.h — hashes a key with SipHash-1-3, and derives its shard, buckets and fingerprint. Inlined.
 *
 * Keys come from users: without a keyed hash they could choose keys that all fall into one bucket. Pure; takes no
 * lock. hash.c has the same out of line.
 */
#ifndef LARD_HASH_H
#define LARD_HASH_H

#include "base/siphash13.h"
#include "base/types.h"

typedef struct {
    uint64_t full;
    uint32_t first, second; /* bucket choices, before the mapping to a bucket number */
    uint32_t fingerprint;
} lard_hash;

static inline uint64_t lard_hash_mix(uint64_t x) { /* finalizer of MurmurHash3 (Appleby, public domain) */
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ (x >> 33);
}

/* Decides the shard of a chunk. The chunks of a group share a shard. The first group is in the shard of the
 * value's key, so that it is stored and evicted with its head; each further group is in the next shard. */
static inline uint64_t lard_hash_chunk_shard(const void *key, size_t bytes) {
    lard_chunk_key words = {{0, 0}, 0};
    memcpy(&words, key, bytes < sizeof words ? bytes : sizeof words);
    return (words.id[1] >> LARD_SHARD_SHIFT) + words.number / LARD_CHUNK_GROUP;
}

static inline lard_hash lard_hash_inline(const uint64_t seed[2], const void *key, size_t bytes, uint64_t tail,
                                         bool is_chunk) {
    lard_hash hash;
    hash.full = lard_siphash13_inline(seed, key, bytes, tail);
    if (is_chunk) {
        hash.full = lard_hash_mix(hash.full); /* chunks have a key space of their own */
        hash.full = hash.full << 8 >> 8 | lard_hash_chunk_shard(key, bytes) << LARD_SHARD_SHIFT;
    }
    hash.first = (uint32_t)hash.full;
    hash.second = (uint32_t)((hash.full * 0x9e3779b97f4a7c15ull) >> 32);
    hash.fingerprint = (uint32_t)(hash.full >> 32) & 0xffff;
    return hash;
}

/* The same out of line. */
lard_hash lard_hash_key(const lard_map *map, const void *key, size_t bytes, bool is_chunk);

static inline uint32_t lard_hash_shard(const lard_map *map, const lard_hash *hash) {
    return (uint32_t)(hash->full >> LARD_SHARD_SHIFT) & map->shard_mask;
}

#endif
