/*
 * tags.c — larder_stamp_now and larder_delete_tagged.
 *
 * A process that is not attached takes all items of a tag's shard for deleted if it has a map of the file;
 * otherwise it notes the tag until it attaches (pending.c), and clears a file of a newer version.
 */
#include "api/request.h"
#include "base/count.h"
#include "file/map.h"
#include "file/use.h"
#include "handle/enter.h"
#include "handle/newer.h"
#include "handle/pending.h"
#include "item/tagged.h"

larder_status larder_stamp_now(larder *cache, larder_stamp *stamp) {
    if (!cache || !stamp) {
        return LARDER_INVALID;
    }
    lard_map *map = lard_enter(cache);
    if (!map) {
        return lard_enter_failure(cache);
    }
    *stamp = lard_tagged_now(map);
    return LARDER_OK;
}

/* Raising a floor needs no process slot. */
static __attribute__((noinline)) larder_status delete_unattached(larder *cache, const larder_tag *tags,
                                                                 size_t count, const larder_call *call) {
    lard_map *map = lard_enter_unattached(cache);
    for (size_t i = 0; !map && i < count; i++) {
        if (!lard_pending_note_tag(cache, tags[i].text, tags[i].bytes)) {
            return larder_delete_tagged(cache, tags, count, call); /* another thread has attached it */
        }
    }
    if (!map) {
        return lard_newer_clear(cache) ? LARDER_OK : lard_enter_failure(cache);
    }
    for (size_t i = 0; i < count; i++) {
        lard_tagged_forget(map, lard_deletions_hash(map, tags[i].text, tags[i].bytes));
    }
    lard_map_outcome(map, LARDER_OK);
    return lard_use_mark_dirty(map) == LARDER_OK ? LARDER_OK : LARDER_DAMAGED;
}

larder_status larder_delete_tagged(larder *cache, const larder_tag *tags, size_t count, const larder_call *call) {
    if (!cache || !lard_request_knows_call(call) || !lard_request_knows_tags(tags, count)) {
        return LARDER_INVALID;
    }
    if (count == 0) {
        return LARDER_OK;
    }
    lard_map *map = lard_enter_after_look(cache);
    if (!map) {
        return delete_unattached(cache, tags, count, call);
    }
    for (size_t i = 0; i < count; i++) {
        lard_tagged_delete(cache, map, lard_deletions_hash(map, tags[i].text, tags[i].bytes), call);
    }
    lard_count(cache, LARD_STAT_tag_deletes, count);
    return lard_map_outcome(map, LARDER_OK);
}
