/*
 * siphash13.c — the function of siphash13.h out of line.
 */
#include "base/siphash13.h"

uint64_t lard_siphash13(const uint64_t seed[2], const void *data, size_t bytes) {
    return lard_siphash13_inline(seed, data, bytes, lard_word_tail(data, bytes));
}
