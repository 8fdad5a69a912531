/*
 * increment.h — changes a counter into a plain record.
 */
#ifndef LARD_INCREMENT_H
#define LARD_INCREMENT_H

#include "base/key.h"

/* Replaces a counter whose number is `text` by a plain record of that text. OK also if there is no such counter.
 */
larder_status lard_increment_to_plain(larder *cache, lard_map *map, const lard_key *key, const char *text,
                                      size_t bytes, const larder_call *call);

#endif
