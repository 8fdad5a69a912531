/*
 * put.h — stores a value of any length.
 */
#ifndef LARD_PUT_H
#define LARD_PUT_H

#include "base/hash.h"
#include "item/write.h"
#include "segment/record.h"

/* Under a condition, in chunks where it is long. A refused store drops the key's old value. */
larder_status lard_put(larder *cache, lard_map *map, const lard_hash *hash, lard_record_spec *spec,
                       lard_condition condition, const lard_expected *expected, const larder_call *call);

/* Does a refused store of this condition drop the old value? The caller has a newer one; others would have left
 * it. */
bool lard_put_overwrites(lard_condition condition);

#endif
