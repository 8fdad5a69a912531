/*
 * count.h — counts statistics in this process's own row of the hints, in the order of LARDER_COUNTS_LIST.
 */
#ifndef LARD_COUNT_H
#define LARD_COUNT_H

#include "base/types.h"

enum {
#define LARD_STAT_INDEX(name, text) LARD_STAT_##name,
    LARDER_COUNTS_LIST(LARD_STAT_INDEX)
#undef LARD_STAT_INDEX
};

static inline void lard_count_store(lard_u64 *counter, uint64_t count) {
    __atomic_store_n(LARD_RAW(counter), count, __ATOMIC_RELAXED);
}

static inline uint64_t lard_count(lard_core *cache, unsigned which, uint64_t by) {
    lard_u64 *counter = &__atomic_load_n(&cache->counters, __ATOMIC_RELAXED)[which];
    uint64_t count = lard_load(counter) + by;
    lard_count_store(counter, count);
    return count;
}

/* Takes back one. Nothing if there is none: the row may be a new one since. */
static inline void lard_count_back(lard_core *cache, unsigned which) {
    lard_u64 *counter = &__atomic_load_n(&cache->counters, __ATOMIC_RELAXED)[which];
    uint64_t count = lard_load(counter);
    if (count) {
        lard_count_store(counter, count - 1);
    }
}

#endif
