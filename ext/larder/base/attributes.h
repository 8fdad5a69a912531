/*
 * attributes.h — Larder::Denial._fixed?
 */
#ifndef GLUE_ATTRIBUTES_H
#define GLUE_ATTRIBUTES_H

#include <ruby.h>

void glue_attributes_init(VALUE larder_module);

#endif
