/*
 * write.h — stores a record under the lock.
 */
#ifndef LARD_WRITE_H
#define LARD_WRITE_H

#include "base/hash.h"
#include "segment/record.h"

typedef enum {
    LARD_IF_ANY,
    LARD_IF_ABSENT,
    LARD_IF_PRESENT,
    LARD_IF_SLOT /* only over what is expected */
} lard_condition;

/* Of LARD_IF_SLOT. A touch leaves the slot as it is, so who depends on the expiry names it. */
typedef struct {
    uint64_t slot;      /* its very value */
    uint64_t expiry_ms; /* of its record; 0: whatever it is */
} lard_expected;

larder_status lard_write_locked(larder *cache, lard_view *view, const lard_hash *hash,
                                const lard_record_spec *spec, lard_condition condition,
                                const lard_expected *expected, int64_t now_ms, lard_head *replaced);
larder_status lard_write(larder *cache, lard_map *map, const lard_hash *hash, const lard_record_spec *spec,
                         lard_condition condition, const lard_expected *expected, const larder_call *call,
                         lard_head *replaced);
/* The same for a record that is to be pinned: FULL where its shard has as many as it may. */
larder_status lard_write_pinned_locked(larder *cache, lard_view *view, const lard_hash *hash,
                                       const lard_record_spec *spec, lard_condition condition,
                                       const lard_expected *expected, int64_t now_ms, lard_head *replaced);
larder_status lard_write_pinned(larder *cache, lard_map *map, const lard_hash *hash, const lard_record_spec *spec,
                                lard_condition condition, const lard_expected *expected, const larder_call *call,
                                lard_head *replaced);
/* Without the lock: the queue that a new value of the key should go to, as far as can be told. */
uint32_t lard_write_queue_of(lard_map *map, const lard_hash *hash, const lard_record_spec *spec);

#endif
