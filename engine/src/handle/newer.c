/*
 * newer.c — for a process that cannot attach to the file of a newer version: clears it, and tells when it was
 * left.
 *
 * In a rolling deploy, and after its rollback, processes of two versions run side by side, and only those of the
 * newer one have the file. A delete by another process would leave them the old value. All versions have the clear
 * epoch at the same place of the control page (layout.h), and take a file of another epoch for empty: so the
 * delete ends the epoch. That takes away more than the one value, while both versions run. The opener's lock is
 * held, so no process of the newer version copies the items of the file to another one.
 */
#define _GNU_SOURCE
#include "handle/newer.h"
#include "base/descriptor.h"
#include "base/io.h"
#include "base/place.h"
#include "file/map.h"
#include "file/validate.h"
#include "proc/bytelock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Is the open file of a newer version, and this user's? Somebody may be attached: then only its version is asked.
 */
static bool is_newer(int fd, const char *path, struct stat *info) {
    static const lard_lockfile_content unknown;
    lard_validate_facts facts;
    larder_error error;
    return lard_place_trusted(fd, path, info, &error) == LARDER_OK &&
           lard_validate_read(fd, path, info, &facts, &error) == LARDER_OK &&
           facts.file_bytes >= LARD_PROCESS_OFFSET &&
           lard_validate(&facts, &unknown, false).kind == LARD_FILE_NEWER;
}

bool lard_newer_clear(const lard_core *cache) {
    struct stat info;
    larder_error error;
    lard_map *map;
    bool done = false;

    int fd = cache->keep_newer ? -1 : lard_descriptor_open(cache->path, O_RDWR | O_NONBLOCK, &info);
    if (fd < 0) {
        return false;
    }
    if (is_newer(fd, cache->path, &info) && lard_map_control(fd, &info, cache->path, &map, &error) == LARDER_OK) {
        lard_map_clear(map);
        done = !map->poisoned; /* the file may have been truncated meanwhile */
        lard_map_free(map);
    } else {
        lard_descriptor_close(fd, &info);
    }
    return done;
}

/*
 * All versions have the process table at the same place, and its rows begin with the incarnation. That is 0 in the
 * row of a process that has another file: it took its slot before the newer version made this file. The bytes
 * behind the table are not rows, but no process has a slot there, unless its version has more slots: then it
 * counts as a user.
 */
static bool has_user(int fd, const lard_lockfile *file, const char *lock_path) {
    uint32_t incarnation;
    size_t got = sizeof incarnation;
    for (uint32_t slot = 0; slot < LARD_LOCKFILE_SLOTS && got == sizeof incarnation; slot++) {
        uint64_t at = LARD_PROCESS_OFFSET + slot * sizeof(lard_process);
        if (lard_io_read(fd, &incarnation, sizeof incarnation, at, &got) != 0 ||
            (got == sizeof incarnation && incarnation && lard_bytelock_held(file, lock_path, 1 + slot, 1) != 0)) {
            return true;
        }
    }
    return false;
}

bool lard_newer_was_left(const lard_core *cache, const lard_lockfile *file, const char *lock_path) {
    struct stat info;
    int fd = lard_descriptor_open(cache->path, O_RDONLY | O_NONBLOCK, &info);
    if (fd < 0) {
        return false;
    }
    bool left = is_newer(fd, cache->path, &info) && !has_user(fd, file, lock_path);
    lard_descriptor_close(fd, &info);
    return left;
}
