/*
 * dead.h — counts the bytes of a segment that chunks of dropped values take. Segments with many go first.
 *
 * The counts are in the hints (file/hints.h draws them): advice, which may be wrong. Other records are not
 * counted: only chunks are so many in a segment that it becomes all dead at once.
 */
#ifndef LARD_DEAD_H
#define LARD_DEAD_H

#include "base/reads.h"
#include "base/types.h"

static inline uint32_t *lard_dead_in(const lard_map *map, uint32_t shard, uint32_t segment) {
    const lard_dircache *copy = &map->dircache[shard];
    uint32_t *young = (uint32_t *)lard_reads_young(map, copy);
    return young + (map->super.segments_per_shard + 31) / 32 + segment;
}

static inline void lard_dead_add(const lard_map *map, uint32_t shard, uint32_t segment, uint64_t bytes) {
    uint32_t *word = lard_dead_in(map, shard, segment);
    __atomic_fetch_add(word, (uint32_t)bytes, __ATOMIC_RELAXED);
}

/* When the segment is opened. Under the lock. */
static inline void lard_dead_reset(const lard_map *map, uint32_t shard, uint32_t segment) {
    uint32_t *word = lard_dead_in(map, shard, segment);
    __atomic_store_n(word, 0, __ATOMIC_RELAXED);
}

/* From how many bytes on a segment counts as mostly dead. */
static inline uint32_t lard_dead_most(const lard_map *map) { return (uint32_t)(map->super.segment_bytes / 4 * 3); }

static inline bool lard_dead_is_most(const lard_map *map, uint32_t shard, uint32_t segment) {
    return __atomic_load_n(lard_dead_in(map, shard, segment), __ATOMIC_RELAXED) >= lard_dead_most(map);
}

#endif
