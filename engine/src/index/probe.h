/*
 * probe.h — finds the slots of two buckets that have a fingerprint, all sixteen at once.
 *
 * The result is a hint: the caller loads each slot again, atomically, and compares that value. So wide loads of
 * shared memory are allowed here.
 */
#ifndef LARD_PROBE_H
#define LARD_PROBE_H

#include "base/layout.h"

#if defined(__SSE2__) && !defined(LARD_SINGLE_WORDS)
#include <emmintrin.h>

/* The upper halves of four slots, after the fingerprint was shifted to the top of each. */
static inline __m128i lard_probe_four(const lard_u64 *slots) {
    __m128i low = _mm_slli_epi64(_mm_load_si128((const __m128i *)slots), 18);
    __m128i high = _mm_slli_epi64(_mm_load_si128((const __m128i *)slots + 1), 18);
    __m128i tops = _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(low), _mm_castsi128_ps(high), 0xdd));
    return _mm_srli_epi32(tops, 16);
}

/* 16 bits for each slot of a bucket: all ones if it has the fingerprint. */
static inline __m128i lard_probe_bucket(const lard_bucket *bucket, __m128i wanted) {
    return _mm_packs_epi32(_mm_cmpeq_epi32(lard_probe_four(&bucket->slots[0]), wanted),
                           _mm_cmpeq_epi32(lard_probe_four(&bucket->slots[4]), wanted));
}

/* Bit i is set if slot i has the fingerprint, even by chance in a slot of ghosts. */
static inline unsigned lard_probe_one(const lard_bucket *bucket, uint32_t fingerprint) {
    return (unsigned)_mm_movemask_epi8(
        _mm_packs_epi16(lard_probe_bucket(bucket, _mm_set1_epi32((int)fingerprint)), _mm_setzero_si128()));
}

/* The same of two buckets: bit i is for slot i of the first bucket, bit 8 + i for slot i of the second. */
static inline unsigned lard_probe(const lard_bucket *first, const lard_bucket *second, uint32_t fingerprint) {
    __m128i wanted = _mm_set1_epi32((int)fingerprint);
    return (unsigned)_mm_movemask_epi8(
        _mm_packs_epi16(lard_probe_bucket(first, wanted), lard_probe_bucket(second, wanted)));
}

#else

static inline unsigned lard_probe_one(const lard_bucket *bucket, uint32_t fingerprint) {
    unsigned mask = 0;
    for (unsigned i = 0; i < LARD_BUCKET_SLOTS; i++) {
        mask |= (unsigned)(LARD_SLOT_FINGERPRINT(lard_load(&bucket->slots[i])) == fingerprint) << i;
    }
    return mask;
}

static inline unsigned lard_probe(const lard_bucket *first, const lard_bucket *second, uint32_t fingerprint) {
    return lard_probe_one(first, fingerprint) | lard_probe_one(second, fingerprint) << LARD_BUCKET_SLOTS;
}

#endif

/* Is the lowest bit in a mask of lard_probe, which must not be 0, for a slot of the first bucket? */
static inline bool lard_probe_is_first(unsigned mask) { return (mask & ((1u << LARD_BUCKET_SLOTS) - 1)) != 0; }

/* The slot of the lowest bit in a mask of lard_probe, which must not be 0. */
static inline lard_u64 *lard_probe_slot(lard_bucket *first, lard_bucket *second, unsigned mask) {
    unsigned at = (unsigned)__builtin_ctz(mask);
    return &(at < LARD_BUCKET_SLOTS ? first : second)->slots[at % LARD_BUCKET_SLOTS];
}

_Static_assert(LARD_LOCATION_BITS + 16 + 18 == 64, "the shift brings the fingerprint to the top of the slot");

#endif
