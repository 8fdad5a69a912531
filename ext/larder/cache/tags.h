/*
 * tags.h — tags of items, which are deleted together, see larder_delete_tagged() in larder.h.
 *
 * To Ruby tags are an Array of Strings, and a stamp is a binary String with the bytes of its struct.
 */
#ifndef LARDER_TAGS_H
#define LARDER_TAGS_H

#include <ruby.h>

#include "larder.h"

/* Tags of a call. They point into `packed`, which must stay on the C stack until the call ends. */
typedef struct glue_tags {
    VALUE packed;
    uint32_t count;
    larder_tag list[LARDER_MAX_TAGS];
} glue_tags;

void glue_tags_init(VALUE cache_class);

/* Takes up to LARDER_MAX_TAGS tags; nil: none. Raises TypeError and InvalidArgument. */
void glue_tags_take(VALUE given, glue_tags *tags);

/* Gives the extra of a store these tags and the stamp (nil: that of now). */
void glue_tags_into(larder_extra *extra, const glue_tags *tags, VALUE stamp);

#endif
