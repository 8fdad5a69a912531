/*
 * match.h — walks the slots that have a key's fingerprint; all lookups use it.
 *
 * Inlined together with the test of a slot, so that each lookup is one loop. No lock is assumed.
 */
#ifndef LARD_MATCH_H
#define LARD_MATCH_H

#include "base/key.h"
#include "base/reads.h"
#include "index/bucket.h"
#include "index/probe.h"
#include "segment/record.h"

typedef struct {
    lard_u64 *slot; /* NULL: not found */
    uint64_t value;
    uint16_t *reads; /* of the slot's bucket */
} lard_found;

typedef bool lard_match_test(const lard_view *view, const lard_u64 *slot, uint64_t value, const void *context);

/* The first slot of the two buckets that names an item, has the fingerprint and passes the test. */
LARD_INLINE lard_found lard_match_first(const lard_view *view, const lard_buckets *pair, uint32_t fingerprint,
                                        lard_match_test *passes, const void *context) {
    for (unsigned mask = lard_probe(pair->at[0], pair->at[1], fingerprint); mask; mask &= mask - 1) {
        lard_u64 *slot = lard_probe_slot(pair->at[0], pair->at[1], mask);
        uint64_t value = lard_load_acquire(slot);
        if (LARD_LIKELY(LARD_SLOT_OFFSET(value) && LARD_SLOT_FINGERPRINT(value) == fingerprint) &&
            passes(view, slot, value, context)) {
            uint32_t number = pair->number[!lard_probe_is_first(mask)];
            return (lard_found){slot, value, lard_reads_at(view->map, view->number, number)};
        }
    }
    return (lard_found){NULL, 0, NULL};
}

/* Does the slot's value name the key's record? Fills *info. */
LARD_INLINE bool lard_match_key(const lard_view *view, uint64_t value, const lard_key *key,
                                lard_record_info *info) {
    uint64_t offset = LARD_SLOT_OFFSET(value);
    return offset && LARD_SLOT_FINGERPRINT(value) == key->hash.fingerprint &&
           lard_record_of_slot(view, value, info) && lard_record_is_key(view, offset, info, key);
}

#endif
