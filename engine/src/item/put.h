/*
 * put.h — stores a value of any length.
 */
#ifndef LARD_PUT_H
#define LARD_PUT_H

#include "item/write.h"

/* Stores op->spec.value, in chunks if it is long. A refused store drops the key's old value if its condition
 * overwrites. Changes op->spec. */
larder_status lard_put(larder *cache, lard_map *map, lard_write_op *op, const larder_call *call);

/* Does a store of this condition overwrite the old value? Then a refusal drops it, because the caller has a newer
 * one. */
bool lard_put_overwrites(lard_condition condition);

#endif
