/*
 * memory_limit.h — reads the memory limits of this process's control groups.
 */
#ifndef LARD_MEMORY_LIMIT_H
#define LARD_MEMORY_LIMIT_H

#include "base/types.h"

/* Of the group with the least memory left: its limit, and the memory in use that the kernel cannot evict. False:
 * there is no limit, or none can be read. Not under a shard's lock. */
bool lard_memory_limit(uint64_t *limit_bytes, uint64_t *used_bytes);
/* The bytes that they leave, and `more`; UINT64_MAX: there is no limit. */
uint64_t lard_memory_limit_left(uint64_t more);
/* OK, or NO_SPACE: a file of `bytes` bytes would be in memory (tmpfs), and with `more` bytes does not fit into the
 * limit. */
larder_status lard_memory_limit_admits(int fd, const char *path, uint64_t bytes, uint64_t more,
                                       larder_error *error);

#endif
