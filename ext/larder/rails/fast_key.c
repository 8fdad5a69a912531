/*
 * fast_key.c — a name to the key in the file: the namespace and ActiveSupport's
 * expanded key, on the stack.
 *
 * The same bytes as Larder::Store::Keys#normalize_key. Texts of different encodings,
 * for which Ruby would raise or convert, are left to it.
 */
#include "rails/fast_key.h"

#include <ruby/encoding.h>
#include <string.h>

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

static bool append_element(fast_key *key, size_t limit, VALUE element) {
    if (FIXNUM_P(element)) {
        return append_integer(key, limit, FIX2LONG(element));
    }
    if (SYMBOL_P(element)) {
        element = rb_sym2str(element);
    } else if (!is_plain_string(element)) {
        return false;
    }
    return is_compatible(element) && append_string(key, limit, element);
}

static bool append_list(fast_key *key, size_t limit, VALUE list) {
    for (long i = 0; i < RARRAY_LEN(list); i++) {
        if ((i && !append(key, limit, "/", 1)) || !append_element(key, limit, RARRAY_AREF(list, i))) {
            return false;
        }
    }
    return true;
}

bool fast_key_expand(size_t limit, VALUE namespace, VALUE name, fast_key *key) {
    size_t prefix = 0;
    bool fits;

    key->bytes = 0;
    key->is_list = false;
    if (!NIL_P(namespace)) {
        if (!is_compatible(namespace) || !append_string(key, limit, namespace) || !append(key, limit, ":", 1)) {
            return false;
        }
        prefix = key->bytes;
    }
    if (is_plain_string(name)) {
        fits = append_string(key, limit, name); /* whatever its encoding is, its bytes are taken for UTF-8 */
    } else if (!RB_SPECIAL_CONST_P(name) && RBASIC_CLASS(name) == rb_cArray) {
        key->is_list = true;
        fits = append_list(key, limit, name);
    } else {
        fits = append_element(key, limit, name);
    }
    return fits && key->bytes > prefix;
}
