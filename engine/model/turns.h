/*
 * turns.h — the accesses of shared.h in the build that explores interleavings (-DLARDER_INTERLEAVE).
 *
 * Each access is a call, before which the scheduler may let another logical process run. shared.h includes this
 * file in place of its own macros. memory.c decides what an access does, schedule.c whose turn it is.
 */
#ifndef LARD_TURNS_H
#define LARD_TURNS_H

extern bool lard_turn_blind; /* checksums always fit, so that only the protocols are left */

enum { LARD_TURN_RELAXED, LARD_TURN_ACQUIRE, LARD_TURN_RELEASE, LARD_TURN_SEQ_CST };
uint64_t lard_turn_load(const void *at, unsigned bytes);
void lard_turn_store(void *at, unsigned bytes, uint64_t value, int order);
uint64_t lard_turn_swap(void *at, unsigned bytes, uint64_t value);
uint64_t lard_turn_add(void *at, unsigned bytes, uint64_t value);
bool lard_turn_cas(void *at, unsigned bytes, uint64_t *expected, uint64_t desired);
void lard_turn_fence(int order);

#define LARD_CHANGE(call) (call)
#define LARD_TURN_AS(p, value) ((__typeof__(+(p)->raw_))(value))
#define lard_load(p) LARD_TURN_AS(p, lard_turn_load(&(p)->raw_, sizeof(p)->raw_))
#define lard_load_acquire(p) lard_load(p)
#define lard_store(p, v) lard_turn_store(&(p)->raw_, sizeof(p)->raw_, (uint64_t)(v), LARD_TURN_RELAXED)
#define lard_store_release(p, v) lard_turn_store(&(p)->raw_, sizeof(p)->raw_, (uint64_t)(v), LARD_TURN_RELEASE)
#define lard_swap(p, v) LARD_TURN_AS(p, lard_turn_swap(&(p)->raw_, sizeof(p)->raw_, (uint64_t)(v)))
#define lard_add(p, v) LARD_TURN_AS(p, lard_turn_add(&(p)->raw_, sizeof(p)->raw_, (uint64_t)(v)))
#define lard_fence_acquire() lard_turn_fence(LARD_TURN_ACQUIRE)
#define lard_fence_release() lard_turn_fence(LARD_TURN_RELEASE)
#define lard_fence() lard_turn_fence(LARD_TURN_SEQ_CST)

static inline void lard_dirty(const lard_u64 *p) { (void)p; } /* changes nothing */

static inline bool lard_cas32(lard_u32 *p, uint32_t *expected, uint32_t desired) {
    uint64_t wide = *expected;
    bool done = lard_turn_cas(&p->raw_, sizeof p->raw_, &wide, desired);
    *expected = (uint32_t)wide;
    return done;
}

static inline bool lard_cas64(lard_u64 *p, uint64_t *expected, uint64_t desired) {
    return lard_turn_cas(&p->raw_, sizeof p->raw_, expected, desired);
}

#endif
