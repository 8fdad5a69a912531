/*
 * choice.h — which calls of a scenario fail, and how (attempts.h plays them).
 *
 * With LARDER_CALLS set each call fails in each way with each errno. Otherwise the number of attempts is bounded
 * by the places in the code from which calls are made: a place is the chain of a call's callers, and a loop makes
 * all its calls at one place. In each scenario the first and the last call of each place fail once, with an errno
 * that this place has not had yet, and do a part of their work where a call can. In the first scenario that comes
 * to a place, its calls also fail with an errno that asks for another try, together with the next call, and for
 * good. In each scenario each kind of call fails for good from its first call on.
 */
#ifndef LARD_CHOICE_H
#define LARD_CHOICE_H

#include "calls.h"

enum { MOST_CODES = 12, MOST_CHOICES = MOST_CODES * WAYS, MOST_PLACES = 4096 };

typedef struct {
    int code, way;
} choice;

typedef struct {
    bool only_for_good;
    int count;
    choice list[MOST_CHOICES];
} choices;

typedef struct {
    uint64_t place; /* 0: free */
    unsigned had;   /* bit i: it failed with the kind's code of number i */
} known_place;

static known_place known_places[MOST_PLACES];
static unsigned long places_known;

/* A signal ends, a lock or memory becomes free: another try may succeed. */
static inline bool asks_again(int code) { return code == EINTR || code == EAGAIN; }

static known_place *known(uint64_t place) {
    for (uint64_t i = place;; i++) {
        known_place *at = &known_places[i % MOST_PLACES];
        if (at->place == place) {
            return at;
        }
        if (!at->place) {
            places_known++;
            at->place = place;
            return at;
        }
    }
}

static bool all_calls(void) { return getenv("LARDER_CALLS") != NULL; }

static bool comes_again(const call_list *calls, unsigned long at, unsigned long from, unsigned long to) {
    for (unsigned long i = from; i <= to; i++) {
        if (calls->place[i] == calls->place[at]) {
            return true;
        }
    }
    return false;
}

/* Neither the first nor the last call of its place. */
static bool is_amid_others(const call_list *calls, unsigned long at) {
    return comes_again(calls, at, 1, at - 1) && comes_again(calls, at, at + 1, calls->count);
}

static inline bool is_first_of_kind(const call_list *calls, unsigned long at) {
    return !memchr(calls->kind + 1, calls->kind[at], at - 1);
}

/* An errno that this place has not had; when it had all, they begin again. */
static inline int next_errno(known_place *place, const int *codes) {
    for (int again = 0; again < 2; again++) {
        for (int i = 0; codes[i]; i++) {
            if (codes[i] > 0 && !(place->had & 1u << i)) {
                place->had |= 1u << i;
                return codes[i];
            }
        }
        place->had = 0;
    }
    return codes[0];
}

static inline void add_choice(choices *out, int code, int way) {
    if (way == FOR_GOOD ? code != EINTR : !out->only_for_good) {
        out->list[out->count++] = (choice){code, way};
    }
}

static inline void choose_all(const int *codes, choices *out) {
    for (int way = ONCE; way < WAYS; way++) {
        for (int i = 0; codes[i]; i++) {
            add_choice(out, codes[i], way);
        }
    }
}

static inline void choose_some(const call_list *calls, unsigned long at, choices *out) {
    const int *codes = kinds[calls->kind[at]].codes;
    known_place *place = known(calls->place[at]);
    bool is_new = !place->had || out->only_for_good;
    int once = out->only_for_good ? codes[0] : next_errno(place, codes);
    add_choice(out, once, ONCE);
    for (int i = 0; codes[i]; i++) {
        if (codes[i] < 0 || (is_new && asks_again(codes[i]) && codes[i] != once)) {
            add_choice(out, codes[i], ONCE);
        }
        if (is_new && (i == 0 || codes[i] < 0 || out->only_for_good)) {
            add_choice(out, codes[i], TWICE);
            add_choice(out, codes[i], FOR_GOOD);
        }
    }
    if (!is_new && is_first_of_kind(calls, at)) {
        add_choice(out, codes[0], FOR_GOOD);
    }
}

/* How the call of number `at` fails. */
static inline void choose(const call_list *calls, unsigned long at, choices *out) {
    out->count = 0;
    if (all_calls()) {
        choose_all(kinds[calls->kind[at]].codes, out);
    } else if (!is_amid_others(calls, at)) {
        choose_some(calls, at, out);
    }
}

#endif
