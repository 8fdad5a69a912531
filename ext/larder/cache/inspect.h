/*
 * inspect.h — items of a Larder::Cache as people look at them.
 */
#ifndef LARDER_INSPECT_H
#define LARDER_INSPECT_H

#include <ruby.h>

void glue_inspect_init(VALUE cache_class);

#endif
