/*
 * hash.c — keys to 64 bits under the file's secret seed.
 *
 * SipHash-1-3 from its paper: keys come from users, and a keyed hash keeps them
 * from choosing keys that fall into one bucket. Pure; takes no lock.
 */
#include "internal.h"

#include <string.h>

#define ROTATE(x, b) (((x) << (b)) | ((x) >> (64 - (b))))
#define ROUND                \
    do {                     \
        v0 += v1;            \
        v1 = ROTATE(v1, 13); \
        v1 ^= v0;            \
        v0 = ROTATE(v0, 32); \
        v2 += v3;            \
        v3 = ROTATE(v3, 16); \
        v3 ^= v2;            \
        v0 += v3;            \
        v3 = ROTATE(v3, 21); \
        v3 ^= v0;            \
        v2 += v1;            \
        v1 = ROTATE(v1, 17); \
        v1 ^= v2;            \
        v2 = ROTATE(v2, 32); \
    } while (0)

uint64_t lard_siphash13(const uint64_t seed[2], const void *data, size_t bytes) {
    uint64_t v0 = seed[0] ^ 0x736f6d6570736575ull;
    uint64_t v1 = seed[1] ^ 0x646f72616e646f6dull;
    uint64_t v2 = seed[0] ^ 0x6c7967656e657261ull;
    uint64_t v3 = seed[1] ^ 0x7465646279746573ull;
    const unsigned char *in = data;
    size_t left = bytes;
    uint64_t word;

    for (; left >= 8; left -= 8, in += 8) {
        memcpy(&word, in, 8);
        v3 ^= word;
        ROUND;
        v0 ^= word;
    }
    word = 0;
    if (left) {
        memcpy(&word, in, left);
    }
    word |= (uint64_t)bytes << 56;
    v3 ^= word;
    ROUND;
    v0 ^= word;
    v2 ^= 0xff;
    ROUND;
    ROUND;
    ROUND;
    return v0 ^ v1 ^ v2 ^ v3;
}

lard_hash lard_hash_key(const lard_map *map, const void *key, size_t bytes, bool is_chunk) {
    lard_hash hash;
    hash.full = lard_siphash13(map->super.seed, key, bytes);
    if (is_chunk) {
        hash.full = lard_mix(hash.full); /* a key space of its own */
    }
    hash.first = (uint32_t)hash.full;
    hash.second = (uint32_t)((hash.full * 0x9e3779b97f4a7c15ull) >> 32);
    hash.tag = (uint32_t)(hash.full >> 32) & 0xffff;
    return hash;
}
