/*
 * details.c — an item as people look at it. Takes no lock.
 */
#include "item/details.h"
#include "base/reads.h"
#include "file/belief.h"
#include "file/hints.h"
#include "file/view.h"
#include "item/large.h"
#include "proc/process.h"
#include "segment/segment.h"

void lard_details_of(lard_map *map, const lard_key *key, const larder_item *item, const lard_hit *hit,
                     larder_details *details) {
    lard_view view = lard_view_of(map, lard_hash_shard(map, &key->hash));
    const lard_segment *row = &view.segments[lard_segment_at(&view, hit->offset)];
    *details = (larder_details){
        .item = *item,
        .stored_after_ms = (int64_t)lard_load(&row->oldest_ms),
        .reads = lard_reads_of(hit->reads, hit->slot),
        .tag_count = hit->extension.fields & LARD_FIELD_TAGS ? hit->extension.tag_count : 0,
    };
}

lard_key lard_details_key(lard_map *map, const void *key, size_t key_bytes) {
    lard_key wanted = lard_key_of(map, &lard_belief_any, key, key_bytes);
    lard_hints_take(map, lard_hash_shard(map, &wanted.hash));
    return wanted;
}

bool lard_details_find(lard_core *cache, lard_map *map, const void *key, size_t key_bytes, larder_details *details,
                       int64_t now_ms) {
    lard_key wanted = lard_details_key(map, key, key_bytes);
    larder_item item;
    lard_hit hit;
    if (lard_lookup(cache, map, &wanted, NULL, NULL, 0, &item, &hit, now_ms) != LARDER_OK ||
        (hit.type == LARD_TYPE_HEAD && !lard_large_is_whole(cache, map, &hit.head))) {
        return false;
    }
    lard_details_of(map, &wanted, &item, &hit, details);
    return true;
}

bool lard_details_lease(lard_core *cache, lard_map *map, const void *key, size_t key_bytes, larder_leased *leased,
                        int64_t now_ms) {
    lard_key wanted = lard_key_of(map, &lard_belief_any, key, key_bytes);
    lard_hit hit;
    larder_status found = lard_lookup(cache, map, &wanted, NULL, NULL, 0, NULL, &hit, now_ms);
    int64_t left_ms = hit.slot ? lard_extension_leased_ms(&hit.extension) : 0;
    uint32_t owner = left_ms > 0 ? lard_process_owner_of(hit.extension.token) : 0;
    if (left_ms <= 0 || !lard_process_alive(cache, map, owner)) {
        return false;
    }
    *leased = (larder_leased){
        .age_ms = hit.extension.lease_ms - left_ms,
        .left_ms = left_ms,
        .pid = lard_load(&map->processes[LARD_OWNER_SLOT(owner)].pid),
        .has_value = found == LARDER_OK,
    };
    return true;
}
