/*
 * stamp.h — the number of deletions of tags, in the control page (docs/adr/0032-tags.md).
 *
 * It is sealed, as the other stamps outside records are: with a lower number a deletion would have an earlier
 * stamp than the items that it deletes. Takes no lock.
 */
#ifndef LARD_STAMP_H
#define LARD_STAMP_H

#include "base/types.h"

#define LARD_STAMP_DAMAGED UINT64_MAX /* of a sealed word */

/* Each flipped bit of the word is detected, as by lard_record_seal_of: the factor has no 16 equal bits in a row.
 */
static inline uint64_t lard_stamp_sealed(uint64_t stamp) {
    stamp = stamp << LARD_STAMP_SEAL_BITS >> LARD_STAMP_SEAL_BITS;
    return stamp << LARD_STAMP_SEAL_BITS | stamp * LARD_SEAL_FACTOR >> (64 - LARD_STAMP_SEAL_BITS);
}

/* The stamp in a sealed word (0: it is 0), or DAMAGED. */
static inline uint64_t lard_stamp_unsealed(uint64_t word) {
    uint64_t stamp = word >> LARD_STAMP_SEAL_BITS;
    return word == lard_stamp_sealed(stamp) ? stamp : LARD_STAMP_DAMAGED;
}

/* True if a tag was ever deleted, or that is unknown. */
static inline bool lard_stamp_is_used(const lard_map *map) { return lard_load(&map->control->stamp) != 0; }

/* The number of deletions so far, or DAMAGED. */
static inline uint64_t lard_stamp_now(const lard_map *map) {
    return lard_stamp_unsealed(lard_load_acquire(&map->control->stamp));
}

/* Counts one more deletion, and returns its stamp. */
uint64_t lard_stamp_raise(lard_map *map);
/* If the number is damaged: clears the cache, because it is unknown which items have later stamps, and goes on
 * with a number that is later than all in the tables. */
void lard_stamp_repair(lard_map *map);

#endif
