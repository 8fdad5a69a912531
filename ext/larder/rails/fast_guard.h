/*
 * fast_guard.h — may a call of a store take the fast path?
 */
#ifndef LARDER_FAST_GUARD_H
#define LARDER_FAST_GUARD_H

#include "rails/fast_handle.h"

/* What C does for a store: name in C, method, bit. FastPath::TAKEN has the bits. CALLS is whole calls, and the
 * highest bit: those stores are listed first. */
#define FAST_TAKEN_LIST(X)              \
    X(KEYS, "normalize_key", 1)         \
    X(EXPANDED, "expanded_key", 2)      \
    X(VERSIONS, "normalize_version", 4) \
    X(OPTIONS, "merged_options", 8)     \
    X(NOTHING, "unpatched?", 16)        \
    X(EVENTS, "instrument", 32)         \
    X(CALLS, "fetch", 64)

enum fast_taken {
#define FAST_TAKEN_ENUM(name, method, bit) FAST_TAKEN_##name = (bit),
    FAST_TAKEN_LIST(FAST_TAKEN_ENUM)
#undef FAST_TAKEN_ENUM
};

void fast_guard_init(VALUE module);

/*
 * May a call be answered in C? The store's class is as we know it, unpatched and without a singleton class; no
 * event has a subscriber whose payload C does not know; the debug log is off; the cache is attached. Fills
 * `*store` then.
 */
bool fast_guard_passes(VALUE self, fast_store *store);

/* May C take this step of the store's calls, those too that it does not answer? */
bool fast_guard_takes(VALUE self, enum fast_taken step);

#endif
