/*
 * simulate.h — a shadow cache (base/shadow.h): shows whether a cache of that configuration would have had a key.
 *
 * Under the shard's lock.
 */
#ifndef LARD_SIMULATE_H
#define LARD_SIMULATE_H

#include "base/types.h"

typedef struct { /* in keys */
    uint32_t capacity, most_small, young, ghost_window;
} lard_dimensions;

typedef enum {
    LARD_SHADOW_HAD,   /* the key */
    LARD_SHADOW_GREW,  /* it did not have the key, and had room */
    LARD_SHADOW_MISSED /* it did not have the key, and another one has left */
} lard_shadow_result;

/* A part of it, in 65536ths. */
static inline uint32_t lard_simulate_part(uint64_t whole, uint32_t share) {
    return (uint32_t)(whole * share / 65536);
}

/* A get of the key, or a set. A get that misses is followed by a set. The key must not be 0. */
lard_shadow_result lard_simulate(lard_shadow *shadow, const lard_dimensions *has, uint32_t key, bool is_get);
/* The number of keys that it has. */
uint32_t lard_simulate_length(const lard_shadow *shadow);

#endif
