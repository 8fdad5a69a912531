/*
 * ascii.h — finds the bytes of a text that are not ASCII, 64 or 128 of them at a time.
 */
#ifndef LARDER_ASCII_H
#define LARDER_ASCII_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define ASCII_BLOCK 64 /* bytes: a bit of a word for each */
#define ASCII_RUN 128

/* Bit i is set if byte i is not ASCII. Most blocks of most texts have no such byte. */
#ifdef __SSE2__
static inline uint64_t ascii_others(const unsigned char text[ASCII_BLOCK]) {
    const __m128i *at = (const __m128i *)text;
    __m128i a = _mm_loadu_si128(at), b = _mm_loadu_si128(at + 1);
    __m128i c = _mm_loadu_si128(at + 2), d = _mm_loadu_si128(at + 3);

    if (_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d))) == 0) {
        return 0;
    }
    return (uint64_t)_mm_movemask_epi8(a) | (uint64_t)_mm_movemask_epi8(b) << 16 |
           (uint64_t)_mm_movemask_epi8(c) << 32 | (uint64_t)_mm_movemask_epi8(d) << 48;
}

static inline bool ascii_is_run(const unsigned char text[ASCII_RUN]) {
    const __m128i *at = (const __m128i *)text;
    __m128i any = _mm_loadu_si128(at);

    for (size_t i = 1; i < ASCII_RUN / sizeof any; i++) {
        any = _mm_or_si128(any, _mm_loadu_si128(at + i));
    }
    return _mm_movemask_epi8(any) == 0;
}
#else
static inline uint64_t ascii_others(const unsigned char text[ASCII_BLOCK]) {
    const uint64_t high_bits = UINT64_C(0x8080808080808080);
    uint64_t words[ASCII_BLOCK / 8], any = 0, found = 0;

    memcpy(words, text, sizeof words);
    for (size_t i = 0; i < ASCII_BLOCK / 8; i++) {
        any |= words[i] & high_bits;
    }
    for (size_t i = 0; i < ASCII_BLOCK / 8 && any != 0; i++) {
        /* The multiplication moves the highest bit of byte i to bit 56 + i. */
        found |= ((words[i] & high_bits) * UINT64_C(0x0002040810204081)) >> 56 << (i * 8);
    }
    return found;
}

static inline bool ascii_is_run(const unsigned char text[ASCII_RUN]) {
    return (ascii_others(text) | ascii_others(text + ASCII_BLOCK)) == 0;
}
#endif

/* The same of the last bytes of a text, fewer than a block. */
static inline uint64_t ascii_others_at_end(const unsigned char *text, size_t bytes) {
    unsigned char block[ASCII_BLOCK] = {0};

    memcpy(block, text, bytes);
    return ascii_others(block);
}

#endif
