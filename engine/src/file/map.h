/*
 * map.h — maps and unmaps a cache file, and marks it so that processes leave it.
 */
#ifndef LARD_MAP_H
#define LARD_MAP_H

#include "base/types.h"

struct stat;

/* Maps the open file, which *out owns from then on. */
larder_status lard_map_new(int fd, const struct stat *info, const lard_superblock *super, const char *path,
                           lard_map **out, larder_error *error);
/* Maps only what all versions have at the same place: the superblocks and the control page. For lard_map_clear. */
larder_status lard_map_control(int fd, const struct stat *info, const char *path, lard_map **out,
                               larder_error *error);
void lard_map_free(lard_map *map);
void lard_map_close_file(lard_map *map); /* the descriptor; the map stays */
/* Marks the file so that each process leaves it at its next call. */
void lard_map_supersede(lard_map *map);
/* The same for a file that is not mapped here. 0, or errno: then processes that have it mapped do not leave it. */
int lard_map_supersede_fd(int fd);
/* Was the file removed, or was another one put at its path? */
bool lard_map_was_replaced(const lard_map *map, const char *path);
/* True if it is known to be the file at `path`. */
bool lard_map_is_at(const lard_map *map, const char *path);

/* Is the file at `path` the map's, with zeros for its superblocks? It was truncated and grown again. */
bool lard_map_lost_superblocks(const lard_map *map, const char *path);
/* The map's descriptor, and what fstat says of it, or -1: it is closed, or another file's by now. Daemonizers
 * close all descriptors. */
int lard_map_descriptor(const lard_map *map, struct stat *info);
/* Supersedes and removes a file whose changes may not have reached the disk: no later sync would report the loss.
 */
void lard_map_give_up(lard_map *map, const char *path);

/* Empties all shards at once, by ending the epoch that they belong to. */
void lard_map_clear(lard_map *map);

/* May the file be used, as far as is known? */
static inline bool lard_map_is_fit(const lard_map *map) {
    return map && !map->poisoned && !lard_load(&map->control->superseded);
}

/* Ends a call that changes something. After a fault it returns DAMAGED, and marks the file so that all processes
 * leave it. */
static inline larder_status lard_map_outcome(lard_map *map, larder_status status) {
    if (LARD_UNLIKELY(map->poisoned)) {
        lard_map_supersede(map);
        return LARDER_DAMAGED;
    }
    return status;
}

#endif
