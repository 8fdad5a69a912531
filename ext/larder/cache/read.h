/*
 * read.h — values from a Larder::Cache.
 */
#ifndef LARDER_READ_H
#define LARDER_READ_H

#include "cache/handle.h"

void glue_read_init(VALUE cache_class);

/* The bytes under a key as a binary String, nil for a miss; raises for any other status. */
VALUE glue_get(VALUE cache, VALUE key, larder_item *item, const larder_call *call);
/* The same, with the identity of the value for glue_swap(). */
VALUE glue_get_to_swap(VALUE cache, VALUE key, larder_item *item, uint64_t *identity, const larder_call *call);

/* Where a value is read to that is longer than GLUE_SHORT_BYTES. On the C stack. */
typedef struct glue_room {
    VALUE string; /* Qundef: it is in the buffer */
    char *buffer; /* for an Array or Hash up to `bytes` */
    size_t bytes;
} glue_room;

/* Of a larder_allocator whose context is a glue_room. NULL: the bytes are copied without the GVL. */
void *glue_allocate(void *room, size_t bytes, uint8_t flags);

/* Rooms of the lookups of a batch, and what makes room there. */
typedef struct glue_rooms {
    glue_room room[GLUE_BATCH];
    larder_allocator more[GLUE_BATCH];
} glue_rooms;

/* Gives lookup `i` of a batch a buffer of GLUE_BATCH_VALUE_BYTES, and a room. */
static inline void glue_rooms_for(glue_rooms *rooms, size_t i, char *buffer, larder_lookup *lookup) {
    rooms->room[i] = (glue_room){Qundef, buffer, GLUE_BATCH_VALUE_BYTES};
    rooms->more[i] = (larder_allocator){glue_allocate, &rooms->room[i]};
    lookup->buffer = buffer;
    lookup->buffer_bytes = GLUE_SHORT_BYTES;
    lookup->more = &rooms->more[i];
}

/* What a String of bytes becomes in the Hash of glue_get_multi(); nil: nothing. */
typedef VALUE (*glue_decoder)(VALUE bytes, const larder_item *item);

/* A Hash of what was found of an Array of keys; `decode` may be NULL. */
VALUE glue_get_multi(VALUE cache, VALUE keys, const larder_call *call, glue_decoder decode);

#endif
