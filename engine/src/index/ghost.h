/*
 * ghost.h — remembers keys that were evicted recently.
 */
#ifndef LARD_GHOST_H
#define LARD_GHOST_H

#include "base/hash.h"

#define LARD_GHOST_WINDOW \
    15u /* a ghost counts until its queue has emptied more than so many eighths of the shard */

typedef enum { LARD_GHOST_NONE, LARD_GHOST_SMALL, LARD_GHOST_SMALL_YOUNG, LARD_GHOST_MAIN_YOUNG } lard_ghost;

/* Without the lock: was the key probably evicted from the small queue recently? */
bool lard_ghost_peek(const lard_view *view, const lard_hash *hash);
/* Reads and removes the key's ghost. Under the lock, as the next two. */
lard_ghost lard_ghost_take(lard_view *view, const lard_hash *hash);
/* After a slot was given to an item: moves its ghosts to cells of the bucket that are empty or hold older ghosts.
 */
void lard_ghost_rescue(lard_bucket *bucket, const lard_view *view, uint64_t value);
/* After a queue has emptied a segment: advances its clock, and drops old ghosts of a part of the index. */
void lard_ghost_tick(lard_view *view, bool main_queue);
/* The value of a slot after its item was evicted: one ghost. Also without the lock. */
uint64_t lard_ghost_word(const lard_view *view, uint32_t fingerprint, bool from_main);

#endif
