/*
 * crc_fold.c — CRC-32C of long runs by carry-less multiplication (Gopal, Ozturk, Guilford and others, "Fast CRC
 * Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009).
 *
 * A checksum is the remainder of the run, taken as a polynomial. 128 bytes at the beginning of a run have the same
 * remainder as their product with x^1024, added to the 128 bytes that follow. A step does this for eight parts of
 * 16 bytes: each half of a part is multiplied by x^1024 modulo the polynomial. With registers of 64 bytes a step
 * is twice as long, and by x^2048. The 128 bytes that are left at the end are processed by the CRC instruction.
 * Pure; takes no lock.
 */
#include "base/crc_fold.h"

#include "base/platform.h"

unsigned lard_crc_folds;

#if defined(__x86_64__) && defined(LARD_FOUR_WORDS)
#include <immintrin.h>
#include <string.h>

#define STEP LARD_CRC_FOLDED /* words */
#define PARTS (STEP / 4)     /* registers that hold them */
#define LINE 8               /* words of a cache line */
#define AHEAD 512            /* words of a page */

#define FOLDING __attribute__((target("avx2,pclmul,vpclmulqdq")))
#define WIDE __attribute__((target("avx512f,avx2,pclmul,vpclmulqdq")))

/* What multiplies the lower and the upper half of 16 bytes that are added to those a step, or two steps, later. */
static uint64_t one_step[2], two_steps[2];

/* x^power modulo the polynomial: its bits are reflected, and one place higher for the multiplication. */
static uint64_t factor(uint32_t polynomial, unsigned power) {
    uint32_t remainder = 1u << 31;
    for (unsigned i = 0; i < power; i++) {
        remainder = (remainder >> 1) ^ (remainder & 1 ? polynomial : 0);
    }
    return (uint64_t)remainder << 1;
}

void lard_crc_fold_init(uint32_t polynomial) {
    for (int half = 0; half < 2; half++) {
        one_step[half] = factor(polynomial, STEP * 64 + (half ? -32 : 32));
        two_steps[half] = factor(polynomial, 2 * STEP * 64 + (half ? -32 : 32));
    }
    bool folds =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("vpclmulqdq");
    lard_crc_folds = !folds ? 0 : __builtin_cpu_supports("avx512f") ? 64 : 32;
}

/* Loads four words once, and copies what it loaded, so that the checksum is that of the copy. */
LARD_INLINE FOLDING __m256i pass(lard_crc_way way, lard_u64 *shared, unsigned char *own, size_t word) {
    if (way == LARD_CRC_IN) {
        __m256i four = _mm256_loadu_si256((const __m256i_u *)(own + word * 8));
        lard_store_four(&shared[word], (lard_four)four);
        return four;
    }
    __m256i four = (__m256i)lard_load_four(&shared[word]);
    if (way == LARD_CRC_OUT) {
        memcpy(own + word * 8, &four, sizeof four);
    }
    return four;
}

/* Fetches `words` words a page after `word`: a processor's own prefetching ends with each page. */
LARD_INLINE void prefetch_ahead(const lard_u64 *shared, size_t word, size_t words, size_t count) {
    if (word + AHEAD < count) {
        for (size_t i = 0; i < words; i += LINE) {
            __builtin_prefetch(&shared[word + AHEAD + i]);
        }
    }
}

LARD_INLINE FOLDING __m256i fold(__m256i folded, __m256i factors, __m256i next) {
    __m256i lower = _mm256_clmulepi64_epi128(folded, factors, 0x00);
    __m256i upper = _mm256_clmulepi64_epi128(folded, factors, 0x11);
    return _mm256_xor_si256(_mm256_xor_si256(lower, upper), next);
}

LARD_INLINE FOLDING size_t fold_all(lard_crc_way way, uint64_t crc, lard_u64 *shared, unsigned char *own,
                                    size_t count, uint64_t folded[STEP]) {
    __m256i factors = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i_u *)one_step));
    __m256i parts[PARTS];
    for (size_t i = 0; i < PARTS; i++) {
        parts[i] = pass(way, shared, own, i * 4);
    }
    parts[0] = _mm256_xor_si256(parts[0], _mm256_set_epi64x(0, 0, 0, (int64_t)crc));
    size_t done = STEP;
    for (; done + STEP <= count; done += STEP) {
        prefetch_ahead(shared, done, STEP, count);
        for (size_t i = 0; i < PARTS; i++) {
            parts[i] = fold(parts[i], factors, pass(way, shared, own, done + i * 4));
        }
    }
    memcpy(folded, parts, sizeof parts);
    return done;
}

