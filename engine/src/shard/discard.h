/*
 * discard.h — frees the disk space of a file that no process can open any more.
 */
#ifndef LARD_DISCARD_H
#define LARD_DISCARD_H

#include "base/types.h"

/* Does nothing for a file that is still at a path. A shard that is in use keeps its space until the next call, by
 * this process or by another that leaves the file. */
void lard_discard(lard_map *map);

#endif
