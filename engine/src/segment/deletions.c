/*
 * deletions.c — the table of a shard that tells which tags were deleted, and when.
 *
 * A tag has two lines, of which a deletion takes the one that has more room (Azar et al., "Balanced allocations",
 * 1999), but the first one while that is nearly empty: a bit of the first line says whether a reader must look at
 * the second, too. If both are full, the oldest deletion of the two lines is forgotten, and the floor of its line
 * raised to it. A change is in an order in which each state means at least what it meant before: floor, cell,
 * checksum. A reader that finds no valid checksum tries again a few times, as a change takes some stores.
 */
#include "segment/deletions.h"
#include "base/hash.h"
#include "base/pause.h"
#include "base/word.h"
#include "segment/segment.h"

#define ATTEMPTS 8
#define LINE_ATTEMPTS 64
#define MANY_VACANCIES 3u          /* of a line that has more, the second line is not asked for */
#define SEGMENTS_A_PAGE 64u        /* a table has one page for so many segments */
#define MAX_TABLE_BYTES (1u << 20) /* of a shard: it is filled under the lock */

uint64_t lard_deletions_hash(const lard_map *map, const void *tag, size_t bytes) {
    return lard_hash_mix(lard_siphash13(map->super.seed, tag, bytes) + 1); /* a key space of its own */
}

uint64_t lard_deletions_origin(const lard_map *map, uint32_t clear_epoch) {
    return lard_hash_mix(lard_word_at(map->super.file_id) ^ clear_epoch) | 1;
}

unsigned lard_deletions_pages(const lard_map *map) {
    uint32_t most = MAX_TABLE_BYTES >> map->segment_shift;
    uint32_t pages = (map->super.segments_per_shard + SEGMENTS_A_PAGE / 2) / SEGMENTS_A_PAGE;
    return pages < 1 ? 1 : pages > most ? most : pages;
}

static uint64_t seal_of(uint64_t stamp) { return lard_hash_mix(stamp + 1) >> (64 - LARD_STAMP_SEAL_BITS); }

static uint64_t sealed(uint64_t stamp) { return stamp << LARD_STAMP_SEAL_BITS | seal_of(stamp); }

/* The stamp in a sealed word, 0 if it is 0. ALL: it is damaged. */
static uint64_t unsealed(const lard_u64 *at) {
    uint64_t word = lard_load(at), stamp = word >> LARD_STAMP_SEAL_BITS;
    return word == 0 ? 0 : word == sealed(stamp) ? stamp : LARD_DELETIONS_ALL;
}

/* A shard's table, as it was when its description was read. */
typedef struct {
    const lard_view *view;
    uint64_t start;
    uint32_t pages; /* 0: there is none, or its description is damaged */
    uint32_t lines;
} table;

/* For a reader: if the start is damaged, no line has a valid checksum. False: the description is damaged. */
static inline bool read_table(const lard_view *view, table *out) {
    uint32_t word = lard_load_acquire(&view->header->table_pages), pages = word & 0xffff;
    *out = (table){.view = view, .start = lard_load(&view->header->tags_start) >> LARD_STAMP_SEAL_BITS};
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

/* The same for a writer. */
static bool table_of(const lard_view *view, table *out) {
    if (!read_table(view, out) || (out->pages && (out->pages > lard_deletions_pages(view->map) ||
                                                  unsealed(&view->header->tags_start) == LARD_DELETIONS_ALL))) {
        out->pages = out->lines = 0;
        return false;
    }
    return true;
}

unsigned lard_deletions_table(const lard_view *view) {
    table of;
    table_of(view, &of);
    return of.pages;
}

static lard_u32 *page_at(const lard_view *view, uint32_t page) {
    return &view->directory[view->map->super.segments_per_shard - 1 - page];
}

/* NULL: the directory is damaged. */
static lard_u64 *line_at(const table *from, uint32_t line) {
    const lard_view *view = from->view;
    uint32_t segment = lard_load(page_at(view, line >> view->map->index_shift));
    uint64_t inside = (uint64_t)(line & ((1u << view->map->index_shift) - 1)) * LARD_LINE_WORDS * 8;
    return segment < view->map->super.segments_per_shard
               ? lard_view_words(view, lard_view_segment_offset(view, segment) + inside)
               : NULL;
}

static uint32_t line_of(const table *from, uint64_t hash, unsigned which) {
    uint64_t part = which ? lard_hash_mix(hash) & 0xffffff : hash & 0xffffff;
    return (uint32_t)(part * from->lines >> 24);
}

static uint64_t cell_of(uint64_t hash, unsigned which) {
    return (hash >> 24 & 0xffffffff) << 32 | (which ? LARD_CELL_SECOND : 0);
}

/* A line's checksum is the upper half of a sum. Multilinear hashing (Lemire, Kaser, "Strongly universal string
 * hashing is fast", 2014): unlike those of a CRC, its steps do not wait for each other. */
static const uint64_t LINE_FACTORS[LARD_LINE_WORDS] = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb,
                                                       0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53, 0xd6e8feb86659fd93,
                                                       0xa0761d6478bd642f, 0xe7037ed1a0b428db};
