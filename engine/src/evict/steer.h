/*
 * steer.h — chooses how long the small queue is, and which reads of its items count, by what would have missed.
 *
 * No configuration of S3-FIFO is good for every application. So each shard has four shadow caches (base/shadow.h),
 * one for each configuration, which see a sample of the keys. The shard uses the configuration with the fewest
 * misses. The idea of small simulations of a sample is that of Waldspurger et al., "Cache modeling and
 * optimization using miniature simulations", USENIX ATC 2017.
 *
 * Readers put the hashes of sampled gets into a ring, where later ones replace those that no writer has taken.
 * Writers show them to the shadow caches. All but lard_steer_hear is under the shard's lock. Everything but the
 * choice, which is in the shard's header, is in the hints.
 */
#ifndef LARD_STEER_H
#define LARD_STEER_H

#include "base/hash.h"
#include "base/reads.h"

/* The part of the record segments that the small queue may have, in 65536ths. */
uint32_t lard_steer_small_share(const lard_view *view);
/* Before a segment is emptied: adapts the sample and the shadow caches to the number of items. */
void lard_steer_prepare(lard_view *view);
/* Shows the shadow caches, also those of other sizes, what was heard, and a key that was set (NULL: none), unless
 * they have it. */
void lard_steer_replay(lard_view *view, const lard_hash *stored);

static inline bool lard_steer_is_sampled(const lard_shard_hints *hints, const lard_hash *hash) {
    return hash->second < __atomic_load_n(&hints->sampled, __ATOMIC_RELAXED);
}

/* A get of the key. */
static inline void lard_steer_hear(lard_shard_hints *hints, const lard_hash *hash) {
    if (LARD_UNLIKELY(lard_steer_is_sampled(hints, hash))) {
        uint32_t end = __atomic_load_n(&hints->heard_end, __ATOMIC_RELAXED);
        __atomic_store_n(&hints->heard[end % LARD_HEARD], hash->second, __ATOMIC_RELAXED);
        __atomic_store_n(&hints->heard_end, end + 1, __ATOMIC_RELAXED);
    }
}

/* After a set, of a key that was not there if `is_new`. */
static inline void lard_steer_keep_up(lard_view *view, const lard_hash *hash, bool is_new) {
    const lard_shard_hints *hints = lard_reads_hints(&view->map->dircache[view->number]);
    bool is_sampled = is_new && lard_steer_is_sampled(hints, hash);
    if (LARD_UNLIKELY(is_sampled || __atomic_load_n(&hints->heard_end, __ATOMIC_RELAXED) != hints->replayed)) {
        lard_steer_replay(view, is_sampled ? hash : NULL);
    }
}

#endif
