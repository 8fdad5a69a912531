/*
 * fast_path.c — fetch, read, write, delete and exist? of the Rails store.
 *
 * Each method answers by itself or calls super, once and with the arguments it was
 * given. Nothing found out before a caller's block is used after it.
 */
#include "rails/fast_path.h"
#include "rails/fast_clock.h"
#include "rails/fast_guard.h"
#include "rails/fast_instrumented_read.h"
#include "rails/fast_log.h"
#include "rails/fast_multi.h"
#include "rails/super.h"

#include <ruby/encoding.h>

static ID id_write;

typedef struct fast_call {
    fast_store store;
    fast_options options;
    fast_key key;
} fast_call;

static bool expand(fast_call *call, VALUE name) {
    return fast_key_expand(call->store.handle.max_key_bytes, call->options.namespace, name, &call->key);
}

/* Rails' methods take a name and options; a Hash of keywords is options, too. */
static bool begin(fast_call *call, VALUE self, unsigned events, VALUE name, VALUE options) {
    return fast_options_are_simple(options) && fast_guard_passes(self, events, &call->store) &&
           fast_options_merge(call->store.handle.options, options, &call->options) && expand(call, name);
}

/* Stores what a block made, with the options that it left. They contain those of the store, unless the block has
 * given the store more. False: the ordinary path has to. */
static bool store_generated(fast_call *call, VALUE name, VALUE hash, size_t store_options, VALUE result) {
    fast_store *store = &call->store;

    return fast_guard_passes(store->self, FAST_EVENT_WRITE, store) &&
           (RHASH_SIZE(store->handle.options) == store_options
                ? fast_options_take(hash, &call->options)
                : fast_options_merge(store->handle.options, hash, &call->options)) &&
           expand(call, name) && fast_entry_write(store, &call->options, &call->key, result) != Qundef;
}

/* A miss with a block, as Store#save_block_result_to_cache. The block may change the options through its second
 * argument, the name, or anything else, so the write begins anew. */
static VALUE generate(fast_call *call, VALUE name, VALUE call_options) {
    VALUE hash = fast_options_hash(call->store.handle.options, call_options);
    size_t store_options = RHASH_SIZE(call->store.handle.options);
    VALUE result = rb_yield_values(2, name, fast_options_writable(hash));

    if (!(NIL_P(result) && call->options.skip_nil) && !store_generated(call, name, hash, store_options, result)) {
        rb_funcall(call->store.self, id_write, 3, name, result, hash);
    }
    RB_GC_GUARD(hash);
    return result;
}

static enum fast_outcome look_up(const fast_call *call, VALUE call_options, bool is_fetch, VALUE *value) {
    if (!call->store.instruments_read) {
        return fast_entry_read(&call->store, &call->options, &call->key, value);
    }
    if (call->options.life.race > 0.0) { /* the entry may be written again within the event */
        return FAST_FALLBACK;
    }
    if (!NIL_P(call->options.namespace) && ENCODING_GET(call->options.namespace) != rb_utf8_encindex()) {
        return FAST_FALLBACK; /* the key in the payload may have that encoding */
    }
    return fast_instrumented_read(&call->store, &call->options, &call->key, call_options, is_fetch, value);
}

static VALUE fast_fetch(int argc, VALUE *argv, VALUE self) {
    fast_call call;
    VALUE value;

    if ((argc == 1 || argc == 2) && rb_block_given_p()) {
        VALUE options = argc == 2 ? argv[1] : Qnil;
        if (begin(&call, self, FAST_EVENTS_OF_fetch, argv[0], options)) {
            switch (look_up(&call, options, true, &value)) {
            case FAST_HIT:
                return value;
            case FAST_MISS:
                return generate(&call, argv[0], options);
            default:
                break;
            }
        }
    }
    return fast_super(argc, argv);
}

static VALUE fast_read(int argc, VALUE *argv, VALUE self) {
    fast_call call;
    VALUE value;
    VALUE options = argc == 2 ? argv[1] : Qnil;

    if ((argc == 1 || argc == 2) && begin(&call, self, FAST_EVENTS_OF_read, argv[0], options)) {
        switch (look_up(&call, options, false, &value)) {
        case FAST_HIT:
            return value;
        case FAST_MISS:
            return Qnil;
        default:
            break;
        }
    }
    return fast_super(argc, argv);
}

static VALUE fast_write(int argc, VALUE *argv, VALUE self) {
    fast_call call;

    if ((argc == 2 || argc == 3) &&
        begin(&call, self, FAST_EVENTS_OF_write, argv[0], argc == 3 ? argv[2] : Qnil)) {
        VALUE stored = fast_entry_write(&call.store, &call.options, &call.key, argv[1]);
        if (stored != Qundef) {
            return stored;
        }
    }
    return fast_super(argc, argv);
}

static VALUE fast_delete(int argc, VALUE *argv, VALUE self) {
    fast_call call;

    if ((argc == 1 || argc == 2) &&
        begin(&call, self, FAST_EVENTS_OF_delete, argv[0], argc == 2 ? argv[1] : Qnil)) {
        larder_call at = {.now_ms = fast_clock_read_ms()};
        larder_status status = larder_delete(fast_handle_engine(&call.store), call.key.text, call.key.bytes, &at);
        if (status == LARDER_OK || status == LARDER_MISS) {
            return status == LARDER_OK ? Qtrue : Qfalse;
        }
    }
    return fast_super(argc, argv);
}

static VALUE fast_exist(int argc, VALUE *argv, VALUE self) {
    fast_call call;

    if ((argc == 1 || argc == 2) &&
        begin(&call, self, FAST_EVENTS_OF_exist, argv[0], argc == 2 ? argv[1] : Qnil)) {
        enum fast_outcome outcome = fast_entry_exists(&call.store, &call.key);
        if (outcome != FAST_FALLBACK) {
            return outcome == FAST_HIT ? Qtrue : Qfalse;
        }
    }
    return fast_super(argc, argv);
}

void fast_path_init(VALUE store_module) {
    VALUE module = rb_define_module_under(store_module, "FastPath");

    id_write = rb_intern("write");
    fast_clock_init(module);
    fast_instrumentation_init(module);
    fast_log_init(module);
    fast_options_init(module);
    fast_handle_init(module);
    fast_guard_init(module);
    fast_entry_init(module);
    fast_instrumented_read_init(module);
    fast_multi_init(module);
    rb_define_method(module, "fetch", fast_fetch, -1);
    rb_define_method(module, "read", fast_read, -1);
    rb_define_method(module, "write", fast_write, -1);
    rb_define_method(module, "delete", fast_delete, -1);
    rb_define_method(module, "exist?", fast_exist, -1);
}
