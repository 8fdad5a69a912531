/*
 * slot.h — makes the value of a slot, and changes a slot. Every change is a compare-and-swap, because a delete
 * takes no lock.
 */
#ifndef LARD_SLOT_H
#define LARD_SLOT_H

#include "base/types.h"

/* The value of a slot that names the record at `offset`. */
static inline uint64_t lard_slot_make(uint64_t offset, uint32_t fingerprint, unsigned frequency,
                                      uint64_t generation) {
    return (offset >> 3) | ((uint64_t)fingerprint << LARD_FINGERPRINT_SHIFT) |
           ((uint64_t)frequency << LARD_FREQUENCY_SHIFT) | (generation << LARD_GENERATION_SHIFT);
}

/* Replaces `value`, with any frequency, by `replacement`. True: this call did it. */
static inline bool lard_slot_replace(lard_u64 *slot, uint64_t value, uint64_t replacement) {
    uint64_t now = value;
    while (LARD_SLOT_SAME(now, value)) {
        if (lard_cas64(slot, &now, replacement)) {
            return true;
        }
    }
    return false;
}

/* Counts a read in the slot's frequency, up to 3. */
static inline void lard_slot_bump(lard_u64 *slot, uint64_t value) {
    if (LARD_UNLIKELY(LARD_SLOT_FREQUENCY(value) < 3)) {
        lard_cas64(slot, &value,
                   value + LARD_FREQUENCY_ONE); /* if this fails, another reader has probably counted */
    }
}

#endif
