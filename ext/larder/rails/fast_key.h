/*
 * fast_key.h — a name to the key in the file.
 */
#ifndef LARDER_FAST_KEY_H
#define LARDER_FAST_KEY_H

#include <ruby.h>
#include <stdbool.h>

#include "larder.h"

typedef struct fast_key {
    VALUE name; /* as given */
    size_t bytes;
    size_t namespace_bytes; /* with the colon; 0: it has none */
    bool is_list;           /* the name is an Array */
    bool has_objects;       /* the name is, or has in it, what has to be asked: a record, another Array */
    bool is_utf8;           /* the key that Rails would make has that encoding */
    char text[LARDER_MAX_KEY];
} fast_key;

void fast_key_init(void);

/*
 * The key of at most `limit` bytes for a name: a String, Symbol, small Integer, an object with a cache_key, or an
 * Array of these and of what has a to_param. `namespace` is nil or any object that Rails takes for one. Objects
 * and namespaces are asked as Rails does, so Ruby may run. False for any other name, a blank one, one too long, or
 * one of incompatible encodings.
 */
bool fast_key_expand(size_t limit, VALUE namespace, VALUE name, fast_key *key);

/* The key as a String, as Rails makes it: of a String in UTF-8 without a namespace, that itself. */
VALUE fast_key_string(const fast_key *key, VALUE namespace);

#pragma GCC visibility push(hidden)
extern VALUE fast_key_no_version; /* that of an Array without a version: "" */
#pragma GCC visibility pop

/* fast_key_version() where an object has to be asked. */
bool fast_key_ask_version(const fast_key *key, VALUE given, VALUE *version);

/*
 * The version that an entry of the name must have: nil, or a String. `given` is the option of the call, or nil.
 * Objects are asked as Rails does. False: it is of another class, too long for a record, or not in UTF-8.
 */
static inline bool fast_key_version(const fast_key *key, VALUE given, VALUE *version) {
    if (RB_LIKELY(NIL_P(given) && !key->has_objects)) {
        *version = key->is_list ? fast_key_no_version : Qnil;
        return true;
    }
    return fast_key_ask_version(key, given, version);
}

#endif
