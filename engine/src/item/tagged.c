/*
 * tagged.c — stores items with tags, and deletes tags (segment/deletions.h).
 */
#include "item/tagged.h"
#include "base/count.h"
#include "evict/evict.h"
#include "file/view.h"
#include "segment/segment.h"
#include "segment/tag_table.h"
#include "shard/repair.h"
#include "shard/shard.h"

#define READS 4 /* counts of reads of items that stay, tried in turn: see evict/reserve.c */

/* Loads the epoch first: if the cache is cleared between the two loads, the stamp has the origin of before. */
larder_stamp lard_tagged_now(lard_map *map) {
    for (;;) {
        uint64_t origin = lard_deletions_origin(map, lard_load_acquire(&map->control->clear_epoch));
        uint64_t number = lard_stamp_now(map);
        if (LARD_LIKELY(number != LARD_STAMP_DAMAGED)) {
            return (larder_stamp){number, origin};
        }
        lard_stamp_repair(map);
    }
}

/* Locks the shard of a tag. Its table, if there is one, can be read then but for single lines. */
static larder_status lock_table(lard_core *cache, lard_view *view, const larder_call *call) {
    larder_status status = lard_shard_lock(cache, view, call);
    if (status == LARDER_OK && !lard_tag_table_sane(view)) {
        lard_count(cache, LARD_STAT_resets, 1);
        lard_repair_empty(view);
    }
    return status;
}

/* A shard that was never used has no floor. Once there are deletions, it could not be told from one that has lost
 * it. So all are used from the first deletion on. */
static void use_all_shards(lard_core *cache, lard_map *map, const larder_call *call) {
    for (uint32_t shard = 0; shard < map->super.shard_count; shard++) {
        lard_view view = lard_view_of(map, shard);
        if (lard_load(&view.header->epoch) == 0 && lard_shard_lock(cache, &view, call) == LARDER_OK) {
            lard_shard_unlock(&view);
        }
    }
}

/* Makes the shard's table, for which items are evicted if they must. */
static bool make_table(lard_core *cache, lard_view *view, uint64_t stamp, int64_t now_ms) {
    unsigned pages = lard_tag_table_pages(view->map);
    uint32_t attempts = 2 * view->map->super.segments_per_shard;
    for (uint32_t i = 0; i < attempts && lard_load(&view->header->free_segments) <= pages; i++) {
        lard_evict_some(cache, view, UINT64_MAX, 1 + i * READS / attempts, now_ms);
    }
    return lard_tag_table_begin(view, pages, stamp - 1);
}

void lard_tagged_delete(lard_core *cache, lard_map *map, uint64_t hash, const larder_call *call) {
    const larder_call blocking = {.now_ms = call ? call->now_ms : 0};
    lard_view view = lard_view_of(map, lard_deletions_shard(map, hash));
    if (!lard_stamp_is_used(map)) {
        use_all_shards(cache, map, &blocking);
    }
    if (lock_table(cache, &view, &blocking) != LARDER_OK) {
        lard_tagged_forget(map, hash);
        lard_count(cache, LARD_STAT_forgotten_tags, 1);
        return;
    }
    uint64_t stamp = lard_stamp_raise(map);
    if (lard_tag_table_size(&view) || make_table(cache, &view, stamp, call ? call->now_ms : 0)) {
        lard_count(cache, LARD_STAT_forgotten_tags, lard_deletions_note(&view, hash, stamp));
    } else { /* pinned items leave no room for a table */
        lard_deletions_forget(&view, stamp);
        lard_count(cache, LARD_STAT_forgotten_tags, 1);
    }
    lard_shard_unlock(&view);
}

void lard_tagged_forget(lard_map *map, uint64_t hash) {
    lard_view view = lard_view_of(map, lard_deletions_shard(map, hash));
    lard_deletions_forget(&view, lard_stamp_raise(map));
}

static void repair(lard_core *cache, lard_map *map, uint64_t hash, const larder_call *call) {
    lard_view view = lard_view_of(map, lard_deletions_shard(map, hash));
    if (lock_table(cache, &view, call) == LARDER_OK) {
        lard_deletions_repair(&view, hash, lard_stamp_raise(map));
        lard_shard_unlock(&view);
    }
}

uint64_t lard_tagged_extend(lard_core *cache, lard_map *map, const larder_extra *extra, lard_extension *extension,
                            const larder_call *call) {
    uint32_t clear_epoch = lard_load(&map->control->clear_epoch);
    larder_stamp stamp = extra->stamp.origin ? extra->stamp : lard_tagged_now(map);
    extension->fields |= LARD_FIELD_TAGS;
    extension->stamp = stamp.number;
    extension->tag_count = extra->tag_count;
    for (unsigned i = 0; i < extra->tag_count; i++) {
        extension->tags[i] = lard_deletions_hash(map, extra->tags[i].text, extra->tags[i].bytes);
        if (lard_deletions_since(map, extension->tags[i], clear_epoch, NULL) == LARD_DELETIONS_ALL) {
            repair(cache, map, extension->tags[i], call);
        }
    }
    return stamp.origin;
}
