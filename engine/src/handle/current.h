/*
 * current.h — the map that this process is attached to.
 */
#ifndef LARD_CURRENT_H
#define LARD_CURRENT_H

#include "file/map.h"
#include "proc/fork.h"

/* The map, or NULL: this process is not attached. */
static inline lard_map *lard_current_map(const lard_core *cache) {
    lard_map *map = __atomic_load_n(&cache->map, __ATOMIC_ACQUIRE);
    if (LARD_LIKELY(map && __atomic_load_n(&cache->fork_number, __ATOMIC_ACQUIRE) == lard_fork_number() &&
                    lard_map_is_fit(map))) {
        return map;
    }
    return NULL;
}

#endif
