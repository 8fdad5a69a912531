/*
 * stream.h — an input as a stream of commands of eight bytes.
 *
 * A fuzzer that moves, duplicates or drops some of them does not change the others (mutate.c does that).
 */
#ifndef LARD_FUZZ_STREAM_H
#define LARD_FUZZ_STREAM_H

#include <stdint.h>
#include <string.h>

typedef struct {
    uint8_t op, a;
    uint16_t key;
    uint32_t n;
} command;

enum { STREAM_MOST = 400 };

typedef struct {
    uint8_t settings[8];
    size_t count;
    command commands[STREAM_MOST];
} stream;

static inline void stream_read(stream *out, const uint8_t *data, size_t size) {
    size_t rest = size < sizeof out->settings ? 0 : size - sizeof out->settings;
    memset(out, 0, sizeof *out);
    memcpy(out->settings, data, rest ? sizeof out->settings : size);
    out->count = rest / sizeof(command) < STREAM_MOST ? rest / sizeof(command) : STREAM_MOST;
    memcpy(out->commands, data + size - rest, out->count * sizeof(command));
}

#endif
