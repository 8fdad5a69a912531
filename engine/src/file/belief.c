/*
 * belief.c — the rows of configurations in the control page: finds, takes and frees them.
 *
 * Invariant: no record of the current clear epoch carries a row that is free. A free row is taken by one
 * compare-and-swap. To free rows takes three steps, under the opener's lock: mark them as ending, which no
 * process takes; end the epoch; free them. A process that is killed in between leaves rows that are ending. They
 * belong to no configuration, and the next process that needs one does the three steps again. A writer learns of
 * the new epoch under the lock of its shard, before it stores: then it looks for its row again.
 */
#include "file/belief.h"
#include "base/clock.h"
#include "base/siphash13.h"
#include "file/map.h"

lard_belief lard_belief_any;

uint64_t lard_belief_mark(const lard_belief *belief, const lard_map *map) {
    uint64_t digest = belief->digest;
    uint64_t mark = lard_siphash13_inline(map->super.seed, &digest, sizeof digest, 0) & ~1ull;
    mark |= (uint64_t)__builtin_parityll(mark);
    return mark ? mark : 3;
}

/* The lowest row of the mark, which takes the lowest free one if there is none. */
static unsigned find_or_take(lard_map *map, uint64_t mark) {
    lard_configuration *rows = map->control->configurations;
    for (unsigned row = 1; row < LARD_CONFIGURATIONS; row++) {
        if (lard_load_acquire(&rows[row].digest) == mark) {
            return row;
        }
    }
    for (unsigned row = 1; row < LARD_CONFIGURATIONS; row++) {
        uint64_t found = lard_load_acquire(&rows[row].digest);
        if (!found && lard_cas64(&rows[row].digest, &found, mark)) {
            return row;
        }
        if (found == mark) {
            return row;
        }
    }
    return LARD_ROW_NONE;
}

/* True if a process is freeing rows, or was killed while it did. */
static bool is_freeing(const lard_map *map) {
    bool ending = false;
    for (unsigned row = 1; row < LARD_CONFIGURATIONS; row++) {
        ending = ending || lard_load(&map->control->configurations[row].digest) == LARD_ROW_ENDING;
    }
    return ending;
}

/* The epoch is loaded first: a row that was freed before the epoch began is seen as such. */
unsigned lard_belief_renew(lard_belief *belief, lard_map *map, uint32_t clear_epoch) {
    if (belief == &lard_belief_any) {
        return LARD_ROW_ANY;
    }
    uint32_t now = lard_load_acquire(&map->control->clear_epoch);
    unsigned row = find_or_take(map, lard_belief_mark(belief, map));
    if (lard_load_acquire(&map->control->clear_epoch) != now) {
        return LARD_ROW_NONE; /* the rows were freed in between: in the epoch before, the row was another one's */
    }
    if (row != LARD_ROW_NONE || !is_freeing(map)) {
        __atomic_store_n(&belief->word, (uint64_t)row << LARD_CONFIGURATION_SHIFT | lard_belief_place(map, now),
                         __ATOMIC_RELAXED);
    }
    return now == clear_epoch ? row : LARD_ROW_NONE;
}

static void free_rows(lard_map *map, uint64_t mark) {
    lard_configuration *rows = map->control->configurations;
    for (unsigned row = 1; row < LARD_CONFIGURATIONS; row++) {
        lard_store(&rows[row].digest, LARD_ROW_ENDING);
    }
    lard_map_clear(map);
    lard_store(&map->control->full_ms, (uint64_t)lard_clock_ms());
    lard_store_release(&rows[1].digest, mark);
    for (unsigned row = 2; row < LARD_CONFIGURATIONS; row++) { /* upwards: all processes take the lowest */
        lard_store_release(&rows[row].digest, 0);
    }
}

unsigned lard_belief_rows(const lard_map *map) {
    unsigned taken = 0;
    for (unsigned row = 1; row < LARD_CONFIGURATIONS; row++) {
        taken += lard_load(&map->control->configurations[row].digest) > LARD_ROW_ENDING;
    }
    return taken;
}

void lard_belief_adopt(lard_belief *belief, lard_map *map) {
    uint64_t mark = lard_belief_mark(belief, map);
    if (find_or_take(map, mark) == LARD_ROW_NONE) {
        free_rows(map, mark);
    }
}
