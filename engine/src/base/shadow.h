/*
 * shadow.h — the memory of the shadow caches, by which eviction chooses how long its queues are (evict/steer.c).
 *
 * A shadow cache has keys without values. It shows how many misses a configuration of eviction, or another size of
 * the file, would have had. It sees only a sample of the keys, and so has room for few. In the hints: any content
 * is valid.
 */
#ifndef LARD_SHADOW_H
#define LARD_SHADOW_H

#include "larder.h"

#include <stdint.h>

#define LARD_SHADOWS 4
#define LARD_SHADOW_ITEMS 256u  /* the most that a shadow cache holds */
#define LARD_SHADOW_SMALL 1024u /* entries of its small queue, and of the ghosts behind it */
#define LARD_HEARD 64u          /* sampled gets that wait for a writer; a power of two */
#define LARD_NEWEST 64u         /* the most young segments; a power of two */
#define LARD_SHADOW_CHAINS 256u /* a power of two */
#define LARD_OTHERS 8u          /* the most shards that simulate other sizes */
#define LARD_SIZE_GROUPS 8u     /* of the keys that a shadow cache of another size sees; a power of two */

typedef struct {
    uint32_t key;            /* 32 bits of its hash */
    uint16_t time;           /* of lard_shadow.time when it was pushed, low bits */
    unsigned next : 12;      /* entry + 1 in its chain; 0: the last */
    unsigned reads : 2;      /* since then */
    unsigned is_present : 1; /* 0: it was taken off its queue, and is no ghost */
    unsigned reserved : 1;
} lard_shadow_entry;

typedef struct {
    /* The ring of the small queue, then that of the main queue. */
    lard_shadow_entry entries[LARD_SHADOW_SMALL + LARD_SHADOW_ITEMS];
    uint16_t chains[LARD_SHADOW_CHAINS]; /* by key: entry + 1 */
    uint32_t small_first, small_end;     /* of its ring: items from `first` to before `end`; ghosts are before */
    uint32_t main_first, main_end;
    uint32_t time;   /* keys that were pushed so far */
    uint32_t misses; /* since the last choice */
    uint32_t score;  /* misses before that, decayed; in 256ths */
} lard_shadow;

/* Counts of a group of keys, decayed. */
typedef struct {
    uint32_t gets;
    uint32_t stored; /* sets that found no item */
    uint32_t here;   /* gets that the shadow cache of the file's size missed */
    uint32_t there;  /* gets that the shadow cache of the other size missed */
} lard_size_count;

typedef struct { /* a cache of another size, see evict/other_sizes.h */
    lard_shadow shadow;
    uint32_t length;   /* keys that the shadow cache holds */
    uint32_t was_full; /* 1: it has filled up, and what it missed until then does not count */
    lard_size_count groups[LARD_SIZE_GROUPS];
} lard_other_size;

typedef struct {                                            /* of a shard */
    _Alignas(64) lard_other_size sizes[LARDER_OTHER_SIZES]; /* half, twice and four times that of the file */
} lard_other_sizes;

_Static_assert(sizeof(lard_shadow_entry) == 8, "shadow layout");

#endif
