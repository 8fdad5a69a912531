/*
 * tag_table.h — the table of a shard that tells which tags were deleted, and when: where it is, and its lines.
 *
 * layout.h draws a line. Read without a lock: a line whose checksum is wrong is being changed, or damaged. Changed
 * under the shard's lock.
 */
#ifndef LARD_TAG_TABLE_H
#define LARD_TAG_TABLE_H

#include "base/hash.h"
#include "file/view.h"
#include "segment/directory.h"
#include "segment/stamp.h"

/* A shard's table, as it was when its description was read. */
typedef struct {
    const lard_view *view;
    uint64_t start;
    uint32_t pages; /* 0: there is none, or its description is damaged */
    uint32_t lines;
} lard_tag_table;

/* For a reader: if the start is damaged, no line has a valid checksum. False: the description is damaged. */
static inline bool lard_tag_table_read(const lard_view *view, lard_tag_table *out) {
    uint32_t word = lard_load_acquire(&view->header->table_pages), pages = word & 0xffff;
    *out = (lard_tag_table){.view = view, .start = lard_load(&view->header->tags_start) >> LARD_STAMP_SEAL_BITS};
    if (word == 0) {
        return true;
    }
    if (word != LARD_TABLE_PAGES(pages) || pages == 0 || pages > view->map->super.segments_per_shard) {
        return false;
    }
    out->pages = pages;
    out->lines = pages << view->map->index_shift;
    return true;
}

/* The number of its entry in the directory. */
static inline uint32_t lard_tag_table_page(const lard_view *view, uint32_t page) {
    return view->map->super.segments_per_shard - 1 - page;
}

/* NULL: the directory is damaged. The check of its entry is left out: the line's checksum covers as much. */
static inline lard_u64 *lard_tag_table_at(const lard_tag_table *from, uint32_t line) {
    const lard_view *view = from->view;
    uint32_t page = lard_tag_table_page(view, line >> view->map->index_shift);
    uint32_t segment = LARD_ENTRY_SEGMENT(lard_load(&view->directory[page]));
    uint64_t inside = (uint64_t)(line & ((1u << view->map->index_shift) - 1)) * LARD_LINE_WORDS * 8;
    return segment < view->map->super.segments_per_shard
               ? lard_view_words(view, lard_view_segment_offset(view, segment) + inside)
               : NULL;
}

/* A tag's first line, or its second. */
static inline uint32_t lard_tag_table_line(const lard_tag_table *from, uint64_t hash, unsigned which) {
    uint64_t part = which ? lard_hash_mix(hash) & 0xffffff : hash & 0xffffff;
    return (uint32_t)(part * from->lines >> 24);
}

/* Its cell there, without the stamp. */
static inline uint64_t lard_tag_table_cell(uint64_t hash, unsigned which) {
    return (hash >> 24 & 0xffffffff) << 32 | (which ? LARD_CELL_SECOND : 0);
}

/* A line's checksum is the upper half of a sum. Multilinear hashing (Lemire, Kaser, "Strongly universal string
 * hashing is fast", 2014): unlike those of a CRC, its steps do not wait for each other. */
static const uint64_t lard_tag_table_factors[LARD_LINE_WORDS] = {
    0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb, 0xff51afd7ed558ccd,
    0xc4ceb9fe1a85ec53, 0xd6e8feb86659fd93, 0xa0761d6478bd642f, 0xe7037ed1a0b428db};
static inline uint64_t lard_tag_table_sum(const lard_tag_table *of, uint32_t line) {
    return 0x2545f4914f6cdd1dull * ((uint64_t)of->lines << 32 | line) + 0x8ebc6af09c88c6e3ull * of->start +
           0x589965cc75374cc3ull * (of->view->number + 1);
}

/* The cell of a tag in a line, or NULL. */
uint64_t *lard_tag_table_find(uint64_t words[LARD_LINE_WORDS], uint64_t cell);
/* Copies a line, in several attempts. False: it cannot be read. */
bool lard_tag_table_copy(const lard_tag_table *from, uint32_t line, uint64_t words[LARD_LINE_WORDS]);

unsigned lard_tag_table_pages(const lard_map *map); /* of a new table */

/* Under the shard's lock. */

/* As lard_tag_table_read, for a writer: also checks what a reader need not. No pages if it is damaged. */
bool lard_tag_table_of(const lard_view *view, lard_tag_table *out);
unsigned lard_tag_table_size(const lard_view *view); /* its pages */
/* Makes one of up to `pages` pages, if as many segments and one more are free. Its stamps count from `start`. */
bool lard_tag_table_begin(lard_view *view, unsigned pages, uint64_t start);
/* Changes a line: its floor, then cells, then the checksum; each state means at least what the one before meant.
 */
void lard_tag_table_store(lard_view *view, const lard_tag_table *of, uint32_t line,
                          const uint64_t words[LARD_LINE_WORDS]);
/* Empties all lines. Their stamps count from `start`. */
void lard_tag_table_empty(lard_view *view, uint32_t pages, uint64_t start);
/* Is the table in segments of its own, or absent? */
bool lard_tag_table_sane(const lard_view *view);
bool lard_tag_table_has_page(const lard_view *view, uint32_t segment);
uint32_t lard_tag_table_unreadable(const lard_view *view); /* the number of lines that cannot be read */
/* The owner of the lock has died: finishes its change of a line. */
void lard_tag_table_finish(lard_view *view);

#endif
