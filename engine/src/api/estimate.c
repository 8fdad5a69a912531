/*
 * estimate.c — larder_get_other_sizes: estimates the hit ratio at other sizes of the file.
 *
 * The ratio that was counted is the base. The shadow caches (evict/other_sizes.h) tell only which part of the
 * misses would have been hits, or how many more there would be. That is more exact than a difference of hit ratios
 * in the sample: a single key that is read very often raises or lowers the sample's ratio, but misses nowhere.
 */
#include "evict/other_sizes.h"
#include "evict/sample.h"
#include "file/hints.h"
#include "file/view.h"
#include "handle/enter.h"

#include <string.h>

#define MILLION 1000000.0
#define MIN_MISSES 100u     /* fewer tell nothing */
#define MAX_ERROR 0.05      /* an estimate may be wrong by that much, or by half of the change that it states */
#define DEVIATIONS 2        /* around an estimate, in which 95 % of all are */
#define SIMULATION_ERROR 10 /* per cent of a change: single keys are not segments of values */
#define UNSEEN 3            /* differences that a sample without any may have missed, with 95 % confidence */
#define HARDLY 50u          /* at most one get in 50 misses: the shadow cache has all keys */
#define ROUNDS 64           /* of a square root; the first ones halve it */

/* Without libm, which the library does not link. */
static double root_of(double square) {
    double root = square > 1 ? square : 1;
    for (int i = 0; i < ROUNDS; i++) {
        root = (root + square / root) / 2;
    }
    return root;
}

static double absolute(double number) { return number < 0 ? -number : number; }

/* True if everything that is read fits into the shadow cache, and so into a file of that size. */
static bool has_all(const lard_other_size_sum *sum) { return !sum->was_full && sum->there <= sum->gets / HARDLY; }

static void estimate(larder_other_size *size, const lard_other_size_sum *sum, double miss_ratio) {
    uint64_t misses = lard_other_sizes_misses(sum);
    if (sum->here < MIN_MISSES || (!sum->was_full && !has_all(sum))) {
        return;
    }
    double change = miss_ratio * ((double)sum->there - (double)sum->here) / (double)misses;
    double hits = 1 - miss_ratio - change;
    double error = DEVIATIONS * miss_ratio * root_of(sum->variance) + absolute(change) * SIMULATION_ERROR / 100 +
                   miss_ratio * UNSEEN / (double)misses;
    if (error > MAX_ERROR && error > absolute(change) / 2) {
        return;
    }
    size->is_known = 1;
    size->hits_ppm = (uint32_t)((hits < 0 ? 0 : hits > 1 ? 1 : hits) * MILLION);
    size->error_ppm = (uint32_t)(error * MILLION);
}

static bool evicts(lard_map *map, uint64_t evictions) {
    bool is_roomy = true;
    for (uint32_t shard = 0; shard < map->super.shard_count; shard++) {
        lard_view view = lard_view_of(map, shard);
        uint64_t epoch;
        is_roomy = is_roomy && (!lard_view_is_current(&view, &epoch) || lard_sample_is_roomy(&view));
    }
    return evictions > 0 && !is_roomy;
}

larder_status larder_get_other_sizes(larder *cache, larder_other_sizes *sizes) {
    larder_stats stats;
    if (!cache || !sizes) {
        return LARDER_INVALID;
    }
    memset(sizes, 0, sizeof *sizes);
    larder_status status = larder_get_stats(cache, &stats);
    lard_map *map = status == LARDER_OK ? lard_enter(cache->core) : NULL;
    if (!map) {
        return status == LARDER_OK ? lard_enter_failure(cache->core) : status;
    }
    for (uint32_t shard = 0; shard < map->other_shards; shard++) {
        lard_hints_take(map, shard); /* this process may not have used it, but others have counted there */
    }
    uint64_t reads = stats.hits + stats.misses;
    sizes->size_bytes = map->super.file_bytes;
    sizes->reads = reads;
    sizes->hits = stats.hits;
    sizes->evicts = evicts(map, stats.evictions);
    for (unsigned other = 0; other < LARDER_OTHER_SIZES; other++) {
        larder_other_size *size = &sizes->sizes[other];
        lard_other_size_sum sum = lard_other_sizes_total(map, other);
        size->per_cent = lard_other_sizes_per_cent(other);
        size->reads = sizes->evicts ? sum.gets : 0;
        if (sizes->evicts && reads) {
            estimate(size, &sum, (double)stats.misses / (double)reads);
        }
        if (size->is_known && !sizes->needed_bytes && sum.capacity && has_all(&sum)) {
            sizes->needed_bytes = sizes->size_bytes * size->per_cent / 100 * sum.length / sum.capacity;
        }
    }
    return LARDER_OK;
}
