/*
 * read.c — reads a value of any length: a record, or the chunks that a record names. If a chunk is missing,
 * the value is a miss, also for calls that copy no value.
 */
#include "item/read.h"
#include "base/count.h"
#include "base/key.h"
#include "file/view.h"
#include "index/ghost.h"
#include "index/index.h"
#include "index/slot.h"
#include "item/large.h"
#include "segment/segment.h"

#define ATTEMPTS 32

/* Drops a head and its chunks after a chunk was found missing. False: the key has another value by now. */
static bool drop_head(lard_core *cache, lard_map *map, const lard_key *key, const lard_hit *hit) {
    lard_view view = lard_view_of(map, lard_hash_shard(map, &key->hash));
    bool was_main = lard_segment_state(&view, hit->offset) == LARD_SEGMENT_MAIN;
    uint64_t ghost = was_main ? 0 : lard_ghost_word(&view, LARD_SLOT_FINGERPRINT(hit->slot_value), hit->offset);
    if (!lard_slot_replace(hit->slot, hit->slot_value, ghost)) {
        return false; /* the process that replaced it drops its chunks */
    }
    lard_index_count_off(&view, false);
    lard_count(cache, LARD_STAT_evictions, 1);
    lard_large_drop(map, &hit->head);
    return true;
}

larder_status lard_read(lard_core *cache, lard_map *map, const lard_key *key, const lard_place *place,
                        lard_room *room, larder_item *item, lard_hit *hit, int64_t now_ms) {
    larder_item found;
    lard_place again;
    item = item ? item : &found;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        larder_status status = lard_lookup(cache, map, key, place, room ? room->bytes : NULL,
                                           room ? room->capacity : 0, item, hit, now_ms);
        place = NULL;
        if (status == LARDER_BUFFER_TOO_SMALL && lard_lookup_grow(room, item->size_bytes, hit->info.word1)) {
            again = (lard_place){hit->slot, hit->reads, hit->epoch};
            place = &again;
            continue;
        }
        if (status != LARDER_OK || hit->type != LARD_TYPE_HEAD) {
            return status;
        }
        status = lard_large_read(cache, map, key, hit, room);
        if (status != LARDER_MISS || drop_head(cache, map, key, hit)) {
            return status;
        }
    }
    return LARDER_MISS;
}

bool lard_read_exists(lard_core *cache, lard_map *map, const lard_key *key, larder_item *item, int64_t now_ms) {
    lard_hit hit;
    larder_item found;
    item = item ? item : &found;
    return lard_read(cache, map, key, NULL, NULL, item, &hit, now_ms) == LARDER_OK &&
           item->staleness == LARDER_FRESH;
}
