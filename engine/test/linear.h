/*
 * linear.h — decides whether a recorded history of one key is linearizable (Herlihy, Wing 1990).
 *
 * The search is that of Wing and Gong (1993): it removes, one after the other, an operation before which no other
 * one had ended, if its result fits the state. It remembers sets of operations and states that led nowhere, as
 * Lowe (2017) does. Keys are checked one by one, because linearizability is local. An operation without an end,
 * whose process was killed, may have happened at any time after it began, or never.
 */
#ifndef LARD_LINEAR_H
#define LARD_LINEAR_H

#include "harness.h"

typedef enum { DO_GET, DO_SET, DO_ADD, DO_REPLACE, DO_DELETE, DO_INCREMENT, DO_SWAP, KINDS } kind;

typedef struct {
    uint64_t began, ended; /* by one clock for all processes; ended 0: never */
    int64_t number;        /* to store, or to add */
    int64_t expected;      /* of DO_SWAP */
    int64_t answer;        /* of DO_GET and DO_INCREMENT */
    larder_status status;
    uint8_t kind, key, process;
    bool again; /* the same delete once more: see is_linearizable */
} operation;

typedef struct { /* what a key may be, to the specification */
    bool present;
    int64_t number;
} key_state;

enum { MOST_OF_A_KEY = 64, MEMORY = 1 << 18, INITIAL = 100 /* of a counter that was absent */ };

static struct {
    uint64_t done;
    int64_t number;
    uint32_t history;
    bool present;
} visited[MEMORY];
static uint32_t history_number, visits;

/* Whether the answer fits; *after is what the key is then. An operation that never ended answered anything. */
static inline bool fits(const operation *op, key_state before, key_state *after) {
    bool any = op->ended == 0, refused = op->status == LARDER_BUSY || op->status == LARDER_FULL;
    bool equal = before.present && before.number == op->expected;
    key_state stored = {true, op->number}, nothing = {false, 0};
    *after = before;
    switch ((kind)op->kind) {
    case DO_GET:
        return any || (op->status == LARDER_OK ? before.present && before.number == op->answer
                                               : op->status == LARDER_MISS && !before.present);
    case DO_SET: /* refused, it has dropped the old value */
        *after = !any && refused ? nothing : stored;
        return any || refused || op->status == LARDER_OK;
    case DO_ADD:
        *after = before.present || (!any && refused) ? before : stored;
        return any || refused || op->status == (before.present ? LARDER_NOT_STORED : LARDER_OK);
    case DO_REPLACE:
        *after = !any && refused ? nothing : before.present ? stored : before;
        return any || refused || op->status == (before.present ? LARDER_OK : LARDER_NOT_STORED);
    case DO_DELETE:
        *after = nothing;
        return any || op->status == (before.present ? LARDER_OK : LARDER_MISS);
    case DO_INCREMENT:
        *after =
            !any && refused ? before : (key_state){true, (before.present ? before.number : INITIAL) + op->number};
        return any || refused || (op->status == LARDER_OK && op->answer == after->number);
    case DO_SWAP:
        *after = equal && (any || !refused) ? stored : before;
        return any || refused ||
               op->status == (equal            ? LARDER_OK
                              : before.present ? LARDER_NOT_STORED
                                               : LARDER_MISS);
    default:
        return false;
    }
}

/* True where this set of operations and this state were tried before. */
static inline bool tried(uint64_t done, key_state state) {
    uint64_t hash =
        done * 0x9e3779b97f4a7c15ull ^ ((uint64_t)state.number * 2 + state.present) * 0xbf58476d1ce4e5b9ull;
    for (uint64_t at = hash >> 40;; at++) {
        uint32_t i = (uint32_t)at % MEMORY;
        if (visited[i].history != history_number) {
            visited[i].done = done;
            visited[i].number = state.number;
            visited[i].present = state.present;
            visited[i].history = history_number;
            visits++;
            return false;
        }
        if (visited[i].done == done && visited[i].number == state.number && visited[i].present == state.present) {
            return true;
        }
    }
}

/* Whether something came after it already that began after its end: then it is too late to be done again. */
static inline bool is_late(const operation *ops, int count, uint64_t done, const operation *op) {
    for (int i = 0; op->again && op->ended && i < count; i++) {
        if (done >> i & 1 && ops[i].began > op->ended) {
            return true;
        }
    }
    return false;
}

static inline bool search(const operation *ops, int count, uint64_t done, key_state state) {
    uint64_t first_end = UINT64_MAX;
    for (int i = 0; i < count; i++) {
        if (!(done >> i & 1) && !ops[i].again && ops[i].ended && ops[i].ended < first_end) {
            first_end = ops[i].ended;
        }
    }
    if (first_end == UINT64_MAX) {
        return true; /* only such are left as never ended */
    }
    if (visits > MEMORY / 2) {
        fprintf(stderr, "  the search is too long\n");
        exit(1);
    }
    for (int i = 0; i < count; i++) {
        key_state after;
        if (!(done >> i & 1) && ops[i].began < first_end && !is_late(ops, count, done, &ops[i]) &&
            fits(&ops[i], state, &after) && !tried(done | 1ull << i, after) &&
            search(ops, count, done | 1ull << i, after)) {
            return true;
        }
    }
    return false;
}

/*
 * The operations of one key, at most MOST_OF_A_KEY, on what was absent before. A delete that meets a split or a
 * move looks again, and takes away what was stored since it began, too: the cache may forget that. So a history
 * that has no order otherwise is looked at with each delete done twice; what is deleted stays so in either case.
 */
static inline bool is_linearizable(const operation *ops, int count) {
    operation more[MOST_OF_A_KEY];
    int all = count;
    history_number++;
    visits = 0;
    if (search(ops, count, 0, (key_state){false, 0})) {
        return true;
    }
    memcpy(more, ops, (size_t)count * sizeof *ops);
    for (int i = 0; i < count && all < MOST_OF_A_KEY; i++) {
        if (ops[i].kind == DO_DELETE && (!ops[i].ended || ops[i].status == LARDER_OK)) {
            more[all] = ops[i];
            more[all].status = LARDER_OK;
            more[all++].again = true;
        }
    }
    history_number++;
    visits = 0;
    return all > count && search(more, all, 0, (key_state){false, 0});
}

static inline void print_history(const operation *ops, int count) {
    static const char *names[KINDS] = {"get", "set", "add", "replace", "delete", "increment", "swap"};
    for (int i = 0; i < count; i++) {
        const operation *op = &ops[i];
        fprintf(stderr, "  %5llu–%5llu process %d: %s %lld (expects %lld) → %s %lld\n",
                (unsigned long long)op->began, (unsigned long long)op->ended, op->process, names[op->kind],
                (long long)op->number, (long long)op->expected,
                op->ended ? larder_status_name(op->status) : "killed", (long long)op->answer);
    }
}

#endif
