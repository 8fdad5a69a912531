/*
 * fast_guard.h — may a call of a store take the fast path?
 */
#ifndef LARDER_FAST_GUARD_H
#define LARDER_FAST_GUARD_H

#include "rails/fast_handle.h"
#include "rails/fast_instrumentation.h"

/* What the fast path does: name, Ruby's name, events whose subscribers send a call to the ordinary path. */
#define FAST_OPERATION_LIST(X)                                                       \
    X(fetch, "fetch", FAST_EVENT_FETCH_HIT | FAST_EVENT_GENERATE | FAST_EVENT_WRITE) \
    X(read, "read", FAST_EVENT_OLD_PAYLOADS)                                         \
    X(write, "write", FAST_EVENT_WRITE)                                              \
    X(delete, "delete", FAST_EVENT_DELETE)                                           \
    X(exist, "exist?", FAST_EVENT_EXIST)                                             \
    X(read_multi, "read_multi", FAST_EVENT_READ_MULTI)                               \
    X(write_multi, "write_multi", FAST_EVENT_WRITE_MULTI)                            \
    X(fetch_multi, "fetch_multi", FAST_EVENT_READ_MULTI | FAST_EVENT_WRITE_MULTI)

enum {
#define FAST_EVENTS_OF(name, text, events) FAST_EVENTS_OF_##name = (events),
    FAST_OPERATION_LIST(FAST_EVENTS_OF)
#undef FAST_EVENTS_OF
};

void fast_guard_init(VALUE module);

/*
 * May a call that would send `events` be answered in C? The store's class is as we know it, unpatched and without
 * a singleton class; no event has a subscriber; the debug log is off; the cache is attached. Fills `*store` then.
 */
bool fast_guard_passes(VALUE self, unsigned events, fast_store *store);

#endif
