/*
 * memory_limit.h — the memory that control groups allow this process.
 */
#ifndef LARD_MEMORY_LIMIT_H
#define LARD_MEMORY_LIMIT_H

#include "base/types.h"

/* The group that has the least left: its limit, and what is in use and cannot be given back. False: no limit. */
bool lard_memory_limit(uint64_t *limit_bytes, uint64_t *used_bytes);
/* OK, or NO_SPACE where a file of so many bytes would be in memory (tmpfs), and that much is not allowed. */
larder_status lard_memory_limit_admits(int fd, const char *path, uint64_t bytes, larder_error *error);

#endif
