/*
 * index.h — finds, inserts and deletes the slot of a key.
 */
#ifndef LARD_INDEX_H
#define LARD_INDEX_H

#include "base/hash.h"
#include "base/key.h"
#include "index/match.h"

lard_found lard_index_find(const lard_view *view, const lard_key *key);
/* The first item with the key's fingerprint. Its record is prefetched, not compared. Renews `buckets`. */
lard_found lard_index_probe(const lard_view *view, const lard_hash *hash, lard_buckets *buckets);
/* The slot that names the record at `offset` of the generation. */
lard_found lard_index_find_offset(const lard_view *view, const lard_hash *hash, uint64_t offset,
                                  uint32_t generation);
/* Under the lock. `reads`: of the new item. FULL: all slots of the key's buckets hold pinned items. */
larder_status lard_index_insert(lard_core *cache, lard_view *view, const lard_hash *hash, lard_buckets *buckets,
                                uint64_t slot, unsigned reads);
/* Lock-free. Empties every slot of the key. Fills *head if it was a large value. True: the item was live. */
bool lard_index_delete(const lard_view *view, const lard_key *key, int64_t now_ms, lard_head *head);
/* Lock-free. Empties every slot of the key's record that was found as `slot`, and leaves a newer record. True: it
 * was still there. Fills *head if it was a large value. */
bool lard_index_delete_record(const lard_view *view, const lard_key *key, uint64_t slot, lard_head *head);
/* Does the slot name a chunk? */
bool lard_index_is_chunk(const lard_view *view, uint64_t slot);
/* Subtracts one item, or chunk, from the counts. Also without the lock. */
void lard_index_count_off(const lard_view *view, bool is_chunk);
/* Counts items and chunks again. Under the lock. */
void lard_index_recount(lard_view *view);

/* `probed` if it is the key's item, else as lard_index_find. Under the lock. */
LARD_INLINE lard_found lard_index_match(const lard_view *view, lard_found probed, const lard_key *key) {
    lard_record_info info;
    if (!probed.slot) {
        return probed; /* no item had the fingerprint, and under the lock no other process adds one */
    }
    probed.value = lard_load_acquire(probed.slot);
    return LARD_LIKELY(lard_match_key(view, probed.value, key, &info)) ? probed : lard_index_find(view, key);
}

#endif
