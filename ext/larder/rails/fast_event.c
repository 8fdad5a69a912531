/*
 * fast_event.c — operations inside Rails' events.
 */
#include "rails/fast_event.h"
#include "rails/fast_clock.h"

bool fast_event_has_keys;

static ID id_instrument, id_value_read, id_value_kept_read, id_write_value, id_delete_entry, id_entry_live;
static VALUE notifications, names[FAST_EVENT_COUNT];
static VALUE sym_key, sym_store, sym_hit, sym_super_operation, sym_fetch;

/* An operation while its event is sent. */
struct event {
    const fast_operation *operation;
    VALUE value; /* read, or to write, or the options of a block */
    bool is_fetch;
    enum fast_outcome outcome;
};

static VALUE key_of(const fast_operation *operation) {
    return fast_key_string(operation->key, operation->options->namespace);
}

/* Without the options, which `exist?` does not send. */
static VALUE bare_payload(const fast_store *store, VALUE key) {
    VALUE payload = rb_hash_new();

    rb_hash_aset(payload, sym_key, key);
    rb_hash_aset(payload, sym_store, rb_mod_name(rb_obj_class(store->self)));
    return payload;
}

VALUE fast_event_payload(const fast_store *store, VALUE key, VALUE call_options) {
    VALUE payload = bare_payload(store, key);

    fast_options_into(store->handle.options, call_options, payload);
    return payload;
}

struct body {
    fast_event_body *run;
    void *context;
};

static VALUE run_body(RB_BLOCK_CALL_FUNC_ARGLIST(payload, body)) {
    (void)argc;
    (void)argv;
    (void)blockarg;
    fast_clock_tick(); /* subscribers have run */
    return ((struct body *)body)->run(payload, ((struct body *)body)->context);
}

VALUE fast_event_send(enum fast_event_number number, VALUE payload, fast_event_body *body, void *context) {
    VALUE arguments[2] = {names[number], payload};
    struct body around = {body, context};
    VALUE answer = rb_block_call(notifications, id_instrument, 2, arguments, run_body, (VALUE)&around);

    RB_GC_GUARD(payload);
    return answer;
}

/* Sends the event of an operation, whose payload has the key and the options. */
static VALUE send_keyed(enum fast_event_number number, fast_event_body *body, struct event *event) {
    const fast_operation *operation = event->operation;
    VALUE payload = fast_event_payload(operation->store, key_of(operation), operation->call_options);

    return fast_event_send(number, payload, body, event);
}

/* ---- read ---- */

/* For the ordinary path. */
static VALUE options_of(const fast_operation *operation) {
    return fast_options_hash(operation->store->handle.options, operation->call_options);
}

/* Takes the answer of NativeCalls#value_kept_read. */
static void take_kept(struct event *event, VALUE found) {
    if (NIL_P(found)) {
        event->outcome = FAST_MISS;
        return;
    }
    VALUE early = rb_ary_entry(found, 1);
    event->value = rb_ary_entry(found, 0);
    event->outcome = NIL_P(early) ? FAST_HIT : RTEST(early) ? FAST_EARLY : FAST_STALE;
}

/* The ordinary path's read, for a value that is too large, or for a failure, which it reports. */
static void read_by_fallback(struct event *event) {
    const fast_operation *operation = event->operation;

    if (operation->options->keeps) {
        take_kept(event, rb_funcall(operation->store->self, id_value_kept_read, 3, key_of(operation),
                                    operation->key->name, options_of(operation)));
        return;
    }
    event->value = rb_funcall(operation->store->self, id_value_read, 3, key_of(operation), operation->key->name,
                              options_of(operation));
    event->outcome = fast_entry_outcome(operation->store, operation->options, operation->key, event->value);
}

static VALUE read_within(VALUE payload, void *context) {
    struct event *event = context;
    const fast_operation *operation = event->operation;

    event->outcome = (operation->options->keeps ? fast_entry_read_kept : fast_entry_read)(
        operation->store, operation->options, operation->key, &event->value);
    if (event->outcome == FAST_FALLBACK) {
        read_by_fallback(event);
    }
    if (event->is_fetch) {
        rb_hash_aset(payload, sym_super_operation, sym_fetch);
    }
    rb_hash_aset(payload, sym_hit, event->outcome < FAST_MISS ? Qtrue : Qfalse);
    return Qnil;
}

enum fast_outcome fast_event_read(const fast_operation *operation, bool is_fetch, VALUE *value) {
    struct event event = {.operation = operation, .value = Qnil, .is_fetch = is_fetch, .outcome = FAST_MISS};

