/*
 * slot.h — makes the value of a slot, and changes a slot. Every change is a compare-and-swap, because a delete
 * takes no lock.
 */
#ifndef LARD_SLOT_H
#define LARD_SLOT_H

#include "base/types.h"

/* The value of a slot that names the record at `offset`. */
static inline uint64_t lard_slot_make(uint64_t offset, uint32_t fingerprint, uint64_t generation) {
    return (offset >> 3) | ((uint64_t)fingerprint << LARD_FINGERPRINT_SHIFT) |
           LARD_ORIGIN(offset, generation) << LARD_PARITY_SHIFT;
}

/* True: the slot held `value` and now holds `replacement`. */
static inline bool lard_slot_replace(lard_u64 *slot, uint64_t value, uint64_t replacement) {
    return lard_cas64(slot, &value, replacement);
}

#endif