static inline uint64_t place_sum(const table *of, uint32_t line) {
    return 0x2545f4914f6cdd1d * ((uint64_t)of->lines << 32 | line) + 0x8ebc6af09c88c6e3 * of->start +
           0x589965cc75374cc3 * (of->view->number + 1);
}

static uint32_t check_of(const table *of, uint32_t line, const uint64_t *words) {
    uint64_t sum = place_sum(of, line) + LINE_FACTORS[0] * (words[0] >> 32);
    for (unsigned i = 1; i < LARD_LINE_WORDS; i++) {
        sum += LINE_FACTORS[i] * words[i];
    }
    return (uint32_t)(sum >> 32);
}

static void load_line(const lard_u64 *at, uint64_t words[LARD_LINE_WORDS]) {
    for (unsigned i = 0; i < LARD_LINE_WORDS; i++) {
        words[i] = lard_load(&at[i]);
    }
}

/* False: the line cannot be read. */
static __attribute__((noinline)) bool read_line(const table *from, uint32_t line,
                                                uint64_t words[LARD_LINE_WORDS]) {
    const lard_u64 *at = line_at(from, line);
    for (int attempt = 0; at && attempt < LINE_ATTEMPTS; attempt++) {
        load_line(at, words);
        if (LARD_LIKELY((uint32_t)words[0] == check_of(from, line, words))) {
            return true;
        }
        lard_pause();
    }
    return false;
}

/* The cell of a tag in a line, or NULL. */
static uint64_t *find(uint64_t words[LARD_LINE_WORDS], uint64_t cell) {
    uint64_t *found = NULL;
    for (unsigned i = 1; i < LARD_LINE_WORDS; i++) {
        if ((words[i] & ~LARD_CELL_STAMP_MASK) == cell && (words[i] & LARD_CELL_STAMP_MASK)) {
            found = &words[i];
        }
    }
    return found;
}

typedef struct {
    uint64_t since; /* counted from the start; 0: nothing is deleted */
    bool exact;
    bool goes_on; /* a deletion may be in the second line */
} lookup;

/* Looks for a tag in one of its lines: as read_line, but each word is in use as soon as it is loaded. */
static inline bool look_in(const table *from, uint64_t hash, unsigned which, lookup *found) {
    uint32_t line = line_of(from, hash, which);
    const lard_u64 *at = line_at(from, line);
    uint64_t cell = cell_of(hash, which), stamp = 0;
    if (LARD_UNLIKELY(!at)) {
        return false;
    }
    uint64_t head = lard_load(&at[0]), sum = place_sum(from, line) + LINE_FACTORS[0] * (head >> 32);
#pragma GCC unroll 7
    for (unsigned i = 1; i < LARD_LINE_WORDS; i++) {
        uint64_t word = lard_load(&at[i]), difference = word ^ cell;
        sum += LINE_FACTORS[i] * word;
        stamp |= difference <= LARD_CELL_STAMP_MASK ? difference : 0;
    }
    if (LARD_UNLIKELY((uint32_t)head != (uint32_t)(sum >> 32))) {
        uint64_t words[LARD_LINE_WORDS]; /* it is being changed, or damaged */
        if (!read_line(from, line, words)) {
            return false;
        }
        const uint64_t *own = find(words, cell);
        head = words[0];
        stamp = own ? *own & LARD_CELL_STAMP_MASK : 0;
    }
    found->goes_on = head & LARD_LINE_GOES_ON;
    found->exact = stamp && stamp >= LARD_LINE_FLOOR(head);
    found->since = found->exact ? stamp : LARD_LINE_FLOOR(head);
    return true;
}

