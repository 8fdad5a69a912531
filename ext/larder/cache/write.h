/*
 * write.h — values into a Larder::Cache.
 */
#ifndef LARDER_WRITE_H
#define LARDER_WRITE_H

#include <ruby.h>

#include "larder.h"

void glue_write_init(VALUE cache_class);

/*
 * Stores a String under a key. Answers what the engine does, OK unless it was not stored. `terms` has everything
 * but key and value. Raises TypeError, and if there is no file.
 */
larder_status glue_set_status(VALUE cache, VALUE key, VALUE value, const larder_store *terms, VALUE now);

/*
 * The same: true, or false where the condition did not hold or the store was refused. Raises also what the engine
 * answers otherwise.
 */
VALUE glue_set(VALUE cache, VALUE key, VALUE value, const larder_store *terms, VALUE now);

/* The same where the key still has the value of that identity, which glue_get_to_swap() answered. */
VALUE glue_swap(VALUE cache, VALUE key, uint64_t identity, VALUE value, const larder_store *terms, VALUE now);

#endif
