/*
 * hash.c — the functions of hash.h out of line, for calls outside the fast path.
 */
#include "base/hash.h"

uint64_t lard_siphash13(const uint64_t seed[2], const void *data, size_t bytes) {
    return lard_siphash13_inline(seed, data, bytes, lard_tail(data, bytes));
}

lard_hash lard_hash_key(const lard_map *map, const void *key, size_t bytes, bool is_chunk) {
    return lard_hash_inline(map->super.seed, key, bytes, lard_tail(key, bytes), is_chunk);
}

lard_key lard_key_of(const lard_map *map, const void *data, size_t bytes) {
    return (lard_key){data, bytes, lard_hash_key(map, data, bytes, false), false};
}

lard_key lard_key_of_chunk(const lard_map *map, const lard_chunk_key *data) {
    return (lard_key){data, sizeof *data, lard_hash_key(map, data, sizeof *data, true), true};
}
