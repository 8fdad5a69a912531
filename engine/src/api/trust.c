/*
 * trust.c — larder_trust and larder_trusted.
 *
 * Two words of the control page: until when, by the monotonic clock and by the wall clock. The coarse clocks that
 * a read can afford are wrong alone: the monotonic one stands still while the machine is suspended, and begins
 * again at a boot; the wall clock may be set. So a file is trusted only while both are near their words.
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
    lard_configuration *row = &map->control->configurations[0];
    lard_store(&row->trusted_ms, for_ms ? (uint64_t)lard_clock_monotonic_ms() + for_ms : 0);
    lard_store(&row->trusted_wall, for_ms ? (uint64_t)lard_clock_ms() + for_ms : 0);
    return lard_map_outcome(map, LARDER_OK);
}

/* True if `until_ms` is ahead of a coarse clock, and no further than trust may last. */
static bool is_ahead(const lard_u64 *until_ms, int64_t coarse_ms) {
    return lard_load(until_ms) - (uint64_t)coarse_ms - 1 < LARDER_MAX_TRUST_MS + LARD_COARSE_LAG_MS;
}

larder_status larder_trusted(larder *cache) {
    lard_map *map = cache ? lard_enter(cache) : NULL;
    if (!map) {
        return LARDER_MISS;
    }
    const lard_configuration *row = &map->control->configurations[0];
    bool is_trusted = is_ahead(&row->trusted_ms, lard_clock_monotonic_coarse_ms()) &&
                      is_ahead(&row->trusted_wall, lard_clock_coarse_ms());
    return is_trusted ? LARDER_OK : LARDER_MISS;
}
