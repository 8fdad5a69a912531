/*
 * fast_guard.h — may a call of a store take the fast path?
 */
#ifndef LARDER_FAST_GUARD_H
#define LARDER_FAST_GUARD_H

#include "rails/fast_handle.h"

void fast_guard_init(VALUE module);

/*
 * May a call be answered in C? The store's class is as we know it, unpatched and without a singleton class; no
 * event has a subscriber whose payload C does not know; the debug log is off; the cache is attached. Fills
 * `*store` then.
 */
bool fast_guard_passes(VALUE self, fast_store *store);

/* May C make the keys, versions and options of a store whose calls it does not answer? */
bool fast_guard_takes_steps(VALUE self);

#endif
