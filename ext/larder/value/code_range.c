/*
 * code_range.c — finds the code range of a text in UTF-8.
 */
#include "value/code_range.h"

#include <stdint.h>
#include <string.h>

#define HIGH_BITS UINT64_C(0x8080808080808080)

static uint64_t word_at(const unsigned char *text) {
    uint64_t word;

    memcpy(&word, text, sizeof word);
    return word;
}

/* Which byte of a word, as it lies in memory, is the first that is not 0. */
static size_t first_byte(uint64_t word) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return (size_t)__builtin_clzll(word) / 8;
#else
    return (size_t)__builtin_ctzll(word) / 8;
#endif
}

/* How many bytes of ASCII a text begins with. */
static size_t ascii_bytes(const unsigned char *text, size_t bytes) {
    size_t i = 0;

    for (; bytes - i >= 16; i += 16) {
        uint64_t first = word_at(text + i) & HIGH_BITS, second = word_at(text + i + 8) & HIGH_BITS;
        if (first | second) {
            return first ? i + first_byte(first) : i + 8 + first_byte(second);
        }
    }
    while (i < bytes && text[i] < 0x80) {
        i++;
    }
    return i;
}

/* The length of the character that a text of `bytes` (at least 1) begins with; 0: it is not well-formed. */
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

int code_range_of_utf8(const char *text, size_t bytes) {
    const unsigned char *at = (const unsigned char *)text;
    size_t i = ascii_bytes(at, bytes);

    if (i == bytes) {
        return RUBY_ENC_CODERANGE_7BIT;
    }
    while (i < bytes) {
        size_t length = character_bytes(at + i, bytes - i);
        if (length == 0) {
            return RUBY_ENC_CODERANGE_UNKNOWN;
        }
        i += length;
        i += ascii_bytes(at + i, bytes - i);
    }
    return RUBY_ENC_CODERANGE_VALID;
}
