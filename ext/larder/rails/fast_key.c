/*
 * fast_key.c — a name to the key in the file: the namespace and ActiveSupport's
 * expanded key, on the stack; and to the version of its entry.
 *
 * The same bytes as Larder::Store::Keys#normalize_key and #normalize_version. Texts
 * of different encodings, for which Ruby would raise or convert, are left to it.
 */
#include "rails/fast_key.h"
#include "rails/fast_clock.h"
#include "value/plain.h"

#include <ruby/encoding.h>
#include <string.h>

#define DEEPEST 16 /* Arrays in Arrays */

static ID id_call, id_cache_key, id_cache_version, id_to_a, id_to_param;
VALUE fast_key_no_version;
static VALUE version_separator, nothing_joined;

static bool append(fast_key *key, size_t limit, const char *bytes, size_t count) {
    if (count > limit - key->bytes) {
        return false;
    }
    memcpy(key->text + key->bytes, bytes, count);
    key->bytes += count;
    return true;
}

/* Can it be joined with any other text? UTF-8, or ASCII only. */
static bool is_compatible(VALUE string) {
    return ENCODING_GET(string) == rb_utf8_encindex() || rb_enc_str_asciionly_p(string);
}

static bool append_string(fast_key *key, size_t limit, VALUE string) {
    return append(key, limit, RSTRING_PTR(string), (size_t)RSTRING_LEN(string));
}

static bool append_integer(fast_key *key, size_t limit, long number) {
    char digits[24];
    char *at = digits + sizeof digits;
    unsigned long left = number < 0 ? 0ul - (unsigned long)number : (unsigned long)number;

    do {
        *--at = (char)('0' + left % 10);
        left /= 10;
    } while (left);
    if (number < 0) {
        *--at = '-';
    }
    return append(key, limit, at, (size_t)(digits + sizeof digits - at));
}

static bool is_plain_string(VALUE name) { return !RB_SPECIAL_CONST_P(name) && RBASIC_CLASS(name) == rb_cString; }

static bool is_text(VALUE value) { return RB_TYPE_P(value, T_STRING); }

/* Does it answer a public method of that name? */
static bool answers(VALUE object, ID name) { return rb_obj_respond_to(object, name, 0); }

static bool append_text(fast_key *key, size_t limit, VALUE text) {
    return is_text(text) && is_compatible(text) && append_string(key, limit, text);
}

/* An object with a cache_key, or in an Array also one with a to_param. */
static bool append_object(fast_key *key, size_t limit, VALUE object, bool in_list) {
    VALUE text;

    key->has_objects = true;
    if (answers(object, id_cache_key)) {
        text = rb_funcallv_public(object, id_cache_key, 0, NULL);
        text = is_text(text) ? text : rb_obj_as_string(text);
    } else if (!in_list || RB_TYPE_P(object, T_HASH) || !answers(object, id_to_param)) {
        return false;
    } else {
        text = rb_funcallv_public(object, id_to_param, 0, NULL);
    }
    if (in_list && (NIL_P(text) || text == Qtrue || text == Qfalse)) {
        text = rb_obj_as_string(text);
    }
    return append_text(key, limit, text);
}

static bool append_list(fast_key *key, size_t limit, VALUE list, unsigned depth);

/* An element that is not a String, a Symbol or a small Integer. */
static __attribute__((noinline)) bool append_other(fast_key *key, size_t limit, VALUE element, bool in_list,
                                                   unsigned depth) {
    if (!RB_SPECIAL_CONST_P(element) && RBASIC_CLASS(element) == rb_cArray) {
        key->has_objects = true; /* its version is not that of a flat list */
        return append_list(key, limit, element, depth + 1);
    }
    return append_object(key, limit, element, in_list);
}

static inline bool append_element(fast_key *key, size_t limit, VALUE element, bool in_list, unsigned depth) {
    if (FIXNUM_P(element)) {
        return append_integer(key, limit, FIX2LONG(element));
    }
    if (SYMBOL_P(element)) {
        element = rb_sym2str(element);
    } else if (!is_plain_string(element)) {
        return append_other(key, limit, element, in_list, depth);
    }
    return is_compatible(element) && append_string(key, limit, element);
}

/* The elements, joined. Of a list of one Rails takes that one. */
static bool append_list(fast_key *key, size_t limit, VALUE list, unsigned depth) {
    bool several = RARRAY_LEN(list) > 1;

    if (depth > DEEPEST) {
        return false;
    }
    for (long i = 0; i < RARRAY_LEN(list); i++) {
        if ((i && !append(key, limit, "/", 1)) ||
            !append_element(key, limit, RARRAY_AREF(list, i), several, depth)) {
            return false;
        }
    }
    return true;
}

static bool append_name(fast_key *key, size_t limit, VALUE name) {
    if (is_plain_string(name)) {
        return append_string(key, limit, name); /* whatever its encoding is, its bytes are taken for UTF-8 */
    }
    if (!RB_SPECIAL_CONST_P(name) && RBASIC_CLASS(name) == rb_cArray) {
        key->is_list = true;
        return append_list(key, limit, name, 0);
    }
    return append_element(key, limit, name, false, 0);
}

