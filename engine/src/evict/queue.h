/*
 * queue.h — which queue a new item goes to. Under the lock.
 */
#ifndef LARD_QUEUE_H
#define LARD_QUEUE_H

#include "base/hash.h"

/* The queue for a new item of so many bytes, by its ghost; the queues learn from it. */
uint32_t lard_queue_for(lard_view *view, const lard_hash *hash, uint64_t bytes);
/* Of the record segments, how much the small queue may have, in 65536ths. */
uint32_t lard_queue_small_share(const lard_view *view);

#endif
