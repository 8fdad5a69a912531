/*
 * pin.h — pinned records, which eviction keeps: the bytes they take.
 */
#ifndef LARD_PIN_H
#define LARD_PIN_H

#include "base/types.h"

size_t lard_pin_limit(const lard_map *map);    /* bytes of the longest record */
uint64_t lard_pin_room(const lard_view *view); /* bytes that they may take of the shard */
/* Bytes of room that a record of such a length takes, with its part of what is left over at a segment's end. */
uint64_t lard_pin_cost(const lard_view *view, uint64_t record_bytes);
/* The same of the record of a slot where it is pinned, else 0. */
uint64_t lard_pin_cost_of(const lard_view *view, uint64_t slot);

/* Whether any record may be pinned. The bytes cannot tell: deletes without the lock change them at any time. */
static inline bool lard_pin_any(const lard_view *view) { return lard_load(&view->head->has_pins) != 0; }

/* Bytes that pinned records take now. */
static inline uint64_t lard_pin_bytes(const lard_view *view) {
    int64_t bytes = (int64_t)lard_load(&view->head->pinned_bytes);
    return bytes > 0 ? (uint64_t)bytes : 0;
}

#endif
