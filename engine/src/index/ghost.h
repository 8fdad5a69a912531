/*
 * ghost.h — remembers keys that were evicted recently.
 */
#ifndef LARD_GHOST_H
#define LARD_GHOST_H

#include "index/bucket.h"

/* Ghosts of segments that are older do not count; in units of time (layout.h). */
#define LARD_GHOST_WINDOW 40u

/* Without the lock: would a new item of that key go to the main queue, because it was evicted recently? */
bool lard_ghost_peek(const lard_view *view, const lard_hash *hash);
/* The same; removes the key's ghost. Under the lock, as the next two. */
bool lard_ghost_take(lard_view *view, const lard_hash *hash, lard_buckets *buckets);
/* After a slot was given to an item: moves its ghosts to cells of the bucket that are empty or hold older ghosts.
 */
void lard_ghost_rescue(lard_bucket *bucket, const lard_view *view, uint64_t value);
/* Adapts the unit of time to the number of items in all shards: small caches remember more of what came before. */
void lard_ghost_scale(lard_view *view, uint64_t items);
/* A shard with `items` items remembers those that the small queue evicted among this number of earlier ones. */
uint64_t lard_ghost_remembered(const lard_view *view, uint64_t items);
/* After a segment was emptied: drops old ghosts of a part of the index. */
void lard_ghost_sweep(lard_view *view);
/* The value of a slot after its item, whose record was at `offset`, was evicted: one ghost. Also without the lock.
 */
uint64_t lard_ghost_word(const lard_view *view, uint32_t fingerprint, uint64_t offset);

#endif
