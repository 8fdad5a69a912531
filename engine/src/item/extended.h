/*
 * extended.h — extended records: a value with a time until which it is fresh, or with a lease.
 */
#ifndef LARD_EXTENDED_H
#define LARD_EXTENDED_H

#include "base/key.h"
#include "item/lookup.h"

/* Stores the value of `hit` and `item`, which lard_lookup found, with another extension, over the slot that was
 * found (NULL: where the key has no record); a placeholder if extension->kind is 0. NOT_STORED: it has changed;
 * VALUE_TOO_LARGE: value and extension need more than a record; or the error of a store. */
larder_status lard_extended_rewrite(lard_core *cache, lard_map *map, const lard_key *key, lard_hit *hit,
                                    lard_extension *extension, const larder_item *item, int64_t now_ms,
                                    const larder_call *call);
/* Gives a fresh value that has an extension another expiry; it stays stale as long as before, and *expiry_ms
 * becomes the end of that. If it is large, fills *head, else sets its value_bytes to 0. NOT_STORED: it has no
 * extension; OK, MISS, or the error of a store. */
larder_status lard_extended_touch(lard_core *cache, lard_map *map, const lard_key *key, uint64_t *expiry_ms,
                                  lard_head *head, const larder_call *call);
/* The expiry of the record of a value that expires at `expiry_ms` (0: never) and is then kept for `stale_ms`;
 * writes into *extension until when it is fresh. */
int64_t lard_extended_expiry(uint64_t expiry_ms, int64_t stale_ms, lard_extension *extension);

#endif
