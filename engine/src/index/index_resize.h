/*
 * index_resize.h — grows the index: adds pages, splits buckets, moves items between buckets. Under the lock.
 */
#ifndef LARD_INDEX_RESIZE_H
#define LARD_INDEX_RESIZE_H

#include "index/bucket.h"

bool lard_index_resize_begin(lard_view *view); /* makes the index of an empty shard; false: no segment is free */
/* Moves an item of two full buckets to another bucket. True: there is an empty slot now. */
bool lard_index_resize_make_room(lard_view *view, const lard_buckets *pair);
bool lard_index_resize_is_due(const lard_view *view);
void lard_index_resize_grow(larder *cache, lard_view *view);
/* Finishes or undoes the split and the move of a dead owner of the lock. */
void lard_index_resize_finish(lard_view *view);

#endif
