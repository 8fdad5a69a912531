/*
 * fast_steps.h — steps of Rails' own methods, for calls that C does not answer.
 */
#ifndef LARDER_FAST_STEPS_H
#define LARDER_FAST_STEPS_H

#include <ruby.h>

void fast_steps_init(VALUE module);

#endif
