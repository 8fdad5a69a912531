/*
 * arguments.c — checks of arguments that come from Ruby.
 */
#include "base/arguments.h"

static void check(VALUE object, enum ruby_value_type type, const char *what, const char *wanted) {
    if (!RB_TYPE_P(object, type)) {
        rb_raise(rb_eTypeError, "%s must be %s, got %" PRIsVALUE, what, wanted, rb_obj_class(object));
    }
}

void glue_check_string(VALUE object, const char *what) { check(object, T_STRING, what, "a String"); }

void glue_check_array(VALUE object, const char *what) { check(object, T_ARRAY, what, "an Array"); }

void glue_check_hash(VALUE object, const char *what) { check(object, T_HASH, what, "a Hash"); }

larder_call glue_call(VALUE now) { return (larder_call){.now_ms = NIL_P(now) ? 0 : NUM2LL(now)}; }
