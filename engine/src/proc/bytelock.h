/*
 * bytelock.h — locks bytes of the lock file for as long as this process lives.
 */
#ifndef LARD_BYTELOCK_H
#define LARD_BYTELOCK_H

#include "base/types.h"

/* 0; EAGAIN: the byte is locked; or errno. The caller does not hold the fork lock. */
int lard_bytelock_take(const lard_lockfile *file, const char *path, uint32_t byte, lard_bytelock *held);
void lard_bytelock_drop(lard_bytelock *held, const lard_lockfile *file);
/* Held, and not by the parent that this process was forked from. */
bool lard_bytelock_is_ours(const lard_bytelock *held);
/* Does any process, this one included, hold one of these bytes? 1, 0, or -1 and errno: unknown. */
int lard_bytelock_held(const lard_lockfile *file, const char *path, uint32_t first, uint32_t bytes);
bool lard_bytelock_is_posix(const lard_lockfile *file); /* if so, lard_bytelock_held does not see its own locks */

#endif
