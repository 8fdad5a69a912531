/*
 * write_multi.h — many pairs into a Larder::Cache.
 */
#ifndef LARDER_WRITE_MULTI_H
#define LARDER_WRITE_MULTI_H

#include <ruby.h>

void glue_write_multi_init(VALUE cache_class);

/* A list of rows to store, hidden so that no other thread can find it by ObjectSpace and shorten it. */
VALUE glue_rows_new(long count);

/* Raises TypeError. */
void glue_rows_add(VALUE rows, VALUE key, VALUE value, VALUE flags, VALUE ttl_ms);

/* Stores all rows. An Array of the keys that were refused; raises for keys and values that are too long. */
VALUE glue_rows_store(VALUE cache, VALUE rows, VALUE now);

#endif
