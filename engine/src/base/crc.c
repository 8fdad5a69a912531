/*
 * crc.c — CRC-32C (Castagnoli 1993; RFC 3720 appendix B.4): its tables, long runs, and crc.h out of line.
 *
 * A long run is folded by multiplication where the processor can (crc_fold.c). Elsewhere: the CRC instruction has
 * a latency of three cycles, but one can start each cycle. So a long run is processed as three streams side by
 * side. The operator that appends zeros to a run joins their sums: it is linear over GF(2), so four tables of 256
 * entries hold it (the idea of zlib's crc32_combine). Pure; takes no lock.
 */
#include "base/crc.h"

#include "base/crc_fold.h"

#include <pthread.h>

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

#define POLYNOMIAL 0x82f63b78u /* reflected */
#define STREAM 32      /* words of one stream in a block; few, so that a long run is read nearly in order */
#define LONG_STREAM 64 /* the same in the blocks of longer runs */

bool lard_crc_hardware;
uint32_t lard_crc_table[8][256];

_Static_assert(LONG_STREAM == 2 * STREAM, "lard_crc_init applies the short operator twice");

/* The operator: what a sum becomes after a stream of zeros. */
static uint32_t after_stream[4][256], after_long_stream[4][256];

static bool hardware_present(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("sse4.2");
#elif defined(__aarch64__) && defined(__linux__)
    return (getauxval(AT_HWCAP) & (1u << 7)) != 0; /* HWCAP_CRC32 */
#elif defined(__aarch64__) && defined(__APPLE__)
    return true;
#else
    return false;
#endif
}

static inline uint32_t after(const uint32_t table[4][256], uint64_t crc) {
    return table[0][crc & 0xff] ^ table[1][(crc >> 8) & 0xff] ^ table[2][(crc >> 16) & 0xff] ^
           table[3][(crc >> 24) & 0xff];
}

/* Each entry is the sum of the entries of its bits. */
static void fill_linear(uint32_t table[4][256], const uint32_t of_bit[32]) {
    for (int byte = 0; byte < 4; byte++) {
        for (int value = 0; value < 256; value++) {
            uint32_t sum = 0;
            for (int bit = 0; bit < 8; bit++) {
                sum ^= value >> bit & 1 ? of_bit[byte * 8 + bit] : 0;
            }
            table[byte][value] = sum;
        }
    }
}

void lard_crc_init(void) {
    uint32_t of_bit[32];
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
        }
        lard_crc_table[0][i] = crc;
    }
    for (int t = 1; t < 8; t++) {
        for (int i = 0; i < 256; i++) {
            uint32_t crc = lard_crc_table[t - 1][i];
            lard_crc_table[t][i] = lard_crc_table[0][crc & 0xff] ^ (crc >> 8);
        }
    }
    for (int bit = 0; bit < 32; bit++) {
        uint64_t crc = 1u << bit;
        for (int word = 0; word < STREAM; word++) {
            crc = lard_crc_step(false, crc, 0);
        }
        of_bit[bit] = (uint32_t)crc;
    }
    fill_linear(after_stream, of_bit);
    for (int bit = 0; bit < 32; bit++) {
        of_bit[bit] = after(after_stream, after(after_stream, 1u << bit));
    }
    fill_linear(after_long_stream, of_bit);
    lard_crc_hardware = hardware_present();
    lard_crc_fold_init(POLYNOMIAL);
}

void lard_crc_init_once(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, lard_crc_init);
}

LARD_INLINE uint64_t pass(lard_crc_way way, lard_u64 *shared, unsigned char *own, size_t i) {
    uint64_t word = way == LARD_CRC_IN ? lard_word_at(own + i * 8) : lard_load(&shared[i]);
    if (way == LARD_CRC_IN) {
        lard_store(&shared[i], word);
    } else if (way == LARD_CRC_OUT) {
        memcpy(own + i * 8, &word, 8);
    }
    return word;
}

/*
 * How far ahead cache lines are prefetched: one page of the source, two of a private target. A store to a line
 * that is not cached waits as long as a load, and the stores behind it wait too; a fresh buffer is not cached.
 */
#define AHEAD 512 /* words */
#define OUT_AHEAD 1024

LARD_INLINE void prefetch_ahead(lard_crc_way way, const lard_u64 *shared, const unsigned char *own, size_t line,
                                size_t stream) {
    for (size_t i = 0; i < 3; i++) {
        size_t at = line + i * stream;
        if (way == LARD_CRC_IN) {
            __builtin_prefetch(shared + at + AHEAD, 1);
            __builtin_prefetch(own + (at + AHEAD) * 8);
            continue;
        }
        __builtin_prefetch(shared + at + AHEAD);
        if (way == LARD_CRC_OUT) {
            __builtin_prefetch(own + (at + OUT_AHEAD) * 8, 1);
        }
    }
}

