/*
 * repair.h — a shard whose lock's owner died. Under the lock.
 */
#ifndef LARD_REPAIR_H
#define LARD_REPAIR_H

#include "base/types.h"

void lard_repair_shard(larder *cache, lard_view *view);
/* Empties a shard whatever its bytes say. */
void lard_repair_reset(lard_view *view);

#endif
