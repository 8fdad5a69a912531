/*
 * stats.c — larder_get_stats: sums the statistics that each process counts in its own row of the hints.
 */
#include "base/clock.h"
#include "base/count.h"
#include "file/belief.h"
#include "file/hints.h"
#include "file/view.h"
#include "handle/enter.h"
#include "proc/process.h"
#include "segment/tag_table.h"
#include "segment/pin.h"
#include "segment/segment.h"

#include <string.h>

_Static_assert(LARDER_STATS_WORDS == LARD_COUNTERS, "every count has a word in the process slot");

/* The time before which no item of the shard was stored, as its segments note it; at most `oldest_ms`. */
static uint64_t oldest_in(const lard_view *view, uint64_t oldest_ms) {
    for (uint32_t s = 0; s < view->map->super.segments_per_shard; s++) {
        const lard_segment *row = &view->segments[s];
        uint32_t state = lard_load(&row->state);
        uint64_t since_ms = lard_load(&row->oldest_ms);
        bool has_records = state == LARD_SEGMENT_SMALL || state == LARD_SEGMENT_MAIN;
        oldest_ms = has_records && since_ms < oldest_ms ? since_ms : oldest_ms;
    }
    return oldest_ms;
}

/* The counts may be slightly wrong, and briefly negative. */
static uint64_t items_of(const lard_shard *header) {
    int64_t chunks = (int64_t)lard_load(&header->chunks);
    int64_t items = (int64_t)lard_load(&header->items) - (chunks > 0 ? chunks : 0);
    return items > 0 ? (uint64_t)items : 0;
}

larder_status larder_get_stats(larder *cache, larder_stats *stats) {
    if (!cache || !stats) {
        return LARDER_INVALID;
    }
    memset(stats, 0, sizeof *stats);
    lard_map *map = lard_enter(cache->core);
    if (!map) {
        return lard_enter_failure(cache->core);
    }
    int64_t now_ms = lard_clock_of_call(NULL);
    uint64_t sums[LARD_COUNTERS];
    for (int i = 0; i < LARD_COUNTERS; i++) {
        sums[i] = lard_load(&map->control->retired[i]);
    }
    for (uint32_t slot = 0; slot < map->super.process_slots; slot++) {
        const lard_process *row = &map->processes[slot];
        if (lard_load(&row->incarnation) == 0) {
            continue;
        }
        for (unsigned i = 0; i < LARD_COUNTERS; i++) {
            sums[i] += lard_process_count(map, slot, i, now_ms);
        }
        bool attached = lard_process_is_attached(cache->core, map, slot);
        int64_t age_ms = lard_clock_since(now_ms, lard_process_counted_ms(map, slot));
        stats->processes += attached;
        if (attached && age_ms > (int64_t)stats->counts_age_ms) {
            stats->counts_age_ms = (uint64_t)age_ms;
        }
    }
#define LARD_SUM(name, text) stats->name = sums[LARD_STAT_##name];
    LARDER_COUNTS_LIST(LARD_SUM)
#undef LARD_SUM
    uint64_t oldest_ms = (uint64_t)now_ms;
    for (uint32_t s = 0; s < map->super.shard_count; s++) {
        lard_view view = lard_view_of(map, s);
        uint64_t epoch;
        stats->pinned_room_bytes += lard_pin_room(&view);
        stats->locked_shards += lard_load(&view.header->lock) != 0;
        if (!lard_view_is_current(&view, &epoch)) {
            continue;
        }
        stats->items += items_of(view.header);
        oldest_ms = oldest_in(&view, oldest_ms);
        stats->used_bytes +=
            (uint64_t)(lard_load(&view.header->small_segments) + lard_load(&view.header->main_segments))
            << map->segment_shift;
        stats->pinned_bytes += lard_pin_bytes(&view);
        stats->table_bytes += (uint64_t)lard_tag_table_size(&view) << map->segment_shift;
        stats->index_bytes += (uint64_t)lard_load(&view.header->index_pages) << map->segment_shift;
    }
    stats->oldest_age_ms = (uint64_t)now_ms - oldest_ms;
    stats->capacity_bytes =
        (uint64_t)map->super.shard_count * (map->super.segments_per_shard - LARD_MIN_FREE_SEGMENTS)
        << map->segment_shift;
    stats->size_bytes = map->super.file_bytes;
    stats->shards = map->super.shard_count;
    stats->process_room = lard_process_room(map);
    stats->hints_bytes = lard_hints_bytes(map);
    stats->hints_shared = map->has_shared_hints;
    stats->configurations = lard_belief_rows(map);
    stats->age_ms = (uint64_t)lard_clock_since(now_ms, (int64_t)map->super.created_ms);
    stats->configurations_full_ms = lard_load(&map->control->full_ms);
    return LARDER_OK;
}
