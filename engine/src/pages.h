/*
 * pages.h — where each shard's buckets are, as this process last saw it.
 *
 * A lookup would otherwise go through the shard's head and its directory, two loads
 * that wait for each other and for pages of the file that nothing else keeps near.
 * This copy is private, small and dense. It is a copy of one epoch of a shard: within
 * an epoch pages are only added and the count only grows, so an old copy finds less,
 * never something else, and a reader that has compared epochs before and after its
 * read may trust what it found. What it did not find is looked for again in the file.
 *
 * Read without a lock; one thread at a time renews a shard's copy (pages.c). Included
 * by internal.h.
 */
#ifndef LARD_PAGES_H
#define LARD_PAGES_H

struct lard_map;
struct lard_view;

typedef struct lard_pages { /* of one shard */
    uint64_t epoch;         /* of the shard when this was copied; 0: not valid */
    uint64_t shape;         /* bucket count (32), below it the mask of the larger power of two (32) */
    uintptr_t *pages;       /* address that bucket 0 would have if all were in this page; 0: not known */
    uint32_t known;         /* so many pages */
    uint32_t renewing;      /* 0, or the fork epoch + 1 of the process whose thread is at it */
} lard_pages;

/* For all shards of a map whose superblock is known; NULL where memory is short. Freed by free. */
lard_pages *lard_pages_new(const lard_superblock *super);
void lard_pages_renew(struct lard_map *map, const struct lard_view *view);

static inline uint32_t lard_pages_count(uint64_t shape) { return (uint32_t)(shape >> 32); }

/* The bucket of a hash in that shape, or NULL. */
static inline lard_bucket *lard_pages_bucket(const lard_pages *copy, uint64_t shape, uint32_t hash,
                                             unsigned page_shift) {
    uint32_t count = lard_pages_count(shape);
    uint32_t mask = (uint32_t)shape;
    uint32_t bucket = hash & mask;
    bucket = bucket < count ? bucket : bucket & (mask >> 1);
    uintptr_t page = __atomic_load_n(&copy->pages[bucket >> page_shift], __ATOMIC_RELAXED);
    return page ? (lard_bucket *)(page + (uintptr_t)bucket * sizeof(lard_bucket)) : NULL;
}

#endif
