/*
 * slot.h — where a slot's item is, and whose it may be, without a look at its record.
 *
 * How many bits of a slot (layout.h draws it) are location and how many are tag depends
 * on the size of the file's shards; a map keeps both masks. Pure but for the segment's
 * row, which is loaded. Included by internal.h.
 */
#ifndef LARD_SLOT_H
#define LARD_SLOT_H

/* Bytes from the start of the shard; 0: empty, or ghosts. */
static inline uint64_t lard_slot_offset(const lard_map *map, uint64_t slot) {
    return (slot & map->location_mask) << 3;
}

/* The key's tag, standing where a slot has it. */
static inline uint64_t lard_tag_of(const lard_map *map, const lard_hash *hash) {
    return hash->full >> LARD_TAG_OF_HASH & map->tag_mask;
}

/* True of some slots without an item, too. */
static inline bool lard_slot_has_tag(const lard_map *map, uint64_t slot, const lard_hash *hash) {
    return ((slot ^ hash->full >> LARD_TAG_OF_HASH) & map->tag_mask) == 0;
}

/* The bit of a segment's `heads` that an offset belongs to. */
static inline uint64_t lard_head_part(const lard_view *view, uint64_t offset) {
    uint64_t inside = (offset - view->map->super.data_offset) & (view->map->super.segment_bytes - 1);
    return 1ull << (inside * LARD_HEAD_PARTS >> view->map->segment_shift);
}

/* False where no head of a large value is at the offset: true of few others. Under the lock. */
static inline bool lard_may_be_head(const lard_view *view, uint64_t offset) {
    uint64_t segment = (offset - view->map->super.data_offset) >> view->map->segment_shift;
    return segment < view->map->super.segments_per_shard &&
           (lard_load(&view->segments[segment].heads) & lard_head_part(view, offset)) != 0;
}

#endif
