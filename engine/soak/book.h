/*
 * book.h — the soak's ledger: who wrote what when, in memory that the cache has no
 * part in. One file of 64-bit words, mapped by the Ruby processes (through book.c,
 * which proof/soak/book.rb calls) and by worker.c.
 *
 * A slot is held by one process or thread at a time, kept by a POSIX lock on its
 * byte of the book, which the kernel drops with the process. Every key has one
 * owner, the holder of its slot. The owner notes the stamp of each operation before
 * it begins and after it was acknowledged; readers note both around a lookup. What
 * a lookup finds must have been begun by its end, and must not be older than what
 * was acknowledged before its start. Stamps are nanoseconds of the monotonic clock.
 */
#ifndef SOAK_BOOK_H
#define SOAK_BOOK_H

#include <stdint.h>

/* Words that concern everyone. proof/soak/book.rb has the same numbers. */
enum {
    SOAK_CLEARED = 1, /* when the last acknowledged clear began */
    SOAK_RESTING = 2, /* 1: everyone rests, so that something can be measured */
    SOAK_ENDING = 3,  /* 1: everyone ends */
    SOAK_WRONG = 4,   /* how often something was seen that must not be */
    SOAK_FORKS = 5,
    SOAK_HOSTILE = 6, /* when the file was last removed or cut by hand */
    SOAK_FIRST_SLOT = 64,
};

/* Words of a slot. */
enum {
    SLOT_PID,
    SLOT_STARTED, /* the process' start time, in ticks since boot, as /proc has it */
    SLOT_BEAT,    /* when its owner was last seen at work */
    SLOT_RESTS,   /* 1: it rests as it was told to */
    SLOT_CALLS,
    SLOT_FOUND,
    SLOT_MISSED,
    SLOT_REFUSED,
    SLOT_LOST, /* an own value that was acknowledged, and forgotten */
    SLOT_WORDS = 16
};

/* Words of a row, which stands for one key. */
enum {
    ROW_BEGUN,    /* stamp (a counter: number) of the last operation begun */
    ROW_ACKED,    /* of the last one acknowledged */
    ROW_ACKED_AT, /* when it was */
    ROW_PRESENT,  /* 1: it left a value */
    ROW_WORDS
};

/* Rows of a slot: keys of bytes, keys of Rails, counters of bytes, counters of Rails. */
enum { BYTE_KEYS = 32, RAILS_KEYS = 32, COUNTERS = 4, ROWS = BYTE_KEYS + RAILS_KEYS + 2 * COUNTERS, SLOTS = 48 };
enum { FIRST_ROW = SOAK_FIRST_SLOT + SLOTS * SLOT_WORDS, BOOK_WORDS = FIRST_ROW + SLOTS * ROWS * ROW_WORDS };

#pragma GCC visibility push(default)
uint64_t *soak_map(const char *path, int *fd_out);
uint64_t soak_load(const uint64_t *book, int word);
void soak_store(uint64_t *book, int word, uint64_t value);
uint64_t soak_add(uint64_t *book, int word, uint64_t value);
void soak_raise(uint64_t *book, int word, uint64_t value);
int soak_claim(uint64_t *book, int fd, int slot);
void soak_release(uint64_t *book, int fd, int slot);
int soak_end_with_parent(void);
int soak_adopt_orphans(void);
void soak_trim(void);
#pragma GCC visibility pop

#endif
