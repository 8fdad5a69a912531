/*
 * expiry.h — the time at which a record expires, changed in place.
 */
#ifndef LARD_EXPIRY_H
#define LARD_EXPIRY_H

#include "base/hash.h"

/* *expiry_ms is 0 for a TTL of 0, which is none. False where the TTL is out of range. */
bool lard_expiry_from_ttl(int64_t ttl_ms, int64_t now_ms, uint64_t *expiry_ms);
/* Gives a record another expiry; *head is filled where it is that of a large value. */
larder_status lard_expiry_set(larder *cache, lard_map *map, const lard_key *key, uint64_t expiry_ms,
                              lard_head *head, const larder_call *call);

#endif
