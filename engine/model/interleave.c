/*
 * interleave.c — runs the scenarios on the engine's own code in every schedule within bounds.
 *
 * Each execution is judged by its results and by the state that it leaves.
 *
 * interleave [--memory sc|tso|weak] [--blind] [--preemptions N] [--states N]
 *            [--unbounded] [--chance N] [--only TEXT] [--quiet]
 */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const scenario *now;
static event events[MOST_OPERATIONS + KEYS];
static unsigned event_count, first_event[MOST_PROCESSES], at_event[MOST_PROCESSES];
static int first_held[KEYS];
static struct { unsigned long ended, cut, steps, states, deaths, scenarios, exhausted[8], all, by_chance; } sum;
static struct {
    memory_model memory;
    unsigned preemptions;
    size_t states;
    unsigned long chance;
    const char *only;
    bool quiet, unbounded;
} told = {MODEL_SC, 2, 1u << 20, 0, "", false, false};

uint64_t world_key(void) {
    uint64_t key = 0;
    for (unsigned i = 0; i < event_count; i++) {
        key = schedule_mix(key * 31 + (events[i].before << 2 | events[i].begun << 1 | events[i].done));
    }
    return key;
}

static unsigned those_done(void) {
    unsigned mask = 0;
    for (unsigned i = 0; i < event_count; i++) {
        mask |= (unsigned)events[i].done << i;
    }
    return mask;
}

static void begin(event *one) {
    if (!one->begun) {
        one->before = those_done();
        one->begun = true;
    }
}

void world_timed_out(void) { events[at_event[schedule_current()]].timed_out = true; }
void world_first_access(void) { begin(&events[at_event[schedule_current()]]); }

static void body(unsigned process) {
    for (unsigned i = 0; i < now->processes[process].count; i++) {
        at_event[process] = first_event[process] + i;
        event *one = &events[at_event[process]];
        larder_status status = world_do(process, &one->what, &one->saw);
        begin(one);
        one->status = status;
        one->done = true;
    }
}

static unsigned prepare_events(void) {
    unsigned processes = 0;
    event_count = 0;
    memset(events, 0, sizeof events);
    for (; processes < MOST_PROCESSES && now->processes[processes].count; processes++) {
        first_event[processes] = event_count;
        for (unsigned i = 0; i < now->processes[processes].count; i++) {
            events[event_count++] = (event){.what = now->processes[processes].operations[i], .process = processes};
        }
    }
    return processes;
}

/* What is held at the end, as operations after all others. */
static void look_at_all(event *list, unsigned *count) {
    unsigned before = those_done();
    for (unsigned k = 0; k < KEYS; k++) {
        event *one = &list[(*count)++];
        *one = (event){.what = {GET, k, 0, 0}, .process = JUDGE, .begun = true, .done = true, .before = before};
        one->status = world_do(JUDGE, &one->what, &one->saw);
    }
}

static bool holds(schedule_outcome outcome, char *why, size_t bytes) {
    event all[MOST_OPERATIONS + KEYS];
    unsigned count = event_count;
    if (outcome == ENDLESS) {
        snprintf(why, bytes, "it does not end");
        return false;
    }
    for (unsigned p = 0; p < MOST_PROCESSES; p++) {
        memory_drain(p);
    }
    memcpy(all, events, sizeof all);
    if (!world_is_sound(why, bytes)) {
        return false;
    }
    look_at_all(all, &count);
    if (!judge_explains(all, count, first_held, now)) {
        snprintf(why, bytes, "no order of the operations explains what they answered");
        memcpy(events, all, sizeof all);
        return false;
    }
    return true;
}

static void say_events(void) {
    static const char *const verbs[] = {"get",
                                        "exists",
                                        "set",
                                        "add",
                                        "replace",
                                        "cas",
                                        "delete",
                                        "increment",
                                        "touch",
                                        "clear",
                                        "prune",
                                        "add of what has expired",
                                        "replace by what has expired",
                                        "lease",
                                        "lease after all others have ended",
                                        "lease over a value",
                                        "fill",
                                        "end of the lease",
                                        "stamp",
                                        "deletion of a tag"};
    for (unsigned i = 0; i < MOST_OPERATIONS + KEYS; i++) {
        const event *one = &events[i];
        if (one->begun) {
            fprintf(stderr, "    %u: process %u: %s key %u (%d, %d): %s, saw %d, began after %x\n", i,
                    one->process, verbs[one->what.verb], one->what.key, one->what.value, one->what.expected,
                    one->done ? larder_status_name(one->status) : "never came back", one->saw, one->before);
        }
    }
}

static schedule_outcome run_once(unsigned processes) {
    bool may_die[MOST_PROCESSES];
    world_restore();
    prepare_events();
    for (unsigned p = 0; p < processes; p++) {
        may_die[p] = now->processes[p].may_die;
    }
    return schedule_run(processes, body, may_die);
}

static bool run_and_judge(unsigned processes, uint64_t seed) {
    char why[300];
    schedule_seed(seed);
    schedule_outcome outcome = run_once(processes);
    if (outcome == SEEN_BEFORE) {
        sum.cut++;
        return true;
    }
    sum.ended++;
    if (holds(outcome, why, sizeof why)) {
        return true;
    }
    fprintf(stderr, "FAILED: %s: %s\n", now->name, why);
    say_events();
    if (!told.quiet) {
        schedule_trace(true);
        schedule_seed(seed);
        run_once(processes);
        schedule_trace(false);
    }
    return false;
}

