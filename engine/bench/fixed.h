/*
 * fixed.h — what the platform would answer, the same in each run: clock and random numbers, for a program that
 * counts exactly. The linker puts these functions in the place of the platform's (--wrap), so one file of it
 * includes them.
 */
#ifndef LARD_BENCH_FIXED_H
#define LARD_BENCH_FIXED_H

#include <stddef.h>
#include <stdint.h>

int64_t __wrap_lard_clock_ms(void);
int64_t __wrap_lard_clock_coarse_ms(void);
int64_t __wrap_lard_clock_monotonic_ms(void);
int64_t __wrap_lard_clock_monotonic_coarse_ms(void);
int64_t __wrap_lard_clock_boot_ms(void);
uint64_t __wrap_lard_clock_monotonic_us(void);
int __wrap_lard_random(void *out, size_t bytes);

int64_t __wrap_lard_clock_ms(void) { return 1700000000000; }
int64_t __wrap_lard_clock_coarse_ms(void) { return 1700000000000; }
int64_t __wrap_lard_clock_monotonic_ms(void) { return 1000000; }
int64_t __wrap_lard_clock_monotonic_coarse_ms(void) { return 1000000; }
int64_t __wrap_lard_clock_boot_ms(void) { return 1000000; }
uint64_t __wrap_lard_clock_monotonic_us(void) { return 1000000000; }

int __wrap_lard_random(void *out, size_t bytes) {
    static uint64_t state = 88172645463325252ull;
    for (size_t i = 0; i < bytes; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((unsigned char *)out)[i] = (unsigned char)(state >> 24);
    }
    return 0;
}

#endif
