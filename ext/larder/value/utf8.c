/*
 * utf8.c — finds out whether a text is well-formed, 64 bytes at a time where the processor has AVX2 (Keiser,
 * Lemire, "Validating UTF-8 in less than one instruction per byte", 2021).
 *
 * Each way in which two neighbouring bytes are wrong has a bit. Three tables, of the upper and the lower half of
 * the first byte and of the upper half of the second, say which of the bits each of them allows; a pair is wrong
 * in the ways that all three allow. The third and fourth byte of a character are known by the byte two or three
 * before them.
 */
#include "value/utf8.h"
#include "value/ascii.h"

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
        if (begin + length >= ASCII_BLOCK) {
            return begin + length;
        }
        high &= UINT64_MAX << (begin + length);
    }
    return ASCII_BLOCK;
}

static bool check_one_by_one(const unsigned char *text, size_t bytes) {
    for (size_t i = 0, next; i < bytes; i += next) {
        size_t left = bytes - i;
        uint64_t high = left < ASCII_BLOCK ? ascii_others_at_end(text + i, left) : ascii_others(text + i);
        next = check_characters(text + i, left, high);
        if (next == 0) {
            return false;
        }
    }
    return true;
}

#if defined(__x86_64__) && !defined(LARDER_ONE_BY_ONE) /* a test defines that */
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define HALF 32 /* bytes of a register */

/* What may be wrong with a byte and the one after it. */
#define UNFINISHED 0x01 /* a byte that begins a character before one that continues none */
#define UNBEGUN 0x02    /* ASCII before a byte that continues a character */
#define LONG_OF_3 0x04  /* U+0000 to U+07FF in three bytes */
#define TOO_HIGH 0x08   /* above U+10FFFF, with F4 90 and more, or F5 and more */
#define SURROGATE 0x10  /* U+D800 to U+DFFF */
#define LONG_OF_2 0x20  /* U+0000 to U+007F in two bytes */
#define OUT_OF_4 0x40   /* U+0000 to U+FFFF in four bytes, or above U+10FFFF with F5 and more and 80 to 8F */
#define CONTINUED 0x80  /* two bytes that continue a character: right in one of three or four bytes alone */
#define ANY_LOWER (UNFINISHED | UNBEGUN | CONTINUED)
#define ABOVE_4 (ANY_LOWER | TOO_HIGH | OUT_OF_4)
#define AFTER_ANY (UNBEGUN | LONG_OF_2 | CONTINUED)

static AVX2 __m256i table(const uint8_t ways[16]) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)ways));
}

static inline AVX2 __m256i upper_half(__m256i bytes) {
    return _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(0x0F));
}

/* For each byte of `now` not zero if it is wrong after those before it, of which `before` has the last 32. */
static inline AVX2 __m256i wrong(__m256i now, __m256i before) {
    static const uint8_t of_first_upper[16] = {
        [0x0 ... 0x7] = UNBEGUN,
        [0x8 ... 0xB] = CONTINUED,
        [0xC] = UNFINISHED | LONG_OF_2,
        [0xD] = UNFINISHED,
        [0xE] = UNFINISHED | LONG_OF_3 | SURROGATE,
        [0xF] = UNFINISHED | TOO_HIGH | OUT_OF_4,
    };
    static const uint8_t of_first_lower[16] = {
        [0x0] = ANY_LOWER | LONG_OF_2 | LONG_OF_3 | OUT_OF_4,
        [0x1] = ANY_LOWER | LONG_OF_2,
        [0x2 ... 0x3] = ANY_LOWER,
        [0x4] = ANY_LOWER | TOO_HIGH,
        [0x5 ... 0xC] = ABOVE_4,
        [0xD] = ABOVE_4 | SURROGATE,
        [0xE ... 0xF] = ABOVE_4,
    };
    static const uint8_t of_second_upper[16] = {
        [0x0 ... 0x7] = UNFINISHED,
        [0x8] = AFTER_ANY | LONG_OF_3 | OUT_OF_4,
        [0x9] = AFTER_ANY | LONG_OF_3 | TOO_HIGH,
        [0xA ... 0xB] = AFTER_ANY | SURROGATE | TOO_HIGH,
        [0xC ... 0xF] = UNFINISHED,
    };
    __m256i joint = _mm256_permute2x128_si256(before, now, 0x21);
    __m256i first = _mm256_alignr_epi8(now, joint, 15);
    __m256i two_before = _mm256_alignr_epi8(now, joint, 14), three_before = _mm256_alignr_epi8(now, joint, 13);
    __m256i ways = _mm256_shuffle_epi8(table(of_first_upper), upper_half(first));

    ways = _mm256_and_si256(
        ways, _mm256_shuffle_epi8(table(of_first_lower), _mm256_and_si256(first, _mm256_set1_epi8(0x0F))));
    ways = _mm256_and_si256(ways, _mm256_shuffle_epi8(table(of_second_upper), upper_half(now)));
    /* CONTINUED is right exactly where two bytes before there is E0 or more, or three before F0 or more. */
    __m256i third = _mm256_subs_epu8(two_before, _mm256_set1_epi8(0xE0 - 0x80));
    __m256i fourth = _mm256_subs_epu8(three_before, _mm256_set1_epi8((char)(0xF0 - 0x80)));
    __m256i continued = _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8((char)CONTINUED));
    return _mm256_xor_si256(continued, ways);
}

/* Not zero if the last three bytes begin a character that goes on behind them. */
static inline AVX2 __m256i unfinished(__m256i bytes) {
    static const uint8_t most[HALF] = {[0 ... HALF - 4] = 0xFF, 0xEF, 0xDF, 0xBF};

    return _mm256_subs_epu8(bytes, _mm256_loadu_si256((const __m256i *)most));
}

static AVX2 bool check_blocks(const unsigned char *text, size_t bytes) {
    __m256i found = _mm256_setzero_si256(), before = found;
    unsigned char end[ASCII_BLOCK] = {0};

    for (bool more = true; more; text += ASCII_BLOCK) {
        more = bytes >= ASCII_BLOCK;
        memcpy(end, text, more ? 0 : bytes);
        const __m256i *at = (const __m256i *)(more ? text : end);
        __m256i one = _mm256_loadu_si256(at), two = _mm256_loadu_si256(at + 1);
        if (_mm256_movemask_epi8(_mm256_or_si256(one, two)) == 0) {
            found = _mm256_or_si256(found, unfinished(before));
        } else {
            found = _mm256_or_si256(found, _mm256_or_si256(wrong(one, before), wrong(two, one)));
        }
        before = two;
        bytes -= more ? ASCII_BLOCK : 0;
    }
    found = _mm256_or_si256(found, unfinished(before));
    return _mm256_testz_si256(found, found);
}

bool utf8_is_well_formed(const char *text, size_t bytes) {
    return __builtin_cpu_supports("avx2") ? check_blocks((const unsigned char *)text, bytes)
                                          : check_one_by_one((const unsigned char *)text, bytes);
}
#else
bool utf8_is_well_formed(const char *text, size_t bytes) {
    return check_one_by_one((const unsigned char *)text, bytes);
}
#endif
