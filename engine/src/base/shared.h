/*
 * shared.h — accesses memory that other processes map.
 *
 * This file owns the two word types of the file and every load, store and compare-and-swap on them. The types are
 * structs, so that a plain assignment does not compile. Each write to shared memory goes through LARD_WRITE below.
 * There a test build (-DLARDER_CRASH_POINTS) numbers the write and may kill the process just before it. Another
 * test build (-DLARDER_INTERLEAVE) calls a scheduler before each access. System calls that change a file or its
 * name go through LARD_CHANGE and are numbered with the stores.
 *
 * The exceptions are what nothing depends on: the hints (reads.h, shadow.h), statistics (count.h), which are
 * copied into the file at times that no test can know, and stores that change nothing (lard_dirty).
 *
 * Memory orders: names without a suffix are relaxed; the others end in _acquire or _release. A plain memcpy of
 * shared bytes is a data race, so loops copy them word by word.
 */
#ifndef LARD_SHARED_H
#define LARD_SHARED_H

#include "larder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `make stores` compiles the engine with const words, which only the macros can change: other stores are errors.
 */
#ifdef LARDER_CONSTANT_WORDS
#define LARD_WORD const
#define LARD_RAW(p) ((__typeof__((p)->raw_ + 0) *)(uintptr_t)(&(p)->raw_))
#else
#define LARD_WORD
#define LARD_RAW(p) (&(p)->raw_)
#endif

/* Defined where each shared word must be loaded by itself, never several at once. */
#if defined(LARDER_INTERLEAVE) || defined(__SANITIZE_THREAD__)
#define LARD_SINGLE_WORDS
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LARD_SINGLE_WORDS
#endif
#endif

typedef struct {
    LARD_WORD uint32_t raw_;
} lard_u32;

typedef struct {
    LARD_WORD uint64_t raw_;
} lard_u64;

#ifdef LARDER_INTERLEAVE
#include "turns.h" /* engine/model: the same names, each under a scheduler */
#else
#ifdef LARDER_CRASH_POINTS
void lard_crash_point(const void *at);
#define LARD_WRITE(at, statement) (lard_crash_point(at), (statement))
#else
#define LARD_WRITE(at, statement) (statement)
#endif
#define LARD_CHANGE(call) LARD_WRITE(NULL, call)

#define lard_load(p) __atomic_load_n(&(p)->raw_, __ATOMIC_RELAXED)
#define lard_load_acquire(p) __atomic_load_n(&(p)->raw_, __ATOMIC_ACQUIRE)
#define lard_store(p, v) LARD_WRITE(p, __atomic_store_n(LARD_RAW(p), (v), __ATOMIC_RELAXED))
#define lard_store_release(p, v) LARD_WRITE(p, __atomic_store_n(LARD_RAW(p), (v), __ATOMIC_RELEASE))
#define lard_add(p, v) LARD_WRITE(p, __atomic_fetch_add(LARD_RAW(p), (v), __ATOMIC_SEQ_CST))

#define lard_fence_acquire() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define lard_fence_release() __atomic_thread_fence(__ATOMIC_RELEASE)
#define lard_fence() __atomic_thread_fence(__ATOMIC_SEQ_CST)

/* Four and eight words at once, without an order among them: for records, which are read and written unordered
 * anyway. */
#if !defined(LARD_SINGLE_WORDS) && !defined(LARDER_CRASH_POINTS)
#define LARD_FOUR_WORDS
typedef long long lard_four __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long lard_eight __attribute__((vector_size(64), aligned(8), may_alias));
#define lard_load_four(p) (*(const volatile lard_four *)&(p)->raw_)
#define lard_load_eight(p) (*(const volatile lard_eight *)&(p)->raw_)
#define lard_store_four(p, v) LARD_WRITE(p, *(volatile lard_four *)LARD_RAW(p) = (v))
#define lard_store_eight(p, v) LARD_WRITE(p, *(volatile lard_eight *)LARD_RAW(p) = (v))
#endif

/* True: `p` held `*expected` and now holds `desired`. False: `*expected` becomes the value of `p`. */
static inline bool lard_cas32(lard_u32 *p, uint32_t *expected, uint32_t desired) {
    return LARD_WRITE(
        p, __atomic_compare_exchange_n(LARD_RAW(p), expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
}

static inline bool lard_cas64(lard_u64 *p, uint64_t *expected, uint64_t desired) {
    return LARD_WRITE(
        p, __atomic_compare_exchange_n(LARD_RAW(p), expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
}

/* Makes the page of the word dirty by a store that changes nothing, without a load before it, which would be a
 * page fault of its own. It is not numbered. Volatile: a compiler may make a mere load of it otherwise. */
static inline void lard_dirty(lard_u64 *p) {
    __atomic_fetch_or((volatile __typeof__(LARD_RAW(p)[0]) *)LARD_RAW(p), 0, __ATOMIC_RELAXED);
}

#endif

#endif
