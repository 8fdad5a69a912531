/*
 * tree_again.h — objects that occur in a value more than once: finding them, and limits for them.
 *
 * A value is first written without numbers, and its objects are put into a table. If
 * one is in the table already, the value is written anew, and its objects are
 * numbered in the order in which they end, including those that Larder::Tree made as
 * parts of another object. An object that has not ended has no number, so a cycle
 * cannot be written.
 *
 * A few bytes of references could stand for a value of any depth and size. So an
 * object that occurs again counts as if it were written again: for the depth, and
 * for at most MAX_AGAIN bytes of one value.
 */
#ifndef LARDER_TREE_AGAIN_H
#define LARDER_TREE_AGAIN_H

#include "value/tree_format.h"

#include <ruby.h>
#include <stdbool.h>
#include <string.h>

#define MAX_AGAIN ((uint64_t)64 << 20)
/* Values between two checks for interrupts. */
#define STEPS 0x10000u

/*
 * The objects that were seen, by address: for each page of 64 KiB, a bit for each place where one can begin. The
 * caller keeps them alive. One that compaction moves meanwhile is taken for another, and may be written twice.
 */
enum { SEEN_FIRST = 8, SEEN_SHIFT = 16, SEEN_OBJECT_BYTES = 40, SEEN_WORDS = 65536 / 40 / 64 + 1 };

typedef struct {
    uint64_t page; /* 0: free */
    uint64_t bits[SEEN_WORDS];
} seen_page;

typedef struct {
    seen_page *page; /* a table with open addressing */
    size_t pages, used;
    seen_page *last;
    VALUE buffer; /* owns their memory; 0: they are in `first` */
    seen_page first[SEEN_FIRST];
} tree_seen;

/* The depth and size of what was written or read last. */
typedef struct {
    unsigned deepest;
    uint64_t again_bytes; /* of objects that occur again */
} tree_reach;

#define EXTENT_BYTES ((UINT64_C(1) << 28) - 1)

/* Of an object that has ended: its number, its height, and its bytes, including objects that occur again in it. */
static inline VALUE tree_again_extent(uint64_t number, unsigned height, uint64_t bytes) {
    return ULL2NUM(number << 35 | (uint64_t)height << 28 | (bytes < EXTENT_BYTES ? bytes : EXTENT_BYTES));
}

static inline uint64_t tree_again_extent_number(VALUE extent) { return NUM2ULL(extent) >> 35; }

/* May it occur once more, at `depth`? */
static inline bool tree_again(tree_reach *reach, unsigned depth, VALUE extent) {
    unsigned height = (unsigned)(NUM2ULL(extent) >> 28 & 127);

    reach->again_bytes += NUM2ULL(extent) & EXTENT_BYTES;
    if (depth + height > TREE_DEPTH || reach->again_bytes > MAX_AGAIN) {
        return false;
    }
    reach->deepest = depth + height > reach->deepest ? depth + height : reach->deepest;
    return true;
}

static inline void tree_again_init(tree_seen *seen) {
    seen->page = seen->last = seen->first;
    seen->pages = SEEN_FIRST;
    seen->used = 0;
    seen->buffer = 0;
    for (unsigned i = 0; i < SEEN_FIRST; i++) {
        seen->first[i].page = 0;
    }
}

/* The page of that number, which may be new. Raises where there is no memory. */
seen_page *tree_again_page(tree_seen *seen, uint64_t number);

/* False where it was there. */
static inline bool tree_again_add(tree_seen *seen, VALUE object) {
    uint64_t number = object >> SEEN_SHIFT;
    unsigned place = (unsigned)(object & ((1u << SEEN_SHIFT) - 1)) / SEEN_OBJECT_BYTES;
    uint64_t bit = UINT64_C(1) << place % 64;

    if (seen->last->page != number) {
        seen->last = tree_again_page(seen, number);
    }
    bool is_new = !(seen->last->bits[place / 64] & bit);
    seen->last->bits[place / 64] |= bit;
    return is_new;
}

#endif
