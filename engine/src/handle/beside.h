/*
 * beside.h — completes a new file beside the one whose place it takes.
 */
#ifndef LARD_BESIDE_H
#define LARD_BESIDE_H

#include "base/place.h"
#include "proc/lockfile.h"

typedef struct {
    char path[LARD_PATH_MAX + 16];
    lard_map *map;
} lard_beside;

/* Makes an empty file of that size and with that seed of hashes beside `path`. The opener's lock is held, as in
 * the next. */
larder_status lard_beside_make(const char *path, uint64_t size_bytes, const uint64_t seed[2],
                               const lard_lockfile_content *content, lard_beside *beside, larder_error *error);
/* Unmaps the new file. OK: it takes the place of `path`, and processes leave `old`; any other status: it is
 * removed. Returns `status`, or why it could not take the place. */
larder_status lard_beside_end(larder_status status, lard_beside *beside, const char *path, lard_map *old,
                              larder_error *error);
void lard_beside_remove(lard_beside *beside);

#endif
