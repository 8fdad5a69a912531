/*
 * tags.c — larder_stamp_now and larder_delete_tagged.
 *
 * A process that is not attached takes all items of a tag's shard for deleted (unattached.c), as it can take no
 * lock of a shard.
 */
#include "api/request.h"
#include "base/count.h"
#include "file/map.h"
#include "handle/enter.h"
#include "handle/unattached.h"
#include "item/tagged.h"

larder_status larder_stamp_now(larder *cache, larder_stamp *stamp) {
    if (!cache || !stamp) {
        return LARDER_INVALID;
    }
    lard_map *map = lard_enter(cache->core);
    if (!map) {
        return lard_enter_failure(cache->core);
    }
    *stamp = lard_tagged_now(map);
    return LARDER_OK;
}

/* All of them, whatever happens to one. Returns the first refusal. */
static __attribute__((noinline)) larder_status delete_unattached(larder *cache, const larder_tag *tags,
                                                                 size_t count, const larder_call *call) {
    larder_status result = LARDER_OK;
    for (size_t i = 0; i < count; i++) {
        const lard_removal removal = {.kind = LARD_REMOVE_TAG, .text = tags[i].text, .bytes = tags[i].bytes};
        larder_status status;
        if (!lard_unattached_remove(cache->core, &removal, true, 0, &status)) {
            return larder_delete_tagged(cache, tags, count, call); /* another thread has attached it */
        }
        result = result == LARDER_OK ? status : result;
    }
    return result;
}

larder_status larder_delete_tagged(larder *cache, const larder_tag *tags, size_t count, const larder_call *call) {
    if (!cache || !lard_request_knows_call(call) || !lard_request_knows_tags(tags, count)) {
        return LARDER_INVALID;
    }
    if (count == 0) {
        return LARDER_OK;
    }
    lard_map *map = lard_enter_after_look(cache->core);
    if (!map) {
        return delete_unattached(cache, tags, count, call);
    }
    for (size_t i = 0; i < count; i++) {
        lard_tagged_delete(cache->core, map, lard_deletions_hash(map, tags[i].text, tags[i].bytes), call);
    }
    lard_count(cache->core, LARD_STAT_tag_deletes, count);
    return lard_map_outcome(map, LARDER_OK);
}
