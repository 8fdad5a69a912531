/*
 * json_check.c — finds what in a value would come back from JSON as something else, or
 * not at all because it is nested too deep.
 *
 * JSON has no Symbols, Times, NaN and binary text; Ruby's generator writes something
 * for each of them.
 */
#include "value/json_check.h"

#include <math.h>
#include <ruby/encoding.h>
#include <stdbool.h>

/* A limit for lists that contain the same lists again and again. */
#define MAX_VALUES (1u << 26)

typedef struct {
    VALUE offender; /* Qundef: none */
    unsigned depth, deepest, values;
} search;

static bool is_json(search *s, VALUE value);

static bool is_text(VALUE string) {
    int encoding = ENCODING_GET(string);

    return (encoding == rb_utf8_encindex() && rb_enc_str_coderange(string) != ENC_CODERANGE_BROKEN) ||
           (encoding == rb_usascii_encindex() && rb_enc_str_coderange(string) == ENC_CODERANGE_7BIT);
}

static int pair_is_json(VALUE key, VALUE value, VALUE argument) {
    search *s = (search *)argument;

    if (RB_SPECIAL_CONST_P(key) || RBASIC_CLASS(key) != rb_cString || !is_text(key)) {
        s->offender = key;
    }
    return s->offender == Qundef && is_json(s, value) ? ST_CONTINUE : ST_STOP;
}

static bool list_is_json(search *s, VALUE array) {
    for (long i = 0; i < RARRAY_LEN(array); i++) {
        if (!is_json(s, RARRAY_AREF(array, i))) {
            return false;
        }
    }
    return true;
}

static bool object_is_json(search *s, VALUE value) {
    VALUE class = RBASIC_CLASS(value);

    if (class == rb_cString) {
        return is_text(value);
    }
    if ((class != rb_cArray && class != rb_cHash) || s->depth == s->deepest) {
        return class == rb_cInteger;
    }
    s->depth++;
    if (class == rb_cArray) {
        list_is_json(s, value);
    } else {
        rb_hash_foreach(value, pair_is_json, (VALUE)s);
    }
    s->depth--;
    return s->offender == Qundef;
}

static bool is_json(search *s, VALUE value) {
    if (s->values % 0x10000u == 0) {
        rb_thread_check_ints();
    }
    bool holds = s->values++ == MAX_VALUES   ? false
                 : RB_FLOAT_TYPE_P(value)    ? isfinite(RFLOAT_VALUE(value))
                 : SYMBOL_P(value)           ? false
                 : RB_SPECIAL_CONST_P(value) ? true
                                             : object_is_json(s, value);

    if (!holds && s->offender == Qundef) {
        s->offender = value;
    }
    return holds;
}

/* Larder::JsonCheck.offender(value, max_depth): an Array of what JSON cannot bring back, or nil. */
static VALUE offender(VALUE self, VALUE value, VALUE max_depth) {
    search s = {.offender = Qundef, .deepest = NUM2UINT(max_depth)};

    (void)self;
    return is_json(&s, value) ? Qnil : rb_ary_new_from_args(1, s.offender);
}

/* Larder::JsonCheck.deeper?(text, max_depth): true if lists and objects of JSON text are nested deeper. */
static VALUE is_deeper(VALUE self, VALUE text, VALUE max_depth) {
    unsigned depth = 0, deepest = NUM2UINT(max_depth);
    bool quoted = false;
    const char *at = StringValuePtr(text), *end = at + RSTRING_LEN(text);

    (void)self;
    for (; at < end; at++) {
        if (*at == '"') {
            quoted = !quoted;
        } else if (quoted) {
            at += *at == '\\';
        } else if (*at == '[' || *at == '{') {
            if (depth++ == deepest) {
                return Qtrue;
            }
        } else if ((*at == ']' || *at == '}') && depth > 0) {
            depth--;
        }
    }
    return Qfalse;
}

void json_check_init(VALUE larder_module) {
    VALUE json_check = rb_define_module_under(larder_module, "JsonCheck");

    rb_define_singleton_method(json_check, "offender", offender, 2);
    rb_define_singleton_method(json_check, "deeper?", is_deeper, 2);
}
