/*
 * mutate.c — libFuzzer's mutations of a stream of commands (stream.h).
 *
 * Whole commands are duplicated, dropped, swapped, moved or changed in one field; sometimes bytes are changed at
 * random.
 */
#include "stream.h"

#include <stdlib.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

enum { HEAD = sizeof((stream *)0)->settings, EACH = sizeof(command) };

static unsigned state;

static unsigned next(unsigned below) {
    state = state * 1103515245u + 12345u;
    return (state >> 8) % (below ? below : 1);
}

static uint32_t interesting(void) {
    static const uint32_t values[] = {0,     1,        2,        7,          8,          63,
                                      64,    255,      4096,     8192,       32767,      32768,
                                      65535, 1u << 20, 1u << 30, 0x7fffffff, 0x80000000, 0xffffffff};
    return next(2) ? values[next(sizeof values / sizeof *values)] : next(1u << 16) << next(17);
}

static void change(command *one) {
    switch (next(6)) {
    case 0:
        one->op = (uint8_t)next(256);
        break;
    case 1:
        one->a = (uint8_t)next(256);
        break;
    case 2:
        one->key = (uint16_t)(next(2) ? next(32) : next(65536));
        break;
    case 3:
        one->n = interesting();
        break;
    case 4:
        one->n += next(33) - 16;
        break;
    default:
        one->a ^= (uint8_t)(1u << next(8));
    }
}

static size_t insert(uint8_t *data, size_t size, size_t most, size_t count) {
    unsigned run = 1 + next(4), from = next((unsigned)count), to = next((unsigned)count + 1);
    uint8_t copy[4 * EACH];
    run = from + run > count ? (unsigned)count - from : run;
    if (size + run * EACH > most || run == 0) {
        return size;
    }
    memcpy(copy, data + HEAD + from * EACH, run * EACH);
    memmove(data + HEAD + (to + run) * EACH, data + HEAD + to * EACH, (count - to) * EACH);
    memcpy(data + HEAD + to * EACH, copy, run * EACH);
    return HEAD + (count + run) * EACH;
}

static size_t drop(uint8_t *data, size_t count) {
    unsigned run = 1 + next(4), from = next((unsigned)count);
    run = from + run > count ? (unsigned)count - from : run;
    memmove(data + HEAD + from * EACH, data + HEAD + (from + run) * EACH, (count - from - run) * EACH);
    return HEAD + (count - run) * EACH;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    state = seed;
    size_t count = size < HEAD ? 0 : (size - HEAD) / EACH;
    if (count < 2 || next(8) == 0) {
        return LLVMFuzzerMutate(data, size, most);
    }
    for (unsigned times = 1 + next(4); times && count > 1; times--) {
        command one;
        uint8_t *at = data + HEAD + next((unsigned)count) * EACH;
        switch (next(8)) {
        case 0:
        case 1:
            size = insert(data, size, most, count);
            break;
        case 2:
            size = drop(data, count);
            break;
        case 3:
            LLVMFuzzerMutate(next(8) ? at : data, EACH, EACH);
            break;
        default:
            memcpy(&one, at, EACH);
            change(&one);
            memcpy(at, &one, EACH);
        }
        count = (size - HEAD) / EACH;
    }
    return size;
}
