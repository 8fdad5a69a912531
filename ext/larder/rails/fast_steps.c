/*
 * fast_steps.c — normalize_key, expanded_key, normalize_version, merged_options and
 * instrument of the Rails store, which take half of a call that C does not answer: where
 * debug messages are logged, or an APM's module was prepended to ActiveSupport::Cache::Store, or a subclass has
 * methods of its own. Where that module has one of these methods itself, as Datadog's has two, Rails' own takes
 * that step, and the others stay in C.
 *
 * Each calls super where the name or the options are not simple.
 */
#include "rails/fast_steps.h"
#include "rails/fast_guard.h"
#include "rails/fast_instrumentation.h"
#include "rails/fast_key.h"
#include "rails/fast_log.h"
#include "rails/fast_options.h"
#include "rails/fast_super.h"

#include <ruby/encoding.h>

static VALUE sym_namespace, sym_version;
static VALUE operations[FAST_EVENT_COUNT]; /* their names, in the order of their bits */

/* NULL: Rails has to take the step. */
static const fast_handle *handle_for(VALUE self, enum fast_step step) {
    return fast_guard_takes(self, step) ? fast_handle_of(self) : NULL;
}

/* The second argument, if it is nothing or a Hash. */
static bool take_options(int argc, VALUE *argv, VALUE *options) {
    *options = argc == 2 ? argv[1] : Qnil;
    return argc == 1 || (argc == 2 && (NIL_P(*options) || RB_TYPE_P(*options, T_HASH)));
}

static VALUE option(VALUE options, VALUE name, VALUE otherwise) {
    return NIL_P(options) ? otherwise : rb_hash_lookup2(options, name, otherwise);
}

static VALUE normalize_key(int argc, VALUE *argv, VALUE self) {
    const fast_handle *handle = handle_for(self, FAST_STEP_KEY);
    VALUE options;
    fast_key key;

    if (handle && take_options(argc, argv, &options)) {
        VALUE namespace = option(options, sym_namespace, Qundef);
        namespace = namespace == Qundef ? option(handle->options, sym_namespace, Qnil) : namespace;
        namespace = RTEST(namespace) ? namespace : Qnil;
        if (fast_key_expand(handle->max_key_bytes, namespace, argv[0], &key) && key.is_utf8) {
            return fast_key_string(&key, namespace);
        }
    }
    return fast_super(argc, argv);
}

/* In UTF-8. A lone String of another encoding keeps that until Rails has put the namespace before it. */
static VALUE expanded_key(int argc, VALUE *argv, VALUE self) {
    fast_key key;

    if (argc == 1 && fast_guard_takes(self, FAST_STEP_EXPANDED_KEY) &&
        (!RB_TYPE_P(argv[0], T_STRING) || ENCODING_GET(argv[0]) == rb_utf8_encindex()) &&
        fast_key_expand(LARDER_MAX_KEY, Qnil, argv[0], &key)) {
        return fast_key_string(&key, Qnil);
    }
    return fast_super(argc, argv);
}

static VALUE normalize_version(int argc, VALUE *argv, VALUE self) {
    VALUE options, version;

    if (fast_guard_takes(self, FAST_STEP_VERSION) && take_options(argc, argv, &options)) {
        const fast_key key = {.name = argv[0]};
        if (fast_key_ask_version(&key, option(options, sym_version, Qnil), &version)) {
            return version;
        }
    }
    return fast_super(argc, argv);
}

static VALUE merged_options(int argc, VALUE *argv, VALUE self) {
    const fast_handle *handle = handle_for(self, FAST_STEP_OPTIONS);
    fast_options options;

    if (handle && argc == 1 && !NIL_P(argv[0]) && fast_options_hold_all(argv[0]) &&
        fast_options_merge(handle->options, argv[0], &options)) {
        return fast_options_hash(handle->options, argv[0]);
    }
    return fast_super(argc, argv);
}

/* The bit of an operation's event; 0: it has none here, and Rails sends it. */
static unsigned event_of(VALUE operation) {
    for (size_t i = 0; i < FAST_EVENT_COUNT; i++) {
        if (operations[i] == operation) {
            return 1U << i;
        }
    }
    return 0;
}

/* Also instrument_multi. An event without a subscriber is not sent, and not logged unless the log takes it: its
 * payload costs more than a hit. */
static VALUE instrument(int argc, VALUE *argv, VALUE self) {
    unsigned event = argc > 0 ? event_of(argv[0]) : 0;

    if (event && fast_guard_takes(self, FAST_STEP_EVENT) && !fast_instrumentation_wanted(event) &&
        !fast_log_wanted(self)) {
        return rb_block_given_p() ? rb_yield(rb_hash_new()) : Qnil;
    }
    return fast_super(argc, argv);
}

/* may_skip_events?, which Store::Instrumentation asks: true if Rails' events are sent by its own methods. */
static VALUE may_skip_events(VALUE self) { return fast_guard_takes(self, FAST_STEP_EVENT) ? Qtrue : Qfalse; }

/* unpatched?, which Store::Entries asks: true if only methods above its own were patched, so that it may take a
 * call without Rails' methods. */
static VALUE is_unpatched(VALUE self) { return fast_guard_takes(self, FAST_STEP_UNPATCHED) ? Qtrue : Qfalse; }

void fast_steps_init(VALUE module) {
    sym_namespace = ID2SYM(rb_intern("namespace"));
    sym_version = ID2SYM(rb_intern("version"));
#define OPERATION(name, operation, bit) operations[FAST_EVENT_NUMBER_##name] = ID2SYM(rb_intern(operation));
    FAST_EVENT_LIST(OPERATION)
#undef OPERATION
    rb_define_private_method(module, "normalize_key", normalize_key, -1);
    rb_define_private_method(module, "expanded_key", expanded_key, -1);
    rb_define_private_method(module, "normalize_version", normalize_version, -1);
    rb_define_private_method(module, "merged_options", merged_options, -1);
    rb_define_private_method(module, "instrument", instrument, -1);
    rb_define_private_method(module, "instrument_multi", instrument, -1);
    rb_define_private_method(module, "may_skip_events?", may_skip_events, 0);
    rb_define_private_method(module, "unpatched?", is_unpatched, 0);
}
