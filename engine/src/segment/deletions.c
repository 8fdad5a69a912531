/*
 * deletions.c — looks up and notes the deletions of tags.
 *
 * A tag has two lines, of which a deletion takes the one that has more room (Azar et al., "Balanced allocations",
 * 1999), but the first one while that is nearly empty: a bit of the first line says whether a reader must look at
 * the second, too. If both are full, the oldest deletion of the two lines is forgotten, and the floor of its line
 * raised to it.
 */
#include "segment/deletions.h"
#include "base/word.h"
#include "segment/tag_table.h"

#define ATTEMPTS 8
#define MANY_VACANCIES 3u /* of a line that has more, the second line is not asked for */

uint64_t lard_deletions_hash(const lard_map *map, const void *tag, size_t bytes) {
    return lard_hash_mix(lard_siphash13(map->super.seed, tag, bytes) + 1); /* a key space of its own */
}

uint64_t lard_deletions_origin(const lard_map *map, uint32_t clear_epoch) {
    return lard_hash_mix(lard_word_at(map->super.file_id) ^ clear_epoch) | 1;
}

typedef struct {
    uint64_t since; /* counted from the start; 0: nothing is deleted */
    bool exact;
    bool goes_on; /* a deletion may be in the second line */
} lookup;

/* Looks for a tag in one of its lines: as lard_tag_table_copy, but each word is in use as soon as it is loaded. */
static inline bool look_in(const lard_tag_table *from, uint64_t hash, unsigned which, lookup *found) {
    uint32_t line = lard_tag_table_line(from, hash, which);
    const lard_u64 *at = lard_tag_table_at(from, line);
    uint64_t cell = lard_tag_table_cell(hash, which), stamp = 0;
    if (LARD_UNLIKELY(!at)) {
        return false;
    }
    uint64_t head = lard_load(&at[0]),
             sum = lard_tag_table_sum(from, line) + lard_tag_table_factors[0] * (head >> 32);
#pragma GCC unroll 7
    for (unsigned i = 1; i < LARD_LINE_WORDS; i++) {
        uint64_t word = lard_load(&at[i]), difference = word ^ cell;
        sum += lard_tag_table_factors[i] * word;
        stamp |= difference <= LARD_CELL_STAMP_MASK ? difference : 0;
    }
    if (LARD_UNLIKELY((uint32_t)head != (uint32_t)(sum >> 32))) {
        uint64_t words[LARD_LINE_WORDS]; /* it is being changed, or damaged */
        if (!lard_tag_table_copy(from, line, words)) {
            return false;
        }
        const uint64_t *own = lard_tag_table_find(words, cell);
        head = words[0];
        stamp = own ? *own & LARD_CELL_STAMP_MASK : 0;
    }
    found->goes_on = head & LARD_LINE_GOES_ON;
    found->exact = stamp && stamp >= LARD_LINE_FLOOR(head);
    found->since = found->exact ? stamp : LARD_LINE_FLOOR(head);
    return true;
}

/* As lard_deletions_since, of the table. */
static inline uint64_t since_in(const lard_tag_table *from, uint64_t hash, bool *exact) {
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
            return lard_stamp_is_used(map) ? LARD_DELETIONS_ALL : 0;
        }
        if (LARD_EPOCH_CLEAR(epoch) != clear_epoch) {
            bool is_sound = lard_view_epoch_is_sound(&view, epoch);
            lard_fence_acquire();
            if (lard_load(&view.header->epoch) != epoch) {
                continue;
            }
            /* Not emptied since the last clear: its deletions were before that, and no stamp of the item is. */
            return is_sound && lard_load(&map->control->clear_epoch) == clear_epoch ? 0 : LARD_DELETIONS_ALL;
        }
        lard_tag_table from;
        if (!lard_tag_table_read(&view, &from)) {
            return LARD_DELETIONS_ALL;
        }
        uint64_t since = lard_stamp_unsealed(lard_load(&view.header->tags_floor)),
                 noted = from.pages ? since_in(&from, hash, exact) : 0;
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

