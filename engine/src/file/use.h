/*
 * use.h — begins and ends a period of use of a cache file.
 */
#ifndef LARD_USE_H
#define LARD_USE_H

#include "base/types.h"

/* Called before this process stores into the file. Alone (no other process is attached): begins a period with a
 * new use number. */
larder_status lard_use_begin(lard_map *map, const char *path, const lard_lockfile *lock, bool alone,
                             larder_error *error);
/* Called before a process without a slot changes the file: takes the clean mark off, on disk too. DAMAGED: the
 * file must not be used any more. */
larder_status lard_use_mark_dirty(lard_map *map);
/* Writes the file to disk, then the clean mark. */
larder_status lard_use_end(lard_map *map, const char *path, const lard_lockfile *lock);

#endif
