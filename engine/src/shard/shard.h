/*
 * shard.h — the lock of a shard.
 */
#ifndef LARD_SHARD_H
#define LARD_SHARD_H

#include "base/types.h"

/* OK with the lock held and the shard of the current clear epoch, or BUSY. */
larder_status lard_shard_lock(larder *cache, lard_view *view, const larder_call *call);
void lard_shard_unlock(lard_view *view);
/* Unlocks for a caller that wants the lock again at once: waiters have it first. */
void lard_shard_end_turn(lard_view *view);

#endif
