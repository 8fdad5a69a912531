/*
 * crc.c — CRC-32C (Castagnoli 1993; RFC 3720 appendix B.4): its tables, long runs,
 * and crc.h out of line.
 *
 * The instruction answers after three cycles but starts one each cycle, so a long
 * run is taken as three streams side by side. Their sums are joined by the
 * operator that appends zeros to a run: it is linear over GF(2), so four tables of
 * 256 entries hold it (the idea of zlib's crc32_combine). Pure; takes no lock.
 */
#include "crc.h"
#include "internal.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

#define POLYNOMIAL 0x82f63b78u /* reflected */
#define STREAM 32              /* words of one stream in a short block */
#define LONG_STREAM 256        /* in a long block */

bool lard_crc_hardware;
uint32_t lard_crc_table[8][256];

/* What a sum becomes when so many words of zeros follow. */
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

/* Run once, before any cache is opened. */
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
        uint32_t crc = 1u << bit;
        for (int stream = 0; stream < LONG_STREAM / STREAM; stream++) {
            crc = after(after_stream, crc);
        }
        of_bit[bit] = crc;
    }
    fill_linear(after_long_stream, of_bit);
    lard_crc_hardware = hardware_present();
}

/* One run of words: from shared memory or private, and to private memory, shared memory or nowhere. */
typedef struct {
    const lard_u64 *from_shared;
    const unsigned char *from;
    lard_u64 *to_shared;
    unsigned char *to;
} passage;

LARD_INLINE uint64_t pass(const passage *p, size_t i) {
    uint64_t word = p->from_shared ? lard_load(&p->from_shared[i]) : lard_word_at(p->from + i * 8);
    if (p->to_shared) {
        lard_store(&p->to_shared[i], word);
    }
    if (p->to) {
        memcpy(p->to + i * 8, &word, 8);
    }
    return word;
}

LARD_INLINE void advance(passage *p, size_t count) {
    p->from_shared = p->from_shared ? p->from_shared + count : NULL;
    p->from = p->from ? p->from + count * 8 : NULL;
    p->to_shared = p->to_shared ? p->to_shared + count : NULL;
    p->to = p->to ? p->to + count * 8 : NULL;
}

LARD_INLINE uint64_t pass_blocks(bool fast, uint64_t crc, passage *p, size_t *count, size_t stream,
                                 const uint32_t after_one[4][256]) {
    for (; *count >= 3 * stream; *count -= 3 * stream) {
        uint64_t second = 0, third = 0;
        for (size_t i = 0; i < stream; i++) {
            crc = lard_crc_step(fast, crc, pass(p, i));
            second = lard_crc_step(fast, second, pass(p, i + stream));
            third = lard_crc_step(fast, third, pass(p, i + 2 * stream));
        }
        crc = after(after_one, crc) ^ second;
        crc = after(after_one, crc) ^ third;
        advance(p, 3 * stream);
    }
    return crc;
}

LARD_INLINE uint64_t pass_all(bool fast, uint64_t crc, passage p, size_t count) {
    if (fast) {
        crc = pass_blocks(fast, crc, &p, &count, LONG_STREAM, after_long_stream);
        crc = pass_blocks(fast, crc, &p, &count, STREAM, after_stream);
    }
    for (size_t i = 0; i < count; i++) {
        crc = lard_crc_step(fast, crc, pass(&p, i));
    }
    return crc;
}

uint64_t lard_crc_long_over(uint64_t crc, const lard_u64 *words, size_t count) {
    const passage p = {words, NULL, NULL, NULL};
    return lard_crc_hardware ? pass_all(true, crc, p, count) : pass_all(false, crc, p, count);
}

uint64_t lard_crc_long_out(uint64_t crc, const lard_u64 *words, size_t count, unsigned char *out) {
    const passage p = {words, NULL, NULL, out};
    return lard_crc_hardware ? pass_all(true, crc, p, count) : pass_all(false, crc, p, count);
}

uint64_t lard_crc_long_in(uint64_t crc, lard_u64 *words, size_t count, const unsigned char *in) {
    const passage p = {NULL, in, words, NULL};
    return lard_crc_hardware ? pass_all(true, crc, p, count) : pass_all(false, crc, p, count);
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
        uint64_t word = lard_tail(in, bytes);
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
