/*
 * queue.h — chooses the queue of a new item. Under the lock.
 */
#ifndef LARD_QUEUE_H
#define LARD_QUEUE_H

#include "base/hash.h"

/* The queue of a new item of so many bytes, by its ghost; learns the queues' sizes from it. */
uint32_t lard_queue_for(lard_view *view, const lard_hash *hash, uint64_t bytes);
/* The part of the record segments that the small queue may have, in 65536ths. Bounded, even if the word is
 * damaged. */
uint32_t lard_queue_small_share(const lard_view *view);

#endif
