/*
 * opening.h — takes the opener's lock for a handle, in the lock file that is at the handle's path.
 */
#ifndef LARD_OPENING_H
#define LARD_OPENING_H

#include "base/place.h"
#include "base/types.h"

#include <stdbool.h>

typedef struct {
    char path[LARD_LOCK_PATH_MAX]; /* of the lock file */
    lard_lockfile file;            /* the handle's own, or one that was opened for this */
    lard_bytelock opener;
} lard_opening;

/* OK, LOCKED: another process has had the lock for `wait_ms`, or another error. `creates`: makes a lock file if
 * there is none, otherwise that is NOT_THERE. One thread of a process at a time, see lard_attach_begin. */
larder_status lard_opening_begin(const larder *cache, bool creates, int64_t wait_ms, lard_opening *opening,
                                 larder_error *error);
/* Releases the lock, and closes the lock file if it has not become the handle's. */
void lard_opening_end(const larder *cache, lard_opening *opening);

/* True if the map is fit and is the file at the path, and the lock is of its lock file: no other process replaces
 * it then. */
bool lard_opening_is_for(const lard_opening *opening, const lard_map *map, const char *path);

#endif
