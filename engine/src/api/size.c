/*
 * size.c — larder_size, larder_max_value and larder_max_pinned: how large the file is, and items may be.
 */
#include "file/map.h"
#include "segment/pin.h"

uint64_t larder_size(const larder *cache) {
    lard_map *map = __atomic_load_n(&cache->core->map, __ATOMIC_ACQUIRE);
    return map ? map->super.file_bytes : 0;
}

size_t larder_max_value(const larder *cache) {
    lard_map *map = __atomic_load_n(&cache->core->map, __ATOMIC_ACQUIRE);
    return map ? map->max_value : 0;
}

size_t larder_max_pinned(const larder *cache) {
    const lard_map *map = cache ? __atomic_load_n(&cache->core->map, __ATOMIC_ACQUIRE) : NULL;
    return map ? lard_pin_limit(map) - LARD_RECORD_HEADER : 0;
}
