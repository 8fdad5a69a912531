/*
 * admit.h — decides whether a shard has room for one more pinned record. Under the lock.
 */
#ifndef LARD_ADMIT_H
#define LARD_ADMIT_H

#include "base/key.h"

/* Is there room for a pinned record, which replaces the key's present one? Drops expired items if it must. Grows
 * the index for a new key. */
bool lard_admit_pinned(lard_core *cache, lard_view *view, const lard_key *key, uint64_t record_bytes,
                       int64_t now_ms);

#endif