/* Processes as many blocks of three streams as fit; returns the number of words done. */
LARD_INLINE size_t pass_blocks(lard_crc_way way, uint64_t *sum, lard_u64 *shared, unsigned char *own, size_t done,
                               size_t count, size_t stream, const uint32_t after_one[4][256]) {
    uint64_t first = *sum;
    for (; count - done >= 3 * stream; done += 3 * stream) {
        uint64_t second = 0, third = 0;
        lard_u64 *here = shared + done;
        unsigned char *there = way == LARD_CRC_OVER ? own : own + done * 8;
        for (size_t line = 0; line < stream; line += 8) { /* before the loads, which wait for each other's lines */
            prefetch_ahead(way, here, there, line, stream);
            for (size_t i = line; i < line + 8; i++) {
                first = lard_crc_step(true, first, pass(way, here, there, i));
                second = lard_crc_step(true, second, pass(way, here, there, i + stream));
                third = lard_crc_step(true, third, pass(way, here, there, i + 2 * stream));
            }
        }
        first = after(after_one, first) ^ second;
        first = after(after_one, first) ^ third;
    }
    *sum = first;
    return done;
}

LARD_INLINE uint64_t pass_all(lard_crc_way way, uint64_t crc, lard_u64 *shared, unsigned char *own, size_t count) {
    if (lard_crc_hardware) {
        uint64_t folded[LARD_CRC_FOLDED];
        size_t i = lard_crc_folds ? lard_crc_fold(way, crc, shared, own, count, folded) : 0;
        if (i > 0) {
            crc = 0;
            for (size_t word = 0; word < LARD_CRC_FOLDED; word++) {
                crc = lard_crc_step(true, crc, folded[word]);
            }
        }
        i = pass_blocks(way, &crc, shared, own, i, count, LONG_STREAM, after_long_stream);
        i = pass_blocks(way, &crc, shared, own, i, count, STREAM, after_stream);
        for (; i < count; i++) {
            crc = lard_crc_step(true, crc, pass(way, shared, own, i));
        }
        return crc;
    }
    for (size_t i = 0; i < count; i++) {
        crc = lard_crc_step(false, crc, pass(way, shared, own, i));
    }
    return crc;
}

/* The casts take const away from memory that pass_all only reads, as `way` tells. */
uint64_t lard_crc_long_over(uint64_t crc, const lard_u64 *words, size_t count) {
    return pass_all(LARD_CRC_OVER, crc, (lard_u64 *)(uintptr_t)words, NULL, count);
}

uint64_t lard_crc_long_out(uint64_t crc, const lard_u64 *words, size_t count, unsigned char *out) {
    return pass_all(LARD_CRC_OUT, crc, (lard_u64 *)(uintptr_t)words, out, count);
}

uint64_t lard_crc_long_in(uint64_t crc, lard_u64 *words, size_t count, const unsigned char *in) {
    return pass_all(LARD_CRC_IN, crc, words, (unsigned char *)(uintptr_t)in, count);
}

uint32_t lard_crc_word(uint32_t crc, uint64_t word) {
    return (uint32_t)(lard_crc_hardware ? lard_crc_step(true, crc, word) : lard_crc_step(false, crc, word));
}

uint32_t lard_crc_shared(uint32_t crc, const lard_u64 *words, size_t count) {
    return (uint32_t)(lard_crc_hardware ? lard_crc_over(true, crc, words, count)
                                        : lard_crc_over(false, crc, words, count));
}

uint32_t lard_crc_copy_out(uint32_t crc, const lard_u64 *words, size_t skip, void *out, size_t bytes) {
    return (uint32_t)(lard_crc_hardware ? lard_crc_out(true, crc, words, skip, out, bytes)
                                        : lard_crc_out(false, crc, words, skip, out, bytes));
}

uint32_t lard_crc_copy_in(uint32_t crc, lard_u64 *words, const void *in, size_t bytes) {
    uint64_t sum = lard_crc_hardware ? lard_crc_in(true, crc, words, bytes / 8, in)
                                     : lard_crc_in(false, crc, words, bytes / 8, in);
    if (bytes & 7) {
        uint64_t word = lard_word_tail(in, bytes);
        sum = lard_crc_word((uint32_t)sum, word);
        lard_store(&words[bytes / 8], word);
    }
    return (uint32_t)sum;
}

uint32_t lard_crc_bytes(uint32_t crc, const void *data, size_t bytes) {
    const unsigned char *in = data;
    for (size_t i = 0; i < bytes; i++) {
        crc = lard_crc_table[0][(crc ^ in[i]) & 0xff] ^ (crc >> 8);
    }
    return crc;
}
