/*
 * crc.c — CRC-32C, by instruction where the processor has one.
 *
 * Checksums are taken over 64-bit words, of which the bytes past the data are
 * zero. Reads of shared memory are relaxed atomic loads, and what is checksummed
 * is what is copied: the same loaded word goes to both.
 */
#include "internal.h"

#include <string.h>

#define POLYNOMIAL 0x82f63b78u /* reflected */

static uint32_t table[256];

static uint32_t word_by_table(uint32_t crc, uint64_t word) {
    for (int i = 0; i < 8; i++) {
        crc = table[(crc ^ (uint32_t)word) & 0xff] ^ (crc >> 8);
        word >>= 8;
    }
    return crc;
}

#if defined(__x86_64__)
#define HARDWARE __attribute__((target("sse4.2")))
#define WORD_BY_INSTRUCTION(crc, word) ((uint32_t)__builtin_ia32_crc32di((crc), (word)))
static bool hardware_present(void) { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#define HARDWARE
#define WORD_BY_INSTRUCTION(crc, word) __crc32cd((crc), (word))
static bool hardware_present(void) { return true; }
#else
#define HARDWARE
#define WORD_BY_INSTRUCTION(crc, word) word_by_table((crc), (word))
static bool hardware_present(void) { return false; }
#endif

static bool hardware;

void lard_crc_init(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
        }
        table[i] = crc;
    }
    hardware = hardware_present();
}

/*
 * One loop, compiled twice: with the instruction and with the table. The first
 * word may start before the value (`skip`), the last one may end after it; the
 * whole words between are stored unaligned into private memory.
 */
#define COPY_OUT(WORD)                                       \
    size_t i = 0, done = 0;                                  \
    if (count && (skip || bytes < 8)) {                      \
        uint64_t word = lard_load(&words[0]);                \
        size_t take = 8 - skip < bytes ? 8 - skip : bytes;   \
        crc = WORD(crc, word);                               \
        word >>= skip * 8;                                   \
        memcpy(out, &word, take);                            \
        done = take;                                         \
        i = 1;                                               \
    }                                                        \
    for (; i < count && done + 8 <= bytes; i++, done += 8) { \
        uint64_t word = lard_load(&words[i]);                \
        crc = WORD(crc, word);                               \
        memcpy(out + done, &word, 8);                        \
    }                                                        \
    if (i < count) {                                         \
        uint64_t word = lard_load(&words[i]);                \
        crc = WORD(crc, word);                               \
        memcpy(out + done, &word, bytes - done);             \
    }                                                        \
    return crc

#define SHARED(WORD)                           \
    for (size_t i = 0; i < count; i++) {       \
        crc = WORD(crc, lard_load(&words[i])); \
    }                                          \
    return crc

#define COPY_IN(WORD)                              \
    size_t i = 0;                                  \
    uint64_t word;                                 \
    for (; bytes >= 8; bytes -= 8, in += 8, i++) { \
        memcpy(&word, in, 8);                      \
        crc = WORD(crc, word);                     \
        lard_store(&words[i], word);               \
    }                                              \
    if (bytes) {                                   \
        word = 0;                                  \
        memcpy(&word, in, bytes);                  \
        crc = WORD(crc, word);                     \
        lard_store(&words[i], word);               \
    }                                              \
    return crc

HARDWARE static uint32_t copy_in_hardware(uint32_t crc, lard_u64 *words, const unsigned char *in, size_t bytes) {
    COPY_IN(WORD_BY_INSTRUCTION);
}

static uint32_t copy_in_table(uint32_t crc, lard_u64 *words, const unsigned char *in, size_t bytes) {
    COPY_IN(word_by_table);
}

HARDWARE static uint32_t copy_out_hardware(uint32_t crc, const lard_u64 *words, size_t count, size_t skip,
                                           unsigned char *out, size_t bytes) {
    COPY_OUT(WORD_BY_INSTRUCTION);
}

static uint32_t copy_out_table(uint32_t crc, const lard_u64 *words, size_t count, size_t skip, unsigned char *out,
                               size_t bytes) {
    COPY_OUT(word_by_table);
}

HARDWARE static uint32_t shared_hardware(uint32_t crc, const lard_u64 *words, size_t count) {
    SHARED(WORD_BY_INSTRUCTION);
}

static uint32_t shared_table(uint32_t crc, const lard_u64 *words, size_t count) { SHARED(word_by_table); }

HARDWARE static uint32_t word_hardware(uint32_t crc, uint64_t word) { return WORD_BY_INSTRUCTION(crc, word); }

uint32_t lard_crc_word(uint32_t crc, uint64_t word) {
    return LARD_LIKELY(hardware) ? word_hardware(crc, word) : word_by_table(crc, word);
}

uint32_t lard_crc_shared(uint32_t crc, const lard_u64 *words, size_t count) {
    return LARD_LIKELY(hardware) ? shared_hardware(crc, words, count) : shared_table(crc, words, count);
}

uint32_t lard_crc_copy_out(uint32_t crc, const lard_u64 *words, size_t count, size_t skip, void *out,
                           size_t bytes) {
    return LARD_LIKELY(hardware) ? copy_out_hardware(crc, words, count, skip, out, bytes)
                                 : copy_out_table(crc, words, count, skip, out, bytes);
}

uint32_t lard_crc_copy_in(uint32_t crc, lard_u64 *words, const void *in, size_t bytes) {
    return LARD_LIKELY(hardware) ? copy_in_hardware(crc, words, in, bytes) : copy_in_table(crc, words, in, bytes);
}

uint32_t lard_crc_bytes(uint32_t crc, const void *data, size_t bytes) {
    const unsigned char *in = data;
    for (size_t i = 0; i < bytes; i++) {
        crc = table[(crc ^ in[i]) & 0xff] ^ (crc >> 8);
    }
    return crc;
}
