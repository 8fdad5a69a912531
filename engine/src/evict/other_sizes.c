/*
 * other_sizes.c — counts the misses of shadow caches that stand for caches of other sizes.
 *
 * Keys are counted in groups. A key that is read often changes many counts of its group, so gets are not
 * independent of each other, but groups are: how much they differ shows how exact the sum is.
 */
#include "evict/other_sizes.h"

#include <string.h>

#define MOST 2048u /* gets or sets of a group, after which all groups count half */

uint32_t lard_other_sizes_per_cent(unsigned other) { return 50u << (other ? other + 1 : 0); }

static uint32_t load(const uint32_t *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }

static void store(uint32_t *word, uint32_t value) { __atomic_store_n(word, value, __ATOMIC_RELAXED); }

static void decay(lard_other_size *size, uint32_t divisor) {
    for (unsigned g = 0; g < LARD_SIZE_GROUPS; g++) {
        lard_size_count *group = &size->groups[g];
        store(&group->gets, group->gets / divisor);
        store(&group->stored, group->stored / divisor);
        store(&group->here, group->here / divisor);
        store(&group->there, group->there / divisor);
    }
}

void lard_other_sizes_show(lard_other_size *size, const lard_dimensions *has, uint32_t key, bool is_get,
                           bool missed) {
    if (has->capacity == 0) {
        return;
    }
    lard_shadow_result result = lard_simulate(&size->shadow, has, key, is_get);
    if (result != LARD_SHADOW_HAD) {
        store(&size->length, lard_simulate_length(&size->shadow));
    }
    if (result == LARD_SHADOW_MISSED && size->was_full != 1) {
        decay(size, UINT32_MAX);
        store(&size->was_full, 1);
    }
    lard_size_count *group = &size->groups[key % LARD_SIZE_GROUPS];
    if (is_get) {
        store(&group->gets, group->gets + 1);
        store(&group->here, group->here + missed);
        store(&group->there, group->there + (result != LARD_SHADOW_HAD));
    } else {
        store(&group->stored, group->stored + 1);
    }
    if (group->gets > MOST || group->stored > MOST) {
        decay(size, 2);
    }
}

/* ---- sums ---- */

/* False: the counts were overwritten. */
static bool read_group(const lard_other_size *size, unsigned g, lard_size_count *group) {
    const lard_size_count *from = &size->groups[g];
    *group = (lard_size_count){.gets = load(&from->gets),
                               .stored = load(&from->stored),
                               .here = load(&from->here),
                               .there = load(&from->there)};
    return group->gets <= MOST && group->stored <= MOST && group->here <= group->gets &&
           group->there <= group->gets;
}

uint64_t lard_other_sizes_misses(const lard_other_size_sum *sum) {
    return sum->stored > sum->here ? sum->stored : sum->here;
}

/* The variance of the ratio: the groups are independent, so it is their squared distances from the ratio. */
static double variance_of(const lard_map *map, unsigned other, const lard_other_size_sum *sum) {
    double misses = (double)lard_other_sizes_misses(sum), squares = 0, groups = 0;
    double ratio = misses > 0 ? ((double)sum->there - (double)sum->here) / misses : 0;
    for (uint32_t shard = 0; shard < map->other_shards; shard++) {
        for (unsigned g = 0; g < LARD_SIZE_GROUPS; g++) {
            lard_size_count group;
            if (read_group(&lard_other_sizes_of(map, shard)->sizes[other], g, &group)) {
                uint32_t missed = sum->stored > sum->here ? group.stored : group.here;
                double off = (double)group.there - (double)group.here - ratio * (double)missed;
                squares += off * off;
                groups++;
            }
        }
    }
    return groups > 1 && misses > 0 ? squares / (misses * misses) * groups / (groups - 1) : 0;
}

lard_other_size_sum lard_other_sizes_total(const lard_map *map, unsigned other) {
    lard_other_size_sum sum = {0};
    uint32_t full = 0;
    for (uint32_t shard = 0; shard < map->other_shards; shard++) {
        const lard_other_size *size = &lard_other_sizes_of(map, shard)->sizes[other];
        uint32_t capacity = load(&lard_reads_hints(&map->dircache[shard])->capacity), length = load(&size->length);
        uint32_t room = lard_other_sizes_capacity(other, capacity);
        full += load(&size->was_full) == 1;
        sum.capacity += room <= LARD_SHADOW_ITEMS ? room : 0;
        sum.length += length <= LARD_SHADOW_ITEMS ? length : 0;
        for (unsigned g = 0; g < LARD_SIZE_GROUPS; g++) {
            lard_size_count group;
            if (read_group(size, g, &group)) {
                sum.gets += group.gets;
                sum.stored += group.stored;
                sum.here += group.here;
                sum.there += group.there;
            }
        }
    }
    sum.was_full = full > map->other_shards / 2;
    sum.variance = variance_of(map, other, &sum);
    return sum;
}
