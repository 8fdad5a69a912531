/*
 * admit.c — decides whether a shard has room for one more pinned record.
 *
 * The count of pinned bytes may be too high after a process died. So a record is refused only after all items were
 * counted again. A count that found no room is valid for a second, because a count reads every item and many
 * records may be refused in that time. Under the shard's lock.
 */
#include "evict/admit.h"
#include "base/key.h"
#include "evict/evict.h"
#include "evict/expired.h"
#include "index/index.h"
#include "index/index_resize.h"
#include "index/match.h"
#include "segment/pin.h"
#include "segment/segment.h"

#define REFUSALS_MS 1000u /* how long a count that found no room is valid */
#define WIDENINGS 16 /* attempts to grow the index: two buckets each, while an item needs a sixth of a bucket */

/* Grows the index if it is due; that sometimes needs a free segment. In an index that does not grow with its
 * items, a new item overwrites another one. Pinned items must not be lost that way. */
static void widen_index(lard_core *cache, lard_view *view, int64_t now_ms) {
    for (unsigned i = 0; i < WIDENINGS && lard_index_resize_is_due(view); i++) {
        if (lard_load(&view->header->free_segments) < LARD_MIN_FREE_SEGMENTS) {
            lard_evict_some(cache, view, UINT64_MAX, i / (WIDENINGS / 4), now_ms);
        }
        lard_index_resize_grow(cache, view);
    }
}

/* Is there room for the record, which replaces the key's present one? */
static bool fits(const lard_view *view, const lard_key *key, uint64_t record_bytes, bool *is_new) {
    uint64_t cost = lard_pin_cost(view, record_bytes);
    lard_found found = lard_index_find(view, key);
    *is_new = !found.slot;
    uint64_t before = found.slot ? lard_pin_cost_of(view, found.value) : 0;
    return cost <= before || lard_pin_bytes(view) + cost <= lard_pin_room(view) + before;
}

bool lard_admit_pinned(lard_core *cache, lard_view *view, const lard_key *key, uint64_t record_bytes,
                       int64_t now_ms) {
    bool is_new;
    if (!fits(view, key, record_bytes, &is_new)) {
        if ((uint32_t)now_ms - lard_load(&view->header->full_ms) < REFUSALS_MS) {
            return false;
        }
        uint32_t next = 0;
        lard_expired_drop(cache, view, &next, UINT32_MAX, now_ms, NULL);
        if (!fits(view, key, record_bytes, &is_new)) {
            lard_store(&view->header->full_ms, (uint32_t)now_ms);
            return false;
        }
    }
    if (is_new) {
        widen_index(cache, view, now_ms);
    }
    return true;
}
