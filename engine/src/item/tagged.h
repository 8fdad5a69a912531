/*
 * tagged.h — stores items with tags, and deletes tags.
 */
#ifndef LARD_TAGGED_H
#define LARD_TAGGED_H

#include "segment/deletions.h"

larder_stamp lard_tagged_now(lard_map *map);
/* Gives an item's extension its tags and its stamp, and returns the stamp's origin. Repairs what of the tables
 * cannot be read, as the item could never be. */
uint64_t lard_tagged_extend(lard_core *cache, lard_map *map, const larder_extra *extra, lard_extension *extension,
                            const larder_call *call);
/* Deletes a tag. Takes a lock. */
void lard_tagged_delete(lard_core *cache, lard_map *map, uint64_t hash, const larder_call *call);
/* The same for a process without a process slot, which can take no lock: all items of the tag's shard that are as
 * old count as deleted, too. */
void lard_tagged_forget(lard_map *map, uint64_t hash);

#endif
