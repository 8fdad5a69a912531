/*
 * stamp.c — raises the number of deletions of tags, and replaces a damaged one.
 */
#include "segment/stamp.h"
#include "file/map.h"
#include "file/view.h"

uint64_t lard_stamp_raise(lard_map *map) {
    lard_u64 *counter = &map->control->stamp;
    for (;;) {
        uint64_t word = lard_load(counter), stamp = lard_stamp_unsealed(word);
        if (stamp == LARD_STAMP_DAMAGED) {
            lard_stamp_repair(map);
        } else if (lard_cas64(counter, &word, lard_stamp_sealed(stamp + 1))) {
            return stamp + 1;
        }
    }
}

/* No stamp in a shard's table or header is later, unless that is damaged too. */
static uint64_t latest_in(const lard_view *view) {
    uint64_t floor = lard_stamp_unsealed(lard_load(&view->header->tags_floor));
    uint64_t start = lard_stamp_unsealed(lard_load(&view->header->tags_start));
    floor = floor == LARD_STAMP_DAMAGED ? 0 : floor;
    start = start == LARD_STAMP_DAMAGED ? 0 : start + LARD_CELL_STAMP_MASK;
    return floor > start ? floor : start;
}

/* Clears first: if this process dies in between, the next one finds the damage again. */
void lard_stamp_repair(lard_map *map) {
    uint64_t word = lard_load(&map->control->stamp), latest = 0;
    if (lard_stamp_unsealed(word) != LARD_STAMP_DAMAGED) {
        return; /* another process has repaired it */
    }
    lard_map_clear(map);
    for (uint32_t shard = 0; shard < map->super.shard_count; shard++) {
        lard_view view = lard_view_of(map, shard);
        uint64_t stamp = latest_in(&view);
        latest = stamp > latest ? stamp : latest;
    }
    lard_cas64(&map->control->stamp, &word, lard_stamp_sealed(latest + 1));
}
