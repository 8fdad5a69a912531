/*
 * slot.h — changes of a slot: every one is a compare-and-swap, for a delete takes no lock.
 */
#ifndef LARD_SLOT_H
#define LARD_SLOT_H

#include "base/types.h"

/* Swaps `value` for `replacement`, whatever the frequency has become; true where this call did it. */
static inline bool lard_slot_replace(lard_u64 *slot, uint64_t value, uint64_t replacement) {
    uint64_t now = value;
    while (LARD_SLOT_SAME(now, value)) {
        if (lard_cas64(slot, &now, replacement)) {
            return true;
        }
    }
    return false;
}

/* Counts a read in the slot's frequency, until it is full. */
static inline void lard_slot_bump(lard_u64 *slot, uint64_t value) {
    if (LARD_UNLIKELY(LARD_SLOT_FREQUENCY(value) < 3)) {
        lard_cas64(slot, &value, value + LARD_FREQUENCY_ONE); /* a lost race is another reader's bump */
    }
}

#endif
