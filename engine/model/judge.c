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

/* What the keys hold, then who has the lease of each: the process + 1, or 0; then the stamp of each process. */
#define STAMPS (2 * KEYS)
#define STATE (STAMPS + MOST_PROCESSES + 1)

/* A stamp: 0 of before all operations, or the number + 1 of the operation that took it, or no longer good. */
enum { OUTDATED = -1, CLEARED = -2, UNKNOWN = -3 };
/* Added to what a key holds: it may also hold nothing. */
#define PERHAPS 100000

static bool is_tagged(int held) { return held % LIFE % NUMBER >= TAGGED && held % LIFE < TAGGED + 10; }

/* The answer tells what was unknown. */
static void learn(int *at, bool is_there) {
    if (*at >= PERHAPS) {
        *at = is_there ? *at - PERHAPS : 0;
    }
}

/* A deletion makes stamps outdated when it begins and items absent when it ends: in between a new stamp may be of
 * before it or not. */
static void delete_tag(const event *one, int *held) {
    for (unsigned k = 0; k < KEYS; k++) {
        if (is_tagged(held[k] % PERHAPS)) {
            held[k] = 0;
        }
    }
    for (unsigned p = 0; p <= MOST_PROCESSES; p++) {
        int *stamp = &held[STAMPS + p];
        if (*stamp >= 0) {
            bool was_before = *stamp == 0 || (one->before >> (*stamp - 1) & 1);
            *stamp = was_before ? OUTDATED : UNKNOWN;
        }
    }
}

/* A store with tags that was done. */
static bool stores_tagged(const event *one, int *held) {
    int *at = &held[one->what.key], *lease = &held[KEYS + one->what.key], stamp = held[STAMPS + one->process];
    *lease = 0;
    if (one->status == LARDER_NOT_STORED) {
        return stamp == CLEARED;
    }
    *at = one->status != LARDER_OK || stamp == OUTDATED ? 0
          : stamp == UNKNOWN                            ? PERHAPS + one->what.value
                                                        : one->what.value;
    return stamp != CLEARED || one->status != LARDER_OK;
}

/* May the process have died? Then its lease is free. */
static bool may_be_dead(const trial *of, int process) {
    for (unsigned i = 0; i < of->count; i++) {
        if ((int)of->events[i].process == process && !of->events[i].done) {
            return true;
        }
    }
    return false;
}

/* A lease of an absent key is taken by one only; one with a value keeps it. */
static bool takes_lease(const trial *of, const event *one, int *held) {
    int at = held[one->what.key], *lease = &held[KEYS + one->what.key];
    switch (one->status) {
    case LARDER_OK:
        if ((at != 0 && one->what.verb != LEASE_OVER) ||
            (*lease && one->what.verb != LEASE_LATE && !may_be_dead(of, *lease - 1))) {
            return false;
        }
        *lease = (int)one->process + 1;
        return true;
    case LARDER_LEASED:
        return *lease != 0;
    case LARDER_NOT_STORED:
        return at != 0;
    default:
        return one->status == LARDER_BUSY || one->status == LARDER_FULL;
    }
}

/* What is stored under a lease, or ends it. */
static bool uses_lease(const event *one, int *held) {
    int *lease = &held[KEYS + one->what.key];
    bool is_own = *lease == (int)one->process + 1;
    if (one->status == LARDER_BUSY) {
        return true;
    }
    if (one->status == LARDER_NOT_STORED || !is_own) {
        return one->status == LARDER_NOT_STORED && !is_own;
    }
    *lease = 0;
    if (one->what.verb == FILL && is_tagged(one->what.value)) {
        return stores_tagged(one, held);
    }
    if (one->what.verb == FILL) {
        held[one->what.key] = one->status == LARDER_OK ? one->what.value : 0;
    }
    return one->status == LARDER_OK || one->status == LARDER_FULL;
}

/* Of a compare and swap that names a life, or none. */
static bool is_expected(int held, int expected) { return held == expected || held % LIFE == expected; }

