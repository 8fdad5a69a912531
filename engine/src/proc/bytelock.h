/*
 * bytelock.h — bytes of the lock file that this process holds as long as it lives.
 */
#ifndef LARD_BYTELOCK_H
#define LARD_BYTELOCK_H

#include "base/types.h"

/* 0; EAGAIN where somebody holds the byte; or errno. The fork lock is not held. */
int lard_bytelock_take(const lard_lockfile *file, const char *path, uint32_t byte, lard_bytelock *held);
void lard_bytelock_drop(lard_bytelock *held, const lard_lockfile *file);
/* Held, and not by the parent that this process was forked from. */
bool lard_bytelock_is_ours(const lard_bytelock *held);
/* Does anybody, this process included, hold one of these bytes? 1, 0, or -1: it cannot be told. */
int lard_bytelock_held(const lard_lockfile *file, const char *path, uint32_t first, uint32_t bytes);
bool lard_bytelock_is_posix(const lard_lockfile *file); /* then a process does not see its own */

#endif
