/*
 * fixed_random.c — preloaded, answers libc's functions for random bytes with the same bytes in each run: the
 * seeds of Ruby's hashes and of a new cache decide where keys collide, and so how many instructions a call takes.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

ssize_t getrandom(void *out, size_t bytes, unsigned flags);
int getentropy(void *out, size_t bytes);
void arc4random_buf(void *out, size_t bytes);

static void fill(unsigned char *out, size_t bytes) {
    static uint64_t state = 88172645463325252ull;
    for (size_t i = 0; i < bytes; i++) { /* xorshift64 (Marsaglia 2003) */
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        out[i] = (unsigned char)(state >> 24);
    }
}

ssize_t getrandom(void *out, size_t bytes, unsigned flags) {
    (void)flags;
    fill(out, bytes);
    return (ssize_t)bytes;
}

int getentropy(void *out, size_t bytes) {
    fill(out, bytes);
    return 0;
}

void arc4random_buf(void *out, size_t bytes) { fill(out, bytes); }
