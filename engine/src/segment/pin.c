/*
 * pin.c — limits the bytes of a shard that pinned records may take, which are not evicted.
 *
 * Pinned items are in the main queue. Emptying a segment copies them, and a copy needs a free segment. So that
 * there always is one, pinned items may take two thirds of the shard. If the last free segment was taken for them,
 * no other record is written until the victim is empty (evict.c, reserve.c). A whole victim fits into one
 * free segment, so a shard never gets into a state in which nothing can be moved.
 *
 * A long record costs more than its bytes: of eleven records of 3/32 of a segment only ten fit into one. Each
 * store and each delete of a pinned record changes the count of pinned bytes. A process that dies between an item
 * and its count leaves the count too high.
 */
#include "segment/pin.h"
#include "segment/record.h"
#include "segment/segment.h"

#define RECORDS_A_SEGMENT 2 /* at least */

size_t lard_pin_limit(const lard_map *map) {
    size_t part = map->super.segment_bytes / RECORDS_A_SEGMENT;
    return part < LARD_MAX_RECORD_VALUE ? part : LARD_MAX_RECORD_VALUE;
}

uint64_t lard_pin_room(const lard_view *view) {
    uint64_t segments = view->map->super.segments_per_shard - LARD_MIN_FREE_SEGMENTS; /* of 8 at least */
    return (segments << view->map->segment_shift) * 2 / 3; /* the rest: dead records, index, other items */
}

uint64_t lard_pin_cost(const lard_view *view, uint64_t record_bytes) {
    uint64_t segment = view->map->super.segment_bytes;
    return record_bytes < segment ? segment / (segment / record_bytes) : segment;
}

uint64_t lard_pin_cost_of(const lard_view *view, uint64_t slot) {
    lard_record_info info;
    if (!lard_record_of_slot(view, slot, &info) || !LARD_WORD0_PINNED(info.word0)) {
        return 0;
    }
    return lard_pin_cost(view, lard_record_bytes_at(&info));
}
