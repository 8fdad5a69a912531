/*
 * pin.h — pinned items, which eviction leaves (pin.c): who may be one, how many bytes they take.
 *
 * All under the shard's lock, but for the two that only tell. Included by internal.h.
 */
#ifndef LARD_PIN_H
#define LARD_PIN_H

size_t lard_pin_limit(const lard_map *map); /* bytes of the longest record */
uint64_t lard_pin_room(const lard_view *view);
/* Is there room for a record that is to be pinned, in place of what its key has? Makes some where it can. */
bool lard_pin_admits(larder *cache, lard_view *view, const lard_hash *hash, const lard_record_spec *spec,
                     int64_t now_ms);
/* Bytes of room that a record of such a length takes, with its part of what is left over at a segment's end. */
uint64_t lard_pin_cost(const lard_view *view, uint64_t record_bytes);
/* The same of the record of a slot where it is pinned, else 0. */
uint64_t lard_pin_cost_of(const lard_view *view, uint64_t slot);
/* Of a dead owner: an item that stands where it was copied to, but is looked for where it stood. */
void lard_pin_finish_copy(lard_view *view);
/* Drops what has expired in up to `most` buckets from *next on; *next is where to go on, 0 at the end. Where those
 * were all buckets, counts what is pinned. Segments follow when their turn comes. */
uint64_t lard_pin_prune(larder *cache, lard_view *view, uint32_t *next, uint32_t most, int64_t now_ms);
/* Whether any record may be pinned. The bytes cannot tell: deletes without the lock change them at any time. */
static inline bool lard_has_pins(const lard_view *view) { return lard_load(&view->head->has_pins) != 0; }
static inline uint64_t lard_pin_bytes(const lard_view *view) {
    int64_t bytes = (int64_t)lard_load(&view->head->pinned_bytes);
    return bytes > 0 ? (uint64_t)bytes : 0;
}

#endif
