/*
 * view.h — computes where the parts of a shard are in memory.
 */
#ifndef LARD_VIEW_H
#define LARD_VIEW_H

#include "base/hash.h"

static inline lard_view lard_view_of(lard_map *map, uint32_t number) {
    lard_view view;
    view.map = map;
    view.base = map->shards + (size_t)number * map->super.shard_bytes;
    view.header = (lard_shard *)view.base;
    view.directory = (lard_u32 *)(view.base + map->super.directory_offset);
    view.segments = (lard_segment *)(view.base + map->super.segment_table_offset);
    view.number = number;
    return view;
}

/* False: the shard counts as empty, because the cache was cleared, or because it is being emptied. */
static inline bool lard_view_is_current(const lard_view *view, uint64_t *epoch) {
    *epoch = lard_load_acquire(&view->header->epoch);
    return LARD_EPOCH_CLEAR(*epoch) == lard_load(&view->map->control->clear_epoch) && *epoch != 0;
}

/* lard_shard.epoch_check */
static inline uint32_t lard_view_epoch_check(uint64_t epoch) { return (uint32_t)lard_hash_mix(~epoch); }

/* True if the shard's epoch is as it was stored; false also while it changes. */
static inline bool lard_view_epoch_is_sound(const lard_view *view, uint64_t epoch) {
    return lard_load(&view->header->epoch_check) == lard_view_epoch_check(epoch) &&
           lard_load(&view->header->emptied) == (uint32_t)epoch;
}

static inline uint64_t lard_view_segment_offset(const lard_view *view, uint32_t segment) {
    return view->map->super.data_offset + ((uint64_t)segment << view->map->segment_shift);
}

/* Where an offset of the shard is in the file. */
static inline uint64_t lard_view_in_file(const lard_view *view, uint64_t offset) {
    return view->map->super.shard_offset + view->number * view->map->super.shard_bytes + offset;
}

static inline lard_u64 *lard_view_words(const lard_view *view, uint64_t offset) {
    return (lard_u64 *)(view->base + offset);
}

#endif
