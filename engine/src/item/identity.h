/*
 * identity.h — a number of 64 bits that names the record that a lookup found. Equal values that are stored one
 * after the other have different numbers.
 */
#ifndef LARD_IDENTITY_H
#define LARD_IDENTITY_H

#include "item/lookup.h"

/* Names the record of `key` that was found; never 0. A record that eviction has moved has another identity. */
uint64_t lard_identity_of_record(lard_map *map, const lard_key *key, const lard_hit *hit);

/* Names the record with its contents, so a change in place gives another identity: a touch changes the expiry, an
 * increment the number of a counter. `text` is that number, and is not read for other values. */
uint64_t lard_identity_of_value(lard_map *map, const lard_key *key, const lard_hit *hit, const char *text,
                                size_t bytes);

#endif
