/*
 * expiry.h — computes an expiry from a TTL, and changes the expiry of a record in place.
 */
#ifndef LARD_EXPIRY_H
#define LARD_EXPIRY_H

#include "base/key.h"

/* The time so long after another, the latest expiry at most. `ms` is 0 to LARDER_MAX_EXPIRY_MS. */
static inline int64_t lard_expiry_after(int64_t from_ms, int64_t ms) {
    return from_ms < LARDER_MAX_EXPIRY_MS - ms ? from_ms + ms : LARDER_MAX_EXPIRY_MS;
}
/* *expiry_ms is 0 (never) for a TTL of 0. False: the TTL is out of range. */
bool lard_expiry_from_ttl(int64_t ttl_ms, int64_t now_ms, uint64_t *expiry_ms);
/* Changes the expiry of the key's record. If that is the head of a large value, fills *head, else sets its
 * value_bytes to 0; `head` may be NULL. OK, MISS, BUSY, DAMAGED, or NOT_STORED: its record is extended
 * (extended.h). */
larder_status lard_expiry_set(lard_core *cache, lard_map *map, const lard_key *key, uint64_t expiry_ms,
                              lard_head *head, const larder_call *call);

#endif
