/*
 * tag_table.c — makes, reads and changes the table of deleted tags.
 */
#include "segment/tag_table.h"
#include "base/pause.h"
#include "segment/segment.h"

#define LINE_ATTEMPTS 64
#define SEGMENTS_A_PAGE 64u        /* a table has one page for 64 segments */
#define MAX_TABLE_BYTES (1u << 20) /* of a shard: it is filled under the lock */

unsigned lard_tag_table_pages(const lard_map *map) {
    uint32_t most = MAX_TABLE_BYTES >> map->segment_shift;
    uint32_t pages = (map->super.segments_per_shard + SEGMENTS_A_PAGE / 2) / SEGMENTS_A_PAGE;
    return pages < 1 ? 1 : pages > most ? most : pages;
}

bool lard_tag_table_of(const lard_view *view, lard_tag_table *out) {
    if (!lard_tag_table_read(view, out) ||
        (out->pages && (out->pages > lard_tag_table_pages(view->map) ||
                        lard_stamp_unsealed(lard_load(&view->header->tags_start)) == LARD_STAMP_DAMAGED))) {
        out->pages = out->lines = 0;
        return false;
    }
    return true;
}

static uint32_t check_of(const lard_tag_table *of, uint32_t line, const uint64_t *words) {
    uint64_t sum = lard_tag_table_sum(of, line) + lard_tag_table_factors[0] * (words[0] >> 32);
    for (unsigned i = 1; i < LARD_LINE_WORDS; i++) {
        sum += lard_tag_table_factors[i] * words[i];
    }
    return (uint32_t)(sum >> 32);
}

static void load_line(const lard_u64 *at, uint64_t words[LARD_LINE_WORDS]) {
    for (unsigned i = 0; i < LARD_LINE_WORDS; i++) {
        words[i] = lard_load(&at[i]);
    }
}

bool lard_tag_table_copy(const lard_tag_table *from, uint32_t line, uint64_t words[LARD_LINE_WORDS]) {
    const lard_u64 *at = lard_tag_table_at(from, line);
    for (int attempt = 0; at && attempt < LINE_ATTEMPTS; attempt++) {
        load_line(at, words);
        if (LARD_LIKELY((uint32_t)words[0] == check_of(from, line, words))) {
            return true;
        }
        lard_pause();
    }
    return false;
}

uint64_t *lard_tag_table_find(uint64_t words[LARD_LINE_WORDS], uint64_t cell) {
    uint64_t *found = NULL;
    for (unsigned i = 1; i < LARD_LINE_WORDS; i++) {
        if ((words[i] & ~LARD_CELL_STAMP_MASK) == cell && (words[i] & LARD_CELL_STAMP_MASK)) {
            found = &words[i];
        }
    }
    return found;
}

void lard_tag_table_store(lard_view *view, const lard_tag_table *of, uint32_t line,
                          const uint64_t words[LARD_LINE_WORDS]) {
    lard_u64 *at = lard_tag_table_at(of, line);
    uint64_t before[LARD_LINE_WORDS];
    lard_store(&view->header->table_changing, line + 1);
    lard_fence_release();
    load_line(at, before);
    if (before[0] >> 32 != words[0] >> 32) { /* the floor, valid with the cells of before */
        before[0] = words[0] & ~0xffffffffull;
        lard_store(&at[0], before[0] | check_of(of, line, before));
        lard_fence_release();
    }
    for (unsigned i = 1; i < LARD_LINE_WORDS; i++) {
        if (before[i] != words[i]) {
            lard_store(&at[i], words[i]);
        }
    }
    lard_store_release(&at[0], (words[0] & ~0xffffffffull) | check_of(of, line, words));
    lard_store_release(&view->header->table_changing, 0);
}

void lard_tag_table_empty(lard_view *view, uint32_t pages, uint64_t start) {
    lard_tag_table of = {view, start, pages, pages << view->map->index_shift};
    for (uint32_t line = 0; line < of.lines; line++) {
        lard_u64 *at = lard_tag_table_at(&of, line);
        const uint64_t words[LARD_LINE_WORDS] = {0};
        for (unsigned i = 1; at && i < LARD_LINE_WORDS; i++) {
            lard_store(&at[i], 0);
        }
        if (at) {
            lard_store(&at[0], check_of(&of, line, words));
        }
    }
    lard_store_release(&view->header->tags_start, lard_stamp_sealed(start));
}

unsigned lard_tag_table_size(const lard_view *view) {
    lard_tag_table of;
    lard_tag_table_of(view, &of);
    return of.pages;
}

bool lard_tag_table_begin(lard_view *view, unsigned pages, uint64_t start) {
    uint32_t taken = 0, segment;
    uint32_t free = lard_load(&view->header->free_segments);
    pages = pages < free ? pages : free ? free - 1 : 0;
    while (taken < pages && lard_segment_take(view, &segment)) {
        lard_directory_store(view, lard_tag_table_page(view, taken), segment);
        lard_store(&view->segments[segment].state, LARD_SEGMENT_TABLE);
        taken++;
    }
    if (!taken) {
        return false;
    }
    lard_tag_table_empty(view, taken, start);
    lard_store_release(&view->header->table_pages, LARD_TABLE_PAGES(taken));
    return true;
}

bool lard_tag_table_sane(const lard_view *view) {
    lard_tag_table of;
    bool sane = lard_tag_table_of(view, &of);
    for (uint32_t page = 0; sane && page < of.pages; page++) {
        uint32_t segment = lard_directory_segment(view, lard_tag_table_page(view, page));
        sane = segment != LARD_NO_SEGMENT && lard_load(&view->segments[segment].state) == LARD_SEGMENT_TABLE;
    }
    return sane;
}

bool lard_tag_table_has_page(const lard_view *view, uint32_t segment) {
    lard_tag_table of;
    bool has = false;
    lard_tag_table_of(view, &of);
    for (uint32_t page = 0; page < of.pages; page++) {
        has |= lard_directory_segment(view, lard_tag_table_page(view, page)) == segment;
    }
    return has;
}

uint32_t lard_tag_table_unreadable(const lard_view *view) {
    uint64_t words[LARD_LINE_WORDS];
    uint32_t count = 0;
    lard_tag_table of;
    lard_tag_table_of(view, &of);
    for (uint32_t line = 0; line < of.lines; line++) {
        count += !lard_tag_table_copy(&of, line, words);
    }
    return count;
}

void lard_tag_table_finish(lard_view *view) {
    uint32_t line = lard_load(&view->header->table_changing) - 1;
    lard_tag_table of;
    lard_u64 *at = lard_tag_table_of(view, &of) && line < of.lines ? lard_tag_table_at(&of, line) : NULL;
    if (at) {
        uint64_t words[LARD_LINE_WORDS];
        load_line(at, words);
        lard_store(&at[0], (words[0] & ~0xffffffffull) | check_of(&of, line, words));
    }
    if (line != UINT32_MAX) {
        lard_store(&view->header->table_changing, 0);
    }
}
