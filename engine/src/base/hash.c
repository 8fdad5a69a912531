/*
 * hash.c — the hash of hash.h out of line, for calls outside the fast path.
 */
#include "base/hash.h"

lard_hash lard_hash_key(const lard_map *map, const void *key, size_t bytes, bool is_chunk) {
    return lard_hash_inline(map->super.seed, key, bytes, lard_word_tail(key, bytes), is_chunk);
}
