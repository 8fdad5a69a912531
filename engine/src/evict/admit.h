/*
 * admit.h — whether a shard has room for one more pinned record. Under the lock.
 */
#ifndef LARD_ADMIT_H
#define LARD_ADMIT_H

#include "base/hash.h"

/* Is there room for a record that is to be pinned, in place of what its key has? Makes some where it can. */
bool lard_admit_pinned(larder *cache, lard_view *view, const lard_key *key, uint64_t record_bytes, int64_t now_ms);

#endif
