/*
 * previous.h — reads a file of the previous format, 2.4.
 */
#ifndef LARD_PREVIOUS_H
#define LARD_PREVIOUS_H

#include "proc/lockfile.h"

/* Maps the file at `path`. UNFIT: it is not of that format, or it must not be used. Alone: no process is attached.
 * The opener's lock is held. */
larder_status lard_previous_open(const char *path, const lard_lockfile_content *lock, bool alone, lard_map **out,
                                 larder_error *error);

/* Gets an item as larder_get answers it. Any status but OK ends the walk. */
typedef larder_status lard_previous_item(void *context, const void *key, size_t key_bytes, const void *value,
                                         const larder_item *item);

/* Walks over the items of a file that no process uses, and that had not expired at `now_ms`. An item may come
 * twice. OK, NO_MEMORY, or a status of `each`. Damaged items, and large values without all their chunks, are left
 * out. */
larder_status lard_previous_walk(lard_map *map, int64_t now_ms, lard_previous_item *each, void *context);

#endif
