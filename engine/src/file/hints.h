/*
 * hints.h — maps the hints: memory of what is only advice, so that a hit stores nothing into the cache file and
 * never waits for the disk.
 *
 * To lose them, or to have others than another process, changes what is evicted and how old statistics are, and
 * nothing else.
 *
 *   0     header, 64 bytes: magic, version, file id
 *   64    a row of 256 bytes per process slot: incarnation, and what the process has counted (process.c)
 *   …     per shard lard_shard_hints: sampled gets and the shadow caches (evict/steer.h); a word of 16 bits for
 *         each bucket of its index (reads.h); a bit for each segment (reads.h); and its dead bytes (dead.h)
 */
#ifndef LARD_HINTS_H
#define LARD_HINTS_H

#include "base/types.h"

#include <sys/types.h>

/* Gives the map its hints: those that the processes of the file's owner share in /dev/shm, or else memory that
 * this process shares with its children. The opener's lock is held. NO_MEMORY. */
larder_status lard_hints_open(lard_map *map, uid_t owner, const char *path, larder_error *error);
/* Unmaps them, and removes their file if no other process has it mapped. */
void lard_hints_close(lard_map *map);

#endif
