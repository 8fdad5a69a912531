/*
 * fast_multi.h — read_multi, write_multi and fetch_multi.
 */
#ifndef LARDER_FAST_MULTI_H
#define LARDER_FAST_MULTI_H

#include <ruby.h>

void fast_multi_init(VALUE module);

#endif
