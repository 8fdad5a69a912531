/*
 * choices.c — see choices.h. States are stored as 64-bit hashes in an open-addressing table; 0 is none.
 */
#include "choices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 65536u

static struct { uint16_t chosen, count; } path[DEEPEST];
static unsigned depth, known;
static uint64_t *table, random_state;
static size_t table_size, most_states, states;

void choices_begin(size_t most, uint64_t seed) {
    size_t wanted = 1024;
    while (wanted < most * 2) {
        wanted *= 2;
    }
    if (wanted != table_size) {
        free(table);
        table = calloc(wanted, sizeof *table);
        table_size = wanted;
    } else {
        memset(table, 0, wanted * sizeof *table);
    }
    if (!table) {
        abort();
    }
    most_states = most;
    states = 0;
    depth = known = 0;
    random_state = seed;
}

void choices_again(void) { depth = 0; }

static bool met(uint64_t state) {
    state = state ? state : 1;
    size_t at = state & (table_size - 1);
    while (table[at]) {
        if (table[at] == state) {
            return true;
        }
        at = (at + 1) & (table_size - 1);
    }
    if (states < most_states) {
        table[at] = state;
        states++;
    }
    return false;
}

int choices_next(unsigned count, uint64_t state) {
    if (count == 1) {
        return 0;
    }
    if (depth < known) {
        return path[depth++].chosen;
    }
    if ((state && met(state)) || depth == DEEPEST) {
        return -1;
    }
    path[depth].chosen = 0;
    path[depth].count = (uint16_t)count;
    known = ++depth;
    return 0;
}

bool choices_backtrack(void) {
    while (known && path[known - 1].chosen + 1 >= path[known - 1].count) {
        known--;
    }
    if (known) {
        path[known - 1].chosen++;
    }
    return known != 0;
}

unsigned choices_draw(unsigned below) {
    random_state += 0x9e3779b97f4a7c15ull;
    return (unsigned)(schedule_mix(random_state) % below);
}

unsigned long choices_states(void) { return states; }
bool choices_full(void) { return states >= most_states; }
void choices_seed(uint64_t seed) { random_state = seed; }
