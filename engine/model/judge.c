/*
 * judge.c — explains an execution by a sequence of operations.
 *
 * It searches for an order in which each operation returns what it did return, and in which an operation that
 * ended before another one began comes first (linearizability: Herlihy, Wing, 1990). An operation that never
 * returned may have had its effect or not. A key that may be evicted can be missing from any time on. A delete
 * drops what it finds while it runs: also a value that was stored after it had dropped another one. That is more
 * than it must do, but no error.
 */
#include "world.h"

#include <string.h>

typedef struct {
    const event *events;
    unsigned count, forgettable;
} trial;

/* Of a compare and swap that names a life, or none. */
static bool is_expected(int held, int expected) { return held == expected || held % LIFE == expected; }

/* What an operation that was done says of the state, and what it makes of it; false where it contradicts it. */
static bool follows(const event *one, int *held) {
    const operation *what = &one->what;
    int *at = &held[what->key];
    bool ok = one->status == LARDER_OK;
    switch (what->verb) {
    case GET:
        return ok ? one->saw == *at && *at != 0 : one->status == LARDER_MISS && *at == 0;
    case TOUCH:
        if (ok && *at != 0) {
            *at = *at % LIFE + what->value * LIFE;
            return true;
        }
        return one->status == LARDER_BUSY || (one->status == LARDER_MISS && *at == 0);
    case EXISTS:
        return one->status == LARDER_BUSY || (ok ? *at != 0 : one->status == LARDER_MISS && *at == 0);
    case SET:
        *at = ok ? what->value : 0; /* refused, it drops what was there */
        return ok || one->status == LARDER_BUSY || one->status == LARDER_FULL;
    case ADD:
    case REPLACE:
        if (one->status == LARDER_BUSY) {
            *at = what->verb == REPLACE ? 0 : *at;
            return true;
        }
        if (ok ? (*at == 0) != (what->verb == ADD) : (*at == 0) == (what->verb == ADD)) {
            return false;
        }
        *at = ok ? what->value : *at;
        return ok || one->status == LARDER_NOT_STORED;
    case CAS:
        if (ok && is_expected(*at, what->expected)) {
            *at = what->value;
            return true;
        }
        return one->status == LARDER_BUSY || (one->status == LARDER_MISS && *at == 0) ||
               (one->status == LARDER_NOT_STORED && *at != 0 && !is_expected(*at, what->expected));
    case DELETE:
        if (ok != (*at != 0)) {
            return false;
        }
        *at = 0;
        return ok || one->status == LARDER_MISS;
    case ADD_EXPIRED:
        return ok ? *at == 0 : one->status == LARDER_NOT_STORED && *at != 0;
    case REPLACE_EXPIRED:
        if (ok != (*at != 0)) {
            return false;
        }
        *at = 0;
        return ok || one->status == LARDER_NOT_STORED;
    case INCREMENT:
        if (one->status == LARDER_BUSY || one->status == LARDER_NOT_A_NUMBER) {
            return one->status == LARDER_BUSY || (*at != 0 && *at % LIFE < NUMBER);
        }
        *at = (*at ? *at : NUMBER) + what->value;
        return ok && one->saw == *at % LIFE;
    case CLEAR:
        memset(held, 0, KEYS * sizeof *held);
        return ok;
    default:
        return ok || one->status == LARDER_BUSY;
    }
}

/* The effect of one that never came back. */
static void takes_effect(const event *one, int *held) {
    event done = *one;
    done.status = LARDER_OK;
    done.saw = 0;
    int before = held[one->what.key];
    if (one->what.verb == INCREMENT) {
        held[one->what.key] = (before ? before : NUMBER) + one->what.value;
        return;
    }
    if (!follows(&done, held) && one->what.verb != DELETE) {
        held[one->what.key] = before;
    }
}

static bool explain(const trial *of, unsigned placed, const int *held);

static bool explain_after(const trial *of, unsigned placed, unsigned i, const int *held, bool lost) {
    int next[KEYS];
    memcpy(next, held, sizeof next);
    if (lost) {
        takes_effect(&of->events[i], next);
    } else if (!follows(&of->events[i], next)) {
        return false;
    }
    return explain(of, placed | 1u << i, next);
}

/* Is a delete of the key, or a refused store, which is one, still running? */
static bool is_being_deleted(const trial *of, unsigned placed, unsigned key) {
    unsigned over = 0; /* what was over when something began that has its place already */
    for (unsigned i = 0; i < of->count; i++) {
        over |= placed >> i & 1 ? of->events[i].before : 0;
    }
    for (unsigned i = 0; i < of->count; i++) {
        const event *one = &of->events[i];
        bool refused = one->done ? one->status == LARDER_BUSY || one->status == LARDER_FULL : one->timed_out;
        bool deletes = one->what.verb == DELETE || one->what.verb == REPLACE_EXPIRED ||
                       (refused && (one->what.verb == SET || one->what.verb == REPLACE));
        if (deletes && one->what.key == key && (placed & ~over) >> i & 1) {
            return true;
        }
    }
    return false;
}

static bool explain(const trial *of, unsigned placed, const int *held) {
    bool all = true;
    for (unsigned i = 0; i < of->count; i++) {
        const event *one = &of->events[i];
        if (placed >> i & 1 || !one->begun) {
            continue;
        }
        all &= !one->done;
        if ((one->before & ~placed) == 0 && explain_after(of, placed, i, held, !one->done)) {
            return true;
        }
    }
    if (all) {
        return true;
    }
    for (unsigned k = 0; k < KEYS; k++) {
        if (held[k] && (of->forgettable >> k & 1 || is_being_deleted(of, placed, k))) {
            int next[KEYS];
            memcpy(next, held, sizeof next);
            next[k] = 0;
            if (explain(of, placed, next)) {
                return true;
            }
        }
    }
    return false;
}

bool judge_explains(const event *events, unsigned count, const int *first, unsigned forgettable) {
    trial of = {events, count, forgettable};
    for (unsigned i = 0; i < count; i++) {
        if (events[i].done && events[i].saw == TORN) {
            return false;
        }
    }
    return explain(&of, 0, first);
}