static bool is_ascii(const char *text, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] & '\x80') {
            return false;
        }
    }
    return true;
}

/* Puts the namespace before the text. */
static bool prepend_namespace(fast_key *key, size_t limit, VALUE namespace) {
    if (!is_plain_string(namespace)) {
        key->has_objects = true;
        namespace = answers(namespace, id_call) ? rb_funcallv_public(namespace, id_call, 0, NULL) : namespace;
        if (!RTEST(namespace)) {
            return true;
        }
        namespace = rb_obj_as_string(namespace);
    }
    size_t bytes = (size_t)RSTRING_LEN(namespace);
    if (bytes + 1 > limit - key->bytes ||
        !(is_compatible(namespace) ||
          (rb_enc_asciicompat(rb_enc_get(namespace)) && is_ascii(key->text, key->bytes)))) {
        return false;
    }
    memmove(key->text + bytes + 1, key->text, key->bytes);
    memcpy(key->text, RSTRING_PTR(namespace), bytes);
    key->text[bytes] = ':';
    key->bytes += bytes + 1;
    key->namespace_bytes = bytes + 1;
    key->is_utf8 = ENCODING_GET(namespace) == rb_utf8_encindex();
    return true;
}

bool fast_key_expand(size_t limit, VALUE namespace, VALUE name, fast_key *key) {
    key->name = name;
    key->bytes = key->namespace_bytes = 0;
    key->is_list = key->has_objects = false;
    key->is_utf8 = true;
    if (!append_name(key, limit, name) || key->bytes == 0 ||
        (!NIL_P(namespace) && !prepend_namespace(key, limit, namespace))) {
        return false;
    }
    if (key->has_objects) {
        fast_clock_tick(); /* Ruby has run */
    }
    return true;
}

VALUE fast_key_string(const fast_key *key, VALUE namespace) {
    if (NIL_P(namespace) && is_plain_string(key->name) && ENCODING_GET(key->name) == rb_utf8_encindex()) {
        return key->name;
    }
    return rb_utf8_str_new(key->text, (long)key->bytes);
}

static VALUE expanded_version(VALUE name, unsigned depth);

/* The versions of the elements that have one, joined as Array#to_param does, and in the encoding that it gives
 * them. */
static VALUE version_of_list(VALUE list, unsigned depth) {
    VALUE first = Qnil, versions = Qnil;

    if (depth > DEEPEST) {
        return Qundef;
    }
    for (long i = 0; i < RARRAY_LEN(list); i++) {
        VALUE version = expanded_version(RARRAY_AREF(list, i), depth + 1);
        if (version == Qundef) {
            return Qundef;
        }
        if (NIL_P(first)) {
            first = version;
        } else if (!NIL_P(version)) {
            versions = NIL_P(versions) ? rb_ary_new_from_args(1, first) : versions;
            rb_ary_push(versions, version);
        }
    }
    if (NIL_P(first)) {
        return nothing_joined;
    }
    return NIL_P(versions) ? first : rb_ary_join(versions, version_separator);
}

/* As Store#expanded_version: nil or a String; Qundef: the ordinary path has to find out. */
static VALUE expanded_version(VALUE name, unsigned depth) {
    if (FIXNUM_P(name) || SYMBOL_P(name) || is_plain_string(name)) {
        return Qnil;
    }
    if (answers(name, id_cache_version)) {
        VALUE version = rb_funcallv_public(name, id_cache_version, 0, NULL);
        if (!NIL_P(version) && !is_plain_string(version)) {
            version = rb_funcallv_public(version, id_to_param, 0, NULL);
        }
        return NIL_P(version) || plain_is_version(version) ? version : Qundef;
    }
    if (RB_TYPE_P(name, T_ARRAY)) {
        return version_of_list(name, depth);
    }
    if (!answers(name, id_to_a)) {
        return Qnil;
    }
    return depth > DEEPEST ? Qundef : expanded_version(rb_funcallv_public(name, id_to_a, 0, NULL), depth + 1);
}

bool fast_key_ask_version(const fast_key *key, VALUE given, VALUE *version) {
    *version = NIL_P(given) ? Qnil : rb_funcallv_public(given, id_to_param, 0, NULL);
    if (!RTEST(*version)) {
        *version = expanded_version(key->name, 0);
    }
    if (NIL_P(*version)) {
        return true;
    }
    if (*version == Qundef || !plain_is_version(*version)) {
        return false;
    }
    if (RSTRING_LEN(*version) == 0) {
        *version = fast_key_no_version;
    }
    return true;
}

void fast_key_init(void) {
    id_call = rb_intern("call");
    id_cache_key = rb_intern("cache_key");
    id_cache_version = rb_intern("cache_version");
    id_to_a = rb_intern("to_a");
    id_to_param = rb_intern("to_param");
    version_separator = rb_obj_freeze(rb_utf8_str_new("/", 1));
    rb_gc_register_mark_object(version_separator);
    nothing_joined = rb_obj_freeze(rb_usascii_str_new("", 0));
    rb_gc_register_mark_object(nothing_joined);
    fast_key_no_version = rb_obj_freeze(rb_utf8_str_new("", 0));
    rb_gc_register_mark_object(fast_key_no_version);
}
