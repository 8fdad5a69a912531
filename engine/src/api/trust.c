/*
 * trust.c — larder_trust and larder_trusted.
 *
 * Two words of the control page: until when, by the monotonic clock and by the wall clock. The coarse clocks that
 * a read can afford are wrong alone: the monotonic one stands still while the machine is suspended, and begins
 * again at a boot; the wall clock may be set. So a file is trusted only while both are near their words.
 *
 * The words are those of the configuration's row, exclusive or the row's mark: a process that stores them just
 * after its row was given to another configuration does not make that one trusted.
 */
#include "base/clock.h"
#include "file/belief.h"
#include "file/map.h"
#include "handle/enter.h"

/* The row of the handle's configuration, and its mark; NULL: it has none. */
static lard_configuration *row_of(larder *cache, lard_map *map, uint64_t *mark) {
    *mark = cache->belief ? lard_belief_mark(cache->belief, map) : 0;
    unsigned row =
        cache->belief ? lard_belief_renew(cache->belief, map, lard_load(&map->control->clear_epoch)) : 0;
    return row < LARD_CONFIGURATIONS ? &map->control->configurations[row] : NULL;
}

larder_status larder_trust(larder *cache, uint32_t for_ms, const larder_moment *since) {
    if (!cache || for_ms > LARDER_MAX_TRUST_MS) {
        return LARDER_INVALID;
    }
    lard_map *map = lard_enter_after_look(cache->core);
    if (!map) {
        return lard_enter_failure(cache->core);
    }
    uint64_t mark;
    lard_configuration *row = row_of(cache, map, &mark);
    if (!row) {
        return LARDER_NO_CONFIGURATION;
    }
    int64_t monotonic_ms = since ? since->monotonic_ms : lard_clock_monotonic_ms();
    int64_t wall_ms = since ? since->wall_ms : lard_clock_ms();
    lard_store(&row->trusted_ms, for_ms ? mark ^ ((uint64_t)monotonic_ms + for_ms) : 0);
    lard_store(&row->trusted_wall, for_ms ? mark ^ ((uint64_t)wall_ms + for_ms) : 0);
    return lard_map_outcome(map, LARDER_OK);
}

/* True if `until_ms` is ahead of a coarse clock, and no further than trust may last. */
static bool is_ahead(const lard_u64 *until_ms, uint64_t mark, int64_t coarse_ms) {
    int64_t until = (int64_t)(lard_load(until_ms) ^ mark);
    return !lard_clock_is_due(coarse_ms, until, LARDER_MAX_TRUST_MS + LARD_COARSE_LAG_MS);
}

larder_status larder_trusted(larder *cache) {
    lard_map *map = cache ? lard_enter(cache->core) : NULL;
    if (!map) {
        return LARDER_MISS;
    }
    uint64_t mark;
    const lard_configuration *row = row_of(cache, map, &mark);
    bool is_trusted = row && is_ahead(&row->trusted_ms, mark, lard_clock_monotonic_coarse_ms()) &&
                      is_ahead(&row->trusted_wall, mark, lard_clock_coarse_ms());
    return is_trusted ? LARDER_OK : LARDER_MISS;
}
