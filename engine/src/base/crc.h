/*
 * crc.h — CRC-32C over 64-bit words, inlined into the loops that copy records.
 *
 * A checksum covers whole words; the bytes after the data are zero. Shared memory is read by relaxed atomic loads.
 * Each word is loaded once, then both copied and checksummed, so the checksum is always that of the copy.
 *
 * Each function takes a constant `fast`: whether the processor has the CRC instruction. So an operation is
 * compiled once with the instruction and once without, and tests lard_crc_hardware once. Long runs go to crc.c.
 */
#ifndef LARD_CRC_H
#define LARD_CRC_H

#include "base/hash.h"

#define LARD_CRC_SHORT 32 /* words; longer runs go to crc.c */

extern bool lard_crc_hardware;
extern uint32_t lard_crc_table[8][256];

LARD_INLINE uint64_t lard_crc_step(bool fast, uint64_t crc, uint64_t word) {
#ifdef LARDER_INTERLEAVE
    if (lard_turn_blind) { /* the protocols must be right without checksums */
        return crc;
    }
#endif
#if defined(__x86_64__)
    if (fast) { /* inline assembler needs no compiler flag and can be inlined anywhere */
        __asm__("crc32q %1, %0" : "+r"(crc) : "r"(word));
        return crc;
    }
#elif defined(__aarch64__)
    if (fast) {
        __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(word));
        return crc;
    }
#else
    (void)fast;
#endif
    word ^= crc;
    uint32_t sum = 0;
    for (int i = 0; i < 8; i++) {
        sum ^= lard_crc_table[7 - i][(word >> (8 * i)) & 0xff];
    }
    return sum;
}

uint64_t lard_crc_long_over(uint64_t crc, const lard_u64 *words, size_t count);
uint64_t lard_crc_long_out(uint64_t crc, const lard_u64 *words, size_t count, unsigned char *out);
uint64_t lard_crc_long_in(uint64_t crc, lard_u64 *words, size_t count, const unsigned char *in);

/* Checksums shared words without copying them. */
LARD_INLINE uint64_t lard_crc_over(bool fast, uint64_t crc, const lard_u64 *words, size_t count) {
    if (count >= LARD_CRC_SHORT) {
        return lard_crc_long_over(crc, words, count);
    }
    for (size_t i = 0; i < count; i++) {
        crc = lard_crc_step(fast, crc, lard_load(&words[i]));
    }
    return crc;
}

/* Copies a value of less than 8 bytes that begins `skip` (< 8) bytes into `words`, and checksums the words. */
LARD_INLINE uint64_t lard_crc_out_few(bool fast, uint64_t crc, const lard_u64 *words, size_t skip,
                                      unsigned char *out, size_t bytes) {
    if (skip + bytes == 0) {
        return crc;
    }
    uint64_t word = lard_load(&words[0]);
    uint64_t value = word >> (skip * 8);
    crc = lard_crc_step(fast, crc, word);
    if (skip + bytes > 8) {
        word = lard_load(&words[1]);
        value |= word << (64 - skip * 8);
        crc = lard_crc_step(fast, crc, word);
    }
    for (size_t i = 0; i < bytes; i++) {
        out[i] = (unsigned char)(value >> (i * 8));
    }
    return crc;
}

LARD_INLINE uint64_t lard_crc_pass(bool fast, uint64_t crc, const lard_u64 *from, unsigned char *to,
                                   uint64_t *word) {
    *word = lard_load(from);
    memcpy(to, word, 8);
    return lard_crc_step(fast, crc, *word);
}

LARD_INLINE uint64_t lard_crc_four_out(bool fast, uint64_t crc, const lard_u64 *from, unsigned char *to,
                                       uint64_t *word) {
    crc = lard_crc_pass(fast, crc, from, to, word);
    crc = lard_crc_pass(fast, crc, from + 1, to + 8, word);
    crc = lard_crc_pass(fast, crc, from + 2, to + 16, word);
    return lard_crc_pass(fast, crc, from + 3, to + 24, word);
}

LARD_INLINE uint64_t lard_crc_eight_out(bool fast, uint64_t crc, const lard_u64 *from, unsigned char *to,
                                        uint64_t *word) {
    crc = lard_crc_four_out(fast, crc, from, to, word);
    return lard_crc_four_out(fast, crc, from + 4, to + 32, word);
}

/* Copies and checksums less than 32 words. *word becomes the last of them; without any, it stays. By halves: that
 * takes fewer instructions than a loop. */
