/*
 * prove.h — values that prove themselves, and what the book says of them: the same
 * as proof/soak/value.rb and watch.rb. Part of worker.c.
 */
#ifndef SOAK_PROVE_H
#define SOAK_PROVE_H

#include "book.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { HEADER = 32 };
static const uint64_t GRACE_NS = 3000000000u; /* after the file was removed or cut by hand */
static const int64_t SLACK_MS = 5000;         /* its owner may have been stopped after it said when it expires */
static const int64_t CLOCK_MS = 50;           /* by which a clock that is read seldom may lag */

static uint64_t *book;
static int book_fd, me;
static const char *wrong_path;
static uint64_t state;
static uint32_t crc_table[256];

typedef struct {
    uint32_t bytes, crc;
    uint64_t stamp, number, expires_at_ms;
} header;

typedef struct {
    uint64_t cleared, acked, acked_at, started;
    bool steady;
} watch;

static uint64_t clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
static uint64_t now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }
static int64_t unix_ms(void) { return (int64_t)(clock_ns(CLOCK_REALTIME) / 1000000u); }

static uint64_t random_number(void) { /* xorshift64* (Vigna 2016) */
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1dull;
}

/* The CRC-32 of zlib, which Ruby has. */
static uint32_t crc32_of(const unsigned char *bytes, size_t count) {
    uint32_t crc = ~0u;
    for (size_t i = 0; i < count; i++) {
        crc = crc >> 8 ^ crc_table[(crc ^ bytes[i]) & 0xff];
    }
    return ~crc;
}

static void make_crc_table(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++) {
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
        }
        crc_table[i] = crc;
    }
}

__attribute__((format(printf, 1, 2))) static void wrong(const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int bytes = vsnprintf(text, sizeof text - 1, format, arguments);
    va_end(arguments);
    bytes = bytes < (int)sizeof text - 2 ? bytes : (int)sizeof text - 2;
    text[bytes++] = '\n';
    int fd = open(wrong_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0) {
        if (write(fd, text, (size_t)bytes) != bytes) {
            perror(wrong_path);
        }
        close(fd);
    }
    soak_add(book, SOAK_WRONG, 1);
}

static int row_of(int slot, int row) { return FIRST_ROW + (slot * ROWS + row) * ROW_WORDS; }
static uint64_t number_of(int slot, int row) { return (uint64_t)slot * 1000 + (uint64_t)row; }
static size_t key_of(char out[40], char kind, int slot, int row) {
    return (size_t)snprintf(out, 40, "%c/%d/%d", kind, slot, row);
}

static size_t some_length(void) {
    uint64_t r = random_number() >> 8;
    return HEADER + (r % 2000 == 0 ? 200000 + r / 2000 % 200000
                     : r % 64 == 0 ? 9000 + r / 64 % 31000
                     : r % 4       ? r / 64 % 200
                                   : r / 64 % 3000);
}

static void describe(unsigned char *out, size_t bytes, uint64_t number, uint64_t stamp, int64_t expires_at_ms) {
    header head = {
        .bytes = (uint32_t)bytes, .stamp = stamp, .number = number, .expires_at_ms = (uint64_t)expires_at_ms};
    uint64_t step = stamp | 1;
    for (size_t i = HEADER; i < bytes; i++) {
        out[i] = (unsigned char)(step * i >> 13);
    }
    memcpy(out, &head, HEADER);
    head.crc = crc32_of(out + 8, bytes - 8);
    memcpy(out, &head, HEADER);
}

static bool proves_itself(const unsigned char *bytes, size_t count, header *head) {
    if (count < HEADER) {
        return false;
    }
    memcpy(head, bytes, HEADER);
    return head->bytes == count && head->crc == crc32_of(bytes + 8, count - 8);
}

static watch watch_row(int base) {
    watch w = {.started = now_ns(),
               .cleared = soak_load(book, SOAK_CLEARED),
               .acked = soak_load(book, base + ROW_ACKED),
               .acked_at = soak_load(book, base + ROW_ACKED_AT)};
    w.steady = soak_load(book, base + ROW_ACKED) == w.acked;
    return w;
}

/* Processes leave a file that was removed by hand a moment later, and may read there until then. */
static bool hostile_since(uint64_t started) {
    uint64_t hostile = soak_load(book, SOAK_HOSTILE);
    return hostile && started < hostile + GRACE_NS;
}

static void judge(const char *name, int base, const header *head, const watch *w, int64_t asked_ms) {
    uint64_t begun = soak_load(book, base + ROW_BEGUN);
    if (hostile_since(w->started)) {
        return;
    }
    if (head->stamp > begun) {
        wrong("%s: stamp %llu was not begun (%llu)", name, (unsigned long long)head->stamp,
              (unsigned long long)begun);
    } else if (head->stamp < w->acked) {
        wrong("%s: stamp %llu is older than the acknowledged %llu", name, (unsigned long long)head->stamp,
              (unsigned long long)w->acked);
    } else if (w->steady && head->stamp == w->acked && w->acked_at < w->cleared) {
        wrong("%s: stamp %llu outlived a clear at %llu", name, (unsigned long long)head->stamp,
              (unsigned long long)w->cleared);
    } else if (head->expires_at_ms && (int64_t)head->expires_at_ms + SLACK_MS < asked_ms) {
        wrong("%s: expired %lld ms before it was asked for", name,
              (long long)(asked_ms - (int64_t)head->expires_at_ms));
    }
}

#endif
