/*
 * schedule.c — runs logical processes as coroutines, and decides whose turn it is.
 *
 * A search runs the same execution again and again, each time with the last choice that has an alternative
 * changed: depth first, with a limit of preemptions (Musuvathi, Qadeer, "Iterative Context Bounding", PLDI 2007)
 * and deaths. A process that finishes, waits or spins costs no preemption. What a process will do follows from
 * what it has read so far. So memory, what each process has read, and which may still do what are the whole state:
 * a state that was reached before is not explored again.
 *
 * In random runs priorities are drawn, and changed at a few random times (Burckhardt et al., "A Randomized
 * Scheduler with Probabilistic Guarantees", ASPLOS 2010).
 */
#define _GNU_SOURCE
#include "schedule.h"
#include "choices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK_BYTES (256u << 10)
#define MOST_STEPS 30000u

bool schedule_running;

static process processes[MOST_PROCESSES];
static unsigned process_count, current;
static ucontext_t host;
static schedule_outcome outcome;
static schedule_limits limits;
static unsigned preemptions_left, deaths_left;
static unsigned long steps, deaths, length;
static void (*body)(unsigned);
static bool tracing;

unsigned schedule_current(void) { return current; }
bool schedule_is_private(const void *at) {
    return !schedule_running || (uintptr_t)at - (uintptr_t)processes[current].stack < STACK_BYTES;
}
bool schedule_is_dead(unsigned p) { return p < process_count && processes[p].state == DEAD; }
int64_t schedule_clock_ms(void) { return schedule_running ? processes[current].clock_ms : 0; }
void schedule_pass_ms(unsigned ms) { processes[current].clock_ms += ms; }
unsigned long schedule_steps(void) { return steps; }
unsigned long schedule_deaths(void) { return deaths; }
void schedule_trace(bool on) { tracing = on; }

void schedule_learned(uint64_t value) {
    process *self = &processes[current];
    self->history = schedule_mix(self->history * 31 + value + 1);
}

void schedule_note(const char *what, unsigned place, uint64_t value) {
    if (tracing) {
        fprintf(stderr, "    process %u %s %u: %llx\n", current, what, place, (unsigned long long)value);
    }
}

static uint64_t state_key(void) {
    uint64_t sum = schedule_mix(memory_key() + current);
    sum = schedule_mix(sum + world_key() + (uint64_t)preemptions_left * 64 + deaths_left);
    for (unsigned p = 0; p < process_count; p++) {
        const process *one = &processes[p];
        uint64_t rest = (uint64_t)one->state | one->woken * 8u | one->keeps_spinning * 16u |
                        (one->version == memory_version()) * 32u | one->place * 64ull;
        sum = schedule_mix(sum + one->history) + schedule_mix(rest + (uint64_t)one->clock_ms * 0x10001000100ull);
    }
    return sum;
}

static void leave(schedule_outcome how) {
    outcome = how;
    setcontext(&host);
    abort();
}

unsigned schedule_pick(unsigned count) {
    int way =
        limits.way == BY_CHANCE ? (int)choices_draw(count) : choices_next(count, count > 1 ? state_key() : 0);
    if (way < 0) {
        leave(SEEN_BEFORE);
    }
    return (unsigned)way;
}

typedef enum { GO_ON, SWITCH, KILL, FLUSH } kind;
typedef struct {
    kind kind;
    unsigned process, which, cost;
} turn;

/* Ready, or with something new to look at. */
static bool may_run(const process *one) {
    return one->state == READY || (one->state == WAITING && one->woken) ||
           (one->state == SPINNING && one->version != memory_version());
}

/* Everything that may happen next; what goes on by itself comes first. */
static unsigned list_turns(turn *list) {
    unsigned count = 0;
    bool running = processes[current].state == READY, any = running;
    if (running) {
        list[count++] = (turn){GO_ON, current, 0, 0};
    }
    for (unsigned p = 0; p < process_count; p++) {
        if (p != current && may_run(&processes[p])) {
            any = true;
            if (!running || preemptions_left) {
                list[count++] = (turn){SWITCH, p, 0, running};
            }
        }
    }
    for (unsigned p = 0; p < process_count; p++) { /* a wait that times out, a spin that is given up */
        bool late = (processes[p].state == WAITING || processes[p].state == SPINNING) &&
                    (p == current || !may_run(&processes[p]));
        if (late && (!any || preemptions_left)) {
            list[count++] = (turn){SWITCH, p, 0, any};
        }
    }
    if (deaths_left && running && processes[current].may_die) {
        list[count++] = (turn){KILL, current, 0, 0};
    }
    return count;
}

/* Stores of others that may come out before the current process touches their word. */
static unsigned list_stores(turn *list, unsigned count) {
    unsigned places[8];
    for (unsigned p = 0; p < process_count; p++) {
        const process *self = &processes[current];
        unsigned found = p == current ? 0 : memory_in_the_way(current, p, self->next, self->drains, places, 8);
        for (unsigned i = 0; i < found; i++) {
            list[count++] = (turn){FLUSH, p, places[i], 0};
        }
    }
    return count;
}

static unsigned of_highest_priority(const turn *list, unsigned count) {
    unsigned best = 0;
    bool any = false;
    for (unsigned i = 0; i < count; i++) {
        if ((list[i].kind == FLUSH && choices_draw(8) == 0) || (list[i].kind == KILL && choices_draw(200) == 0)) {
            return i;
        }
        bool runs = (list[i].kind == GO_ON || list[i].kind == SWITCH) &&
                    (list[i].cost == 0 || may_run(&processes[list[i].process]));
        if (runs && (!any || processes[list[i].process].priority > processes[list[best].process].priority)) {
            best = i;
            any = true;
        }
    }
    return best;
}

