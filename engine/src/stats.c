/*
 * stats.c — statistics: each process counts in its own slot, sums are made here.
 */
#include "internal.h"

#include <string.h>

_Static_assert(LARDER_STATS_WORDS == LARD_COUNTERS, "every count has a word in the process slot");

larder_status larder_get_stats(larder *cache, larder_stats *stats) {
    if (!cache || !stats) {
        return LARDER_INVALID;
    }
    memset(stats, 0, sizeof *stats);
    lard_map *map = lard_enter(cache);
    if (!map) {
        return LARDER_DAMAGED;
    }
    uint64_t sums[LARD_COUNTERS];
    for (int i = 0; i < LARD_COUNTERS; i++) {
        sums[i] = lard_load(&map->control->retired[i]);
    }
    for (uint32_t slot = 0; slot < map->super.process_slots; slot++) {
        lard_process *row = &map->processes[slot];
        if (lard_load(&row->incarnation) == 0) {
            continue;
        }
        for (int i = 0; i < LARD_COUNTERS; i++) {
            sums[i] += lard_load(&row->counters[i]);
        }
        stats->processes +=
            lard_process_alive(cache, map, lard_owner_word(slot, lard_load(&row->incarnation))) ? 1 : 0;
    }
#define LARD_SUM(name, text) stats->name = sums[LARD_STAT_##name];
    LARDER_COUNTS_LIST(LARD_SUM)
#undef LARD_SUM
    for (uint32_t s = 0; s < map->super.shard_count; s++) {
        lard_view view = lard_view_of(map, s);
        uint64_t epoch;
        stats->kept_room_bytes += lard_keep_room(&view);
        if (!lard_shard_current(&view, &epoch)) {
            continue;
        }
        int64_t items = (int64_t)lard_load(&view.head->items);
        stats->items += items > 0 ? (uint64_t)items : 0;
        stats->used_bytes +=
            (uint64_t)(lard_load(&view.head->small_segments) + lard_load(&view.head->main_segments))
            << map->segment_shift;
        stats->kept_bytes += lard_keep_bytes(&view);
        stats->index_bytes += (uint64_t)lard_load(&view.head->index_pages) << map->segment_shift;
    }
    stats->capacity_bytes = ((uint64_t)map->super.shard_count * map->super.segments_per_shard)
                            << map->segment_shift;
    stats->size_bytes = map->super.file_bytes;
    stats->shards = map->super.shard_count;
    return LARDER_OK;
}
