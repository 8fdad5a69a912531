/*
 * arguments.h — checks of arguments that come from Ruby.
 */
#ifndef LARDER_ARGUMENTS_H
#define LARDER_ARGUMENTS_H

#include <ruby.h>
#include <stdbool.h>

#include "larder.h"

/* Raises TypeError, naming `what` and the class, unless `object` is a String. */
void glue_check_string(VALUE object, const char *what);

/* Raises TypeError unless `object` is an Array, or a Hash. */
void glue_check_array(VALUE object, const char *what);
void glue_check_hash(VALUE object, const char *what);

/* `now` is nil or Unix milliseconds. */
larder_call glue_call(VALUE now);

/*
 * A key for Hash#[]=, which copies a String that is not frozen, none of a subclass, and looks it up among all
 * frozen Strings of the process. That takes longer than the copy.
 */
static inline VALUE glue_hash_key(VALUE key) {
    return !RB_SPECIAL_CONST_P(key) && RBASIC_CLASS(key) == rb_cString ? rb_str_new_frozen(key) : key;
}

/* As rb_typeddata_is_kind_of(), inlined, for types without parents. */
static inline bool glue_is(VALUE object, const rb_data_type_t *type) {
    return RB_TYPE_P(object, T_DATA) && RTYPEDDATA_P(object) && RTYPEDDATA_TYPE(object) == type;
}

#endif
