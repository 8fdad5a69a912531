/*
 * use.h — the uses of a cache file.
 */
#ifndef LARD_USE_H
#define LARD_USE_H

#include "base/types.h"

/* Before this process stores into the file. Alone: under a new use number. */
larder_status lard_use_begin(lard_map *map, const char *path, const lard_lockfile *lock, bool alone,
                             larder_error *error);
/* After a change by a process without a slot, which others do not wait for before they mark the file clean. */
larder_status lard_use_mark_dirty(lard_map *map);
/* Writes everything to disk, then the clean mark. */
larder_status lard_use_end(lard_map *map, const char *path, const lard_lockfile *lock);

#endif
