/*
 * keyspace.h — names the keyspace of a key: the group of keys that statistics count it in.
 *
 * The keyspace is the part of the key before its first "/" or ":", after its namespace. A fragment with the key
 * views/TEMPLATE:DIGEST/... is in the keyspace views/TEMPLATE. Patterns that the host gives come before these
 * rules.
 */
#ifndef LARD_KEYSPACE_H
#define LARD_KEYSPACE_H

#include "larder.h"

#include <stdbool.h>

#define LARD_KEYSPACE_BYTES 60u /* of the longest name; a longer one is cut */

typedef struct {
    uint32_t bytes;
    char text[LARD_KEYSPACE_BYTES]; /* the rest is zero */
} lard_keyspace;

/* Adds a rule unless it is known. False: it is too long or empty, or there are too many. */
bool lard_keyspace_add_namespace(larder_keyspace_rules *rules, const char *text);
bool lard_keyspace_add_pattern(larder_keyspace_rules *rules, const char *text);
/* False: the rules are damaged. */
bool lard_keyspace_is_valid(const larder_keyspace_rules *rules);
/* Pure. The rules are valid. */
void lard_keyspace_of(const larder_keyspace_rules *rules, const void *key, size_t bytes, lard_keyspace *name);

#endif
