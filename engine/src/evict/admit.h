/*
 * admit.h — whether a shard has room for one more pinned record. Under the lock.
 */
#ifndef LARD_ADMIT_H
#define LARD_ADMIT_H

#include "base/hash.h"
#include "segment/record.h"

/* Is there room for a record that is to be pinned, in place of what its key has? Makes some where it can. */
bool lard_admit_pinned(larder *cache, lard_view *view, const lard_hash *hash, const lard_record_spec *spec,
                       int64_t now_ms);

#endif
