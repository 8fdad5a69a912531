/*
 * dircache.c — renews this process's copy of where a shard's buckets are (dircache.h).
 *
 * Takes no lock of the file. Other threads work without the copy meanwhile. If a fork interrupts a renewal, the
 * child starts it again.
 */
#include "index/dircache.h"
#include "file/advice.h"
#include "file/hints.h"
#include "index/bucket.h"
#include "proc/fork.h"

#include <stdlib.h>

/* Of a shard's index: advice makes a mapping of its own of each page, and the number of mappings is limited. */
#define MAX_ADVISED_PAGES 32u

/* Adds the pages that are not known yet. False: the directory is damaged. */
static bool note_pages(const lard_view *view, lard_dircache *copy, uint32_t count) {
    lard_renewal *renewal = &view->map->renewals[view->number];
    unsigned shift = view->map->index_shift;
    uint32_t pages = (uint32_t)(((uint64_t)count + (1u << shift) - 1) >> shift);
    for (uint32_t p = renewal->known; p < pages; p++) {
        lard_bucket *first = lard_bucket_at(view, p << shift);
        if (!first) {
            return false;
        }
        __atomic_store_n(&copy->pages[p], (uintptr_t)first - ((uintptr_t)p << view->map->segment_shift),
                         __ATOMIC_RELEASE);
        renewal->known = p + 1;
        if (p < MAX_ADVISED_PAGES) {
            lard_advice_index(view, lard_directory_segment(view, p));
        }
    }
    return true;
}

static void renew(const lard_view *view, lard_dircache *copy) {
    uint64_t epoch;
    uint32_t count = 0;
    bool fit = lard_view_is_current(view, &epoch) && (count = lard_bucket_count(view)) != 0;
    if (copy->epoch != epoch) { /* a reader finds a changed epoch, before or after its read */
        __atomic_store_n(&copy->epoch, 0, __ATOMIC_RELEASE);
        __atomic_store_n(&copy->shape, 0, __ATOMIC_RELEASE);
        view->map->renewals[view->number].known = 0;
        lard_advice_shard(view);
    }
    if (!fit || !note_pages(view, copy, count)) {
        return;
    }
    lard_fence_acquire();
    if (lard_load(&view->header->epoch) != epoch) {
        __atomic_store_n(&copy->epoch, 0, __ATOMIC_RELEASE);
        return;
    }
    uint64_t mask = (2ull << (31 - __builtin_clz(count))) - 1;
    __atomic_store_n(&copy->shape, (uint64_t)count << 32 | mask, __ATOMIC_RELEASE);
    __atomic_store_n(&copy->epoch, epoch, __ATOMIC_RELEASE);
}

void lard_dircache_renew(lard_map *map, const lard_view *view) {
    lard_renewal *renewal = &map->renewals[view->number];
    uint32_t ours = lard_fork_number() + 1;
    uint32_t idle = __atomic_load_n(&renewal->renewing, __ATOMIC_RELAXED);
    if (idle != ours &&
        __atomic_compare_exchange_n(&renewal->renewing, &idle, ours, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        lard_hints_take(map, view->number);
        renew(view, &map->dircache[view->number]);
        lard_hints_follow(map); /* they grow with the index */
        __atomic_store_n(&renewal->renewing, 0, __ATOMIC_RELEASE);
    }
}
