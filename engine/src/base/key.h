/*
 * key.h — a key, with its hash in a map. Pure; takes no lock.
 */
#ifndef LARD_KEY_H
#define LARD_KEY_H

#include "base/hash.h"

typedef struct { /* a key, with its hash in a map */
    const void *data;
    size_t bytes;
    lard_hash hash;
    bool is_chunk;       /* `data` is a lard_chunk_key, which has a key space of its own */
    lard_belief *belief; /* of the caller, see file/belief.h; NULL: that of no configuration, and for chunks */
} lard_key;

lard_key lard_key_of(const lard_map *map, lard_belief *belief, const void *data, size_t bytes);
lard_key lard_key_of_chunk(const lard_map *map, const lard_chunk_key *data);

#endif
