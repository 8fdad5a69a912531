/*
 * newer.h — for a process that cannot attach to the file of a newer version: clears it, and tells when it was
 * left.
 */
#ifndef LARD_NEWER_H
#define LARD_NEWER_H

#include "proc/lockfile.h"

/* Clears the file at the handle's path if a newer version made it. False: it is of no newer version, could not be
 * cleared, or the handle was opened with keep_newer. The opener's lock is held. */
bool lard_newer_clear(const lard_core *cache);

/* True if the file at the handle's path is of a newer version, and no process of that version has it open.
 * Processes of this version may be attached to a file that was there before. The opener's lock is held. */
bool lard_newer_was_left(const lard_core *cache, const lard_lockfile *file, const char *lock_path);

#endif
