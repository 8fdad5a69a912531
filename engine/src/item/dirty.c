/*
 * dirty.c — makes pages dirty before a lock is taken. Takes no lock; what it finds may be out of date.
 */
#include "item/dirty.h"
#include "file/view.h"
#include "index/index.h"
#include "segment/record.h"
#include "segment/segment.h"

/* The end of the queue's open segment, as far as the record may reach, and the segment's row. */
static void dirty_segment(const lard_view *view, uint32_t queue, uint64_t bytes) {
    uint32_t active = lard_segment_active(view, queue);
    if (active == 0 || active > view->map->super.segments_per_shard) {
        return;
    }
    lard_segment *row = &view->segments[active - 1];
    uint64_t used = lard_load(&row->write_offset) & ~7u, size = view->map->super.segment_bytes;
    uint64_t end = used + bytes < size ? used + bytes : size;
    uint64_t start = lard_view_segment_offset(view, active - 1);
    lard_dirty(&row->generation);
    if (end - used > LARD_PAGE) { /* the cache misses of a long record overlap */
        for (uint64_t at = used; at < end; at += LARD_PAGE) {
            __builtin_prefetch(lard_view_words(view, start + at), 1);
        }
    }
    while (used < end) { /* a word of each page */
        lard_u64 *word = lard_view_words(view, start + used);
        lard_dirty(word);
        used += LARD_PAGE - ((uintptr_t)word & (LARD_PAGE - 1));
    }
}

void lard_dirty_for_write(const lard_view *view, const lard_hash *hash, lard_buckets *buckets, uint32_t queue,
                          uint64_t bytes) {
    if (!view->map->is_on_disk) {
        return;
    }
    if (LARD_LIKELY(lard_bucket_renew(view, hash, buckets))) {
        lard_dirty(&buckets->at[0]->slots[0]);
        lard_dirty(&buckets->at[1]->slots[0]);
    }
    if (queue != LARD_SEGMENT_MAIN) {
        dirty_segment(view, LARD_SEGMENT_SMALL, bytes);
    }
    if (queue != LARD_SEGMENT_SMALL) {
        dirty_segment(view, LARD_SEGMENT_MAIN, bytes);
    }
    if (queue == LARD_SEGMENT_FREE && lard_segment_active(view, LARD_QUEUE_OVERWRITTEN)) {
        dirty_segment(view, LARD_QUEUE_OVERWRITTEN, bytes);
    }
}

bool lard_dirty_for_change(const lard_view *view, const lard_key *key) {
    lard_record_info info;
    lard_found found = view->map->is_on_disk ? lard_index_find(view, key) : (lard_found){NULL, 0, NULL};
    if (!found.slot || !lard_record_of_slot(view, found.value, &info)) {
        return false;
    }
    uint64_t offset = LARD_SLOT_OFFSET(found.value);
    lard_dirty(&view->segments[lard_segment_at(view, offset)].generation);
    lard_dirty(lard_view_words(view, offset));
    lard_dirty(lard_view_words(view, offset + lard_record_bytes_at(&info) - 8));
    return true;
}
