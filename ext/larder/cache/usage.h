/*
 * usage.h — statistics by keyspace and by time of a Larder::Cache.
 */
#ifndef LARDER_GLUE_USAGE_H
#define LARDER_GLUE_USAGE_H

#include <ruby.h>

void glue_usage_init(VALUE cache_class);

#endif
