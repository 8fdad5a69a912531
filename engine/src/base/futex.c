/*
 * futex.c — the futex of Linux, which works across processes, and what macOS has in its place. Takes no lock.
 */
#define _GNU_SOURCE
#include "base/futex.h"

#include <time.h>

#if defined(__linux__)
#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Constants of the kernel, whose headers are a package of their own on Alpine. */
#define FUTEX_WAIT 0
#define FUTEX_WAKE 1

void lard_futex_wait(uint32_t *word, uint32_t value, unsigned timeout_ms) {
    struct timespec t = {.tv_sec = timeout_ms / 1000, .tv_nsec = (long)(timeout_ms % 1000) * 1000000};
    syscall(SYS_futex, word, FUTEX_WAIT, value, &t, NULL, 0);
}

void lard_futex_wake(uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0); }

void lard_futex_wake_all(uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0); }

#else

/* macOS has no futex across processes, so this sleeps for a short time. Callers check their word again. */
void lard_futex_wait(uint32_t *word, uint32_t value, unsigned timeout_ms) {
    (void)timeout_ms;
    if (__atomic_load_n(word, __ATOMIC_RELAXED) == value) {
        struct timespec t = {0, 100000};
        nanosleep(&t, NULL);
    }
}

void lard_futex_wake(uint32_t *word) { (void)word; }

void lard_futex_wake_all(uint32_t *word) { (void)word; }

#endif
