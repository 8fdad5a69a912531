/*
 * directory.h — the directory of a shard: which segment is a page of the index, or of the table of deleted tags.
 *
 * An entry has a check of its segment, its place, and how often the shard was emptied. So neither a flipped bit
 * nor a wrong number of buckets leads to a page of an earlier index, whose slots name items that were cleared.
 * Read without a lock; changed under the shard's lock.
 */
#ifndef LARD_DIRECTORY_H
#define LARD_DIRECTORY_H

#include "file/view.h"

#define LARD_NO_SEGMENT UINT32_MAX

/* An odd factor times a difference below 2^16 is not 0 there. So the check differs if the segment or the number of
 * times differs, but for one that differs by 65,536. */
static inline uint32_t lard_directory_entry(const lard_view *view, uint32_t number, uint32_t segment) {
    uint32_t emptied = lard_load(&view->header->emptied);
    uint32_t check = (segment * LARD_ENTRY_FACTOR) ^ (emptied * LARD_ENTRY_EMPTIED) ^ (number * LARD_ENTRY_NUMBER);
    return segment | check << LARD_ENTRY_SEGMENT_BITS;
}

/* The segment that an entry names, or LARD_NO_SEGMENT: it is damaged, or of an earlier index. */
static inline uint32_t lard_directory_segment(const lard_view *view, uint32_t number) {
    uint32_t entry = lard_load(&view->directory[number]), segment = LARD_ENTRY_SEGMENT(entry);
    bool is_sound =
        segment < view->map->super.segments_per_shard && entry == lard_directory_entry(view, number, segment);
    return LARD_LIKELY(is_sound) ? segment : LARD_NO_SEGMENT;
}

static inline void lard_directory_store(lard_view *view, uint32_t number, uint32_t segment) {
    lard_store(&view->directory[number], lard_directory_entry(view, number, segment));
}

#endif
