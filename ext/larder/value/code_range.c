/*
 * code_range.c — finds the code range of a text in UTF-8.
 */
#include "value/code_range.h"

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BLOCK 64 /* bytes: a bit of a word for each */
#define RUN 128  /* bytes of ASCII that are skipped at once */
#define HIGH_BITS UINT64_C(0x8080808080808080)

/* Bit i is set if byte i is not ASCII. Most blocks of most texts have no such byte. */
#ifdef __SSE2__
static inline uint64_t not_ascii(const unsigned char text[BLOCK]) {
    const __m128i *at = (const __m128i *)text;
    __m128i a = _mm_loadu_si128(at), b = _mm_loadu_si128(at + 1);
    __m128i c = _mm_loadu_si128(at + 2), d = _mm_loadu_si128(at + 3);

    if (_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d))) == 0) {
        return 0;
    }
    return (uint64_t)_mm_movemask_epi8(a) | (uint64_t)_mm_movemask_epi8(b) << 16 |
           (uint64_t)_mm_movemask_epi8(c) << 32 | (uint64_t)_mm_movemask_epi8(d) << 48;
}

static inline int is_ascii_run(const unsigned char text[RUN]) {
    const __m128i *at = (const __m128i *)text;
    __m128i any = _mm_loadu_si128(at);

    for (size_t i = 1; i < RUN / sizeof any; i++) {
        any = _mm_or_si128(any, _mm_loadu_si128(at + i));
    }
    return _mm_movemask_epi8(any) == 0;
}
#else
static inline uint64_t not_ascii(const unsigned char text[BLOCK]) {
    uint64_t words[BLOCK / 8], any = 0, found = 0;

    memcpy(words, text, sizeof words);
    for (size_t i = 0; i < BLOCK / 8; i++) {
        any |= words[i] & HIGH_BITS;
    }
    for (size_t i = 0; i < BLOCK / 8 && any != 0; i++) {
        /* The multiplication moves the highest bit of byte i to bit 56 + i. */
        found |= ((words[i] & HIGH_BITS) * UINT64_C(0x0002040810204081)) >> 56 << (i * 8);
    }
    return found;
}

static inline int is_ascii_run(const unsigned char text[RUN]) {
    return (not_ascii(text) | not_ascii(text + BLOCK)) == 0;
}
#endif

/* The same of the last bytes of a text, fewer than BLOCK. */
static uint64_t not_ascii_at_end(const unsigned char *text, size_t bytes) {
    unsigned char block[BLOCK] = {0};

    memcpy(block, text, bytes);
    return not_ascii(block);
}

/* The length of the character that a text of `bytes` (at least 1) begins with, not ASCII; 0: it is not
 * well-formed. */
static size_t character_bytes(const unsigned char *text, size_t bytes) {
    unsigned first = text[0];
    size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    /* The second byte: shorter forms, surrogates, and what is above U+10FFFF are not allowed. */
    unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;

    if (first < 0xC2 || first > 0xF4 || bytes < length || text[1] < least || text[1] > most) {
        return 0;
    }
    for (size_t i = 2; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return length;
}

/*
 * Looks at each character of a block that begins with a byte of `high`. Returns where the next block begins, or 0:
 * a character is not well-formed.
 */
static size_t check_characters(const unsigned char *text, size_t bytes, uint64_t high) {
    while (high != 0) {
        size_t begin = (size_t)__builtin_ctzll(high);
        size_t length = character_bytes(text + begin, bytes - begin);
        if (length == 0) {
            return 0;
        }
        if (begin + length >= BLOCK) {
            return begin + length;
        }
        high &= UINT64_MAX << (begin + length);
    }
    return BLOCK;
}

bool code_range_is_ascii(const char *text, size_t bytes) {
    const unsigned char *at = (const unsigned char *)text, *end = at + bytes;

    for (; end - at >= RUN; at += RUN) {
        if (!is_ascii_run(at)) {
            return false;
        }
    }
    for (; end - at >= BLOCK; at += BLOCK) {
        if (not_ascii(at) != 0) {
            return false;
        }
    }
    return not_ascii_at_end(at, (size_t)(end - at)) == 0;
}

int code_range_of_utf8(const char *text, size_t bytes) {
    const unsigned char *at = (const unsigned char *)text;
    int range = RUBY_ENC_CODERANGE_7BIT;

    for (size_t i = 0, next; i < bytes; i += next) {
        while (bytes - i > RUN && is_ascii_run(at + i)) {
            i += RUN;
        }
        uint64_t high = bytes - i < BLOCK ? not_ascii_at_end(at + i, bytes - i) : not_ascii(at + i);
        next = BLOCK;
        if (high != 0) {
            range = RUBY_ENC_CODERANGE_VALID;
            next = check_characters(at + i, bytes - i, high);
        }
        if (next == 0) {
            return RUBY_ENC_CODERANGE_UNKNOWN;
        }
    }
    return range;
}
