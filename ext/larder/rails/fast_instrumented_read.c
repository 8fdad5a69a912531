/*
 * fast_instrumented_read.c — a read inside Rails' event.
 *
 * The payload is that of Store#_instrument, and ActiveSupport::Notifications.instrument
 * itself sends the event, so that subscribers see what they would of any other
 * store. Other events are sent by the ordinary path.
 */
#include "rails/fast_instrumented_read.h"
#include "rails/fast_clock.h"

static ID id_instrument, id_value_read;
static VALUE notifications, read_event, sym_key, sym_store, sym_hit, sym_super_operation, sym_fetch;

struct instrumented {
    const fast_store *store;
    const fast_options *options;
    const fast_key *key;
    bool is_fetch;
    enum fast_outcome outcome;
    VALUE value;
};

/* The ordinary path's read, for a value that is too large, or for a failure, which it reports. */
static void read_by_fallback(struct instrumented *read) {
    VALUE key = rb_utf8_str_new(read->key->text, (long)read->key->bytes);
    VALUE version = read->key->is_list ? rb_utf8_str_new("", 0) : Qnil;

    read->value = rb_funcall(read->store->self, id_value_read, 2, key, version);
    read->outcome = fast_entry_outcome(read->store, read->options, read->key, read->value);
}

static VALUE inside(RB_BLOCK_CALL_FUNC_ARGLIST(payload, arg)) {
    struct instrumented *read = (struct instrumented *)arg;

    (void)argc;
    (void)argv;
    (void)blockarg;
    fast_clock_tick(); /* subscribers have run */
    read->outcome = fast_entry_read(read->store, read->options, read->key, &read->value);
    if (read->outcome == FAST_FALLBACK) {
        read_by_fallback(read);
    }
    if (read->is_fetch) {
        rb_hash_aset(payload, sym_super_operation, sym_fetch);
    }
    rb_hash_aset(payload, sym_hit, read->outcome == FAST_HIT ? Qtrue : Qfalse);
    return Qnil;
}

enum fast_outcome fast_instrumented_read(const fast_store *store, const fast_options *options, const fast_key *key,
                                         VALUE call_options, bool is_fetch, VALUE *value) {
    struct instrumented read = {store, options, key, is_fetch, FAST_MISS, Qnil};
    VALUE payload = rb_hash_new();
    VALUE arguments[2] = {read_event, payload};

    rb_hash_aset(payload, sym_key, rb_utf8_str_new(key->text, (long)key->bytes));
    rb_hash_aset(payload, sym_store, rb_mod_name(rb_obj_class(store->self)));
    fast_options_into(store->handle.options, call_options, payload);
    rb_block_call(notifications, id_instrument, 2, arguments, inside, (VALUE)&read);
    *value = read.value;
    RB_GC_GUARD(payload);
    return read.outcome;
}

/* FastPath._notifications = ActiveSupport::Notifications */
static VALUE set_notifications(VALUE self, VALUE module) {
    rb_gc_register_mark_object(module);
    notifications = module;
    return self;
}

void fast_instrumented_read_init(VALUE module) {
    id_instrument = rb_intern("instrument");
    id_value_read = rb_intern("value_read");
    sym_key = ID2SYM(rb_intern("key"));
    sym_store = ID2SYM(rb_intern("store"));
    sym_hit = ID2SYM(rb_intern("hit"));
    sym_super_operation = ID2SYM(rb_intern("super_operation"));
    sym_fetch = ID2SYM(rb_intern("fetch"));
    read_event = rb_obj_freeze(rb_utf8_str_new_cstr("cache_read.active_support"));
    rb_gc_register_mark_object(read_event);
    rb_define_private_method(rb_singleton_class(module), "_notifications=", set_notifications, 1);
}
