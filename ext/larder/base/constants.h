/*
 * constants.h — private constants of Ruby's, for what C and Ruby both use.
 */
#ifndef LARDER_CONSTANTS_H
#define LARDER_CONSTANTS_H

#include <ruby.h>

static inline void glue_private_const(VALUE module, const char *name, VALUE value) {
    rb_define_const(module, name, value);
    rb_funcall(module, rb_intern("private_constant"), 1, ID2SYM(rb_intern(name)));
}

#endif
