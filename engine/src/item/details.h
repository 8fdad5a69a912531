/*
 * details.h — an item as people look at it: how old it is at most, how often it was read.
 */
#ifndef LARD_DETAILS_H
#define LARD_DETAILS_H

#include "item/lookup.h"

/* The key for an item of any configuration. Takes the hints of its shard: other processes may have counted reads
 * there. */
lard_key lard_details_key(lard_map *map, const void *key, size_t key_bytes);
/* Fills *details for the item that was found. Takes no lock, so the item may be another one by now. */
void lard_details_of(lard_map *map, const lard_key *key, const larder_item *item, const lard_hit *hit,
                     larder_details *details);
/* Finds the key's item, of any configuration, whole, fresh or stale. Not counted as a read. */
bool lard_details_find(lard_core *cache, lard_map *map, const void *key, size_t key_bytes, larder_details *details,
                       int64_t now_ms);
/* Finds the lease of the key, of any configuration; false: it has none, or its owner has died. */
bool lard_details_lease(lard_core *cache, lard_map *map, const void *key, size_t key_bytes, larder_leased *leased,
                        int64_t now_ms);

#endif
