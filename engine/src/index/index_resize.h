/*
 * index_resize.h — grows the index: adds pages, splits buckets, moves items between buckets. Under the lock.
 */
#ifndef LARD_INDEX_RESIZE_H
#define LARD_INDEX_RESIZE_H

#include "index/bucket.h"

bool lard_index_resize_begin(lard_view *view); /* makes the index of an empty shard; false: no segment is free */
/* Moves an item of two full buckets to another bucket. True: there is an empty slot now. */
bool lard_index_resize_make_room(lard_view *view, const lard_buckets *pair);
/* Splits a few buckets, as long as splits are due. */
void lard_index_resize_split(lard_core *cache, lard_view *view);
/* Finishes or undoes the split and the move of a dead owner of the lock. */
void lard_index_resize_finish(lard_view *view);

/* True if a bucket is to be split, because there are too many items. The slots that have none hold ghosts; there
 * are more of them while the index is small compared with the shard. */
static inline bool lard_index_resize_is_due(const lard_view *view) {
    int64_t items = (int64_t)lard_load(&view->header->items), count = lard_bucket_count(view);
    return items > (count < view->map->small_index ? count * 7 / 2 : count * 17 / 3);
}

static inline void lard_index_resize_grow(lard_core *cache, lard_view *view) {
    if (LARD_UNLIKELY(lard_index_resize_is_due(view))) {
        lard_index_resize_split(cache, view);
    }
}

#endif
