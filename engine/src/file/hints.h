/*
 * hints.h — maps the hints: memory of what is only advice, so that a hit stores nothing into the cache file and
 * never waits for the disk.
 *
 * To lose them, or to have others than another process, changes what is evicted and how old statistics are, and
 * nothing else.
 *
 *   0     header, 256 bytes: magic, version, file id, words of reads, rows that are reserved
 *   256   a row of 256 bytes per process slot: incarnation, and what the process has counted (process.c)
 *   …     per shard, from a page on: of each of the first shards, shadow caches of other sizes
 *         (evict/other_sizes.h); a bit for each segment (reads.h); the segments' dead bytes (dead.h);
 *         lard_shard_hints, with sampled gets and the shadow caches (evict/steer.h); words of 16 bits for the
 *         buckets of the index (reads.h)
 *
 * A process takes the hints of a shard when it first uses the shard: their memory is reserved then, and not when
 * the file is opened. Until it has taken them, it uses spare ones of its own.
 *
 * The mapping has room for the words of the largest index. Only the first words of each shard are in use and take
 * memory, as many as the index in use needs. The header has their number. It grows with the index, and only after
 * the memory for more words was reserved.
 */
#ifndef LARD_HINTS_H
#define LARD_HINTS_H

#include "base/types.h"

#include <sys/types.h>

/* The bytes that the hints of such a file take at least. */
uint64_t lard_hints_least_bytes(const lard_superblock *super);
/* Gives the map its hints: those that the processes of the file's owner share in /dev/shm, or else memory that
 * this process shares with its children. The opener's lock is held. NO_MEMORY. */
larder_status lard_hints_open(lard_map *map, uid_t owner, const char *path, larder_error *error);
/* Reserves the rows up to that of a slot which this process has claimed, before it uses the row. Where /dev/shm
 * has no memory for it, the row is in memory of this process. The opener's lock is held. */
void lard_hints_take_row(lard_map *map, uint32_t slot);
/* Reserves the hints of a shard, unless this process has taken them. Where there is no memory for them in
 * /dev/shm, the shard's are in memory of this process from then on. Takes no lock. */
void lard_hints_take(lard_map *map, uint32_t shard);
/* Unmaps them, and removes their file if no other process has it mapped. */
void lard_hints_close(lard_map *map);
/* Uses the words that another process has added. */
void lard_hints_follow(lard_map *map);
/* Follows, and adds words if the index has outgrown them: a part with each call. Called from time to time, without
 * a lock. */
void lard_hints_keep_up(lard_map *map);
/* The bytes that the hints take at most, with the words in use. */
uint64_t lard_hints_bytes(const lard_map *map);

#endif
