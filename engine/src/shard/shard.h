/*
 * shard.h — locks and unlocks a shard.
 */
#ifndef LARD_SHARD_H
#define LARD_SHARD_H

#include "base/types.h"

/* OK: the lock is held and the shard is of the current clear epoch. BUSY, or DAMAGED: it is not held. */
larder_status lard_shard_lock(lard_core *cache, lard_view *view, const larder_call *call);
/* Takes the lock if it is free. Unlike lard_shard_lock it does not empty a shard of another clear epoch. */
bool lard_shard_try(lard_view *view);
void lard_shard_unlock(lard_view *view);
/* Unlocks for a caller that wants the lock again at once: lets waiters take it first. */
void lard_shard_end_turn(lard_view *view);

#endif
