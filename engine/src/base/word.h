/*
 * word.h — reads bytes of private memory as 64-bit words.
 */
#ifndef LARD_WORD_H
#define LARD_WORD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t lard_word_at(const void *data) {
    uint64_t word;
    memcpy(&word, data, 8);
    return word;
}

/* The last `bytes` % 8 bytes of `data`, as the low bytes of a word whose other bytes are zero. */
static inline uint64_t lard_word_tail(const unsigned char *data, size_t bytes) {
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

#endif
