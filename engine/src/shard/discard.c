/*
 * discard.c — frees the disk space of a file that no process can open any more.
 *
 * Others may still be in a call on it. While a file system frees the blocks of a page, a process that has it
 * mapped may get the page as it was last written to the disk: an older value, with a valid checksum. So the
 * shard's epoch ends first: a reader looks at it again when it has read. A writer looks at it when it has the lock
 * of the shard, so that lock is held here. The page of both stays.
 */
#include "shard/discard.h"
#include "base/space.h"
#include "file/map.h"
#include "file/view.h"
#include "shard/shard.h"

#include <sys/stat.h>

#define HEADER_BYTES 4096
_Static_assert(sizeof(lard_shard) <= HEADER_BYTES, "the page that stays has the whole header");

/* `shared`: the header is that of the file. After a fault it is this process's own memory, so its lock excludes
 * nobody.
 */
static void discard_shard(lard_map *map, uint32_t shard, int fd, bool shared) {
    lard_view view = lard_view_of(map, shard);
    uint64_t bytes = map->super.shard_bytes, offset = map->super.shard_offset + shard * bytes;
    if (shared) {
        if (!lard_shard_try(&view)) {
            return;
        }
        lard_store(&view.header->epoch, 0); /* as while it is emptied; the system call is a barrier */
    }
    LARD_CHANGE(lard_space_release(fd, offset + HEADER_BYTES, bytes - HEADER_BYTES));
    if (shared) {
        lard_shard_unlock(&view);
    }
}

void lard_discard(lard_map *map) {
    struct stat info;
    int fd = lard_map_descriptor(map, &info);
    if (fd < 0 || info.st_nlink != 0) {
        return;
    }
    bool shared = !map->poisoned && (uint64_t)info.st_size >= map->bytes; /* in a file that was cut it faults */
    for (uint32_t shard = 0; shard < map->super.shard_count; shard++) {
        discard_shard(map, shard, fd, shared);
    }
}