/* Others may raise it at the same time. */
void lard_deletions_forget(const lard_view *view, uint64_t stamp) {
    lard_u64 *floor = &view->header->tags_floor;
    uint64_t word = lard_load(floor), held = lard_stamp_unsealed(word);
    while ((held < stamp || held == LARD_STAMP_DAMAGED) && !lard_cas64(floor, &word, lard_stamp_sealed(stamp))) {
        held = lard_stamp_unsealed(word);
    }
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
static void read_both(lard_view *view, const lard_tag_table *from, uint64_t hash, uint64_t stamp,
                      uint32_t lines[2], uint64_t words[2][LARD_LINE_WORDS]) {
    for (unsigned which = 0; which < 2; which++) {
        lines[which] = lard_tag_table_line(from, hash, which);
        if (!lard_tag_table_copy(from, lines[which], words[which])) {
            for (unsigned i = 1; i < LARD_LINE_WORDS; i++) {
                words[which][i] = 0;
            }
            words[which][0] = (stamp - from->start) << 32 | LARD_LINE_GOES_ON; /* perhaps */
            lard_tag_table_store(view, from, lines[which], words[which]);
        }
    }
}

/* A table whose stamps fit its cells. */
static lard_tag_table table_for(lard_view *view, uint64_t stamp) {
    lard_tag_table into;
    lard_tag_table_of(view, &into);
    if (into.pages && stamp - into.start > LARD_CELL_STAMP_MASK) {
        lard_deletions_forget(view, stamp);
        lard_tag_table_empty(view, into.pages, stamp - 1);
        into.start = stamp - 1;
    }
    return into;
}

/* The cell for a tag's deletion, in the line `*which`: its own one, an empty one, or the oldest one, which is then
 * forgotten. */
static uint64_t *choose(uint64_t words[2][LARD_LINE_WORDS], uint64_t hash, unsigned *which, bool *forgets) {
    uint64_t *own[2] = {lard_tag_table_find(words[0], lard_tag_table_cell(hash, 0)),
                        lard_tag_table_find(words[1], lard_tag_table_cell(hash, 1))};
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
    lard_tag_table into = table_for(view, stamp);
    read_both(view, &into, hash, stamp, lines, words);
    uint64_t *cell = choose(words, hash, &which, &forgets), gone = *cell & LARD_CELL_STAMP_MASK;
    if (forgets && gone > LARD_LINE_FLOOR(words[which][0])) {
        words[which][0] = gone << 32 | (words[which][0] & LARD_LINE_GOES_ON);
    }
    if (which == 1 && !(words[0][0] & LARD_LINE_GOES_ON)) { /* before there is something to be found */
        words[0][0] |= LARD_LINE_GOES_ON;
        lard_tag_table_store(view, &into, lines[0], words[0]);
    }
    *cell = lard_tag_table_cell(hash, which) | (stamp - into.start);
    lard_tag_table_store(view, &into, lines[which], words[which]);
    return forgets;
}

void lard_deletions_repair(lard_view *view, uint64_t hash, uint64_t stamp) {
    uint64_t words[2][LARD_LINE_WORDS];
    uint32_t lines[2];
    lard_tag_table of = table_for(view, stamp);
    if (lard_stamp_unsealed(lard_load(&view->header->tags_floor)) == LARD_STAMP_DAMAGED) {
        lard_deletions_forget(view, stamp);
    }
    if (of.pages) {
        read_both(view, &of, hash, stamp, lines, words);
    }
}

void lard_deletions_empty(lard_view *view, uint64_t epoch) {
    lard_map *map = view->map;
    bool was_current = epoch == 0 || !lard_view_epoch_is_sound(view, epoch) ||
                       LARD_EPOCH_CLEAR(epoch) == lard_load(&map->control->clear_epoch);
    if (was_current && lard_stamp_is_used(map)) { /* the items of other shards stay */
        lard_deletions_forget(view, lard_stamp_raise(map));
    }
    lard_store_release(&view->header->table_pages, 0);
    lard_store(&view->header->table_changing, 0);
    lard_store(&view->header->tags_start, 0);
}
