/*
 * inspect.c — larder_inspect: a value and what is known about it, for people who look at a cache. Takes no lock.
 */
#include "api/request.h"
#include "handle/enter.h"
#include "item/details.h"
#include "item/read.h"

larder_status larder_inspect(larder *cache, const void *key, size_t key_bytes, void *buffer, size_t buffer_bytes,
                             const larder_allocator *more, larder_details *details, const larder_call *call) {
    larder_status status = lard_request_check_key(cache, key, key_bytes, call);
    if (status == LARDER_OK && !details) {
        status = LARDER_INVALID;
    }
    lard_map *map = status == LARDER_OK ? lard_enter(cache->core) : NULL;
    if (!map) {
        return status == LARDER_OK ? LARDER_MISS : status;
    }
    int64_t now_ms = call ? call->now_ms : 0;
    if (!buffer) {
        return lard_details_find(cache->core, map, key, key_bytes, details, now_ms) ? LARDER_OK : LARDER_MISS;
    }
    lard_key wanted = lard_details_key(map, key, key_bytes);
    lard_room room = {.bytes = buffer, .capacity = buffer_bytes, .more = more};
    larder_item item;
    lard_hit hit;
    status = lard_read(cache->core, map, &wanted, NULL, &room, &item, &hit, now_ms);
    if (status == LARDER_OK || status == LARDER_BUFFER_TOO_SMALL) {
        lard_details_of(map, &wanted, &item, &hit, details);
    }
    return status;
}
