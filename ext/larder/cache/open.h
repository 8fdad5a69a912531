/*
 * open.h — opening and closing a Larder::Cache.
 */
#ifndef LARDER_OPEN_H
#define LARDER_OPEN_H

#include <ruby.h>

void glue_open_init(VALUE cache_class);

#endif
