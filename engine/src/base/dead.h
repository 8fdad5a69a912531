/*
 * dead.h — counts the bytes of a segment that dead records take: of keys that were overwritten, deleted or pruned.
 * Eviction empties segments for their dead bytes (evict/victim.c).
 *
 * The counts are in the hints (file/hints.h draws them): advice, which may be wrong. Two threads may lose each
 * other's change. Records that have expired are not counted until they are dropped.
 */
#ifndef LARD_DEAD_H
#define LARD_DEAD_H

#include "base/reads.h"
#include "base/types.h"

static inline uint32_t *lard_dead_in(const lard_map *map, uint32_t shard, uint32_t segment) {
    return (uint32_t *)(lard_reads_young(map, &map->dircache[shard]) + map->young_hints) + segment;
}

static inline void lard_dead_add(const lard_map *map, uint32_t shard, uint32_t segment, uint64_t bytes) {
    uint32_t *word = lard_dead_in(map, shard, segment);
    __atomic_store_n(word, __atomic_load_n(word, __ATOMIC_RELAXED) + (uint32_t)bytes, __ATOMIC_RELAXED);
}

/* When the segment is freed or opened. Under the lock. */
static inline void lard_dead_reset(const lard_map *map, uint32_t shard, uint32_t segment) {
    uint32_t *word = lard_dead_in(map, shard, segment);
    __atomic_store_n(word, 0, __ATOMIC_RELAXED);
}

#endif
