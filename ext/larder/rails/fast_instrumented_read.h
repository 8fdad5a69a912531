/*
 * fast_instrumented_read.h — a read inside Rails' event.
 */
#ifndef LARDER_FAST_INSTRUMENTED_READ_H
#define LARDER_FAST_INSTRUMENTED_READ_H

#include "rails/fast_entry.h"

void fast_instrumented_read_init(VALUE module);

/* fast_entry_read() inside Rails' event, never FAST_FALLBACK. The call must have no race_condition_ttl. */
enum fast_outcome fast_instrumented_read(const fast_store *store, const fast_options *options, const fast_key *key,
                                         VALUE call_options, bool is_fetch, VALUE *value);

#endif
