/*
 * belief.h — which records a handle believes: those that its own configuration wrote.
 *
 * A record carries the row of its writer's configuration in the table of the control page. The row of a
 * configuration changes only when the table overflows, and that ends the clear epoch. So a handle keeps the number
 * of its row, the map and the clear epoch. In another map or epoch it looks for its row again.
 * docs/adr/0035-configurations.md has the reasons. No lock is assumed, but for lard_belief_adopt.
 */
#ifndef LARD_BELIEF_H
#define LARD_BELIEF_H

#include "base/types.h"

#define LARD_ROW_NONE LARD_CONFIGURATIONS       /* all rows are taken: the handle believes and stores nothing */
#define LARD_ROW_ANY (LARD_CONFIGURATIONS + 1u) /* the call takes records of each configuration */

/* For a call that takes records of each configuration, as a listing does. */
extern lard_belief lard_belief_any;

/* Finds or takes the row of the configuration. NONE: all rows are taken, or the epoch has ended. */
unsigned lard_belief_renew(lard_belief *belief, lard_map *map, uint32_t clear_epoch);

/* Where a row was found: the map and its clear epoch. Another file may have the same epoch. */
static inline uint64_t lard_belief_place(const lard_map *map, uint32_t clear_epoch) {
    return ((uint64_t)map->number << 32 | clear_epoch) & ((1ull << LARD_CONFIGURATION_SHIFT) - 1);
}

/* True if the row was found in this map, in this epoch of a shard: then *row has it. */
static inline bool lard_belief_knows(const lard_belief *belief, const lard_map *map, uint64_t epoch,
                                     unsigned *row) {
    uint64_t word = __atomic_load_n(&belief->word, __ATOMIC_RELAXED);
    *row = (unsigned)(word >> LARD_CONFIGURATION_SHIFT);
    return LARD_LIKELY(
        (word ^ lard_belief_place(map, LARD_EPOCH_CLEAR(epoch))) << (64 - LARD_CONFIGURATION_SHIFT) == 0);
}

/* The row of the configuration in this epoch of a shard; `belief` NULL: that of no configuration. */
static inline unsigned lard_belief_row(lard_belief *belief, lard_map *map, uint64_t epoch) {
    unsigned row = 0;
    if (belief && !lard_belief_knows(belief, map, epoch, &row)) {
        row = lard_belief_renew(belief, map, LARD_EPOCH_CLEAR(epoch));
    }
    return row;
}

/* The row as it is now, which it looks for again. */
static inline unsigned lard_belief_row_now(lard_belief *belief, lard_map *map) {
    return belief ? lard_belief_renew(belief, map, lard_load(&map->control->clear_epoch)) : 0;
}

/* True if the record with this second word, which was found in this epoch of a shard, is believed. */
static inline bool lard_belief_accepts(lard_belief *belief, lard_map *map, uint64_t epoch, uint64_t word1) {
    unsigned row = lard_belief_row(belief, map, epoch);
    return row == LARD_WORD1_CONFIGURATION(word1) || LARD_UNLIKELY(row == LARD_ROW_ANY);
}

/* The word that marks a row as that of the configuration. It differs between files, and from that of any other
 * digest in two bits at least, so a flipped bit makes no other configuration of it. */
uint64_t lard_belief_mark(const lard_belief *belief, const lard_map *map);

/* How many rows are taken. */
unsigned lard_belief_rows(const lard_map *map);

/* Takes a row for a process that begins to use the file. If all are taken, clears the file and frees them first.
 * The opener's lock and the fork lock are held. */
void lard_belief_adopt(lard_belief *belief, lard_map *map);

#endif
