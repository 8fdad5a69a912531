/*
 * sampler.h — counts in private memory which keyspaces are used and which keys are hot, from a sample of the
 * calls.
 *
 * A call counts down in its core (lard_core.until_*). The call that reaches zero is counted with the weight of all
 * calls since the last one: by 1 as long as there are few, so that small numbers are exact, then with random gaps
 * of 8 and of 128 calls in the mean. The sum of weight * (weight - 1) is the variance of a sum of weights.
 *
 * The counts move to the sidecar file from time to time (fold.h). Threads do not wait for each other: a call that
 * finds the sampler busy is counted with the next one. Nothing here takes a lock, allocates, or makes a system
 * call other than reading a clock.
 */
#ifndef LARD_SAMPLER_H
#define LARD_SAMPLER_H

#include "base/key.h"
#include "base/types.h"
#include "usage/keyspace.h"
#include "usage/sketch.h"

#define LARD_SAMPLER_ROWS (LARDER_KEYSPACES + 1u) /* the last is that of all other keyspaces */
#define LARD_SAMPLER_HOT 32u
#define LARD_SAMPLER_HEAVY 16u
#define LARD_SAMPLER_MISSES 64u /* sampled misses that wait for their store; a power of two */

typedef struct {
    uint64_t hash; /* of the name */
    lard_keyspace name;
    larder_usage_counts counts;
} lard_sampler_row;

typedef struct {                /* since the last fold, or since a minute began */
    int64_t began_ms, ended_ms; /* Unix time of its first and last sample; 0: there is none */
    const lard_u64 *counted_in; /* lard_core.counters when it ended, as of the next two */
    uint32_t counted_as;
    uint32_t rows;                   /* in use, without the last */
    uint64_t counted[LARD_COUNTERS]; /* what they were */
    uint32_t samples[3];
    lard_sampler_row row[LARD_SAMPLER_ROWS];
    lard_sketch_entry hot[LARD_SAMPLER_HOT], heavy[LARD_SAMPLER_HEAVY];
} lard_sampler_period;

typedef struct {
    uint64_t hash; /* of the key in the map; 0: free */
    uint64_t at_us;
    uint32_t weight;
} lard_sampler_miss;

typedef struct lard_sampler {
    uint32_t busy;       /* 1: a thread is inside */
    uint32_t folding;    /* 1: a thread folds */
    uint32_t has_failed; /* 1: a fold failed, and its caller did not report it */
    unsigned fork_number;
    int64_t next_fold_ms;
    uint64_t random;
    uint32_t weight[3]; /* of the next sample of each kind */
    int32_t gap[3];     /* calls from the last one to it */
    lard_sampler_miss misses[LARD_SAMPLER_MISSES];
    larder_keyspace_rules rules;
    bool has_new_rules;              /* which the sidecar may lack */
    lard_sampler_period now, before; /* `before` is of an earlier minute */
    /* of the thread that folds */
    const lard_u64 *counted_in; /* lard_core.counters, as of the next two */
    uint32_t counted_as;
    uint64_t counted[LARD_COUNTERS]; /* the part of them that was folded before */
    lard_sampler_period folded[2];   /* the earlier one first */
    struct lard_sidecar *scratch;
} lard_sampler;

enum { LARD_SAMPLER_READS, LARD_SAMPLER_STORES, LARD_SAMPLER_EVICTIONS };

/* Gives the core a sampler. The fork lock is held. False: no memory. */
bool lard_sampler_start(lard_core *cache);
void lard_sampler_free(lard_core *cache);
/* In a forked child: forgets the counts of the parent process. The fork lock is held. */
void lard_sampler_begin_child(lard_core *cache);
/* Adds a namespace (NULL: none) and patterns. False: one was refused, see keyspace.h. */
bool lard_sampler_add_rules(lard_core *cache, const char *name, const char *const *patterns, size_t count);

/* The call that counted lard_core.until_read down to 0: a hit or a miss. */
void lard_sampler_read(lard_core *cache, const lard_key *key, bool is_hit, size_t value_bytes);
void lard_sampler_store(lard_core *cache, const lard_key *key, size_t value_bytes);
/* As until_evicted reached 0: an item that was stored this long ago, at most. */
void lard_sampler_evicted(lard_core *cache, const void *key, size_t key_bytes, int64_t age_ms);
/* Rare events: each one is counted. */
void lard_sampler_stale(lard_core *cache, const lard_key *key);
void lard_sampler_recount(lard_core *cache, const lard_key *key, larder_read from, larder_read to);
void lard_sampler_wait(lard_core *cache, const void *key, size_t key_bytes);
/* Has no key: the last row counts it. */
void lard_sampler_failure(lard_core *cache);

/* Moves the counts of both periods to sampler->folded, and begins the next one. False: the sampler stays busy. */
bool lard_sampler_take(lard_core *cache);

static inline lard_sampler *lard_sampler_of(const lard_core *cache) {
    return __atomic_load_n(&cache->sampler, __ATOMIC_ACQUIRE);
}

/* Counts a call: true if it is due. The field is one of lard_core.until_*. */
static inline bool lard_sampler_is_due(int32_t *until) {
    int32_t left = __atomic_load_n(until, __ATOMIC_RELAXED) - 1;
    __atomic_store_n(until, left, __ATOMIC_RELAXED);
    return LARD_UNLIKELY(left <= 0);
}

/* True if the store is to be counted, or the time since a sampled miss of its key. */
static inline bool lard_sampler_is_store_due(lard_core *cache, const lard_hash *hash) {
    const lard_sampler *sampler = lard_sampler_of(cache);
    return LARD_UNLIKELY(sampler != NULL) &&
           (lard_sampler_is_due(&cache->until_store) ||
            LARD_UNLIKELY(__atomic_load_n(&sampler->misses[hash->full % LARD_SAMPLER_MISSES].hash,
                                          __ATOMIC_RELAXED) == hash->full));
}

#endif
