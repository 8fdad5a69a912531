/*
 * fast_steps.c — normalize_key, expanded_key, normalize_version, merged_options and
 * now_ms of the Rails store, which take half of a call that C does not answer: where an
 * APM's module was prepended to ActiveSupport::Cache::Store, or a subclass has methods of
 * its own. Where that module has one of these methods itself, as Datadog's has two, Rails'
 * own takes that step, and the others stay in C.
 *
 * Each calls super where the name or the options are not simple.
 */
#include "rails/fast_steps.h"
#include "rails/fast_clock.h"
#include "rails/fast_guard.h"
#include "rails/fast_key.h"
#include "rails/fast_options.h"
#include "rails/fast_super.h"

#include <ruby/encoding.h>

static VALUE sym_namespace, sym_version;

/* NULL: Rails has to take the step. */
static const fast_handle *handle_for(VALUE self, enum fast_taken step) {
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
    const fast_handle *handle = handle_for(self, FAST_TAKEN_KEYS);
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

    if (argc == 1 && fast_guard_takes(self, FAST_TAKEN_EXPANDED) &&
        (!RB_TYPE_P(argv[0], T_STRING) || ENCODING_GET(argv[0]) == rb_utf8_encindex()) &&
        fast_key_expand(LARDER_MAX_KEY, Qnil, argv[0], &key)) {
        return fast_key_string(&key, Qnil);
    }
    return fast_super(argc, argv);
}

static VALUE normalize_version(int argc, VALUE *argv, VALUE self) {
    VALUE options, version;

    if (fast_guard_takes(self, FAST_TAKEN_VERSIONS) && take_options(argc, argv, &options)) {
        const fast_key key = {.name = argv[0]};
        if (fast_key_ask_version(&key, option(options, sym_version, Qnil), &version)) {
            return version;
        }
    }
    return fast_super(argc, argv);
}

static VALUE merged_options(int argc, VALUE *argv, VALUE self) {
    const fast_handle *handle = handle_for(self, FAST_TAKEN_OPTIONS);
    fast_options options;

    if (handle && argc == 1 && !NIL_P(argv[0]) && fast_options_hold_all(argv[0]) &&
        fast_options_merge(handle->options, argv[0], &options)) {
        return fast_options_hash(handle->options, argv[0]);
    }
    return fast_super(argc, argv);
}

/* For Store::Instrumentation: are Rails' events sent by its own methods, so that nobody sees it if one is not? */
static VALUE may_skip_events(VALUE self) { return fast_guard_takes(self, FAST_TAKEN_EVENTS) ? Qtrue : Qfalse; }

static VALUE now_ms(VALUE self) {
    if (fast_guard_takes(self, FAST_TAKEN_TIME)) {
        return LL2NUM(fast_clock_ms(fast_clock_now()));
    }
    return rb_call_super(0, NULL);
}

void fast_steps_init(VALUE module) {
    sym_namespace = ID2SYM(rb_intern("namespace"));
    sym_version = ID2SYM(rb_intern("version"));
    rb_define_private_method(module, "normalize_key", normalize_key, -1);
    rb_define_private_method(module, "expanded_key", expanded_key, -1);
    rb_define_private_method(module, "normalize_version", normalize_version, -1);
    rb_define_private_method(module, "merged_options", merged_options, -1);
    rb_define_private_method(module, "may_skip_events?", may_skip_events, 0);
    rb_define_private_method(module, "now_ms", now_ms, 0);
}