static unsigned choose(const turn *list, unsigned count) {
    if (limits.way == BY_SEARCH) {
        return schedule_pick(count);
    }
    if (choices_draw((unsigned)limits.length + 1) < limits.changes) {
        processes[current].priority = choices_draw(1000) - 1000;
    }
    return of_highest_priority(list, count);
}

static void switch_to(unsigned p) {
    unsigned before = current;
    process *next = &processes[p];
    next->keeps_spinning = next->state == SPINNING && next->version == memory_version();
    next->late = next->state == WAITING && !next->woken;
    next->state = READY;
    current = p;
    if (tracing) {
        fprintf(stderr, "  process %u goes on%s\n", p, next->late ? ", its wait is over" : "");
    }
    if (p != before) {
        swapcontext(&processes[before].context, &next->context);
    }
}

/* Returns when the current process may go on. */
static void take_turns(void) {
    bool chosen = false; /* it goes on; what is left to choose is which stores it meets */
    for (;;) {
        turn list[8 + 8 * MOST_PROCESSES] = {{GO_ON, current, 0, 0}};
        unsigned count = chosen ? 1 : list_turns(list);
        if (count == 0) {
            leave(ENDED);
        }
        count = processes[current].state == READY ? list_stores(list, count) : count;
        turn one = list[choose(list, count)];
        if (limits.way == BY_SEARCH && limits.preemptions != UNBOUNDED) {
            preemptions_left -= one.cost;
        }
        if (one.kind == GO_ON) {
            return;
        }
        if (one.kind == FLUSH) {
            memory_let_out(one.process, one.which);
        } else if (one.kind == KILL) {
            schedule_kill(current);
        } else {
            switch_to(one.process);
            chosen = true;
        }
    }
}

void schedule_point(unsigned place, bool drains) {
    process *self = &processes[current];
    if (++steps && ++length > MOST_STEPS) {
        leave(ENDLESS);
    }
    if (!self->keeps_spinning) {
        self->next = place;
        self->drains = drains;
        take_turns();
        self->next = NO_PLACE;
        self->drains = false;
    }
}

bool schedule_may_kill(unsigned p) {
    return p < process_count && p != current && deaths_left && processes[p].may_die &&
           processes[p].state != FINISHED && processes[p].state != DEAD;
}

void schedule_kill(unsigned p) {
    schedule_note("sees the end of", p, 0);
    processes[p].state = DEAD;
    deaths_left--;
    deaths++;
}

void lard_turn_pause(void);
void lard_turn_pause(void) {
    process *self = &processes[current];
    if (!schedule_running || self->keeps_spinning) {
        return;
    }
    self->state = SPINNING;
    self->version = memory_version();
    take_turns();
}

bool schedule_wait(unsigned place) {
    process *self = &processes[current];
    self->keeps_spinning = false;
    self->state = WAITING;
    self->woken = false;
    self->place = place;
    take_turns();
    return !self->late;
}

void schedule_wake(unsigned place) {
    unsigned sleepers[MOST_PROCESSES], count = 0;
    for (unsigned p = 0; p < process_count; p++) {
        if (processes[p].state == WAITING && !processes[p].woken && processes[p].place == place) {
            sleepers[count++] = p;
        }
    }
    if (count) {
        processes[sleepers[schedule_pick(count)]].woken = true;
    }
}

static void run_body(int p) {
    body((unsigned)p);
    processes[current].state = FINISHED;
    take_turns();
}

void schedule_begin(const schedule_limits *which, size_t states) {
    limits = *which;
    choices_begin(states, which->seed);
}

schedule_outcome schedule_run(unsigned count, void (*what)(unsigned), const bool *may_die) {
    volatile bool begun = false;
    process_count = count;
    body = what;
    length = 0;
    preemptions_left = limits.preemptions;
    deaths_left = limits.deaths;
    choices_again();
    for (unsigned p = 0; p < count; p++) {
        char *stack = processes[p].stack;
        if (!stack) {
            stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        }
        processes[p] = (process){.stack = stack, .may_die = may_die[p], .version = UINT64_MAX, .next = NO_PLACE};
        processes[p].priority = limits.way == BY_CHANCE ? (int)choices_draw(1000) : 0;
        getcontext(&processes[p].context);
        processes[p].context.uc_stack.ss_sp = stack;
        processes[p].context.uc_stack.ss_size = STACK_BYTES;
        processes[p].context.uc_link = NULL;
        makecontext(&processes[p].context, (void (*)(void))run_body, 1, (int)p);
    }
    getcontext(&host);
    if (!begun) {
        begun = true;
        schedule_running = true;
        current = 0;
        if (count > 1) { /* who is first costs nothing */
            current = limits.way == BY_SEARCH ? (unsigned)choices_next(count, 0) : choices_draw(count);
        }
        setcontext(&processes[current].context);
    }
    schedule_running = false;
    return outcome;
}

void schedule_seed(uint64_t seed) { choices_seed(seed); }
bool schedule_full(void) { return choices_full(); }
bool schedule_next(void) { return choices_backtrack(); }
unsigned long schedule_states(void) { return choices_states(); }
