/*
 * platform.h — what the engine needs of the compiler and the machine: hints, inlining, 64 bits, little-endian.
 */
#ifndef LARD_PLATFORM_H
#define LARD_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LARD_LIKELY(x) __builtin_expect(!!(x), 1)
#define LARD_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define LARD_INLINE static inline __attribute__((always_inline))

#if !defined(__linux__) && !defined(__APPLE__)
#error "Larder runs on Linux and macOS"
#endif
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Larder's file format is little-endian; big-endian machines are not supported"
#endif
#if UINTPTR_MAX < UINT64_MAX
#error "Larder needs a 64-bit machine"
#endif

#endif
