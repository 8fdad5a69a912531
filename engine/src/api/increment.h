/*
 * increment.h — changes of a counter in place.
 */
#ifndef LARD_INCREMENT_H
#define LARD_INCREMENT_H

#include "base/hash.h"
#include "segment/record.h"

/* Turns a counter that reads `plain->value` into a plain record of the same text; OK where it did or need not. */
larder_status lard_increment_to_plain(larder *cache, lard_map *map, const lard_hash *hash,
                                      const lard_record_spec *plain, const larder_call *call);

#endif
