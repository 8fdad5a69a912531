/*
 * contest.h — one call of a contest among a set, a bare append to a mapped file, and reading the clock: see
 * tails.c.
 */
#ifndef LARD_BENCH_CONTEST_H
#define LARD_BENCH_CONTEST_H

#include "bench.h"

#define VALUE_BYTES 100
#define RECORD_BYTES LARD_ALIGN8(LARD_RECORD_HEADER + KEY_BYTES + VALUE_BYTES)
#define FILE_BYTES (128u << 20)

typedef struct {
    larder *cache;
    uint64_t key; /* next one to store: each is new */
    uint8_t *bare;
    size_t bare_at, bare_bytes;
    int bare_fd;
    uint64_t laid; /* appended records */
} contest;

enum { LARDER, BARE, IDLE, CONTENDERS };
static const char *const names[] = {"set", "bare append", "idle"};
#define SPIN_NS 400

static void begin_bare(contest *on, const char *path, size_t bytes) {
    on->bare_bytes = bytes;
    on->bare_fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (on->bare_fd < 0 || posix_fallocate(on->bare_fd, 0, (off_t)bytes) != 0) {
        bench_die("%s: %s", path, strerror(errno));
    }
    on->bare = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, on->bare_fd, 0);
    if (on->bare == MAP_FAILED) {
        bench_die("mmap: %s", strerror(errno));
    }
}

static void end_bare(contest *on, const char *path) {
    unlink(path);
    munmap(on->bare, on->bare_bytes);
    close(on->bare_fd);
}

static void store(contest *on, const char *key, const unsigned char *value) {
    larder_store store = {.key = key, .key_bytes = KEY_BYTES, .value = value, .value_bytes = VALUE_BYTES};
    larder_status status = larder_set(on->cache, &store, NULL);
    if (LARD_UNLIKELY(status != LARDER_OK)) {
        bench_die("set: %s", larder_status_text(status));
    }
}

static void append(contest *on, const char *key, const unsigned char *value) {
    if (on->bare_at + RECORD_BYTES > on->bare_bytes) {
        on->bare_at = 0;
    }
    uint8_t *at = on->bare + on->bare_at;
    memset(at, 0, LARD_RECORD_HEADER);
    memcpy(at + LARD_RECORD_HEADER, key, KEY_BYTES);
    memcpy(at + LARD_RECORD_HEADER + KEY_BYTES, value, VALUE_BYTES);
    on->bare_at += RECORD_BYTES;
    on->laid++;
}

/* One call, in ns. */
static inline uint64_t call(contest *on, int contender, uint64_t number, unsigned char *value) {
    char key[KEY_BYTES];
    bench_key(key, number);
    memcpy(value, &number, sizeof number);
    uint64_t start = bench_now_ns();
    if (contender == LARDER) {
        store(on, key, value);
    } else if (contender == BARE) {
        append(on, key, value);
    } else {
        while (bench_now_ns() - start < SPIN_NS) {
        }
    }
    return bench_now_ns() - start;
}

#endif
