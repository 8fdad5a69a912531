/*
 * convert.c — replaces a file of the previous format by one of this format with the same items.
 *
 * For handles whose items must not be lost. The new file has the size of the old one, and takes its place when it
 * is complete. If there is no room for a pinned item, nothing changes.
 */
#include "handle/convert.h"
#include "base/clock.h"
#include "base/fail.h"
#include "file/map.h"
#include "handle/beside.h"
#include "handle/previous.h"
#include "item/put.h"
#include "proc/process.h"

typedef struct {
    larder *cache;
    lard_map *to;
    larder_call call;
} conversion;

static larder_status copy_item(void *context, const void *key, size_t key_bytes, const void *value,
                               const larder_item *item) {
    conversion *this = context;
    uint64_t records = 0;
    larder_item copy = *item;
    larder_status status =
        lard_put_item(this->cache, this->to, key, key_bytes, value, &copy, NULL, &this->call, &records);
    if (status == LARDER_VALUE_TOO_LARGE && copy.is_pinned) { /* longer values could be pinned then */
        copy.is_pinned = 0;
        status = lard_put_item(this->cache, this->to, key, key_bytes, value, &copy, NULL, &this->call, &records);
    }
    return item->is_pinned ? status : LARDER_OK; /* others may be evicted at any time */
}

/* Copies with the first process slot of the new file. The handle has none: it is not attached. */
static larder_status copy_items(larder *cache, const lard_lockfile *file, lard_map *from, lard_map *to,
                                larder_error *error) {
    conversion this = {cache, to, {.now_ms = lard_clock_ms()}};
    cache->slot = to->slot = 0;
    cache->incarnation = 1;
    lard_store(&to->processes[0].incarnation, cache->incarnation);
    to->owner_word = lard_process_owner_word(to->slot, cache->incarnation);
    to->lock = *file;
    cache->counters = to->processes[0].counters;
    larder_status status = lard_previous_walk(from, this.call.now_ms, copy_item, &this);
    cache->counters = NULL;
    if (status == LARDER_OK && from->poisoned) {
        status = LARDER_DAMAGED;
    }
    return status == LARDER_OK
               ? status
               : lard_fail(error, status, 0, "%s: converting it from an older format", cache->path);
}

larder_status lard_convert(larder *cache, const lard_lockfile *file, const lard_lockfile_content *content,
                           bool alone, larder_error *error) {
    lard_beside beside;
    lard_map *from;
    larder_status status = lard_previous_open(cache->path, content, alone, &from, error);
    if (status != LARDER_OK) {
        return status == LARDER_UNFIT ? LARDER_OK : status;
    }
    status = alone
                 ? lard_beside_make(cache->path, from->super.file_bytes, from->super.seed, content, &beside, error)
                 : lard_fail(error, LARDER_IN_USE, 0,
                             "%s: it is of an older format, and is converted when its processes have ended",
                             cache->path);
    if (status == LARDER_OK) {
        status = copy_items(cache, file, from, beside.map, error);
        status = lard_beside_end(status, &beside, cache->path, from, error);
    }
    lard_map_free(from);
    return status;
}