    send_keyed(FAST_EVENT_NUMBER_READ, read_within, &event);
    *value = event.value;
    return event.outcome;
}

/* ---- fetch ---- */

static VALUE nothing_within(VALUE payload, void *context) {
    (void)payload;
    (void)context;
    return Qnil;
}

void fast_event_fetch_hit(const fast_operation *operation) {
    VALUE payload = fast_event_payload(operation->store, operation->key->name, operation->call_options);

    fast_event_send(FAST_EVENT_NUMBER_FETCH_HIT, payload, nothing_within, NULL);
}

static VALUE generate_within(VALUE payload, void *context) {
    struct event *event = context;

    (void)payload;
    return rb_yield_values(2, event->operation->key->name, fast_options_writable(event->value));
}

VALUE fast_event_generate(const fast_operation *operation, VALUE hash) {
    struct event event = {.operation = operation, .value = hash};

    return send_keyed(FAST_EVENT_NUMBER_GENERATE, generate_within, &event);
}

/* ---- write ---- */

static VALUE write_within(VALUE payload, void *context) {
    struct event *event = context;
    const fast_operation *operation = event->operation;
    VALUE stored = fast_entry_write(operation->store, operation->options, operation->key, event->value);

    (void)payload;
    if (stored != Qundef) {
        return stored;
    }
    return rb_funcall(operation->store->self, id_write_value, 4, key_of(operation), operation->key->name,
                      event->value, options_of(operation));
}

VALUE fast_event_write(const fast_operation *operation, VALUE value) {
    struct event event = {.operation = operation, .value = value};

    return send_keyed(FAST_EVENT_NUMBER_WRITE, write_within, &event);
}

/* ---- delete, exist? ---- */

static VALUE delete_within(VALUE payload, void *context) {
    const fast_operation *operation = ((struct event *)context)->operation;
    VALUE deleted = fast_entry_delete(operation->store, operation->key);

    (void)payload;
    return deleted != Qundef ? deleted : rb_funcall(operation->store->self, id_delete_entry, 1, key_of(operation));
}

VALUE fast_event_delete(const fast_operation *operation) {
    struct event event = {.operation = operation, .value = Qnil};

    return send_keyed(FAST_EVENT_NUMBER_DELETE, delete_within, &event);
}

static VALUE exist_within(VALUE payload, void *context) {
    const fast_operation *operation = ((struct event *)context)->operation;
    VALUE exists = fast_entry_exists(operation->store, operation->options, operation->key);

    (void)payload;
    return exists != Qundef ? exists
                            : rb_funcall(operation->store->self, id_entry_live, 3, key_of(operation),
                                         operation->key->name, options_of(operation));
}

VALUE fast_event_exist(const fast_operation *operation) {
    struct event event = {.operation = operation, .value = Qnil};

    return fast_event_send(FAST_EVENT_NUMBER_EXIST, bare_payload(operation->store, key_of(operation)),
                           exist_within, &event);
}

/* FastPath._send_events(ActiveSupport::Notifications, has_keys) */
static VALUE send_events(VALUE self, VALUE module, VALUE has_keys) {
    rb_gc_register_mark_object(module);
    notifications = module;
    fast_event_has_keys = RTEST(has_keys);
    return self;
}

void fast_event_init(VALUE module) {
    id_instrument = rb_intern("instrument");
    id_value_read = rb_intern("value_read");
    id_value_kept_read = rb_intern("value_kept_read");
    id_write_value = rb_intern("write_value");
    id_delete_entry = rb_intern("delete_entry");
    id_entry_live = rb_intern("entry_live?");
    sym_key = ID2SYM(rb_intern("key"));
    sym_store = ID2SYM(rb_intern("store"));
    sym_hit = ID2SYM(rb_intern("hit"));
    sym_super_operation = ID2SYM(rb_intern("super_operation"));
    sym_fetch = ID2SYM(rb_intern("fetch"));
#define DEFINE_NAME(event, operation, bit)                                                                        \
    names[FAST_EVENT_NUMBER_##event] = rb_obj_freeze(rb_utf8_str_new_cstr("cache_" operation ".active_support")); \
    rb_gc_register_mark_object(names[FAST_EVENT_NUMBER_##event]);
    FAST_EVENT_LIST(DEFINE_NAME)
#undef DEFINE_NAME
    rb_define_private_method(rb_singleton_class(module), "_send_events", send_events, 2);
}
