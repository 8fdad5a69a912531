/*
 * unattached.h — removes something from the file for a process that is not attached.
 */
#ifndef LARD_UNATTACHED_H
#define LARD_UNATTACHED_H

#include "handle/pending.h"

/*
 * Removes it from the handle's map if that is still the file at the path. With `clears_newer`, clears a file of a
 * newer version. Takes the opener's lock. *status: OK; MISS: a key had no live value; or why it could not: then
 * the removal is noted until the handle attaches. False: the handle is attached by now, and nothing was done.
 */
bool lard_unattached_remove(lard_core *cache, const lard_removal *removal, bool clears_newer, int64_t now_ms,
                            larder_status *status);

#endif
