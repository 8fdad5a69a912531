/*
 * ghost.h — keys that were evicted a short while ago.
 */
#ifndef LARD_GHOST_H
#define LARD_GHOST_H

#include "base/hash.h"

#define LARD_GHOST_WINDOW 15u /* eighths of the shard: how much the queue may have emptied since */

typedef enum { LARD_GHOST_NONE, LARD_GHOST_SMALL, LARD_GHOST_SMALL_YOUNG, LARD_GHOST_MAIN_YOUNG } lard_ghost;

/* Without the lock: whether the key seems to have left the small queue a short while ago. */
bool lard_ghost_peek(const lard_view *view, const lard_hash *hash);
/* What the key's ghost tells; it has none afterwards. Under the lock, as the next two. */
lard_ghost lard_ghost_take(lard_view *view, const lard_hash *hash);
/* The slot of these ghosts was given to an item: they take cells of the bucket that are empty or hold older ones.
 */
void lard_ghost_rescue(lard_bucket *bucket, const lard_view *view, uint64_t value);
/* A queue has emptied a segment: its clock goes on, and old ghosts of a part of the index are dropped. */
void lard_ghost_tick(lard_view *view, bool main_queue);
/* What the slot of an evicted item holds afterwards. Also without the lock. */
uint64_t lard_ghost_word(const lard_view *view, uint32_t fingerprint, bool from_main);

#endif
