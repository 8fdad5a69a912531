/*
 * write.h — stores a record under a condition.
 */
#ifndef LARD_WRITE_H
#define LARD_WRITE_H

#include "base/key.h"
#include "file/belief.h"
#include "index/bucket.h"
#include "segment/image.h"
#include "segment/record.h"

typedef enum {
    LARD_IF_ANY,
    LARD_IF_ABSENT,
    LARD_IF_PRESENT,
    LARD_IF_SLOT,           /* only over the expected slot; expected slot 0: only if the key has no record */
    LARD_IF_SLOT_AND_EXPIRY /* also only over the expected expiry, because a touch does not change the slot */
} lard_condition;

typedef struct { /* a record to store, and its condition */
    const lard_key *key;
    lard_buckets buckets; /* the key's, if they were looked up already; else zero */
    lard_record_spec spec;
    lard_image *image; /* of the record; NULL: it is written by stores */
    lard_condition condition;
    uint64_t expected_slot;      /* of the last two conditions: the value of the slot */
    uint64_t expected_expiry_ms; /* of the last: of its record, as there; 0: it never expires */
    int64_t now_ms;
    uint64_t origin;    /* not 0: only into the epoch that has it, see segment/deletions.h */
    bool is_whole;      /* a large value of the key was just found whole, or dropped */
    bool is_large;      /* out, of a condition on presence: the key has a large value */
    uint32_t crc;       /* out: the checksum of the record */
    lard_head replaced; /* out: head of the large value that was replaced; value_bytes is 0 if there was none */
} lard_write_op;

/* Finds the row of the caller's configuration for op->spec. OK, or NO_CONFIGURATION: it has none. Under the lock.
 */
larder_status lard_write_find_row(lard_view *view, lard_write_op *op);
static inline larder_status lard_write_configure(lard_view *view, lard_write_op *op) {
    lard_belief *belief = op->key->belief;
    unsigned row;
    if (LARD_LIKELY(!belief)) {
        return LARDER_OK;
    }
    if (LARD_UNLIKELY(!lard_belief_knows(belief, view->map, lard_load(&view->header->epoch), &row) ||
                      row == LARD_ROW_NONE)) {
        return lard_write_find_row(view, op);
    }
    op->spec.configuration = row;
    return LARDER_OK;
}
/* Without the lock: forms the image of the op's record. False: there is no memory, and the record will be stored.
 * In both cases lard_write_forget follows the write. */
bool lard_write_form(const lard_view *view, lard_write_op *op, lard_image *image);
void lard_write_forget(lard_write_op *op, lard_image *image);
/* Without the lock: forms it, and marks the pages dirty that the write will store to. `queue`: as of
 * lard_dirty_for_write. */
void lard_write_prepare(const lard_view *view, lard_write_op *op, lard_image *image, uint32_t queue);
/* Takes the lock of the key's shard. OK; NOT_STORED: the condition does not hold, or depends on a large value
 * (op->is_large) and op->is_whole is false; FULL; PIN_FULL; NO_CONFIGURATION; BUSY; DAMAGED. */
larder_status lard_write(lard_core *cache, lard_map *map, lard_write_op *op, const larder_call *call);
/* The same; the caller holds the lock, and releases it by the next function. */
larder_status lard_write_locked(lard_core *cache, lard_view *view, lard_write_op *op);
/* Releases the lock. Then renews this process's copy of where the buckets are (index/dircache.h), if it is old:
 * that may ask the system for memory, and reads the limits of control groups. */
void lard_write_unlock(lard_view *view);
/* Without the lock: the queue that a new value of the key probably goes to. A hint. */
uint32_t lard_write_queue_of(lard_map *map, const lard_key *key);

#endif
