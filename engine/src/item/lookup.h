/*
 * lookup.h — finds a key's record, without a lock.
 */
#ifndef LARD_LOOKUP_H
#define LARD_LOOKUP_H

#include "base/key.h"
#include "index/dircache.h"
#include "segment/record.h"

typedef struct {
    lard_u64 *slot;
    uint64_t slot_value;
    uint16_t *reads; /* of the slot's bucket */
    uint64_t epoch;  /* of the shard */
    uint64_t offset;
    lard_record_info info;
    unsigned type;            /* of the value: of an extended record its kind, 0 for a placeholder */
    lard_extension extension; /* of an extended record; else without fields */
    lard_head head;           /* of a large value */
} lard_hit;

typedef struct { /* where a value goes */
    void *bytes;
    size_t capacity;
    const larder_allocator *more; /* NULL: there is no more */
} lard_room;

/* Makes room for a longer value. False: there is none, and is not asked for again. */
static inline bool lard_lookup_grow(lard_room *room, size_t bytes, uint64_t word1) {
    uint8_t flags = (uint8_t)LARD_WORD1_FLAGS(word1);
    void *more = room->more ? room->more->allocate(room->more->context, bytes, flags) : NULL;
    if (more) {
        room->bytes = more;
        room->capacity = bytes;
    } else {
        room->more = NULL;
    }
    return more != NULL;
}

/* Looks first at `place`, where the record seems to be (NULL: that is not known), then in the key's buckets.
 * Copies the record's value to `out` (NULL: only finds it) and fills *item (may be NULL) and *hit. Copies of a
 * large value only the head, to hit->head. OK, MISS, or BUFFER_TOO_SMALL, which fills them too. With MISS
 * hit->slot is not NULL if the key has a record, which has expired, is a placeholder, or is that of another
 * configuration. */
larder_status lard_lookup(lard_core *cache, lard_map *map, const lard_key *key, const lard_place *place, void *out,
                          size_t capacity, larder_item *item, lard_hit *hit, int64_t now_ms);

#endif