/* What an operation that was done says of the state, and what it makes of it; false where it contradicts it. */
static bool follows(const trial *of, const event *one, int *held) {
    const operation *what = &one->what;
    int *at = &held[what->key], *lease = &held[KEYS + what->key];
    bool ok = one->status == LARDER_OK;
    switch (what->verb) {
    case GET:
        learn(at, ok);
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
        if (is_tagged(what->value)) {
            return stores_tagged(one, held);
        }
        *lease = 0;
        *at = ok ? what->value : 0; /* refused, it drops what was there */
        return ok || one->status == LARDER_BUSY || one->status == LARDER_FULL;
    case ADD:
    case REPLACE:
        if (one->status == LARDER_BUSY) {
            *at = what->verb == REPLACE ? 0 : *at;
            *lease = what->verb == REPLACE ? 0 : *lease;
            return true;
        }
        if (ok ? (*at == 0) != (what->verb == ADD) : (*at == 0) == (what->verb == ADD)) {
            return false;
        }
        *at = ok ? what->value : *at;
        *lease = ok ? 0 : *lease;
        return ok || one->status == LARDER_NOT_STORED;
    case CAS:
        if (ok && is_expected(*at, what->expected)) {
            *at = what->value;
            *lease = 0;
            return true;
        }
        return one->status == LARDER_BUSY || (one->status == LARDER_MISS && *at == 0) ||
               (one->status == LARDER_NOT_STORED && *at != 0 && !is_expected(*at, what->expected));
    case DELETE:
        learn(at, ok);
        if (ok != (*at != 0)) {
            return false;
        }
        *at = *lease = 0;
        return ok || one->status == LARDER_MISS;
    case ADD_EXPIRED:
        return ok ? *at == 0 : one->status == LARDER_NOT_STORED && *at != 0;
    case REPLACE_EXPIRED:
        if (ok != (*at != 0)) {
            return false;
        }
        *at = *lease = 0;
        return ok || one->status == LARDER_NOT_STORED;
    case INCREMENT:
        if (one->status == LARDER_BUSY || one->status == LARDER_NOT_A_NUMBER) {
            return one->status == LARDER_BUSY || (*at != 0 && *at % LIFE < NUMBER);
        }
        *at = (*at ? *at : NUMBER) + what->value;
        *lease = 0;
        return ok && one->saw == *at % LIFE;
    case CLEAR:
        memset(held, 0, STAMPS * sizeof *held);
        for (unsigned p = 0; p <= MOST_PROCESSES; p++) {
            held[STAMPS + p] = CLEARED;
        }
        return ok;
    case LEASE:
    case LEASE_LATE:
    case LEASE_OVER:
        return takes_lease(of, one, held);
    case FILL:
    case END:
        return uses_lease(one, held);
    case STAMP:
        held[STAMPS + one->process] = (int)(one - of->events) + 1;
        return ok;
    case DELETE_TAG:
        if (!what->value) {
            delete_tag(one, held);
        }
        return ok;
    default:
        return ok || one->status == LARDER_BUSY;
    }
}

/* The effect of one that never came back. */
static void takes_effect(const trial *of, const event *one, int *held) {
    event done = *one;
    done.status = LARDER_OK;
    done.saw = 0;
    int before = held[one->what.key], lease = held[KEYS + one->what.key];
    if (one->what.verb == INCREMENT) {
        held[one->what.key] = (before ? before : NUMBER) + one->what.value;
        held[KEYS + one->what.key] = 0;
        return;
    }
    if (!follows(of, &done, held) && one->what.verb != DELETE) {
        held[one->what.key] = before;
        held[KEYS + one->what.key] = lease;
    }
}

static bool explain(const trial *of, unsigned placed, const int *held);

static bool explain_after(const trial *of, unsigned placed, unsigned i, const int *held, bool lost) {
    int next[STATE];
    memcpy(next, held, sizeof next);
    if (lost) {
        takes_effect(of, &of->events[i], next);
    } else if (!follows(of, &of->events[i], next)) {
        return false;
    }
    return explain(of, placed | 1u << i, next);
}

/* Is a delete of the key, or a refused store, which is one, still running? It has dropped something if it has its
 * place already; a placeholder it drops also before that, as its answer does not tell. */
static bool is_being_deleted(const trial *of, unsigned placed, unsigned key, bool only_lease) {
    unsigned over = 0; /* what was over when something began that has its place already */
    for (unsigned i = 0; i < of->count; i++) {
        over |= placed >> i & 1 ? of->events[i].before : 0;
    }
    for (unsigned i = 0; i < of->count; i++) {
        const event *one = &of->events[i];
        bool refused = one->done ? one->status == LARDER_BUSY || one->status == LARDER_FULL : one->timed_out;
        bool deletes = one->what.verb == DELETE || one->what.verb == REPLACE_EXPIRED ||
                       (refused && (one->what.verb == SET || one->what.verb == REPLACE));
        bool is_placed = (placed & ~over) >> i & 1;
        bool is_next = only_lease && one->begun && !(placed >> i & 1) && (one->before & ~placed) == 0;
        if (deletes && one->what.key == key && (is_placed || is_next)) {
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
        if ((held[k] || held[KEYS + k]) &&
            (of->forgettable >> k & 1 || is_being_deleted(of, placed, k, !held[k]))) {
            int next[STATE];
            memcpy(next, held, sizeof next);
            next[k] = next[KEYS + k] = 0;
            if (explain(of, placed, next)) {
                return true;
            }
        }
    }
    return false;
}

bool judge_explains(const event *events, unsigned count, const int *first, const scenario *now) {
    trial of = {events, count, now->forgettable};
    int state[STATE] = {0};
    memcpy(state, first, KEYS * sizeof *state);
    state[KEYS] = (int)now->leased;
    for (unsigned i = 0; i < count; i++) {
        if (events[i].done && events[i].saw == TORN) {
            return false;
        }
    }
    return explain(&of, 0, state);
}