/* As lard_deletions_since, of the table. */
static inline uint64_t since_in(const table *from, uint64_t hash, bool *exact) {
    lookup first, second = {0, false, false};
    if (LARD_UNLIKELY(!look_in(from, hash, 0, &first) || (first.goes_on && !look_in(from, hash, 1, &second)))) {
        return LARD_DELETIONS_ALL;
    }
    uint64_t since = first.since > second.since ? first.since : second.since;
    *exact = (first.exact && first.since == since) || (second.exact && second.since == since);
    return since ? from->start + since : 0;
}

uint64_t lard_deletions_since(lard_map *map, uint64_t hash, uint32_t clear_epoch, bool *exact) {
    lard_view view = lard_view_of(map, lard_deletions_shard(map, hash));
    bool ignored;
    exact = exact ? exact : &ignored;
    *exact = false;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint64_t epoch = lard_load_acquire(&view.header->epoch);
        if (epoch == 0) { /* never used, if no tag was ever deleted; or being emptied, or damaged */
            return lard_load(&map->control->stamp) ? LARD_DELETIONS_ALL : 0;
        }
        int32_t newer = (int32_t)(LARD_EPOCH_CLEAR(epoch) - clear_epoch);
        if (newer) { /* older: its deletions were before the clear, as no stamp of the item is */
            return newer > 0 ? LARD_DELETIONS_ALL : 0;
        }
        table from;
        if (!read_table(&view, &from)) {
            return LARD_DELETIONS_ALL;
        }
        uint64_t since = unsealed(&view.header->tags_floor), noted = from.pages ? since_in(&from, hash, exact) : 0;
        if (noted < since) {
            *exact = false;
        } else {
            since = noted;
        }
        lard_fence_acquire();
        if (LARD_LIKELY(lard_load(&view.header->epoch) == epoch)) {
            return since;
        }
    }
    return LARD_DELETIONS_ALL;
}

lard_tags lard_deletions_of(lard_map *map, const lard_extension *extension, uint64_t epoch) {
    lard_tags result = LARD_TAGS_VALID;
    for (unsigned i = 0; i < extension->tag_count; i++) {
        bool exact;
        if (extension->stamp < lard_deletions_since(map, extension->tags[i], LARD_EPOCH_CLEAR(epoch), &exact)) {
            if (exact) {
                return LARD_TAGS_DELETED;
            }
            result = LARD_TAGS_FORGOTTEN;
        }
    }
    return result;
}

uint64_t lard_deletions_next(const lard_view *view) {
    table of;
    lard_u64 *counter = &view->map->control->stamp;
    uint64_t before = lard_load(counter);
    table_of(view, &of);
    if (LARD_UNLIKELY(of.pages && before < of.start)) { /* damaged: goes on after all that the table may have */
        lard_cas64(counter, &before, of.start + LARD_CELL_STAMP_MASK);
    }
    return lard_add(counter, 1) + 1;
}

void lard_deletions_forget(const lard_view *view, uint64_t stamp) {
    uint64_t word = lard_load(&view->header->tags_floor);
    while (unsealed(&view->header->tags_floor) < stamp &&
           !lard_cas64(&view->header->tags_floor, &word, sealed(stamp))) {
    }
}

