/*
 * put.h — stores a value of any length.
 */
#ifndef LARD_PUT_H
#define LARD_PUT_H

#include "item/write.h"

/* Stores op->spec.value, in chunks where it is long. A store that is refused drops the key's old value, where its
 * condition allows it. Changes op->spec. */
larder_status lard_put(larder *cache, lard_map *map, lard_write_op *op, const larder_call *call);

/* Does a refused store of this condition drop the old value? The caller has a newer one; others would have left
 * it. */
bool lard_put_overwrites(lard_condition condition);

#endif
