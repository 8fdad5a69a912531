/*
 * platform.h — wraps the operating system: clocks, random bytes, futexes, file allocation, kinds of file systems.
 */
#ifndef LARD_PLATFORM_H
#define LARD_PLATFORM_H

#include "larder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LARD_LIKELY(x) __builtin_expect(!!(x), 1)
#define LARD_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define LARD_INLINE static inline __attribute__((always_inline))

#define LARD_COARSE_LAG_MS 20 /* a kernel tick is 10 ms at most */

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Larder's file format is little-endian; big-endian machines are not supported"
#endif
#if UINTPTR_MAX < UINT64_MAX
#error "Larder needs a 64-bit machine"
#endif

int64_t lard_clock_coarse_ms(void); /* lard_clock_ms, up to LARD_COARSE_LAG_MS behind, at an eighth of its cost */
int64_t lard_clock_ms(void);        /* wall clock, Unix ms */
int64_t lard_monotonic_coarse_ms(void);
int64_t lard_monotonic_ms(void);           /* for waits */
int lard_random(void *out, size_t bytes);  /* 0, or errno */
int64_t lard_uptime_ms(void);              /* since boot, with the time suspended; 0: unknown */
int lard_inode(int fd, uint64_t inode[2]); /* number, and creation time in ns (0: unknown): 0, or errno */
bool lard_is_same_inode(const uint64_t one[2], const uint64_t other[2]); /* as lard_inode() fills them */
int lard_boot_id(uint64_t id[2]);          /* another after each boot, zeros if unknown: 0, or errno */
bool lard_file_may_reach(uint64_t bytes);  /* false: a write there would raise SIGXFSZ (RLIMIT_FSIZE) */
int lard_allocate(int fd, uint64_t bytes); /* reserves disk space: 0, or errno */
void lard_release_space(int fd, uint64_t from,
                        uint64_t bytes); /* the bytes become zeros; does nothing where the system cannot do that */
size_t lard_page_bytes(void); /* of this machine: 4, 16 or 64 KiB; pages of the file's format have 4,096 */
int lard_sync(uint8_t *base, size_t from, size_t bytes); /* writes that part of a map to disk: 0, or errno */
/* Is the file on a file system whose pages are not this kernel's alone? 1 and its name, 0, or -errno. */
int lard_is_network_fs(int fd, const char **name);

/* Does a map of the file map another file below it (overlayfs, ecryptfs)? 1, 0, or -errno. */
int lard_is_stacked_fs(int fd);
const char *lard_fs_of_others(unsigned long type); /* Linux: name of such a type (f_type of statfs(2)), or NULL */
void lard_wait(uint32_t *word, uint32_t value,
               unsigned timeout_ms); /* sleeps while *word is value; may wake early */
void lard_wake(uint32_t *word);      /* wakes one waiter */
void lard_sleep_ms(unsigned ms);

static inline void lard_pause(void) {
#if defined(LARDER_INTERLEAVE)
    void lard_turn_pause(void);
    lard_turn_pause();
#elif defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Has the item expired? `now_ms` 0: by the engine's clock. Most expiries are far away, so the cheap clock is asked
 * first. */
static inline bool lard_clock_has_passed(uint64_t expiry_ms, int64_t now_ms) {
    if (now_ms == 0) {
        now_ms = lard_clock_coarse_ms();
        if ((int64_t)expiry_ms > now_ms + LARD_COARSE_LAG_MS) {
            return false;
        }
        now_ms = lard_clock_ms();
    }
    return (int64_t)expiry_ms <= now_ms;
}

#endif
