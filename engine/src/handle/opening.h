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

typedef enum {
    LARD_TO_CREATE, /* creates the lock file if there is none; otherwise that is NOT_THERE */
    LARD_TO_ATTACH, /* to the map that the handle has */
    LARD_TO_REMOVE  /* items, within microseconds: needs no right to open the lock file that the handle has open */
} lard_opening_purpose;

/* OK, LOCKED: another process has had the lock for `wait_ms`, NOT_THERE, or another error. One thread of a process
 * at a time, see lard_attach_begin. */
larder_status lard_opening_begin(const lard_core *cache, lard_opening_purpose purpose, int64_t wait_ms,
                                 lard_opening *opening, larder_error *error);
/* Releases the lock, and closes the lock file if it has not become the handle's. */
void lard_opening_end(const lard_core *cache, lard_opening *opening);

/* Drops the lock on the process slot of a map that its handle has left, and closes the lock file that was kept
 * open for it. The fork lock is held. */
void lard_opening_leave(lard_map *map);

/* True if the map is fit and is the file at the path, and the lock is of its lock file: no other process replaces
 * it then. */
bool lard_opening_is_for(const lard_opening *opening, const lard_map *map, const char *path);

#endif
