/*
 * fast_path.c — fetch, read, write, delete and exist? of the Rails store.
 *
 * Each method answers by itself or calls super, once and with the arguments it was
 * given. Nothing found out before a caller's block is used after it.
 */
#include "rails/fast_path.h"
#include "rails/fast_clock.h"
#include "rails/fast_guard.h"
#include "rails/fast_event.h"
#include "rails/fast_log.h"
#include "rails/fast_multi.h"
#include "rails/fast_steps.h"
#include "rails/fast_super.h"

static ID id_write, id_write_tagged, id_fetch_in_flight, id_read_in_flight, id_refresh, id_note_stamp;
static int leases_held; /* by threads of this process */

typedef struct fast_call {
    fast_store store;
    fast_options options;
    fast_key key;
} fast_call;

static bool expand(fast_call *call, VALUE name) {
    return fast_key_expand(call->store.handle.max_key_bytes, call->options.namespace, name, &call->key);
}

/* Rails' methods take a name and options; a Hash of keywords is options, too. Events have the key, and its
 * encoding is Rails' only where that is UTF-8. So have calls of Ruby's methods. */
static inline __attribute__((always_inline)) bool begin(fast_call *call, VALUE self, VALUE name, VALUE options) {
    return fast_options_are_simple(options) && fast_guard_passes(self, &call->store) &&
           fast_options_merge(call->store.handle.options, options, &call->options) &&
           !(call->store.handle.has_remote && (call->options.raw || !fast_handle_answers(&call->store))) &&
           expand(call, name) &&
           (call->key.is_utf8 || !(fast_instrumentation_subscribed || call->options.keeps ||
                                   call->options.single_flight || call->options.tagged));
}

/* Stores what a block made, with the options that it left. They contain those of the store, unless the block has
 * given the store more. False: the ordinary path has to. */
static bool store_generated(fast_call *call, VALUE name, VALUE hash, size_t store_options, VALUE result) {
    fast_store *store = &call->store;

    return fast_guard_passes(store->self, store) && !fast_instrumentation_wanted(FAST_EVENT_WRITE) &&
           (RHASH_SIZE(store->handle.options) == store_options
                ? fast_options_take(hash, &call->options)
                : fast_options_merge(store->handle.options, hash, &call->options)) &&
           expand(call, name) && fast_entry_write(store, &call->options, &call->key, result) != Qundef;
}

static fast_operation operation_of(const fast_call *call, VALUE options) {
    return (fast_operation){&call->store, &call->options, &call->key, options};
}

static VALUE key_of(const fast_call *call) { return fast_key_string(&call->key, call->options.namespace); }

/* A miss with a block, as Store#save_block_result_to_cache. The block may change the options through its second
 * argument, the name, or anything else, so the write starts from the beginning. */
static VALUE generate(fast_call *call, VALUE name, VALUE call_options) {
    VALUE hash = fast_options_hash(call->store.handle.options, call_options);
    size_t store_options = RHASH_SIZE(call->store.handle.options);
    fast_operation operation = operation_of(call, call_options);
    larder_stamp before;
    bool is_stamped = larder_stamp_now(fast_handle_engine(&call->store), &before) == LARDER_OK;
    VALUE result = fast_instrumentation_wanted(FAST_EVENT_GENERATE)
                       ? fast_event_generate(&operation, hash)
                       : rb_yield_values(2, name, fast_options_writable(hash));

    if (NIL_P(result) && call->options.skip_nil) {
        return result;
    }
    if (RB_UNLIKELY(fast_options_have_tags(hash))) { /* the block has set them */
        VALUE stamp = is_stamped ? rb_str_new((const char *)&before, sizeof before) : Qnil;
        rb_funcall(call->store.self, id_write_tagged, 5, name, key_of(call), result, hash, stamp);
    } else if (!store_generated(call, name, hash, store_options, result)) {
        rb_funcall(call->store.self, id_write, 3, name, result, hash);
    }
    RB_GC_GUARD(hash);
    return result;
}

/* A miss with a block of a call with single_flight, in Ruby. */
static VALUE fetch_in_flight(const fast_call *call, VALUE name, VALUE call_options) {
    VALUE hash = fast_options_hash(call->store.handle.options, call_options);

    return rb_funcall(call->store.self, id_fetch_in_flight, 4, name, key_of(call), hash, rb_block_proc());
}

/* A hit after which the value is computed again, later. */
static void refresh(const fast_call *call, VALUE name, VALUE call_options, bool early) {
    VALUE hash = fast_options_hash(call->store.handle.options, call_options);

    rb_funcall(call->store.self, id_refresh, 5, name, key_of(call), hash, rb_block_proc(), early ? Qtrue : Qfalse);
}

/* The same of a read: of a view, which writes what it finds missing. */
static VALUE read_in_flight(const fast_call *call, VALUE name, VALUE call_options) {
    VALUE hash = fast_options_hash(call->store.handle.options, call_options);

    return rb_funcall(call->store.self, id_read_in_flight, 3, name, key_of(call), hash);
}

/* Is the write perhaps under a lease of the thread, or of a value that has tags or is kept when it is stale? */
static bool is_special(const fast_call *call) {
    return RB_UNLIKELY(call->options.keeps || call->options.tagged ||
                       (leases_held > 0 && call->options.single_flight));
}

