/*
 * beside.c — completes a new file beside the one whose place it takes.
 *
 * If there is no room for the new file, or its maker is killed, the old one is as it was.
 */
#define _GNU_SOURCE
#include "handle/beside.h"
#include "base/fail.h"
#include "base/shared.h"
#include "file/file.h"
#include "file/map.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

larder_status lard_beside_make(const char *path, uint64_t size_bytes, const uint64_t seed[2],
                               const lard_lockfile_content *content, lard_beside *beside, larder_error *error) {
    snprintf(beside->path, sizeof beside->path, "%s.resize", path);
    /* An unfinished one was left by a maker that was killed: under the opener's lock nobody else makes one. */
    if (LARD_CHANGE(unlink(beside->path)) != 0 && errno != ENOENT) {
        return lard_fail_call(error, "unlink", beside->path, errno);
    }
    return lard_file_open(beside->path, size_bytes, seed, content, false, &beside->map, error);
}

void lard_beside_remove(lard_beside *beside) {
    lard_map_free(beside->map);
    LARD_CHANGE(unlink(beside->path));
}

larder_status lard_beside_end(larder_status status, lard_beside *beside, const char *path, lard_map *old,
                              larder_error *error) {
    if (status == LARDER_OK && LARD_CHANGE(rename(beside->path, path)) != 0) {
        status = lard_fail_call(error, "rename", beside->path, errno);
    }
    if (status != LARDER_OK) {
        lard_beside_remove(beside);
        return status;
    }
    lard_map_free(beside->map);
    lard_map_supersede(old);
    return status;
}
