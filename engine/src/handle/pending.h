/*
 * pending.h — notes deletes that cannot be applied yet.
 */
#ifndef LARD_PENDING_H
#define LARD_PENDING_H

#include "base/types.h"

/* Notes the delete of a key, or of all keys (NULL). False: the handle is attached by now, and nothing was noted.
 */
bool lard_pending_note(larder *cache, const void *key, size_t key_bytes);
/* The same of a tag. */
bool lard_pending_note_tag(larder *cache, const void *tag, size_t bytes);
void lard_pending_apply(larder *cache, lard_map *map); /* the fork lock is held */
void lard_pending_free(larder *cache);

#endif
