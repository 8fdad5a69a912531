/*
 * newer.h — clears a file of a newer version, for a process that cannot attach to it, and tells when it can.
 */
#ifndef LARD_NEWER_H
#define LARD_NEWER_H

#include "proc/lockfile.h"

/* Clears the file at the handle's path if a newer version made it. False: it is of no newer version, could not be
 * cleared, or the handle was opened with keep_newer. The opener's lock is held. */
bool lard_newer_clear(const larder *cache);

/* True if the file at the handle's path is of a newer version that no process has open. Processes of this version
 * may be attached to a file that was there before. The opener's lock is held. */
bool lard_newer_was_left(const larder *cache, const lard_lockfile *file, const char *lock_path);

#endif
