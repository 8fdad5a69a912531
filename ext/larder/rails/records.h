/*
 * records.h — Larder::Store::Records: entries of the Rails store's ordinary path.
 */
#ifndef LARDER_RECORDS_H
#define LARDER_RECORDS_H

#include <ruby.h>

void records_init(VALUE store_module);

#endif
