/*
 * reads.h — counts how often items were read, which decides what is evicted.
 *
 * The counts are in the hints (file/hints.h draws them), not in the cache file. A bucket of the index has a word
 * of 16 bits there, two for each slot: 3 at most. Words are stored without a lock, and two threads may lose
 * each other's change: it is advice. Nothing depends on it but the hit ratio.
 *
 * Reads of items in *young* segments do not count: those that the small queue opened last (segment.c). What is
 * read soon after it was stored is not yet known to be worth keeping.
 */
#ifndef LARD_READS_H
#define LARD_READS_H

#include "base/shared.h"
#include "base/types.h"

#define LARD_READS_MOST 3u

/* An ordinary load costs no instruction of its own. Whether it finds the old mask or a new one does not matter. */
static inline uint32_t lard_reads_mask(const lard_map *map) {
#ifdef LARD_SINGLE_WORDS
    return __atomic_load_n(&map->reads_mask, __ATOMIC_RELAXED);
#else
    return map->reads_mask;
#endif
}

/* The hints of the shard whose directory cache this is. They change once, when the process takes them. */
static inline lard_shard_hints *lard_reads_hints(const lard_dircache *copy) {
#ifdef LARD_SINGLE_WORDS
    return __atomic_load_n(&copy->hints, __ATOMIC_ACQUIRE);
#else
    return copy->hints;
#endif
}

/* The word of a bucket of the shard whose directory cache this is. Buckets of high numbers share the words of
 * others while there are fewer words than buckets. */
static inline uint16_t *lard_reads_in(const lard_map *map, const lard_dircache *copy, uint32_t bucket) {
    return &lard_reads_hints(copy)->reads[bucket & lard_reads_mask(map)];
}

static inline uint16_t *lard_reads_at(const lard_map *map, uint32_t shard, uint32_t bucket) {
    return lard_reads_in(map, &map->dircache[shard], bucket);
}

/* Twice the number of the slot in its bucket, which is a cache line. */
static inline unsigned lard_reads_shift(const lard_u64 *slot) { return (unsigned)((uintptr_t)slot >> 2) & 14; }

static inline unsigned lard_reads_word(const uint16_t *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }

static inline unsigned lard_reads_of(const uint16_t *word, const lard_u64 *slot) {
    return lard_reads_word(word) >> lard_reads_shift(slot) & LARD_READS_MOST;
}

static inline void lard_reads_set(uint16_t *word, const lard_u64 *slot, unsigned reads) {
    unsigned shift = lard_reads_shift(slot), others = lard_reads_word(word) & ~(LARD_READS_MOST << shift);
    __atomic_store_n(word, (uint16_t)(others | reads << shift), __ATOMIC_RELAXED);
}

/* A bit for each segment of the shard. */
static inline uint8_t *lard_reads_young(const lard_map *map, const lard_dircache *copy) {
    return (uint8_t *)lard_reads_hints(copy) - map->segment_hints;
}

static inline bool lard_reads_is_young(const lard_map *map, const lard_dircache *copy, uint64_t offset) {
    uint64_t inside = offset - map->super.data_offset, segment = inside >> map->segment_shift;
    return inside < map->data_bytes &&
           (__atomic_load_n(&lard_reads_young(map, copy)[segment / 8], __ATOMIC_RELAXED) >> (segment & 7) & 1);
}

/* Under the lock. */
static inline void lard_reads_set_young(const lard_map *map, const lard_dircache *copy, uint32_t segment,
                                        bool is_young) {
    uint8_t *byte = &lard_reads_young(map, copy)[segment / 8];
    unsigned others = __atomic_load_n(byte, __ATOMIC_RELAXED) & ~(1u << (segment & 7));
    __atomic_store_n(byte, (uint8_t)(others | (unsigned)is_young << (segment & 7)), __ATOMIC_RELAXED);
}

/* The count after one more read, which counts two: an item that was read once stays twice as long. */
static inline unsigned lard_reads_more(unsigned reads) { return reads + 2 - (reads >> 1); }

/* Counts a read of the slot's item, whose record is at `offset`. */
static inline void lard_reads_raise(const lard_map *map, const lard_dircache *copy, uint16_t *word,
                                    const lard_u64 *slot, uint64_t offset) {
    unsigned shift = lard_reads_shift(slot), now = lard_reads_word(word), reads = now >> shift & LARD_READS_MOST;
    if (LARD_UNLIKELY(reads < LARD_READS_MOST) && !lard_reads_is_young(map, copy, offset)) {
        __atomic_store_n(word, (uint16_t)(now + ((lard_reads_more(reads) - reads) << shift)), __ATOMIC_RELAXED);
    }
}

#endif
