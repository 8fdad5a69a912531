/*
 * newer.h — clears a file of a newer version, for a process that cannot attach to it.
 */
#ifndef LARD_NEWER_H
#define LARD_NEWER_H

#include "base/types.h"

/* Clears the file at the handle's path if a newer version made it. False: it is of no newer version, could not be
 * cleared, or the handle was opened with keep_newer. The opener's lock is held. */
bool lard_newer_clear(const larder *cache);

#endif
