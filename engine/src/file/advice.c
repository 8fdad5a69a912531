/*
 * advice.c — tells the kernel how the pages of a map are used, for when memory does not hold all of them.
 *
 * Records are read one here, one there. Without advice the kernel reads all around a page that it has to read, and
 * puts out of memory what would be wanted next. But pages of a map with that advice (POSIX_MADV_RANDOM) may leave
 * memory however often they are used (Linux 6.3 and later), so heads and the index are taken out of it.
 * Advice is nothing that is relied upon: where it is refused, nothing happens. Takes no lock.
 */
#define _GNU_SOURCE
#include "file/advice.h"
#include "file/view.h"

#include <sys/mman.h>

static uint64_t round_down(uint64_t at) { return at & ~((uint64_t)lard_page_bytes() - 1); }

static uint64_t round_up(uint64_t at) { return round_down(at + lard_page_bytes() - 1); }

static void advise(const lard_map *map, uint64_t from, uint64_t to, int advice) {
    if (from < to && to <= round_up(map->bytes)) {
        posix_madvise(map->base + from, to - from, advice);
    }
}

/* Only pages that lie wholly inside, so that what is kept beside them is not touched. */
static void advise_random(const lard_map *map, uint64_t from, uint64_t to) {
    advise(map, round_up(from), round_down(to), POSIX_MADV_RANDOM);
}

static void advise_soon(const lard_map *map, uint64_t from, uint64_t bytes) {
    advise(map, round_down(from), round_up(from + bytes), POSIX_MADV_WILLNEED);
}

/* Read first: a page that is missing later is read with all around it. */
static void advise_kept(const lard_map *map, uint64_t from, uint64_t bytes) {
    advise_soon(map, from, bytes);
    advise(map, round_down(from), round_up(from + bytes), POSIX_MADV_NORMAL);
}

void lard_advice_map(const lard_map *map) {
    advise_random(map, 0, map->bytes);
    advise_kept(map, 0, map->super.tag_offset);
}

static uint64_t in_file(const lard_view *view, uint64_t offset) {
    return view->map->super.shard_offset + view->number * view->map->super.shard_bytes + offset;
}

void lard_advice_shard(const lard_view *view) {
    advise_random(view->map, in_file(view, 0), in_file(view, view->map->super.shard_bytes));
    advise_kept(view->map, in_file(view, 0), view->map->super.data_offset);
}

void lard_advice_index(const lard_view *view, uint32_t segment) {
    advise_kept(view->map, in_file(view, lard_view_segment_offset(view, segment)), view->map->super.segment_bytes);
}

void lard_advice_segment(const lard_view *view, uint32_t segment) {
    advise_soon(view->map, in_file(view, lard_view_segment_offset(view, segment)), view->map->super.segment_bytes);
}
