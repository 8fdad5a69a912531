/*
 * repair.h — repairs or empties a shard. Under the lock.
 */
#ifndef LARD_REPAIR_H
#define LARD_REPAIR_H

#include "base/types.h"

void lard_repair_shard(lard_core *cache, lard_view *view); /* after the death of the lock's owner */
/* Empties the shard, however damaged it is. */
void lard_repair_empty(lard_view *view);

#endif
