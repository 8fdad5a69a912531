/*
 * put.h — stores a value of any length.
 */
#ifndef LARD_PUT_H
#define LARD_PUT_H

#include "item/lookup.h"
#include "item/write.h"

/* Stores op->spec.value, in chunks if it is long. A refused store drops the key's old value if its condition
 * overwrites. Changes op->spec. */
larder_status lard_put(lard_core *cache, lard_map *map, lard_write_op *op, const larder_call *call);

/* Stores the item that larder_get answered from another file, also if it has expired by now, with the tags and the
 * configuration of `from`, which are of a file with the same seed and configurations. Adds the records that it
 * takes, chunks too, to *records. */
larder_status lard_put_item(lard_core *cache, lard_map *map, const void *key, size_t key_bytes, const void *value,
                            const larder_item *item, const lard_hit *from, const larder_call *call,
                            uint64_t *records);

/* True if the caller repeats the call: it was a try call. Then nothing is dropped yet. */
bool lard_put_is_tried(larder_status status, const larder_call *call);
/* Does a store of this condition overwrite the old value? Then a refusal drops it, because the caller has a newer
 * one. */
bool lard_put_overwrites(lard_condition condition);

#endif
