/*
 * index_resize.h — the index grows: pages, splits, moves between buckets. Under the lock.
 */
#ifndef LARD_INDEX_RESIZE_H
#define LARD_INDEX_RESIZE_H

#include "base/types.h"

bool lard_index_resize_begin(lard_view *view);
/* Moves an item of two full buckets to another one; true where that made an empty slot. */
bool lard_index_resize_make_room(lard_view *view, lard_bucket *const buckets[2]);
bool lard_index_resize_is_due(const lard_view *view);
void lard_index_resize_grow(larder *cache, lard_view *view);
/* Finishes, or undoes, what a dead owner of the lock began. */
void lard_index_resize_finish(lard_view *view);

#endif