/* Changes the words of a line in the order given above. */
static void store_line(lard_view *view, const table *of, uint32_t line, const uint64_t words[LARD_LINE_WORDS]) {
    lard_u64 *at = line_at(of, line);
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

/* Empties all lines: what they noted is forgotten. Their stamps count from `start`. */
static void empty_lines(lard_view *view, uint32_t pages, uint64_t start) {
    table of = {view, start, pages, pages << view->map->index_shift};
    for (uint32_t line = 0; line < of.lines; line++) {
        lard_u64 *at = line_at(&of, line);
        const uint64_t words[LARD_LINE_WORDS] = {0};
        for (unsigned i = 1; at && i < LARD_LINE_WORDS; i++) {
            lard_store(&at[i], 0);
        }
        if (at) {
            lard_store(&at[0], check_of(&of, line, words));
        }
    }
    lard_store_release(&view->header->tags_start, sealed(start));
}

bool lard_deletions_begin(lard_view *view, unsigned pages, uint64_t stamp) {
    uint32_t taken = 0, segment;
    uint32_t free = lard_load(&view->header->free_segments);
    pages = pages < free ? pages : free ? free - 1 : 0;
    while (taken < pages && lard_segment_take(view, &segment)) {
        lard_store(page_at(view, taken), segment);
        lard_store(&view->segments[segment].state, LARD_SEGMENT_TABLE);
        taken++;
    }
    if (!taken) {
        return false;
    }
    empty_lines(view, taken, stamp - 1);
    lard_store_release(&view->header->table_pages, LARD_TABLE_PAGES(taken));
    return true;
}

/* The oldest cell of a line, all of which are used. */
static uint64_t *oldest(uint64_t words[LARD_LINE_WORDS]) {
    uint64_t *least = &words[1];
    for (unsigned i = 2; i < LARD_LINE_WORDS; i++) {
        least = (words[i] & LARD_CELL_STAMP_MASK) < (*least & LARD_CELL_STAMP_MASK) ? &words[i] : least;
    }
    return least;
}

static unsigned vacancies(const uint64_t words[LARD_LINE_WORDS]) {
    unsigned count = 0;
    for (unsigned i = 1; i < LARD_LINE_WORDS; i++) {
        count += words[i] == 0;
    }
    return count;
}

/* Reads both lines of a tag. A line that cannot be read is damaged: it becomes an empty one, and what is older
 * than the stamp counts as deleted there. */
static void read_both(lard_view *view, const table *from, uint64_t hash, uint64_t stamp, uint32_t lines[2],
                      uint64_t words[2][LARD_LINE_WORDS]) {
    for (unsigned which = 0; which < 2; which++) {
        lines[which] = line_of(from, hash, which);
        if (!read_line(from, lines[which], words[which])) {
            for (unsigned i = 1; i < LARD_LINE_WORDS; i++) {
                words[which][i] = 0;
            }
            words[which][0] = (stamp - from->start) << 32 | LARD_LINE_GOES_ON; /* perhaps */
            store_line(view, from, lines[which], words[which]);
        }
    }
}

/* A table whose stamps fit its cells. */
static table table_for(lard_view *view, uint64_t stamp) {
    table into;
    table_of(view, &into);
    if (into.pages && stamp - into.start > LARD_CELL_STAMP_MASK) {
        lard_deletions_forget(view, stamp);
        empty_lines(view, into.pages, stamp - 1);
        into.start = stamp - 1;
    }
    return into;
}

/* The cell for a tag's deletion, in the line `*which`: its own one, an empty one, or the oldest one, which is then
 * forgotten. */
static uint64_t *choose(uint64_t words[2][LARD_LINE_WORDS], uint64_t hash, unsigned *which, bool *forgets) {
    uint64_t *own[2] = {find(words[0], cell_of(hash, 0)), find(words[1], cell_of(hash, 1))};
    *forgets = false;
    if (own[0] || own[1]) {
        *which = own[0] == NULL;
        return own[*which];
    }
    *which = vacancies(words[0]) <= MANY_VACANCIES && vacancies(words[1]) > vacancies(words[0]);
    for (unsigned i = 1; i < LARD_LINE_WORDS; i++) {
        if (words[*which][i] == 0) {
            return &words[*which][i];
        }
    }
    uint64_t *old[2] = {oldest(words[0]), oldest(words[1])};
    *which = (*old[1] & LARD_CELL_STAMP_MASK) < (*old[0] & LARD_CELL_STAMP_MASK);
    *forgets = true;
    return old[*which];
}

bool lard_deletions_note(lard_view *view, uint64_t hash, uint64_t stamp) {
    uint64_t words[2][LARD_LINE_WORDS];
    uint32_t lines[2];
    unsigned which;
    bool forgets;
    table into = table_for(view, stamp);
    read_both(view, &into, hash, stamp, lines, words);
    uint64_t *cell = choose(words, hash, &which, &forgets), gone = *cell & LARD_CELL_STAMP_MASK;
    if (forgets && gone > LARD_LINE_FLOOR(words[which][0])) {
        words[which][0] = gone << 32 | (words[which][0] & LARD_LINE_GOES_ON);
    }
    if (which == 1 && !(words[0][0] & LARD_LINE_GOES_ON)) { /* before there is something to be found */
        words[0][0] |= LARD_LINE_GOES_ON;
        store_line(view, &into, lines[0], words[0]);
    }
    *cell = cell_of(hash, which) | (stamp - into.start);
    store_line(view, &into, lines[which], words[which]);
    return forgets;
}

void lard_deletions_repair(lard_view *view, uint64_t hash, uint64_t stamp) {
    uint64_t words[2][LARD_LINE_WORDS];
    uint32_t lines[2];
    table of = table_for(view, stamp);
    if (unsealed(&view->header->tags_floor) == LARD_DELETIONS_ALL) {
        lard_store(&view->header->tags_floor, sealed(stamp));
    }
    if (of.pages) {
        read_both(view, &of, hash, stamp, lines, words);
    }
}

void lard_deletions_empty(lard_view *view, uint64_t epoch) {
    lard_map *map = view->map;
    bool was_current = epoch == 0 || LARD_EPOCH_CLEAR(epoch) == lard_load(&map->control->clear_epoch);
    if (was_current && lard_load(&map->control->stamp)) { /* the items of other shards stay */
        lard_store(&view->header->tags_floor, sealed(lard_add(&map->control->stamp, 1) + 1));
    }
    lard_store_release(&view->header->table_pages, 0);
    lard_store(&view->header->table_changing, 0);
    lard_store(&view->header->tags_start, 0);
}

bool lard_deletions_sane(const lard_view *view) {
    table of;
    bool sane = table_of(view, &of);
    for (uint32_t page = 0; sane && page < of.pages; page++) {
        uint32_t segment = lard_load(page_at(view, page));
        sane = segment < view->map->super.segments_per_shard &&
               lard_load(&view->segments[segment].state) == LARD_SEGMENT_TABLE;
    }
    return sane;
}

bool lard_deletions_has_page(const lard_view *view, uint32_t segment) {
    table of;
    bool has = false;
    table_of(view, &of);
    for (uint32_t page = 0; page < of.pages; page++) {
        has |= lard_load(page_at(view, page)) == segment;
    }
    return has;
}

uint32_t lard_deletions_unreadable(const lard_view *view) {
    uint64_t words[LARD_LINE_WORDS];
    uint32_t count = 0;
    table of;
    table_of(view, &of);
    for (uint32_t line = 0; line < of.lines; line++) {
        count += !read_line(&of, line, words);
    }
    return count;
}

void lard_deletions_finish(lard_view *view) {
    uint32_t line = lard_load(&view->header->table_changing) - 1;
    table of;
    lard_u64 *at = table_of(view, &of) && line < of.lines ? line_at(&of, line) : NULL;
    if (at) {
        uint64_t words[LARD_LINE_WORDS];
        load_line(at, words);
        lard_store(&at[0], (words[0] & ~0xffffffffull) | check_of(&of, line, words));
    }
    if (line != UINT32_MAX) {
        lard_store(&view->header->table_changing, 0);
    }
}
