/*
 * sampler.c — counts in private memory which keyspaces are used and which keys are hot, from a sample of the
 * calls.
 */
#include "usage/sampler.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/pause.h"
#include "base/siphash13.h"
#include "proc/fork.h"
#include "usage/sidecar.h"

#include <stdlib.h>
#include <string.h>

#define EXACT 128u /* samples of a period and kind that have weight 1 */
#define FEW 256u   /* and this many have at most this weight, later ones that of MOST: */
#define SMALL 8u
#define MOST 128u
#define MAX_MISSED 1000000
#define MAX_COMPUTE_US \
    300000000u     /* a store that comes later than 5 minutes after the miss computed something else */
#define TRIES 1000 /* of a thread that folds, until another has counted */

static const uint64_t no_seed[2];

bool lard_sampler_start(lard_core *cache) {
    if (cache->sampler) {
        return true;
    }
    lard_sampler *sampler = calloc(1, sizeof *sampler);
    if (sampler) {
        sampler->scratch = calloc(1, sizeof *sampler->scratch);
    }
    if (!sampler || !sampler->scratch) {
        free(sampler);
        return false;
    }
    sampler->fork_number = lard_fork_number();
    sampler->random = 0x9e3779b97f4a7c15ull;
    sampler->next_fold_ms = lard_clock_monotonic_coarse_ms();
    for (unsigned kind = 0; kind < 3; kind++) {
        sampler->weight[kind] = 1;
        sampler->gap[kind] = 1;
    }
    cache->until_read = cache->until_store = cache->until_evicted = 1;
    __atomic_store_n(&cache->sampler, sampler, __ATOMIC_RELEASE);
    return true;
}

void lard_sampler_free(lard_core *cache) {
    if (cache->sampler) {
        free(cache->sampler->scratch);
        free(cache->sampler);
        cache->sampler = NULL;
    }
}

static void forget(lard_sampler_period *period) {
    memset(period, 0, offsetof(lard_sampler_period, row));
    memset(period->hot, 0, sizeof period->hot);
    memset(period->heavy, 0, sizeof period->heavy);
    memset(&period->row[LARDER_KEYSPACES], 0, sizeof period->row[0]);
}

void lard_sampler_begin_child(lard_core *cache) {
    lard_sampler *sampler = cache->sampler;
    if (sampler && sampler->fork_number != lard_fork_number()) {
        sampler->fork_number = lard_fork_number();
        forget(&sampler->now);
        forget(&sampler->before);
        memset(sampler->misses, 0, sizeof sampler->misses);
        sampler->random += lard_fork_number();
        if (sampler->folding) { /* the lock on the file is the parent's, and would outlive it */
            lard_descriptor_close(sampler->scratch->fd, &sampler->scratch->info);
        }
        sampler->folding = sampler->busy = 0;
    }
}

/* ---- one thread at a time ---- */

/* Notes the counts of the whole cache at the end of the period. */
static void note_counts(const lard_core *cache, lard_sampler_period *period) {
    period->counted_in = __atomic_load_n(&cache->counters, __ATOMIC_RELAXED);
    period->counted_as = __atomic_load_n(&cache->incarnation, __ATOMIC_RELAXED);
    for (unsigned i = 0; period->counted_in && i < LARD_COUNTERS; i++) {
        period->counted[i] = lard_load(&period->counted_in[i]);
    }
}

/* The period goes on, unless its minute is over: then its counts are kept apart, so that they are added to that
 * minute, whenever that is. Only once: later minutes have one period. */
static void keep_time(const lard_core *cache, lard_sampler *sampler) {
    lard_sampler_period *now = &sampler->now;
    int64_t now_ms = lard_clock_coarse_ms();
    if (now->began_ms && now->began_ms / LARD_SIDECAR_MINUTE_MS != now_ms / LARD_SIDECAR_MINUTE_MS &&
        !sampler->before.began_ms) {
        note_counts(cache, now);
        sampler->before = *now;
        forget(now);
    }
    now->began_ms = now->began_ms ? now->began_ms : now_ms;
    now->ended_ms = now_ms;
}

static bool begin(const lard_core *cache, lard_sampler *sampler) {
    if (__atomic_exchange_n(&sampler->busy, 1, __ATOMIC_ACQUIRE)) {
        return false;
    }
    keep_time(cache, sampler);
    return true;
}

static void end(lard_sampler *sampler) { __atomic_store_n(&sampler->busy, 0, __ATOMIC_RELEASE); }

