/*
 * increment.h — changes a counter into a plain record.
 */
#ifndef LARD_INCREMENT_H
#define LARD_INCREMENT_H

#include "base/key.h"

/* Replaces the counter in the slot *slot, whose number is `text`, by a plain record of that text. OK: *slot is the
 * value of that record's slot; NOT_STORED: there is no such counter any more. */
larder_status lard_increment_to_plain(larder *cache, lard_map *map, const lard_key *key, const char *text,
                                      size_t bytes, uint64_t *slot, const larder_call *call);

#endif