LARD_INLINE WIDE __m512i pass_eight(lard_crc_way way, lard_u64 *shared, unsigned char *own, size_t word) {
    if (way == LARD_CRC_IN) {
        __m512i eight = _mm512_loadu_si512(own + word * 8);
        lard_store_eight(&shared[word], (lard_eight)eight);
        return eight;
    }
    __m512i eight = (__m512i)lard_load_eight(&shared[word]);
    if (way == LARD_CRC_OUT) {
        memcpy(own + word * 8, &eight, sizeof eight);
    }
    return eight;
}

LARD_INLINE WIDE __m512i fold_eight(__m512i folded, __m512i factors, __m512i next) {
    __m512i lower = _mm512_clmulepi64_epi128(folded, factors, 0x00);
    __m512i upper = _mm512_clmulepi64_epi128(folded, factors, 0x11);
    return _mm512_ternarylogic_epi64(lower, upper, next, 0x96); /* of all three: exclusive or */
}

LARD_INLINE WIDE size_t fold_all_wide(lard_crc_way way, uint64_t crc, lard_u64 *shared, unsigned char *own,
                                      size_t count, uint64_t folded[STEP]) {
    __m512i near = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i_u *)one_step));
    __m512i far = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i_u *)two_steps));
    __m512i parts[PARTS];
    for (size_t i = 0; i < PARTS; i++) {
        parts[i] = pass_eight(way, shared, own, i * 8);
    }
    parts[0] = _mm512_xor_si512(parts[0], _mm512_zextsi128_si512(_mm_cvtsi64_si128((int64_t)crc)));
    size_t done = 2 * STEP;
    for (; done + 2 * STEP <= count; done += 2 * STEP) {
        prefetch_ahead(shared, done, 2 * STEP, count);
        for (size_t i = 0; i < PARTS; i++) {
            parts[i] = fold_eight(parts[i], far, pass_eight(way, shared, own, done + i * 8));
        }
    }
    for (size_t i = 0; i < PARTS / 2; i++) {
        parts[i] = fold_eight(parts[i], near, parts[i + PARTS / 2]);
    }
    if (done + STEP <= count) {
        for (size_t i = 0; i < PARTS / 2; i++) {
            parts[i] = fold_eight(parts[i], near, pass_eight(way, shared, own, done + i * 8));
        }
        done += STEP;
    }
    memcpy(folded, parts, sizeof *folded * STEP);
    return done;
}

/* Compiled once for each way. */
static FOLDING size_t fold_narrow(lard_crc_way way, uint64_t crc, lard_u64 *shared, unsigned char *own,
                                  size_t count, uint64_t folded[STEP]) {
    return way == LARD_CRC_OVER  ? fold_all(LARD_CRC_OVER, crc, shared, own, count, folded)
           : way == LARD_CRC_OUT ? fold_all(LARD_CRC_OUT, crc, shared, own, count, folded)
                                 : fold_all(LARD_CRC_IN, crc, shared, own, count, folded);
}

static WIDE size_t fold_wide(lard_crc_way way, uint64_t crc, lard_u64 *shared, unsigned char *own, size_t count,
                             uint64_t folded[STEP]) {
    return way == LARD_CRC_OVER  ? fold_all_wide(LARD_CRC_OVER, crc, shared, own, count, folded)
           : way == LARD_CRC_OUT ? fold_all_wide(LARD_CRC_OUT, crc, shared, own, count, folded)
                                 : fold_all_wide(LARD_CRC_IN, crc, shared, own, count, folded);
}

size_t lard_crc_fold(lard_crc_way way, uint64_t crc, lard_u64 *shared, unsigned char *own, size_t count,
                     uint64_t folded[LARD_CRC_FOLDED]) {
    if (count < 2 * STEP) {
        return 0;
    }
    return lard_crc_folds == 64 ? fold_wide(way, crc, shared, own, count, folded)
                                : fold_narrow(way, crc, shared, own, count, folded);
}

#else

void lard_crc_fold_init(uint32_t polynomial) { (void)polynomial; }

size_t lard_crc_fold(lard_crc_way way, uint64_t crc, lard_u64 *shared, unsigned char *own, size_t count,
                     uint64_t folded[LARD_CRC_FOLDED]) {
    (void)way, (void)crc, (void)shared, (void)own, (void)count, (void)folded;
    return 0;
}

#endif
