/*
 * read.h — values from a Larder::Cache.
 */
#ifndef LARDER_READ_H
#define LARDER_READ_H

#include <ruby.h>

#include "larder.h"

void glue_read_init(VALUE cache_class);

/* The bytes under a key as a binary String, nil for a miss; raises for any other status. */
VALUE glue_get(VALUE cache, VALUE key, larder_item *item, const larder_call *call);

/* For a larder_allocator whose context is a VALUE: stores a String of that length there, and returns its memory.
 * NULL: so much is copied without the GVL. */
void *glue_allocate_string(void *value, size_t bytes);

/* What a String of bytes becomes in the Hash of glue_get_multi(); nil: nothing. */
typedef VALUE (*glue_decoder)(VALUE bytes, const larder_item *item);

/* A Hash of what was found of an Array of keys; `decode` may be NULL. */
VALUE glue_get_multi(VALUE cache, VALUE keys, const larder_call *call, glue_decoder decode);

#endif
