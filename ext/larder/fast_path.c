/*
 * fast_path.c — fetch, read, write, delete and exist? of the Rails store (fast.h
 * tells the rules).
 *
 * Each method answers by itself or calls super, once and with the arguments it was
 * given. Nothing is held while a caller's block runs: what was found out before is
 * found out again after it.
 */
#include "fast.h"

#include <ruby/encoding.h>

static ID id_write;

typedef struct fast_call {
    fast_store store;
    fast_options options;
    fast_key key;
} fast_call;

/* Rails' methods take a name and options; a Hash of keywords is options, too. */
static bool begin(fast_call *call, VALUE self, unsigned events, VALUE name, VALUE options) {
    return fast_options_are_simple(options) && fast_ready(self, events, &call->store) &&
           fast_options_merge(&call->store, options, &call->options) &&
           fast_key_expand(&call->store, &call->options, name, &call->key);
}

VALUE fast_super(int argc, VALUE *argv) { return rb_call_super_kw(argc, argv, rb_keyword_given_p()); }

/*
 * Stores what a block made, under the options that it left. Those of the store are among them, unless the block
 * gave the store more. False: the ordinary path has to.
 */
static bool store_generated(fast_call *call, VALUE name, VALUE hash, size_t store_options, VALUE result) {
    fast_store *store = &call->store;

    return fast_ready(store->self, FAST_WRITE, store) &&
           (RHASH_SIZE(store->options) == store_options ? fast_options_take(hash, &call->options)
                                                        : fast_options_merge(store, hash, &call->options)) &&
           fast_key_expand(store, &call->options, name, &call->key) &&
           fast_entry_write(store, &call->options, &call->key, result) != Qundef;
}

/*
 * A miss with a block: what Store#save_block_result_to_cache does. The block may change the options through its
 * second argument, the name, or anything else at all, so that the write begins anew.
 */
static VALUE generate(fast_call *call, VALUE name, VALUE call_options) {
    VALUE hash = fast_options_hash(&call->store, call_options);
    size_t store_options = RHASH_SIZE(call->store.options);
    VALUE result = rb_yield_values(2, name, fast_write_options(hash));

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
        return FAST_FALLBACK; /* which may be the encoding of the key that is announced */
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
        larder_call at = {.now_ms = fast_read_time_ms()};
        larder_status status = larder_delete(fast_engine(&call.store), call.key.text, call.key.bytes, &at);
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

void fast_path_init(VALUE larder_module) {
    VALUE store = rb_define_module_under(larder_module, "Store");
    VALUE module = rb_define_module_under(store, "FastPath");

    id_write = rb_intern("write");
    fast_guard_init(module);
    fast_log_init(module);
    fast_options_init(module);
    fast_entry_init(module);
    fast_instrument_init(module);
    fast_multi_init();
    rb_define_method(module, "fetch", fast_fetch, -1);
    rb_define_method(module, "read", fast_read, -1);
    rb_define_method(module, "write", fast_write, -1);
    rb_define_method(module, "delete", fast_delete, -1);
    rb_define_method(module, "exist?", fast_exist, -1);
    rb_define_method(module, "read_multi", fast_read_multi, -1);
    rb_define_method(module, "write_multi", fast_write_multi, -1);
    rb_define_method(module, "fetch_multi", fast_fetch_multi, -1);
}
