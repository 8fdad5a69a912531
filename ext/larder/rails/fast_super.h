/*
 * fast_super.h — the way from the fast path to the next method of the same name, in Ruby.
 */
#ifndef LARDER_FAST_SUPER_H
#define LARDER_FAST_SUPER_H

#include <ruby.h>

/* The method that would have run without ours, with the same arguments, keywords and block. */
static inline VALUE fast_super(int argc, VALUE *argv) {
    return rb_call_super_kw(argc, argv, rb_keyword_given_p());
}

#endif
