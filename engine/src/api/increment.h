/*
 * increment.h — changes of a counter in place.
 */
#ifndef LARD_INCREMENT_H
#define LARD_INCREMENT_H

#include "base/hash.h"

/* Turns a counter that reads `text` into a plain record of that text; OK where it did or need not. */
larder_status lard_increment_to_plain(larder *cache, lard_map *map, const lard_key *key, const char *text,
                                      size_t bytes, const larder_call *call);

#endif
