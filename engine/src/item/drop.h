/*
 * drop.h — drops a key with its chunks, without a lock.
 */
#ifndef LARD_DROP_H
#define LARD_DROP_H

#include "base/key.h"
#include "base/types.h"

/* True if the key had a live value. Where the index is damaged, other processes may have it in a bucket that this
 * call cannot find: then the shard is emptied (drop.c tells which damage is seen). */
bool lard_drop(lard_map *map, const lard_key *key, int64_t now_ms);
/* Drops the key's record that lard_lookup found in a slot of this value. False: the key has another record by now,
 * or none. */
bool lard_drop_record(lard_map *map, const lard_key *key, uint64_t slot);

#endif
