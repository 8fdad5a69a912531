/*
 * dirty.h — makes pages dirty before a lock is taken.
 *
 * The first store to a page after it was written back waits for the file system, which may be busy or frozen. If
 * the owner of a lock waited there, so would everybody else. These functions do the waiting without the lock. They
 * cover the pages that the call itself stores to; what it evicts, or a bucket that it splits, may be in others. A
 * long record is written under the lock without stores (segment/image.h): where that waits, other writers of the
 * shard give up after their lock timeout.
 */
#ifndef LARD_DIRTY_H
#define LARD_DIRTY_H

#include "base/key.h"
#include "index/bucket.h"

/* Before a record of that many bytes is stored in the key's buckets and in `queue` (LARD_SEGMENT_FREE: in either).
 * Renews `buckets`. */
void lard_dirty_for_write(const lard_view *view, const lard_hash *hash, lard_buckets *buckets, uint32_t queue,
                          uint64_t bytes);
/* Before the key's record is changed in place. False: there is none, or the file is on no disk. */
bool lard_dirty_for_change(const lard_view *view, const lard_key *key);

#endif
