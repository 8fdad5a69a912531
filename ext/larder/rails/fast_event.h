/*
 * fast_event.h — operations inside Rails' events.
 *
 * The payloads are those of Store#_instrument on Rails 7.2 and later, and
 * ActiveSupport::Notifications.instrument itself sends the event, so that subscribers
 * see what they would of any other store. What C leaves to the ordinary path it asks
 * of the store's own methods within the event.
 */
#ifndef LARDER_FAST_EVENT_H
#define LARDER_FAST_EVENT_H

#include "rails/fast_entry.h"
#include "rails/fast_instrumentation.h"

void fast_event_init(VALUE module);

#pragma GCC visibility push(hidden)
extern bool fast_event_has_keys; /* those of the multi forms name keys, as on Rails 8.0 and later, and not names */
#pragma GCC visibility pop

/* Key or keys, the store's class, and the options of the store with those of the call over them. */
VALUE fast_event_payload(const fast_store *store, VALUE key, VALUE call_options);

/* What is done within an event. It may yield to the block of the calling method. */
typedef VALUE fast_event_body(VALUE payload, void *context);

/* Sends an event around the body; answers what the body does. */
VALUE fast_event_send(enum fast_event_number number, VALUE payload, fast_event_body *body, void *context);

/* What an operation inside an event is about. `call_options` are the caller's, or nil. */
typedef struct fast_operation {
    const fast_store *store;
    const fast_options *options;
    const fast_key *key;
    VALUE call_options;
} fast_operation;

/* fast_entry_read() within the event `read`; never FAST_FALLBACK. The call must have no race_condition_ttl. */
enum fast_outcome fast_event_read(const fast_operation *operation, bool is_fetch, VALUE *value);

/* Sends `fetch_hit`. */
void fast_event_fetch_hit(const fast_operation *operation);

/* Yields the name and a WriteOptions over `hash` to the block of the calling method, within the event `generate`.
 */
VALUE fast_event_generate(const fast_operation *operation, VALUE hash);

/* Write, delete and exist? within their events. Each answers what Rails' method does. */
VALUE fast_event_write(const fast_operation *operation, VALUE value);
VALUE fast_event_delete(const fast_operation *operation);
VALUE fast_event_exist(const fast_operation *operation);

#endif
