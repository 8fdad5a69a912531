/*
 * trust.c — larder_trust and larder_trusted.
 *
 * A word of the control page: until when, by the monotonic clock. It may be of a boot before, so what is too far
 * ahead counts as past.
 */
#include "base/clock.h"
#include "file/map.h"
#include "handle/enter.h"

larder_status larder_trust(larder *cache, uint32_t for_ms) {
    if (!cache || for_ms > LARDER_MAX_TRUST_MS) {
        return LARDER_INVALID;
    }
    lard_map *map = lard_enter_after_look(cache);
    if (!map) {
        return lard_enter_failure(cache);
    }
    lard_store(&map->control->configurations[0].trusted_ms,
               for_ms ? (uint64_t)lard_clock_monotonic_ms() + for_ms : 0);
    return lard_map_outcome(map, LARDER_OK);
}

larder_status larder_trusted(larder *cache) {
    lard_map *map = cache ? lard_enter(cache) : NULL;
    if (!map) {
        return LARDER_MISS;
    }
    uint64_t left =
        lard_load(&map->control->configurations[0].trusted_ms) - (uint64_t)lard_clock_monotonic_coarse_ms();
    return left - 1 < LARDER_MAX_TRUST_MS + LARD_COARSE_LAG_MS ? LARDER_OK : LARDER_MISS;
}
