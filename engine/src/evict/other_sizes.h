/*
 * other_sizes.h — shadow caches that stand for caches of half, twice and four times the size, and count how many
 * misses those would have.
 *
 * A larger cache is simulated by a sample of fewer keys: a shadow cache that sees half of the keys, with room for
 * as many as one that sees all, stands for a cache of twice the size. The gets of the same keys that the shadow
 * cache of this size and configuration missed (steer.c) are counted, too. So both are compared over the same gets,
 * and keys that are read very often, which decide how many gets a sample has, hit in both.
 *
 * Nothing is decided by these counts. They are in the hints: any content is valid.
 */
#ifndef LARD_OTHER_SIZES_H
#define LARD_OTHER_SIZES_H

#include "base/reads.h"
#include "evict/simulate.h"

typedef struct { /* the counts of all shards that simulate other sizes */
    uint64_t gets, stored, here, there;
    uint64_t length, capacity; /* keys in the shadow caches, and those that fit */
    bool was_full;             /* in most shards */
    double variance;           /* of (there - here) / misses */
} lard_other_size_sum;

/* Those of a shard; NULL: it has none. They are before the marks of the shard's segments. */
static inline lard_other_sizes *lard_other_sizes_of(const lard_map *map, uint32_t shard) {
    uint8_t *marks = lard_reads_young(map, &map->dircache[shard]);
    return shard < map->other_shards ? (lard_other_sizes *)(marks - sizeof(lard_other_sizes)) : NULL;
}

/* The other size, in per cent of the file's. */
uint32_t lard_other_sizes_per_cent(unsigned other);

/* True if a key of the shard's sample is also in the sample of that size. */
static inline bool lard_other_sizes_sees(unsigned other, uint32_t key, uint32_t sampled) {
    return key < sampled >> other;
}

/* The keys that fit into its shadow cache, if the one of this size has room for `capacity`. */
static inline uint32_t lard_other_sizes_capacity(unsigned other, uint32_t capacity) {
    return other == 0 ? capacity / 2 : capacity;
}

/* Shows it a get of a key, or a set that found no item. `missed`: so did the shadow cache of this size. Under the
 * shard's lock. */
void lard_other_sizes_show(lard_other_size *size, const lard_dimensions *has, uint32_t key, bool is_get,
                           bool missed);
/* Adds up the counts of all shards that have some. Takes no lock. */
lard_other_size_sum lard_other_sizes_total(const lard_map *map, unsigned other);
/* The misses that the sums are compared with: those of the cache itself if they are more than the simulated ones,
 * because items had expired or were deleted. */
uint64_t lard_other_sizes_misses(const lard_other_size_sum *sum);

#endif
