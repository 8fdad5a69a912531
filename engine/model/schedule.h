/*
 * schedule.h — what the scheduler, its memory and its world know of each other. Private to engine/model.
 */
#ifndef LARD_SCHEDULE_H
#define LARD_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOST_PROCESSES 3
#define NO_PLACE UINT32_MAX

typedef enum { MODEL_SC, MODEL_TSO, MODEL_WEAK } memory_model;

/* memory.c — the shared words, their store buffers, and what each execution changed */
void memory_begin(uint8_t *base, size_t bytes); /* a new scenario: nothing is known to be contended */
void memory_model_is(memory_model model);
void memory_reset(void);   /* as it was when the first execution began */
bool memory_grown(void);   /* since the last call: another word was found to be contended */
uint64_t memory_key(void); /* contended words and buffers */
void memory_drain(unsigned process);
/* Words to which `other` has stores on their way that an access of `self` may come before or after. */
unsigned memory_in_the_way(unsigned self, unsigned other, unsigned place, bool drains, unsigned *places,
                           unsigned most);
void memory_let_out(unsigned process, unsigned place); /* its first store to that word */
uint64_t memory_version(void);                         /* raised by every change of a contended word */
unsigned memory_contended(void);
unsigned memory_place(const void *at);

/* schedule.c — logical processes as coroutines, and who goes on */
#define UNBOUNDED 1000u /* preemptions */
typedef enum { BY_SEARCH, BY_CHANCE } schedule_way;
typedef enum { ENDED, SEEN_BEFORE, ENDLESS } schedule_outcome;
typedef struct {
    schedule_way way;
    unsigned preemptions; /* at most */
    unsigned deaths;      /* at most */
    uint64_t seed;        /* of chance */
    unsigned changes;     /* of priority, by chance */
    unsigned long length; /* of an execution, about */
} schedule_limits;
void schedule_begin(const schedule_limits *limits, size_t states); /* a new search */
schedule_outcome schedule_run(unsigned processes, void (*body)(unsigned process), const bool *may_die);
bool schedule_next(void); /* false: every schedule within the limits was run */
void schedule_seed(uint64_t seed);
bool schedule_full(void);
extern bool schedule_running;
unsigned schedule_current(void);
bool schedule_is_private(const void *at);         /* on the stack of the process that runs */
void schedule_point(unsigned place, bool drains); /* before an access of a contended word */
void schedule_learned(uint64_t value);            /* what the current process read */
bool schedule_is_dead(unsigned process);
unsigned schedule_pick(unsigned count); /* one of `count` ways in which the world may go on */
bool schedule_may_kill(unsigned process);
void schedule_kill(unsigned process);
bool schedule_wait(unsigned place); /* false: the time passed */
void schedule_wake(unsigned place);
int64_t schedule_clock_ms(void); /* of the current process */
void schedule_pass_ms(unsigned ms);
unsigned long schedule_steps(void), schedule_states(void), schedule_deaths(void);
void schedule_trace(bool on);
void schedule_note(const char *what, unsigned place, uint64_t value);

/* scenario.c, world.c — what is run */
uint64_t world_key(void);      /* which operations had begun before which */
void world_timed_out(void);    /* a wait of the current operation */
void world_first_access(void); /* of the current operation */

static inline uint64_t schedule_mix(uint64_t z) { /* splitmix64's finisher (Steele, Lea, Flood 2014) */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

#endif
