/*
 * key.c — makes keys of bytes, with their hashes.
 */
#include "base/key.h"

LARD_INLINE lard_key make(const lard_map *map, lard_belief *belief, const void *data, size_t bytes,
                          bool is_chunk) {
    uint64_t tail = lard_word_tail(data, bytes);
    return (lard_key){.data = data,
                      .bytes = bytes,
                      .hash = lard_hash_inline(map->super.seed, data, bytes, tail, is_chunk),
                      .is_chunk = is_chunk,
                      .belief = belief};
}

lard_key lard_key_of(const lard_map *map, lard_belief *belief, const void *data, size_t bytes) {
    return make(map, belief, data, bytes, false);
}

lard_key lard_key_of_chunk(const lard_map *map, const lard_chunk_key *data) {
    return make(map, NULL, data, sizeof *data, true);
}
