/*
 * siphash13.h — SipHash-1-3, inlined.
 *
 * It follows the paper (Aumasson, Bernstein: "SipHash: a fast short-input PRF", 2012), with one compression round
 * and three finalization rounds. Pure; takes no lock. siphash13.c has the same out of line.
 */
#ifndef LARD_SIPHASH13_H
#define LARD_SIPHASH13_H

#include "base/word.h"

typedef struct {
    uint64_t v0, v1, v2, v3;
} lard_siphash13_state;

static inline uint64_t lard_siphash13_rotate(uint64_t x, int by) { return x << by | x >> (64 - by); }

static inline void lard_siphash13_round(lard_siphash13_state *s) {
    s->v0 += s->v1;
    s->v1 = lard_siphash13_rotate(s->v1, 13) ^ s->v0;
    s->v0 = lard_siphash13_rotate(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = lard_siphash13_rotate(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = lard_siphash13_rotate(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = lard_siphash13_rotate(s->v1, 17) ^ s->v2;
    s->v2 = lard_siphash13_rotate(s->v2, 32);
}

static inline void lard_siphash13_word(lard_siphash13_state *s, uint64_t word) {
    s->v3 ^= word;
    lard_siphash13_round(s);
    s->v0 ^= word;
}

/* `tail` is lard_word_tail of the same bytes. */
static inline uint64_t lard_siphash13_inline(const uint64_t seed[2], const void *data, size_t bytes,
                                             uint64_t tail) {
    lard_siphash13_state s = {seed[0] ^ 0x736f6d6570736575ull, seed[1] ^ 0x646f72616e646f6dull,
                              seed[0] ^ 0x6c7967656e657261ull, seed[1] ^ 0x7465646279746573ull};
    const unsigned char *in = data;
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        lard_siphash13_word(&s, lard_word_at(in + i));
    }
    lard_siphash13_word(&s, tail | (uint64_t)bytes << 56);
    s.v2 ^= 0xff;
    lard_siphash13_round(&s);
    lard_siphash13_round(&s);
    lard_siphash13_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

/* The same out of line. */
uint64_t lard_siphash13(const uint64_t seed[2], const void *data, size_t bytes);

#endif
