/*
 * evict.h — evicts items by S3-FIFO (Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023).
 *
 * Under the lock.
 */
#ifndef LARD_EVICT_H
#define LARD_EVICT_H

#include "base/types.h"

/* Processes up to `budget_bytes` of the victim, chooses one if there is none, and frees it at its end. Items with
 * at least `min_reads` reads stay. */
void lard_evict_some(lard_core *cache, lard_view *view, uint64_t budget_bytes, unsigned min_reads, int64_t now_ms);

#endif
