/*
 * choices.h — the path of choices of a search, the states that it has reached, and random choices.
 */
#ifndef LARD_CHOICES_H
#define LARD_CHOICES_H

#include "schedule.h"

#include <ucontext.h>

typedef enum { READY, WAITING, SPINNING, FINISHED, DEAD } process_state;

typedef struct {
    ucontext_t context;
    char *stack;
    process_state state;
    bool may_die;
    bool woken, late;    /* of a wait */
    unsigned next;       /* the word it is about to touch */
    bool drains;         /* and empties its buffer */
    bool keeps_spinning; /* spins on without asking */
    unsigned place;      /* that it waits at */
    uint64_t version;    /* of memory, when it spun */
    uint64_t history;    /* all it has read, as one number */
    int64_t clock_ms;
    int priority;
} process;

void choices_begin(size_t states, uint64_t seed);
void choices_again(void);                         /* from the first choice */
int choices_next(unsigned count, uint64_t state); /* -1: that state was met before */
bool choices_backtrack(void);                     /* false: all was tried */
unsigned choices_draw(unsigned below);
unsigned long choices_states(void);
bool choices_full(void); /* more states than it can remember */
void choices_seed(uint64_t seed);

#endif