static enum fast_outcome look_up(const fast_call *call, VALUE call_options, bool is_fetch, VALUE *value) {
    if (RB_LIKELY(!fast_instrumentation_wanted(FAST_EVENT_READ))) {
        return (RB_UNLIKELY(call->options.keeps) ? fast_entry_read_kept : fast_entry_read)(
            &call->store, &call->options, &call->key, value);
    }
    if (call->options.life.race > 0.0) { /* the entry may be written again within the event */
        return FAST_FALLBACK;
    }
    if (call->options.keeps &&
        call->store.handle.has_remote) { /* a stale one is read in Ruby, within the same event */
        return FAST_FALLBACK;
    }
    fast_operation operation = operation_of(call, call_options);
    return fast_event_read(&operation, is_fetch, value);
}

static VALUE hit(const fast_call *call, VALUE options, VALUE value) {
    if (RB_UNLIKELY(fast_instrumentation_wanted(FAST_EVENT_FETCH_HIT))) {
        fast_operation operation = operation_of(call, options);
        fast_event_fetch_hit(&operation);
    }
    return value;
}

static VALUE fast_fetch(int argc, VALUE *argv, VALUE self) {
    fast_call call;
    VALUE value;

    if ((argc == 1 || argc == 2) && rb_block_given_p()) {
        VALUE options = argc == 2 ? argv[1] : Qnil;
        if (begin(&call, self, argv[0], options)) {
            enum fast_outcome outcome = look_up(&call, options, true, &value);
            switch (outcome) {
            case FAST_STALE:
            case FAST_EARLY:
                refresh(&call, argv[0], options, outcome == FAST_EARLY);
                return hit(&call, options, value);
            case FAST_HIT:
                return hit(&call, options, value);
            case FAST_MISS:
                if (RB_UNLIKELY(call.options.single_flight || call.options.keeps || call.options.tagged ||
                                call.store.handle.has_remote)) {
                    return fetch_in_flight(&call, argv[0], options);
                }
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

    if ((argc == 1 || argc == 2) && begin(&call, self, argv[0], options) && !call.options.stale_of_call) {
        call.options.keeps = false; /* what the store's options allow is for fetch */
        switch (look_up(&call, options, false, &value)) {
        case FAST_HIT:
            return value;
        case FAST_MISS:
            if (RB_UNLIKELY(call.options.tagged)) {
                rb_funcall(self, id_note_stamp, 2, key_of(&call), options);
            }
            if (RB_UNLIKELY(call.options.single_flight_of_call)) {
                return read_in_flight(&call, argv[0], options);
            }
            return Qnil;
        default:
            break;
        }
    }
    return fast_super(argc, argv);
}

static VALUE fast_write(int argc, VALUE *argv, VALUE self) {
    fast_call call;
    VALUE options = argc == 3 ? argv[2] : Qnil;

    if ((argc == 2 || argc == 3) && begin(&call, self, argv[0], options) && !is_special(&call)) {
        if (RB_UNLIKELY(fast_instrumentation_wanted(FAST_EVENT_WRITE))) {
            fast_operation operation = operation_of(&call, options);
            return fast_event_write(&operation, argv[1]);
        }
        VALUE stored = fast_entry_write(&call.store, &call.options, &call.key, argv[1]);
        if (stored != Qundef) {
            return stored;
        }
    }
    return fast_super(argc, argv);
}

static VALUE fast_delete(int argc, VALUE *argv, VALUE self) {
    fast_call call;
    VALUE options = argc == 2 ? argv[1] : Qnil;

    if ((argc == 1 || argc == 2) && begin(&call, self, argv[0], options)) {
        if (RB_UNLIKELY(fast_instrumentation_wanted(FAST_EVENT_DELETE))) {
            fast_operation operation = operation_of(&call, options);
            return fast_event_delete(&operation);
        }
        VALUE deleted = fast_entry_delete(&call.store, &call.key);
        if (deleted != Qundef) {
            return deleted;
        }
    }
    return fast_super(argc, argv);
}

static VALUE fast_exist(int argc, VALUE *argv, VALUE self) {
    fast_call call;
    VALUE options = argc == 2 ? argv[1] : Qnil;

    if ((argc == 1 || argc == 2) && begin(&call, self, argv[0], options)) {
        if (RB_UNLIKELY(fast_instrumentation_wanted(FAST_EVENT_EXIST))) {
            fast_operation operation = operation_of(&call, options);
            return fast_event_exist(&operation);
        }
        VALUE exists = fast_entry_exists(&call.store, &call.options, &call.key);
        if (exists != Qundef) {
            return exists;
        }
    }
    return fast_super(argc, argv);
}

/* FastPath._count_leases(change): the number. Holds the GVL, so no other thread changes it at the same time. */
static VALUE count_leases(VALUE self, VALUE change) {
    leases_held += NUM2INT(change);
    return INT2NUM(leases_held);
}

void fast_path_init(VALUE store_module) {
    VALUE module = rb_define_module_under(store_module, "FastPath");

    id_write = rb_intern("write");
    id_write_tagged = rb_intern("write_tagged");
    id_fetch_in_flight = rb_intern("fetch_in_flight");
    id_read_in_flight = rb_intern("read_in_flight");
    id_refresh = rb_intern("refresh");
    id_note_stamp = rb_intern("note_stamp");
    rb_define_private_method(rb_singleton_class(module), "_count_leases", count_leases, 1);
    fast_clock_init(store_module);
    fast_instrumentation_init(module);
    fast_log_init(module);
    fast_options_init(module);
    fast_key_init();
    fast_handle_init(module);
    fast_guard_init(module);
    fast_entry_init(module);
    fast_event_init(module);
    fast_multi_init(module);
    fast_steps_init(module);
    rb_define_method(module, "fetch", fast_fetch, -1);
    rb_define_method(module, "read", fast_read, -1);
    rb_define_method(module, "write", fast_write, -1);
    rb_define_method(module, "delete", fast_delete, -1);
    rb_define_method(module, "exist?", fast_exist, -1);
}
