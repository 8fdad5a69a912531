/*
 * fast_guard.h — may a call of a store take the fast path?
 */
#ifndef LARDER_FAST_GUARD_H
#define LARDER_FAST_GUARD_H

#include "rails/fast_handle.h"

/*
 * The steps that C may take for the stores of a class: name here, name in FastPath::STEPS, bit. All but the last
 * two are steps of calls on the ordinary path, see fast_steps.c; FastPath::METHODS_OF_STEPS has the methods of
 * Rails that they replace. UNPATCHED: only methods above Store::Entries were patched, so it may take a
 * call without Rails. CALL: fast_path.c answers a whole call. It is the highest bit: the classes that have it are
 * listed first.
 */
#define FAST_STEP_LIST(X)              \
    X(KEY, "key", 1)                   \
    X(EXPANDED_KEY, "expanded_key", 2) \
    X(VERSION, "version", 4)           \
    X(OPTIONS, "options", 8)           \
    X(EVENT, "event", 16)              \
    X(UNPATCHED, "unpatched", 32)      \
    X(CALL, "call", 64)

enum fast_step {
#define FAST_STEP_ENUM(name, text, bit) FAST_STEP_##name = (bit),
    FAST_STEP_LIST(FAST_STEP_ENUM)
#undef FAST_STEP_ENUM
};

void fast_guard_init(VALUE module);

/*
 * May a call be answered in C? The store's class is as we know it, unpatched and without a singleton class; no
 * event has a subscriber whose payload C does not know; the debug log is off; the cache is attached. Fills
 * `*store` then.
 */
bool fast_guard_passes(VALUE self, fast_store *store);

/* True if C may take this step of a call that it does not answer. */
bool fast_guard_takes(VALUE self, enum fast_step step);

#endif
