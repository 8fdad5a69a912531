/*
 * hash.h — hashes a key with SipHash-1-3, and derives its shard, buckets and fingerprint. Inlined.
 *
 * SipHash follows the paper (Aumasson, Bernstein: "SipHash: a fast short-input PRF", 2012), with one compression
 * round and three finalization rounds. Keys come from users: without a keyed hash they could choose keys that all
 * fall into one bucket. Pure; takes no lock. hash.c has the same out of line.
 */
#ifndef LARD_HASH_H
#define LARD_HASH_H

#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    uint64_t full;
    uint32_t first, second; /* bucket choices, before the mapping to a bucket number */
    uint32_t fingerprint;
} lard_hash;

static inline uint64_t lard_word_at(const void *data) {
    uint64_t word;
    memcpy(&word, data, 8);
    return word;
}

/* The last `bytes` % 8 bytes of `data`, as the low bytes of a word whose other bytes are zero. */
static inline uint64_t lard_tail(const unsigned char *data, size_t bytes) {
    unsigned rest = bytes & 7;
    if (rest == 0) {
        return 0;
    }
    if (bytes > 8) { /* one load that begins in the previous word */
        return lard_word_at(data + bytes - 8) >> (64 - rest * 8);
    }
    uint64_t word = 0;
    unsigned taken = 0;
    if (rest & 4) {
        uint32_t four;
        memcpy(&four, data, 4);
        word = four;
        taken = 4;
    }
    if (rest & 2) {
        uint16_t two;
        memcpy(&two, data + taken, 2);
        word |= (uint64_t)two << (taken * 8);
        taken += 2;
    }
    if (rest & 1) {
        word |= (uint64_t)data[taken] << (taken * 8);
    }
    return word;
}

static inline uint64_t lard_mix(uint64_t x) { /* finalizer of MurmurHash3 (Appleby, public domain) */
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ (x >> 33);
}

typedef struct {
    uint64_t v0, v1, v2, v3;
} lard_sip;

static inline uint64_t lard_rotate(uint64_t x, int by) { return x << by | x >> (64 - by); }

static inline void lard_sip_round(lard_sip *s) {
    s->v0 += s->v1;
    s->v1 = lard_rotate(s->v1, 13) ^ s->v0;
    s->v0 = lard_rotate(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = lard_rotate(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = lard_rotate(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = lard_rotate(s->v1, 17) ^ s->v2;
    s->v2 = lard_rotate(s->v2, 32);
}

static inline void lard_sip_word(lard_sip *s, uint64_t word) {
    s->v3 ^= word;
    lard_sip_round(s);
    s->v0 ^= word;
}

/* `tail` is lard_tail of the same bytes. */
static inline uint64_t lard_siphash13_inline(const uint64_t seed[2], const void *data, size_t bytes,
                                             uint64_t tail) {
    lard_sip s = {seed[0] ^ 0x736f6d6570736575ull, seed[1] ^ 0x646f72616e646f6dull,
                  seed[0] ^ 0x6c7967656e657261ull, seed[1] ^ 0x7465646279746573ull};
    const unsigned char *in = data;
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        lard_sip_word(&s, lard_word_at(in + i));
    }
    lard_sip_word(&s, tail | (uint64_t)bytes << 56);
    s.v2 ^= 0xff;
    lard_sip_round(&s);
    lard_sip_round(&s);
    lard_sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

/* Decides the shard of a chunk. A row of LARD_CHUNKS_TOGETHER chunks shares a shard. The first row is in the shard
 * of the value's key, so that it is stored and evicted with its head; each further row is in the next shard. */
static inline uint64_t lard_chunk_home(const void *key, size_t bytes) {
    lard_chunk_key words = {{0, 0}, 0};
    memcpy(&words, key, bytes < sizeof words ? bytes : sizeof words);
    return (words.id[1] >> LARD_HOME_SHIFT) + words.number / LARD_CHUNKS_TOGETHER;
}

static inline lard_hash lard_hash_inline(const uint64_t seed[2], const void *key, size_t bytes, uint64_t tail,
                                         bool is_chunk) {
    lard_hash hash;
    hash.full = lard_siphash13_inline(seed, key, bytes, tail);
    if (is_chunk) {
        hash.full = lard_mix(hash.full); /* chunks have a key space of their own */
        hash.full = hash.full << 8 >> 8 | lard_chunk_home(key, bytes) << 56;
    }
    hash.first = (uint32_t)hash.full;
    hash.second = (uint32_t)((hash.full * 0x9e3779b97f4a7c15ull) >> 32);
    hash.fingerprint = (uint32_t)(hash.full >> 32) & 0xffff;
    return hash;
}

/* The same out of line. */
uint64_t lard_siphash13(const uint64_t seed[2], const void *data, size_t bytes);
lard_hash lard_hash_key(const lard_map *map, const void *key, size_t bytes, bool is_chunk);

typedef struct { /* a key, with its hash in a map */
    const void *data;
    size_t bytes;
    lard_hash hash;
    bool is_chunk; /* `data` is a lard_chunk_key, which has a key space of its own */
} lard_key;

lard_key lard_key_of(const lard_map *map, const void *data, size_t bytes);
lard_key lard_key_of_chunk(const lard_map *map, const lard_chunk_key *data);

static inline uint32_t lard_hash_shard(const lard_map *map, const lard_hash *hash) {
    return (uint32_t)(hash->full >> 56) & map->shard_mask;
}

#endif
