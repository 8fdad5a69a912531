/*
 * tree_again.h — objects that stand in a value more than once (tree.h): how they are
 * found, and how much of a value they may be. Of tree_dump.c and tree_load.c.
 *
 * A value is written without a thought of them, and they are looked for: the objects
 * of a value are put into a table, and one that is there already ends it. The value is then
 * written anew, and its objects are numbered in the order in which they end, those
 * that the class of another object has made for its parts included. An object that
 * has not ended yet has no number: a cycle is not of this kind.
 *
 * What refers to one another may be of any depth and size when it is walked, in a
 * few bytes. So what stands again counts as if it were written again: for the depth,
 * and for at most MOST_AGAIN bytes of one value.
 */
#ifndef LARDER_TREE_AGAIN_H
#define LARDER_TREE_AGAIN_H

#include "tree.h"

#include <string.h>

#define MOST_AGAIN ((uint64_t)64 << 20)
/* Values between two looks at whether this thread is to be interrupted. */
#define STEPS 0x10000u

/*
 * The objects that were seen, by where they are: a bit for each place of 64 KiB where one can begin. They are kept
 * alive by who looks. One that compaction moves meanwhile is another one, and may be written twice.
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
    VALUE buffer; /* whose memory they are in; 0: in `first` */
    seen_page first[SEEN_FIRST];
} tree_seen;

/* How far what was written or read last goes. */
typedef struct {
    unsigned deepest;
    uint64_t again_bytes; /* of what stands again */
} tree_reach;

#define EXTENT_BYTES ((UINT64_C(1) << 28) - 1)

/* Of an object that has ended: its number, its height, and its bytes with what stands in it again. */
static inline VALUE tree_extent(uint64_t number, unsigned height, uint64_t bytes) {
    return ULL2NUM(number << 35 | (uint64_t)height << 28 | (bytes < EXTENT_BYTES ? bytes : EXTENT_BYTES));
}

static inline uint64_t tree_extent_number(VALUE extent) { return NUM2ULL(extent) >> 35; }

/* May it stand once more, within `depth` others? */
static inline bool tree_again(tree_reach *reach, unsigned depth, VALUE extent) {
    unsigned height = (unsigned)(NUM2ULL(extent) >> 28 & 127);

    reach->again_bytes += NUM2ULL(extent) & EXTENT_BYTES;
    if (depth + height > TREE_DEPTH || reach->again_bytes > MOST_AGAIN) {
        return false;
    }
    reach->deepest = depth + height > reach->deepest ? depth + height : reach->deepest;
    return true;
}

static inline void seen_init(tree_seen *seen) {
    seen->page = seen->last = seen->first;
    seen->pages = SEEN_FIRST;
    seen->used = 0;
    seen->buffer = 0;
    for (unsigned i = 0; i < SEEN_FIRST; i++) {
        seen->first[i].page = 0;
    }
}

/* The page of that number, which may be new. Raises where there is no memory. */
seen_page *tree_seen_page(tree_seen *seen, uint64_t number);

/* False where it was there. */
static inline bool seen_add(tree_seen *seen, VALUE object) {
    uint64_t number = object >> SEEN_SHIFT;
    unsigned place = (unsigned)(object & ((1u << SEEN_SHIFT) - 1)) / SEEN_OBJECT_BYTES;
    uint64_t bit = UINT64_C(1) << place % 64;

    if (seen->last->page != number) {
        seen->last = tree_seen_page(seen, number);
    }
    bool is_new = !(seen->last->bits[place / 64] & bit);
    seen->last->bits[place / 64] |= bit;
    return is_new;
}

#endif
