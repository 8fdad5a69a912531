/*
 * simulate.c — does by single keys what evict.c does by segments: of the small queue's oldest keys those that were
 * read go to the main queue, and the others become ghosts. A key whose ghost is younger than the main queue's
 * oldest key goes to the main queue at once.
 */
#include "evict/simulate.h"
#include "base/reads.h"

#include <string.h>

#define MAX_CHAIN 64u /* chain, unless it is damaged */

static uint32_t length(uint32_t first, uint32_t end) { return end - first; }

static uint32_t small_at(uint32_t position) { return position % LARD_SHADOW_SMALL; }
static uint32_t main_at(uint32_t position) { return LARD_SHADOW_SMALL + position % LARD_SHADOW_ITEMS; }

static uint16_t *chain_of(lard_shadow *shadow, uint32_t key) { return &shadow->chains[key % LARD_SHADOW_CHAINS]; }

/* The entry after a link, or NULL: there is none. */
static lard_shadow_entry *entry_at(lard_shadow *shadow, uint32_t link) {
    return link == 0 || link > LARD_SHADOW_SMALL + LARD_SHADOW_ITEMS ? NULL : &shadow->entries[link - 1];
}

static void unlink_entry(lard_shadow *shadow, uint32_t number) {
    lard_shadow_entry *gone = &shadow->entries[number], *before = NULL;
    uint16_t *first = chain_of(shadow, gone->key);
    lard_shadow_entry *entry = entry_at(shadow, *first);
    for (uint32_t i = 0; entry && entry != gone && i < MAX_CHAIN; i++) {
        before = entry;
        entry = entry_at(shadow, entry->next);
    }
    if (entry == gone && before) {
        before->next = gone->next;
    } else if (entry == gone) {
        *first = gone->next;
    }
}

/* Gives the entry to the key. What was there before is forgotten. */
static void push(lard_shadow *shadow, uint32_t number, uint32_t key, uint32_t reads) {
    uint16_t *first = chain_of(shadow, key);
    unlink_entry(shadow, number);
    shadow->entries[number] = (lard_shadow_entry){.key = key,
                                                  .time = (uint16_t)shadow->time++,
                                                  .next = *first & 0xfffu,
                                                  .reads = reads & 3,
                                                  .is_present = 1};
    *first = (uint16_t)(number + 1);
}

static void push_main(lard_shadow *shadow, uint32_t key, uint32_t reads) {
    push(shadow, main_at(shadow->main_end++), key, reads);
}

/* Takes the oldest key of a queue off. It goes to the main queue, or from the small one it may become a ghost. */
static void pop(lard_shadow *shadow, bool from_small) {
    lard_shadow_entry *entry =
        &shadow->entries[from_small ? small_at(shadow->small_first++) : main_at(shadow->main_first++)];
    bool stays = entry->is_present && entry->reads;
    if (stays || !from_small) {
        entry->is_present = 0;
    }
    if (stays) {
        push_main(shadow, entry->key, from_small ? 0 : entry->reads - 1u);
    }
}

/* False: there was room. */
static bool make_room(lard_shadow *shadow, const lard_dimensions *has) {
    for (uint32_t i = 0; i < 8 * LARD_SHADOW_ITEMS; i++) {
        uint32_t small = length(shadow->small_first, shadow->small_end);
        uint32_t in_main = length(shadow->main_first, shadow->main_end);
        if (small + in_main < has->capacity) {
            return i > 0;
        }
        pop(shadow, small && (small > has->most_small || !in_main));
    }
    memset(shadow, 0, offsetof(lard_shadow, misses)); /* its content was damaged */
    return true;
}

/* Does a ghost count? See ghost.c. */
static bool is_fresh(const lard_shadow *shadow, const lard_dimensions *has, const lard_shadow_entry *ghost) {
    const lard_shadow_entry *oldest = &shadow->entries[main_at(shadow->main_first)];
    uint16_t now = (uint16_t)shadow->time, age = now - ghost->time, of_main = now - oldest->time;
    return age < has->ghost_window && (age < of_main || shadow->main_first == shadow->main_end);
}

lard_shadow_result lard_simulate(lard_shadow *shadow, const lard_dimensions *has, uint32_t key, bool is_get) {
    uint32_t in_small = length(shadow->small_first, shadow->small_end);
    lard_shadow_entry *entry = entry_at(shadow, *chain_of(shadow, key));
    bool had_ghost = false;
    for (uint32_t i = 0; entry && i < MAX_CHAIN; i++, entry = entry_at(shadow, entry->next)) {
        uint32_t number = (uint32_t)(entry - shadow->entries);
        uint32_t age = small_at(shadow->small_end - 1 - number);
        if (entry->key != key || !entry->is_present) {
            continue;
        }
        if (number >= LARD_SHADOW_SMALL || age < in_small) {
            if (is_get && entry->reads < LARD_READS_MOST && (number >= LARD_SHADOW_SMALL || age >= has->young)) {
                entry->reads = lard_reads_more(entry->reads) & LARD_READS_MOST;
            }
            return LARD_SHADOW_HAD;
        }
        had_ghost |= is_fresh(shadow, has, entry);
        entry->is_present = 0;
    }
    bool was_full = make_room(shadow, has);
    if (had_ghost) {
        push_main(shadow, key, 0);
    } else {
        push(shadow, small_at(shadow->small_end++), key, 0);
    }
    return was_full ? LARD_SHADOW_MISSED : LARD_SHADOW_GREW;
}

uint32_t lard_simulate_length(const lard_shadow *shadow) {
    return length(shadow->small_first, shadow->small_end) + length(shadow->main_first, shadow->main_end);
}
