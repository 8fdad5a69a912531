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

typedef struct { /* one record to be stored, and when it may be */
    const lard_key *key;
    lard_record_spec spec;
    lard_condition condition;
    uint64_t expected_slot;      /* of LARD_IF_SLOT: its very value */
    uint64_t expected_expiry_ms; /* and of its record, for a touch leaves the slot as it is; 0: whatever it is */
    int64_t now_ms;
    lard_head replaced; /* answered: of a large value that was replaced; of 0 bytes where it was another kind */
} lard_write_op;

/* Takes the lock of the key's shard. OK; NOT_STORED where the condition does not hold; FULL; BUSY. */
larder_status lard_write(larder *cache, lard_map *map, lard_write_op *op, const larder_call *call);
/* The same with the lock held. */
larder_status lard_write_locked(larder *cache, lard_view *view, lard_write_op *op);
/* Without the lock: the queue that a new value of the key should go to, as far as can be told. */
uint32_t lard_write_queue_of(lard_map *map, const lard_key *key);

#endif
