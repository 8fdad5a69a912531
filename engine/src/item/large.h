/*
 * large.h — stores, reads, touches and drops values in chunks.
 */
#ifndef LARD_LARGE_H
#define LARD_LARGE_H

#include "base/key.h"
#include "item/lookup.h"
#include "segment/record.h"

size_t lard_large_chunk_bytes(const lard_map *map);
/* Copies the key's large value, whose head was found, or only looks for all chunks if `room` is NULL. MISS if one
 * is missing; BUFFER_TOO_SMALL. */
larder_status lard_large_read(lard_core *cache, lard_map *map, const lard_key *key, const lard_hit *found,
                              lard_room *room);
/* Are all chunks there? Unlike a read, it leaves them as old as they were. */
bool lard_large_is_whole(lard_core *cache, lard_map *map, const lard_head *head);
/* Writes the chunks of spec->value; the caller publishes *head. */
larder_status lard_large_write(lard_core *cache, lard_map *map, const lard_key *key, const lard_record_spec *spec,
                               lard_head *head, const larder_call *call);
/* Gives each chunk at least this expiry. OK; MISS: a chunk was evicted, or dropped with a replaced value; or the
 * first error of a chunk. */
larder_status lard_large_touch(lard_core *cache, lard_map *map, const lard_head *head, uint64_t expiry_ms);
void lard_large_drop(lard_map *map, const lard_head *head);

#endif
