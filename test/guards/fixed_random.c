/*
 * fixed_random.c — preloaded, answers getrandom with the same bytes in each run: the seeds of Ruby's hashes
 * and of a new cache decide where keys collide, and so how many instructions a call takes.
 */
#include <stdint.h>
#include <sys/types.h>

ssize_t getrandom(void *out, size_t bytes, unsigned flags);

ssize_t getrandom(void *out, size_t bytes, unsigned flags) {
    static uint64_t state = 88172645463325252ull;
    (void)flags;
    for (size_t i = 0; i < bytes; i++) { /* xorshift64 (Marsaglia 2003) */
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((unsigned char *)out)[i] = (unsigned char)(state >> 24);
    }
    return (ssize_t)bytes;
}
