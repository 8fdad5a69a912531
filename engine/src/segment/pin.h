/*
 * pin.h — limits and counts the bytes of pinned records, which are not evicted.
 */
#ifndef LARD_PIN_H
#define LARD_PIN_H

#include "base/types.h"

size_t lard_pin_limit(const lard_map *map);    /* bytes of the longest pinned record */
uint64_t lard_pin_room(const lard_view *view); /* bytes of the shard that pinned records may take */
/* Bytes that a record of such a length costs, with its share of the bytes left unused at a segment's end. */
uint64_t lard_pin_cost(const lard_view *view, uint64_t record_bytes);
/* The cost of a slot's record if it is pinned, else 0. */
uint64_t lard_pin_cost_of(const lard_view *view, uint64_t slot);

/* Can any record be pinned? The count of bytes cannot tell: deletes change it without the lock at any time. */
static inline bool lard_pin_any(const lard_view *view) { return lard_load(&view->header->has_pins) != 0; }

/* Bytes that pinned records take now. */
static inline uint64_t lard_pin_bytes(const lard_view *view) {
    int64_t bytes = (int64_t)lard_load(&view->header->pinned_bytes);
    return bytes > 0 ? (uint64_t)bytes : 0;
}

#endif
