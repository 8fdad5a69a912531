/*
 * advice.c — tells the kernel how the pages of a map are used, for files larger than memory.
 *
 * Records are read in random order. Without advice the kernel reads many pages around each page that it must read,
 * and evicts pages that are needed soon. The advice for random access (POSIX_MADV_RANDOM) prevents that, but
 * Linux 6.3 and later may evict such pages however often they are used. So the headers of file and shards and the
 * index are excepted from it (docs/adr/0022-page-advice.md). Nothing depends on the advice: if the kernel refuses
 * it, nothing happens. Takes no lock.
 */
#define _GNU_SOURCE
#include "file/advice.h"
#include "base/page.h"
#include "file/view.h"

#include <sys/mman.h>

#if defined(__linux__) && !defined(MADV_POPULATE_READ)
#define MADV_POPULATE_READ 22
#endif
#define MAX_UNADVISED 15u /* segments after one that is in memory */

static uint64_t round_down(uint64_t at) { return at & ~((uint64_t)lard_page_bytes() - 1); }

static uint64_t round_up(uint64_t at) { return round_down(at + lard_page_bytes() - 1); }

static void advise(const lard_map *map, uint64_t from, uint64_t to, int advice) {
    if (from < to && to <= round_up(map->bytes)) {
        posix_madvise(map->base + from, to - from, advice);
    }
}

/* Only pages that are completely inside, so that the excepted ones beside them are not changed. */
static void advise_random(const lard_map *map, uint64_t from, uint64_t to) {
    advise(map, round_up(from), round_down(to), POSIX_MADV_RANDOM);
}

static void advise_soon(const lard_map *map, uint64_t from, uint64_t bytes) {
    advise(map, round_down(from), round_up(from + bytes), POSIX_MADV_WILLNEED);
}

/* Reads the pages first, because a page that is missing later is read together with those around it. */
static void advise_kept(const lard_map *map, uint64_t from, uint64_t bytes) {
    advise_soon(map, from, bytes);
    advise(map, round_down(from), round_up(from + bytes), POSIX_MADV_NORMAL);
}

void lard_advice_map(const lard_map *map) {
    advise_random(map, 0, map->bytes);
    advise_kept(map, 0, map->super.shard_offset);
}

void lard_advice_shard(const lard_view *view) {
    advise_random(view->map, lard_view_in_file(view, 0), lard_view_in_file(view, view->map->super.shard_bytes));
    advise_kept(view->map, lard_view_in_file(view, 0), view->map->super.data_offset);
}

void lard_advice_index(const lard_view *view, uint32_t segment) {
    advise_kept(view->map, lard_view_in_file(view, lard_view_segment_offset(view, segment)),
                view->map->super.segment_bytes);
}

/* Are all pages in memory? The advice makes the kernel look each up, which takes ten times as long. */
static bool are_in_memory(const lard_map *map, uint64_t from, uint64_t to) {
    return to <= round_up(map->bytes) && lard_page_is_in_memory(map->base + from, to - from);
}

/* The pages of the records of a segment. False: it has none. */
static bool records_of(const lard_view *view, uint32_t segment, uint64_t *from, uint64_t *to) {
    const lard_segment *row = &view->segments[segment];
    uint32_t state = lard_load(&row->state), bytes = lard_load(&row->write_offset);
    uint64_t at = lard_view_in_file(view, lard_view_segment_offset(view, segment));
    *from = round_down(at);
    *to = round_up(at + (bytes < view->map->super.segment_bytes ? bytes : view->map->super.segment_bytes));
    return (state == LARD_SEGMENT_SMALL || state == LARD_SEGMENT_MAIN) && bytes;
}

/* The kernel reads all segments at once, and then each is waited for. */
void lard_advice_read_records(const lard_view *view) {
    uint64_t from, to;
    bool is_missing = false;
    for (uint32_t s = 0; s < view->map->super.segments_per_shard; s++) {
        if (records_of(view, s, &from, &to) && !are_in_memory(view->map, from, to)) {
            advise(view->map, from, to, POSIX_MADV_WILLNEED);
            is_missing = true;
        }
    }
#ifdef MADV_POPULATE_READ
    for (uint32_t s = 0; is_missing && s < view->map->super.segments_per_shard; s++) {
        if (records_of(view, s, &from, &to) && to <= round_up(view->map->bytes)) {
            madvise(view->map->base + from, to - from, MADV_POPULATE_READ); /* Linux before 5.14 refuses it */
        }
    }
#endif
    (void)is_missing;
}

/* Most files are in memory as a whole, so that a system call for each segment would be in vain. */
bool lard_advice_segment(const lard_view *view, uint32_t segment) {
    uint64_t at = lard_view_in_file(view, lard_view_segment_offset(view, segment));
    uint64_t from = round_down(at), to = round_up(at + view->map->super.segment_bytes);
    uint32_t unadvised = __atomic_load_n(&view->map->unadvised, __ATOMIC_RELAXED);
    bool is_in_memory = unadvised || are_in_memory(view->map, from, to);
    if (!is_in_memory) {
        advise(view->map, from, to, POSIX_MADV_WILLNEED);
    } else {
        unadvised = unadvised ? unadvised - 1 : MAX_UNADVISED;
        __atomic_store_n(&view->map->unadvised, unadvised, __ATOMIC_RELAXED);
    }
    return is_in_memory;
}
