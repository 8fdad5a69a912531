/*
 * maintenance.h — calls about the whole file of a Larder::Cache.
 */
#ifndef LARDER_MAINTENANCE_H
#define LARDER_MAINTENANCE_H

#include <ruby.h>

void glue_maintenance_init(VALUE cache_class);

#endif