static unsigned deaths_allowed(void) {
    unsigned mortal = 0;
    for (unsigned p = 0; p < MOST_PROCESSES; p++) {
        mortal += now->processes[p].may_die;
    }
    return mortal;
}

static bool run_by_chance(unsigned processes, unsigned long runs) {
    schedule_limits limits = {
        .way = BY_CHANCE, .preemptions = 1, .deaths = deaths_allowed(), .changes = 3, .length = 200};
    schedule_begin(&limits, 0);
    for (unsigned long i = 0; i < runs; i++) {
        if (!run_and_judge(processes, i + 1)) {
            return false;
        }
        sum.by_chance++;
    }
    return true;
}

typedef enum { WRONG, EXHAUSTED, TOO_MANY } verdict;

static verdict search(unsigned processes, unsigned preemptions) {
    schedule_limits limits = {.way = BY_SEARCH, .preemptions = preemptions, .deaths = deaths_allowed()};
again:
    schedule_begin(&limits, told.states);
    do {
        if (!run_and_judge(processes, 0)) {
            return WRONG;
        }
        if (memory_grown()) {
            goto again;
        }
    } while (schedule_next() && !schedule_full());
    sum.states += schedule_states();
    return schedule_full() ? TOO_MANY : EXHAUSTED;
}

static bool explore(void) {
    world_make(now);
    now->prepare();
    world_prepared(now->strangers);
    for (unsigned k = 0; k < KEYS; k++) {
        world_do(JUDGE, &(operation){GET, k, 0, 0}, &first_held[k]);
    }
    unsigned processes = prepare_events();
    memory_model_is(told.memory);
    if (!run_by_chance(processes, 200 + told.chance)) {
        return false;
    }
    memory_grown();
    unsigned long before = sum.ended + sum.cut;
    int bound = -1;
    for (unsigned p = 0; p <= told.preemptions; p++) {
        verdict one = search(processes, p);
        if (one == WRONG) {
            return false;
        }
        if (one == TOO_MANY) {
            break;
        }
        sum.exhausted[p]++;
        bound = (int)p;
    }
    bool all = false;
    if (told.unbounded && bound == (int)told.preemptions) {
        verdict one = search(processes, UNBOUNDED);
        if (one == WRONG) {
            return false;
        }
        all = one == EXHAUSTED;
        sum.all += all;
    }
    sum.scenarios++;
    printf("%s: %lu executions, %u contended words, exhausted up to %d preemptions%s, %lu states\n", now->name,
           sum.ended + sum.cut - before, memory_contended(), bound, all ? " and without a bound" : "",
           schedule_states());
    fflush(stdout);
    return true;
}

static void read_options(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--blind") == 0) {
            lard_turn_blind = true;
        } else if (strcmp(argv[i], "--quiet") == 0) {
            told.quiet = true;
        } else if (strcmp(argv[i], "--unbounded") == 0) {
            told.unbounded = true;
        } else if (strcmp(argv[i], "--memory") == 0) {
            told.memory = strcmp(value, "tso") == 0    ? MODEL_TSO
                          : strcmp(value, "weak") == 0 ? MODEL_WEAK
                                                       : MODEL_SC;
            i++;
        } else if (strcmp(argv[i], "--preemptions") == 0) {
            told.preemptions = (unsigned)atoi(value);
            i++;
        } else if (strcmp(argv[i], "--states") == 0) {
            told.states = strtoul(value, NULL, 10);
            i++;
        } else if (strcmp(argv[i], "--chance") == 0) {
            told.chance = strtoul(value, NULL, 10);
            i++;
        } else if (strcmp(argv[i], "--only") == 0) {
            told.only = value;
            i++;
        } else {
            fprintf(stderr, "unknown option %s\n", argv[i]);
            exit(2);
        }
    }
}

static void say_counts(void) {
    static const char *const memories[] = {"no store buffers", "x86's store buffers", "stores out of order"};
    char with[80];
    snprintf(with, sizeof with, "%s, %s", memories[told.memory],
             lard_turn_blind ? "checksums that always fit" : "checksums");
    printf("@ %lu scenarios with %s\n", sum.scenarios, with);
    for (unsigned p = told.preemptions ? told.preemptions - 1 : 0; p <= told.preemptions && p < 8; p++) {
        printf("@ %lu of these in every schedule of up to %u preemptions (%s)\n", sum.exhausted[p], p, with);
    }
    if (told.unbounded) {
        printf("@ %lu of these in every schedule there is (%s)\n", sum.all, with);
    }
    printf("@ %lu executions to their end\n@ %lu executions up to a state met before\n", sum.ended, sum.cut);
    printf("@ %lu of the executions with a schedule drawn by chance\n", sum.by_chance);
    printf("@ %lu accesses of contended words\n@ %lu deaths\n", schedule_steps(), schedule_deaths());
    printf("@note A search ends early where a scenario has more states than --states lets it remember.\n");
    printf("@note A delete may also drop a value that is stored while it runs: this is allowed.\n");
}

int main(int argc, char **argv) {
    read_options(argc, argv);
    lard_crc_init();
    now = &scenarios[0];
    prepare_events();
    unsigned litmuses = litmus_agree(told.memory);
    if (litmuses == 0) {
        return 1;
    }
    for (unsigned i = 0; i < scenario_count; i++) {
        now = &scenarios[i];
        if (strstr(now->name, told.only) && !explore()) {
            return 1;
        }
    }
    printf("@ %u small programs that show what a memory of their kind is known to show\n", litmuses);
    say_counts();
    return 0;
}
