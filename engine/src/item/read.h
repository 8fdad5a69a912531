/*
 * read.h — reads a value of any length, without a lock.
 */
#ifndef LARD_READ_H
#define LARD_READ_H

#include "base/key.h"
#include "item/lookup.h"

/* As lard_lookup, but copies large values too, and makes more room if that is possible (`room` NULL: only finds
 * it). MISS, and the rest of the value is dropped, if a chunk is missing, also if `room` is NULL. */
larder_status lard_read(lard_core *cache, lard_map *map, const lard_key *key, const lard_place *place,
                        lard_room *room, larder_item *item, lard_hit *hit, int64_t now_ms);

/* Has the key a value that is whole and not stale? Drops one that is not. `item` may be NULL. */
bool lard_read_exists(lard_core *cache, lard_map *map, const lard_key *key, larder_item *item, int64_t now_ms);

#endif
