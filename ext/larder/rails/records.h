/*
 * records.h — Larder::Store::Records: entries of the Rails store's ordinary path.
 */
#ifndef LARDER_RECORDS_H
#define LARDER_RECORDS_H

#include <ruby.h>
#include <stdbool.h>

#include "larder.h"
#include "value/plain.h"

void records_init(VALUE store_module);

/* The Larder::Cache of a Records. */
VALUE records_cache(VALUE records);

/*
 * A plain value with its version (nil: none), whose bytes are valid as plain_from() says, and the flags and the
 * TTL of its record. False: the entry is for a coder.
 */
bool records_take_plain(VALUE value, const double *expires_at, const plain_life *life, VALUE version,
                        int64_t now_ms, bool trees, plain_value *taken, larder_store *terms);

#endif