LARD_INLINE uint64_t lard_crc_run_out(bool fast, uint64_t crc, const lard_u64 *from, size_t count,
                                      unsigned char *to, uint64_t *word) {
    if (count & 16) {
        crc = lard_crc_eight_out(fast, crc, from, to, word);
        crc = lard_crc_eight_out(fast, crc, from + 8, to + 64, word);
        from += 16;
        to += 128;
    }
    if (count & 8) {
        crc = lard_crc_eight_out(fast, crc, from, to, word);
        from += 8;
        to += 64;
    }
    if (count & 4) {
        crc = lard_crc_four_out(fast, crc, from, to, word);
        from += 4;
        to += 32;
    }
    if (count & 2) {
        crc = lard_crc_pass(fast, crc, from, to, word);
        crc = lard_crc_pass(fast, crc, from + 1, to + 8, word);
        from += 2;
        to += 16;
    }
    return count & 1 ? lard_crc_pass(fast, crc, from, to, word) : crc;
}

/*
 * Copies a value of `bytes` (at least 8) that begins `skip` (< 8) bytes into `words`, and checksums all words that
 * it touches. `word` is the first of them, which the caller has loaded. The copies of both ends may overlap the
 * others, so no branch depends on how many bytes are left over.
 */
LARD_INLINE uint64_t lard_crc_out_from(bool fast, uint64_t crc, uint64_t word, const lard_u64 *words, size_t skip,
                                       unsigned char *out, size_t bytes) {
    size_t whole = (skip + bytes) / 8;
    unsigned rest = (skip + bytes) & 7;
    uint64_t first = word >> (skip * 8);
    unsigned char *next = out - skip; /* where the first word would begin */
    crc = lard_crc_step(fast, crc, word);
    memcpy(out, &first, 8);
    if (LARD_UNLIKELY(whole > LARD_CRC_SHORT)) {
        crc = lard_crc_long_out(crc, words + 1, whole - 1, next + 8);
        word = lard_word_at(next + whole * 8 - 8);
    } else {
        crc = lard_crc_run_out(fast, crc, words + 1, whole - 1, next + 8, &word);
    }
    if (LARD_LIKELY(rest)) {
        uint64_t last = lard_load(&words[whole]);
        crc = lard_crc_step(fast, crc, last);
        last = last << (64 - rest * 8) | word >> (rest * 8);
        memcpy(out + bytes - 8, &last, 8);
    }
    return crc;
}

/* The same for any number of bytes. */
LARD_INLINE uint64_t lard_crc_out(bool fast, uint64_t crc, const lard_u64 *words, size_t skip, void *out,
                                  size_t bytes) {
    return bytes < 8 ? lard_crc_out_few(fast, crc, words, skip, out, bytes)
                     : lard_crc_out_from(fast, crc, lard_load(&words[0]), words, skip, out, bytes);
}

LARD_INLINE uint64_t lard_crc_store(bool fast, uint64_t crc, lard_u64 *to, const unsigned char *from) {
    uint64_t word = lard_word_at(from);
    lard_store(to, word);
    return lard_crc_step(fast, crc, word);
}

LARD_INLINE uint64_t lard_crc_four_in(bool fast, uint64_t crc, lard_u64 *to, const unsigned char *from) {
    crc = lard_crc_store(fast, crc, to, from);
    crc = lard_crc_store(fast, crc, to + 1, from + 8);
    crc = lard_crc_store(fast, crc, to + 2, from + 16);
    return lard_crc_store(fast, crc, to + 3, from + 24);
}

/* Copies `count` words from private memory into shared ones. */
LARD_INLINE uint64_t lard_crc_in(bool fast, uint64_t crc, lard_u64 *words, size_t count, const unsigned char *in) {
    if (count >= LARD_CRC_SHORT) {
        return lard_crc_long_in(crc, words, count, in);
    }
    for (; count >= 8; count -= 8, words += 8, in += 64) {
        crc = lard_crc_four_in(fast, crc, words, in);
        crc = lard_crc_four_in(fast, crc, words + 4, in + 32);
    }
    if (count & 4) {
        crc = lard_crc_four_in(fast, crc, words, in);
        words += 4;
        in += 32;
    }
    if (count & 2) {
        crc = lard_crc_store(fast, crc, words, in);
        crc = lard_crc_store(fast, crc, words + 1, in + 8);
        words += 2;
        in += 16;
    }
    return count & 1 ? lard_crc_store(fast, crc, words, in) : crc;
}

/* The same out of line: CRC-32C (Castagnoli 1993; RFC 3720 appendix B.4). */
void lard_crc_init(void);      /* before any other function here */
void lard_crc_init_once(void); /* the same; only the first call of a process does something */
uint32_t lard_crc_bytes(uint32_t crc, const void *data, size_t bytes);
uint32_t lard_crc_word(uint32_t crc, uint64_t word);
uint32_t lard_crc_shared(uint32_t crc, const lard_u64 *words, size_t count);
/* Copies a value that begins `skip` (< 8) bytes into `words` to `out`, and checksums the words. */
uint32_t lard_crc_copy_out(uint32_t crc, const lard_u64 *words, size_t skip, void *out, size_t bytes);
/* Copies `bytes` to shared words, pads the last one with zeros, and checksums them. */
uint32_t lard_crc_copy_in(uint32_t crc, lard_u64 *words, const void *in, size_t bytes);

#endif
