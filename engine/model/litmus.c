/*
 * litmus.c — checks that the scheduler's memory shows exactly what a memory of its kind can show.
 *
 * The classic small programs run in every schedule. Their outcomes are compared with what is known of x86 (Owens,
 * Sarkar, Sewell, "A better x86 memory model: x86-TSO", 2009) and of stores out of order.
 */
#include "world.h"

#include <stdio.h>

static lard_u64 *x, *y;
static uint64_t one, two;

static void store_buffering(unsigned process) {
    lard_store(process ? y : x, 1);
    *(process ? &two : &one) = lard_load(process ? x : y);
}

static void fenced_store_buffering(unsigned process) {
    lard_store(process ? y : x, 1);
    lard_fence();
    *(process ? &two : &one) = lard_load(process ? x : y);
}

static void message(unsigned process) {
    if (process == 0) {
        lard_store(x, 1);
        lard_store(y, 1);
    } else {
        one = lard_load(y);
        two = lard_load(x);
    }
}

static void released_message(unsigned process) {
    if (process == 0) {
        lard_store(x, 1);
        lard_store_release(y, 1);
    } else {
        message(process);
    }
}

static void fenced_message(unsigned process) {
    if (process == 0) {
        lard_store(x, 1);
        lard_fence_release();
        lard_store(y, 1);
    } else {
        message(process);
    }
}

static void swapped_message(unsigned process) {
    if (process == 0) {
        lard_store(x, 1);
        lard_swap(y, 1);
    } else {
        message(process);
    }
}

static void own_store(unsigned process) { /* nobody reads what was before its own store */
    lard_store(x, process + 1);
    *(process ? &two : &one) = lard_load(x) != 0;
}

static const struct {
    const char *name;
    void (*body)(unsigned);
    uint64_t one, two;
    bool shown[3]; /* by MODEL_SC, MODEL_TSO, MODEL_WEAK */
} litmuses[] = {
    {"store buffering", store_buffering, 0, 0, {false, true, true}},
    {"store buffering with fences", fenced_store_buffering, 0, 0, {false, false, false}},
    {"message passing", message, 1, 0, {false, false, true}},
    {"message passing by a release store", released_message, 1, 0, {false, false, false}},
    {"message passing after a release fence", fenced_message, 1, 0, {false, false, false}},
    {"message passing by a swap", swapped_message, 1, 0, {false, false, false}},
    {"a load of one's own store", own_store, 0, 1, {false, false, false}},
};

static bool is_shown(unsigned which) {
    static const bool immortal[MOST_PROCESSES];
    const schedule_limits limits = {.way = BY_SEARCH, .preemptions = UNBOUNDED};
    bool shown = false;
    for (bool again = true; again;) {
        again = false;
        schedule_begin(&limits, 100000);
        do {
            one = two = UINT64_MAX;
            world_restore();
            schedule_outcome outcome = schedule_run(2, litmuses[which].body, immortal);
            shown |= outcome == ENDED && one == litmuses[which].one && two == litmuses[which].two;
            again = memory_grown();
        } while (!again && schedule_next());
    }
    return shown;
}

unsigned litmus_agree(memory_model model) {
    static const scenario none = {.name = "litmus"};
    unsigned agreed = 0, count = sizeof litmuses / sizeof *litmuses;
    memory_model_is(model);
    for (unsigned i = 0; i < count; i++) {
        world_make(&none);
        world_prepared(true);
        lard_view view = world_view();
        x = (lard_u64 *)(view.base + view.map->super.data_offset); /* any two words will do */
        y = x + 8;
        lard_store(x, 0);
        lard_store(y, 0);
        if (is_shown(i) != litmuses[i].shown[model]) {
            fprintf(stderr, "FAILED: %s: this memory %s\n", litmuses[i].name,
                    litmuses[i].shown[model] ? "does not show what it should" : "shows what it should not");
            return 0;
        }
        agreed++;
    }
    return agreed;
}