bool lard_sampler_add_rules(lard_core *cache, const char *name, const char *const *patterns, size_t count) {
    lard_sampler *sampler = lard_sampler_of(cache);
    bool all = sampler != NULL;
    for (unsigned i = 0; all && !begin(cache, sampler); i++) {
        lard_pause();
        all = i < TRIES * 100;
    }
    if (!all) {
        return false;
    }
    all = !name || lard_keyspace_add_namespace(&sampler->rules, name);
    for (size_t i = 0; i < count; i++) {
        all = lard_keyspace_add_pattern(&sampler->rules, patterns[i]) && all;
    }
    sampler->has_new_rules = true;
    end(sampler);
    return all;
}

/* In a new period the next call is counted, with the weight of those that were skipped. */
static void restart(lard_sampler *sampler, unsigned kind, int32_t *until) {
    int32_t left = __atomic_load_n(until, __ATOMIC_RELAXED), gap = sampler->gap[kind];
    int32_t skipped = left <= 0 || left > gap ? 0 : gap - left;
    sampler->weight[kind] = 1 + (uint32_t)skipped;
    sampler->gap[kind] = 1;
    __atomic_store_n(until, 1, __ATOMIC_RELAXED);
}

bool lard_sampler_take(lard_core *cache) {
    lard_sampler *sampler = lard_sampler_of(cache);
    for (unsigned i = 0; !begin(cache, sampler); i++) {
        if (i == TRIES) {
            return false;
        }
        lard_pause();
    }
    note_counts(cache, &sampler->now);
    sampler->folded[0] = sampler->before;
    sampler->folded[1] = sampler->now;
    forget(&sampler->before);
    forget(&sampler->now);
    restart(sampler, LARD_SAMPLER_READS, &cache->until_read);
    restart(sampler, LARD_SAMPLER_STORES, &cache->until_store);
    restart(sampler, LARD_SAMPLER_EVICTIONS, &cache->until_evicted);
    end(sampler);
    return true;
}

/* ---- samples ---- */

/* xorshift (Marsaglia 2003). */
static uint64_t random_of(lard_sampler *sampler) {
    uint64_t x = sampler->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return sampler->random = x;
}

/* Chooses the next call of this kind to be counted. Gaps are random, so that calls in a fixed order are counted
 * evenly. Returns the weight of this one. */
static uint32_t choose_next(lard_sampler *sampler, unsigned kind, int32_t *until) {
    int32_t left = __atomic_load_n(until, __ATOMIC_RELAXED);
    uint32_t missed = left < 0 && left > -MAX_MISSED ? (uint32_t)-left : 0; /* while the sampler was busy */
    uint32_t weight = sampler->weight[kind] + missed, samples = ++sampler->now.samples[kind];
    uint32_t next = samples < EXACT ? 1 : samples < FEW ? SMALL : MOST;
    sampler->weight[kind] = next;
    sampler->gap[kind] = next == 1 ? 1 : (int32_t)(1 + random_of(sampler) % (2 * next - 1));
    __atomic_store_n(until, sampler->gap[kind], __ATOMIC_RELAXED);
    return weight;
}

static uint64_t variance_of(uint32_t weight) { return (uint64_t)weight * (weight - 1); }

static larder_usage_counts *counts_of(lard_sampler *sampler, const void *key, size_t bytes) {
    lard_sampler_period *now = &sampler->now;
    lard_keyspace name;
    lard_keyspace_of(&sampler->rules, key, bytes, &name);
    uint64_t hash = lard_siphash13(no_seed, name.text, name.bytes);
    uint32_t i = 0;
    while (i < now->rows && now->row[i].hash != hash) {
        i++;
    }
    if (i == now->rows && i < LARDER_KEYSPACES) {
        now->row[now->rows++] = (lard_sampler_row){.hash = hash, .name = name};
    }
    return &now->row[i].counts;
}

static lard_sketch_key seen(const lard_sampler *sampler, const void *key, size_t bytes, size_t value_bytes) {
    return (lard_sketch_key){.hash = lard_siphash13(no_seed, key, bytes),
                             .text = key,
                             .bytes = (uint32_t)bytes,
                             .value_bytes = value_bytes,
                             .seen_ms = sampler->now.ended_ms};
}

static void note_miss(lard_sampler *sampler, const lard_key *key, uint32_t weight) {
    lard_sampler_miss *miss = &sampler->misses[key->hash.full % LARD_SAMPLER_MISSES];
    miss->at_us = lard_clock_monotonic_us();
    miss->weight = weight;
    __atomic_store_n(&miss->hash, key->hash.full, __ATOMIC_RELAXED);
}

