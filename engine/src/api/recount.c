/*
 * recount.c — larder_recount.
 */
#include "base/count.h"
#include "base/hash.h"
#include "base/key.h"
#include "handle/enter.h"
#include "usage/sampler.h"

static bool is_hit(larder_read read) { return read == LARDER_READ_HIT || read == LARDER_READ_STALE; }

void larder_recount(larder *cache, const void *key, size_t key_bytes, larder_read from, larder_read to) {
    lard_map *map = cache && key ? lard_enter(cache->core) : NULL;
    if (!map || key_bytes > LARDER_MAX_KEY) {
        return;
    }
    if (from == LARDER_READ_MISS) {
        lard_count_back(cache->core, LARD_STAT_misses);
    } else if (is_hit(from)) {
        lard_count_back(cache->core, LARD_STAT_hits);
    }
    if (from == LARDER_READ_STALE) {
        lard_count_back(cache->core, LARD_STAT_stale_hits);
    }
    lard_count(cache->core, LARD_STAT_misses, to == LARDER_READ_MISS);
    lard_count(cache->core, LARD_STAT_hits, is_hit(to));
    lard_count(cache->core, LARD_STAT_stale_hits, to == LARDER_READ_STALE);
    if (lard_sampler_of(cache->core)) {
        lard_key counted = lard_key_of(map, cache->belief, key, key_bytes);
        lard_sampler_recount(cache->core, &counted, from, to);
    }
}
