/*
 * index.h — from a key's hash to its slot.
 */
#ifndef LARD_INDEX_H
#define LARD_INDEX_H

#include "base/hash.h"
#include "index/match.h"

lard_found lard_index_find(const lard_view *view, const lard_key *key);
/* The first item with the key's fingerprint. Its record is not read, but prefetched. */
lard_found lard_index_probe(const lard_view *view, const lard_hash *hash);
/* What was probed if it is the key's item, else as find. Under the lock. */
lard_found lard_index_verify(const lard_view *view, lard_found probed, const lard_key *key);
/* The slot that names the record at `offset` of the generation. */
lard_found lard_index_find_offset(const lard_view *view, const lard_hash *hash, uint64_t offset,
                                  uint32_t generation);
/* Under the lock. FULL where all slots of the key's buckets hold pinned items. */
larder_status lard_index_insert(larder *cache, lard_view *view, const lard_hash *hash, uint64_t slot);
/* Lock-free. Drops every slot of the key; *head is filled where it was a large value. */
bool lard_index_delete(const lard_view *view, const lard_key *key, int64_t now_ms, lard_head *head);
/* Is what the slot names a part of a large value? */
bool lard_index_is_chunk(const lard_view *view, uint64_t slot);
/* One item, or chunk, less. Also without the lock. */
void lard_index_count_off(const lard_view *view, bool is_chunk);
/* Counts items and chunks anew. Under the lock. */
void lard_index_recount(lard_view *view);

#endif