void lard_sampler_read(lard_core *cache, const lard_key *key, bool is_hit, size_t value_bytes) {
    lard_sampler *sampler = lard_sampler_of(cache);
    if (!begin(cache, sampler)) {
        return;
    }
    uint32_t weight = choose_next(sampler, LARD_SAMPLER_READS, &cache->until_read);
    larder_usage_counts *counts = counts_of(sampler, key->data, key->bytes);
    counts->read_variance += variance_of(weight);
    if (is_hit) {
        lard_sketch_key one = seen(sampler, key->data, key->bytes, value_bytes);
        counts->hits += weight;
        lard_sketch_add(sampler->now.hot, LARD_SAMPLER_HOT, &one, weight, 0);
        lard_sketch_raise(sampler->now.heavy, LARD_SAMPLER_HEAVY, &one, value_bytes);
    } else {
        counts->misses += weight;
        note_miss(sampler, key, weight);
    }
    end(sampler);
}

/* Counts the time since a sampled miss of the key. */
static void note_computed(lard_sampler *sampler, const lard_key *key, larder_usage_counts *counts) {
    lard_sampler_miss *miss = &sampler->misses[key->hash.full % LARD_SAMPLER_MISSES];
    if (miss->hash != key->hash.full) {
        return;
    }
    uint64_t took_us = lard_clock_monotonic_us() - miss->at_us;
    if (miss->at_us && took_us <= MAX_COMPUTE_US) {
        counts->computes += miss->weight;
        counts->compute_us += took_us * miss->weight;
    }
    __atomic_store_n(&miss->hash, 0, __ATOMIC_RELAXED);
}

void lard_sampler_store(lard_core *cache, const lard_key *key, size_t value_bytes) {
    lard_sampler *sampler = lard_sampler_of(cache);
    if (!begin(cache, sampler)) {
        return;
    }
    larder_usage_counts *counts = counts_of(sampler, key->data, key->bytes);
    note_computed(sampler, key, counts);
    if (__atomic_load_n(&cache->until_store, __ATOMIC_RELAXED) <= 0) {
        lard_sketch_key one = seen(sampler, key->data, key->bytes, value_bytes);
        uint32_t weight = choose_next(sampler, LARD_SAMPLER_STORES, &cache->until_store);
        counts->stores += weight;
        counts->stored_bytes += value_bytes * weight;
        counts->store_variance += variance_of(weight);
        lard_sketch_raise(sampler->now.heavy, LARD_SAMPLER_HEAVY, &one, value_bytes);
    }
    end(sampler);
}

void lard_sampler_evicted(lard_core *cache, const void *key, size_t key_bytes, int64_t age_ms) {
    lard_sampler *sampler = lard_sampler_of(cache);
    if (!begin(cache, sampler)) {
        return;
    }
    uint32_t weight = choose_next(sampler, LARD_SAMPLER_EVICTIONS, &cache->until_evicted);
    larder_usage_counts *counts = counts_of(sampler, key, key_bytes);
    counts->evictions += weight;
    counts->evicted_age_ms += (uint64_t)age_ms * weight;
    counts->eviction_variance += variance_of(weight);
    end(sampler);
}

void lard_sampler_stale(lard_core *cache, const lard_key *key) {
    lard_sampler *sampler = lard_sampler_of(cache);
    if (sampler && begin(cache, sampler)) {
        counts_of(sampler, key->data, key->bytes)->stale_hits++;
        end(sampler);
    }
}

/* In a sample, the count may have none to take back. */
static void uncount(uint64_t *count) { *count -= *count > 0; }

void lard_sampler_recount(lard_core *cache, const lard_key *key, larder_read from, larder_read to) {
    lard_sampler *sampler = lard_sampler_of(cache);
    if (!sampler || !begin(cache, sampler)) {
        return;
    }
    larder_usage_counts *counts = counts_of(sampler, key->data, key->bytes);
    if (from != LARDER_READ_UNCOUNTED) {
        uncount(from == LARDER_READ_MISS ? &counts->misses : &counts->hits);
    }
    if (from == LARDER_READ_STALE) {
        uncount(&counts->stale_hits);
    }
    counts->hits += to == LARDER_READ_HIT || to == LARDER_READ_STALE;
    counts->stale_hits += to == LARDER_READ_STALE;
    if (to == LARDER_READ_MISS) {
        counts->misses++;
        note_miss(sampler, key, 1);
    }
    end(sampler);
}

void lard_sampler_wait(lard_core *cache, const void *key, size_t key_bytes) {
    lard_sampler *sampler = lard_sampler_of(cache);
    if (sampler && begin(cache, sampler)) {
        counts_of(sampler, key, key_bytes)->waits++;
        end(sampler);
    }
}

void lard_sampler_failure(lard_core *cache) {
    lard_sampler *sampler = lard_sampler_of(cache);
    if (sampler && begin(cache, sampler)) {
        sampler->now.row[LARDER_KEYSPACES].counts.failures++;
        end(sampler);
    }
}
