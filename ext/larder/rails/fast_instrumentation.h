/*
 * fast_instrumentation.h — which events of ActiveSupport's cache have subscribers.
 */
#ifndef LARDER_FAST_INSTRUMENTATION_H
#define LARDER_FAST_INSTRUMENTATION_H

#include <ruby.h>
#include <stdbool.h>

/* The events that the fast path would have to send: name in C, operation, bit. FastPath::EVENTS has the bits. */
#define FAST_EVENT_LIST(X)            \
    X(READ, "read", 1)                \
    X(FETCH_HIT, "fetch_hit", 2)      \
    X(GENERATE, "generate", 4)        \
    X(WRITE, "write", 8)              \
    X(READ_MULTI, "read_multi", 16)   \
    X(WRITE_MULTI, "write_multi", 32) \
    X(DELETE, "delete", 64)           \
    X(EXIST, "exist?", 128)

enum fast_event {
#define FAST_EVENT_ENUM(name, operation, bit) FAST_EVENT_##name = (bit),
    FAST_EVENT_LIST(FAST_EVENT_ENUM)
#undef FAST_EVENT_ENUM
        FAST_EVENT_STALE = 256,    /* "stale.larder", which Store::Computation sends */
    FAST_EVENT_OLD_PAYLOADS = 512, /* there is a subscriber, and this Rails' payloads are not those C knows */
};

/* Their numbers, in the same order. */
enum fast_event_number {
#define FAST_EVENT_NUMBER(name, operation, bit) FAST_EVENT_NUMBER_##name,
    FAST_EVENT_LIST(FAST_EVENT_NUMBER)
#undef FAST_EVENT_NUMBER
        FAST_EVENT_COUNT
};

#pragma GCC visibility push(hidden)
extern unsigned fast_instrumentation_subscribed; /* events that may have a subscriber */
#pragma GCC visibility pop

void fast_instrumentation_init(VALUE module);

/* May one of these events have a subscriber? */
static inline bool fast_instrumentation_wanted(unsigned events) {
    return (fast_instrumentation_subscribed & events) != 0;
}

#endif
